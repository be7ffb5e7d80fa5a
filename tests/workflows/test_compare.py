"""Comparing settings: the grid, the runs, the front, the page."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from setveil.errors import InputError
from setveil.policy.schema import Policy
from setveil.report.compare_page import name_of
from setveil.workflows.compare import Comparison, Point, compare, pareto_front, row_of
from setveil.workflows.grid import default_grid, read_grid

GRID = """\
schema = 1
known = 2

[limits]
seconds = 60

[[grid]]
model = "km"
k = [2, 3]
m = [1, 2]
algorithm = ["aa", "nonsense"]
hierarchy = "fanout:2"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_grid_stands_for_all_combinations(tmp_path: Path) -> None:
    grid = read_grid(write(tmp_path, GRID))
    assert len(grid.policies) == 8
    assert {(p.model.k, p.model.m, p.algorithm.name) for p in grid.policies} == {
        (k, m, name) for k in (2, 3) for m in (1, 2) for name in ("aa", "nonsense")
    }
    assert (grid.known, grid.seconds) == (2, 60)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`schema = 1` is missing"),
        ("schema = 1\n", r"\[\[grid\]\] blocks are missing"),
        ("schema = 1\n[[grid]]\nk = 2\n", "`model` is missing"),
        ("schema = 1\n[[grid]]\nmodel = 'km'\nkk = 2\n", "unknown key `grid.kk`"),
        ("schema = 1\n[limits]\nhours = 1\n[[grid]]\nmodel = 'km'\n", "unknown key `hours`"),
        ("schema = 1\n[[grid]]\nmodel = 'kn'\n", 'unknown model "kn"'),
        ("schema = = 1", "is not TOML"),
    ],
)
def test_mistakes_in_a_grid_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_grid(write(tmp_path, text))


def point(name: str, risk: float | None, loss: float, status: str = "ok") -> Point:
    policy = Policy.from_dict({"schema": 1, "model": {"name": "km"}})
    return Point(name, policy, {"status": status, "mean_chance": risk, "avg_re": loss})


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    points = [point("a", 0.1, 5), point("b", 0.2, 3), point("c", 0.2, 4), point("d", 0.3, 3), point("e", 0.05, 9)]
    points += [point("f", 0.0, 0.0, "failed"), point("g", None, 0.0), point("b2", 0.2, 3)]
    assert pareto_front(points) == {"a", "b", "b2", "e"}


def test_groups_that_can_be_guessed_are_called_so_and_beat_nobody() -> None:
    """Their risk is that of guessers, whom the chance of a match does not count."""
    policy = Policy.from_dict({"schema": 1, "model": {"name": "degree"}, "algorithm": {"name": "nn"}})
    figures = {"status": "ok", "sensitive_chance": 0.2}
    nn = Point("nn", policy, {**figures, "algorithm": "nn", "kl": 0.01})
    blocks = Point("blocks", policy, {**figures, "algorithm": "blocks", "kl": 0.02})
    assert pareto_front([nn, blocks]) == {"blocks"}
    assert name_of(row_of(nn, False)) == "nn (guessable)"
    assert name_of(row_of(blocks, True)) == "blocks"


def test_groups_are_ranked_among_themselves_by_what_groups_lose() -> None:
    """They publish public items as they are: counts of pairs put groups at random first, whatever p."""

    def grouping(name: str, p: int, kl: float, avg_re: float) -> Point:
        policy = Policy.from_dict({"schema": 1, "model": {"name": "degree", "p": p}, "algorithm": {"name": name}})
        figures = {"mean_chance": 0.07, "sensitive_chance": 1 / p, "kl": kl, "avg_re": avg_re, "exact_ratio": 0.9}
        return Point(f"{name}{p}", policy, {"status": "ok", "algorithm": name, **figures})

    points = [grouping("random", 3, 0.012, 0.2), grouping("blocks", 3, 0.007, 0.3), grouping("blocks", 5, 0.009, 0.3)]
    points.append(point("records", 0.01, 0.1))  # less of both figures that say nothing about groups
    front = pareto_front(points)
    assert front == {"blocks3", "blocks5", "records"}
    found = Comparison(tuple(points), tuple(row_of(each, each.id in front) for each in points), 2)
    assert [[row["id"] for row in same] for same in found.front] == [["records"], ["blocks5"], ["blocks3"]]
    printed = str(found).splitlines()
    assert printed[0].endswith("best settings")
    assert "reconstruction error  best groups" in printed[2]
    assert "20.0 %" in printed[3]
    assert printed[3].split()[-3:] == ["0.009", "blocks", "p=5"]


@pytest.mark.slow
def test_the_page_draws_groups_by_their_reconstruction_error(tmp_path: Path) -> None:
    data = tmp_path / "data.dat"
    data.write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n1 2 9\n" * 5)
    blocks = [
        {"model": "degree", "p": [2, 3], "algorithm": ["blocks", "random"], "sensitive": ["9"]},
        {"model": "k-anonymity", "k": 2},
    ]
    found = compare(data, {"known": 1, "grid": blocks}, tmp_path / "out", processes=2)
    groups = [row for row in found.rows if row["model"] == "degree"]
    assert all(0 < row["sensitive_chance"] <= 1 / row["p"] for row in groups)
    assert [row["sensitive_chance"] for row in found.rows if row["model"] != "degree"] == [None]
    page = (tmp_path / "out" / "compare.html").read_text()
    assert "Groups are ranked separately" in page
    assert page.count('class="picture"') == 3


@pytest.mark.slow
def test_settings_run_in_processes_of_their_own_and_are_not_run_twice(tmp_path: Path) -> None:
    data = tmp_path / "data.dat"
    data.write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n" * 5)
    out = tmp_path / "out"
    points = compare(data, read_grid(write(tmp_path, GRID)), out, processes=2)
    assert [p.result["status"] for p in points].count("ok") == 4
    refused = [p.result["reason"] for p in points if p.result["status"] == "refused"]
    assert len(refused) == 4
    assert all("unknown algorithm" in reason for reason in refused)
    rows = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
    assert len(rows) == 8
    assert {row["pareto"] for row in rows} == {"True", "False"}
    page = (out / "compare.html").read_text()
    assert "http" not in page.replace("http-equiv", ""), "the page asks for nothing from outside"
    assert all(f"points/{p.id}.toml" in page for p in points if p.is_ok)
    assert "style=" not in page

    marker = out / "points" / f"{points[0].id}.json"
    changed = {**json.loads(marker.read_text()), "avg_re": 123.0}
    marker.write_text(json.dumps(changed))
    again = compare(data, read_grid(tmp_path / "grid.toml"), out, processes=1)
    assert again[0].result["avg_re"] == 123.0  # taken from the earlier run


def test_the_default_grid_takes_what_it_is_given() -> None:
    plain, given = default_grid(), default_grid("fanout:3", ["a", "b"])
    assert {policy.model.name for policy in plain.policies} == {"km", "k-anonymity"}
    assert {policy.hierarchy.source for policy in plain.policies if policy.algorithm.name == "aa"} == {"auto"}
    assert {policy.model.name for policy in given.policies} == {"km", "k-anonymity", "degree", "uncertainty"}
    assert {tuple(p.model.sensitive or ()) for p in given.policies if p.model.name == "degree"} == {("a", "b")}


def test_equal_results_share_a_line() -> None:
    from setveil.report.compare_page import FIGURES, merged

    figures = dict.fromkeys(FIGURES, 0.5)
    rows = [{"id": name, **figures, "ncp": loss} for name, loss in (("a", 0.1), ("b", 0.2), ("c", 0.1))]
    assert [[row["id"] for row in same] for same in merged(rows)] == [["a", "c"], ["b"]]


@pytest.mark.slow
def test_the_page_repeats_a_setting_from_where_it_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paste the command of the page; paths, quoting and reading options must be right."""
    import html
    import re
    import shlex

    from setveil.cli.main import _run

    (tmp_path / "my data").mkdir()
    (tmp_path / "grids").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("my data", "some visits.txt").write_text(
        "id;code;age\n" + "".join(f"{n};c{n % 4};7\n{n};c{n % 3};7\n" for n in range(40))
    )
    Path("grids", "tree.csv").write_text("c0,low,all\nc1,low,all\nc2,high,all\nc3,high,all\n")
    Path("grids", "g.toml").write_text(
        "schema = 1\n[[grid]]\nmodel = 'km'\nk = [2, 3]\nm = 2\nalgorithm = 'aa'\nhierarchy = 'tree.csv'\n"
    )
    reading = ["--format", "long", "--delimiter", ";", "--id-column", "id", "--item-column", "code"]
    Path("out").mkdir()
    assert _run(["compare", "my data/some visits.txt", "--grid", "grids/g.toml", "-o", "out/put", *reading]) == 0
    page = Path("out", "put", "compare.html").read_text(encoding="utf-8")
    commands = [html.unescape(text) for text in re.findall(r"<code>(setveil anonymize .*?)</code>", page)]
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "setveil"
        assert _run(words[1:]) == 0
        assert _run(["verify", words[-1], "--original", "my data/some visits.txt", *reading]) == 0


@pytest.mark.slow
def test_objects_are_compared_as_well() -> None:
    rows = [["a", "b"], ["a"], ["b", "c"], ["c", "a"]] * 6
    found = compare(
        rows,
        {"known": 1, "grid": [{"model": "km", "k": [2, 4], "m": 1, "algorithm": "aa", "hierarchy": "fanout:2"}]},
        processes=1,
    )
    assert [point.is_ok for point in found] == [True, True]
    assert "best settings" in str(found)
    assert found.to_polars().height == 2
    assert len(found.front[0]) == 2  # both leave everything as it is


@pytest.mark.slow
def test_a_setting_that_takes_too_long_or_grows_too_large_is_stopped_and_said_so(tmp_path: Path) -> None:
    data = tmp_path / "data.dat"
    data.write_text("1 2 3\n1 2\n2 3\n" * 5)
    for limit, status in (("seconds = 0.05", "time"), ("memory_mb = 1", "memory")):
        grid = (
            GRID.replace("seconds = 60", limit)
            .replace("[2, 3]", "2")
            .replace("[1, 2]", "1")
            .replace(', "nonsense"', "")
        )
        points = compare(data, read_grid(write(tmp_path, grid)), tmp_path / status, processes=1)
        assert [p.result["status"] for p in points] == [status]


@pytest.mark.slow
def test_damaged_results_are_run_again_and_nobody_else_may_look(tmp_path: Path) -> None:
    data = tmp_path / "data.dat"
    data.write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n" * 5)
    out = tmp_path / "out"
    block = {"model": "km", "k": 2, "m": 1, "algorithm": "aa", "hierarchy": "fanout:2"}
    first = compare(data, {"grid": [block]}, out, processes=1)
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    file = out / "points" / f"{first[0].id}.json"
    for damage in ("", "{", "[]", '{"status": 5}', '{"status": "ok", "avg_re": "high"}', "[" * 100_000):
        file.write_text(damage)
        (result,) = compare(data, {"grid": [block]}, out, processes=1)
        assert result.is_ok
        assert json.loads(file.read_text())["status"] == "ok"
        if damage:
            break  # one real run of each sort is enough; the others are read below
    from setveil.workflows.compare import _read_result

    for damage in ("", "{", "[]", "null", '{"status": 5}', '{"status": "ok", "avg_re": "high"}', "[" * 100_000):
        assert _read_result(damage) is None


PARENT = """
import sys
from dataclasses import replace
from setveil.workflows import compare, trials
process = trials._Process
def slow(job, limits, read):
    made = process(replace(job, order={**job.order, "source": sys.argv[3]}), limits, read)
    print(made.process.pid, flush=True)
    return made
trials._Process = slow
setting = {"model": "km", "k": 2, "m": 1, "algorithm": "aa", "hierarchy": "fanout:2"}
compare.compare(sys.argv[1], {"grid": [setting]}, sys.argv[2])
"""


def wait_for(happens: Callable[[], bool]) -> None:
    """Look again and again; what never happens ends in a failure instead of a hang."""
    end = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"  # dead, and nobody has asked yet


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    data, pipe = tmp_path / "data.dat", tmp_path / "pipe"
    data.write_text("1 2\n1 2\n")
    os.mkfifo(pipe)  # the worker waits for it for ever
    command = [sys.executable, "-c", PARENT, str(data), str(tmp_path / "out"), str(pipe)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    ends: list[int] = []

    def is_read() -> bool:
        """A pipe can be opened for writing as soon as somebody reads it; nothing is ever written."""
        with suppress(OSError):
            ends.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(ends)

    wait_for(is_read)
    assert is_alive(worker)
    assert parent.poll() is None
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not is_alive(worker))
    os.close(ends[0])
