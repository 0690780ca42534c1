"""The host's errors, grouped by what stops working.

HostError
├── HostStartError       the whole app: invalid host.json, no app object, an invalid signature
├── FunctionIndexError   one function: an invalid route, an unresolved %NAME%
├── ListenerStartError   one trigger, until a retry succeeds: a missing container
├── InvocationError      one invocation: an exception, a timeout, an unexpected return value
└── RetriesAbortedError  one batch, because the host stops or loses the lease
"""

from __future__ import annotations


class HostError(Exception):
    """Base class of all errors that the host raises."""


class HostStartError(HostError):
    """The app cannot run. The message says what to fix."""


class FunctionIndexError(HostError):
    """One function cannot be served. The message gives the reason."""


class ListenerStartError(HostError):
    """A trigger cannot listen yet, for example because a container is missing."""


class InvocationError(HostError):
    """An invocation failed. Its cause is chained and already logged."""


class RetriesAbortedError(HostError):
    """The wait for the next retry was interrupted."""
