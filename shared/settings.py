"""The settings of the app: one frozen object, read from the environment once, every fault reported together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

Way = Literal["batch", "procedure"]


class SettingsError(Exception):
    """A setting is missing or has a value that cannot be used."""


@dataclass(frozen=True)
class Settings:
    """`account_key` is None where the app signs in to Cosmos DB with its identity (`DefaultAzureCredential`);
    `transactions` says how comments, likes and names are written (shared/transactions)."""

    account_endpoint: str
    account_key: str | None
    database: str
    transactions: Way = "batch"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings from `environment`.

    `COSMOS` is a connection string; without it `COSMOS__accountEndpoint` names the account and `COSMOS__accountKey`,
    where given, its key. These are the names under which a Functions trigger looks up the connection `COSMOS`.
    Raises SettingsError, naming every fault.
    """
    faults = []
    connection = environment.get("COSMOS", "")
    parts = dict(part.split("=", 1) for part in connection.split(";") if "=" in part)
    endpoint = parts.get("AccountEndpoint") or environment.get("COSMOS__accountEndpoint", "")
    key = parts.get("AccountKey") or environment.get("COSMOS__accountKey") or None
    if connection and not (parts.get("AccountEndpoint") and parts.get("AccountKey")):
        faults.append("COSMOS must read AccountEndpoint=…;AccountKey=…;")
    elif not endpoint:
        faults.append("set COSMOS (a connection string) or COSMOS__accountEndpoint (to sign in with an identity)")
    database = environment.get("BLOG_DATABASE", "")
    if not database:
        faults.append("set BLOG_DATABASE, the name of the database")
    transactions = environment.get("BLOG_TRANSACTIONS") or "batch"
    if transactions not in ("batch", "procedure"):
        faults.append("BLOG_TRANSACTIONS is batch or procedure")
    if faults:
        raise SettingsError("; ".join(faults))
    return Settings(
        account_endpoint=endpoint,
        account_key=key,
        database=database,
        transactions="procedure" if transactions == "procedure" else "batch",
    )


@cache
def settings() -> Settings:
    """The settings of this process. Raises SettingsError."""
    return read_settings(os.environ)
