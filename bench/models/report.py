"""Publish the results in docs/benchmarks as JSON, Markdown and charts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.charts import Bar, bars_by_request, models_in, panels, rows_of_bars
from bench.models.article import ARTICLE, REQUESTS, UNEXPLAINED, Figure
from bench.models.growth import REQUESTS as READS
from bench.models.popular_post import COMMENTS
from bench.models.request_costs import Cost, Costs
from bench.models.results import (
    RESULTS,
    BurstResults,
    FanOutResults,
    GrowthResults,
    PartConditions,
    PopularPostResults,
    RequestResults,
    Results,
    write_results,
)
from bench.models.targets import findings
from bench.report import target_lines
from bench.tables import table

_ALL = REQUESTS | {
    "C1 edit": "rename a user",
    "C2 edit": "edit a post",
}


def publish(results: Results, directory: Path | None) -> str:
    """Return the page; if a directory is given, write the page, JSON and charts."""
    text = _markdown(results)
    if directory is not None:
        write_results(directory / RESULTS, results)
        (directory / "models.md").write_text(text, encoding="utf-8")
        for name, drawing in _charts(results):
            (directory / f"models-{name}.svg").write_text(drawing, encoding="utf-8")
    return text


def _charts(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the measured parts' charts by name."""
    if part := results.requests:
        subtitle = f"modeled ({part.profile}), P = {part.partitions} physical partitions, log axis"
        charges = _values(part.costs, lambda cost: cost.charge_ru)
        yield "charges", bars_by_request("Request units per request, by data model", subtitle, charges, REQUESTS)
    if results.bursts:
        bars = [
            Bar(
                f"{burst.command}, {_model(burst.model)}, feed polled every {burst.poll_s:g} s",
                burst.model,
                [
                    (burst.command_ru, f"the command: {burst.command_ru:.2f} RU"),
                    (burst.propagation_ru, f"change feeds: {burst.propagation_ru:.2f} RU"),
                ],
                f"{burst.total_ru:.1f} RU",
            )
            for burst in results.bursts.bursts
        ]
        subtitle = "modeled (service-2026); 50 clients, 5 posts, P = 4, responses delayed by 10 ms"
        title = "Charge of one command in a burst, plus (paler) the change feeds' work"
        yield "burst", rows_of_bars(title, subtitle, bars)
    if results.sizes:
        partitions = ", ".join(str(step.partitions) for step in results.sizes.stages)
        circumstances = f"P = {partitions} physical partitions, the article's ratio"
        yield "growth", _panels(results.sizes, "users", "The same requests on more and more data", circumstances)
    if results.partitions:
        title = "The same requests and data on more and more physical partitions"
        users = f"{results.partitions.stages[0].users:,} users"
        yield "partitions", _panels(results.partitions, "partitions", title, users)
    for name, title, fan_outs in (
        ("fan-out", "New posts copied per second", results.posts),
        ("rename", "Items renamed per second", results.renames),
    ):
        if fan_outs:
            bars = [
                Bar(
                    f"{fan_out.what}, P = {fan_out.partitions}, {_fan_out_model(fan_out.model)}",
                    fan_out.model,
                    [(fan_out.per_second, f"{fan_out.count:,} in {fan_out.seconds:.1f} s")],
                    f"{fan_out.per_second:,.0f}/s",
                )
                for fan_out in fan_outs.fan_outs
            ]
            yield name, rows_of_bars(title, "responses delayed by 10 ms", bars)


def _panels(part: GrowthResults, along: str, title: str, circumstances: str) -> str:
    measures: dict[str, Callable[[Cost], float]] = {
        f"request units, by {along}": lambda cost: cost.charge_ru,
        f"median ms, by {along}": lambda cost: cost.p50_ms,
    }
    rows = {words: [_values(step.costs, value) for step in part.stages] for words, value in measures.items()}
    subtitle = f"modeled (service-2026); {circumstances}; times on the emulator; log axes"
    return panels(title, subtitle, [float(getattr(step, along)) for step in part.stages], rows)


def _values(costs: Costs, value: Callable[[Cost], float]) -> dict[str, dict[str, float]]:
    return {name: {model: value(cost) for model, cost in by_model.items()} for name, by_model in costs.items()}


def _model(name: str) -> str:
    return "this project" if name == "this" else f"the article's {name}"


def _fan_out_model(name: str) -> str:
    return "this project" if name == "this" else "sequential"


def _markdown(results: Results) -> str:
    lines = [
        "# The article's data models and this project's",
        "",
        "For whoever chooses a data model. "
        "This page compares the article's three data models (V1, V2, V3) with this project's (`this`), and with V4: V2"
        " with [global secondary indexes](secondary-indexes.md) in place of hand-made views. All five answer the same"
        " requests about the same blog, in one run on one machine. V1 to V3 perform exactly the operations that the"
        " article lists; `this` is the deployed code. The models are in `bench/models/`.",
        "",
        "- Charges on the emulator are **modeled** from published and recorded charges. A profile is a set of"
        " coefficients; no ratio mixes two profiles.",
        "- P is the number of physical partitions of `posts`.",
        "- In V2 to V4, the caller passes the user's name, because the article lists no read of it. This project reads"
        " the name itself and pays for it.",
        "- The ten requests do not include updates of views after a write. The updates of V3 and `this` are measured"
        " below, as bursts and new posts. The service's charge for updating an index of V4 is not documented, and the"
        " emulator charges nothing: [secondary-indexes.md](secondary-indexes.md#charges) has an estimate.",
        "",
        "`make bench` measures everything again, on the emulator.",
        "",
        *("## Targets", "", *target_lines(findings(results)), ""),
        *(_charges(results.requests) if results.requests else ()),
        *(_fan_out(results.posts, "Copying new posts", "models-fan-out.svg") if results.posts else ()),
        *(_fan_out(results.renames, "Renaming 20,000 items", "models-rename.svg") if results.renames else ()),
        *(_bursts(results.bursts) if results.bursts else ()),
        *(_stages(results.sizes, "Growth with the data", "models-growth.svg") if results.sizes else ()),
        *(
            _stages(results.partitions, "Growth with the partitions", "models-partitions.svg")
            if results.partitions
            else ()
        ),
        *(_popular(results.popular) if results.popular else ()),
        *(_article(results.article) if results.article else ()),
    ]
    return "\n".join(lines) + "\n"


def _charges(part: RequestResults) -> Iterator[str]:
    yield from (f"## The ten requests ({part.profile}, modeled, P = {part.partitions})", "")
    yield from (f"Request units. {part.data}.", "", *_conditions(part.conditions), "")
    yield from ("![Request units per request, by data model](models-charges.svg)", "")
    models = models_in(part.costs)
    rows, details = [], []
    for name, words in _ALL.items():
        costs, title = part.costs[name], f"{name[:2]} {words}"
        change = (costs["this"].charge_ru / costs["V3"].charge_ru - 1) * 100
        rows.append((title, *(f"{costs[model].charge_ru:,.2f}" for model in models), f"{change:+.1f} %"))
        # Only C3 and C4 have a procedure mode.
        details += [
            (title, model, *_details(cost, ARTICLE.get(name, {}).get(model)))
            for model, cost in costs.items()
            if model in models or name in ("C3", "C4")
        ]
    yield from (*table(["request", *models, "this vs. V3"], rows, words=1), "")
    yield from ("### Times, calls and items read", "")
    yield (
        "The article's figures were measured on the service in 2019. Times here come from an emulator on the same"
        " machine as the client: they show how much work a request does, not how long the service takes. Calls are"
        " responses from the database. Items are those that it reports as read; scripts report none. Each model has an"
        " emulator of its own. V4's also updates the indexes, which can delay the next request. In Q3 and Q6, V1,"
        " V2 and V4 cut the summaries in the client."
    )
    times = ("p50 ms", "p95 ms", "article ms", "RU, modeled", "article RU", "difference")
    head = ["request", "model", *times, "calls", "partitions", "items", "samples"]
    yield from ("", *table(head, details, words=2), "")


def _details(cost: Cost, figure: Figure | None) -> tuple[str, ...]:
    article_ms, article_ru, difference = "", "", ""
    if figure:
        article_ms, article_ru = f"{figure.latency_ms:g}", f"{figure.charge_ru:,.2f}"
        difference = f"{(cost.charge_ru / figure.charge_ru - 1) * 100:+.0f} %"
    times = (f"{cost.p50_ms:.1f}", f"{cost.p95_ms:.1f}", article_ms)
    counts = (f"{cost.calls:g}", f"{cost.partitions:g}", f"{cost.items_read:,.0f}", str(cost.rounds))
    return (*times, f"{cost.charge_ru:,.2f}", article_ru, difference, *counts)


def _article(part: RequestResults) -> Iterator[str]:
    """Compare all thirty figures."""
    errors = {
        (name, model): (part.costs[name][model].charge_ru / figure.charge_ru - 1) * 100
        for name, of_request in ARTICLE.items()
        for model, figure in of_request.items()
    }
    explained = [abs(error) for cell, error in errors.items() if cell not in UNEXPLAINED]
    yield from (f"## The charge model against the article ({part.profile}, P = {part.partitions})", "")
    yield (
        f"Error of the modeled charge for each of the article's thirty figures. {part.data}; nothing more is known of"
        " the article's data. Six coefficients were fitted to thirteen of these figures, so the table shows how well"
        f" the model reproduces them, not how well it predicts others. Without the {len(UNEXPLAINED)} cells marked ¹,"
        f" the mean absolute error is {statistics.fmean(explained):.1f} %, the largest {max(explained):.1f} %."
    )
    yield from ("", *_conditions(part.conditions), "")
    rows = []
    for name, words in REQUESTS.items():
        cells = []
        for model, figure in ARTICLE[name].items():
            mark = " ¹" if (name, model) in UNEXPLAINED else ""
            error = f"{errors[name, model]:+.1f} %{mark}"
            cells += [f"{figure.charge_ru:,.2f}", f"{part.costs[name][model].charge_ru:,.2f}", error]
        rows.append((f"{name} {words}", *cells))
    columns = [column for model in ("V1", "V2", "V3") for column in (f"{model}: article", "modeled", "error")]
    yield from table(["request", *columns], rows, words=1)
    yield from ("", "¹ These figures of the article cannot be explained:", "")
    yield from (f"- {name} {model}: {reason}." for (name, model), reason in UNEXPLAINED.items())
    yield ""


def _bursts(part: BurstResults) -> Iterator[str]:
    yield from ("## A like and a comment in a burst, including the change feeds (service-2026, modeled)", "")
    yield (
        "Fifty clients like, then comment on, five posts at once. The emulator delays every response by 10 ms; P = 4."
        " The change feeds are followed during the burst and to their end, and their reads are included. Lease writes"
        " are not, because they are the same for every model. A change feed shows only the latest state of a post, so"
        " the longer the polling delay, the fewer changes each model handles."
    )
    yield from ("", *_conditions(part.conditions), "", "![Charge of one command](models-burst.svg)", "")
    rows = [
        (
            *(burst.command, burst.model, f"{burst.poll_s:g} s", f"{burst.count:,}", f"{burst.seconds:.1f}"),
            *(f"{ru:.2f}" for ru in (burst.command_ru, burst.propagation_ru, burst.feed_ru, burst.total_ru)),
        )
        for burst in part.bursts
    ]
    charges = ("RU, command", "RU, propagation", "RU, feed reads among them", "RU, total")
    yield from table(["command", "model", "polled every", "commands", "seconds", *charges], rows, words=2)
    yield ""


def _stages(part: GrowthResults, title: str, picture: str) -> Iterator[str]:
    yield from (f"## {title} (service-2026, modeled)", "")
    yield from (f"- {step.data}; P = {step.partitions}" for step in part.stages)
    yield ""
    yield (
        "In Q3 and Q6, V1 and V2 query every partition, so their charges grow with P. Their times are the emulator's,"
        " which scans all posts where the service uses an index. They show that these requests touch all data, not how"
        " long the service takes."
    )
    yield from ("", *_conditions(part.conditions), "", f"![{title}]({picture})", "")
    costs = {
        f"{name} {model}": [step.costs[name][model] for step in part.stages]
        for name in READS
        for model in models_in(part.stages[0].costs)
    }
    rows = [
        (title, *(f"{cost.charge_ru:,.2f} RU, {cost.p50_ms:.1f} ms" for cost in of_row))
        for title, of_row in costs.items()
    ]
    head = ["", *(f"{step.users:,} users, P = {step.partitions}" for step in part.stages)]
    yield from (*table(head, rows, words=1), "")


def _popular(part: PopularPostResults) -> Iterator[str]:
    yield from (f"## {COMMENTS} comments beneath newer likes (service-2026, modeled)", "")
    yield "Q4 lists all comments of one post, which has more and more likes. All likes are newer."
    yield from ("", *_conditions(part.conditions), "")
    rows = [
        (
            f"{step.likes:,}",
            *(f"{step.cost.charge_ru:,.2f}", f"{step.cost.p50_ms:.1f}", f"{step.cost.p95_ms:.1f}"),
            f"{step.cost.items_read:,.0f}",
        )
        for step in part.stages
    ]
    yield from (*table(["newer likes", "RU, modeled", "p50 ms", "p95 ms", "items"], rows, words=0), "")


def _fan_out(part: FanOutResults, title: str, picture: str) -> Iterator[str]:
    yield from (f"## {title}", "")
    yield (
        "Responses are delayed by 10 ms. V3 writes one item after another, as the article's functions do. In both"
        " models each physical partition of the change feed has its own reader."
    )
    yield from ("", *_conditions(part.conditions), "", f"![{title}]({picture})", "")
    rows = [
        (
            *(fan_out.model, fan_out.what, str(fan_out.partitions), f"{fan_out.count:,}", f"{fan_out.seconds:.1f}"),
            *(f"{fan_out.per_second:,.0f}", f"{fan_out.request_units / fan_out.count:.2f}"),
        )
        for fan_out in part.fan_outs
    ]
    head = ["model", "what", "P", "count", "seconds", "per second", "RU each (service-2026, modeled)"]
    yield from (*table(head, rows, words=2), "")


def _conditions(conditions: PartConditions) -> Sequence[str]:
    return (
        f"    {conditions.command}",
        "",
        f"{conditions.started:%Y-%m-%d %H:%M} UTC, {conditions.minutes:g} minutes; "
        + "; ".join(conditions.circumstances)
        + ".",
    )
