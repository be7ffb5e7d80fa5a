"""Python objects as people have them: every public function takes them through the same door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import setveil as sv
from setveil.errors import InputError

# Six people; nobody but the first has item 2, so nothing holds for k=2.
MATRIX = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]])
NAMES = ["a", "b", "c"]
SETS = [{NAMES[place] for place in np.flatnonzero(row)} for row in MATRIX]
KM = sv.KmAnonymity(k=2, m=1)
PEOPLE = [f"p{number}" for number in range(6)]

MATRICES: dict[str, Any] = {
    "booleans": MATRIX.astype(bool),
    "0/1 integers": MATRIX,
    "0/1 decimals": MATRIX.astype(float),
    "csr_array": sp.csr_array(MATRIX),
    "csc_matrix": sp.csc_matrix(MATRIX),
    "counts in a sparse matrix": sp.csr_array(MATRIX * 3),
}
FRAMES: dict[str, tuple[Any, dict[str, Any]]] = {
    "pandas of 0/1": (pd.DataFrame(MATRIX, columns=NAMES), {}),
    "pandas of booleans": (pd.DataFrame(MATRIX.astype(bool), columns=NAMES), {}),
    "Polars of 0/1": (pl.DataFrame(MATRIX, schema=NAMES), {}),
    "Polars of booleans": (pl.DataFrame(MATRIX.astype(bool), schema=NAMES), {}),
    "yes and no": (
        pl.DataFrame({name: ["yes" if one else "no" for one in MATRIX[:, place]] for place, name in enumerate(NAMES)}),
        {},
    ),
    "ids and 0/1": (
        pd.DataFrame({"patient": PEOPLE, **{name: MATRIX[:, place] for place, name in enumerate(NAMES)}}),
        {},
    ),
    "ids by option": (
        pd.DataFrame({"who": PEOPLE, **{name: MATRIX[:, place] for place, name in enumerate(NAMES)}}),
        {"id_column": "who"},
    ),
    "wide": (
        pl.DataFrame(
            {"id": PEOPLE, "age": [30] * 6}
            | {
                f"dx{place + 1}": [name if one else None for one in MATRIX[:, place]]
                for place, name in enumerate(NAMES)
            }
        ),
        {},
    ),
    "wide by glob": (
        pd.DataFrame(
            {"who": PEOPLE}
            | {f"{name} dx": [name if one else None for one in MATRIX[:, place]] for place, name in enumerate(NAMES)}
        ),
        {"id_column": "who", "item_columns": "*dx"},
    ),
    "long": (
        pd.DataFrame(
            [(who, item) for who, items in zip(PEOPLE, SETS, strict=True) for item in sorted(items)],
            columns=["who", "what"],
        ),
        {},
    ),
    "long by name": (
        pl.DataFrame(
            [(1, who, item, 2.5) for who, items in zip(PEOPLE, SETS, strict=True) for item in sorted(items)],
            schema=["n", "patient_id", "code", "price"],
            orient="row",
        ),
        {},
    ),
    "long by option": (
        pd.DataFrame(
            [(7, who, item) for who, items in zip(PEOPLE, SETS, strict=True) for item in sorted(items)],
            columns=["x", "y", "z"],
        ),
        {"id_column": "y", "item_column": "z"},
    ),
    "lists": (pl.DataFrame({"items": [sorted(items) for items in SETS]}), {}),
    "lists in text": (
        pd.DataFrame({"id": PEOPLE, "items": ["|".join(sorted(items)) for items in SETS]}),
        {"split": "|"},
    ),
}


def asks(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What every public function makes of the data."""
    release = sv.anonymize(data, KM, hierarchy="fanout:2", read_options=options)
    assert release.record is not None
    return {
        "read": sv.read(data, **options),
        "anonymize": release.record.data,
        "verify": sv.verify(data, KM, read_options=options),
        "risk": sv.risk(data, known=(1,), read_options=options).to_dict(),
        "measure": sv.measure(data, release, read_options=options),
    }


def check_all(data: Any, options: dict[str, Any], expected: list[set[str]], rarest: str) -> None:
    found = asks(data, options)
    for name in ("read", "anonymize"):
        assert [set(record) for record in found[name].to_lists()] == expected
        assert " (detected from " in found[name].summary()
    assert (found["verify"].holds, found["verify"].witness) == (False, (rarest,))
    plain = asks(expected, {})
    assert found["risk"] == plain["risk"] and found["measure"] == plain["measure"]


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_are_one_hot_everywhere(name: str) -> None:
    check_all(MATRICES[name], {}, [{str(place) for place in np.flatnonzero(row)} for row in MATRIX], "2")


@pytest.mark.parametrize("name", FRAMES)
def test_frames_mean_the_same_everywhere(name: str) -> None:
    frame, options = FRAMES[name]
    check_all(frame, options, SETS, "c")


REFUSED: dict[str, tuple[Any, str]] = {
    "rows of 0 and 1": (MATRIX.tolist(), "rows of a matrix"),
    "rows of yes and no": ([["yes", "no", "no"], ["no", "no", "yes"], ["yes", "yes", "no"]], "rows of a matrix"),
    "counts": (np.array([[0, 3, 0], [2, 0, 0]]), "array > 0"),
    "two columns of 0 and 1": (pd.DataFrame({"a": [1, 0], "b": [1, 1]}), "two columns of 0 and 1 can be"),
    "items, then ids": (pd.DataFrame({"code": ["a", "b"], "patient": [1, 1]}), "--person and --item"),
    "lists in text": (pd.DataFrame({"id": range(9), "items": ["A|B", "B|C", "A|C"] * 3}), '--split "|"'),
    "free text": (
        pd.DataFrame(
            {"id": range(9), "items": [f"the patient number {n} came in with a bad cough today" for n in range(9)]}
        ),
        "free text",
    ),
    "measurements": (pd.DataFrame({"id": range(9), "items": [f"{n}.25" for n in range(9)]}), "decimals"),
    "text": ("milk,bread\n", "no such file"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("function", ["read", "risk", "verify", "anonymize"])
def test_slips_are_refused_by_every_function(name: str, function: str) -> None:
    data, says = REFUSED[name]
    calls = {
        "read": lambda: sv.read(data),
        "risk": lambda: sv.risk(data),
        "verify": lambda: sv.verify(data, KM),
        "anonymize": lambda: sv.anonymize(data, KM, hierarchy="fanout:2"),
    }
    with pytest.raises(InputError) as refusal:
        calls[function]()
    assert says in str(refusal.value) and "\n" not in str(refusal.value)


def test_sets_of_0_and_1_are_sets() -> None:
    assert sv.verify([{0}, {0, 1}, {1}, {0}], KM).holds
    assert not sv.verify([{"a"}, {"a", "b"}], KM).holds
