"""Items that were left out are named in the owner's codebook; in the public one only if their names are public
anyway.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.core import Hierarchy
from setveil.errors import InputError
from setveil.workflows.folder import measure_folder
from setveil.workflows.hierarchy import resolve_hierarchy

SECRETS = ("aa-secret", "zz-secret")
CONSTRAINTS = [["zz-secret"], ["aa-secret"], ["i01", "i02"], ["i05", "i06"]]


def baskets() -> list[list[str]]:
    """Twelve items, some frequent, and two that one person each has."""
    rng = random.Random(3)
    items = [f"i{number:02d}" for number in range(12)]
    rows = [sorted({items[min(11, int(rng.expovariate(0.4)))] for _ in range(rng.randint(1, 5))}) for _ in range(120)]
    return [*rows, ["zz-secret", "i00"], ["aa-secret", "i01"]]


ROWS = baskets()
ITEMS = sorted({item for row in ROWS for item in row})
CASES: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "hghs": ("km", "fanout:2", {"k": 6, "m": 2}),
    "mhghs": ("km", "levels:3", {"k": 6, "m": 2}),
    "trim": ("km", None, {"k": 6, "m": 2}),
    "mm": ("coherence", None, {"h": 60, "k": 6, "p": 2, "sensitive": ["i03"]}),
    "upcta": (
        "constraints",
        None,
        {"k": 6, "constraints": CONSTRAINTS, "utility": [[item] for item in ITEMS], "max_suppressed": 60},
    ),
}


def release_of(algorithm: str, hierarchy: Any = None) -> sv.Release:
    model, tree, parameters = CASES[algorithm]
    return sv.anonymize(ROWS, model, algorithm=algorithm, hierarchy=hierarchy or tree, **parameters)


def named(folder: Path) -> list[str]:
    return [line.rpartition(",")[2] for line in (folder / "codebook.csv").read_text().splitlines()[1:]]


def says(folder: Path, word: str) -> bool:
    return any(word.encode() in file.read_bytes() for file in folder.iterdir())


@pytest.mark.parametrize("algorithm", CASES)
@pytest.mark.parametrize(("layout", "safe"), [("basket", False), ("fimi", False), ("long", True)])
def test_what_was_left_out_is_named_to_its_owner_only(tmp_path: Path, algorithm: str, layout: str, safe: bool) -> None:
    out, release = tmp_path / "out", release_of(algorithm)
    release.publish(out, to=layout, safe_csv=safe)
    left_out = set(SECRETS) & set(release.codebook()[""])
    assert left_out, "the example leaves something out"
    assert not any(says(out, secret) for secret in left_out)
    assert sorted(set(named(tmp_path / "out.internal"))) == ITEMS
    members = {item for label, items in release.codebook().items() if label for item in items}
    assert set(named(out)) == members, "all that published items stand for is listed"
    assert sv.verify_folder(out).holds is not False
    found = sv.verify_folder(out, ROWS)
    assert found.holds, found.problems
    assert measure_folder(ROWS, out) == sv.measure(ROWS, release)
    again = sv.open_release(out)
    assert sv.measure(ROWS, again) == sv.measure(ROWS, release)
    asked = {"known": (2,), "targets": 50, "strategies": ("random",), "sensitive": ["i03"]}
    assert sv.attack(ROWS, again, **asked).rows == sv.attack(ROWS, release, **asked).rows


def test_an_original_with_more_in_it_is_not_the_original(tmp_path: Path) -> None:
    """Items that the codebook does not name were left out, as far as anybody but the owner knows; that excuses no
    other difference.
    """
    out = release_of("mm").publish(tmp_path / "out")
    assert sv.verify_folder(out, [*ROWS[:-1], ["another", "secret"]]).holds is False
    more = [[*row, "another"] for row in ROWS]
    found = sv.verify_folder(out, more)
    assert found.problems == ('items of the original that the codebook lacks: "another".',)
    with pytest.raises(InputError, match="was not made from this data"):
        sv.open_release(out, original=more)
    shutil.rmtree(tmp_path / "out.internal")
    assert sv.verify_folder(out, more).holds, "it would be left out, too"


@pytest.mark.parametrize("algorithm", ["lg", "lra", "trim", "mm"])
def test_an_original_in_which_an_item_is_spelt_otherwise_is_not_the_original(tmp_path: Path, algorithm: str) -> None:
    """A suppressed item is missed by its owner alone; one that was generalized without suppression by everybody."""
    chance = random.Random(1)
    items = [f"{letter}{number}" for letter in "abcd" for number in range(4)]
    often = [chance.random() ** 2 + 0.03 for _ in items]
    rows = [[item for item, share in zip(items, often, strict=True) if chance.random() < share] for _ in range(120)]
    model, options = {
        "lg": ("k-anonymity", {"k": 3}),
        "mm": ("coherence", {"k": 3, "h": 80, "p": 2, "sensitive": ["d3"]}),
    }.get(algorithm, ("km", {"k": 3, "m": 2}))
    tree = None if algorithm == "mm" else "fanout:4"
    release = sv.anonymize(rows, model, algorithm=algorithm, hierarchy=tree, **options)
    out = release.publish(tmp_path / "out")
    others = {item: [[one.replace(item, item.upper()) for one in row] for row in rows] for item in items}
    assert sv.verify_folder(out, rows).holds
    for original in others.values():
        assert sv.verify_folder(out, original).holds is False
    if algorithm == "lra":
        shutil.rmtree(tmp_path / "out.internal")
        assert sv.verify_folder(out, rows).holds
        assert not any(sv.verify_folder(out, original).holds for original in others.values())


def test_numbers_do_not_show_where_items_are_missing(tmp_path: Path) -> None:
    """Labels become numbers in some layouts: 1, 2, 3, … over the items that are named."""
    out = release_of("mm").publish(tmp_path / "out", to="fimi")
    numbers = [line.partition(",")[0] for line in (out / "codebook.csv").read_text().splitlines()[1:]]
    assert sorted(map(int, numbers)) == list(range(1, len(numbers) + 1))


def test_names_in_a_given_hierarchy_are_public(tmp_path: Path) -> None:
    tree = Hierarchy.from_paths([[item, item[:2] + "*", "all"] for item in [*ITEMS, "zz-other"]])
    out = release_of("hghs", tree).publish(tmp_path / "out")
    assert sorted(named(out)) == sorted([*ITEMS, "zz-other"])
    assert sv.verify_folder(out, ROWS).holds


def test_names_in_a_given_domain_are_public(tmp_path: Path) -> None:
    (tmp_path / "domain.txt").write_text(
        "\n".join([item for item in ITEMS if item != "aa-secret"] + ["unheard"]) + "\n"
    )
    policy = sv.Policy.from_dict(
        {
            "schema": 1,
            "input": {"domain": str(tmp_path / "domain.txt")},
            "model": {"name": "coherence", **CASES["mm"][2]},
            "algorithm": {"name": "mm"},
        }
    )
    with pytest.warns(sv.SetveilWarning, match='1 item.* not in the domain: "aa-secret"'):
        out = sv.run(policy, ROWS, tmp_path / "out").path
    assert "zz-secret" in named(out) and "unheard" in named(out)
    assert not says(out, "aa-secret"), "the data has it, the domain does not"
    assert sv.verify_folder(out, ROWS).holds


def test_trees_of_the_items_that_occur_are_derived_from_the_data(tmp_path: Path) -> None:
    data = sv.read(ROWS)
    for source in ("fanout:2", "levels:3", "prefix:1", "auto:frequency"):
        tree = resolve_hierarchy(source, data)
        assert tree is not None and tree.derived_from_data, source
    partial = Hierarchy.from_paths([[item, "all"] for item in ITEMS[1:]])
    assert not partial.derived_from_data
    filled = resolve_hierarchy(partial, data, "root")
    assert filled is not None and filled.derived_from_data
    file = tmp_path / "sales.csv"
    file.write_text("customer,product,class\n1,milk,food\n1,beer,drink\n2,milk,food\n2,wine,drink\n")
    sales = sv.read(file, id_column="customer", item_column="product")
    for copy, is_derived in ((file, True), (tmp_path / "other.csv", False)):
        copy.write_text(file.read_text() + ("" if is_derived else "3,bread,food\n"))
        tree = resolve_hierarchy(f"columns:product,class:{copy}", sales)
        assert tree is not None and tree.derived_from_data is is_derived
