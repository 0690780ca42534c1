"""An Azure Functions Python worker driven by JSON lines over stdin and stdout.

Runs in the environment of environment.py, as a script, so that the app cannot import anything else from the repository.
It performs the steps that the real host requests over gRPC: initialize on the app in the working directory, list the
functions, load each, then invoke. The first line written is the index of the app; after that, each line read is an
invocation and each line written is its result.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import uuid
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import azure_functions_runtime as runtime
import messages
from messages import ParameterBinding, RpcHttp, StatusResult, TypedData

Json = dict[str, Any]


async def main() -> None:
    # Keep the app's prints out of the results.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        runtime.start_threadpool_executor()
        index = await _index(Path.cwd())
        ids = {function["name"]: function["id"] for function in index["functions"]}
        answers.write(f"{json.dumps(index)}\n")
        answers.flush()
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            answers.write(f"{json.dumps(await _invoke(ids[asked['function']], asked))}\n")
            answers.flush()
        runtime.stop_threadpool_executor()


async def _index(app_dir: Path) -> Json:
    """Initialize the worker and load each function."""
    begun = await runtime.worker_init_request(
        _message("worker_init_request", capabilities={}, function_app_directory=str(app_dir))
    )
    if begun.result.status != StatusResult.Success:
        return {"error": begun.result.exception.stack_trace, "functions": []}
    found = await runtime.functions_metadata_request(_message("functions_metadata_request"))
    functions = found.function_metadata_results
    for function in functions:
        loaded = await runtime.function_load_request(
            _message("function_load_request", function_id=function.function_id)
        )
        assert loaded.result.status == StatusResult.Success
    return {
        "error": None,
        "runtime": begun.worker_metadata.worker_version,
        "functions": list(map(_described, functions)),
    }


def _described(function: messages.RpcFunctionMetadata) -> Json:
    retry = function.retry_options
    return {
        "name": function.name,
        "id": function.function_id,
        "bindings": [json.loads(binding) for binding in function.raw_bindings],
        "retry": retry
        and {
            "strategy": messages.RpcRetryOptions.RetryStrategy.Name(retry.retry_strategy),
            "max_retry_count": retry.max_retry_count,
            "seconds": [retry.minimum_interval.ToSeconds(), retry.maximum_interval.ToSeconds()],
        },
    }


async def _invoke(function_id: str, asked: Json) -> Json:
    """`asked` contains the trigger's parameter and either an HTTP request or documents."""
    http = asked.get("http")
    given = TypedData(http=_http_request(http)) if http else TypedData(json=json.dumps(asked["documents"]))
    answer = await runtime.invocation_request(
        _message(
            "invocation_request",
            invocation_id=str(uuid.uuid4()),
            function_id=function_id,
            input_data=[ParameterBinding(asked["parameter"], given)],
            trigger_metadata={},
            trace_context=SimpleNamespace(trace_parent=asked["traceparent"], trace_state="", attributes={}),
            retry_context=SimpleNamespace(retry_count=0, max_retry_count=0, exception=None),
        )
    )
    if answer.result.status != StatusResult.Success:
        return {"error": answer.result.exception.stack_trace}
    if answer.return_value is None:
        return {"error": None}
    response = answer.return_value.http
    body = base64.b64encode(response.body.bytes).decode()
    return {"error": None, "status": int(response.status_code), "headers": response.headers, "body": body}


def _http_request(http: Json) -> RpcHttp:
    return RpcHttp(**{**http, "body": TypedData(bytes=base64.b64decode(http["body"]))})


def _message(kind: str, **fields: object) -> SimpleNamespace:
    """A request as the worker process passes it to the library."""
    protos: ModuleType = messages
    return SimpleNamespace(request=messages.request(kind, **fields), properties={"host": "127.0.0.1", "protos": protos})


if __name__ == "__main__":
    asyncio.run(main())
