"""The limits on retries: how often, after which wait, until which deadline.

From the outermost rule to the innermost, an API request retries:

    what                                            attempts              wait                          then
    what an app retries itself, such as a single    ENTRY_ATTEMPTS, or    none, or jittered             503
    item that changes while it is written           a limit of its own
    449 from a write; 449 or 503 from a script      CONFLICT_RETRIES      up to 10 ms × 2^n, jittered   503
    404/1002, a replica behind the session token    SESSION_RETRIES       50 ms × 2^n                   503
    429 (SDK)                                       THROTTLE_RETRIES      as the response says          429
    503 (SDK), including writes                     once per region       0.5 s                         503
    408, 500, 502, 504 (SDK), reads only            once per region       0.5 s                         503
    410/1002 from a query (SDK)                     3                     none; reads the partitions    503
    lost connection, or silence for SILENCE_S       3                     0, 1, 1 s                     503
    (SDK), including writes

The rows marked SDK describe azure-cosmos 4.17 (aio/_retry_utility_async.py and the policies it uses). The SDK repeats
writes that may have been applied; docs/reliability.md says how each command handles that.

Nested counts multiply, so a deadline bounds the request instead (`deadline` in scope.py). Work that several requests
share has a shorter deadline, so that its error still reaches them. The host repeats a delivery of changes without limit
(shared/platform/deliveries/).
"""

from __future__ import annotations

from typing import Final

REQUEST_DEADLINE_S: Final = 10.0

# The SDK checks the sum of its waits before it adds the next one, so the last wait can exceed the limit.
THROTTLE_RETRIES: Final = 9
THROTTLE_WAIT_S: Final = 6
# The service itself stops a script or a query page after five seconds.
SILENCE_S: Final = 15

# The SDK does not retry 449.
CONFLICT_RETRIES: Final = 5
CONFLICT_WAIT_S: Final = 0.01

# Without a token from the client, the SDK repeats all of this once, and then forgets the session of the process.
SESSION_RETRIES: Final = 5
SESSION_WAIT_S: Final = 0.05

ENTRY_ATTEMPTS: Final = 3

# Exponential back-off of the host's retry policy for deliveries.
DELIVERY_RETRY_LEAST: Final = "00:00:01"
DELIVERY_RETRY_MOST: Final = "00:01:00"
