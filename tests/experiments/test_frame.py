"""The frame around experiments: the command, the table of results, pages and pictures."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from experiments import catalogue, datasets, pages, runner
from experiments.__main__ import main
from experiments.claims import Cause, Claim, Kind, Reading, Verdict, told, verdict
from experiments.experiment import Experiment, Headline, Line, Outcome, Panel, Paper, Workshop, name_of_default
from experiments.plots import axis_of, draw, styles_of
from experiments.results import read_results, write_results
from experiments.store import Store
from setveil.core import Hierarchy, Transactions
from setveil.errors import GuaranteeError, InputError
from setveil.models import ConstraintAnonymity, KmAnonymity, PrivacyModel
from setveil.releases import Release
from setveil.workflows.anonymize import anonymize

PANEL = Panel(
    "Loss",
    "k",
    "NCP",
    (
        Line("AA", ((2, 0.1), (5, None), (9, 0.3))),
        Line("our default (best)", ((2, 0.05), (5, 0.06), (9, 0.07))),
        Line("AA, paper", ((2, 0.2),), is_paper=True),
    ),
)
TIMES = Panel("Time", "data", "seconds", (Line("AA", (("a|b", 0.002), ("c<d", 3.0)), "one & only"),), True, True)
READINGS = (
    Reading("less", "by id", "0.5. Rule: below 1.", True),
    Reading("less", "by weight", "2 | 3. Rule: below 1.", False),
    Reading("nothing", "", "0.5. Rule: 0.", False),
    Reading("quick", "", "4 s.", None),
)
CLAIMS = (
    Claim("less", "2", "|D| < 1", "loses less than 1", cause=Cause.PROTOCOL, why="Order not said."),
    Claim("nothing", "3", "nothing", "loses nothing", cause=Cause.GENUINE),
    Claim("quick", "4", "3 s", "takes 3 s", Kind.TIME),
    Claim("three", "5", "three", "three records", Kind.DATA, is_fitted=True),
)


def size_of(workshop: Workshop) -> Outcome:
    workshop.step("counting")
    n_records = workshop.data("coins").n_records
    return Outcome((), (Reading("three", "", f"{n_records}.", n_records == 3),))


def stop(*_: object) -> Outcome:
    raise KeyboardInterrupt


FAKE = Paper(
    "009",
    "Nobody 2009",
    "Nothing",
    (
        Experiment("009-fig1", "first", "made up", (), lambda _: Outcome((PANEL, TIMES), READINGS)),
        Experiment("009-fig2", "second", "made up", ("coins",), size_of),
        Experiment("009-fig3", "third", "made up", (), stop),
    ),
    CLAIMS,
    (("Line 1", "a < b"),),
    (("Figure 4", "no coins left"),),
    Headline("less", "009-fig1", "Loss", 2.0, ("AA",)),
    (("009-fig1", "Loss"),),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalogue, "PAPERS", (FAKE,))
    monkeypatch.setattr("experiments.__main__.PAPERS", (FAKE,))
    monkeypatch.setattr(runner, "_WORKSHOPS", {})
    monkeypatch.setattr(Workshop, "timed", lambda _, what: (what(), 1.7))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SETVEIL_DATA", raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "coins.dat").write_text("1 2\n2 3\n1\n")
    return tmp_path


def reproduce(*arguments: str) -> int:
    return main(arguments)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_pages_picture_and_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("009-fig2", "009-fig1", "--data", "data", "-o", "docs") == 0
    assert "009: 1 holds, 1 holds under some readings, 1 fails, 1 cannot be tested" in capsys.readouterr().out
    assert list(files_of(folder / "docs")) == [
        *("reproduction/009.md", "reproduction/009.svg", "reproduction/results.csv", "reproduction.md")
    ]
    index = (folder / "docs" / "reproduction.md").read_text()
    assert (
        "loses less than 1 (“\\|D\\| &lt; 1”) | **holds under: by id** (protocol undefined) | NCP, Loss, k 2: AA 0.1 "
        "| 0.05 (best) |" in index
    )
    assert "| comparisons and trends | [009](reproduction/009.md) | 0 | 1 | 1 | 0 |" in index
    page = (folder / "docs" / "reproduction" / "009.md").read_text()
    first, _, rest = page.partition("## Comparisons")
    assert "*Protocol undefined*\n\n- loses less than 1 (2): holds under: by id. Order not said.\n" in first
    assert "*Genuine*\n\n- loses nothing (3): fails.\n" in first
    assert "![009-fig1: Loss, NCP over k](009.svg)" in first
    assert "yes: *by id*: 0.5. Rule: below 1.<br>**no**: *by weight*: 2 \\| 3. Rule: below 1. |" in rest
    assert "holds under: by id<br>protocol undefined |" in rest
    assert "*(fitted:" in rest
    assert "- Line 1: a &lt; b\n" in rest
    assert "| 5 | – | 0.06 | – |" in rest
    assert "- AA: one &amp; only" in rest
    assert "| Figure 4 | no coins left |" in rest
    assert page.index("### 009-fig1") < page.index("### 009-fig2")
    with (folder / "docs" / "reproduction" / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7 + 2 + 4 + 1 + 2
    assert [row["y"] for row in rows if row["kind"] == "run"] == ["2", "2"]
    assert "The experiments above took 4 CPU seconds in all;" in index
    assert rows[0] == {
        "experiment": "009-fig1",
        "kind": "figure",
        "title": "Loss",
        "line": "AA",
        "source": "setveil",
        "x_label": "k",
        "x": "2.0",
        "y_label": "NCP",
        "y": "0.1",
        "note": "",
    }
    assert [row["y"] for row in rows if row["source"] == "paper"] == ["0.2"]
    assert [row["y"] for row in rows if row["kind"] == "reading"] == ["yes", "no", "no", "", "yes"]


def test_what_is_out_of_date_is_said() -> None:
    outcome = Outcome((PANEL,), READINGS, remark="the line of our default is old")
    index = pages.render_index([FAKE], {"009-fig1": outcome})
    assert "Out of date: the line of our default is old (009-fig1).\n" in index


def test_many_readings_are_folded() -> None:
    readings = [Reading("less", str(number), "1.", holds) for number, holds in enumerate([True, True, False, None])]
    assert pages.SHOWN == 4
    assert "<details>" not in pages._row(CLAIMS[0], readings)[1]
    folded = pages._row(CLAIMS[0], [*readings, Reading("less", "4", "1.", False)])[1]
    assert folded.startswith("<details><summary>5 readings: 2 yes, 2 no, 1 undecided</summary>yes: *0*: 1.<br>")


def test_a_later_run_keeps_the_others_and_gives_the_same_bytes(folder: Path) -> None:
    assert reproduce("009-fig2", "009-fig1", "--data", "data", "-o", "one") == 0
    assert reproduce("009-fig2", "--data", "data", "-o", "two") == 0
    assert "Not run yet" in (folder / "two" / "reproduction.md").read_text()
    assert reproduce("009-fig1", "--data", "data", "-o", "two") == 0
    assert files_of(folder / "one") == files_of(folder / "two")


def test_results_are_read_as_written(tmp_path: Path) -> None:
    random = Random(2)
    results = {
        f"x-{number}": Outcome(
            (panel, TIMES),
            READINGS[: random.randint(0, 4)],
            random.choice(("", "no data")),
            number or None,
            random.choice(("", "old")),
        )
        for number, panel in enumerate(random_panels())
    }
    write_results(results, tmp_path / "results.csv")
    assert read_results(tmp_path / "results.csv") == results
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="not a table of results"):
        read_results(tmp_path / "other.csv")


def test_every_panel_is_drawn_from_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("009-fig1", "--data", "data", "-o", "docs") == 0
    assert reproduce("all", "--draw", "drawn", "-o", "docs") == 0
    assert "2 pictures in drawn" in capsys.readouterr().out
    assert list(files_of(folder / "drawn")) == ["009-fig1-1.svg", "009-fig1-2.svg"]
    assert reproduce("all", "--draw", "drawn", "-o", "nowhere") == 2
    assert "no results to draw" in capsys.readouterr().err


def test_experiments_side_by_side_are_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of their own have the real papers."""
    monkeypatch.undo()
    names = ["001-example", "004-table2", "002-fig1"]
    found = dict(runner.run_all(catalogue.choose(names), folder / "data", 2))
    assert list(found) == sorted(names)
    assert all(outcome.readings for outcome in found.values())


def test_one_that_fails_does_not_take_the_others_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Outcome:
        raise RuntimeError("a bug")

    broken = Experiment("009-fig0", "broken", "made up", (), fail)
    monkeypatch.setattr(catalogue, "PAPERS", (replace(FAKE, experiments=(broken, *FAKE.experiments[:2])),))
    monkeypatch.setattr(runner, "ProcessPoolExecutor", lambda jobs, mp_context: ThreadPoolExecutor(jobs))
    with pytest.raises(RuntimeError, match="a bug"):
        reproduce("all", "--jobs", "2", "--data", "data", "-o", "docs")
    assert list(runner.earlier_results(folder / "docs")) == ["009-fig1", "009-fig2"]
    stopped = replace(broken, run=stop)
    monkeypatch.setattr(catalogue, "PAPERS", (replace(FAKE, experiments=(*FAKE.experiments[:2], stopped)),))
    assert reproduce("all", "--jobs", "2", "--data", "data", "-o", "whole") == 130
    assert list(runner.earlier_results(folder / "whole")) == ["009-fig1", "009-fig2"]


def test_without_a_name_the_experiments_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["009-fig1", "009-fig2", "009-fig3"]
    assert not (folder / "reproduction.md").exists()


def test_without_its_data_an_experiment_is_skipped_and_said_to_be(folder: Path) -> None:
    (folder / "data" / "coins.dat").unlink()
    assert reproduce("009-fig1", "009-fig2", "--data", "data") == 0
    assert "Not run: the data folder has no coins.*." in (folder / "reproduction" / "009.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["009-fig7", "--data", "data"], "it is one of all, 009, 009-fig1, 009-fig2, 009-fig3."),
        (["009-fig1"], "name their folder with --data DIR."),
        (["009-fig1", "--data", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_errors_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert reproduce(*arguments) == 2
    shown = capsys.readouterr().err
    assert expected in shown
    assert shown.count("\n") == 1
    assert not (folder / "reproduction.md").exists()


def test_a_stopped_run_keeps_what_was_done_and_can_go_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reproduce("009-fig1", "009-fig2", "--data", "data", "-o", "whole") == 0
    assert reproduce("009", "--data", "data", "-o", "docs") == 130  # at the third
    assert files_of(folder / "docs") == files_of(folder / "whole")
    (folder / "data" / "coins.dat").unlink()
    assert reproduce("009-fig1", "009-fig2", "--missing", "--data", "data", "-o", "docs") == 0  # nothing left to do
    assert files_of(folder / "docs") == files_of(folder / "whole")
    monkeypatch.setattr(runner, "draw", stop)
    assert reproduce("009-fig2", "--data", "data", "-o", "docs") == 130
    assert files_of(folder / "docs") == files_of(folder / "whole")  # pages and table agree, or nothing is written


@pytest.mark.parametrize("in_kernel", [False, True])
def test_ctrl_c_is_told_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], in_kernel: bool
) -> None:
    def interrupted(*_: object) -> Outcome:
        if not in_kernel:
            raise KeyboardInterrupt
        try:
            raise SystemError("of unpickling") from KeyboardInterrupt()
        except SystemError as inner:
            raise SystemError("of a compiled function") from inner

    monkeypatch.setattr(runner, "run_one", interrupted)
    assert reproduce("009-fig1", "--data", "data") == 130
    assert capsys.readouterr().err == "experiments: stopped; experiments that were done are kept.\n"


def test_what_others_wrote_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "reproduction.md").write_text("mine")
    assert reproduce("009-fig1", "--data", "data") == 2
    assert "choose another folder" in capsys.readouterr().err
    assert (folder / "reproduction.md").read_text() == "mine"


def test_a_release_that_does_not_verify_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.verify import Verdict as Answer

    data = Transactions.from_lists([["a"], ["a", "b"]])
    workshop = Workshop(tmp_path, Store(tmp_path))
    made, _ = workshop.release(data, KmAnonymity(2, 2), "aa", "fanout:2")
    monkeypatch.setattr("experiments.experiment.verify", lambda *_: Answer(False, ("b",), 1))
    again, _ = workshop.release(data, KmAnonymity(2, 2), "aa", "fanout:2")  # was found to hold before
    assert again.transactions() == made.transactions() == [{"a..b"}, {"a..b"}]
    with pytest.raises(GuaranteeError, match="aa does not keep"):
        workshop.make(data, KmAnonymity(2, 2), "aa", "fanout:2")
    for _ in range(2):  # what does not hold is never kept
        with pytest.raises(GuaranteeError, match="aa does not keep"):
            workshop.release(data, KmAnonymity(2, 1), "aa", "fanout:2")


# -- releases made before ---------------------------------------------------------------------------------------------


def test_a_release_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, in this process or another, gets the same; that there is none is remembered as well."""
    rows = [["a", "b"], ["a"], ["b", "c"], ["a", "b", "c"], ["c"]]
    made = []

    def count(*asked: Any) -> Release:
        made.append(asked)
        return anonymize(*asked)

    monkeypatch.setattr("experiments.experiment.anonymize", count)
    first, second = (Workshop(tmp_path, Store(tmp_path)) for _ in range(2))
    for workshop, data in ((first, Transactions.from_lists(rows)), (second, Transactions.from_lists(rows))):
        found = workshop.default_release(data, KmAnonymity(2, 2))
        assert found is not None
        assert found[0].transactions() == anonymize(data, KmAnonymity(2, 2), options={"effort": "fast"}).transactions()
        assert found[0].record is None or found[0].record.algorithm in name_of_default("km")
        assert workshop.default_release(data, KmAnonymity(6, 2)) is None
    assert len(made) == 2
    assert Workshop(tmp_path).default_release(data, KmAnonymity(2, 2)) is not None  # without a store
    assert len(made) == 3


def test_another_question_has_another_name(tmp_path: Path) -> None:
    data = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"]])
    tree = Hierarchy.balanced(data, 2)
    constraints = ConstraintAnonymity(2, [["a", "b"]])
    asked: list[tuple[Transactions, PrivacyModel, str | None, Hierarchy | str | None, dict[str, object]]] = [
        (data, KmAnonymity(2, 2), "aa", tree, {}),
        (data, KmAnonymity(2, 3), "aa", tree, {}),
        (data, KmAnonymity(2, 2), "da", tree, {}),
        (data, KmAnonymity(2, 2), "aa", Hierarchy.balanced(data, 3), {}),
        (data, KmAnonymity(2, 2), "aa", "fanout:2", {}),
        (data, KmAnonymity(2, 2), "aa", tree, {"tree_order": "leaves"}),
        (Transactions.from_lists([["a", "b"], ["a"], ["b", "d"]]), KmAnonymity(2, 2), "aa", tree, {}),
        (Transactions.from_lists([["a", "b"], ["a", "b"], ["c"]]), KmAnonymity(2, 2), "aa", tree, {}),
        (data, constraints, "pcta", None, {}),
        (data, ConstraintAnonymity(2, [["a", "c"]]), "pcta", None, {}),
        (data, ConstraintAnonymity(2, [["a", "b"]], [["a", "b", "c"]]), "pcta", None, {}),
    ]
    names = [Store(tmp_path).name(*one) for one in asked]
    assert len(set(names)) == len(names)
    assert Store(tmp_path).name(data.select(np.arange(3)), *asked[0][1:]) == names[0]


# -- claims -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("holds", "expected", "words"),
    [
        ([True, True], Verdict.HOLDS, "holds"),
        ([True, None], Verdict.HOLDS, "holds"),
        ([False, None], Verdict.FAILS, "fails"),
        ([None], Verdict.UNTESTED, "cannot be tested"),
        ([], Verdict.UNTESTED, "cannot be tested"),
        ([True, False], Verdict.PARTLY, "holds under: 0"),
        ([True, True, True, False, None], Verdict.PARTLY, "holds but for: 3"),
        ([True, False, True, False, True, False], Verdict.PARTLY, "holds under 3 of 6 readings"),
    ],
)
def test_verdicts(holds: list[bool | None], expected: Verdict, words: str) -> None:
    readings = [Reading("c", str(number), "", value) for number, value in enumerate(holds)]
    assert verdict(readings) is expected
    assert told(readings) == words


def test_the_catalogue_is_in_order() -> None:
    names = catalogue.all_names()
    assert len(names) == len(set(names))
    for paper in catalogue.PAPERS:
        assert all(re.fullmatch(rf"{paper.number}-[a-z0-9-]+", each.name) for each in paper.experiments)
        assert all(len(part) == 2 and all(part) for part in (*paper.left_out, *paper.errata))
        ids = [claim.id for claim in paper.claims]
        assert len(ids) == len(set(ids))
        assert paper.headline.claim in ids
        assert all(len(claim.quote.split()) <= 9 for claim in paper.claims), "quotations stay short"
        assert all(claim.cause for claim in paper.claims if claim.why)
    assert [each.name for each in catalogue.choose(["002-fig2", "001"])] == [
        *(each.name for each in catalogue.PAPERS[1].experiments),
        "002-fig2",
    ]


COMMITTED = Path(__file__).parents[2] / "docs"


def test_what_is_committed_is_what_the_table_gives() -> None:
    """Pages follow from the table; every claim was read, every failure has a cause, every headline its numbers."""
    results = runner.earlier_results(COMMITTED)
    assert (COMMITTED / "reproduction.md").read_text() == pages.render_index(catalogue.PAPERS, results)
    for paper in catalogue.PAPERS:
        assert (COMMITTED / "reproduction" / f"{paper.number}.md").read_text() == pages.render_paper(paper, results)
        found = pages.readings_of(paper, results)
        assert found.keys() <= {claim.id for claim in paper.claims}
        for claim in paper.claims:
            if claim.id in found and verdict(found[claim.id]) in (Verdict.FAILS, Verdict.PARTLY):
                assert claim.cause is not None, (paper.number, claim.id)
                assert claim.why, (paper.number, claim.id)


def test_our_default_stands_in_every_panel_of_loss() -> None:
    for name, outcome in runner.earlier_results(COMMITTED).items():
        without = [panel.title for panel in outcome.panels if panel.is_loss and not panel.has_default]
        assert not without, (name, without)


def test_a_panel_of_loss_is_one_unless_it_is_named_otherwise() -> None:
    assert PANEL.is_loss
    assert PANEL.has_default
    assert not TIMES.is_loss
    alone = replace(PANEL, lines=(PANEL.lines[0], Line("our default (none)", ((2, None),))))
    assert alone.is_loss
    assert not alone.has_default
    assert not replace(PANEL, y_label="nodes").is_loss


# -- pictures ---------------------------------------------------------------------------------------------------------


def random_panels() -> Iterator[Panel]:
    random = Random(5)
    for number in range(4):
        size = 10.0 ** random.randint(-4, 7)
        log = number % 2 == 0
        sign = 1 if log else random.choice((1, 1, -1))
        xs: list[float | str] = random.choice(([2.0, 5.0, 10.0], ["one", "another one"], [7.0, "all"]))
        lines = tuple(
            Line(
                f"method {n}", tuple((x, sign * size * random.random() if random.random() < 0.9 else None) for x in xs)
            )
            for n in range(random.randint(1, 8))
        )
        yield Panel("A title", "x", "y", lines, log_y=log)


def test_pictures_name_all_lines_and_come_out_the_same() -> None:
    for panel in random_panels():
        picture = draw([panel, TIMES, PANEL])
        assert picture == draw([panel, TIMES, PANEL])
        texts = {
            "".join(text.itertext())
            for text in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
        }
        assert {line.name for line in panel.lines} <= texts


def test_what_a_paper_prints_looks_like_its_method() -> None:
    lines = [Line("OA", ()), Line("COAT", ()), Line("COAT, paper", (), is_paper=True), Line("other", (), is_paper=True)]
    assert styles_of(lines) == [0, 1, 1, 3]
    dashed = draw([Panel("t", "x", "y", (Line("p", ((1, 1), (2, 2)), is_paper=True),))])
    assert dashed.count(b"stroke-dasharray") > draw([Panel("t", "x", "y", (Line("p", ((1, 1), (2, 2))),))]).count(
        b"stroke-dasharray"
    )


def test_numbers_come_before_words_on_an_axis() -> None:
    assert axis_of([Line("a", ((5, 1), ("all", 2))), Line("b", ((2, 1), ("none", 1)))]) == [2, 5, "all", "none"]


def test_data_sets_are_checked_by_their_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = b"1 2\n"
    known = datasets.SOURCES[0]._replace(sha256=hashlib.sha256(content).hexdigest())
    assert datasets.state_of(known, tmp_path) == "missing"
    for level in (1, 9):  # how it is compressed does not matter
        (tmp_path / known.file).write_bytes(gzip.compress(content, level))
        assert datasets.state_of(known, tmp_path) == "same"
    (tmp_path / known.file).write_bytes(gzip.compress(b"1 3\n"))
    assert datasets.state_of(known, tmp_path) == "differs"
    assert datasets.report_data(tmp_path) == 2
    assert "missing  BMS2.dat.gz: BMS-WebView-2" in capsys.readouterr().out
