"""The containers, scripts and roles that the templates yield, compared with golden.json.

After an intended change, rewrite the file: `python -m tests.infra.golden`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.infra.deployments import deployment

FILE = Path(__file__).with_name("golden.json")

_DATABASE = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases"
_ROLE_NAMES = {
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
}


def containers() -> list[dict[str, Any]]:
    """Return the containers, without properties that are null."""
    return [_without_nulls(body["properties"]["resource"]) for body in deployment().of_type(f"{_DATABASE}/containers")]


def scripts() -> dict[str, list[dict[str, str]]]:
    """Return the scripts of each container that has any."""
    found: dict[str, list[dict[str, str]]] = {}
    for kind in ("storedProcedures", "triggers"):
        for body in deployment().of_type(f"{_DATABASE}/containers/{kind}"):
            found.setdefault(body["parent"].body["name"], []).append(body["properties"]["resource"])
    return found


def roles() -> list[dict[str, str]]:
    """Return who has which role on what."""
    found = []
    for body in deployment().of_type("Microsoft.Authorization/roleAssignments"):
        role = str(body["properties"]["roleDefinitionId"]).partition(":")[2]
        found.append(_role(_ROLE_NAMES[role], body["scope"].type, body["properties"]["principalId"]))
    (definition,) = deployment().of_type("Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions")
    for body in deployment().of_type("Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments"):
        assert str(definition["name"]) in body["properties"]["roleDefinitionId"]
        scope = body["properties"]["scope"]
        assert definition["properties"]["assignableScopes"] == [scope]
        found.append(_role(definition["properties"]["roleName"], scope, body["properties"]["principalId"]))
    return found


def data_actions() -> list[str]:
    """Return the actions of the data role."""
    (definition,) = deployment().of_type("Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions")
    (permission,) = definition["properties"]["permissions"]
    return list(permission["dataActions"])


def current() -> dict[str, Any]:
    return {
        "containers": containers(),
        "scripts": {
            container: [{name: value for name, value in script.items() if name != "body"} for script in each]
            for container, each in scripts().items()
        },
        "roles": roles(),
        "dataActions": data_actions(),
    }


def _role(role: str, scope: str, principal: str) -> dict[str, str]:
    return {"role": role, "scope": scope, "principal": "app" if "userAssignedIdentities" in principal else principal}


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if item is not None}


if __name__ == "__main__":
    FILE.write_text(json.dumps(current(), indent=2) + "\n", encoding="utf-8")
