"""A code system: chapters and blocks by ranges of categories, and what a code looks like.

A code is its *category* (``E11``, ``250``, ``V45``, ``A10``) and a rest (``9``), with or without a dot between them.
Its chapter and block follow from the category by the ranges of the table. Further groups follow from the characters:
``E11.-`` holds all codes of a category, ``E11.3-`` all that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

TABLES = Path(__file__).with_name("tables")
MARKS = "*+!#†‡"  # behind a code: dagger and asterisk of ICD-10, additional codes
LETTERS_FOR_DIGITS = str.maketrans("OIL", "011")
DIGITS_FOR_LETTERS = str.maketrans("01", "OI")


@dataclass(frozen=True)
class Block:
    """A chapter or block of a table."""

    label: str  # "E10-E14 Diabetes"
    ranges: tuple[tuple[str, str], ...]  # first and last category
    above: int  # number of the block that it belongs to, -1 for a chapter
    depth: int  # 0 for a chapter

    def reaches(self, category: str) -> str:
        """The first category of the range that has the category; ``""`` if none has."""
        return next((low for low, high in self.ranges if low <= category[: len(low)] <= high), "")


@dataclass(frozen=True)
class CodeSystem:
    """A code system, declared once: everything that knows codes asks it."""

    name: str  # in --hierarchy
    title: str  # in texts
    about: str  # one line on what it is for
    category: str  # pattern of a category
    rest: str  # pattern of what may follow, in capitals, without a dot
    levels: tuple[int, ...]  # lengths of prefixes that are groups, besides categories
    example: str
    has_dot: bool = True  # between category and rest; it may always be missing
    padded: str = ""  # pattern of categories whose leading zeros spreadsheets drop

    @cached_property
    def blocks(self) -> list[Block]:
        """Chapters and blocks, from the lines of ``tables/NAME.txt``: a range of categories and a short name of ours.

        What is indented belongs to the line above. Ranges that the order of the alphabet does not reach (``C4A``) are
        added with plus signs.
        """
        table = (TABLES / f"{self.name}.txt").read_text("utf-8")
        found: list[Block] = []
        open_blocks: list[int] = []  # of each depth the last block
        for line in table.splitlines():
            depth = (len(line) - len(line.lstrip())) // 2
            written, _, name = line.strip().partition(" ")
            ranges = [part.partition("-") for part in written.split("+")]
            del open_blocks[depth:]
            above = open_blocks[-1] if open_blocks else -1
            open_blocks.append(len(found))
            bounds = tuple((low, high or low) for low, _, high in ranges)
            found.append(Block(f"{written.partition('+')[0]} {name}", bounds, above, depth))
        return found

    @cached_property
    def _code(self) -> re.Pattern[str]:
        return re.compile(rf"({self.category})({self.rest})")

    @cached_property
    def _written(self) -> re.Pattern[str]:
        dot = r"(?:\.(?=.))?" if self.has_dot else ""
        return re.compile(rf"({self.category}){dot}({self.rest})", re.IGNORECASE)

    @cached_property
    def _known(self) -> dict[str, tuple[int, ...]]:
        return {}  # places of categories that were looked up

    def read(self, label: str) -> str:
        """The code behind a label, in capitals and without a dot; ``""`` if it is none of this system."""
        match = self._written.fullmatch(label)
        code = f"{match[1]}{match[2]}".upper() if match else ""
        return code if code and self.place(code) else ""

    def parts(self, code: str) -> tuple[str, str]:
        """Category and rest of a code without a dot."""
        match = self._code.fullmatch(code)
        return (match[1], match[2]) if match else ("", "")

    def spell(self, code: str) -> str:
        """A code with its dot."""
        category, rest = self.parts(code)
        return f"{category}.{rest}" if rest and self.has_dot else code

    def place(self, code: str) -> tuple[int, ...]:
        """Numbers of the blocks that a code belongs to, chapter first; of overlapping ranges that which begins last."""
        category, _ = self.parts(code)
        if category and category not in self._known:
            reaching = ((number, block, block.reaches(category)) for number, block in enumerate(self.blocks))
            found = [(block.depth, low, number) for number, block, low in reaching if low]
            path: list[int] = []
            number = max(found)[2] if found else -1
            while number >= 0:
                path.insert(0, number)
                number = self.blocks[number].above
            self._known[category] = tuple(path)
        return self._known.get(category, ())

    def chapter(self, code: str) -> str:
        """The name of the chapter of a code."""
        return self.blocks[self.place(code)[0]].label

    def groups(self, code: str) -> list[str]:
        """Names of the groups that hold a code, from the smallest to its chapter."""
        category, rest = self.parts(code)
        names = [self.blocks[number].label for number in self.place(code)]
        single = names and names[-1].partition(" ")[0] == category
        if not single and (self.has_dot or rest):
            names.append(f"{category}.-" if self.has_dot else f"{category}-")
        names += [f"{self.spell(code[:length])}-" for length in self.levels if len(category) < length <= len(code)]
        return names[::-1]

    def is_group_name(self, label: str) -> bool:
        """Whether a label is a range of categories (``E10-E14``) or a chapter's or block's name, and no code."""
        written = label.strip().upper()
        ranges = {block.label.partition(" ")[0] for block in self.blocks}
        return "-" in written and (written in ranges or written.partition(" ")[0] in ranges)

    def with_zeros(self, label: str) -> str:
        """``038.9`` for ``38.9``, where a spreadsheet dropped leading zeros; ``""`` if none can be missing."""
        category, dot, rest = label.partition(".")
        if not (self.padded and re.fullmatch("[0-9]{1,2}", category)):
            return ""
        padded = f"{category:0>3}{dot}{rest}"
        return padded if self.read(padded) else ""

    def corrected(self, label: str) -> str:
        """What a label with a typing error was probably meant to be; ``""`` where nothing is near."""
        for attempt in _attempts(label):
            code = self.read(attempt)
            if code:
                return self.spell(code) if "." in attempt else code
        return ""


def _attempts(label: str) -> Iterator[str]:
    """The label without blanks and marks, with a dot for other signs, with letters and digits that look alike."""
    bare = label.strip().rstrip(MARKS).strip().upper().removesuffix(".")
    dotted = re.sub(r"\s*[.,;:_\- ]\s*", ".", bare)
    for text in (bare, dotted, dotted.replace(".", "")):
        yield text
        yield text[:1] + text[1:].translate(LETTERS_FOR_DIGITS)
        yield text[:1].translate(DIGITS_FOR_LETTERS) + text[1:].translate(LETTERS_FOR_DIGITS)
