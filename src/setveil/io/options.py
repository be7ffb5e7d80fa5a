"""What a user may say about reading, declared once: command line, policy and page are made from ``READING``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from setveil.errors import InputError, name_option, one_line

if TYPE_CHECKING:
    from setveil.io.formats.base import Format

DELIMITERS = ",;\t|"
MISSING_RULES = ("drop", "value")
RATINGS = "::"  # two characters where all others are one


@dataclass(frozen=True)
class ReadingOption:
    """One option of reading: its name in Python and in a policy, its help and its label on the page."""

    name: str
    help: str
    label: str
    type: Any = str  # in a policy
    words: tuple[str, ...] = ()  # the only values it takes, if there are few

    @property
    def flag(self) -> str:
        """``--id-column``."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_switch(self) -> bool:
        """Whether it is said or not said, without a value."""
        return self.type is bool


READING = {
    option.name: option
    for option in (
        ReadingOption("format", "Layout: {formats}; detected otherwise.", "Layout"),
        ReadingOption(
            "delimiter", "What separates the fields of a table; tab for a tab.", "Delimiter (write “tab” for a tab)"
        ),
        ReadingOption(
            "id_column",
            "Column of record ids: a name, or a number from 1.",
            "Column that identifies a person",
            str | int,
        ),
        ReadingOption(
            "item_column", "Column of items in long tables: a name, or a number from 1.", "Column of items", str | int
        ),
        ReadingOption(
            "item_columns",
            'Columns of items in wide and one-hot tables, as in "dx*" or a,b,c.',
            "Columns of items, for example dx* or a,b,c",
            str | list[str],
        ),
        ReadingOption(
            "split", 'What separates the items of a cell that holds a list, as "|".', "Separator of items inside a cell"
        ),
        ReadingOption(
            "missing",
            'What words such as "?" or "NA" mean in the cells of a table: drop (absent) or value.',
            "Words for missing values: drop or value",
            words=MISSING_RULES,
        ),
        ReadingOption(
            "no_header", "The first line of the table is a row.", "The first line is data, not a header", bool
        ),
        ReadingOption("strip", "Remove blanks around labels.", "Remove blanks around labels", bool),
        ReadingOption(
            "encoding", "Encoding of the text, as latin-1; UTF-8 otherwise.", "Encoding, for example latin-1"
        ),
        ReadingOption(
            "labels_as_they_are",
            "Do not refuse labels that look like a slip (lists, ids, text).",
            "Accept the labels unchanged",
            bool,
        ),
    )
}
for _option in READING.values():
    if not _option.is_switch and _option.name != "format":  # the registry of formats declares that
        name_option(_option.name, " ".join(_option.words))


@dataclass(frozen=True)
class ReadOptions:
    """Everything a user may say about reading; ``None`` and ``False`` mean not said."""

    format: str | None = None
    delimiter: str | None = None
    id_column: str | None = None  # a name, or a number from 1
    item_column: str | None = None
    item_columns: tuple[str, ...] = ()  # names or globs
    split: str | None = None
    missing: str | None = None  # drop or value: what words for "missing" in the cells of a table mean
    no_header: bool = False
    strip: bool = False
    encoding: str | None = None
    labels_as_they_are: bool = False
    keep_ids: bool = False

    def checked(self) -> ReadOptions:
        """The same with format and delimiter as the readers know them; nonsense is refused."""
        if self.split == "":
            raise InputError('--split "": give what stands between the items of a cell, such as "|".')
        if self.missing not in (None, *MISSING_RULES):
            raise InputError(f'--missing takes {" or ".join(MISSING_RULES)}, not "{one_line(str(self.missing))}".')
        if self.item_column is not None and self.item_columns:
            raise InputError("--item-column names one column, --item-columns several; remove one of them.")
        from setveil.io.formats.registry import format_named

        return replace(
            self,
            format=None if self.format is None else format_named(self.format).name,
            delimiter=None if self.delimiter is None else check_delimiter(self.delimiter),
            missing=self.missing or ("value" if self.labels_as_they_are else None),
        )

    def check_for(self, format: Format) -> None:
        """Refuse what the format has no use for."""
        from setveil.io.formats.registry import FORMATS, listed

        for name in ("delimiter", "no_header", "item_columns", "id_column", "item_column", "keep_ids"):
            if getattr(self, name) and name not in format.takes:
                known = listed({one.name: one for one in FORMATS.values() if name in one.takes}, "and")
                is_one = name == "item_column" and "item_columns" in format.takes
                fix = "name the columns of items with --item-columns" if is_one else "remove it"
                raise InputError(f"--{name.replace('_', '-')} is for {known}, not for {format.name}; {fix}.")


def check_delimiter(delimiter: str) -> str:
    """One character as the user wrote it (``\\t`` and ``tab`` stand for a tab), or the ``::`` of rating files."""
    character = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if character == RATINGS:
        return character
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0' or character.isalnum():
        raise InputError(f"--delimiter {delimiter!r}: give one character, such as , or ; or \\t.")
    return character
