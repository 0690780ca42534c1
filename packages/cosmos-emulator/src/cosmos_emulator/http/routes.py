"""Routes from verb and path to operation.

The verb is the HTTP method, unless headers make a POST a query, an upsert, a batch or a query plan, or a GET a change
feed read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.messages import headers as h
from cosmos_emulator.messages.answer import Answer
from cosmos_emulator.messages.request import Request
from cosmos_emulator.operations import (
    create_container,
    create_database,
    create_item,
    create_permission,
    create_script,
    create_user,
    delete_container,
    delete_database,
    delete_item,
    delete_partition_key,
    delete_permission,
    delete_script,
    delete_user,
    execute_batch,
    execute_stored_procedure,
    find_conflict,
    list_changes,
    list_conflicts,
    list_items,
    list_ranges,
    list_resources,
    patch_item,
    plan_query,
    query_items,
    query_resources,
    read_account,
    read_item,
    read_resource,
    replace_container,
    replace_item,
    replace_offer,
    replace_permission,
    replace_script,
    replace_user,
    upsert_item,
    upsert_permission,
    upsert_user,
)
from cosmos_emulator.vocabulary.operation_names import OperationName, operation_name

Operation = Callable[[Request], Awaitable[Answer]]

_COLL: Final = "/dbs/*/colls/*"
_USER: Final = "/dbs/*/users/*"

ROUTES: Final[dict[tuple[str, str], Operation]] = {
    ("GET", "/"): read_account.handle,
    # databases
    ("POST", "/dbs"): create_database.handle,
    ("GET", "/dbs"): list_resources.handle,
    ("QUERY", "/dbs"): query_resources.handle,
    ("GET", "/dbs/*"): read_resource.handle,
    ("DELETE", "/dbs/*"): delete_database.handle,
    # users and permissions
    ("POST", "/dbs/*/users"): create_user.handle,
    ("UPSERT", "/dbs/*/users"): upsert_user.handle,
    ("GET", "/dbs/*/users"): list_resources.handle,
    ("QUERY", "/dbs/*/users"): query_resources.handle,
    ("GET", _USER): read_resource.handle,
    ("PUT", _USER): replace_user.handle,
    ("DELETE", _USER): delete_user.handle,
    ("POST", f"{_USER}/permissions"): create_permission.handle,
    ("UPSERT", f"{_USER}/permissions"): upsert_permission.handle,
    ("GET", f"{_USER}/permissions"): list_resources.handle,
    ("QUERY", f"{_USER}/permissions"): query_resources.handle,
    ("GET", f"{_USER}/permissions/*"): read_resource.handle,
    ("PUT", f"{_USER}/permissions/*"): replace_permission.handle,
    ("DELETE", f"{_USER}/permissions/*"): delete_permission.handle,
    # containers
    ("POST", "/dbs/*/colls"): create_container.handle,
    ("GET", "/dbs/*/colls"): list_resources.handle,
    ("QUERY", "/dbs/*/colls"): query_resources.handle,
    ("GET", _COLL): read_resource.handle,
    ("PUT", _COLL): replace_container.handle,
    ("DELETE", _COLL): delete_container.handle,
    ("GET", f"{_COLL}/pkranges"): list_ranges.handle,
    ("CHANGES", f"{_COLL}/pkranges"): list_ranges.handle,
    ("GET", f"{_COLL}/conflicts"): list_conflicts.handle,
    ("QUERY", f"{_COLL}/conflicts"): list_conflicts.handle,
    ("GET", f"{_COLL}/conflicts/*"): find_conflict.handle,
    ("DELETE", f"{_COLL}/conflicts/*"): find_conflict.handle,
    ("POST", f"{_COLL}/operations/partitionkeydelete"): delete_partition_key.handle,
    # items
    ("POST", f"{_COLL}/docs"): create_item.handle,
    ("UPSERT", f"{_COLL}/docs"): upsert_item.handle,
    ("GET", f"{_COLL}/docs"): list_items.handle,
    ("CHANGES", f"{_COLL}/docs"): list_changes.handle,
    ("QUERY", f"{_COLL}/docs"): query_items.handle,
    ("PLAN", f"{_COLL}/docs"): plan_query.handle,
    ("BATCH", f"{_COLL}/docs"): execute_batch.handle,
    ("GET", f"{_COLL}/docs/*"): read_item.handle,
    ("PUT", f"{_COLL}/docs/*"): replace_item.handle,
    ("PATCH", f"{_COLL}/docs/*"): patch_item.handle,
    ("DELETE", f"{_COLL}/docs/*"): delete_item.handle,
    # scripts
    **{
        route: operation
        for kind in ("sprocs", "triggers", "udfs")
        for route, operation in (
            (("POST", f"{_COLL}/{kind}"), create_script.handle),
            (("GET", f"{_COLL}/{kind}"), list_resources.handle),
            (("QUERY", f"{_COLL}/{kind}"), query_resources.handle),
            (("GET", f"{_COLL}/{kind}/*"), read_resource.handle),
            (("PUT", f"{_COLL}/{kind}/*"), replace_script.handle),
            (("DELETE", f"{_COLL}/{kind}/*"), delete_script.handle),
        )
    },
    ("POST", f"{_COLL}/sprocs/*"): execute_stored_procedure.handle,
    # throughput
    ("GET", "/offers"): list_resources.handle,
    ("QUERY", "/offers"): query_resources.handle,
    ("GET", "/offers/*"): read_resource.handle,
    ("PUT", "/offers/*"): replace_offer.handle,
}

_NAMED: Final = {address: (operation_name(operation), operation) for address, operation in ROUTES.items()}
_TEMPLATES: Final = frozenset(template for _, template in ROUTES)
_NOT_EMULATED: Final = {
    "attachments": "Attachments are",
    "clientencryptionkeys": "Client encryption keys are",
}


def route(request: Request) -> tuple[OperationName, Operation]:
    """Return the operation with its name.

    Raises 404 for an unknown path, 405 for a wrong method, 501 if it is not emulated.
    """
    verb, link = _verb(request), request.link
    found = _NAMED.get((verb, link.template))
    if found is not None:
        return found
    missing = next((_NOT_EMULATED[kind] for kind in link.kinds if kind in _NOT_EMULATED), None)
    if missing is not None:
        raise CosmosError(501, f"{missing} not emulated.")
    if link.template not in _TEMPLATES:
        raise CosmosError(404, f"The path {link.template} is unknown.")
    raise CosmosError(405, f"The method {verb} is not allowed on {link.template}.")


def _verb(request: Request) -> str:
    if request.verb == "GET":
        return "CHANGES" if h.A_IM in request.headers else "GET"
    if request.verb != "POST" or request.link.names_one:
        return request.verb
    if request.flag(h.IS_BATCH):
        return "BATCH"
    if request.flag(h.IS_QUERY_PLAN):
        return "PLAN"
    content_type = request.headers.get(h.CONTENT_TYPE, "")
    if request.flag(h.IS_QUERY) or content_type.startswith("application/query+json"):
        return "QUERY"
    return "UPSERT" if request.flag(h.IS_UPSERT) else "POST"
