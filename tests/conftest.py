"""Shared fixtures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
# `make fuzz SECONDS=…` runs the same properties again and again, each time with other examples, and shrinks what it
# finds.
settings.register_profile(
    "fuzz", parent=settings.get_profile("house"), derandomize=False, max_examples=1000, print_blob=True
)
settings.load_profile(os.environ.get("SETVEIL_HYPOTHESIS", "house"))

DATA = Path(os.environ.get("SETVEIL_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need the same compiled loops run in one process: two would compile the same loops at the same time."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            place = item.path.parent if "algorithms" in item.path.parts else item.path
            item.add_marker(pytest.mark.xdist_group(place.relative_to(Path(__file__).parent).as_posix()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What could not run here is one loud line at the end, never a quiet skip."""
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "skipped"
        for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        told = "; ".join(f"{count} × {reason}" for reason, count in sorted(reasons.items()))
        terminalreporter.write_line(f"!!! NOT RUN: {sum(reasons.values())} tests: {told}", red=True, bold=True)


@pytest.fixture(autouse=True, scope="session")
def _no_flushing() -> Iterator[None]:
    """No test outlives a power failure, and waiting for the disk takes minutes in all. Child processes do wait."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """``real_data("BMS1.dat.gz")`` is the path of a real data set; the test is skipped where it is not at hand."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"real data set {name} is not at hand; set SETVEIL_DATA to its folder")
        return path

    return find
