"""The document of what was measured: docs/benchmarks/models.md."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from bench.models.article import ARTICLE, REQUESTS, UNEXPLAINED
from bench.models.growth import REQUESTS as READS
from bench.models.results import Bursts, Conditions, FanOuts, Requests, Results, Stages
from bench.models.targets import findings

_MODELS = ("V1", "V2", "V3", "this")
_MORE = {
    "C2 again": "create a post, the author known",
    "C3 again": "create a comment, the author known",
    "C4 again": "like a post, the liker known",
    "C1 edit": "rename a user",
    "C2 edit": "edit a post",
}


def markdown(results: Results) -> str:
    """All parts that were measured."""
    lines = [
        "# The article's models and this project's, side by side",
        "",
        "Three models of the article and the project's own answer the same requests about the same blog, in one run on"
        " one machine. `bench/models/` has them: V1, V2 and V3 do the operations that the article lists and nothing"
        " else, `this` is the code that is deployed. Charges on the emulator are **modelled** from published and"
        " recorded ones; a profile is a set of coefficients, and figures of two profiles are never mixed in one ratio."
        " P is the number of physical partitions of `posts`. In V2 and V3 the caller hands in the user's name, for"
        " the article lists no read of it; the project finds the name itself and pays for that, unless it knows the"
        " user from the last ten seconds (rows with `known`).",
        "",
        "    make bench                                                # everything, on the emulator",
        "    python -m bench.models --endpoint https://… --key …       # the ten requests on an account",
        "",
        *_targets(results),
        *(_charges(results.requests) if results.requests else ()),
        *(_details(results.requests) if results.requests else ()),
        *(_fan_out(results.posts, "New posts to their copies", "models-fan-out.svg") if results.posts else ()),
        *(_fan_out(results.renames, "A new name to 20,000 items", "models-rename.svg") if results.renames else ()),
        *(_bursts(results.bursts) if results.bursts else ()),
        *(_stages(results.sizes, "Growth with the data", "models-growth.svg") if results.sizes else ()),
        *(
            _stages(results.partitions, "Growth with the partitions", "models-partitions.svg")
            if results.partitions
            else ()
        ),
        *(_article(results.article) if results.article else ()),
        *(_account(results.account) if results.account else ()),
    ]
    return "\n".join(lines) + "\n"


def _targets(results: Results) -> Iterator[str]:
    found = findings(results)
    missed = sum(finding.met is False for finding in found)
    yield from ("## Targets", "", f"{len(found) - missed} met, {missed} missed.", "")
    yield from ("| measure | target | figure | | behind it |", "|---|---|---|---|---|")
    yield from (finding.row() for finding in found)
    yield ""


def _charges(part: Requests) -> Iterator[str]:
    yield from (f"## The ten requests ({part.profile}, modelled, P = {part.partitions})", "")
    yield from (f"Request units. {part.data}.", "", *_conditions(part.conditions), "")
    yield from ("![Request units per request, by data model](models-charges.svg)", "")
    yield from ("| request | V1 | V2 | V3 | this | this against V3 |", "|---|---:|---:|---:|---:|---:|")
    for name, words in {**REQUESTS, **_MORE}.items():
        costs = part.costs[name]
        change = (costs["this"].charge_ru / costs["V3"].charge_ru - 1) * 100
        figures = " | ".join(f"{costs[model].charge_ru:,.2f}" for model in _MODELS)
        yield f"| {name[:2]} {words} | {figures} | {change:+.1f} % |"
    yield ""


def _details(part: Requests) -> Iterator[str]:
    yield from ("### With times, calls and what they touch", "")
    yield (
        "Article: measured on the service in 2019; its times are beside those of an emulator on the same machine as"
        " the client, and tell how much a request does rather than how long it would take. Calls are answers of the"
        " database, items those that it says it read (a script says nothing)."
    )
    yield ""
    yield from _head(
        "request|model|p50 ms|p95 ms|article ms|RU, modelled|article RU|difference|calls|partitions|items|timed", 2
    )
    for name, words in {**REQUESTS, **_MORE}.items():
        for model, cost in part.costs[name].items():
            if model not in _MODELS and name not in ("C3", "C4"):
                continue  # the other way of writing is another one for these alone
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


def _article(part: Requests) -> Iterator[str]:
    """Each of the thirty figures."""
    errors: dict[tuple[str, str], float] = {}
    for name, of_request in ARTICLE.items():
        for model, figure in of_request.items():
            errors[name, model] = (part.costs[name][model].charge_ru / figure.charge_ru - 1) * 100
    explained = [abs(error) for cell, error in errors.items() if cell not in UNEXPLAINED]
    yield from (f"## The model against the article ({part.profile}, P = {part.partitions})", "")
    yield (
        f"How far the modelled charge is from each of the article's thirty figures. {part.data}; the article's own data"
        " are not known further than that, and six coefficients were fitted to thirteen of these figures, so this"
        " shows how well the model repeats them and not that it foretells others. No row is tuned. Apart from the"
        f" {len(UNEXPLAINED)} cells named below, the mean of the errors without their signs is"
        f" {statistics.fmean(explained):.1f} %, the largest {max(explained):.1f} %."
    )
    yield from ("", *_conditions(part.conditions), "")
    yield from _head("request" + "".join(f"|{model}: article|modelled|error" for model in ("V1", "V2", "V3")), 1)
    for name, words in REQUESTS.items():
        cells = []
        for model, figure in ARTICLE[name].items():
            mark = " ¹" if (name, model) in UNEXPLAINED else ""
            modelled = part.costs[name][model].charge_ru
            cells.append(f"{figure.charge_ru:,.2f} | {modelled:,.2f} | {errors[name, model]:+.1f} %{mark}")
        yield f"| {name} {words} | {' | '.join(cells)} |"
    yield from ("", "¹ The article's own figure cannot be explained:", "")
    yield from (f"- {name} {model}: {reason}." for (name, model), reason in UNEXPLAINED.items())
    yield ""


def _bursts(part: Bursts) -> Iterator[str]:
    yield from ("## A like and a comment in a burst, with all that follows (service-2026, modelled)", "")
    yield (
        "Fifty clients like, then comment on, five posts at once; the emulator holds back every answer by 10 ms; P = 4."
        " The change feeds are followed meanwhile and to their end, reads included; the leases, which every model would"
        " pay alike, are not. The feed shows the latest state of a post only, so that it folds a burst for the"
        " article's way, too, the more the longer it is left alone."
    )
    yield from ("", *_conditions(part.conditions), "", "![Charge of one command](models-burst.svg)", "")
    yield from _head(
        "command|model|polled every|commands|seconds|RU, the command|the reactions|of that the feed|all", 2
    )
    for one in part.bursts:
        yield (
            f"| {one.command} | {one.model} | {one.poll_s:g} s | {one.count:,} | {one.seconds:.1f} |"
            f" {one.command_ru:.2f} | {one.reaction_ru:.2f} | {one.feed_ru:.2f} | {one.total_ru:.2f} |"
        )
    yield ""


def _stages(part: Stages, title: str, picture: str) -> Iterator[str]:
    yield from (f"## {title} (service-2026, modelled)", "")
    yield from (f"- {stage.data}; P = {stage.partitions}" for stage in part.stages)
    yield ""
    yield (
        "The charges of V1 and V2 grow with P in Q3 and Q6, which ask every partition. Their times there are the"
        " emulator's, which goes through all posts where the service has an index of every path: they show that these"
        " requests reach all data, and not how long the service would take."
    )
    yield from ("", *_conditions(part.conditions), "", f"![{title}]({picture})", "")
    yield f"| | {' | '.join(f'{stage.users:,} users, P = {stage.partitions}' for stage in part.stages)} |"
    yield "|---|" + "---:|" * len(part.stages)
    for name in READS:
        for model in _MODELS:
            costs = [stage.costs[name][model] for stage in part.stages]
            figures = " | ".join(f"{cost.charge_ru:,.2f} RU, {cost.p50_ms:.1f} ms" for cost in costs)
            yield f"| {name} {model} | {figures} |"
    yield ""


def _fan_out(part: FanOuts, title: str, picture: str) -> Iterator[str]:
    yield from (f"## {title}", "")
    yield (
        "Answers are held back by 10 ms. V3 does one write after another, as the article's functions do; each physical"
        " partition of the feed is followed by itself in both."
    )
    yield from ("", *_conditions(part.conditions), "", f"![{title}]({picture})", "")
    yield from _head("model|what|P|count|seconds|a second|RU each (service-2026, modelled)", 2)
    for one in part.fan_outs:
        yield (
            f"| {one.model} | {one.what} | {one.partitions} | {one.count:,} | {one.seconds:.1f} |"
            f" {one.per_second:,.0f} | {one.request_units / one.count:.2f} |"
        )
    yield ""


def _account(part: Requests) -> Iterator[str]:
    yield from (f"## On an account ({part.profile}, P = {part.partitions})", "")
    yield from (f"{part.data}.", "", *_conditions(part.conditions), "")
    yield from _plain_table(part)


def _plain_table(part: Requests) -> Iterator[str]:
    yield "| request | " + " | ".join(f"{model}: p50 ms | RU" for model in _MODELS) + " |"
    yield "|---|" + "---:|" * 2 * len(_MODELS)
    for name, words in {**REQUESTS, **_MORE}.items():
        costs = [part.costs[name][model] for model in _MODELS]
        figures = " | ".join(f"{cost.p50_ms:.1f} | {cost.charge_ru:,.2f}" for cost in costs)
        yield f"| {name[:2]} {words} | {figures} |"
    yield ""


def _head(columns: str, words: int) -> tuple[str, str]:
    """The first two lines of a table, whose first `words` columns are text and the others numbers."""
    names = columns.split("|")
    return f"| {' | '.join(names)} |", "|---" * words + "|---:" * (len(names) - words) + "|"


def _conditions(conditions: Conditions) -> Sequence[str]:
    return (
        f"    {conditions.command}",
        "",
        f"{conditions.started:%Y-%m-%d %H:%M} UTC, {conditions.minutes:g} minutes; "
        + "; ".join(conditions.circumstances)
        + ".",
    )
