"""Options of the command line that are rejected, each with a message that names the mistake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cosmos_emulator.__main__ import main, parse_arguments
from tests.processes import emulator_process


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "65536"], "--port must be from 0 to 65535"),
        (["--port", "-1"], "--port must be from 0 to 65535"),
        (["--partitions", "0"], "--partitions must be at least 1"),
        (["--script-operations", "-1"], "--script-operations must be at least 1"),
        (["--key", "secret!"], "argument --key: the account key must be base64"),
        (["--management-key", "ключ"], "argument --management-key: the account key must be base64"),
        (["--continuous-backup-days", "1"], "argument --continuous-backup-days: invalid choice: 1"),
        (["--latency", "5"], "'5' is not a duration"),
    ],
)
def test_an_invalid_option_is_explained(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        parse_arguments(arguments)

    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


def test_continuous_backup_is_a_setting() -> None:
    assert parse_arguments([]).continuous_backup_days is None
    assert parse_arguments(["--continuous-backup-days", "30"]).continuous_backup_days == 30


def test_an_import_needs_at_least_one_partition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "items.jsonl").write_text("{}")
    names = ["--database", "db", "--container", "items", "--partition-key", "/pk", "--partitions", "0"]

    with pytest.raises(SystemExit):
        main(["import", "--data-dir", str(tmp_path / "data"), *names, str(tmp_path / "items.jsonl")])

    assert "--partitions must be at least 1" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the limit of another process")
async def test_the_process_raises_its_limit_of_open_files() -> None:
    import resource  # only on Unix

    limited = ("sh", "-c", 'ulimit -S -n 256; exec "$@"', "sh")
    async with emulator_process("--memory", launcher=limited) as (process, _):
        soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)

    assert soft == min(8192, hard)
