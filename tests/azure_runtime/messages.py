"""The messages between the Functions host and its Python worker that the worker library uses.

azure-functions-runtime receives the message classes as `protos`. These have the names, fields, and defaults of
FunctionRpc.proto (Azure/azure-functions-language-worker-protobuf), without serialization.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any


@dataclass
class TypedData:
    """A value. Exactly one field is set."""

    string: str | None = None
    json: str | None = None
    bytes: Any = None
    int: Any = None
    double: float | None = None
    http: RpcHttp | None = None

    def WhichOneof(self, group: str) -> str | None:
        assert group == "data"
        return next((name for name, value in vars(self).items() if value is not None), None)


@dataclass
class RpcHttp:
    """A request (`params` are route values) or a response (its status is a string)."""

    method: str = ""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: TypedData = field(default_factory=TypedData)
    status_code: str = ""
    enable_content_negotiation: bool = False
    cookies: list[object] | None = None


@dataclass
class ParameterBinding:
    name: str
    data: TypedData

    def WhichOneof(self, group: str) -> str:
        assert group == "rpc_data"
        return "data"


@dataclass
class RpcException:
    message: str
    stack_trace: str = ""
    source: str = ""


@dataclass
class StatusResult:
    Failure = 0
    Success = 1

    status: int
    exception: RpcException | None = None


@dataclass
class WorkerMetadata:
    runtime_name: str
    runtime_version: str
    worker_version: str
    worker_bitness: str
    custom_properties: dict[str, str]


@dataclass
class WorkerInitResponse:
    capabilities: dict[str, str]
    worker_metadata: WorkerMetadata
    result: StatusResult


@dataclass
class BindingInfo:
    # Enum values: the directions, and the data type of a binding that sets no data type.
    out = 1
    inout = 2
    undefined = 0

    type: str
    data_type: int | None
    direction: int


@dataclass
class RpcRetryOptions:
    max_retry_count: int
    retry_strategy: str
    delay_interval: timedelta | None = None
    minimum_interval: timedelta | None = None
    maximum_interval: timedelta | None = None


@dataclass
class RpcFunctionMetadata:
    name: str
    function_id: str
    managed_dependency_enabled: bool
    directory: str
    script_file: str
    entry_point: str
    is_proxy: bool
    language: str
    bindings: dict[str, BindingInfo]
    raw_bindings: list[str]
    retry_options: RpcRetryOptions | None
    properties: dict[str, str]


@dataclass
class FunctionMetadataResponse:
    use_default_metadata_indexing: bool
    function_metadata_results: list[RpcFunctionMetadata] | None
    result: StatusResult


@dataclass
class FunctionLoadResponse:
    function_id: str
    result: StatusResult


@dataclass
class InvocationResponse:
    invocation_id: str
    result: StatusResult
    return_value: TypedData | None = None
    output_data: list[ParameterBinding] = field(default_factory=list)


def request(kind: str, **fields: object) -> SimpleNamespace:
    """A message to the worker: a StreamingMessage whose content is `kind`."""
    return SimpleNamespace(**{kind: SimpleNamespace(**fields)})
