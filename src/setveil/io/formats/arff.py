"""ARFF, as Weka writes it: attributes are declared, rows are dense or sparse.

A declared attribute of two answers (``{f,t}``, ``{0,1}``, ``{t}``) is an item by its name; any other gives items
``name=value``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from setveil.errors import one_line, times
from setveil.io.formats.base import Format, Plan, Start
from setveil.io.options import ReadOptions
from setveil.io.transactions.cells import is_present, says_yes_or_no

if TYPE_CHECKING:
    from setveil.core.transactions import Transactions
    from setveil.io.source import Source

_WORD = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,{}'"%]+"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_WORD})\s+(.+)", re.IGNORECASE)
_VALUE = re.compile(rf"\s*({_WORD}|)\s*(,|$)")
_ENTRY = re.compile(rf"\s*([0-9]{{1,9}})\s+({_WORD})\s*(,|$)")


class Attribute(NamedTuple):
    """A declared column."""

    name: str
    values: tuple[str, ...]  # of a nominal one; empty for numbers and text
    is_item: bool  # two answers, so that its name alone is the item


def _sniff(start: Start) -> Plan | None:
    is_arff = re.match(rb"(?i)@relation\b|%.*(\n%.*)*\n\s*@relation\b", start.sample.lstrip())
    return Plan("arff", "the @relation line") if is_arff else None


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.core.transactions import Layout, Transactions

    attributes: list[Attribute] = []
    records: list[list[str]] = []
    is_sparse = False
    in_data = False
    used: set[int] = set()
    for line, text in _lines(source):
        if in_data:
            if text.startswith("{"):
                is_sparse = True
                entries = _sparse(source, text, line, len(attributes))
                _refuse_omitted(source, attributes, used, entries, line)
            else:
                entries = _dense(source, text, line, len(attributes))
            records.append(
                [
                    _item(source, attributes[place], value, line)
                    for place, value in entries
                    if place in used and _says(attributes[place], value)
                ]
            )
        elif text.lower().startswith("@attribute"):
            attributes.append(_attribute(source, text, line))
        elif text.lower().startswith("@data"):
            in_data = True
            used = set(_wanted(source, attributes, options.item_columns))
        elif not text.lower().startswith("@relation"):
            raise source.error("expected @attribute or @data; see the ARFF format.", line)
    if not records:
        raise source.error("the file holds no records.", None)
    data = Transactions.from_lists(records)
    names = tuple(attribute.name for attribute in attributes)
    kind = f"ARFF, {'sparse' if is_sparse else 'dense'} rows"
    notes = () if all(attributes[place].is_item for place in used) else ("items are attribute=value, ? is absent",)
    plan = Plan("arff", "the @attribute lines", names=names, item_positions=tuple(sorted(used)), notes=notes, kind=kind)
    return Transactions(data.indptr, data.items, data.vocabulary, layout=Layout("long")), plan


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for chunk, first in source.lines():
        for line, row in enumerate(chunk.decode().split("\n"), start=first):
            text = row.strip()
            if text and not text.startswith("%"):
                yield line, text


def _wanted(source: Source, attributes: list[Attribute], wanted: tuple[str, ...]) -> list[int]:
    from setveil.io.transactions.column_names import match_columns

    names = [attribute.name for attribute in attributes]
    if not names:
        raise source.error("no @attribute lines before @data.", None)
    return match_columns(names, wanted, source.name) if wanted else list(range(len(names)))


def _attribute(source: Source, text: str, line: int) -> Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise source.error("an @attribute line needs a name and a type.", line)
    name, kind = _bare(match.group(1)), match.group(2).strip()
    if not kind.startswith("{"):
        return Attribute(name, (), False)
    values = tuple(_bare(value.group(1)) for value in re.finditer(rf"({_WORD})", kind.strip("{} ")))
    return Attribute(name, values, says_yes_or_no(values) and any(map(is_present, values)))


def _dense(source: Source, text: str, line: int, width: int) -> list[tuple[int, str]]:
    values: list[str] = []
    place = 0
    while True:
        match = _VALUE.match(text, place)
        if match is None:
            raise source.error("a value that cannot be read; quote values with blanks or commas.", line)
        values.append(match.group(1))
        place = match.end()
        if not match.group(2):
            break
    if len(values) != width:
        raise source.error(f"the row has {times(len(values), 'value')}, {width} are declared.", line)
    return list(enumerate(values))


def _sparse(source: Source, text: str, line: int, width: int) -> list[tuple[int, str]]:
    entries = []
    if not text.endswith("}"):
        raise source.error("a sparse row does not end; close it with }.", line)
    inner = text.removeprefix("{").removesuffix("}").strip()
    place = 0
    while place < len(inner):
        match = _ENTRY.match(inner, place)
        if match is None or int(match.group(1)) >= width:
            raise source.error(
                "a sparse row needs entries such as {3 t, 7 t} with numbers of declared attributes.", line
            )
        entries.append((int(match.group(1)), match.group(2)))
        place = match.end()
    return entries


def _refuse_omitted(
    source: Source, attributes: list[Attribute], used: set[int], entries: list[tuple[int, str]], line: int
) -> None:
    """In a sparse row an attribute that is not named has its first declared value, which must then mean absent."""
    for place in used.difference(place for place, _ in entries):
        name, values, is_item = attributes[place]
        if values and (not is_item or is_present(values[0]) is not False):
            raise source.error(
                f'the sparse row omits "{one_line(name, 30)}", which in ARFF means its first declared value, '
                f'"{one_line(values[0], 30)}"; write dense rows, or declare the value for "absent" first.',
                line,
            )


def _says(attribute: Attribute, value: str) -> bool:
    """Whether a value gives an item; ``?`` without quotes is a missing one."""
    if value in ("?", ""):
        return False
    return not attribute.is_item or is_present(_bare(value)) is not False


def _item(source: Source, attribute: Attribute, value: str, line: int) -> str:
    text = _bare(value)
    if attribute.values and text not in attribute.values:
        raise source.error(f'"{one_line(text, 30)}" is not a declared value of "{one_line(attribute.name, 30)}".', line)
    return attribute.name if attribute.is_item else f"{attribute.name}={text}"


def _bare(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", word[1:-1]).strip()
    return word.strip()


ARFF = Format(
    "arff",
    "ARFF",
    _read,
    extensions=(".arff",),
    sniff=_sniff,
    takes=frozenset({"item_columns"}),
    entries="value",
)
