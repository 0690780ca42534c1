"""Expected errors and their messages."""

from __future__ import annotations

from azure.core.exceptions import AzureError, ClientAuthenticationError, ServiceRequestError, ServiceResponseError
from azure.cosmos.exceptions import CosmosHttpResponseError

from management.local_settings import LocalSettingsError
from shared.platform.database.refusals import NotProvisioned
from shared.platform.errors import AppError, DatabaseUnavailable
from shared.platform.settings import SettingsError
from shared.settings import Settings

# The exit code after one of EXPECTED.
FAILED = 2
# https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-forbidden
NOT_DATA_PLANE = 5300
# https://github.com/Azure/azure-cosmos-dotnet-v3/issues/2891
_NOT_GRANTED = "does not have required RBAC permissions"


class ManagementError(Exception):
    """A command cannot run; the message tells the user what to do."""


MULTIPLE_WRITE_REGIONS = (
    "it has multiple write regions, which can break unique usernames and exact counts. Run"
    " `az cosmosdb update --enable-multiple-write-locations false`"
)

EXPECTED = (ManagementError, LocalSettingsError, SettingsError, AppError, AzureError)


def sentence(error: Exception, configuration: Settings | None) -> str:
    """Describe one of EXPECTED. `configuration` is None if reading it failed."""
    match error:
        case SettingsError():
            return f"The settings are incomplete: {error}."
        case CosmosHttpResponseError():
            return _refusal(error)
        case ClientAuthenticationError():
            return f"Authentication failed: {_first_line(error)}"
        case ServiceRequestError() | ServiceResponseError() if configuration:
            address, reason = configuration.account.endpoint, _first_line(error)
            return f"No response from {address} ({reason}). Check the address and that the account is running."
        case NotProvisioned():
            return "The database, a container or a script is missing. Run `manage.py provision`."
        case DatabaseUnavailable():
            return f"The database failed: {error.reason}. Run the command again."
        case _:
            return _first_line(error)


def _refusal(error: CosmosHttpResponseError) -> str:
    match error.status_code, error.sub_status:
        case 401, _:
            return "The account rejected the key. Copy the connection string from the account's Keys page."
        case 403, _ if _NOT_GRANTED in str(error):
            return (
                "The identity has no data-plane role that allows this. Assign it one, or wait: a new assignment can"
                f" take minutes to work. {_first_line(error)}"
            )
        case 403, _:
            return f"The account denied access: {_first_line(error)}"
        case status, sub_status:
            return f"The database returned {status}/{sub_status or 0}: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
