"""The host's errors, and what stops working.

HostError
├── HostStartError       the whole app: invalid host.json, no app object, an invalid signature
├── FunctionIndexError   one function: an invalid route, an unresolved %NAME%
├── ListenerStartError   one trigger, until a retry succeeds: a missing container
├── InvocationError      one invocation: an exception, a timeout, an unexpected return value
└── RetriesAbortedError  one batch, because the host stops or loses the lease
"""

from __future__ import annotations


class HostError(Exception):
    """Base class of the host's errors."""


class HostStartError(HostError):
    """The app cannot run."""


class FunctionIndexError(HostError):
    """One function cannot be served."""


class ListenerStartError(HostError):
    """A trigger cannot listen yet."""


class InvocationError(HostError):
    """An invocation failed. Its cause is already logged."""


class RetriesAbortedError(HostError):
    """The host stopped, or lost the lease, before the next retry."""
