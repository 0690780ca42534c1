"""The container image starts the emulator with options that it accepts, and keeps its data in the volume."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cosmos_emulator.__main__ import parse_arguments

DOCKERFILE = (Path(__file__).parents[1] / "Dockerfile").read_text(encoding="utf-8")


def instruction(name: str) -> str:
    """The argument of the last instruction with this name."""
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)[-1]


def test_the_image_serves_other_machines_and_keeps_its_data_in_the_volume() -> None:
    program, *options = json.loads(instruction("ENTRYPOINT"))

    settings = parse_arguments(options)

    assert program.endswith("/cosmos-emulator")
    assert (settings.host, str(settings.port)) == ("0.0.0.0", instruction("EXPOSE"))  # noqa: S104 - in a container
    assert settings.data_dir is not None
    assert Path(instruction("WORKDIR"), settings.data_dir).is_relative_to(instruction("VOLUME"))


def test_every_option_can_follow_the_image_name() -> None:
    _, *options = json.loads(instruction("ENTRYPOINT"))

    assert parse_arguments([*options, "--memory"]).data_dir is None
    assert parse_arguments([*options, "--tls", "--throttle"]).tls


def test_the_image_does_not_run_as_root() -> None:
    assert instruction("USER") == "10001"
