"""Every benchmark says what it measures and what it takes, without measuring anything."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import benchmarks

PROGRAMS = sorted(
    path.stem for path in Path(benchmarks.__path__[0]).glob("*.py") if '__name__ == "__main__"' in path.read_text()
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_help(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [f"benchmarks.{name}", "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"benchmarks.{name}").main()
    assert ended.value.code == 0
    usage = capsys.readouterr().out
    assert usage.startswith("usage: ")
    assert f"benchmarks.{name}" in usage.splitlines()[0]


def test_there_are_some() -> None:
    assert {"page", "scale", "spark", "install_size"} <= set(PROGRAMS)
