"""What releases say of themselves, held against their published records, kind by kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.counts.tally import Tally
from setveil.core import Hierarchy, Transactions
from setveil.releases import KINDS, CountTable, Grouping, LocalRecoding, Recoding, Release, Replacement, is_grouped

ROWS = [["a", "b"], ["a", "c"], ["b", "c", "d"], ["d"], ["a", "b", "c"], ["a"]]
DATA = Transactions.from_lists(ROWS)
TREE = Hierarchy.from_paths([["a", "A", "top"], ["b", "A", "top"], ["c", "C", "top"], ["d", "C", "top"]])


def recoding() -> Recoding:
    """a, b → A; c itself; d suppressed."""
    number = {label: node for node, label in enumerate(TREE.labels)}
    return Recoding.from_cut(DATA, TREE, np.array([number["A"], number["A"], number["c"], -1]))


def local_recoding() -> LocalRecoding:
    """The first record generalized, one entry suppressed, everything else as it was."""
    nodes = DATA.items.astype(np.int32).copy()
    nodes[:2] = {label: node for node, label in enumerate(TREE.labels)}["A"]
    nodes[2] = -1
    return LocalRecoding.from_nodes(DATA, TREE, nodes)


def replacement() -> Replacement:
    """Two classes with the centres {a, b} and {c}."""
    centres = Transactions.from_lists([["a", "b"], ["c"]]).over(DATA.vocabulary)
    return Replacement.from_centres(DATA, np.array([0, 0, 1, 1, 0, 0]), centres)


def grouping() -> Grouping:
    """Two groups; b is sensitive."""
    return Grouping.from_groups(DATA, np.array([0, 0, 0, 1, 1, 1]), ["b"])


def count_table() -> CountTable:
    """a, b and c are listed; d is in fewer than three records."""
    made = Tally().run(DATA, sv.Counts(k=3), Context())
    assert isinstance(made, CountTable)
    return made


ALL = (recoding(), local_recoding(), replacement(), grouping(), count_table())
MADE: dict[str, Release] = {made.kind: made for made in ALL}
SIZES = {  # what each entry of the original is published as: the number of items covered, 0 if suppressed
    "recoding": [2, 2, 2, 1, 2, 1, 0, 0, 2, 2, 1, 2],
    "local-recoding": [2, 2, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    "replacement": [1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1],
    "grouping": [1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1],
    "count-table": [1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1],
}


def test_every_kind_is_here() -> None:
    assert set(MADE) == set(KINDS)
    assert {kind for kind, made in MADE.items() if is_grouped(made)} == {"grouping"}


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_of_entries(kind: str) -> None:
    sizes, counts = MADE[kind].entry_sizes(DATA)
    found: Counter[int] = Counter()
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        found[size] += count
    assert +found == Counter(SIZES[kind])


def test_what_records_do_not_show() -> None:
    made = MADE["recoding"]
    assert [made.may_lack(made.domain_items.number(item)) for item in "abcd"] == [False, False, False, True]
    assert MADE["local-recoding"].may_lack(0)
    assert not any(MADE[kind].may_lack(0) for kind in ("replacement", "grouping"))
    assert MADE["local-recoding"].suppressed_entries(DATA).tolist() == [1, 0, 0, 0]
    assert not MADE["recoding"].suppressed_entries(DATA).any()


def test_items_that_the_files_show() -> None:
    assert MADE["recoding"].shown_items == {"A", "a", "b", "c"}
    assert MADE["grouping"].shown_items == {"a", "b", "c", "d"}
    assert MADE["grouping"].counted_labels == {"b"}


def test_groups() -> None:
    made = grouping()
    assert made.largest_share == pytest.approx(2 / 3)
    assert made.hidden_among() == [("b", 3, 6)]
    assert [part.tolist() for part in made.size_counts()] == [[3], [2]]
    assert made.public_figures() == {"n_groups": 2}
    wider = made.with_unseen(["a", "s", "b"])
    assert list(wider.sensitive) == ["b", "s"] and wider.counted_labels == {"b"}
    assert MADE["recoding"].largest_share is None and MADE["recoding"].hidden_among() == []


def test_other_readings_of_a_codebook() -> None:
    made = recoding().with_items(["e"])
    assert made.codebook()[""] == ["d", "e"]
    assert made.with_suppressed({"e", "a"}).codebook()[""] == ["e"]
    assert "" not in made.with_suppressed(()).codebook()
    read = Recoding(
        published=made.published,
        domain=made.domain,
        target=made.target,
        suppressed=np.ones(len(made.domain), dtype=bool),
    )
    assert read.completed_by(recoding().with_items(["e"])).codebook()[""] == ["d", "e"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "recoding"])
def test_only_recodings_are_applied_to_other_records(kind: str) -> None:
    with pytest.raises(sv.InputError, match=f"a {kind.replace('-', ' ')} is made for its own records"):
        MADE[kind].recoded(DATA)


class ByHand(sv.Algorithm):
    """Publish what is frequent."""

    name = "by-hand"
    models = ("km",)

    def run(self, data: Transactions, model: object, context: object) -> Recoding:
        """Suppress rare items."""
        return Recoding.from_clusters(data, np.where(data.supports >= 3, np.arange(data.n_items), -1))


def test_an_algorithm_of_another_package_is_named_as_such(tmp_path: Path) -> None:
    rows = [["a", "b"], ["a"], ["b", "c"]] * 4
    release = sv.anonymize(rows, sv.KmAnonymity(k=3, m=1), algorithm=ByHand)
    assert release.record is not None and release.record.package == (package := __name__.partition(".")[0])
    out = release.publish(tmp_path / "out")
    answer = sv.verify_folder(out)
    assert answer.holds, answer.problems
    assert answer.certificate["algorithm"] == {"name": "by-hand", "package": package}
    assert answer.publisher_says["algorithm"] == f"by-hand (package {package})"
    assert f"by-hand (package {package})" in (out / "report.html").read_text()
    own = sv.anonymize(rows, sv.KmAnonymity(k=3, m=1), algorithm="pcta").publish(tmp_path / "own")
    assert sv.verify_folder(own).certificate["algorithm"] == {"name": "pcta"}
