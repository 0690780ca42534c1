"""The tables of docs/scale.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench.capacity.demand import Basis, Demand, demand
from bench.capacity.figures import number, people, percent, table
from bench.capacity.limits import LIMITS, reached, users_at
from bench.capacity.load import RENAME, SIZES, Load
from bench.capacity.money import bill
from bench.capacity.pace import BATCH, LATENCY_MS
from bench.capacity.published import LIMITS as PUBLISHED_LIMITS
from bench.capacity.published import PRICES, Published

Section = list[str]
_EDGES: Final = 200


def size_tables(basis: Basis) -> list[Section]:
    """What follows from the number of users."""
    needs = [demand(size, basis) for size in SIZES]
    return [_first(basis), _remedies(basis), _containers(needs), _shape(needs, basis), _money(needs, basis)]


def basis_tables(basis: Basis) -> list[Section]:
    """What everything is computed from."""
    return [_load(basis.load), _assumed(basis), _requests(basis), _reactions(basis), _measured(basis), _published()]


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
        "### Limits that the number of users reaches (modelled)",
        "",
        "The share of each limit that the busiest second uses, and the number of users at which that is all of it.",
        "",
        *table(["limit", *_sizes(), "reached at", "remedy"], rows),
    ]


def _remedies(basis: Basis) -> Section:
    feed = LIMITS[0]
    looking = replace(basis.assumed, looking_share=0.01)
    cached = replace(looking, cdn_edges=_EDGES)
    steps = [
        ("as it is", basis.assumed),
        ("and one batch in a hundred looks at the feed", looking),
        (f"and a CDN whose {_EDGES} edges (assumption) ask once a second each", cached),
        ("and 16 replicas of the feed", replace(cached, feed_replicas=16)),
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
    head = ["the feed", "10,000 RU/s reached at", "looks", "front pages", "writes", "busiest partition, RU/s"]
    return [
        "### The feed's partition, remedy by remedy (modelled)",
        "",
        f"The last four columns are RU/s at {people(SIZES[-1])} users. None of the remedies but the front page"
        " kept for a"
        " second in each process is built.",
        "",
        *table(head, rows),
    ]


def _containers(needs: Sequence[Demand]) -> Section:
    rows = []
    for need in needs:
        for name, one in need.containers.items():
            partitions = "1, cannot be split" if name == "feed" else number(one.partitions)
            cells = (one.request_ru, one.reaction_ru, one.idle_ru, one.provisioned_ru, one.gb)
            share = "" if name == "feed" else number(one.share_ru)
            rows.append((people(need.users), f"`{name}`", *(number(cell) for cell in cells), partitions, share))
    head = [
        "users",
        "container",
        "requests",
        "change feeds",
        "idle polls",
        "to provision",
        "GB",
        "partitions",
        "each has",
    ]
    return [
        "### Containers (modelled)",
        "",
        "RU/s in the busiest second; GB at the end of the five years, with the assumed index; the least number"
        " of physical"
        " partitions for both. 'Each has' is what one physical partition gets of the throughput, in RU/s.",
        "",
        *table(head, rows),
    ]


def _shape(needs: Sequence[Demand], basis: Basis) -> Section:
    def row(name: str, cells: Sequence[float]) -> tuple[str, ...]:
        return (name, *(number(cell) for cell in cells))

    rows = [
        row("HTTP requests a second", [need.http_requests for need in needs]),
        row("instances for HTTP", [need.http_instances for need in needs]),
        row("instances for the change feeds", [need.trigger_instances for need in needs]),
        row("leases", [sum(need.containers[name].partitions for name in ("posts", "users")) for need in needs]),
        row("changes of `posts` a second", [need.posts_feed.changes for need in needs]),
        row("batches of `posts` a second", [need.posts_feed.batches for need in needs]),
        row("changes in a batch", [need.posts_feed.changes / need.posts_feed.batches for need in needs]),
        row(
            "changes a second of one partition of `posts`",
            [need.posts_feed.changes / need.containers["posts"].partitions for need in needs],
        ),
        row(
            f"… of what one lease carries here ({LATENCY_MS} ms answers)",
            [basis.pace.spread_changes_per_s] * len(needs),
        ),
        row("renames a second", [basis.load.commands_per_s(need.users)[RENAME] * basis.load.peak for need in needs]),
        row("RU/s of their queries through all partitions", [need.rename_scan_ru for need in needs]),
    ]
    return [
        "### Functions and change feeds (modelled; instances and what a lease carries are estimates)",
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
        ("all, with the cheaper throughput", *(number(one.total) for one in bills)),
        (
            "for a thousand users",
            *(number(one.total / need.users * 1000) for one, need in zip(bills, needs, strict=True)),
        ),
    ]
    return [
        "### Dollars a month (modelled, at published list prices)",
        "",
        "One region. Without network, CDN, monitoring, backup, support, free grants and discounts. Beyond the"
        " limits above it"
        " is arithmetic, not an offer.",
        "",
        *table(["", *_sizes()], rows),
    ]


def _load(load: Load) -> Section:
    rows = [
        ("time over which the data came together", f"{number(load.years)} years"),
        ("posts of a user; comments and likes of a post", "27.5; 12.5 and 50: the article's means"),
        ("edits of a post; renames of a user", f"{load.edits_per_post}; {load.renames_per_user}, in all the years"),
        ("commands of a user and day", number(sum(load.commands_per_s(86_400).values()))),
        ("queries for each command", number(load.reads_per_command)),
        ("busiest second, against the mean", number(load.peak)),
        ("highest second of an hour, against the hour's mean", number(load.peak_in_hour)),
        ("comments and likes of a post come, evenly, within", "a day"),
        *((f"queries: {name}", percent(share)) for name, share in load.read_mix.items()),
    ]
    commands = load.per_user()
    shares = [(f"commands: {name}", percent(count / sum(commands.values()))) for name, count in commands.items()]
    return ["### The load (assumptions: bench/capacity/load.py)", "", *table(["", ""], rows + shares)]


def _assumed(basis: Basis) -> Section:
    assumed = basis.assumed
    rows = [
        ("index beside the items", percent(assumed.index_share)),
        ("of throughput and processors, used in the busiest second", percent(assumed.used_share)),
        ("processor time on Azure against the local host", f"× {number(assumed.platform)}"),
        ("leases that an instance holds at most", number(assumed.leases_an_instance)),
    ]
    return ["### Other assumptions (bench/capacity/demand.py)", "", *table(["", ""], rows)]


def _requests(basis: Basis) -> Section:
    rows = [
        (name, *(f"{part:.2f}" for part in (charges.users, charges.posts, charges.feed)))
        for name, charges in basis.measured.requests.items()
    ]
    return [
        "### Requests, RU (measured, charges modelled by the emulator, profile service-2026)",
        "",
        "The author of a command is read, not remembered.",
        "",
        *table(["request", "`users`", "`posts`", "`feed`"], rows),
    ]


def _reactions(basis: Basis) -> Section:
    rows = []
    costs = basis.measured.reactions | {"a rename, with its items": basis.measured.rename}
    for name, cost in costs.items():
        parts = (*cost.fixed.parts()[:3], *cost.each.parts()[:3])
        rows.append((name, *(f"{abs(part):.2f}" for part in parts)))
    head = [
        "what the change feeds do after",
        *(f"{when}, `{name}`" for when in ("a batch", "each") for name in _PLACES),
    ]
    return [
        "### Change feeds, RU (measured, charges modelled)",
        "",
        "A line through batches of one and of twenty: what a batch costs by itself, and each command in it. The"
        " reading of the"
        " feeds is included, idle polls are not. A rename's batch is the query through 16 partitions and the names; its"
        " 'each' is an item.",
        "",
        *table(head, rows),
    ]


_PLACES = ("users", "posts", "feed")


def _measured(basis: Basis) -> Section:
    measured, pace = basis.measured, basis.pace
    sizes = ", ".join(f"{kind} {size:.2f}" for kind, size in measured.sizes_kb.items())
    rows = [
        ("items, KB of JSON", sizes, "measured"),
        ("a query through `posts`, RU for each physical partition", f"{measured.scanned_ru:.2f}", "modelled"),
        ("a lease's checkpoint or renewal, RU", f"{measured.lease_write_ru:.2f}", "modelled"),
        ("an idle poll, RU", f"{measured.poll_ru:.2f}", "modelled"),
        (f"a batch of {BATCH} changes: 50 likes of 50 posts, s", f"{pace.spread_s:.3f}", "measured"),
        (f"a batch of {BATCH} changes: 99 likes of one post, s", f"{pace.hot_s:.3f}", "measured"),
        ("processor time of a change, ms", f"{pace.change_cpu_s * 1000:.2f}", "measured"),
        ("processor time of a Q2 on the local host, ms", f"{pace.request_cpu_s * 1000:.2f}", "measured"),
    ]
    return [
        "### Sizes and times",
        "",
        f"Answers delayed by {LATENCY_MS} ms; the fastest of nine batches. For any other machine the times are"
        " estimates.",
        "",
        *table(["", "", ""], rows),
    ]


def _published() -> Section:
    def row(one: Published) -> tuple[str, ...]:
        return (one.what, f"{_exact(one.value)} {one.unit}", one.source, one.as_of)

    return [
        "### Prices and limits (published)",
        "",
        "Looked up on 2026-11-21 in stored copies of these pages, not live.",
        "",
        *table(["", "", "source", "as of"], [row(one) for one in (*PRICES, *PUBLISHED_LIMITS)]),
    ]


def _exact(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".")
