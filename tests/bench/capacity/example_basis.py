"""A basis of round numbers, so that results can be checked by hand."""

from __future__ import annotations

from bench.capacity.charge_measurement import LIKE_AGAIN, LIKE_IN_FEED, MeasuredCharges
from bench.capacity.charges import Charges
from bench.capacity.demand import Basis
from bench.capacity.load import (
    COMMENT,
    COMMENTS,
    CREATE_POST,
    CREATE_USER,
    EDIT_POST,
    FRONT_PAGE,
    GET_POST,
    GET_USER,
    LIKE,
    LIKES,
    RENAME,
    USER_POSTS,
)
from bench.capacity.propagation_charges import BatchCost
from bench.capacity.timings import Timings

_COPY = Charges(users=10, posts=2)
_LOOK = Charges(feed=4)

MEASURED = MeasuredCharges(
    requests={
        CREATE_USER: Charges(users=12),
        RENAME: Charges(users=18),
        GET_USER: Charges(users=1),
        CREATE_POST: Charges(users=1, posts=8),
        EDIT_POST: Charges(posts=13),
        GET_POST: Charges(posts=1),
        USER_POSTS: Charges(users=3),
        COMMENT: Charges(users=1, posts=21),
        COMMENTS: Charges(posts=4),
        LIKE: Charges(users=1, posts=20),
        LIKES: Charges(posts=3),
        FRONT_PAGE: Charges(feed=4),
    },
    commit=BatchCost(Charges(posts=15), Charges(posts=5)),
    propagation={
        CREATE_USER: BatchCost(Charges(), Charges(users=14)),
        CREATE_POST: BatchCost(Charges(feed=8), Charges(users=9, posts=3, feed=12)),
        EDIT_POST: BatchCost(_LOOK, _COPY),
        COMMENT: BatchCost(_LOOK, _COPY),
        LIKE: BatchCost(_LOOK, _COPY),
        LIKE_IN_FEED: BatchCost(_LOOK, _COPY + Charges(feed=10)),
        LIKE_AGAIN: BatchCost(_LOOK + Charges(users=9, posts=1), Charges(users=1, posts=1)),
    },
    rename=BatchCost(Charges(users=33, posts=48), Charges(posts=12)),
    scanned_ru=3.0,
    sizes_kb={"user": 0.5, "reservation": 0.5, "copy": 1.0, "post": 2.0, "like": 0.5, "comment": 2.0, "lease": 0.5},
    lease_write_ru=10.0,
    poll_ru=1.0,
)
PACE = Timings(spread_s=0.2, hot_s=0.1, change_cpu_s=0.001, request_cpu_s=0.0035)
BASIS = Basis(MEASURED, PACE)
