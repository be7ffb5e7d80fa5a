"""What a user may say about reading, declared once: command line, policy and page are made from ``READING``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from setveil.errors import InputError, name_option, one_line
from setveil.io.roles import HIERARCHIES, OLDER, OPTION_OF, Roles, names_in

if TYPE_CHECKING:
    from setveil.io.formats.base import Format

DELIMITERS = ",;\t|"
MISSING_RULES = ("drop", "value")
MISSING_PERSON_RULES = ("drop", "error")
PER_PERSON_RULES = ("first", "last", "min", "max", "most")
RATINGS = "::"  # two characters where all others are one


@dataclass(frozen=True)
class ReadingOption:
    """One option of reading: its name in Python and in a policy, its help and its label on the page."""

    name: str
    help: str
    label: str
    type: Any = str  # in a policy
    words: tuple[str, ...] = ()  # the only values it takes, if there are few
    is_role: bool = False  # says what columns are; a policy says that in its tables ``[columns.NAME]``
    is_repeated: bool = False  # on the command line

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
            "person", "Column that identifies a person: a name, or a number from 1.", "Person", str | int, is_role=True
        ),
        ReadingOption("item", 'Column of items, or several: a,b,c or "dx*".', "Items", str | list[str], is_role=True),
        ReadingOption(
            "known_columns",
            "Columns an attacker may know, as age,sex,region.",
            "Known columns",
            str | list[str],
            is_role=True,
        ),
        ReadingOption(
            "sensitive_columns",
            "Columns that an attacker must not learn.",
            "Sensitive columns",
            str | list[str],
            is_role=True,
        ),
        ReadingOption(
            "carry",
            "Columns that are published unchanged, outside the guarantee.",
            "Columns published unchanged",
            str | list[str],
            is_role=True,
        ),
        ReadingOption("drop", "Columns that are not read.", "Columns that are not read", str | list[str], is_role=True),
        ReadingOption(
            "column_hierarchy",
            "Hierarchy of a known column, as age=bands:5,10,20, day=date:month,year, zip=prefix:3,1, sex=flat or "
            "region=FILE; may be repeated.",
            "Hierarchies of known columns",
            str | list[str],
            is_role=True,
            is_repeated=True,
        ),
        ReadingOption("id_column", "Another name of --person.", "Column that identifies a person", str | int),
        ReadingOption("item_column", "Another name of --item, for one column.", "Column of items", str | int),
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
            "missing_person",
            "Rows without the id of a person: drop, or error (the default).",
            "Rows without the id of a person: drop or error",
            words=MISSING_PERSON_RULES,
        ),
        ReadingOption(
            "per_person",
            "Which value counts where a column differs between the rows of one person: first, last, min, max or most.",
            "Value per person: first, last, min, max or most",
            words=PER_PERSON_RULES,
        ),
        ReadingOption(
            "no_header", "The first line of the table is a row.", "The first line is data, not a header", bool
        ),
        ReadingOption("sheet", "Sheet of an Excel workbook, by its name.", "Sheet of a workbook"),
        ReadingOption("strip", "Remove blanks around labels.", "Remove blanks around labels", bool),
        ReadingOption(
            "encoding", "Encoding of the text, as latin-1; UTF-8 otherwise.", "Encoding, for example latin-1"
        ),
        ReadingOption(
            "labels_as_they_are",
            "Do not refuse labels that look like a mistake (lists, ids, text).",
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
    roles: Roles = field(default_factory=Roles)  # of all columns, those of persons and items included
    missing_person: str | None = None  # drop or error: rows without the id of a person
    per_person: str | None = None  # which value counts where the rows of a person differ
    no_header: bool = False
    sheet: str | None = None
    strip: bool = False
    encoding: str | None = None
    labels_as_they_are: bool = False
    keep_ids: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> ReadOptions:
        """From options as ``read`` takes them, roles of columns included."""
        known = {*READING, "keep_ids"}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise TypeError(f"{unknown[0]!r} is not an option of reading; there is {', '.join(sorted(known))}")
        by_themselves = known - {*OPTION_OF.values(), HIERARCHIES, *OLDER}
        return cls(
            **{name: given[name] for name in by_themselves if name in given},
            id_column=None if given.get("id_column") is None else str(given["id_column"]),
            item_column=None if given.get("item_column") is None else str(given["item_column"]),
            item_columns=names_in(given.get("item_columns")),
            roles=Roles.of(given),
        )

    def checked(self) -> ReadOptions:
        """The same with format and delimiter as the readers know them; nonsense is refused."""
        if self.split == "":
            raise InputError('--split "": give what separates the items of a cell, such as "|".')
        for name in ("missing", "missing_person", "per_person"):
            words, given = READING[name].words, getattr(self, name)
            if given not in (None, *words):
                raise InputError(
                    f'{READING[name].flag} takes {", ".join(words[:-1])} or {words[-1]}, not "{one_line(str(given))}".'
                )
        if self.item_column is not None and self.item_columns:
            raise InputError("--item-column names one column, --item-columns several; remove one of them.")
        from setveil.io.formats.registry import format_named, is_grid

        person, items = self.roles.person or self.id_column, self.roles.items
        if self.roles.person and self.id_column not in (None, self.roles.person):
            raise InputError("--person and --id-column name two columns, and they mean the same; remove one of them.")
        if items and (self.item_column or self.item_columns):
            raise InputError("--item and --item-column or --item-columns mean the same; remove one of them.")
        named = None if self.format is None else format_named(self.format).name
        is_one = len(items) == 1 and not is_grid(named) and not set(items[0]) & set("*?[")
        return replace(
            self,
            id_column=person,
            item_column=items[0] if is_one else self.item_column,
            item_columns=self.item_columns if is_one else items or self.item_columns,
            roles=self.roles.checked(person, items or self.item_columns or (self.item_column,)),
            format=named,
            delimiter=None if self.delimiter is None else check_delimiter(self.delimiter),
            missing=self.missing or ("value" if self.labels_as_they_are else None),
        )

    def check_for(self, format: Format) -> None:
        """Refuse what the format has no use for."""
        from setveil.io.formats.registry import FORMATS, listed

        for name in ("delimiter", "no_header", "item_columns", "id_column", "item_column", "keep_ids"):
            is_one_of_several = name == "item_column" and self.roles.items and "item_columns" in format.takes
            if getattr(self, name) and name not in format.takes and not is_one_of_several:
                known = listed({one.name: one for one in FORMATS.values() if name in one.takes}, "and")
                is_one = name == "item_column" and "item_columns" in format.takes
                fix = "name the columns of items with --item-columns" if is_one else "remove it"
                raise InputError(f"--{name.replace('_', '-')} is for {known}, not for {format.name}; {fix}.")
        for column in self.roles.columns:
            if "columns" not in format.takes:
                known = listed({one.name: one for one in FORMATS.values() if "columns" in one.takes}, "and")
                option = "--" + OPTION_OF[column.role].replace("_", "-")
                raise InputError(f"{option} is for {known}, not for {format.name}; remove it.")


def check_delimiter(delimiter: str) -> str:
    """One character as the user wrote it (``\\t`` and ``tab`` stand for a tab), or the ``::`` of rating files."""
    character = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if character == RATINGS:
        return character
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0' or character.isalnum():
        raise InputError(f"--delimiter {delimiter!r}: give one character, such as , or ; or \\t.")
    return character
