"""Parameters of privacy models, declared once.

A model is a frozen dataclass whose fields are made with ``parameter``. Everything that shows or checks a parameter is
made from this declaration: options of the command line, keys of the policy, fields of the web form, errors, the
columns of a comparison, and the docs.

    k: int = parameter(Whole(2), "Smallest number of records that share what an attacker knows.", flag="-k")
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, ClassVar

from setveil.errors import InputError, one_line


class Kind(ABC):
    """What the value of a parameter may be."""

    is_list: ClassVar[bool] = False  # whether it holds items rather than a number or a word

    @abstractmethod
    def check(self, name: str, value: Any) -> Any:
        """The value as a model keeps it; InputError if it is out of range."""

    def parse(self, text: str) -> Any:
        """Text of the command line as a policy would write it; text that does not fit stays as it is."""
        return text

    @property
    @abstractmethod
    def range(self) -> str:
        """The allowed values, for help texts and docs."""

    def labels(self, value: Any) -> set[str]:
        """The items that a value names."""
        return set()


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number, or one of a few words."""

    least: int = 1
    most: int | None = None
    words: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, bool) or not isinstance(value, Integral):
            words = "".join(f' or "{word}"' for word in self.words)
            raise InputError(f"{name} must be a whole number{words}, not {_shown(value)}.")
        number = int(value)
        if number < self.least:
            raise InputError(f"{name} must be at least {self.least}, not {_shown(number)}.")
        if self.most is not None and number > self.most:
            words = "".join(f', or "{word}"' for word in self.words)
            raise InputError(f"{name} must be at most {self.most:,}{words}.")
        if number >= 2**63:  # a certificate may come from anyone
            raise InputError(f"{name} is too large; whole numbers have at most 18 digits.")
        return number

    def parse(self, text: str) -> Any:
        return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else text

    @property
    def range(self) -> str:
        bounds = f"{self.least} to {self.most:,}" if self.most is not None else f"at least {self.least}"
        return ", or ".join((bounds, *self.words))


@dataclass(frozen=True)
class Percentage(Kind):
    """A number from 0 to 100."""

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 100:
            raise InputError(f"{name} must be a percentage from 0 to 100, not {_shown(value)}.")
        return int(value) if isinstance(value, Integral) else float(value)

    def parse(self, text: str) -> Any:
        try:
            return float(text)
        except ValueError:
            return text

    @property
    def range(self) -> str:
        return "0 to 100"


@dataclass(frozen=True)
class Ratio(Kind):
    """A number between 0 and 1, both excluded, read exactly: ``"1/3"``, ``"0.2"``; kept as a fraction in lowest terms.

    A float is read as it is printed: 0.1 is 1/10.
    """

    def check(self, name: str, value: Any) -> Any:
        text = str(value).strip()
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,18}/[0-9]{1,18}|[0-9]{0,18}\.?[0-9]{1,18}", text):
            raise InputError(f'{name} must be a fraction such as "1/3" or a decimal such as 0.2, not {_shown(value)}.')
        above, _, below = text.partition("/")
        if below and not int(below):
            raise InputError(f"{name} must not divide by 0.")
        ratio = Fraction(int(above), int(below)) if below else Fraction(text)
        if not 0 < ratio < 1:
            raise InputError(f"{name} must be above 0 and below 1, not {text}.")
        return f"{ratio.numerator}/{ratio.denominator}"

    @property
    def range(self) -> str:
        return "above 0 and below 1: a fraction such as 1/3, or a decimal"


@dataclass(frozen=True)
class Word(Kind):
    """One of a few words."""

    words: tuple[str, ...]

    def check(self, name: str, value: Any) -> Any:
        if value not in self.words:
            raise InputError(f"{name} must be {' or '.join(self.words)}, not {_shown(value)}.")
        return value

    @property
    def range(self) -> str:
        return " or ".join(self.words)


@dataclass(frozen=True)
class Items(Kind):
    """A list of item labels; in a policy and on the command line also a file with one per line, or patterns."""

    needed: bool = False  # whether an empty list is refused
    may_miss: bool = False  # whether None, no list at all, differs from an empty one

    is_list: ClassVar[bool] = True

    def check(self, name: str, value: Any) -> Any:
        if value is None and self.may_miss:
            return None
        labels = label_tuple(value, name)
        if self.needed and not labels:
            raise InputError(f"the list of {name} items is empty; name at least one.")
        return labels

    def parse(self, text: str) -> Any:
        from pathlib import Path

        return text if Path(text).is_file() else [label.strip() for label in text.split(",") if label.strip()]

    def labels(self, value: Any) -> set[str]:
        return set(value or ())

    @property
    def range(self) -> str:
        return "a file with one item per line, or a,b,c; patterns such as 493.* and @subtree:NAME"


@dataclass(frozen=True)
class Itemsets(Kind):
    """A list of itemsets; in a policy and on the command line also a file with one per line.

    ``are_groups``: itemsets that share no item and between them hold every item of the data.
    """

    are_groups: bool = False

    is_list: ClassVar[bool] = True

    def check(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, str):
            raise InputError(f"{name} must be a list of lists of item labels, not one string.")
        itemsets = tuple(label_tuple(itemset, name) for itemset in value)
        if self.are_groups:
            _refuse_shared(itemsets, name)
        return itemsets

    def labels(self, value: Any) -> set[str]:
        return {label for itemset in value or () for label in itemset}

    @property
    def range(self) -> str:
        return "a file with one itemset per line, its items separated by commas"


@dataclass(frozen=True)
class CrowdSizes(Kind):
    """A smallest number of people for each number of known items from 0 on: ``"0:20,1:10,2:5"``, or none.

    Also taken: a mapping, or the numbers of people alone in order. Kept as text, which policies and certificates hold.
    """

    def check(self, name: str, value: Any) -> Any:
        if value is None or value == "":
            return None
        sizes = dict(self._pairs(name, value))
        if not sizes or sorted(sizes) != list(range(len(sizes))):
            raise InputError(
                f"{name} must give a smallest number of people for 0, 1, 2, … known items, each once: 0:20,1:10,2:5."
            )
        crowds = [Whole(2).check(f"{name} for {size} known items", sizes[size]) for size in range(len(sizes))]
        for size, (fewer, more) in enumerate(zip(crowds, crowds[1:], strict=False), start=1):
            if more > fewer:
                raise InputError(
                    f"{name}: {more} people for {size} known items are more than {fewer} for {size - 1}. An attacker "
                    f"who knows less matches at least as many people: write {size - 1}:{more} or more."
                )
        return ",".join(f"{size}:{crowd}" for size, crowd in enumerate(crowds))

    def _pairs(self, name: str, value: Any) -> list[tuple[int, Any]]:
        if isinstance(value, str):
            parts = [part.strip() for part in value.split(",")]
            if not all(re.fullmatch("[0-9]{1,4}: *[0-9]{1,18}", part) for part in parts):
                raise InputError(f"{name} must look like 0:20,1:10,2:5 (known items:people), not {_shown(value)}.")
            pairs = [(int(size), int(crowd)) for size, _, crowd in (part.partition(":") for part in parts)]
        elif isinstance(value, Mapping):
            pairs = [(Whole(0).check(f"a number of known items in {name}", size), n) for size, n in value.items()]
        elif isinstance(value, Iterable):
            pairs = list(enumerate(value))
        else:
            raise InputError(f"{name} must look like 0:20,1:10,2:5 (known items:people), not {_shown(value)}.")
        if len(dict(pairs)) < len(pairs):
            raise InputError(f"{name} gives two numbers of people for one number of known items; keep one.")
        return pairs

    @property
    def range(self) -> str:
        return "known items:people for each number of known items from 0 to m, such as 0:20,1:10,2:5"


@dataclass(frozen=True)
class Parameter:
    """A parameter as it was declared."""

    name: str
    kind: Kind
    help: str  # one sentence
    label: str  # on the web form
    flag: str  # on the command line
    slider: tuple[int, int] | None  # the range that the web form offers first
    protects: bool  # an item that this list does not name is not protected
    is_required: bool
    default: Any


def parameter(
    kind: Kind,
    help: str,
    *,
    default: Any = MISSING,
    flag: str = "",
    label: str = "",
    slider: tuple[int, int] | None = None,
    protects: bool = False,
) -> Any:
    """A dataclass field that declares a parameter of a model.

    Args:
        kind: what its value may be.
        help: one sentence for help texts and docs.
        default: its default; a parameter without one is required.
        flag: the option of the command line; ``--name`` otherwise.
        label: what the web form calls it; its name otherwise.
        slider: the range that the web form offers first.
        protects: a list of items to protect: an item that it does not name is published unprotected.
    """
    declared = {"kind": kind, "help": help, "label": label, "flag": flag, "slider": slider, "protects": protects}
    return field(default=default, metadata={"parameter": declared})


def declared(model: type) -> dict[str, Parameter]:
    """The parameters of a model, in order."""
    found = {}
    for entry in fields(model):
        said = entry.metadata["parameter"]
        found[entry.name] = named(entry.name, default=entry.default, **said)
    return found


def named(
    name: str,
    kind: Kind,
    help: str,
    label: str = "",
    flag: str = "",
    slider: tuple[int, int] | None = None,
    protects: bool = False,
    default: Any = MISSING,
) -> Parameter:
    """A parameter with its name; flag and label follow from it unless they are given."""
    return Parameter(
        name,
        kind,
        help,
        label or name,
        flag or f"--{name.replace('_', '-')}",
        slider,
        protects,
        default is MISSING,
        None if default is MISSING else default,
    )


def plain_number(value: Any) -> Any:
    """Numbers of other libraries, such as NumPy's, as Python's own; everything else as it is."""
    if getattr(value, "shape", None) == ():  # a scalar of NumPy's
        value = value.item()
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value) if isinstance(value, Real) else value


def whole_number(value: object, name: str, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    number: int = Whole(least).check(name, value)
    return number


def checked_seed(seed: object) -> int:
    """A seed as a policy can hold it."""
    number: int = Whole(0, 2**63 - 1).check("seed", seed)
    return number


def known_sizes(known: object) -> list[int]:
    """Numbers of items that an attacker knows, ascending."""
    if isinstance(known, str) or not isinstance(known, Iterable):
        raise InputError(f"known must be a list of whole numbers, such as (1, 2, 3, 4), not {_shown(known)}.")
    return sorted({whole_number(size, "known") for size in known})


def label_tuple(labels: Iterable[str], name: str) -> tuple[str, ...]:
    """Distinct labels, sorted, from any iterable."""
    if isinstance(labels, str):
        raise InputError(f"{name} must be a list of item labels, not one string; write [{labels!r}].")
    return tuple(sorted({str(label) for label in labels}))


def _refuse_shared(groups: tuple[tuple[str, ...], ...], name: str) -> None:
    owner: dict[str, int] = {}
    for number, group in enumerate(groups, start=1):
        for item in group:
            if item in owner:
                raise InputError(f'item "{item}" is in {name} groups {owner[item]} and {number}; keep one.')
            owner[item] = number


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{value:.0f}"
    return f'"{one_line(value)}"' if isinstance(value, str) else one_line(repr(value))
