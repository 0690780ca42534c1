"""What can go wrong in the host, by how far the damage reaches.

HostError
├── HostStartError       the app as a whole cannot run (bad host.json, no app object, a bad signature)
├── FunctionIndexError   one function is left out, the others run (bad route, unresolved %NAME%)
├── ListenerStartError   a trigger cannot listen yet; the host tries again with back-off
├── InvocationError      user code raised, timed out or returned what its bindings do not allow
└── RetriesAbortedError  a batch given up because the host stops or the lease is gone, not because it failed
"""

from __future__ import annotations


class HostError(Exception):
    """Any failure that the host itself names."""


class HostStartError(HostError):
    """The app cannot run at all; the message says what to correct."""


class FunctionIndexError(HostError):
    """One function cannot be served; the message says why."""


class ListenerStartError(HostError):
    """A trigger's source is not there yet, for instance a missing container."""


class InvocationError(HostError):
    """An invocation ended without success; the cause is chained and was logged."""


class RetriesAbortedError(HostError):
    """No further attempt is made because the wait for it was interrupted."""
