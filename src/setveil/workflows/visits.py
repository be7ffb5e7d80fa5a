"""Releases of visits, compared with the people behind them: ``verify OUT --original INPUT --person patient``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import Columns
from setveil.errors import UncheckedError, one_line, unheard_warnings
from setveil.io.roles import names_in
from setveil.models import PrivacyModel
from setveil.releases import Release
from setveil.verify.people import people_behind

LISTED = ("known_columns", "sensitive_columns", "carry", "drop")


class Visits(NamedTuple):
    """How the records of a release were read, and who stands behind each."""

    reading: dict[str, Any]
    person: str  # the column of the people
    people: NDArray[np.int32]  # [records of the input]


def find_visits(folder: Path, original: Any, given: Mapping[str, Any]) -> Visits | None:
    """The visits of a release whose owner now names another column of people; None if records are these people.

    The policy in the internal folder tells how the records were read.
    """
    from setveil.workflows.folder import owners_reading
    from setveil.workflows.inputs import as_dataset

    person = given.get("person", given.get("id_column"))
    reading = {} if person is None or original is None else owners_reading(folder)
    stated = reading.get("person", reading.get("id_column"))
    if stated is None or stated == person:
        return None
    reading |= {name: value for name, value in given.items() if name not in ("person", "id_column")}
    with_people = {
        name: [one for one in names_in(value) if one != person] if name in LISTED else value
        for name, value in reading.items()
    }
    with_people["carry"] = [*with_people.get("carry", ()), person]
    with unheard_warnings():  # the people are read to be counted, not to be published
        columns = as_dataset(original, **with_people).columns
    column = next((one for one in columns or () if one.name == person), None)
    return None if column is None else Visits(reading, str(person), column.codes)


def check_people(release: Release, model: PrivacyModel, visits: Visits) -> tuple[list[str], list[str]]:
    """``(problems, notes)``: whether every crowd of the release, in input order, has as many people as records."""
    known, k = model.known_items, model.crowd
    if known is None or k is None or release.has_groups:
        raise UncheckedError(f'people with several records are not counted for model "{model.name}".')
    published = release.published
    columns: Columns | None = published.columns
    classes = None
    if columns is not None:
        classes = list(zip(*(one.to_list() for one in columns if one.role == "known"), strict=True))
    records = [frozenset(labels) for labels in published.rows.to_lists()]
    found = people_behind(records, visits.people.tolist(), known, k, classes)
    name = one_line(visits.person, 40)
    text = f'the records that match the same known items belong to at least {found.smallest:,} "{name}"'
    if found.n_below:
        return [
            f"{found.n_below:,} of {found.n_crowds:,} combinations of known items match records of fewer than {k} "
            f"people; {text}."
        ], []
    return [], [f"{text}: every combination of known items matches at least {k} people."]
