"""The host's errors, and what stops working.

HostError
├── HostStartError       the whole app: invalid host.json, no app object, an import error
├── FunctionIndexError   one function: an invalid route, an unresolved %NAME%
│   └── WorkerIndexError the same, and Azure would not start the app: an invalid signature
├── ListenerStartError   one trigger, until a retry succeeds: a missing container
├── InvocationError      one invocation: an exception, a timeout, an unexpected return value
├── BindingError         one invocation: a binding expression without a value, a missing container
└── RetriesAbortedError  one batch, because the host stops or loses the lease
"""

from __future__ import annotations


class HostError(Exception):
    """Base class of the host's errors."""


class HostStartError(HostError):
    """The app cannot run."""


class FunctionIndexError(HostError):
    """One function cannot be served."""


class WorkerIndexError(FunctionIndexError):
    """One function cannot be served, and Azure would not start the app."""

    def __str__(self) -> str:
        """Return the message with this warning."""
        return f"{super().__str__()}. Azure would not start the app"


class ListenerStartError(HostError):
    """A trigger cannot listen yet."""


class InvocationError(HostError):
    """An invocation failed. Its cause is already logged."""


class BindingError(HostError):
    """A binding cannot be read or written."""


class RetriesAbortedError(HostError):
    """The host stopped, or lost the lease, before the next retry."""
