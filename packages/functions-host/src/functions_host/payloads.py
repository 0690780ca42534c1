"""Arguments and outputs. Each call gets new objects.

Rules: azure_functions_runtime bindings/meta.py and bindings/generic.py, azure-functions-host
Binding/FunctionBinding.cs.
"""

from __future__ import annotations

import json
import typing

import azure.functions as func
from azure.functions.cosmosdb import CosmosDBConverter
from azure.functions.meta import Datum
from azure.functions.timer import TimerRequest

from .functions import LoadedFunction


def decode_documents(annotation: object, payload: str) -> func.DocumentList | str | bytes:
    """Decode a JSON object or array to documents, unless the parameter is `str` or `bytes`."""
    if annotation is str:
        return payload
    if annotation is bytes:
        return payload.encode()
    documents = CosmosDBConverter.decode(Datum(payload, "json"), trigger_metadata=None)
    return documents if documents is not None else func.DocumentList()


def encode_documents(annotation: object, value: object) -> list[dict[str, object]]:
    """Encode documents, or the JSON of a `func.Out[str]` or `func.Out[bytes]`.

    Raises TypeError for values that the worker rejects, and ValueError for invalid JSON.
    """
    if typing.get_args(annotation) in ((str,), (bytes,)) and isinstance(value, (str, bytes, dict, list)):
        decoded = json.loads(value) if isinstance(value, (str, bytes)) else value
    else:
        try:
            decoded = json.loads(CosmosDBConverter.encode(value, expected_type=None).value)
        except NotImplementedError as error:
            kind = type(value).__name__
            raise TypeError(f'unable to encode outgoing TypedData: unsupported type "{kind}"') from error
    documents = decoded if isinstance(decoded, list) else [decoded]
    if not all(isinstance(document, dict) for document in documents):
        raise ValueError("an output binding of Cosmos DB accepts only JSON objects")
    return documents


def timer_argument(
    function: LoadedFunction, *, past_due: bool, status: dict[str, str] | None
) -> TimerRequest | str | bytes:
    """Build a timer argument. `status` is None if the timer has no monitor."""
    schedule = {"AdjustForDST": True}
    if function.argument_type in (str, bytes):
        text = json.dumps({"Schedule": schedule, "ScheduleStatus": status, "IsPastDue": past_due})
        return text if function.argument_type is str else text.encode()
    return TimerRequest(past_due=past_due, schedule_status=status, schedule=schedule)
