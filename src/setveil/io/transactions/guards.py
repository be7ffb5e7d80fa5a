"""Slips of a data steward that a reader can see: refused with the option that mends them.

A guard looks at labels and counts, and never at records one by one, so it costs next to nothing. Each either raises an
error that names the fix, or warns where both readings are possible. ``--labels-as-they-are``
(``labels_as_they_are=True``) switches all of them off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from setveil.core import Dataset, Transactions
from setveil.core.provenance import VISITS
from setveil.core.vocabulary import as_read_aloud
from setveil.errors import InputError, name_some, times, warn
from setveil.io.formats.base import Plan
from setveil.io.formats.registry import FORMATS, entries_of
from setveil.io.source import one_line
from setveil.io.transactions.cells import ABSENT, MISSING, NOBODY, PRESENT
from setveil.io.transactions.duplicates import describe_copies
from setveil.io.transactions.headers import (
    is_known_header,
    looks_like_ids,
    looks_like_items,
    numbered_columns,
    rank_of_ids,
    rank_of_items,
)

OFF = "or add --labels-as-they-are if they are meant"
LEAST_RECORDS = 20  # below, everything may be chance
SHARE_ALONE = 0.5  # of people whose value nobody else has
LOOKED_AT = 20_000  # labels, and records
DECIMAL = re.compile(r"[+-]?[0-9]+[.,][0-9]+(?:[eE][+-]?[0-9]+)?")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")
ICD9 = re.compile(r"[0-9]{3}(?:\.[0-9]{1,2})?")
DATE = re.compile(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{4})(?:[T ][0-9:.Z+-]+)?"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATED = re.compile(
    r"(?<![0-9])(?:19|20)[0-9]{2}([-/.])(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12][0-9]|3[01]))?(?![0-9])"
    r"|(?<![0-9])[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:19|20)[0-9]{2}(?![0-9])"
    rf"|(?i:(?<![a-z]){_MONTH}\.?[ /-](?:[0-9]{{1,2}},? )?(?:19|20)[0-9]{{2}}(?![0-9]))"
)
_NAME_WORD = r"(?:[^\W\d_a-z][^\W\d_A-Z]*[a-z][^\W\d_]*(?:[-'’][^\W\d_]+)?|[A-Z]\.)"
NAME = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr)\.? )?{_NAME_WORD},?(?: (?:{_NAME_WORD}|von|van|de|da|del|der|di|la|el|bin)){{1,3}}"
)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
WHOLE_ID = re.compile(r"0*([0-9]+)(?:\.0*)?")
MORE_THAN_ONCE = "people may be in the data more than once"
CODE = re.compile(r"[A-Z0-9][A-Z0-9._-]*")

Guard: TypeAlias = Callable[[Dataset, Plan], Iterable[str] | None]


class _SlipError(Exception):
    """What is wrong, and how to mend it; without where."""


class Findings(NamedTuple):
    """What the guards found and did not refuse."""

    warnings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()  # what puts a guarantee in question, to follow "but"

    def joined(self, others: Findings) -> Findings:
        """Both."""
        return Findings((*self.warnings, *others.warnings), (*self.doubts, *others.doubts))


def check(data: Dataset, plan: Plan, where: str) -> Findings:
    """Every guard: the first slip is an error, doubts are warnings."""
    if not data.n_items:
        return Findings()
    try:
        found = [text for guard in GUARDS for text in guard(data, plan) or ()]
        twice = [*(_tell_copies(data, plan) or ()), *_tell_other_spellings(plan)]
    except _SlipError as slip:
        raise InputError(f"{where}: {slip}; {OFF}.") from None
    texts = tuple(f"{where}: {text}" for text in (*found, *twice))
    for text in texts:
        warn(text)
    return Findings(texts, (MORE_THAN_ONCE,) if twice else ())


def _of_records(guard: Callable[[Transactions, Plan], Iterable[str] | None]) -> Guard:
    """A guard that looks at records, where they can be looked at."""
    return lambda data, plan: data.look(lambda rows: guard(rows, plan), lambda: None)


def _refuse_answers(data: Dataset, plan: Plan) -> None:
    """Baskets of TRUE and FALSE, or of 0 and 1, are the rows of a matrix."""
    labels = data.vocabulary.labels
    words, entries = {label.strip().lower() for label in labels[:20]}, entries_of(plan)
    if len(labels) > 10 or len(words) > 3 or data.n_records < 3:
        return
    if words <= PRESENT | ABSENT | {"?"} and len(words) > 1 and entries == "line":
        raise _SlipError(f"all items are {name_some(labels)}: this is a matrix; use --format onehot")
    if words == {"0", "1"} and entries in ("line", "cell") and data.n_records >= LEAST_RECORDS:
        raise _SlipError("all items are 0 and 1: this is a matrix; use --format onehot")


def _refuse_table_as_baskets(data: Dataset, plan: Plan) -> None:
    """Equally long lines that say the same twice are rows of a table: a set has everything once."""
    is_plain = entries_of(plan) == "line"
    if is_plain and data.n_records >= LEAST_RECORDS and plan.n_rows >= 1.25 * data.n_occurrences > 0:
        raise _SlipError(
            f"all lines have {plan.n_rows // data.n_records} cells and most repeat one, as rows of a table do; "
            "use --format table --no-header for items column=value, --format onehot, or --format long",
        )


@_of_records
def _refuse_header_as_record(data: Transactions, plan: Plan) -> None:
    """Baskets, or rows said to have no header, whose first line names columns."""
    is_headless = entries_of(plan) == "row" and not plan.has_header
    if not (entries_of(plan) == "line" or is_headless) or data.n_records < 3:
        return
    first = [data.vocabulary[int(item)] for item in data.record(0)]
    if is_headless and len(first) == 1 and looks_like_items(first[0]) and data.supports[data.record(0)[0]] == 1:
        raise _SlipError(f'the first line ends in "{one_line(first[0], 30)}", as a header does; remove --no-header')
    if len(first) < 2 or any(data.supports[item] > 1 for item in data.record(0)):
        return
    is_table = any(map(looks_like_ids, first)) and (any(map(looks_like_items, first)) or len(first) > 2)
    if is_table or is_known_header(first) or any(len(run) > 1 for run in numbered_columns(first).values()):
        shown = name_some((one_line(name, 30) for name in first), 4)
        raise _SlipError(
            f"the first line ({shown}) looks like the header of a table, not like a basket; use --format long or "
            "--format wide (onehot, table), or remove the line",
        )


def _refuse_swapped_columns(data: Dataset, plan: Plan) -> Iterator[str]:
    """Items taken for people: by the names of the columns, or because there are many more items than people."""
    if not plan.item_positions or plan.id_position is None or entries_of(plan) != "row":
        return
    if rank_of_items(plan.id_name) and rank_of_ids(plan.item_name) > 1:
        raise _SlipError(
            f'people are taken from "{one_line(plan.id_name)}" and items from "{one_line(plan.item_name)}"; '
            "swap --person and --item",
        )
    if (
        data.n_records >= LEAST_RECORDS
        and data.n_items >= 5 * data.n_records
        and data.n_occurrences >= 2 * data.n_items
    ):
        yield (
            f"{data.n_items:,} items for {data.n_records:,} people; if ids and items are in the wrong columns, swap "
            "--person and --item."
        )


def _refuse_one_record(data: Dataset, plan: Plan) -> None:
    """All rows belong to one person: the id column is another one."""
    if data.n_records != 1 or max(data.n_occurrences, plan.n_rows) < LEAST_RECORDS:
        return
    fix = "name another with --person" if entries_of(plan) == "row" else "write one record per line, or use --format"
    raise _SlipError(f"everything belongs to one record{f' ({plan.id_name})' if plan.id_name else ''}; {fix}")


def _refuse_lists(data: Dataset, plan: Plan) -> None:
    """Cells that hold several items: the list would be published as one label."""
    if entries_of(plan) in ("answer", "value", None):
        return
    labels = _some(data)
    is_single = data.n_occurrences <= 1.2 * data.n_records
    if len(labels) < 3 or data.n_records < 3:
        return
    for separator in "|;,".replace(plan.delimiter, ""):  # what holds the delimiter was quoted, and meant
        lists = [label for label in labels if separator in label and _is_made_of_items(data, label, separator)]
        if len(lists) >= 3 and 20 * len(lists) >= len(labels):
            raise _SlipError(
                f'{len(lists):,} labels are lists of other items, as "{one_line(lists[0], 40)}", as in files with two '
                f'delimiters; add --split "{separator}" to split them',
            )
    for separator in "|;,":
        if _are_lists(labels, separator) and (is_single or (separator != "," and _pieces_recur(labels, separator))):
            shown = one_line(next(label for label in labels if separator in label), 40)
            raise _SlipError(f'most items hold a list, as "{shown}"; add --split "{separator}" to split them')
    if is_single and _are_lists(labels, " ") and _pieces_recur(labels, " "):
        words = [word for label in labels for word in label.split()]
        n_codes = sum(bool(CODE.fullmatch(word)) and any(map(str.isdigit, word)) for word in words)
        if n_codes >= 0.8 * len(words):
            shown = one_line(next(label for label in labels if " " in label.strip()), 40)
            raise _SlipError(f'most items hold codes between blanks, as "{shown}"; add --split " " to split them')


def _is_made_of_items(data: Dataset, label: str, separator: str) -> bool:
    return all(piece.strip() in data.vocabulary for piece in label.split(separator))


def _are_lists(labels: Iterable[str], separator: str) -> bool:
    known = list(labels)
    n_with = sum(separator in label.strip() for label in known)
    return 2 * n_with > len(known) and (separator != "," or _pieces_recur(known, separator))


def _pieces_recur(labels: Iterable[str], separator: str) -> bool:
    """Whether the same pieces come in several labels, as items of lists do and parts of names do not."""
    pieces = [piece.strip() for label in labels for piece in label.split(separator) if piece.strip()]
    return len(set(pieces)) <= 0.8 * len(pieces)


def _refuse_decimals(data: Dataset, plan: Plan) -> None:
    """Measurements, prices and dates are no items; ICD-9 codes look like them and are."""
    labels = _some(data)
    if entries_of(plan) in ("answer", "value") or len(labels) < 3:
        return
    if all(map(DATE.fullmatch, labels)):
        raise _SlipError(f"all items are dates ({name_some(labels, 3)}); {_other(plan)}")
    if not all(map(NUMBER.fullmatch, labels)):
        return
    n_decimals = sum(bool(DECIMAL.fullmatch(label)) for label in labels)
    if 2 * n_decimals >= len(labels) and not all(map(ICD9.fullmatch, labels)):
        raise _SlipError(
            f"all items are numbers with decimals ({name_some(labels, 3)}), as measurements are; {_other(plan)}"
        )


def _refuse_free_text(data: Dataset, _: Plan) -> None:
    """Sentences are no items: each is about one person."""
    labels = _some(data)
    if data.n_records < 3 or len(labels) < 3:
        return
    n_words = sum(len(label.split()) for label in labels)
    size = sum(map(len, labels))
    if (
        n_words >= 6 * len(labels)
        and size >= 30 * len(labels)
        and 10 * len(labels) >= 9 * min(data.n_occurrences, LOOKED_AT)
    ):
        raise _SlipError("the items are free text, and almost all differ; convert the text to codes or words first")


def _refuse_unique_items(data: Dataset, plan: Plan) -> None:
    """A column in which (almost) every value is its own tells people apart and has nothing in common."""
    if data.n_records < LEAST_RECORDS or data.n_occurrences < LEAST_RECORDS:
        return
    n_once = int((data.supports == 1).sum())
    if n_once >= 0.95 * data.n_items and data.n_items >= 0.9 * data.n_occurrences:
        what = f" ({plan.item_name})" if plan.item_name else ""
        turned = ", or swap --person and --item" if entries_of(plan) == "row" else ""
        raise _SlipError(
            f"{n_once:,} of {data.n_items:,} items{what} occur once only, as ids or times do; {_other(plan)}{turned}",
        )


@_of_records
def _warn_about_other_columns(data: Transactions, plan: Plan) -> Iterator[str]:
    """Ids or ages among the items: (almost) every record has equally many, and other items besides."""
    bounds = data.indptr[: LOOKED_AT + 1]
    n_filled = int((np.diff(bounds) > 0).sum())
    if entries_of(plan) == "answer" or n_filled < LEAST_RECORDS:
        return
    items, place = np.unique(data.items[: bounds[-1]], return_inverse=True)
    labels = [data.vocabulary[int(item)] for item in items]
    kinds = {
        "that nobody else has, such as an id": data.supports[items] == 1,
        "that is a number": np.array([label.isdecimal() for label in labels]),
    }
    for what, is_such in kinds.items():
        n_such = np.diff(np.concatenate(([0], np.cumsum(is_such[place])))[bounds])  # [records]
        n_others = len(place) - int(n_such.sum())
        if 2 * n_others >= n_filled and np.bincount(n_such)[1:].max(initial=0) >= 0.95 * n_filled:
            shown = one_line(labels[int(np.argmax(is_such))], 30)
            yield f'nearly every record has an item {what} ("{shown}"). If it is not an item, {_other(plan)}.'
            return


def _warn_about_nobody(_: Dataset, plan: Plan) -> Iterator[str]:
    """Rows whose id says that nobody knows whose they are would become one person. Tables have a rule for them."""
    if plan.is_table:
        return
    for word, n_rows in (plan.ids.nobody if plan.ids else {}).items():
        if n_rows > 1:
            yield (
                f'{n_rows:,} rows have the id "{word}" and are read as one person. If it means that the id is '
                "missing, remove these rows, or give each its own id."
            )


def _tell_other_spellings(plan: Plan) -> Iterator[str]:
    """One person under two spellings is two records, and hides among fewer people than k. Ids are not shown."""
    ids = plan.ids.first - NOBODY if plan.ids else frozenset[str]()
    name = one_line(plan.id_name)
    n_spelt_again = len(ids) - len(set(map(as_read_aloud, ids)))
    if n_spelt_again:
        yield (
            f'{times(n_spelt_again, "id")} in "{name}" with the same letters as another, but other case, blanks or '
            "invisible signs: each is read as one person. If they are the same people, correct the data."
        )
    numbers = [match for match in map(WHOLE_ID.fullmatch, ids) if match]
    n_spelt_again = len(numbers) - len({match[1] for match in numbers})
    if n_spelt_again:
        yield (
            f'{times(n_spelt_again, "id")} in "{name}" with the same number as another, but with zeros before it or '
            "after a "
            "decimal point (007 and 7, 17 and 17.0): each is read as one person. If they are the same people, correct "
            "the data."
        )


@_of_records
def _tell_copies(data: Transactions, plan: Plan) -> Iterator[str]:
    """Joined exports: whoever is there twice hides behind herself."""
    copies = describe_copies(data)
    if copies:
        yield f"{copies}, or add --labels-as-they-are if they are different people."


def _refuse_header_again(data: Dataset, plan: Plan) -> None:
    """Names of columns as a person and an item: two tables below each other, each with its header. Files are read line
    by line and name the line, if it is the same to the letter.
    """
    ids = plan.ids.first if plan.has_header and plan.ids and plan.id_name else ()
    if as_read_aloud(plan.id_name) not in set(map(as_read_aloud, ids)):
        return
    if as_read_aloud(plan.item_name) in set(map(as_read_aloud, data.vocabulary)):
        raise _SlipError(
            f'a row has the names of the columns, "{one_line(plan.id_name)}" and "{one_line(plan.item_name)}", as '
            "in tables that were joined with their headers; remove such rows",
        )


def _refuse_row_as_header(data: Dataset, plan: Plan) -> None:
    """A first line whose cells occur again below, in their own columns, is a row, and its person would be lost."""
    if not plan.has_header or not plan.is_table or is_known_header(plan.names):
        return
    names = [plan.names[place] for place in plan.item_positions]
    if entries_of(plan) in ("row", "cell"):
        again = [name for name in names if name in data.vocabulary]
    else:
        again = [name for name in names if f"{name}={name}" in data.vocabulary]
    if 2 * len(again) > len(names):
        raise _SlipError(
            f"the first line is read as the names of the columns, but {name_some(again, 3)} "
            "occurs again below it, so it looks like a row; use --no-header, or put a header such as id,item above it",
        )


def _warn_about_header(_: Dataset, plan: Plan) -> Iterator[str]:
    """A first line that may be a person."""
    if plan.is_header_doubtful:
        yield (
            f"the first line ({name_some((one_line(name, 30) for name in plan.names), 4)}) is read as the names of the "
            "columns, not as a person. Is it a row? Use --no-header."
        )


def _warn_about_dates(data: Dataset, plan: Plan) -> Iterator[str]:
    """Items that say when: an attacker often knows that, and hardly two people share it."""
    if data.n_records < LEAST_RECORDS:
        return
    dated = [item for item, label in enumerate(data.vocabulary) if DATED.search(label)]
    n_entries = int(data.supports[dated].sum())
    shown = one_line(data.vocabulary[dated[0]], 30) if dated else ""
    if len(dated) >= 3 and (50 * len(dated) >= data.n_items or 20 * n_entries >= data.n_records):
        yield (
            f'{len(dated):,} of {data.n_items:,} items carry a date or month, as "{shown}". Attackers '
            f"often know when something happened. Take the date out of the items, or {_other(plan)}."
        )


def _warn_about_names(data: Dataset, plan: Plan) -> Iterator[str]:
    """Items that look like people's names or addresses, and that hardly two people share. Items are published."""
    if data.n_records < LEAST_RECORDS:
        return
    for what, pattern in (("names of people", NAME), ("e-mail addresses", EMAIL)):
        such = [
            item for item, label in enumerate(data.vocabulary) if pattern.fullmatch(label.rpartition("=")[2].strip())
        ]
        n_entries = int(data.supports[such].sum())
        if len(such) >= 10 and 20 * len(such) >= data.n_records and n_entries <= 1.5 * len(such):
            shown = _column_of(data.vocabulary[such[0]], plan)
            yield (
                f"{len(such):,} items{shown} look like {what}, and hardly any is shared by two people. Items are "
                f"published: if they name people, {_other(plan)}."
            )


def _column_of(label: str, plan: Plan) -> str:
    if entries_of(plan) == "value":
        return f' in column "{one_line(label.rpartition("=")[0], 30)}"'
    return f' in "{one_line(plan.item_name, 40)}"' if plan.item_name else ""


def _refuse_unused_people(_: Dataset, plan: Plan) -> None:
    """Every row a person where people have a column: several records of one person weaken every k."""
    people = [name for name in plan.unused if rank_of_ids(name) == 3]
    if people and plan.id_position is None and plan.item_positions:
        name = one_line(people[0])
        raise _SlipError(
            f'every row is read as one person, and "{name}" is not used; use --person "{name}" for one record of each '
            f'person, --drop "{name}"',
        )


def tell_visits(plan: Plan, where: str, is_meant: bool = False) -> Findings:
    """Records of visits where people have a column that is not read: k counts visits then. Nobody is warned of what is
    meant, but it stays a doubt.
    """
    left = (*plan.unused, *(plan.names[column.place] for column in plan.columns if column.role == "drop"))
    people = [name for name in left if rank_of_ids(name) == 3]
    if not people or plan.id_position is None or rank_of_ids(plan.id_name) == 3:
        return Findings()
    person = one_line(people[0], 40)
    text = (
        f'{where}: {VISITS}: a record is what one "{one_line(plan.id_name, 40)}" has, and "{person}" is not used. A '
        f'person with several visits hides among fewer than k people. Use --person "{person}" for one record of each '
        "person."
    )
    if is_meant:
        return Findings(doubts=(VISITS,))
    warn(text)
    return Findings((text,), (VISITS,))


def _warn_about_published_ids(data: Dataset, _: Plan) -> Iterator[str]:
    """Values that hardly two people share, in columns that are published unchanged, are ids, whatever they are."""
    for column in data.columns or ():
        n_alone = int((column.counts == 1).sum())
        if column.role in ("carry", "sensitive") and n_alone > SHARE_ALONE * data.n_records >= LEAST_RECORDS / 2:
            yield (
                f'column "{one_line(column.name, 40)}" is published unchanged, and {n_alone:,} of {data.n_records:,} '
                "people have a value that nobody else has, as ids are: an attacker who knows this value finds the "
                "record. Drop the column with --drop, or make its values coarser."
            )


def _warn_about_row_numbers(data: Dataset, plan: Plan) -> Iterator[str]:
    """Row numbers for people: with one item each nobody can be found by two, and everything looks safe."""
    is_pair = entries_of(plan) == "row" and plan.id_position is not None and len(plan.item_positions) == 1
    if is_pair and data.n_records == data.n_occurrences >= LEAST_RECORDS:
        yield (
            f'every "{one_line(plan.id_name)}" has one item only, as if rows were counted; if people have '
            "several, name their column with --person."
        )


def _warn_about_full_columns(data: Dataset, plan: Plan) -> Iterator[str]:
    """A count that nobody has 0 of is an age or a postcode rather than an item."""
    if entries_of(plan) != "answer" or data.n_records < LEAST_RECORDS:
        return
    full = [label for label, support in zip(data.vocabulary, data.supports, strict=True) if support == data.n_records]
    if full:
        yield (
            f"everybody has {name_some(map(one_line, full))}; if that is not an item, name the columns that are "
            "with --item-columns."
        )


def _warn_about_missing(data: Dataset, plan: Plan) -> Iterator[str]:
    """Words for "missing" in baskets are labels like any other; the user should know. Tables have a rule for them."""
    if entries_of(plan) != "line" or data.n_records < LEAST_RECORDS:
        return
    found = sorted(label for label in MISSING if label in data.vocabulary)
    if found:
        yield f'{name_some(found)} is read as an item; remove such fields if they mean "missing".'


def _some(data: Dataset) -> tuple[str, ...]:
    """Labels, not too many, from the whole vocabulary."""
    labels = data.vocabulary.labels
    return labels if len(labels) <= LOOKED_AT else labels[:: len(labels) // LOOKED_AT]


def _other(plan: Plan) -> str:
    if entries_of(plan) in ("cell", "answer", "value"):
        return "name the columns of the items with --item-columns"
    if plan.layout in FORMATS and "item_column" in FORMATS[plan.layout].takes:
        return "name the column of the items with --item"
    return "give items that people share"


GUARDS: tuple[Guard, ...] = (
    _refuse_answers,
    _refuse_table_as_baskets,
    _refuse_header_as_record,
    _refuse_swapped_columns,
    _refuse_one_record,
    _refuse_header_again,
    _refuse_row_as_header,
    _refuse_lists,
    _refuse_decimals,
    _refuse_free_text,
    _refuse_unique_items,
    _warn_about_missing,
    _warn_about_other_columns,
    _warn_about_names,
    _warn_about_dates,
    _warn_about_nobody,
    _warn_about_header,
    _refuse_unused_people,
    _warn_about_published_ids,
    _warn_about_row_numbers,
    _warn_about_full_columns,
)
