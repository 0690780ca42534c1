"""What is tried again, how often, after which wait, and against which deadline: every number of it.

A request to the API has `REQUEST_DEADLINE_S` in all. Inside it, from the outside in:

    what                                             tried again           wait                          then
    a rename that met another write                  RENAME_ATTEMPTS       up to 20 ms × n, jittered     503
    a reservation that changed meanwhile             RESERVE_ATTEMPTS      none                          409
    a batch of comments and likes, refused because   COMMIT_ROUNDS         none, but a look at them      503
    of what others wrote meanwhile
    a write: 449; a stored procedure: 449, or        CONFLICT_RETRIES      up to 10 ms × 2^n, jittered   503
    refused for time
    429 (the SDK)                                    THROTTLE_RETRIES      as the database advises       429
    503 (the SDK), also writes                       once per region       0.5 s                         503
    408, 500, 502, 504 (the SDK), reads alone        once per region       0.5 s                         503
    no connection, a lost one, or silence for        3 times               0, 1, 1 s                     503
    SILENCE_S (the SDK), also writes
    the issuer's keys, unknown or not fresh          not in this request   ISSUER_PAUSE_S, for all       503, or 401

Of the SDK's own: azure-cosmos 4.17, aio/_retry_utility_async.py, _resource_throttle_retry_policy.py,
_service_unavailable_retry_policy.py, _timeout_failover_retry_policy.py. It repeats a write whose connection was lost
although the write may have been applied; what each command makes of that is in docs/reliability.md.

These multiply, so no count bounds a request: two clocks do. After `REQUEST_DEADLINE_S` it is answered 503. And the wait
that a 429 advises is only begun where it ends within `THROTTLED_S` of the request's start (shared/patience.py): a
throttled request is answered 429 while its client still listens.

Comments and likes that share a batch (shared/transactions/batches.py) wait for a task that is none of theirs. It
has a deadline of its own, `COMMIT_DEADLINE_S`, and waits for a throttled database as long as the last of them would.
So do those who share a reading of the front page (shared/data/front_page.py), which ends after `REQUEST_DEADLINE_S`.

Reactions to the change feed have no client and no deadline of their own. The SDK waits for a throttled database as
above, for one operation up to `THROTTLE_WAIT_S`; then the batch is thrown back to the host, which delivers it again
after `BATCH_RETRY_LEAST` to `BATCH_RETRY_MOST`, doubling with a jitter of 20 %, without end: a batch that is given up
is lost. A change that fails for a reason of its own is not tried again but kept (shared/data/failures.py).
"""

from __future__ import annotations

from typing import Final

REQUEST_DEADLINE_S: Final = 10.0
# Leaves the last attempt, and the operations after it, time to be answered before the deadline.
THROTTLED_S: Final = 8.0

# The SDK checks the sum of its waits before it adds the next one, so the last wait may go beyond.
THROTTLE_RETRIES: Final = 9
THROTTLE_WAIT_S: Final = 6
# Nothing that the app asks for takes the service longer than the five seconds that it gives a script or a query page.
SILENCE_S: Final = 15

# 449 (a write met a concurrent one) is not retried by the SDK. It comes from contention: without jitter those that met
# once would meet again.
CONFLICT_RETRIES: Final = 5
CONFLICT_WAIT_S: Final = 0.01

# Refused, looked at, refused again by somebody else's write in between, and so on.
COMMIT_ROUNDS: Final = 8
# Below a request's own deadline.
COMMIT_DEADLINE_S: Final = 9.0

# Names carried in a partition where others write: refusals before the change feed's own retry takes over.
RENAMING_REFUSALS: Final = 20

# Renames of one user that meet: a loser starts again from what the winner left, at a time of its own.
RENAME_ATTEMPTS: Final = 10
RENAME_WAIT_S: Final = 0.02
RESERVE_ATTEMPTS: Final = 3

# A copy that is created and deleted again and again, in a reaction.
COPY_ATTEMPTS: Final = 5

# For the issuer's two answers together. And whatever tokens come, the issuer is asked once in so long.
ISSUER_ANSWER_S: Final = 4.0
ISSUER_PAUSE_S: Final = 5.0

# As the host wants them written (functions/change_feed.py).
BATCH_RETRY_LEAST: Final = "00:00:01"
BATCH_RETRY_MOST: Final = "00:01:00"
