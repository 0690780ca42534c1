"""Serve an Azure Cosmos DB emulator until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cosmos_emulator import __version__
from cosmos_emulator.contents import import_command
from cosmos_emulator.emulator import CosmosEmulator
from cosmos_emulator.faults import Faults, parse_rule
from cosmos_emulator.http.access import MasterKey
from cosmos_emulator.http.connections import AcceptErrorFilter
from cosmos_emulator.latency import Latency
from cosmos_emulator.settings import WELL_KNOWN_KEY, EmulatorSettings
from cosmos_emulator.vocabulary.consistency import LEVELS

T = TypeVar("T")

DEFAULT_PORT = 8081
LARGEST_PORT = 65535
_DESCRIPTORS = 8192
_SWITCH_S = 0.0005  # how long the event loop waits for the interpreter lock of a worker thread; Python's default: 5 ms
DEFAULT_DATA_DIR = Path(".data/cosmos")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns 1 if the emulator cannot start."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("asyncio").addFilter(AcceptErrorFilter())
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["import"]:
        return import_command.main(given[1:])
    settings = parse_arguments(given)
    _raise_descriptor_limit()
    try:
        asyncio.run(serve(settings))
    except (OSError, ImportError) as error:
        sys.stderr.write(f"The emulator cannot start: {error}\n")
        return 1
    except KeyboardInterrupt:  # on Windows
        return 0
    return 0


async def serve(settings: EmulatorSettings) -> None:
    """Print one line when ready, then serve until Ctrl-C or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C cancels the task instead
            loop.add_signal_handler(number, stop.set)
    async with CosmosEmulator(settings) as emulator:
        where = settings.data_dir or "in memory"
        tls = f", certificate: {emulator.certificate}" if emulator.certificate else ""
        sys.stdout.write(f"Cosmos DB emulator ready at {emulator.endpoint} (data: {where}{tls})\n")
        sys.stdout.flush()
        sys.setswitchinterval(_SWITCH_S)
        gc.freeze()  # objects from startup stay alive: garbage collection can skip them
        await stop.wait()


def _raise_descriptor_limit() -> None:
    """Let the process open more files than macOS's 256: a partition needs five, and a connection one."""
    if sys.platform == "win32":
        return
    import resource  # only on Unix

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < _DESCRIPTORS:  # RLIM_INFINITY is negative, or large
        most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
        with contextlib.suppress(OSError, ValueError):  # macOS rejects some limits
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def parse_arguments(arguments: list[str] | None) -> EmulatorSettings:
    """Parse the command line. Prints usage and exits if it is invalid."""
    parser = argparse.ArgumentParser(
        prog="cosmos-emulator",
        description=__doc__,
        epilog="`cosmos-emulator import --help` describes the import of a JSON Lines file.",
    )
    parser.add_argument("--version", action="version", version=f"cosmos-emulator {__version__}")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="port, or 0 for a free one (default: %(default)s)"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--data-dir", type=Path, default=DEFAULT_DATA_DIR, metavar="DIR", help="data directory (default: %(default)s)"
    )
    where.add_argument("--memory", action="store_true", help="keep data in memory until the emulator stops")
    parser.add_argument(
        "--partitions",
        type=int,
        default=1,
        metavar="N",
        help="minimum number of physical partitions of a new container; more throughput creates more "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--account-endpoint", metavar="URL", help="endpoint that the account reports (default: the one the client used)"
    )
    parser.add_argument(
        "--continuous-backup-days",
        type=int,
        choices=[7, 30],
        help="continuous backup of the account, which enables the change feed of all versions and deletes "
        "(default: only in containers with a changeFeedPolicy)",
    )
    parser.add_argument(
        "--key",
        type=_explained(_base64),
        default=WELL_KNOWN_KEY,
        help="account key, base64 (default: the well-known key)",
    )
    parser.add_argument(
        "--profile",
        choices=["service-2026", "article-2019"],
        default="service-2026",
        help="coefficients of the modeled request charge (default: %(default)s)",
    )
    parser.add_argument(
        "--script-queries-see-own-writes",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="let a script's queries see what it created and replaced (default: yes)",
    )
    parser.add_argument(
        "--script-operations",
        type=int,
        metavar="N",
        help="number of operations that a script can start before one is not accepted",
    )
    parser.add_argument(
        "--script-edition",
        choices=["2017", "latest"],
        default="2017",
        help="JavaScript version of scripts: ES2017, as in the service, or all that the engine supports "
        "(default: %(default)s)",
    )
    parser.add_argument("--lenient-order-by", action="store_true", help="accept an ORDER BY without an index")
    parser.add_argument(
        "--accept-entra-tokens",
        action="store_true",
        help="with a --key of your own, accept any Microsoft Entra ID token",
    )
    parser.add_argument("--no-signature-check", action="store_true", help="do not check signatures")
    _add_simulation_options(parser)
    given = parser.parse_args(arguments)
    if not 0 <= given.port <= LARGEST_PORT:
        parser.error(f"--port must be from 0 to {LARGEST_PORT}")
    if given.partitions < 1:
        parser.error("--partitions must be at least 1")
    if given.script_operations is not None and given.script_operations < 1:
        parser.error("--script-operations must be at least 1")
    if given.rbac_actions is not None and not given.rbac:
        parser.error("--rbac-actions requires --rbac")
    return EmulatorSettings(
        host=given.host,
        port=given.port,
        data_dir=None if given.memory else given.data_dir,
        partitions=given.partitions,
        key=given.key,
        charge_profile=given.profile,
        accept_entra_tokens=given.accept_entra_tokens,
        check_signatures=not given.no_signature_check,
        script_queries_see_own_writes=given.script_queries_see_own_writes,
        script_operations=given.script_operations,
        script_edition=given.script_edition,
        lenient_order_by=given.lenient_order_by,
        tls=given.tls,
        tls_names=tuple(given.tls_name),
        continuous_backup_days=given.continuous_backup_days,
        management_key=given.management_key,
        faults=Faults(*given.fault),
        latency=given.latency,
        seed=given.seed,
        consistency=given.consistency,
        replica_lag=given.replica_lag,
        throttle=given.throttle,
        rbac=given.rbac,
        rbac_actions=given.rbac_actions,
        multiple_write_regions=given.multiple_write_regions,
        account_endpoint=given.account_endpoint,
    )


def _add_simulation_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fault",
        type=_explained(parse_rule),
        action="append",
        default=[],
        metavar="RULE",
        help="fail matching requests, for example '429 operation=create times=3'; repeatable, see README.md",
    )
    parser.add_argument(
        "--consistency",
        choices=list(reversed(LEVELS)),
        default="Session",
        help="consistency level of the account (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of the random numbers for faults, latency and replica lag"
    )
    parser.add_argument("--latency", type=_explained(Latency.parse), help="delay every response: 10ms or 10ms±5ms")
    parser.add_argument(
        "--replica-lag",
        type=_explained(Latency.parse),
        help="let reads without a newer session token see an older state: 500ms±200ms",
    )
    parser.add_argument("--throttle", action="store_true", help="return 429 when a container's RU/s is used up")
    parser.add_argument("--rbac", action="store_true", help="allow only what a Microsoft Entra ID data role allows")
    parser.add_argument(
        "--rbac-actions",
        type=_data_actions,
        metavar="FILE",
        help="file with a JSON array of the data actions that --rbac allows (default: all)",
    )
    parser.add_argument("--multiple-write-regions", action="store_true", help="report two write regions")
    parser.add_argument(
        "--management-key",
        type=_explained(_base64),
        metavar="KEY",
        help="second key, base64, that is exempt from --rbac",
    )
    parser.add_argument("--tls", action="store_true", help="serve https with a self-signed certificate")
    parser.add_argument(
        "--tls-name",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name or address for the certificate, such as a Compose service; repeatable",
    )


def _data_actions(file: str) -> frozenset[str]:
    try:
        match json.loads(Path(file).read_text(encoding="utf-8")):
            case [*actions] if all(isinstance(action, str) for action in actions):
                return frozenset(actions)
    except (OSError, ValueError):
        pass
    raise argparse.ArgumentTypeError(f"{file} must be a JSON array of data actions")


def _base64(key: str) -> str:
    MasterKey(key)
    return key


def _explained(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return `parse` for argparse, which shows the message of a ValueError only from another exception."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


if __name__ == "__main__":
    sys.exit(main())
