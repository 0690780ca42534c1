"""The page docs/benchmarks/models.md."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from bench.models.article import ARTICLE, REQUESTS, UNEXPLAINED
from bench.models.growth import REQUESTS as READS
from bench.models.popular_post import COMMENTS
from bench.models.results import (
    BurstResults,
    FanOutResults,
    GrowthResults,
    PartConditions,
    PopularPostResults,
    RequestResults,
    Results,
)
from bench.models.targets import findings

_MODELS = ("V1", "V2", "V3", "this")
_MORE = {
    "C2 again": "create a post, author cached",
    "C3 again": "create a comment, author cached",
    "C4 again": "like a post, user cached",
    "C1 edit": "rename a user",
    "C2 edit": "edit a post",
}


def markdown(results: Results) -> str:
    lines = [
        "# The article's data models and this project's",
        "",
        "This page compares the article's three data models (V1, V2, V3) with this project's (`this`). All four answer"
        " the same requests about the same blog, in one run on one machine. V1 to V3 perform exactly the operations"
        " that the article lists; `this` is the deployed code. The models are in `bench/models/`.",
        "",
        "- Charges on the emulator are **modeled** from published and recorded charges. A profile is a set of"
        " coefficients; no ratio mixes two profiles.",
        "- P is the number of physical partitions of `posts`.",
        "- In V2 and V3, the caller passes the user's name, because the article lists no read of it. This project reads"
        " the name itself and pays for it, unless it cached the user in the last ten seconds (rows with `cached`).",
        "",
        "To run the measurements:",
        "",
        "    make bench                                                # everything, on the emulator",
        "    python -m bench.models --endpoint https://… --key …       # the ten requests on an account",
        "",
        *_targets(results),
        *(_charges(results.requests) if results.requests else ()),
        *(_details(results.requests) if results.requests else ()),
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
        *(_account(results.account) if results.account else ()),
    ]
    return "\n".join(lines) + "\n"


def _targets(results: Results) -> Iterator[str]:
    found = findings(results)
    missed = sum(finding.met is False for finding in found)
    yield from ("## Targets", "", f"{len(found) - missed} met, {missed} missed.", "")
    yield from ("| measure | target | figure | result | details |", "|---|---|---|---|---|")
    yield from (finding.row() for finding in found)
    yield ""


def _charges(part: RequestResults) -> Iterator[str]:
    yield from (f"## The ten requests ({part.profile}, modeled, P = {part.partitions})", "")
    yield from (f"Request units. {part.data}.", "", *_conditions(part.conditions), "")
    yield from ("![Request units per request, by data model](models-charges.svg)", "")
    yield from ("| request | V1 | V2 | V3 | this | this vs. V3 |", "|---|---:|---:|---:|---:|---:|")
    for name, words in {**REQUESTS, **_MORE}.items():
        costs = part.costs[name]
        change = (costs["this"].charge_ru / costs["V3"].charge_ru - 1) * 100
        figures = " | ".join(f"{costs[model].charge_ru:,.2f}" for model in _MODELS)
        yield f"| {name[:2]} {words} | {figures} | {change:+.1f} % |"
    yield ""


def _details(part: RequestResults) -> Iterator[str]:
    yield from ("### Times, calls and items read", "")
    yield (
        "The article's figures were measured on the service in 2019. Times here come from an emulator on the same"
        " machine as the client: they show how much work a request does, not how long the service takes. Calls are"
        " responses from the database. Items are those that it reports as read; scripts report none."
    )
    yield ""
    yield from _head(
        "request|model|p50 ms|p95 ms|article ms|RU, modeled|article RU|difference|calls|partitions|items|samples", 2
    )
    for name, words in {**REQUESTS, **_MORE}.items():
        for model, cost in part.costs[name].items():
            if model not in _MODELS and name not in ("C3", "C4"):
                continue  # only C3 and C4 have a procedure mode
            figure = ARTICLE.get(name, {}).get(model)
            article_ms = f"{figure.latency_ms:g}" if figure else ""
            article_ru = f"{figure.charge_ru:,.2f}" if figure else ""
            difference = f"{(cost.charge_ru / figure.charge_ru - 1) * 100:+.0f} %" if figure else ""
            yield (
                f"| {name[:2]} {words} | {model} | {cost.p50_ms:.1f} | {cost.p95_ms:.1f} |"
                f" {article_ms} | {cost.charge_ru:,.2f} | {article_ru} | {difference} | {cost.calls:g} |"
                f" {cost.partitions:g} | {cost.items_read:,.0f} | {cost.rounds} |"
            )
    yield ""


def _article(part: RequestResults) -> Iterator[str]:
    """Compare all thirty figures."""
    errors: dict[tuple[str, str], float] = {}
    for name, of_request in ARTICLE.items():
        for model, figure in of_request.items():
            errors[name, model] = (part.costs[name][model].charge_ru / figure.charge_ru - 1) * 100
    explained = [abs(error) for cell, error in errors.items() if cell not in UNEXPLAINED]
    yield from (f"## The charge model against the article ({part.profile}, P = {part.partitions})", "")
    yield (
        f"Error of the modeled charge for each of the article's thirty figures. {part.data}; nothing more is known of"
        " the article's data. Six coefficients were fitted to thirteen of these figures, so the table shows how well"
        f" the model reproduces them, not how well it predicts others. Without the {len(UNEXPLAINED)} cells marked ¹,"
        f" the mean absolute error is {statistics.fmean(explained):.1f} %, the largest {max(explained):.1f} %."
    )
    yield from ("", *_conditions(part.conditions), "")
    yield from _head("request" + "".join(f"|{model}: article|modeled|error" for model in ("V1", "V2", "V3")), 1)
    for name, words in REQUESTS.items():
        cells = []
        for model, figure in ARTICLE[name].items():
            mark = " ¹" if (name, model) in UNEXPLAINED else ""
            modeled = part.costs[name][model].charge_ru
            cells.append(f"{figure.charge_ru:,.2f} | {modeled:,.2f} | {errors[name, model]:+.1f} %{mark}")
        yield f"| {name} {words} | {' | '.join(cells)} |"
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
    yield from _head(
        "command|model|polled every|commands|seconds|RU, command|RU, propagation|RU, feed reads among them|RU, total", 2
    )
    for one in part.bursts:
        yield (
            f"| {one.command} | {one.model} | {one.poll_s:g} s | {one.count:,} | {one.seconds:.1f} |"
            f" {one.command_ru:.2f} | {one.propagation_ru:.2f} | {one.feed_ru:.2f} | {one.total_ru:.2f} |"
        )
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
    yield f"| | {' | '.join(f'{step.users:,} users, P = {step.partitions}' for step in part.stages)} |"
    yield "|---|" + "---:|" * len(part.stages)
    for name in READS:
        for model in _MODELS:
            costs = [step.costs[name][model] for step in part.stages]
            figures = " | ".join(f"{cost.charge_ru:,.2f} RU, {cost.p50_ms:.1f} ms" for cost in costs)
            yield f"| {name} {model} | {figures} |"
    yield ""


def _popular(part: PopularPostResults) -> Iterator[str]:
    yield from (f"## {COMMENTS} comments beneath newer likes (service-2026, modeled)", "")
    yield "Q4 lists all comments of one post, which has more and more likes. All likes are newer."
    yield from ("", *_conditions(part.conditions), "")
    yield from _head("newer likes|RU, modeled|p50 ms|p95 ms|items", 0)
    for step in part.stages:
        cost = step.cost
        yield (
            f"| {step.likes:,} | {cost.charge_ru:,.2f} | {cost.p50_ms:.1f} | {cost.p95_ms:.1f} |"
            f" {cost.items_read:,.0f} |"
        )
    yield ""


def _fan_out(part: FanOutResults, title: str, picture: str) -> Iterator[str]:
    yield from (f"## {title}", "")
    yield (
        "Responses are delayed by 10 ms. V3 writes one item after another, as the article's functions do. In both"
        " models each physical partition of the change feed has its own reader."
    )
    yield from ("", *_conditions(part.conditions), "", f"![{title}]({picture})", "")
    yield from _head("model|what|P|count|seconds|per second|RU each (service-2026, modeled)", 2)
    for one in part.fan_outs:
        yield (
            f"| {one.model} | {one.what} | {one.partitions} | {one.count:,} | {one.seconds:.1f} |"
            f" {one.per_second:,.0f} | {one.request_units / one.count:.2f} |"
        )
    yield ""


def _account(part: RequestResults) -> Iterator[str]:
    yield from (f"## Requests on an account ({part.profile}, P = {part.partitions})", "")
    yield from (f"{part.data}.", "", *_conditions(part.conditions), "")
    yield from _plain_table(part)


def _plain_table(part: RequestResults) -> Iterator[str]:
    yield "| request | " + " | ".join(f"{model}: p50 ms | RU" for model in _MODELS) + " |"
    yield "|---|" + "---:|" * 2 * len(_MODELS)
    for name, words in {**REQUESTS, **_MORE}.items():
        costs = [part.costs[name][model] for model in _MODELS]
        figures = " | ".join(f"{cost.p50_ms:.1f} | {cost.charge_ru:,.2f}" for cost in costs)
        yield f"| {name[:2]} {words} | {figures} |"
    yield ""


def _head(columns: str, words: int) -> tuple[str, str]:
    """Return a table's head; the first `words` columns are text."""
    names = columns.split("|")
    return f"| {' | '.join(names)} |", "|---" * words + "|---:" * (len(names) - words) + "|"


def _conditions(conditions: PartConditions) -> Sequence[str]:
    return (
        f"    {conditions.command}",
        "",
        f"{conditions.started:%Y-%m-%d %H:%M} UTC, {conditions.minutes:g} minutes; "
        + "; ".join(conditions.circumstances)
        + ".",
    )
