"""Properties that the trigger and the bindings of Cosmos DB share."""

from __future__ import annotations

from .app_settings import AppSettings
from .errors import FunctionIndexError
from .functions import Binding

_LEGACY = ("collectionName", "connectionStringSetting", "leaseCollectionName")


class PropertyReader:
    """Reads properties like .NET's binder, which accepts text for any type."""

    def __init__(self, binding: Binding, settings: AppSettings) -> None:
        """Create a reader. Raises FunctionIndexError for a binding of an older extension."""
        if legacy := [name for name in _LEGACY if name in binding]:
            raise FunctionIndexError(f"{legacy} are property names of extension version 3; use the names of version 4")
        self._binding = binding
        self._settings = settings

    def name(self, key: str, default: str) -> str:
        """Return a text as written."""
        return str(self._binding.get(key) or default)

    def text(self, key: str, default: str) -> str:
        """Return a text with its `%NAME%` expressions replaced. Raises FunctionIndexError."""
        value = self._binding.get(key)
        return default if value in (None, "") else self._settings.expand(str(value))

    def required(self, key: str) -> str:
        """Return a text that must not be empty. Raises FunctionIndexError."""
        value = self.text(key, "")
        if not value:
            raise FunctionIndexError(f"the Cosmos DB binding requires {key}")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean, by default false."""
        return str(self._binding.get(key, False)).lower() == "true"

    def positive(self, key: str) -> int | None:
        """Return a positive number, or None. Raises FunctionIndexError."""
        value = self._binding.get(key)
        if value is None:
            return None
        try:
            number = int(str(value))
        except ValueError as error:
            raise FunctionIndexError(f"{key}: {value!r} must be a number") from error
        return number if number > 0 else None

    def locations(self) -> tuple[str, ...]:
        """Return the preferred locations."""
        return tuple(place.strip() for place in self.text("preferredLocations", "").split(",") if place.strip())
