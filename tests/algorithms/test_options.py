"""Options are checked by what they declare, however an algorithm is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from setveil.algorithms import ENTRIES, Algorithm, Entry, Option, find, make_algorithm, option
from setveil.errors import InputError

STEP = 1e-9


def outside(entry: Option) -> list[float]:
    """Values just out of range."""
    is_whole = isinstance(entry.default, int) or (entry.default is None and isinstance(entry.least, int))
    step = 1 if is_whole else STEP
    values = [None if entry.least is None else entry.least - step, None if entry.most is None else entry.most + step]
    return [value for value in (*values, entry.above, entry.below) if value is not None]


CASES = [
    pytest.param(entry, choice.name, value, id=f"{entry.name}-{choice.name}={value}")
    for entry in ENTRIES
    for choice in entry.options()
    for value in outside(choice)
]


def test_ranges_are_declared() -> None:
    assert len(CASES) > 15


@pytest.mark.parametrize(("entry", "name", "value"), CASES)
def test_values_out_of_range_are_refused(entry: Entry, name: str, value: float) -> None:
    kind = entry.load()
    with pytest.raises(InputError, match=f'option "{name}" must be '):
        kind(**{name: value})
    with pytest.raises(InputError, match=f'option "{name}" must be '):
        make_algorithm(kind, entry.name, {name: str(value)})


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_whole_numbers_are_never_bounded_from_below_by_nothing(entry: Entry) -> None:
    for choice in entry.options():
        if isinstance(choice.default, int | float) and not isinstance(choice.default, bool):
            assert choice.bounds, f"{entry.name}: say what {choice.name} may be"


@dataclass(frozen=True)
class Sample(Algorithm):
    """Every kind of range."""

    count: int = option(3, "a whole number", least=1, most=5)
    parts: int | None = option(None, "a whole number or nothing", least=1)
    share: float = option(0.5, "a share", above=0, below=1)
    order: str = option("up", "one of two", ("up", "down"))

    def run(self, data: Any, model: Any, context: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"count": 6}, 'option "count" must be at least 1 and at most 5, not 6'),
        ({"count": 2.5}, 'option "count" must be a whole number, not 2.5'),
        ({"count": True}, 'option "count" must be a whole number, not True'),
        ({"count": None}, 'option "count" must be a whole number, not None'),
        ({"parts": 1.5}, 'option "parts" must be a whole number, not 1.5'),
        ({"parts": "many"}, "option \"parts\" must be a whole number, not 'many'"),
        ({"share": 1.0}, 'option "share" must be above 0 and below 1, not 1.0'),
        ({"share": float("nan")}, 'option "share" must be above 0 and below 1, not nan'),
        ({"order": "sideways"}, 'option "order" must be one of up, down, not "sideways"'),
    ],
)
def test_what_is_said_about_a_wrong_value(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        Sample(**options)
    assert str(caught.value) == problem + "."


def test_what_is_allowed() -> None:
    assert (Sample(count=5, share=0.999).count, Sample(parts=None).parts, Sample(parts=1).parts) == (5, None, 1)
    assert [choice.allowed for choice in find("lsh").options()][:2] == [
        "at least 1 and at most 62",
        "at least 1 and at most 1e+06",
    ]
