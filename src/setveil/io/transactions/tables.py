"""What a table means: its delimiter, whether it has a header, which columns hold ids and items.

The first lines are looked at as rows of text. What they show is put into a ``Plan`` with the evidence; what they do
not show is asked for, naming the options that say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from setveil.errors import InputError, name_some, times
from setveil.io.formats.base import Plan
from setveil.io.options import RATINGS, ReadOptions
from setveil.io.source import Source, one_line
from setveil.io.transactions.ambiguous_columns import (
    ROLES,
    refuse_forgotten_person,
    refuse_other_items,
    refuse_two_items,
    refuse_two_people,
    refuse_unnamed_people,
)
from setveil.io.transactions.cells import are_counts, are_rounded, says_yes_or_no
from setveil.io.transactions.column_names import find_column, match_columns, stated_columns
from setveil.io.transactions.delimiters import Cells, choose_delimiter, first_rows
from setveil.io.transactions.headers import (
    guess_pair,
    is_known_header,
    is_turned_round,
    looks_like_ids,
    looks_like_items,
    numbered_columns,
    rank_of_ids,
    rank_of_items,
    surest_ids,
)
from setveil.io.transactions.missing import WORDS

COUNTS_NOTE = "counts above 0 mean present"
LEAST_ZEROS = 0.5  # a table of counts without names that say so must be as empty as this
PAIR_OPTIONS = "--person and --item"


class Look:
    """The first rows of a table and what can be seen in them; columns with a stated role are not looked at."""

    def __init__(self, source: Source, options: ReadOptions, delimiter: str) -> None:
        self.source, self.delimiter, self.top = source, delimiter, f"{source.name}:1"
        rows = first_rows(source, source.sample(), delimiter)
        while len(rows) > 1 and rows[-1] == [""]:
            rows.pop()
        self.all_names = _names(rows[0], options)
        self.columns, options = stated_columns(self.all_names, options, self.top)
        self.options = options
        stated = {column.place for column in self.columns}
        self.positions = [place for place in range(len(rows[0])) if place not in stated]
        self.rows = [[row[place] for place in self.positions if place < len(row)] for row in rows] if stated else rows

    @property
    def first(self) -> list[str]:
        """The first line."""
        return self.rows[0]

    @property
    def body(self) -> Cells:
        """What is below the header."""
        return self.rows if self.options.no_header else self.rows[1:]

    @cached_property
    def width(self) -> int:
        """The number of fields of every row; 0 if they differ."""
        widths = {len(row) for row in self.rows}
        return widths.pop() if len(widths) == 1 else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; numbers from 1 where there is no header."""
        return tuple(self.all_names[place] for place in self.positions)

    def column(self, place: int, rows: Cells | None = None) -> list[str]:
        """The cells of a column."""
        return [row[place] for row in (self.body if rows is None else rows) if place < len(row)]

    def is_yes_or_no(self, place: int) -> bool:
        """Whether the column holds two answers."""
        return says_yes_or_no(set(self.column(place)))

    def plan(self, layout: str, evidence: str, id_position: int | None, positions: Iterable[int], *notes: str) -> Plan:
        """The decision."""
        if id_position is not None and not self.options.labels_as_they_are and are_rounded(self.column(id_position)):
            raise self.ask(
                f'the ids in "{one_line(self.names[id_position], 40)}" were rounded by a spreadsheet, as '
                f"{one_line(self.column(id_position)[0], 30)}, so that people become one; export them as text."
            )
        return Plan(
            layout, evidence, self.delimiter, self.all_names, not self.options.no_header,
            None if id_position is None else self.positions[id_position],
            tuple(self.positions[place] for place in positions), notes, columns=self.columns,
        )  # fmt: skip

    def ask(self, what: str) -> InputError:
        """An error that asks the user."""
        return self.source.error(what, 1)

    def shown(self) -> str:
        """The header in a message."""
        text = f"the header has {times(len(self.first), 'column')}"
        if 1 < len(self.first) <= 20:
            text += f" ({name_some((one_line(name, 30) for name in self.first), 20)})"
        return text


def plan_table(source: Source, options: ReadOptions, layout: str | None = None, evidence: str = "") -> Plan:
    """The plan of a delimited file; ``layout`` if it is known, with the evidence."""
    delimiter = options.delimiter or choose_delimiter(source, layout, options)
    if layout == "basket":
        if source.suffix == [".basket"] and re.search(rb", ", source.sample()):
            notes = ("blanks around labels removed",)
            return Plan(layout, evidence, delimiter, notes=notes, kind="baskets as Orange has them")
        return Plan(layout, evidence, delimiter)
    look = Look(source, options, delimiter)
    if look.first[0].lower() == "sep=" or look.first[0].lower().startswith("sep=" + delimiter):
        raise look.ask('the first line is a note for a spreadsheet ("sep="); remove it.')
    if look.first == [""] and not options.no_header:
        raise look.ask("the first line is empty, but must hold the names of the columns; remove it.")
    if layout is None:
        return _detect(look)
    if layout == "long":
        return _plan_long(look, evidence)
    return _plan_columns(look, layout, evidence)


# -- the layout -------------------------------------------------------------------------------------------------------


def _detect(look: Look) -> Plan:
    options = look.options
    if options.item_columns:
        positions = match_columns(look.names, options.item_columns, look.top)
        layout = "onehot" if all(map(look.is_yes_or_no, positions)) else "wide"
        return _plan_columns(look, layout, "--item-columns" + (" and 0/1 cells" if layout == "onehot" else ""))
    if options.item_column is not None and options.id_column is None and look.columns and look.width == 1:
        return _plan_columns(look, "wide", "--item")
    if options.item_column is not None:
        return _plan_long(look, "--item")
    for detect in (_ratings, _known_header, _matrix, _numbered, _named_pair):
        plan = detect(look)
        if plan is not None:
            return plan
    if options.id_column is not None or (options.no_header and look.width == 2):
        return _plan_long(look, "--person" if options.id_column else "--no-header and two columns")
    if options.no_header:
        raise look.ask(
            f"{len(look.first)} columns have no names; state which columns hold ids and items, as in --person 1 "
            "--item 2, or use --format wide, onehot or table."
        )
    if look.width == 2:
        return _two_columns(look)
    trimmed = [_trimmed(row) for row in look.rows]
    recurs = not set(trimmed[0]).isdisjoint(cell for row in trimmed[1:] for cell in row)
    if recurs and len({len(row) for row in trimmed}) > 1:
        padding = "" if look.width == 0 else ", empty cells at their ends aside,"
        return Plan(
            "basket",
            f"lines that{padding} differ in length and items of the first line that occur again",
            look.delimiter,
        )
    raise look.ask(_what_could_it_be(look))


def _ratings(look: Look) -> Plan | None:
    """``user::item::rating::time``, which needs no header to be known."""
    if look.delimiter != RATINGS or look.width != 4 or look.options.id_column is not None:
        return None
    if not all(cell.isdigit() for row in look.rows for cell in (row[0], row[1], row[3])):
        return None
    names = ("user", "item", "rating", "time")
    return Plan("long", "rows of user::item::rating::time", RATINGS, names, False, 0, (1,))


def _known_header(look: Look) -> Plan | None:
    if look.options.no_header or not (is_known_header(look.first) or is_turned_round(look.first)):
        return None
    return _plan_long(look, "the header")


def _matrix(look: Look) -> Plan | None:
    """A column per item, 0 and 1 or other answers or counts in it; perhaps a column of ids."""
    if look.width < 3 or len(look.rows) < 2 or look.options.item_column is not None:
        return None
    if not look.options.no_header and not look.columns and _is_matrix_all_over(look):
        bare = Look(look.source, replace(look.options, no_header=True), look.delimiter)
        return bare.plan(
            "onehot", f"{_answers(bare, range(bare.width))} in every cell, the first line too", None, range(bare.width)
        )
    answers = [place for place in range(look.width) if look.is_yes_or_no(place) and not _are_named_ids(look, place)]
    others = [place for place in range(look.width) if place not in answers]
    id_position = _only_ids(look, others)
    if len(others) <= 1 and (not others or id_position is not None) and _has_names_above(look, answers):
        if id_position is None and look.options.id_column is not None:
            return None
        positions = [place for place in answers if place != id_position]
        return look.plan("onehot", f"{_answers(look, positions)} in every cell below the names", id_position, positions)
    return _counts(look)


def _is_matrix_all_over(look: Look) -> bool:
    columns = [set(look.column(place, look.rows)) for place in range(look.width)]
    repeats = sum(len(set(row)) < len(row) for row in look.rows)
    return all(map(says_yes_or_no, columns)) and 2 * repeats >= len(look.rows)


def _counts(look: Look) -> Plan | None:
    named = {place for place in range(look.width) if rank_of_ids(look.names[place])}
    positions = [place for place in range(look.width) if place not in named]
    if len(named) > 1 or len(positions) < 3 or not _has_names_above(look, positions):
        return None
    cells = [cell for place in positions for cell in look.column(place)]
    if not are_counts(set(cells)) or not cells:
        return None
    if not all({"0", ""} & set(look.column(place)) for place in positions):  # a column without any 0 is no item
        return None
    n_zeros = sum(cell.strip() in ("0", "") for cell in cells)
    if n_zeros < LEAST_ZEROS * len(cells):
        return None
    evidence = f"counts below names, {100 * n_zeros // len(cells)} % of them 0"
    return look.plan("onehot", evidence, min(named) if named else None, positions, COUNTS_NOTE)


def _has_names_above(look: Look, positions: Sequence[int]) -> bool:
    """Whether the first line names the columns: no answer, no number, nothing twice."""
    if look.options.no_header:
        return True
    names = [look.first[place] for place in positions]
    bad = [name for name in names if not name.strip() or name.isdigit() or says_yes_or_no([name])]
    return not bad and len(set(names)) == len(names)


def _only_ids(look: Look, others: Sequence[int]) -> int | None:
    """The one column that is no item, if it holds ids: by the user's word, its name, or because no two rows share
    one.
    """
    if look.options.id_column is not None:
        return find_column(look.names, look.options.id_column, "--person", look.top)
    if len(others) != 1:
        return None
    cells = look.column(others[0])
    is_named = not look.options.no_header and (looks_like_ids(look.first[others[0]]) or not look.first[others[0]])
    has_gaps = any(not cell.strip() or cell.strip() in WORDS for cell in cells)
    return others[0] if is_named or (len(set(cells)) == len(cells) > 1 and not has_gaps) else None


def _are_named_ids(look: Look, place: int) -> bool:
    """Whether a column that could be an item by its cells holds ids: its name says so, and no two rows share one."""
    cells = look.column(place)
    return not look.options.no_header and rank_of_ids(look.first[place]) > 0 and len(set(cells)) == len(cells)


def _answers(look: Look, positions: Iterable[int]) -> str:
    seen = sorted({cell.strip() for place in positions for cell in set(look.column(place))} - {""})
    return " or ".join(one_line(cell, 10) for cell in seen[:4])


def _numbered(look: Look) -> Plan | None:
    """``id, age, dx1 … dx8``."""
    if look.options.no_header or look.width == 0:
        return None
    runs = numbered_columns(look.first)
    if not runs:
        return None
    if len(runs) > 1:
        globs = " or ".join(f'--item-columns "{one_line(stem)}*"' for stem in list(runs)[:4])
        raise look.ask(f"several groups of numbered columns; state which columns hold items: {globs}.")
    ((stem, positions),) = runs.items()
    if not look.options.item_columns:
        refuse_other_items(look.names, stem, positions, look.top)
    if all(map(look.is_yes_or_no, positions)):
        glob = f'"{one_line(stem)}*"'
        raise look.ask(f"columns {glob} hold {_answers(look, positions)}; use --format onehot --item-columns {glob}.")
    return look.plan(
        "wide",
        f"columns {one_line(look.first[positions[0]])} to {one_line(look.first[positions[-1]])}",
        _id_of_rows(look, positions),
        positions,
    )


def _id_of_rows(look: Look, positions: Sequence[int]) -> int | None:
    """The column of ids in a table with one row per record; None if rows have none."""
    if look.options.id_column is not None:
        return find_column(look.names, look.options.id_column, "--person", look.top)
    if not look.options.no_header:
        refuse_two_people(look.names, positions, look.top)
        if (place := surest_ids(look.names, positions)) is not None:
            return place
    if positions and look.width and not look.options.labels_as_they_are:
        refuse_unnamed_people(look.names, positions, look.body, look.top)
    return None


def _named_pair(look: Look) -> Plan | None:
    """Known names among more than two columns: used and said, with the options for another choice."""
    options = look.options
    if options.no_header or len(look.first) < 3 or len(set(look.first)) < len(look.first):
        return None
    if not set(look.first).isdisjoint(cell for row in look.body for cell in row):
        return None
    if options.id_column is None and options.item_column is None:
        pair = guess_pair(look.first)
        refuse_two_people(look.first, (pair.item_place,) if pair else (), look.top)
    else:
        pair = None
    if options.id_column is not None:
        id_position = find_column(look.names, options.id_column, "--person", look.top)
        items = sorted(
            (-rank_of_items(name), place)
            for place, name in enumerate(look.first)
            if rank_of_items(name) and place != id_position
        )
        refuse_two_items(look.first, id_position, look.top)
        return look.plan("long", "the column names", id_position, (items[0][1],)) if items else None
    if pair is None:
        ids = [place for place, name in enumerate(look.first) if rank_of_ids(name) >= 2]
        if len(ids) == 1:
            refuse_two_items(look.first, ids[0], look.top)
        return None
    refuse_two_items(look.first, pair.id_position, look.top)
    change = "for other columns use --person NAME and --item NAME"
    return look.plan("long", "the column names", pair.id_position, (pair.item_place,), change)


def _two_columns(look: Look) -> Plan:
    if looks_like_rows(look.first, look.body):
        raise look.ask(
            "the first line looks like a row: these are ids and items, or baskets of two; use --format long "
            "--no-header, or --format basket."
        )
    ids, items = set(look.column(0)), set(look.column(1))
    header = look.first
    is_header = look.body and "" not in header and header[0] not in ids and header[1] not in items
    if is_header and not any(name.isdigit() for name in header):
        if all(text.isdigit() for text in ids):
            return _plan_long(look, "names above ids that are numbers")
        if len(ids) < len(look.body) and ids.isdisjoint(items):
            return _plan_long(look, "names above ids that repeat and are not items")
    if 2 * len(ids) <= len(look.body):  # as baskets every row would be a person
        raise look.ask(
            "values of the first column repeat as ids of people do, but the header does not say so; use --format long "
            "(with --no-header if the first line is a row)."
        )
    raise look.ask(
        "rows can be ids and items, or baskets of two items; use --format long (with --no-header if "
        "the first line is a row) or --format basket."
    )


def _what_could_it_be(look: Look) -> str:
    """The question where nothing decides. Baskets are never proposed for answers, nor for lines that say the same
    twice.
    """
    if look.options.delimiter is not None and all(len(row) == 1 for row in look.rows):
        return f'"{one_line(look.delimiter)}" does not occur; omit --delimiter, or name what separates the fields.'
    if [""] in look.rows:
        line = look.rows.index([""]) + 1
        return f"line {line} is empty, as between two tables or above a note; keep one table per file."
    if look.width < 3:
        return "the file may be a table or baskets; use --format long or --format basket."
    headed = " --no-header" if _first_is_row(look) else ""
    if 2 * sum(map(look.is_yes_or_no, range(look.width))) >= look.width:
        return (
            f"some columns hold yes or no, others more; use --format table{headed} for items column=value, or "
            f"--format onehot{headed} with --item-columns for the columns that are items."
        )
    others = (
        f"--format long{headed} with {PAIR_OPTIONS}, --format wide{headed} with --item-columns, or --format "
        f"table{headed} for items column=value."
    )
    if 2 * sum(len(set(row)) < len(row) for row in look.rows) >= len(look.rows):
        return f"the content of the columns is not clear, and lines that repeat a value are not baskets; use {others}"
    values = [set(look.column(place)) for place in range(look.width)]
    if len(look.body) > 4 and sum(map(len, values)) == len(set().union(*values)):
        return (
            "the content of the columns is not clear, and no value occurs in two of them, as items of baskets do; "
            f"use {others}"
        )
    return f"the file may be a table or baskets; use --format basket if lines are baskets, {others}"


def _first_is_row(look: Look) -> bool:
    """Whether the first line is made like the others, or most of its cells occur again in their columns."""
    n_again = sum(look.first[place] in look.column(place) for place in range(look.width))
    return 2 * n_again > look.width or looks_like_rows(look.first, look.body)


def looks_like_rows(first: Sequence[str], body: Cells) -> bool:
    """Whether a first line is made like the lines below: the same letters and digits by kind in every column, with a
    digit.
    """
    if not body or any(len(row) != len(first) for row in body):
        return False
    shapes = [_shape(cell) for cell in first]
    if not any("9" in shape for shape in shapes):
        return False
    return all([_shape(cell) for cell in row] == shapes for row in body[:200])


def _shape(cell: str) -> str:
    return re.sub(r"a+", "a", re.sub(r"9+", "9", re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", cell))))


# -- the columns of a known layout -------------------------------------------------------------------------------------


def _plan_long(look: Look, evidence: str) -> Plan:
    """Where ids and items stand; without names they are the two columns of a table that has no more."""
    options, names, header = look.options, look.names, look.first
    shown = look.shown()
    if options.id_column is None and options.item_column is None:
        pair = None if len(header) == 2 else _named_pair(look)
        if pair is not None:
            return pair
        if len(header) != 2:
            hint = f"state which columns hold ids and items with {PAIR_OPTIONS}"
            if len(header) < 2:
                hint = f'write a header of two columns separated by "{one_line(look.delimiter)}", or use --delimiter'
            elif options.no_header:
                hint = "state which columns hold ids and items, as in --person 1 --item 2"
            raise look.ask(f"{shown}; {hint}.")
        if not options.no_header:
            if any(name.isascii() and name.isdigit() for name in header):
                raise look.ask(
                    "the first line holds a number, not column names; use --no-header, or put a header such as "
                    "id,item above."
                )
            if is_turned_round(header):
                raise look.ask(f"{shown}, the ids seem to come second; use {PAIR_OPTIONS}.")
            if not is_known_header(header) and looks_like_rows(header, look.body):
                raise look.ask(
                    "the first line looks like a row; use --no-header, or put a header such as id,item above it."
                )
        plan = look.plan("long", evidence, 0, (1,))
        return replace(plan, is_header_doubtful=_is_doubtful(look))
    id_position, item_place = (
        None if name is None else find_column(names, name, option, look.top, shown)
        for option, name in (("--person", options.id_column), ("--item", options.item_column))
    )
    if id_position is None or item_place is None:
        if len(header) != 2:
            guessed = _named_pair(look) if item_place is None else None
            if guessed is not None:
                return guessed
            if item_place is None:
                raise look.ask(f"{shown}; add --item for the items. {ROLES}.")
            refuse_two_people(names, (item_place,), look.top)
            refuse_forgotten_person(names, look.top)
            raise look.ask(f"{shown}; add --person for the people. {ROLES}.")
        id_position = 1 - item_place if id_position is None and item_place is not None else id_position
        item_place = 1 - id_position if item_place is None and id_position is not None else item_place
    assert id_position is not None and item_place is not None
    if id_position == item_place:
        raise look.ask("ids and items cannot be in the same column; correct --person or --item.")
    return look.plan("long", evidence, id_position, (item_place,))


def _is_doubtful(look: Look) -> bool:
    """Whether a first line may well be a row: no name is a usual one, and ids below are no numbers."""
    if look.options.no_header or looks_like_ids(look.first[0]) or looks_like_items(look.first[1]):
        return False
    return not all(cell.strip().isdigit() for cell in look.column(0))


def _plan_columns(look: Look, layout: str, evidence: str) -> Plan:
    """Wide, one-hot, or column=value: one row per record, items in several columns."""
    names, options = look.names, look.options
    if not options.no_header:
        _refuse_number_names(look, layout)
    if options.item_columns:
        positions = match_columns(names, options.item_columns, look.top)
        id_position = _id_of_rows(look, positions)
    else:
        id_position = _id_of_rows(look, ())
        positions = [place for place in range(len(names)) if place != id_position]
        if layout == "wide" and not options.no_header:
            runs = [place for run in numbered_columns(look.first).values() for place in run]
            positions = sorted(runs) or positions
            if id_position in positions:
                id_position = None
        if layout == "onehot" and id_position is None:
            id_position = _only_ids(
                look,
                [
                    place
                    for place in positions
                    if not look.is_yes_or_no(place) and not are_counts(set(look.column(place)))
                ],
            )
            positions = [place for place in positions if place != id_position]
    positions = [place for place in positions if place != id_position]
    if not positions:
        raise look.ask(f"{look.shown()} and none is left for items; correct --item-columns.")
    unnamed = [place for place in positions if not names[place].strip()]
    if unnamed and layout != "wide":
        raise look.ask(f"column {unnamed[0] + 1} has no name; name it, or use --no-header if the first line is a row.")
    notes: tuple[str, ...] = ()
    if layout == "onehot" and not all(map(look.is_yes_or_no, positions)):
        notes = (COUNTS_NOTE,)
    if layout == "table":
        notes = ("empty cells are absent",)
    if not look.options.no_header and len(set(look.names)) != len(look.names):
        raise look.ask("two columns have the same name; rename one, or use --no-header if the first line is a row.")
    return look.plan(layout, evidence, id_position, positions, *notes)


def _refuse_number_names(look: Look, layout: str) -> None:
    """A first line of answers or numbers is a row."""
    first = [cell for cell in look.first if cell.strip()]
    if first and (all(map(_is_number, first)) or (layout == "onehot" and says_yes_or_no(first))):
        raise look.ask("the first line holds values, not column names; use --no-header, or put a header above.")


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", text.strip()))


def _names(first: Sequence[str], options: ReadOptions) -> tuple[str, ...]:
    return tuple(str(place + 1) for place in range(len(first))) if options.no_header else tuple(first)


def _trimmed(row: Sequence[str]) -> list[str]:
    """Without the empty cells at the end."""
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return list(row[:end])
