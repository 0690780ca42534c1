"""A headless Chromium, driven over the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/

One browser is one process with a profile of its own. A `Page` is read and clicked on as a person would do it, and keeps
what a person would not see: every address that it asked for, and every complaint of the browser about it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1400",
    "--remote-debugging-port=0",
)
# Where it would keep files besides its profile.
_DIRECTORIES = ("TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
_START_S = 60.0
_STOP_S = 10.0
_CALL_S = 30.0
_WAIT_S = 20.0
_POLL_S = 0.02

# In one step, so that nothing can move between the look and the click; null while the element cannot be reached.
_CLICK = """(selector) => {
  const element = document.querySelector(selector);
  if (!element || element.disabled) return null;
  element.scrollIntoView({block: "center", behavior: "instant"});
  const {x, y, width, height} = element.getBoundingClientRect();
  if (!element.contains(document.elementFromPoint(x + width / 2, y + height / 2))) return null;
  element.click();
  return true;
}"""
_TEXT = """(selector) => {
  const element = document.querySelector(selector);
  return (element?.value ?? element?.innerText ?? "").trim() || null;
}"""

T = TypeVar("T")
Json = dict[str, Any]


class BrowserError(Exception):
    """The browser did not start, refused a command, or did not show in time what was waited for."""


def find_chromium() -> str | None:
    """The browser that the environment variable CHROME names, else the first on PATH. None when there is none.

    Raises BrowserError when CHROME names no program.
    """
    named = os.environ.get("CHROME")
    if named and not shutil.which(named):
        raise BrowserError(f"CHROME={named} is no program")
    return next((found for name in ((named,) if named else _NAMES) if (found := shutil.which(name))), None)


async def eventually(look: Callable[[], Awaitable[T | None]], what: str, deadline_s: float = _WAIT_S) -> T:
    """Look again and again until there is something to be seen, and return it. Raises BrowserError, naming `what`."""
    end = time.monotonic() + deadline_s
    while (seen := await look()) is None:
        if time.monotonic() > end:
            raise BrowserError(f"{what}: not within {deadline_s:g} s")
        await asyncio.sleep(_POLL_S)
    return seen


class _Connection:
    """Commands and their answers by number, and events, over one socket."""

    def __init__(self, socket: ClientWebSocketResponse, on_event: Callable[[Json], None]) -> None:
        self._socket = socket
        self._on_event = on_event
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._sent = 0

    async def listen(self) -> None:
        """Until the socket closes; then whoever still waits for an answer is told so."""
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                continue
            received: Json = json.loads(message.data)
            if "id" not in received:
                self._on_event(received)
            elif (answer := self._waiting.pop(received["id"], None)) and not answer.done():
                answer.set_result(received)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(BrowserError("the browser closed the connection"))

    async def call(self, method: str, parameters: Json, session: str | None = None) -> Json:
        """The result of one command. Raises BrowserError."""
        self._sent += 1
        command: Json = {"id": self._sent, "method": method, "params": parameters}
        answer = self._waiting[self._sent] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(json.dumps(command | ({"sessionId": session} if session else {})))
        try:
            received = await asyncio.wait_for(answer, _CALL_S)
        except TimeoutError:
            raise BrowserError(f"{method}: no answer within {_CALL_S:g} s") from None
        if "error" in received:
            raise BrowserError(f"{method}: {received['error']['message']}")
        result: Json = received["result"]
        return result


class Page:
    """One tab. `requested` has the address of everything that it asked for, `complaints` what the browser holds
    against it: console errors, uncaught exceptions, failed loads and breaches of the Content-Security-Policy."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._connection: _Connection
        self._session: str

    async def _attach(self, connection: _Connection) -> str:
        self._connection = connection
        target: str = (await connection.call("Target.createTarget", {"url": "about:blank"}))["targetId"]
        attached = await connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            await self._call(f"{domain}.enable")
        return target

    async def _call(self, method: str, **parameters: Any) -> Json:
        return await self._connection.call(method, parameters, self._session)

    def _on_event(self, event: Json) -> None:
        match event:
            case {"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}}:
                self.requested.append(url)
            case {"method": "Runtime.consoleAPICalled", "params": {"type": "error" | "assert", "args": arguments}}:
                self.complaints.append(f"console: {[part.get('value', part.get('description')) for part in arguments]}")
            case {"method": "Runtime.exceptionThrown", "params": {"exceptionDetails": details}}:
                self.complaints.append(f"uncaught: {details.get('exception', details).get('description', details)}")
            case {"method": "Log.entryAdded", "params": {"entry": {"level": "error", "text": text} as entry}}:
                self.complaints.append(f"{entry['source']}: {text} {entry.get('url', '')}")
            case {"method": "Audits.issueAdded", "params": {"issue": {"code": "ContentSecurityPolicyIssue"} as issue}}:
                self.complaints.append(f"policy: {issue['details']['contentSecurityPolicyIssueDetails']}")

    async def open(self, address: str) -> None:
        """Go to `address`. Raises BrowserError when nothing answers there."""
        went = await self._call("Page.navigate", url=address)
        if "errorText" in went:
            raise BrowserError(f"{address}: {went['errorText']}")

    async def evaluate(self, function: str, *arguments: Any) -> Any:
        """What a JavaScript function returns for JSON arguments, a promise awaited. Raises BrowserError."""
        expression = f"({function})({', '.join(map(json.dumps, arguments))})"
        answer = await self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    async def text(self, selector: str) -> str:
        """The text that the first element of `selector` shows or, in a field, holds, once there is any."""
        return str(await eventually(lambda: self.evaluate(_TEXT, selector), f"a text at {selector}"))

    async def click(self, selector: str) -> None:
        """Click on the first element of `selector`, once it is enabled and lies under nothing else."""
        await eventually(lambda: self.evaluate(_CLICK, selector), f"{selector} to click on")

    async def screenshot(self, path: Path) -> None:
        """Save what the window shows as PNG."""
        shot = await self._call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))


@asynccontextmanager
async def browser_page(program: str, screenshot: Path) -> AsyncIterator[Page]:
    """A page in a browser of its own, which is gone afterwards; saved to `screenshot` when the block fails."""
    async with running_browser(program) as address, page_in(address, screenshot) as page:
        yield page


@asynccontextmanager
async def page_in(address: str, screenshot: Path) -> AsyncIterator[Page]:
    """A page of a running browser, closed afterwards; saved to `screenshot` when the block fails."""
    page = Page()
    async with _connected(address, page._on_event) as connection:
        target = await page._attach(connection)
        try:
            yield page
        except Exception as failure:
            await page.screenshot(screenshot)
            failure.add_note(f"What the browser showed: {screenshot}")
            raise
        finally:
            await connection.call("Target.closeTarget", {"targetId": target})


@asynccontextmanager
async def _connected(address: str, on_event: Callable[[Json], None]) -> AsyncIterator[_Connection]:
    # A screenshot does not fit into the 4 MiB that aiohttp permits a message by default.
    async with ClientSession() as http, http.ws_connect(address, max_msg_size=0) as socket:
        connection = _Connection(socket, on_event)
        listening = asyncio.create_task(connection.listen())
        try:
            yield connection
        finally:
            await socket.close()
            await listening


@asynccontextmanager
async def running_browser(program: str) -> AsyncIterator[str]:
    """A browser, all its files in one temporary directory, that listens at the address given."""
    async with _directory() as directory:
        log = directory / "stderr.log"
        process = _start(program, directory, log)

        async def address() -> str | None:
            return _devtools_address(process, log)

        try:
            yield await eventually(address, f"the start of {program}", _START_S)
        finally:
            _end(process)


@asynccontextmanager
async def _directory() -> AsyncIterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="chromium-"))

    async def removed() -> bool | None:
        try:
            shutil.rmtree(directory)
        except OSError:
            # The browser's network process goes last, and writes into its profile on the way.
            return None
        return True

    try:
        yield directory
    finally:
        await eventually(removed, f"the removal of {directory}", _STOP_S)


def _start(program: str, directory: Path, log: Path) -> subprocess.Popen[bytes]:
    command = [program, *_FLAGS, f"--user-data-dir={directory}/profile"]
    environment = {**os.environ, **dict.fromkeys(_DIRECTORIES, str(directory))}
    with log.open("wb") as stderr:
        return subprocess.Popen(command, env=environment, stdout=stderr, stderr=stderr)  # noqa: S603 - found by us


def _devtools_address(process: subprocess.Popen[bytes], log: Path) -> str | None:
    # Read from the log rather than from the profile, which the browser of a snap keeps out of sight.
    lines = log.read_text(errors="replace").splitlines()
    if process.poll() is not None:
        raise BrowserError("\n".join([f"the browser ended with status {process.returncode}", *lines[-5:]]))
    return next((line.split()[-1] for line in lines if line.startswith("DevTools listening on ws://")), None)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
