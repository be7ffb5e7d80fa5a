"""Slips in what the owner asks for: lists that miss what they mean, and settings that protect nothing on this data.

What would be published unprotected by mistake is refused where the mistake is certain; else it is a warning, which goes
into the record of the run, its reports and the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Transactions
from setveil.core.vocabulary import as_read_aloud
from setveil.errors import InputError, name_some, warn
from setveil.models import PrivacyModel, declared
from setveil.models.registry import usual_model
from setveil.policy.selection import refuse_file_names
from setveil.releases import Release

INNER_MARKS = re.compile(r"(?<=\w)[\s._/\u2010-\u2015-]+(?=\w)")
ACCENTS = re.compile("[\u0300-\u036f]+")
WORD = re.compile(r"[^\W_]+")
NAME = re.compile(r"[^\W_].*[^\W_]", re.DOTALL)  # at least two signs, a letter or digit at both ends
CODE = re.compile(r"[^\W\d_]+\d\d\w*")  # letters, then two or more digits: B20, I10, C50


def check_request(data: Dataset, model: PrivacyModel) -> None:
    """Refuse, or warn about, lists and parameters that cannot mean what they say about these data."""
    check_model_lists(data, model)
    refuse_all_sensitive(data, getattr(model, "sensitive", ()))
    refuse_columns(model, [(column.name, column.role) for column in data.columns or ()])
    for doubt in model.doubts(data):
        warn(doubt)


def refuse_columns(model: PrivacyModel, columns: Sequence[tuple[str, str]]) -> None:
    """Refuse columns, given as name and role, that the model does not protect or that its algorithms cannot change."""
    model.check_columns(columns)
    is_known = any(role == "known" for _, role in columns)
    if is_known and model.known_columns == "class" and not model.generalizes_columns:
        raise InputError(
            f'the algorithms for model "{model.name}" do not generalize known columns; use model '
            f"{usual_model(True)} with m=all, or drop the columns with --drop."
        )


def refuse_all_sensitive(data: Dataset, sensitive: Sequence[str]) -> None:
    """Where everything is sensitive, nothing can be published."""
    if sensitive and data.n_items and set(sensitive).issuperset(data.vocabulary):
        raise InputError(
            "sensitive: the list names every item of the data, so nothing could be published; name fewer items."
        )


def check_model_lists(data: Dataset, model: PrivacyModel) -> None:
    """``check_lists`` for every list of items that a model has."""
    known = declared(type(model))
    given = {name: getattr(model, name) for name, one in known.items() if one.kind.is_list}
    lists = {name: None if value is None else known[name].kind.labels(value) for name, value in given.items()}
    check_lists(data, lists, [name for name in lists if known[name].protects])
    for name, value in given.items():
        labels_of = known[name].kind.labels
        if known[name].protects and value and not any(_all_occur(labels_of([one]), data) for one in value):
            warn(
                f"{name}: every line of the list has an item that is not in the data, so the list protects nothing. "
                "Check that it belongs to this data."
            )


def _all_occur(labels: Iterable[str], data: Dataset) -> bool:
    return all(label in data.vocabulary for label in labels)


def check_lists(
    data: Dataset, lists: Mapping[str, Iterable[str] | None], protecting: Sequence[str] = ("sensitive",)
) -> None:
    """Refuse lists of which the data has nothing, or only another spelling; warn about items it does not have."""
    for what, given in lists.items():
        labels = set(given or ())
        if what in protecting and what != "sensitive" and given is not None and not labels:
            raise InputError(
                f"{what}: the list is empty, so nothing would be protected; list what an attacker may know."
            )
        unknown = sorted(label for label in labels if label not in data.vocabulary)
        if what == "sensitive" and len(labels) == 1:
            refuse_file_names(unknown, data.vocabulary)
        if unknown and len(unknown) == len(labels):
            raise InputError(
                f"{what}: no item of the list is in the data: {name_some(unknown)}; nothing would "
                f"be protected. Check the spelling{_hint(data, unknown)}, and that the list belongs to this data."
            )
        if what in protecting:
            _check_spellings(data, what, labels, unknown)
        if what == "sensitive":
            _warn_about_resembling(data, labels)
        if unknown:
            warn(f"{what}: {name_some(unknown)} not in the data; check the spelling.")


def _hint(data: Dataset, unknown: Sequence[str]) -> str:
    near = resembling(data.vocabulary, unknown)
    return f" (the data has {name_some(near, 3)})" if near else ""


def _check_spellings(data: Dataset, what: str, labels: set[str], unknown: Sequence[str]) -> None:
    """Whoever names "flu" and has "Flu" in the data publishes it unprotected: a slip if "flu" is not there at all."""
    spellings = set(map(_spelling, labels))
    missed = [label for label in data.vocabulary if label not in labels and _spelling(label) in spellings]
    if not missed:
        return
    words = (
        f"{what}: {name_some(missed)} in the data differs from an item of the list in case, blanks, accents, "
        "punctuation or invisible characters only"
    )
    if set(map(_spelling, unknown)).intersection(map(_spelling, missed)):
        raise InputError(f"{words}, and would not be protected; write it as in the data.")
    warn(f"{words}, and is not protected; add it to the list, or correct the data.")


def _spelling(label: str) -> str:
    """A label without case, blanks, accents and invisible signs; "B20.0" and "b200" are alike, and so are "H.I.V." and
    "hiv"; 1.5 and 15 are not.
    """
    plain = as_read_aloud(label)
    letters = plain if plain.isascii() else ACCENTS.sub("", normalize("NFD", plain))
    bare = INNER_MARKS.sub("", letters).strip(".,:;!?") or plain
    return plain if bare.isdigit() else bare


def _warn_about_resembling(data: Dataset, labels: Iterable[str]) -> None:
    listed = set(labels)
    near = resembling((label for label in data.vocabulary if label not in listed), listed)
    spellings = set(map(_spelling, listed))
    near = [label for label in near if _spelling(label) not in spellings]  # of which more was said
    if near:
        warn(
            f"sensitive: {name_some(near)} in the data resembles an item of the list but is not on it, and is not "
            'protected; name it as well, or use a pattern such as "HIV*".'
        )


def resembling(labels: Iterable[str], named: Iterable[str]) -> list[str]:
    """Labels that hold all words of a named item in a row ("HIV positive" for "HIV"), or continue its code ("B200" for
    "B20"). Numbers are continued after a dot only ("250.01" for "250").
    """
    phrases, codes, numbers = set(), set(), set()
    for name in named:
        spelled = as_read_aloud(name)
        if spelled.isdigit():
            numbers.add(spelled)
        elif NAME.fullmatch(spelled):
            phrases.add(tuple(WORD.findall(spelled)))
        if CODE.fullmatch(bare := INNER_MARKS.sub("", spelled)):
            codes.add(bare)
    longest, lengths = max(map(len, phrases), default=0), sorted(set(map(len, codes)))
    found = []
    for label in labels:
        spelled = as_read_aloud(label)
        words, bare = WORD.findall(spelled), INNER_MARKS.sub("", spelled)
        if (
            any(tuple(words[i:j]) in phrases for i in range(len(words)) for j in range(i + 1, i + longest + 1))
            or any(bare[:length] in codes and bare[length : length + 1].isalnum() for length in lengths)
            or spelled.partition(".")[0] in numbers
        ):
            found.append(label)
    return found


def check_release(data: Dataset, release: Release, model: PrivacyModel) -> None:
    """Warn about a release that says the same of everybody, or that is the original."""
    if release.has_groups:  # which publishes other items as they are, and hides the sensitive ones
        return
    n_published, n_items = int((release.published.supports > 0).sum()), int((data.supports > 0).sum())
    if n_items > 1 and n_published <= 1:
        what = "everything is suppressed" if n_published == 0 else "everything is published as one item"
        warn(
            f"{what}: this release has no utility. Choose another algorithm or a smaller k; `setveil suggest` looks "
            "for what fits."
        )
    elif model.already_met and is_unchanged(data, release.published):
        warn(f"the published records are the original records: nothing was changed. {model.already_met}")


def is_unchanged(data: Dataset, published: Dataset) -> bool:
    """Whether records were published as they are. Of records on a cluster their counts by item are compared."""
    if published.n_occurrences != data.n_occurrences or not data.n_occurrences:
        return False
    number = published.vocabulary.numbers(data.vocabulary.labels)
    there = np.where(number >= 0, np.append(published.supports, 0)[number], 0)  # 0 where the label is not published
    if not np.array_equal(there, data.supports):
        return False
    return data.look(
        lambda before: published.look(lambda after: _are_same(before, after, number), lambda: True), lambda: True
    )


def _are_same(before: Transactions, after: Transactions, number: NDArray[np.int32]) -> bool:
    """Whether records are the same, where ``number`` tells the published item of each."""
    if not np.array_equal(after.indptr, before.indptr):
        return False
    mapped = number[before.items]
    order = np.lexsort((mapped, before.owners))  # published items may be numbered in another order
    return bool(np.array_equal(mapped[order], after.items))
