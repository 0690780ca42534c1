"""Pre- and post-triggers, which run in their write's transaction."""

from __future__ import annotations

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.scripts.limits import ScriptLimits
from cosmos_emulator.scripts.operations import ScriptOperations
from cosmos_emulator.scripts.trampoline import Script, parsed_body, run_script


def run_pre_trigger(
    script_id: str,
    body: str,
    document: JsonObject | None,
    operation: str,
    operations: ScriptOperations,
    limits: ScriptLimits,
) -> JsonObject | None:
    """Return the document to write: the request body after the trigger.

    `operation` is Create, Replace, Upsert or Delete; a delete ignores the body. A `CosmosError` prevents the write.
    """
    script = Script(script_id, body, [], {"kind": "pre", "requestBody": document, "operationType": operation})
    left = parsed_body(run_script(script, operations, limits), limits)
    if document is None:
        return None
    if not isinstance(left, dict):
        raise CosmosError(400, f"The pre-trigger '{script_id}' must leave an object as the request body.")
    return left


def run_post_trigger(
    script_id: str,
    body: str,
    document_sent: JsonObject | None,
    document_stored: JsonObject | None,
    operation: str,
    operations: ScriptOperations,
    limits: ScriptLimits,
) -> Json:
    """Return the response body: `document_stored` or what the trigger set.

    A `CosmosError` rolls back the write and the trigger.
    """
    quota, usage = operations.resource_usage()
    messages: dict[str, Json] = {
        "kind": "post",
        "requestBody": document_sent,
        "responseBody": document_stored,
        "operationType": operation,
        "quota": quota,
        "usage": usage,
    }
    finished = run_script(Script(script_id, body, [], messages), operations, limits)
    return parsed_body(finished, limits)
