"""The messages between the Functions host and its Python worker that the worker library uses.

azure-functions-runtime receives the message classes as `protos`. These have the names, fields, and defaults of
FunctionRpc.proto (Azure/azure-functions-language-worker-protobuf), without serialization. Only `RpcRetryOptions` is a
protobuf message, because the library converts its values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.duration_pb2 import DESCRIPTOR as DURATION


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


def _retry_options() -> Any:
    """The real message: its constructor accepts some forms of an interval and of the strategy, and rejects others.

    https://github.com/Azure/azure-functions-python-worker/issues/1823: no function with a retry policy was indexed.
    """
    file = FileDescriptorProto(name="retry.proto", package="AzureFunctionsRpcMessages", syntax="proto3")
    file.dependency.append(DURATION.name)
    message = file.message_type.add(name="RpcRetryOptions")
    strategies = message.enum_type.add(name="RetryStrategy")
    for number, name in enumerate(("exponential_backoff", "fixed_delay")):
        strategies.value.add(name=name, number=number)
    optional = FieldDescriptorProto.LABEL_OPTIONAL
    message.field.add(name="max_retry_count", number=2, type=FieldDescriptorProto.TYPE_INT32, label=optional)
    for number, name in enumerate(("delay_interval", "minimum_interval", "maximum_interval"), 3):
        kind = {"type": FieldDescriptorProto.TYPE_MESSAGE, "type_name": ".google.protobuf.Duration"}
        message.field.add(name=name, number=number, label=optional, **kind)
    kind = {"type": FieldDescriptorProto.TYPE_ENUM, "type_name": f".{file.package}.RpcRetryOptions.RetryStrategy"}
    message.field.add(name="retry_strategy", number=6, label=optional, **kind)
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.RpcRetryOptions"))


RpcRetryOptions = _retry_options()


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
    retry_options: Any
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
