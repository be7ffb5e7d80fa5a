"""Patients with diagnosis codes: a record per patient (or per visit), for trying out and for benchmarks.

Age, sex and a general frailty decide which disease groups a patient has; some groups bring others along; within a group
common codes are much more frequent than rare ones. The code system is invented (``generate.diagnoses``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import Column, Columns
from setveil.core.hierarchy import Hierarchy
from setveil.core.transactions import Layout, Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, one_line
from setveil.generate.diagnoses import AGE_BANDS, COMORBIDITY, SEXES, SHARE_OF_AGE, Code, groups
from setveil.generate.draws import LARGEST_SEED, MOST_RECORDS, ONE, Draws, choose, weight_table

CHUNK = 65_536  # patients, whatever is asked for and however it is consumed
FRAILTY = ((55, 7), (30, 14), (12, 26), (3, 40))  # (percent of patients, tenths of the usual prevalence)
HIGHEST_CHANCE = 950  # per thousand
FURTHER_CODES = (250, 60)  # per thousand: a second code in the same group, a third
MOST_VISITS = 8
AGES = ((0, 18), (18, 40), (40, 60), (60, 80), (80, 96))  # the years of each age band, from and before
SEX_NAMES = ("female", "male")
REGIONS = (("Central", 24), ("North", 18), ("South", 17), ("East", 14), ("West", 13), ("Coast", 8), ("Islands", 6))
YEAR = 2025
LAYOUT = Layout("long", id_column="patient", item_column="diagnosis")


def patients(n: int = 10_000, *, visits: bool = False, columns: bool = False, seed: int = 0) -> Iterator[Transactions]:
    """The diagnoses of n patients, chunk by chunk; with ``visits`` a record per visit, whose id is ``patient-visit``.

    With ``columns`` every patient has an age, a sex, a region and a month of admission, all of them known columns. They
    do not change the diagnoses.

    The first patients of a larger n are the patients of a smaller n, and the visits of a patient together hold the
    diagnoses of the patient.
    """
    if n < 0 or seed < 0:
        raise InputError(f"n is {n} and the seed {seed}; neither may be negative.")
    for name, number, most in (("n", n, MOST_RECORDS), ("seed", seed, LARGEST_SEED)):
        if number > most:
            raise InputError(f"{name} is {one_line(str(number), 30)}; it must be at most {most:,}.")
    if visits and columns:
        raise InputError("columns describe patients, and visits are records of their own; choose one of them.")
    return _chunks(n, visits, columns, seed)


def patients_hierarchy() -> Hierarchy:
    """Code, category, group, all."""
    return Hierarchy.from_paths([code.label, code.category, code.group, "All diagnoses"] for code in _codes())


def patients_sensitive() -> tuple[str, ...]:
    """The codes a patient would least like to see published."""
    return tuple(code.label for code in _codes() if code.sensitive)


def patients_groups() -> dict[str, list[str]]:
    """The codes of each disease group, as utility constraints want them."""
    return {group.name: [code.label for code in group.codes] for group in groups()}


def patients_names() -> dict[str, str]:
    """What each code means, in words."""
    return {code.label: code.name for code in _codes()}


def _codes() -> list[Code]:
    return [code for group in groups() for code in group.codes]


def _chunks(n: int, visits: bool, has_columns: bool, seed: int) -> Iterator[Transactions]:
    vocabulary = Vocabulary(code.label for code in _codes())
    for chunk, start in enumerate(range(0, n, CHUNK)):
        draws = Draws(seed, 2, chunk)
        age, sex, group_of = _draw_patients(draws)
        patient, item = _draw_codes(draws, sex, group_of, vocabulary)
        data = Transactions.from_pairs(patient, item, CHUNK, vocabulary, layout=LAYOUT)
        if has_columns:
            data = replace(data, columns=_draw_columns(Draws(seed, 6, chunk), age, sex))
        if n - start < CHUNK:
            data = data.select(np.arange(n - start))
        yield _draw_visits(data, start, seed, chunk) if visits else data


def _draw_columns(draws: Draws, age: NDArray[np.int64], sex: NDArray[np.int64]) -> Columns:
    """Age in years, sex, region and month of admission of each patient."""
    first, end = np.array(AGES)[:, 0], np.array(AGES)[:, 1]
    years = first[age] + ((draws.bits(CHUNK) * (end - first)[age].astype(np.uint64)) >> np.uint64(32)).astype(np.int64)
    region = choose(weight_table([share for _, share in REGIONS]), draws.bits(CHUNK))
    month = draws.below(12, CHUNK)
    values = {
        "age": ([str(year) for year in range(AGES[-1][1])], years),
        "sex": (list(SEX_NAMES), sex),
        "region": ([name for name, _ in REGIONS], region),
        "month": ([f"{YEAR}-{number:02d}" for number in range(1, 13)], month),
    }
    found = []
    for name, (labels, codes) in values.items():
        vocabulary = Vocabulary(labels)
        found.append(Column(name, "known", vocabulary, vocabulary.numbers(labels)[codes].astype(np.int32)))
    return Columns(tuple(found))


def _draw_patients(draws: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Age band and sex of each patient, int64[CHUNK] each, and the disease groups each has, bool[CHUNK, groups]; at
    least one.
    """
    age = choose(weight_table(SHARE_OF_AGE), draws.bits(CHUNK))
    sex = (draws.bits(CHUNK) < ONE * 49 // 100).astype(np.int64)  # 1 for men
    frailty = choose(weight_table([share for share, _ in FRAILTY]), draws.bits(CHUNK))
    usual = np.array([group.prevalence for group in groups()]).transpose(1, 2, 0)  # [sex, age, group], per thousand
    factor = np.array([tenths for _, tenths in FRAILTY])[:, None, None, None]
    chance = np.minimum(usual * factor // 10, HIGHEST_CHANCE) * ONE // 1000  # [frailty, sex, age, group]
    drawn = draws.bits(CHUNK * len(groups())).reshape(CHUNK, -1)
    has = drawn < chance[frailty, sex, age].astype(np.uint64)

    letters = [group.letter for group in groups()]
    has_first = has.copy()  # what comes along brings nothing further
    for first, second, share in COMORBIDITY:
        comes_along = draws.bits(CHUNK) < ONE * share // 1000
        has[:, letters.index(second)] |= has_first[:, letters.index(first)] & comes_along

    reason = draws.bits(CHUNK)  # whoever has nothing so far came for something
    well = ~has.any(axis=1)
    for s in range(len(SEXES)):
        for a in range(len(AGE_BANDS)):
            who = np.flatnonzero(well & (sex == s) & (age == a))
            has[who, choose(weight_table(usual[s, a]), reason[who])] = True
    return age, sex, has


def _draw_codes(
    draws: Draws, sex: NDArray[np.int64], has: NDArray[np.bool_], vocabulary: Vocabulary
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of patient and item: one to three codes for every group a patient has."""
    patient, group = np.nonzero(has)
    owners, numbers = [patient], [group]
    for share in FURTHER_CODES:
        again = draws.bits(len(patient)) < ONE * share // 1000
        owners.append(patient[again])
        numbers.append(group[again])
    owner, number = np.concatenate(owners), np.concatenate(numbers)
    bits = draws.bits(len(owner))
    item = np.empty(len(owner), dtype=np.int64)
    table = number * len(SEXES) + sex[owner]
    for g, group_ in enumerate(groups()):
        for s in range(len(SEXES)):
            here = np.flatnonzero(table == g * len(SEXES) + s)
            possible = [code for code in group_.codes if s in code.sexes]
            if len(here):
                weights = weight_table([code.weight for code in possible])
                item[here] = vocabulary.encode(code.label for code in possible)[choose(weights, bits[here])]
    return owner, item


def _draw_visits(data: Transactions, start: int, seed: int, chunk: int) -> Transactions:
    """Spread the codes of each patient over visits; chronic ones tend to come up again. Visits without codes fall
    away.
    """
    n_visits = np.minimum(1 + Draws(seed, 3, chunk).below(MOST_VISITS, data.n_records), data.lengths)  # [patients]
    is_chronic = np.array([code.chronic for code in sorted(_codes(), key=lambda code: code.label)])  # [items]
    owner, item = data.owners, data.items
    bits = Draws(seed, 4, chunk).bits(len(item))
    first = (bits * n_visits[owner].astype(np.uint64) >> np.uint64(32)).astype(np.int64)  # the visit a code is found at
    owners, items, visits = [owner], [item], [first]
    for visit in range(1, MOST_VISITS):
        coin = Draws(seed, 5, chunk, visit).bits(len(item)) < ONE // 2
        again = (first < visit) & (visit < n_visits[owner]) & is_chronic[item] & coin
        owners.append(owner[again])
        items.append(item[again])
        visits.append(np.full(int(again.sum()), visit))
    key = np.concatenate(owners) * MOST_VISITS + np.concatenate(visits)
    known, record = np.unique(key, return_inverse=True)
    patient = known // MOST_VISITS
    visit_number = np.arange(len(known)) - np.searchsorted(patient, patient)
    ids = tuple(f"{start + p + 1}-{v + 1}" for p, v in zip(patient.tolist(), visit_number.tolist(), strict=True))
    return Transactions.from_pairs(record, np.concatenate(items), len(known), data.vocabulary, ids, data.layout)
