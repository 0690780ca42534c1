"""The results into docs/benchmarks: as JSON, as a document, as pictures."""

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
    """The document; written with everything else where a directory is given."""
    text = markdown(results)
    if directory is not None:
        write_results(directory / RESULTS, results)
        (directory / "models.md").write_text(text, encoding="utf-8")
        for name, drawing in pictures(results):
            (directory / f"models-{name}.svg").write_text(str(drawing), encoding="utf-8")
    return text


def pictures(results: Results) -> Iterator[tuple[str, Drawing]]:
    """The charts of the parts that were measured, by name."""
    if results.requests:
        part = results.requests
        yield (
            "charges",
            charges(
                part.costs, REQUESTS, f"modelled ({part.profile}), P = {part.partitions} physical partitions, log axis"
            ),
        )
    if results.bursts:
        yield (
            "burst",
            bursts(
                results.bursts.bursts,
                "One command in a burst: its own charge, and (paler) that of the change feeds",
                "modelled (service-2026); 50 clients, 5 posts, P = 4, answers delayed by 10 ms",
            ),
        )
    if results.sizes:
        stages = results.sizes.stages
        numbers = ", ".join(str(stage.partitions) for stage in stages)
        partitions = f"P = {numbers} physical partitions, the article's ratio"
        subtitle = f"modelled (service-2026); {partitions}; times of the emulator; log axes"
        yield "growth", growth(stages, READS, "users", "The same request on more and more data", subtitle)
    if results.partitions:
        stages = results.partitions.stages
        subtitle = f"modelled (service-2026); {stages[0].users:,} users; times of the emulator; log axes"
        title = "The same request and data on more and more physical partitions"
        yield "partitions", growth(stages, READS, "partitions", title, subtitle)
    if results.posts:
        found = results.posts.fan_outs
        yield "fan-out", fan_outs(found, "New posts a second to their copies", "answers delayed by 10 ms")
    if results.renames:
        found = results.renames.fan_outs
        yield "rename", fan_outs(found, "A new name: items a second that get it", "answers delayed by 10 ms")
