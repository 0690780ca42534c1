"""What can stop a command of manage.py, each as one sentence that says what to do."""

from __future__ import annotations

from azure.core.exceptions import AzureError, ClientAuthenticationError, ServiceRequestError, ServiceResponseError
from azure.cosmos.exceptions import CosmosHttpResponseError

from shared.errors import BlogError, DatabaseUnavailable
from shared.settings import Settings, SettingsError

# An identity without the right: https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-forbidden
_NOT_GRANTED = 5300


class ManagementError(Exception):
    """A command cannot be carried out; the message is what the person at the terminal reads."""


EXPECTED = (ManagementError, SettingsError, BlogError, AzureError)


def sentence(error: Exception, configuration: Settings | None) -> str:
    """One of EXPECTED as a sentence. `configuration` is None where the settings themselves are at fault."""
    match error:
        case SettingsError():
            return f"The settings are incomplete: {error}."
        case CosmosHttpResponseError():
            return _refusal(error)
        case ClientAuthenticationError():
            return f"Signing in failed: {_first_line(error)}"
        case ServiceRequestError() | ServiceResponseError() if configuration:
            address, reason = configuration.account_endpoint, _first_line(error)
            return f"No answer from {address} ({reason}); is the address right and is the account up?"
        case DatabaseUnavailable():
            return f"The database failed: {error.reason}."
        case _:
            return _first_line(error)


def _refusal(error: CosmosHttpResponseError) -> str:
    match error.status_code, error.sub_status:
        case 401, _:
            return "The account refuses the key; take the connection string from the account's keys."
        case 403, sub_status if sub_status == _NOT_GRANTED:
            return (
                "The signed-in identity may not do this (403/5300). No data-plane role lets an identity create or"
                " change databases, containers or scripts: create them with a Bicep template or with"
                " `az cosmosdb sql`, or run this with the account's connection string in COSMOS."
            )
        case 403, _:
            return f"The account forbids this: {_first_line(error)}"
        case status, sub_status:
            return f"The database answered {status}/{sub_status or 0}: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
