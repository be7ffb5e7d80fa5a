"""Frames of any library as transactions: a list per row, one row per (id, item), several columns of items, one column
per item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.threads import map_in_order
from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError, name_some, times, warn
from setveil.io.formats.base import Plan
from setveil.io.formats.registry import FORMATS, is_grid
from setveil.io.options import ReadOptions
from setveil.io.source import one_line
from setveil.io.transactions.ambiguous_columns import (
    refuse_other_items,
    refuse_two_items,
    refuse_two_people,
    refuse_unnamed_people,
)
from setveil.io.transactions.cells import are_counts, says_yes_or_no
from setveil.io.transactions.column_names import match_columns, stated_columns
from setveil.io.transactions.columns import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    LIST,
    OTHER,
    SCALARS,
    TEXT,
    Frame,
    ListRows,
    cell_of,
    null_error,
    row_of_item,
)
from setveil.io.transactions.grids import GridRows, read_grid
from setveil.io.transactions.headers import (
    guess_pair,
    is_turned_round,
    looks_like_ids,
    numbered_columns,
    rank_of_ids,
    surest_ids,
)
from setveil.io.transactions.labels import (
    Ids,
    Labels,
    Numbered,
    Rows,
    Tokens,
    assemble_records,
    assemble_rows,
    joined,
    number_apart,
)
from setveil.io.transactions.missing import MissingCells
from setveil.io.transactions.people import ColumnCells, finish_people
from setveil.io.transactions.tables import COUNTS_NOTE

LOOKED_AT = 2_000  # rows that are asked about


def from_frame(
    frame: Frame, options: ReadOptions, *, in_file: bool = False, evidence: str = ""
) -> tuple[Transactions, Plan]:
    """Transactions from a frame, and what its columns were taken for; ``in_file`` if it stands in a Parquet file."""
    plan = plan_frame(frame, options, evidence)
    if is_grid(plan.layout):
        layout = Layout("parquet", item_column="items") if in_file else Layout()
        return read_grid(FrameGrid(frame, plan), plan, options, layout)
    place = plan.item_positions[0]
    names = frame.names
    if plan.layout == "lists":
        id_column = "id" if plan.id_position is None else names[plan.id_position]
        layout = Layout("parquet", id_column=id_column, item_column=names[place])
        return _from_lists(frame, plan, options, layout if in_file else Layout())
    assert plan.id_position is not None
    layout = Layout("parquet", id_column=names[plan.id_position], item_column=names[place], long=True)
    kinds = [frame.kind(column) for column in range(len(names))]
    missing = MissingCells(options)
    data, rows = _from_long(frame, kinds, plan, options, layout if in_file else Layout(), missing)
    cells = _cells_of_people(frame, plan, MissingCells(options, is_stripped=True, like=missing))
    notes = (*plan.notes, *missing.report(frame.where, frame.n_rows))
    data, dropped = finish_people(data, rows, cells, plan, options, frame.where)
    return data, replace(plan, n_rows=frame.n_rows, ids=rows.seen, notes=(*notes, *dropped), is_table=True)


def _cells_of_people(frame: Frame, plan: Plan, missing: MissingCells | None) -> ColumnCells:
    cells = ColumnCells(plan, missing)
    for parts in zip(*map(frame.cells, cells.positions), strict=True):
        pairs = zip(cells.positions, parts, strict=True)
        cells.take([number_apart(_refuse_nul(frame, place, part)) for place, part in pairs])
    return cells


def plan_frame(frame: Frame, options: ReadOptions, evidence: str = "") -> Plan:
    """What the columns mean; those with a stated role are not looked at."""
    columns, options = stated_columns(frame.names, options, frame.where)
    if not columns:
        return _plan_frame(frame, options, evidence)
    stated = {column.place for column in columns}
    positions = [place for place in range(len(frame.names)) if place not in stated]
    plan = _plan_frame(frame.part(positions), options, evidence)
    return replace(
        plan,
        names=tuple(frame.names),
        id_position=None if plan.id_position is None else positions[plan.id_position],
        item_positions=tuple(positions[place] for place in plan.item_positions),
        columns=columns,
    )


def _plan_frame(frame: Frame, options: ReadOptions, evidence: str) -> Plan:
    """What the columns mean: the user's word, a list column, 0 and 1 in every column, numbered columns, or the
    names.
    """
    names = frame.names
    if not names:
        raise InputError(f"{frame.where}: the frame has no columns.")
    named = options.format if options.format and "no_header" in FORMATS[options.format].takes else None
    before = f"{evidence} and " if evidence else ""
    kinds = [frame.kind(column) for column in range(len(names))]
    id_position = None if options.id_column is None else _find(frame, options.id_column, "--person")
    item_place = None if options.item_column is None else _find(frame, options.item_column, "--item")

    def plan(layout: str, why: str, positions: Sequence[int], notes: tuple[str, ...] = ()) -> Plan:
        kind = "a frame with a list column" if layout == "lists" else ""
        return Plan(layout, before + why, "", tuple(names), True, id_position, tuple(positions), notes, kind)

    lists = [column for column, kind in enumerate(kinds) if kind == LIST]
    if (
        named in (None, "long")
        and not options.item_columns
        and (item_place in lists if item_place is not None else lists)
    ):
        if item_place is None and len(lists) > 1:
            shown = name_some(names[column] for column in lists)
            raise InputError(f"{frame.where}: several list columns ({shown}); name the items with --item.")
        place = lists[0] if item_place is None else item_place
        id_position = _id_of_lists(frame, kinds, place) if id_position is None else id_position
        return plan("lists", "the list column", (place,))
    if item_place is not None and id_position is None and len(names) == 1 and options.roles.columns:
        return plan("wide", "item", (item_place,))
    if is_grid(named) or options.item_columns:
        return _plan_columns(frame, options, kinds, named, plan, id_position)
    if item_place is None and named is None:
        hot = _plan_one_hot(frame, kinds, id_position)
        if hot is not None:
            id_position, positions, why, notes = hot
            return plan("onehot", why, positions, notes)
        runs = numbered_columns(names)
        if len(runs) == 1 and len(names) > 2:
            (positions,) = runs.values()
            refuse_other_items(names, next(iter(runs)), positions, frame.where)
            id_position = _id_of_rows(names, positions, frame.where) if id_position is None else id_position
            return plan(
                "wide", f"columns {one_line(names[positions[0]])} to {one_line(names[positions[-1]])}", positions
            )
    why = "its two columns" if len(names) == 2 else "id_column and item_column"
    if (id_position is None or item_place is None) and len(names) > 2:
        pair = guess_pair(names) if len(set(names)) == len(names) else None
        if id_position is None:
            refuse_two_people(names, (pair.item_place,) if pair and item_place is None else (), frame.where)
        if item_place is None:
            ids = [place for place, name in enumerate(names) if rank_of_ids(name) >= 2]
            refuse_two_items(names, id_position if id_position is not None else ids[0] if ids else None, frame.where)
        if pair is not None and item_place is None and (id_position is None or id_position == pair.id_position):
            id_position, item_place, why = pair.id_position, pair.item_place, "the names of its columns"
    id_position, item_place = _two_columns(frame, id_position, item_place)
    return plan("long", why, (item_place,))


def _plan_columns(
    frame: Frame,
    options: ReadOptions,
    kinds: list[str],
    named: str | None,
    plan: Callable[..., Plan],
    id_position: int | None,
) -> Plan:
    positions = list(range(len(frame.names)))
    if options.item_columns:
        positions = match_columns(frame.names, options.item_columns, frame.where)
    if id_position is None:
        id_position = _id_of_rows(frame.names, positions if options.item_columns else (), frame.where)
    if named == "wide" and not options.item_columns:
        positions = sorted(place for run in numbered_columns(frame.names).values() for place in run) or positions
    positions = [place for place in positions if place != id_position]
    if id_position is None and positions and not options.labels_as_they_are:
        refuse_unnamed_people(frame.names, positions, _first_rows(frame, positions), frame.where)
    if not positions:
        raise InputError(f"{frame.where}: no column is left for items; correct --item-columns.")
    layout = named or ("onehot" if all(_is_hot(frame, kinds[place], place) for place in positions) else "wide")
    made = plan(layout, f"--format {named}" if named else "--item-columns", positions)
    return replace(made, id_position=id_position)


def _first_rows(frame: Frame, without: Sequence[int]) -> list[list[str]]:
    """The first rows as text; columns that are not needed are left empty."""
    columns: list[list[str]] = []
    n_rows = min(frame.n_rows, LOOKED_AT)
    for place in range(len(frame.names)):
        is_needed = place not in without and frame.kind(place) in (*SCALARS, OTHER)
        tokens = next(frame.cells(place), None) if is_needed and n_rows else None
        columns.append([""] * n_rows if tokens is None else [tokens.text(row).decode() for row in range(n_rows)])
    return [list(row) for row in zip(*columns, strict=True)]


def _id_of_rows(names: Sequence[str], positions: Sequence[int], where: str) -> int | None:
    refuse_two_people(names, positions, where)
    return surest_ids(names, positions)


def _id_of_lists(frame: Frame, kinds: Sequence[str], items: int) -> int | None:
    """The ids beside a list column, detected from their name: several rows may be visits of one person."""
    if "id" in frame.names:
        return frame.names.index("id")
    groups = [place for place, name in enumerate(frame.names) if name == "group"]  # of a published grouping
    place = _id_of_rows(frame.names, (items, *groups), frame.where)
    others = [place for place, kind in enumerate(kinds) if place not in (items, *groups) and kind in SCALARS]
    if place is None and len(others) == 1 and len(frame.names) == 2 and _repeats(frame, others[0]):
        name = one_line(frame.names[others[0]])
        warn(
            f'{frame.where}: every row is read as one person, and "{name}" is not used. If it identifies people, use '
            f'--person "{name}"; otherwise --drop "{name}".'
        )
    return place


def _repeats(frame: Frame, place: int) -> bool:
    """Whether a value comes twice among the first rows of a column."""
    numbers = Labels().number(next(frame.cells(place))) if frame.n_rows else np.empty(0, dtype=np.int32)
    return len(np.unique(numbers)) < len(numbers)


def _plan_one_hot(
    frame: Frame, kinds: list[str], id_position: int | None
) -> tuple[int | None, list[int], str, tuple[str, ...]] | None:
    """Every column an item, but for one with ids; None if the columns are something else."""
    candidates = [place for place in range(len(kinds)) if place != id_position]
    answers = []
    for place in candidates:
        missing = frame.first_null(place)
        if (missing is not None and kinds[place] == TEXT) or not _is_hot(frame, kinds[place], place):
            continue
        if missing is not None:
            raise null_error(frame, place, missing)
        answers.append(place)
    if frame.n_rows == 2:  # ids 0 and 1 look like answers
        answers = [place for place in answers if kinds[place] != INTEGER or not rank_of_ids(frame.names[place])]
    others = [place for place in candidates if place not in answers]
    if id_position is None and len(others) == 1 and len(answers) > 1 and looks_like_ids(frame.names[others[0]]):
        id_position, others = others[0], []
    if not answers or (not others and id_position is not None and len(answers) < 2):
        return None
    if others:
        if len(others) == len(candidates) or not all(_is_count(frame, kinds[place], place) for place in others):
            return None
        return id_position, candidates, "counts in every column", (COUNTS_NOTE,)
    if len(kinds) == 2 and id_position is None and INTEGER in kinds:
        raise InputError(
            f"{frame.where}: two columns of 0 and 1 can be two items, or ids and items; convert them to "
            "booleans or to text."
        )
    return id_position, answers, "0 and 1 in every column", ()


def _is_hot(frame: Frame, kind: str, place: int) -> bool:
    """Whether a column holds two answers only, missing values aside."""
    if kind in (BOOLEAN, INTEGER, FLOAT):
        return frame.has_only_0_and_1(place)
    if kind != TEXT or frame.n_rows == 0:
        return False
    answers = Labels()
    for cells in frame.cells(place):
        answers.number(cells)
        if len(answers.number_of) > 4:
            return False
    return says_yes_or_no(answers.texts())


def _is_count(frame: Frame, kind: str, place: int) -> bool:
    if kind != INTEGER or looks_like_ids(frame.names[place]):
        return False
    counts = Labels()
    n_zeros = 0
    for cells in frame.cells(place):
        numbers = counts.number(cells)
        zero = counts.number_of.get(b"0", -1)
        n_zeros += int((numbers == zero).sum())
    return are_counts(counts.texts()) and 2 * n_zeros >= frame.n_rows


class FrameGrid:
    """A frame, some rows at a time."""

    def __init__(self, frame: Frame, plan: Plan) -> None:
        self.frame, self.plan, self.where = frame, plan, frame.where
        if plan.layout != "wide":
            for place in plan.item_positions:
                frame.label(place)  # refuses names that are no labels
            if len(set(frame.names)) != len(frame.names):
                raise InputError(f"{frame.where}: two columns have the same name; rename one.")

    def parts(self) -> Iterator[GridRows]:
        used = {*self.plan.item_positions, self.plan.id_position, *(column.place for column in self.plan.read_columns)}
        positions = sorted(place for place in used if place is not None)
        start = 0
        for cells in zip(*map(self._cells, positions), strict=True):
            n_rows = len(cells[0].starts)
            yield GridRows(
                n_rows,
                dict(zip(positions, cells, strict=True)).__getitem__,
                lambda row, start=start: f"{self.frame.where}: row {start + row + 1}",  # type: ignore[misc]
            )
            start += n_rows

    def _cells(self, place: int) -> Iterator[Tokens]:
        return (_refuse_nul(self.frame, place, cells) for cells in self.frame.cells(place))

    def check_ids(self, part: GridRows, tokens: Tokens, ids: Ids) -> None:
        if not ids.first_empty and (tokens.lengths == 0).any():
            ids.first_empty = part.where(int(np.argmin(tokens.lengths)))


def _find(frame: Frame, name: str, option: str) -> int:
    if frame.names.count(name) != 1:
        found = "no column" if name not in frame.names else f"{frame.names.count(name)} columns"
        raise InputError(
            f'{frame.where}: {found} "{one_line(name)}" among {name_some(map(one_line, frame.names), 20)}; '
            f"correct {option}."
        )
    return frame.names.index(name)


def _two_columns(frame: Frame, given_id: int | None, given_item: int | None) -> tuple[int, int]:
    if given_id is None or given_item is None:
        if len(frame.names) != 2:
            raise InputError(
                f"{frame.where}: {times(len(frame.names), 'column')} ({name_some(map(one_line, frame.names), 20)}) and "
                "none holds lists; state which columns hold ids and items with --person and --item."
            )
        if given_id is None and given_item is None and is_turned_round(frame.names):
            raise InputError(
                f"{frame.where}: the ids seem to be in the second column; state which columns hold ids and items with "
                "--person and --item."
            )
        given_id = given_id if given_id is not None else 0 if given_item is None else 1 - given_item
        given_item = given_item if given_item is not None else 1 - given_id
    if given_id == given_item:
        raise InputError(f"{frame.where}: ids and items cannot be in the same column.")
    return given_id, given_item


def _from_lists(frame: Frame, plan: Plan, options: ReadOptions, layout: Layout) -> tuple[Transactions, Plan]:
    id_position, place, labels = plan.id_position, plan.item_positions[0], Labels()
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    n_seen = 0

    def read(part: ListRows) -> tuple[ListRows, Numbered]:
        return part, number_apart(_refuse_nul(frame, place, part.tokens))

    for part, items in map_in_order(read, frame.lists(place)):
        if (items.numbers < 0).any():
            empty = int(np.argmin(items.numbers))
            row = n_seen + row_of_item(part.lengths, empty)
            raise InputError(f"{cell_of(frame, place, row)}: an item label is empty; give every item a name.")
        numbers.append(labels.merge(items))
        lengths.append(part.lengths)
        n_seen += len(part.lengths)
    n_items = joined(lengths, np.int64)
    missing = MissingCells(options, is_stripped=True)
    cells = _cells_of_people(frame, plan, missing)
    if id_position is None:
        if options.keep_ids:
            raise InputError(f"{frame.where}: there is no id column to keep; name it with --person.")
        rows = Rows(np.arange(frame.n_rows), frame.n_rows)
        data = assemble_rows(n_items, joined(numbers, np.int32), labels.texts(), layout)
    else:
        rows = _rows(frame, id_position, options)
        owners = rows._replace(of_row=np.repeat(rows.of_row, n_items))
        data = assemble_records(owners, joined(numbers, np.int32), labels.texts(), layout)
    notes = missing.report(frame.where, frame.n_rows)
    data, dropped = finish_people(data, rows, cells, plan, options, frame.where)
    return data, replace(plan, notes=(*plan.notes, *notes, *dropped))


def _from_long(
    frame: Frame, kinds: list[str], plan: Plan, options: ReadOptions, layout: Layout, missing: MissingCells
) -> tuple[Transactions, Rows]:
    id_position, place = plan.id_position, plan.item_positions[0]
    assert id_position is not None
    for column in (id_position, place):
        if kinds[column] not in SCALARS and not (column == id_position and options.missing_person == "drop"):
            for _ in frame.texts(column):  # null and NaN have a message of their own
                break
            raise InputError(
                f'{frame.where}: column "{one_line(frame.names[column])}" holds neither text nor whole numbers; '
                "convert it to text."
            )
    labels = Labels()

    def read(tokens: Tokens) -> Numbered:
        return number_apart(_refuse_nul(frame, place, tokens))

    name = frame.names[place]
    numbers = [labels.merge(missing.take(items, name)) for items in map_in_order(read, frame.texts(place))]
    rows = _rows(frame, id_position, options)
    return assemble_records(rows, joined(numbers, np.int32), labels.texts(), layout), rows


def _rows(frame: Frame, place: int, options: ReadOptions) -> Rows:
    ids = Ids()
    n_seen = 0
    is_dropped = options.missing_person == "drop"  # then null is an empty id
    for tokens in frame.cells(place) if is_dropped else frame.texts(place):
        wrong = np.flatnonzero(((tokens.lengths == 0) & (not is_dropped)) | (tokens.lengths > 4096))
        if len(wrong):
            raise InputError(
                f"{cell_of(frame, place, n_seen + int(wrong[0]))}: the id is empty or longer than 4,096 bytes."
            )
        ids.add(number_apart(_refuse_nul(frame, place, tokens)))
        n_seen += len(tokens.starts)
    return ids.rows(options.keep_ids)


def _refuse_nul(frame: Frame, column: int, tokens: Tokens) -> Tokens:
    if not tokens.buffer.all():
        raise InputError(f'{frame.where}: a NUL character in column "{one_line(frame.names[column])}"; remove it.')
    return tokens
