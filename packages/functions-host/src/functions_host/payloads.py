"""Trigger arguments. Each call gets a new object."""

from __future__ import annotations

import json

import azure.functions as func
from azure.functions.cosmosdb import CosmosDBTriggerConverter
from azure.functions.meta import Datum
from azure.functions.timer import TimerRequest

from .functions import LoadedFunction


def documents_argument(function: LoadedFunction, payload: str) -> func.DocumentList | str | bytes:
    """Decode a JSON array to documents, unless the parameter is `str` or `bytes`."""
    if function.argument_type is str:
        return payload
    if function.argument_type is bytes:
        return payload.encode()
    documents = CosmosDBTriggerConverter.decode(Datum(payload, "json"), trigger_metadata=None)
    return documents if documents is not None else func.DocumentList()


def timer_argument(
    function: LoadedFunction, *, past_due: bool, status: dict[str, str] | None
) -> TimerRequest | str | bytes:
    """Build a timer argument. `status` is None if the timer has no monitor."""
    schedule = {"AdjustForDST": True}
    if function.argument_type in (str, bytes):
        text = json.dumps({"Schedule": schedule, "ScheduleStatus": status, "IsPastDue": past_due})
        return text if function.argument_type is str else text.encode()
    return TimerRequest(past_due=past_due, schedule_status=status, schedule=schedule)
