"""Publish the results in docs/benchmarks as JSON, Markdown and charts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.models.article import REQUESTS
from bench.models.charts import bursts, charges, fan_outs, growth
from bench.models.growth import REQUESTS as READS
from bench.models.report import markdown
from bench.models.results import RESULTS, Results, write_results
from bench.models.svg import Drawing


def publish(results: Results, directory: Path | None) -> str:
    """Return the page; if a directory is given, write the page, JSON and charts."""
    text = markdown(results)
    if directory is not None:
        write_results(directory / RESULTS, results)
        (directory / "models.md").write_text(text, encoding="utf-8")
        for name, drawing in pictures(results):
            (directory / f"models-{name}.svg").write_text(str(drawing), encoding="utf-8")
    return text


def pictures(results: Results) -> Iterator[tuple[str, Drawing]]:
    """Yield the measured parts' charts by name."""
    if results.requests:
        part = results.requests
        yield (
            "charges",
            charges(
                part.costs, REQUESTS, f"modeled ({part.profile}), P = {part.partitions} physical partitions, log axis"
            ),
        )
    if results.bursts:
        yield (
            "burst",
            bursts(
                results.bursts.bursts,
                "Charge of one command in a burst, plus (paler) the change feeds' work",
                "modeled (service-2026); 50 clients, 5 posts, P = 4, responses delayed by 10 ms",
            ),
        )
    if results.sizes:
        stages = results.sizes.stages
        numbers = ", ".join(str(step.partitions) for step in stages)
        partitions = f"P = {numbers} physical partitions, the article's ratio"
        subtitle = f"modeled (service-2026); {partitions}; times on the emulator; log axes"
        yield "growth", growth(stages, READS, "users", "The same requests on more and more data", subtitle)
    if results.partitions:
        stages = results.partitions.stages
        subtitle = f"modeled (service-2026); {stages[0].users:,} users; times on the emulator; log axes"
        title = "The same requests and data on more and more physical partitions"
        yield "partitions", growth(stages, READS, "partitions", title, subtitle)
    if results.posts:
        found = results.posts.fan_outs
        yield "fan-out", fan_outs(found, "New posts copied per second", "responses delayed by 10 ms")
    if results.renames:
        found = results.renames.fan_outs
        yield "rename", fan_outs(found, "Items renamed per second", "responses delayed by 10 ms")
