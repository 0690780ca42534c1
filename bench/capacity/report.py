"""Tables of docs/scale.md about numbers of users and about the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench.capacity.costs import bill
from bench.capacity.demand import Basis, Demand, demand
from bench.capacity.formatting import number, people, percent, table
from bench.capacity.limits import LIMITS, reached, users_at
from bench.capacity.load import RENAME, SIZES, Load
from bench.capacity.prices_and_limits import LIMITS as PUBLISHED_LIMITS
from bench.capacity.prices_and_limits import PRICES, Published
from bench.capacity.timings import BATCH, LATENCY_MS

Section = list[str]
_EDGES: Final = 200


def size_tables(basis: Basis) -> list[Section]:
    """Return the tables that depend on the number of users."""
    needs = [demand(size, basis) for size in SIZES]
    return [_first(basis), _remedies(basis), _containers(needs), _shape(needs, basis), _money(needs, basis)]


def basis_tables(basis: Basis) -> list[Section]:
    return [_load(basis.load), _assumed(basis), _requests(basis), _propagation(basis), _measured(basis), _published()]


def _sizes() -> list[str]:
    return [f"{people(size)} users" for size in SIZES]


def _first(basis: Basis) -> Section:
    rows = [
        (
            one.limit.name,
            *(percent(used) for used in one.used),
            "never" if one.users is None else people(one.users),
            one.limit.remedy,
        )
        for one in reached(basis, SIZES)
    ]
    return [
        "### Limits that grow with the number of users (modeled)",
        "",
        "The share of each limit used in the busiest second, and the number of users that reaches it.",
        "",
        *table(["limit", *_sizes(), "reached at", "remedy"], rows),
    ]


def _remedies(basis: Basis) -> Section:
    feed = LIMITS[0]
    looking = replace(basis.assumed, looking_share=0.01)
    cached = replace(looking, cdn_edges=_EDGES)
    steps = [
        ("today", basis.assumed),
        ("plus: one batch in a hundred reads the feed", looking),
        (f"plus: a CDN whose {_EDGES} edges (assumption) each send one request a second", cached),
        ("plus: 16 replicas of the feed", replace(cached, feed_replicas=16)),
    ]
    rows = []
    for name, assumed in steps:
        with_it = replace(basis, assumed=assumed)
        need = demand(SIZES[-1], with_it)
        users = users_at(feed, with_it)
        rows.append(
            (
                name,
                "never" if users is None else people(users),
                *(number(part) for part in (need.look_ru, need.front_page_ru, need.feed_write_ru)),
                number(need.feed_partition_ru),
            )
        )
    head = ["remedies", "10,000 RU/s reached at", "reads by functions", "front pages", "writes", "busiest partition"]
    return [
        "### The feed's partition with each remedy (modeled)",
        "",
        f"The last four columns are RU/s at {people(SIZES[-1])} users. Only the front page cache, one second per"
        " process, is implemented.",
        "",
        *table(head, rows),
    ]


def _containers(needs: Sequence[Demand]) -> Section:
    rows = []
    for need in needs:
        for name, one in need.containers.items():
            partitions = "1 (cannot be split)" if name == "feed" else number(one.partitions)
            cells = (one.request_ru, one.propagation_ru, one.idle_ru, one.provisioned_ru, one.gb)
            share = "" if name == "feed" else number(one.share_ru)
            rows.append((people(need.users), f"`{name}`", *(number(cell) for cell in cells), partitions, share))
    head = [
        "users",
        "container",
        "requests",
        "change feeds",
        "idle polls",
        "provisioned",
        "GB",
        "partitions",
        "per partition",
    ]
    return [
        "### Containers (modeled)",
        "",
        "RU/s in the busiest second; GB after five years, including the assumed index; the minimum number of physical"
        " partitions for both, and the RU/s that each of them gets.",
        "",
        *table(head, rows),
    ]


def _shape(needs: Sequence[Demand], basis: Basis) -> Section:
    def row(name: str, cells: Sequence[float]) -> tuple[str, ...]:
        return (name, *(number(cell) for cell in cells))

    rows = [
        row("HTTP requests per second", [need.http_requests for need in needs]),
        row("instances for HTTP", [need.http_instances for need in needs]),
        row("instances for the change feeds", [need.trigger_instances for need in needs]),
        row("leases", [sum(need.containers[name].partitions for name in ("posts", "users")) for need in needs]),
        row("changes of `posts` per second", [need.posts_feed.changes for need in needs]),
        row("batches of `posts` per second", [need.posts_feed.batches for need in needs]),
        row("changes per batch", [need.posts_feed.changes / need.posts_feed.batches for need in needs]),
        row(
            "changes per second and partition of `posts`",
            [need.posts_feed.changes / need.containers["posts"].partitions for need in needs],
        ),
        row(
            f"… capacity of a lease here ({LATENCY_MS} ms responses)",
            [basis.timings.spread_changes_per_s] * len(needs),
        ),
        row("renames per second", [basis.load.commands_per_s(need.users)[RENAME] * basis.load.peak for need in needs]),
        row("RU/s of their cross-partition queries", [need.rename_scan_ru for need in needs]),
    ]
    return [
        "### Functions and change feeds (modeled; instances and lease capacity are estimates)",
        "",
        *table(["busiest second", *_sizes()], rows),
    ]


def _money(needs: Sequence[Demand], basis: Basis) -> Section:
    bills = [bill(need, basis) for need in needs]
    rows = [
        ("throughput, standard", *(number(one.standard) for one in bills)),
        ("throughput, autoscale instead", *(number(one.autoscale) for one in bills)),
        ("storage", *(number(one.storage) for one in bills)),
        ("functions", *(number(one.functions) for one in bills)),
        ("total, with the cheaper throughput", *(number(one.total) for one in bills)),
        (
            "per thousand users",
            *(number(one.total / need.users * 1000) for one, need in zip(bills, needs, strict=True)),
        ),
    ]
    return [
        "### Cost in dollars per month (modeled, at published list prices)",
        "",
        "One region, without network, CDN, monitoring, backup, support, free grants and discounts. Beyond the limits"
        " above, these figures are arithmetic only.",
        "",
        *table(["item", *_sizes()], rows),
    ]


def _load(load: Load) -> Section:
    rows = [
        ("period over which the data accumulates", f"{number(load.years)} years"),
        ("posts per user; comments and likes per post", "27.5; 12.5 and 50 (the article's means)"),
        ("edits per post; renames per user", f"{load.edits_per_post}; {load.renames_per_user}, over all years"),
        ("commands per user and day", number(sum(load.commands_per_s(86_400).values()))),
        ("queries per command", number(load.reads_per_command)),
        ("busiest second relative to the mean", number(load.peak)),
        ("busiest second of an hour relative to the hour's mean", number(load.peak_in_hour)),
        ("comments and likes of a post arrive evenly within", "a day"),
        *((f"queries: {name}", percent(share)) for name, share in load.read_mix.items()),
    ]
    commands = load.per_user()
    shares = [(f"commands: {name}", percent(count / sum(commands.values()))) for name, count in commands.items()]
    return ["### Load (assumptions: bench/capacity/load.py)", "", *table(["assumption", "value"], rows + shares)]


def _assumed(basis: Basis) -> Section:
    assumed = basis.assumed
    rows = [
        ("index size relative to the items", percent(assumed.index_share)),
        ("utilization of throughput and CPU in the busiest second", percent(assumed.used_share)),
        ("CPU time on Azure relative to the local host", f"× {number(assumed.platform)}"),
        ("leases per instance, at most", number(assumed.leases_an_instance)),
    ]
    return ["### Other assumptions (bench/capacity/demand.py)", "", *table(["assumption", "value"], rows)]


def _requests(basis: Basis) -> Section:
    rows = [
        (name, *(f"{part:.2f}" for part in (charges.users, charges.posts, charges.feed)))
        for name, charges in basis.measured.requests.items()
    ]
    return [
        "### Requests, RU (charges modeled by the emulator, profile service-2026)",
        "",
        "The user of a command is read, not cached.",
        "",
        *table(["request", "`users`", "`posts`", "`feed`"], rows),
    ]


def _propagation(basis: Basis) -> Section:
    rows = []
    costs = basis.measured.propagation | {"rename, per item": basis.measured.rename}
    for name, cost in costs.items():
        parts = (*cost.fixed.parts()[:3], *cost.each.parts()[:3])
        rows.append((name, *(f"{abs(part):.2f}" for part in parts)))
    head = [
        "after",
        *(f"{when}, `{name}`" for when in ("per batch", "per command") for name in _PLACES),
    ]
    return [
        "### Change feeds, RU (charges modeled by the emulator)",
        "",
        "The charge of a batch and of each command in it, from a line through batches of one and of twenty commands."
        " Reads of the change feeds are included, idle polls are not. For a rename, the batch is the query of 16"
        " partitions plus the usernames, and each command is one item.",
        "",
        *table(head, rows),
    ]


_PLACES = ("users", "posts", "feed")


def _measured(basis: Basis) -> Section:
    measured, timings = basis.measured, basis.timings
    sizes = ", ".join(f"{kind} {size:.2f}" for kind, size in measured.sizes_kb.items())
    rows = [
        ("items, KB of JSON", sizes, "measured"),
        ("cross-partition query of `posts`, RU per physical partition", f"{measured.scanned_ru:.2f}", "modeled"),
        ("checkpoint or renewal of a lease, RU", f"{measured.lease_write_ru:.2f}", "modeled"),
        ("idle poll, RU", f"{measured.poll_ru:.2f}", "modeled"),
        (f"batch of {BATCH} changes: 50 likes of 50 posts, s", f"{timings.spread_s:.3f}", "measured"),
        (f"batch of {BATCH} changes: 99 likes of one post, s", f"{timings.hot_s:.3f}", "measured"),
        ("CPU time of a change, ms", f"{timings.change_cpu_s * 1000:.2f}", "measured"),
        ("CPU time of a Q2 on the local host, ms", f"{timings.request_cpu_s * 1000:.2f}", "measured"),
    ]
    return [
        "### Sizes and times",
        "",
        f"Responses are delayed by {LATENCY_MS} ms; batch times are the fastest of nine. For other machines the times"
        " are estimates.",
        "",
        *table(["figure", "value", "kind"], rows),
    ]


def _published() -> Section:
    def row(one: Published) -> tuple[str, ...]:
        return (one.what, f"{_exact(one.value)} {one.unit}", one.source, one.as_of)

    return [
        "### Prices and limits (published)",
        "",
        "Looked up on 2026-11-21 in stored copies of these pages.",
        "",
        *table(["item", "value", "source", "as of"], [row(one) for one in (*PRICES, *PUBLISHED_LIMITS)]),
    ]


def _exact(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".")
