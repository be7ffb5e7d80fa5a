"""``python -m experiments``: the frame around experiments, and those of k^m-anonymity with and without suppression."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from naive.km_cases import cases

from experiments import catalogue, paper001, paper002, runner
from experiments.__main__ import main
from experiments.catalogue import Paper
from experiments.experiment import Experiment, Line, Outcome, Panel, Statement, Workshop
from experiments.paper001_large import figure_11a
from experiments.paper001_runs import count_tree_size
from experiments.plots import draw, scale_of, styles_of
from setveil.algorithms.km.cuts import Cut
from setveil.core import Hierarchy, Transactions
from setveil.errors import GuaranteeError
from setveil.models import KmAnonymity

# -- the frame --------------------------------------------------------------------------------------------------------

PANEL = Panel("Loss", "k", "NCP", (Line("AA", ((2, 0.1), (5, None), (9, 0.3))), Line("AA, paper", ((2, 0.2),), is_paper=True)))  # fmt: skip
TIMES = Panel("Time", "data", "seconds", (Line("AA", (("a|b", 0.002), ("c<d", 3.0)), "one & only"),), log_y=True)
SAID = (
    Statement("loses |D| < 1", "0.5", True),
    Statement("loses nothing", "0.5", False),
    Statement("takes 3 s", "4 s", None),
)


class Fake(Paper):
    def experiments(self) -> tuple[Experiment, ...]:
        return (
            Experiment("009-fig1", "009", "first", "made up", (), lambda _: Outcome((PANEL, TIMES), SAID)),
            Experiment("009-fig2", "009", "second", "made up", ("coins",), lambda w: Outcome((), (size_of(w),))),
            Experiment("009-fig3", "009", "third", "made up", (), stop),
        )

    def left_out(self) -> tuple[tuple[str, str], ...]:
        return (("Figure 4", "no coins left"),)


def size_of(workshop: Workshop) -> Statement:
    workshop.step("counting")
    n_records = workshop.data("coins").n_records
    return Statement("three records", str(n_records), n_records == 3)


def stop(_: Workshop) -> Outcome:
    raise KeyboardInterrupt


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalogue, "PAPERS", (Fake("009", "Nobody 2009", "Nothing"),))
    monkeypatch.setattr("experiments.page.PAPERS", catalogue.PAPERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SETVEIL_DATA", raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "coins.dat").write_text("1 2\n2 3\n1\n")
    return tmp_path


def reproduce(*arguments: str) -> int:
    return main(arguments)


def test_page_plots_and_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("009-fig2", "009-fig1", "--data", "data", "-o", "docs") == 0
    page = (folder / "docs" / "reproduction.md").read_text()
    assert "    python -m experiments 009-fig2 009-fig1 --data DIR -o docs\n" in page
    assert "| [009-fig1](#009-fig1) | first | 1 | 1 | 1 |  |" in page
    assert "| all |  | 2 | 1 | 1 |  |" in page
    assert r"| loses \|D\| &lt; 1 | 0.5 | yes |" in page
    assert "| loses nothing | 0.5 | **no** |" in page
    assert "| three records | 3 | yes |" in page
    assert "| 5 | – | – |" in page
    assert "- AA: one &amp; only" in page
    assert "| 009: Figure 4 | no coins left |" in page
    assert page.index("### 009-fig1") < page.index("### 009-fig2")
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", page)
    assert pictures == ["reproduction/009-fig1-1.svg", "reproduction/009-fig1-2.svg"]
    for picture in pictures:
        ElementTree.parse(folder / "docs" / picture)
    with (folder / "docs" / "reproduction" / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert rows[0] == {"experiment": "009-fig1", "panel": "Loss", "line": "AA", "source": "setveil", "x_label": "k", "x": "2.0", "y_label": "NCP", "y": "0.1", "note": ""}  # fmt: skip
    assert [row["y"] for row in rows if row["source"] == "paper"] == ["0.2"]
    assert [row["y"] for row in rows if row["x"] == "5.0"] == [""]
    assert "009-fig2" in capsys.readouterr().out


def test_without_a_name_the_experiments_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["009-fig1", "009-fig2", "009-fig3"]
    assert not (folder / "reproduction.md").exists()


def test_without_its_data_an_experiment_is_skipped_and_said_to_be(folder: Path) -> None:
    (folder / "data" / "coins.dat").unlink()
    assert reproduce("009-fig1", "009-fig2", "--data", "data") == 0
    page = (folder / "reproduction.md").read_text()
    assert "| [009-fig2](#009-fig2) | second |  |  |  | not run |" in page
    assert "Not run: the data folder has no coins.*." in page


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["009-fig7", "--data", "data"], "it is one of all, 009, 009-fig1, 009-fig2, 009-fig3."),
        (["009-fig1"], "name their folder with --data DIR."),
        (["009-fig1", "--data", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_errors_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert reproduce(*arguments) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1
    assert not (folder / "reproduction.md").exists()


def test_a_stopped_run_leaves_the_old_page(folder: Path) -> None:
    assert reproduce("009-fig1", "--data", "data", "-o", "docs") == 0
    before = {path: path.read_bytes() for path in (folder / "docs").rglob("*") if path.is_file()}
    assert reproduce("009", "--data", "data", "-o", "docs") == 130
    assert {path: path.read_bytes() for path in (folder / "docs").rglob("*") if path.is_file()} == before
    assert reproduce("009-fig2", "--data", "data", "-o", "docs") == 0
    assert sorted(path.name for path in (folder / "docs").rglob("*")) == [
        *("reproduction", "reproduction.md", "results.csv")
    ]


def test_a_run_stopped_while_writing_leaves_the_old_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reproduce("009-fig1", "--data", "data", "-o", "docs") == 0
    before = {path: path.read_bytes() for path in (folder / "docs").rglob("*") if path.is_file()}
    monkeypatch.setattr(runner, "draw", stop)
    assert reproduce("009-fig1", "--data", "data", "-o", "docs") == 130
    assert {path: path.read_bytes() for path in (folder / "docs").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("in_kernel", [False, True])
def test_ctrl_c_is_told_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], in_kernel: bool) -> None:  # fmt: skip
    def interrupted(*_: object) -> Outcome:
        if not in_kernel:
            raise KeyboardInterrupt
        try:
            raise SystemError("of unpickling") from KeyboardInterrupt()
        except SystemError as inner:
            raise SystemError("of a compiled function") from inner

    monkeypatch.setattr(runner, "run_one", interrupted)
    assert reproduce("009-fig1", "--data", "data") == 130
    assert capsys.readouterr().err == "experiments: stopped; nothing was written.\n"


def test_what_others_wrote_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "reproduction.md").write_text("mine")
    assert reproduce("009-fig1", "--data", "data") == 2
    assert "choose another folder" in capsys.readouterr().err
    assert (folder / "reproduction.md").read_text() == "mine"


def test_a_release_that_does_not_verify_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.verify import Verdict

    data = Transactions.from_lists([["a"], ["a", "b"]])
    workshop = Workshop(tmp_path, lambda _: None)
    assert workshop.release(data, KmAnonymity(2, 2), "aa", "fanout:2")[1] >= 0
    monkeypatch.setattr("setveil.workflows.assess.verify", lambda *_: Verdict(False, ("b",), 1))
    with pytest.raises(GuaranteeError, match="aa does not keep"):
        workshop.release(data, KmAnonymity(2, 2), "aa", "fanout:2")


def test_the_catalogue_is_in_order() -> None:
    for paper in catalogue.PAPERS:
        experiments = paper.experiments()
        assert {experiment.paper for experiment in experiments} <= {paper.number}
        assert all(re.fullmatch(rf"{paper.number}-[a-z0-9-]+", experiment.name) for experiment in experiments)
        assert all(len(part) == 2 and all(part) for part in paper.left_out())
    names = [experiment.name for experiment in catalogue.choose(["all"])]
    assert len(names) == len(set(names))
    assert [experiment.name for experiment in catalogue.choose(["002-fig2", "001"])] == [
        *(experiment.name for experiment in paper001.EXPERIMENTS),
        "002-fig2",
    ]


# -- plots ------------------------------------------------------------------------------------------------------------

NAMESPACE = "{http://www.w3.org/2000/svg}"


def random_panels() -> Iterator[Panel]:
    random = Random(5)
    for log in (False, True):
        for _ in range(60):
            size = 10.0 ** random.randint(-4, 7)
            sign = 1 if log else random.choice((1, 1, -1))
            xs: list[float | str] = random.choice(([2, 5, 10], ["one", "another one"], list(range(9)), [7, "all"]))
            lines = tuple(
                Line(f"method {n}", tuple((x, sign * size * random.random() if random.random() < 0.9 else None) for x in xs))
                for n in range(random.randint(1, 8))
            )  # fmt: skip
            if any(y is not None for line in lines for _, y in line.points):
                yield Panel("A title", "x", "y", lines, log_y=log)


def test_every_point_is_on_the_card_and_names_do_not_touch() -> None:
    for panel in random_panels():
        card = ElementTree.fromstring(draw(panel))
        width, height = float(card.attrib["width"]), float(card.attrib["height"])
        places = [
            tuple(map(float, place.split(",")))
            for line in card.iter(f"{NAMESPACE}polyline")
            for place in line.attrib["points"].split()
        ]
        assert all(0 < x < width and 0 < y < height for x, y in places)
        titles = [title.text for title in card.iter(f"{NAMESPACE}title")]
        drawn = [line for line in panel.lines if any(y is not None for _, y in line.points)]
        assert len(titles) == sum(y is not None for line in panel.lines for _, y in line.points)
        names = [text for text in card.iter(f"{NAMESPACE}text") if text.text and text.text.startswith("method")]
        assert sorted(text.text or "" for text in names) == sorted(line.name for line in drawn)
        heights = sorted(float(text.attrib["y"]) for text in names)
        assert all(later - earlier > 11 for earlier, later in zip(heights, heights[1:], strict=False))
        assert all(10 < up < height for up in heights)


def test_ticks_enclose_the_values_and_say_what_they_are() -> None:
    for panel in random_panels():
        values = [y for line in panel.lines for _, y in line.points if y is not None]
        ticks, share = scale_of(values, panel.log_y)
        assert all(-1e-9 <= share(value) <= 1 + 1e-9 for value in values)
        assert share(ticks[0][0]) == pytest.approx(0)
        assert [label for _, label in ticks] == list(dict.fromkeys(label for _, label in ticks))
        for value, label in ticks:
            size = {"k": 1e3, "M": 1e6, "G": 1e9}.get(label[-1], 1)
            assert float(label.rstrip("kMG").replace(",", "")) * size == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_what_a_paper_prints_looks_like_its_method() -> None:
    lines = [Line("OA", ()), Line("COAT", ()), Line("COAT, paper", (), is_paper=True), Line("other", (), is_paper=True)]
    assert styles_of(lines) == [0, 1, 1, 3]
    assert draw(PANEL).count("stroke-dasharray") == 0  # a single point has no line to dash
    assert draw(Panel("t", "x", "y", (Line("p", ((1, 1), (2, 2)), is_paper=True),))).count("stroke-dasharray") == 1


# -- the experiments on small stand-ins -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data under the names of the real files: a few favourites, many rarities."""
    folder, random = tmp_path_factory.mktemp("data"), Random(3)
    for name, n_items in (("BMS1", 30), ("BMS2", 70)):
        rows = (
            sorted({min(int(random.expovariate(12 / n_items)), n_items - 1) for _ in range(random.randint(1, 5))})
            for _ in range(1500)
        )
        (folder / f"{name}.dat").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    items = [f"item{n:02}" for n in range(24)]
    (folder / "groceries_taxonomy.csv").write_text(
        "item,category,department\n"
        + "".join(f"{x},category{n // 4},department{n // 12}\n" for n, x in enumerate(items))
    )
    (folder / "groceries.csv").write_text(
        "basket,item\n"
        + "".join(f"{n},{x}\n" for n in range(400) for x in sorted({random.choice(items) for _ in range(random.randint(1, 4))}))
    )  # fmt: skip
    return folder


@pytest.mark.parametrize("experiment", [*paper001.EXPERIMENTS, *paper002.EXPERIMENTS], ids=lambda e: e.name)
def test_experiments_run_and_give_the_same_again(experiment: Experiment, stand_ins: Path) -> None:
    steps: list[str] = []
    outcome, again = (experiment.run(Workshop(stand_ins, steps.append)) for _ in range(2))
    assert outcome.statements
    assert steps or not outcome.panels or experiment.name.endswith("fig1")
    for panel in outcome.panels:
        ElementTree.fromstring(draw(panel))
    assert [panel for panel in outcome.panels if not panel.is_timing] == [
        panel for panel in again.panels if not panel.is_timing
    ]
    assert [statement.agrees for statement in outcome.statements] == [
        statement.agrees for statement in again.statements
    ]


@pytest.mark.parametrize("name", ["001-example", "002-fig1"])
def test_worked_examples_agree(name: str, tmp_path: Path) -> None:
    (experiment,) = catalogue.choose([name])
    outcome = experiment.run(Workshop(tmp_path, lambda _: None))
    assert [statement for statement in outcome.statements if statement.agrees is not True] == []


def test_the_walk_through_of_mhghs_does_not(tmp_path: Path) -> None:
    outcome = paper002.figure_2(Workshop(tmp_path, lambda _: None))
    assert [statement.paper for statement in outcome.statements if not statement.agrees] == [
        "mHgHs ends round 5 with {P, f, g, M, e, i} without i"
    ]
    assert "cost 6.2" in outcome.statements[-1].ours


def itemsets_of_nodes(data: Transactions, tree: Hierarchy, size: int) -> set[tuple[int, ...]]:
    """All sets of up to ``size`` unrelated nodes, the root left out, that some record supports."""
    leaf = {label: number for number, label in enumerate(tree.labels[: tree.n_items])}
    found = set()
    for row in data.to_lists():
        nodes = {node for label in row for node in (leaf[label], *tree.ancestors(leaf[label]))} - {tree.root}
        for n in range(1, size + 1):
            for chosen in combinations(sorted(nodes), n):
                if not any(tree.covers(a, b) or tree.covers(b, a) for a, b in combinations(chosen, 2)):
                    found.add(chosen)
    return found


def test_size_of_the_count_tree() -> None:
    for data, tree, _ in cases(150, seed=7):
        for size in (1, 2, 3):
            assert count_tree_size(data, Cut(tree, data), size) == len(itemsets_of_nodes(data, tree, size))


# -- figures on the real data -----------------------------------------------------------------------------------------


def losses(panel: Panel) -> dict[str, list[float | None]]:
    return {line.name: [y for _, y in line.points] for line in panel.lines}


def test_small_domains_on_real_data(real_data: Callable[[str], Path]) -> None:
    outcome = paper001.figure_10(Workshop(real_data("BMS2.dat.gz").parent, lambda _: None))
    found = losses(outcome.panels[2])
    assert found["OA"][1] == pytest.approx(0.044309, abs=5e-7)
    assert found["AA"][1] == pytest.approx(0.063812, abs=5e-7)


@pytest.mark.slow
def test_whole_data_sets(real_data: Callable[[str], Path]) -> None:
    real_data("BMS1.dat.gz")
    outcome = figure_11a(Workshop(real_data("BMS2.dat.gz").parent, lambda _: None))
    found = losses(outcome.panels[2])
    assert found["AA, by id"] == pytest.approx([0.108120, 0.037252], abs=5e-7)
    assert found["AA, by frequency"] == pytest.approx([0.017, 0.0145], abs=5e-4)
    assert [statement.agrees for statement in outcome.statements] == [False, True, True, None]


def test_groceries(real_data: Callable[[str], Path]) -> None:
    real_data("groceries.csv.gz")
    workshop = Workshop(real_data("groceries_taxonomy.csv").parent, lambda _: None)
    tree = Hierarchy.from_file(workshop.path("groceries_taxonomy"))
    trial = paper002.Trial(workshop.data("groceries"), tree, 7, 3, {})
    for method, m, ncp in (("mHgHs", 2, 0.050278), ("mHgHs", 3, 0.086100), ("AA", 2, 0.076014)):
        found = paper002.try_method(workshop, trial, method, 5, m)
        assert found is not None
        assert found[0] == pytest.approx(ncp, abs=5e-7)
