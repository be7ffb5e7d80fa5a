"""What does not run on Spark, each with its reason: algorithms, and questions about records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.algorithms import ENTRIES, Context, Entry, make_algorithm
from setveil.algorithms.degree.cahd import CAHD
from setveil.algorithms.k_anonymity.pta import PTA
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.optimal import Optimal
from setveil.cli.main import _run
from setveil.core import Hierarchy, Itemsets, Transactions
from setveil.engines import LocalEngine, tree_counts
from setveil.engines.base import TreeCounts
from setveil.errors import InputError, SetveilWarning
from setveil.io.formats.base import Plan
from setveil.io.transactions.guards import check
from setveil.models import KAnonymity, KmAnonymity, PrivacyDegree, PrivacyModel, as_model
from setveil.workflows.cluster import algorithm_for
from setveil.workflows.folder import patterns_of_folder
from tests.naive.scattered import Scattered

WHOLE_TREE = "walks the count-tree in the records, path by path"
COMPARES = "compares records with all others"
REMAINDER = "a group may be formed only if all records that remain keep the degree"
GAPS = {
    ("da", "km"): WHOLE_TREE,
    ("tally", "counts"): "mines every itemset that is frequent enough, of the whole data",
    ("oa", "km"): "tries cuts of the whole lattice; small data only",
    ("hghs", "km"): "looks at the threats of whole records",
    ("mhghs", "km"): "looks at the threats of whole records",
    ("mhghs+refine", "km"): "looks at the threats of whole records",
    ("trim", "km"): "leaves out single entries, which is decided record by record",
    ("lra", "km"): "parts of the records are recoded in different ways",
    ("vpa", "km"): WHOLE_TREE,
    ("pcta+", "km"): COMPARES,
    ("pcta", "km"): COMPARES,
    ("upcta", "km"): COMPARES,
    ("coat", "km"): COMPARES,
    ("gray-tsp", "k-anonymity"): "segments are joined to one tour before classes are cut",
    ("gsc", "k-anonymity"): COMPARES,
    ("lg", "k-anonymity"): COMPARES,
    **dict.fromkeys([(name, "degree") for name in ("blocks", "nn+", "nn", "lsh", "permmondrian", "random")], REMAINDER),
    ("mm", "coherence"): "moles are found in the records",
    **dict.fromkeys(
        [(name, "uncertainty") for name in ("pluck", "suppresscontrol", "tdcontrol", "optimal-suppression")],
        "rules are found in the records with a sensitive item",
    ),
    **dict.fromkeys(
        [(name, "rules") for name in ("prune", "regroup", "rbat")], "rules are counted in the bits of all records"
    ),
    **dict.fromkeys(
        [(name, "kkm") for name in ("classes", "rmerge", "tmerge", "rtmerge")], "cluster data has no columns yet"
    ),
    **dict.fromkeys([(name, "constraints") for name in ("pcta+", "pcta", "upcta", "coat")], COMPARES),
}
MODELS: dict[str, PrivacyModel] = {
    "km": as_model("km", {"k": 2, "m": 2}),
    "k-anonymity": as_model("k-anonymity", {"k": 2}),
    "degree": as_model("degree", {"p": 2, "sensitive": ["a"]}),
    "coherence": as_model("coherence", {"h": 50, "k": 2, "p": 2, "sensitive": ["a"]}),
    "constraints": as_model("constraints", {"k": 2, "constraints": [["a"]]}),
    "uncertainty": as_model("uncertainty", {"rho": "1/2", "sensitive": ["a"]}),
    "kkm": as_model("kkm", {"k": 2, "m": 2}),
    "rules": as_model("rules", {"k": 2, "c": "1/2", "rules": ["b => a"]}),
    "counts": as_model("counts", {"k": 2}),
}


SOME = Transactions.from_lists([["a", "b"], ["b"], ["a"]])
ELSEWHERE = Scattered(SOME, 2)
QUESTIONS: dict[str, tuple[str, Callable[[], object]]] = {  # each with its reason
    'm="all"': (
        "itemsets of every size: the length of the longest recoded record is asked again and again",
        lambda: AA().run_distributed(
            ELSEWHERE, KmAnonymity(k=2, m="all"), Context(hierarchy=Hierarchy.balanced(SOME.vocabulary, 2))
        ),
    ),
    "measure --patterns": (
        "frequent itemsets are mined in memory",
        lambda: patterns_of_folder(ELSEWHERE, "nowhere", (0.1,)),
    ),
    "leftovers=all": (
        "leftovers are compared with the classes of all segments",
        lambda: PTA(leftovers="all").run_distributed(ELSEWHERE, KAnonymity(k=2), Context()),
    ),
    "cahd without shard_size": (
        "a group may be formed only if all records that remain keep the degree",
        lambda: CAHD().run_distributed(ELSEWHERE, PrivacyDegree(p=2, sensitive=("a",)), Context()),
    ),
    "suppression of optimal": (
        "which nodes become rare by suppressing single items takes the records",
        lambda: Optimal(suppression=True).run_distributed(
            ELSEWHERE, KmAnonymity(k=2, m=2), Context(hierarchy=Hierarchy.balanced(ELSEWHERE))
        ),
    ),
    "suppress_excess of cahd": (
        "occurrences are drawn among all records",
        lambda: CAHD(shard_size=2, suppress_excess=True).run_distributed(
            ELSEWHERE, PrivacyDegree(p=2, sensitive=("a",)), Context()
        ),
    ),
    "the default of the privacy degree": (
        "its groups are made of all records; what runs there can be guessed, and nobody gets that unasked",
        lambda: algorithm_for(ELSEWHERE, MODELS["degree"], None),
    ),
    "sensitive items in k-anonymity": (
        "shards carry public items only",
        lambda: PTA().run_distributed(ELSEWHERE, KAnonymity(k=2, sensitive=("a",)), Context()),
    ),
}


@pytest.mark.parametrize("asked", [ask for _, ask in QUESTIONS.values()], ids=QUESTIONS)
def test_a_question_that_needs_the_records_is_refused_in_one_line(asked: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=r"local|one machine") as refused:
        asked()
    assert "\n" not in str(refused.value)


CASES = [pytest.param(entry, model, id=f"{entry.name}-{model}") for entry in ENTRIES for model in entry.models]


def test_every_gap_has_a_reason() -> None:
    """The registry says what runs where; the reasons here are about the same algorithms."""
    assert set(GAPS) == {(entry.name, model) for entry in ENTRIES if entry.scales == "local" for model in entry.models}


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_an_algorithm_runs_or_is_refused_in_one_line(entry: Entry, model: str) -> None:
    if entry.scales != "local":
        assert algorithm_for(ELSEWHERE, MODELS[model], entry.name) == entry.name
        return
    with pytest.raises(InputError, match="does not run on Spark; there is aa") as refused:
        algorithm_for(ELSEWHERE, MODELS[model], entry.name)
    assert "\n" not in str(refused.value)


class CountsAlone(LocalEngine):
    """Counts over records that stay elsewhere, and nothing else of them."""

    def supports(self, data: Transactions, itemsets: Itemsets) -> NDArray[np.int64]:
        assert isinstance(data, Scattered)
        return super().supports(data.whole, itemsets)

    def tree_counts(self, data: Transactions, hierarchy: Hierarchy) -> TreeCounts:
        assert isinstance(data, Scattered)
        return super().tree_counts(data.whole, hierarchy)


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_the_declared_scaling_is_what_happens(entry: Entry, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without asking the registry what may run: records elsewhere, an engine that counts, and the algorithm itself."""
    monkeypatch.setattr(tree_counts, "MANY", 0)  # counted in tables, as on Spark, however few the records are
    monkeypatch.setattr(tree_counts, "FOR_EACH_PLACE", 0)
    rows = [["a", "b"], ["b", "c"], ["a", "c"], ["b"], ["c", "d"], ["b", "d"], ["c"], ["d"]] * 3
    remote = Scattered(Transactions.from_lists(rows), 3)
    tree = Hierarchy.balanced(remote.vocabulary, 2) if entry.hierarchy == "required" else None
    engine = CountsAlone() if entry.scales != "shards" else LocalEngine()
    options = {"shard_size": 8} if entry.needs_shard_size else {}
    algorithm = make_algorithm(entry.load(), entry.name, options)
    if entry.scales == "local":
        with pytest.raises(InputError, match="the records stay on the cluster"):
            algorithm.run_distributed(remote, MODELS[model], Context(tree, engine))
    else:
        assert algorithm.run_distributed(remote, MODELS[model], Context(tree, engine)).published.n_records == len(rows)


def test_guards_look_at_labels_wherever_the_records_are() -> None:
    rows = [[f"visit 2024-01-{1 + number % 28:02}", "a"] for number in range(40)]
    plan = Plan("lists", "the list")
    with pytest.warns(SetveilWarning, match="carry a date or month"):
        found = check(Scattered(Transactions.from_lists(rows), 3), plan, "rows")
    assert len(found.warnings) == 1


def test_the_command_prints_the_declared_scaling(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["algorithms", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["algorithms"]
    assert {entry["name"]: entry["scales"] for entry in listed} == {entry.name: entry.scales for entry in ENTRIES}


def test_the_page_about_spark_names_what_runs_there() -> None:
    text = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")
    rows = [
        line.split("|") for line in text.partition("## What runs on the cluster")[2].partition("##")[0].splitlines()
    ]
    runs = [row[1] for row in rows if len(row) > 2 and row[2].strip().startswith("yes")]
    named = {name for cell in runs for name in re.findall("`([^`]+)`", cell)}
    known = {entry.name for entry in ENTRIES}
    assert named & known == {entry.name for entry in ENTRIES if entry.scales != "local"}


def test_what_runs_there_is_compared_byte_by_byte() -> None:
    from tests.engines.test_spark import COMPARED
    from tests.engines.test_spark_groups import GROUPED

    assert sorted([*COMPARED, *GROUPED]) == sorted(entry.name for entry in ENTRIES if entry.scales != "local")
