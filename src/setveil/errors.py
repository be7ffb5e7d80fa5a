"""Everything setveil raises on purpose.

    SetveilError                 exit 4   something is wrong inside setveil
    ├── InputError               exit 2   a file, an option or a policy is wrong; says where and how to fix it
    ├── InfeasibleError          exit 3   the ask cannot be met; names the items in the way
    ├── GuaranteeError           exit 1   a release does not keep its claim; it is not published
    ├── UncheckedError           exit 5   whether a claim holds cannot be told here, or not in the time allowed
    └── CancelledError           exit 130 the user stopped a long run; nothing was written

Messages are one line: what was wrong, where (``file:line``), how to fix it. They may name items, never records. They
are written with the options of the command line; whoever calls from Python reads the arguments instead:
``--no-header`` is ``no_header=True``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class SetveilError(Exception):
    """Root of the tree; raised itself only for faults of setveil."""

    exit_code = 4

    def __str__(self) -> str:
        return _spoken(super().__str__())


class InputError(SetveilError):
    """Bad input or usage."""

    exit_code = 2


class InfeasibleError(SetveilError):
    """No release can meet the ask; ``items`` are the labels in the way.

    Examples:
        >>> import setveil as sv
        >>> try:
        ...     sv.anonymize([["a"], ["b"]], "km", k=5, m=1, algorithm="aa", hierarchy="fanout:2")
        ... except sv.InfeasibleError as problem:
        ...     print(problem)
        2 records have items, fewer than k=5; lower k or add records.
    """

    exit_code = 3

    def __init__(self, message: str, items: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.items = tuple(items)


class GuaranteeError(SetveilError):
    """A release was found to break its claim."""

    exit_code = 1


class UncheckedError(SetveilError):
    """A claim can neither be confirmed nor refuted here."""

    exit_code = 5


class CancelledError(SetveilError):
    """A run was stopped from outside."""

    exit_code = 130


class SetveilWarning(UserWarning):
    """Something the user should know about an ask that is allowed all the same (k=1, an unknown item in a
    constraint).
    """

    def __str__(self) -> str:
        return _spoken(super().__str__())


# -- options and arguments --------------------------------------------------------------------------------------------

_SWITCHES = "no-header strip labels-as-they-are force keep-ids keep-order publish-constraints accept-guessable"
_LAYOUTS = "fimi spmf long wide onehot table basket gmt arff jsonl json parquet"
_VALUES: dict[str, str] = {  # options and the words that may follow as their value; quoted text and numbers always may
    "format": _LAYOUTS,
    "to": _LAYOUTS,
    "encoding": "latin-1 cp1252 utf-16",
    "hierarchy": "FILE auto",
    "hierarchy-format": "csv edges amnesia amnesia-json nodes paths indented mesh",
    "unknown-items": "root error",
    "missing": "drop value",
    "engine": "local spark",
    "master": "",
    **dict.fromkeys(["delimiter", "id-column", "item-column", "item-columns", "split", "hierarchy-columns"], ""),
    **dict.fromkeys(
        [
            "original",
            "time-limit",
            "known",
            "domain",
            "policy",
            "seed",
            "algorithm",
        ],
        "",
    ),
    **dict.fromkeys(["effort", "yardstick"], ""),
}
_OPTION = re.compile(r"""(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: ("[^"]*"|'[^']*'|\d+(?!\w)|[A-Za-z][\w-]*))?""")
_speaks_of_options = False


def name_option(name: str, values: str = "") -> None:
    """Declare an option that messages may name, and the words that may follow as its value."""
    _VALUES.setdefault(name.replace("_", "-"), values)


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """The command line: messages name its options."""
    global _speaks_of_options
    before, _speaks_of_options = _speaks_of_options, True
    try:
        yield
    finally:
        _speaks_of_options = before


def _spoken(text: str) -> str:
    return text if _speaks_of_options or "--" not in text else _OPTION.sub(_argument, text)


def _argument(found: re.Match[str]) -> str:
    """``--format long`` as ``format="long"``; what is no option stays."""
    option, value = found[1], found[2] or ""
    name, rest = option.replace("-", "_"), f" {value}" if value else ""
    if option in _SWITCHES.split():
        return f"{name}=True{rest}"
    if option not in _VALUES:
        return found[0]
    if (value[:1] in ("'", '"') and value) or value.isdigit():
        return f"{name}={value}"
    return f'{name}="{value}"' if value and value in _VALUES[option].split() else f"{name}{rest}"


def name_some(labels: Iterable[str], limit: int = 5) -> str:
    """``"beer", "wine" and 7 more``: labels in an error message, however many there are."""
    known = list(labels)
    shown = ", ".join(f'"{one_line(label)}"' for label in known[:limit])
    return shown if len(known) <= limit else f"{shown} and {len(known) - limit:,} more"


def one_line(text: str, limit: int = 60) -> str:
    """Text from outside as people may see it: on one line, not too long, and nothing in it that a screen would obey.

    Control characters, marks that turn the direction of writing and whatever else has no shape of its own are shown as
    escapes. What is too long is cut in the middle: messages end with how to fix it.
    """
    if len(text) > 2 * limit:  # escapes only make it longer
        text = f"{text[:limit]}…{text[-limit:]}"
    shown = text if text.isprintable() else printable(text)
    tail = limit // 3
    return shown if len(shown) <= limit else f"{shown[: limit - tail - 1]}…{shown[len(shown) - tail :]}"


def printable(text: str, kept: str = "") -> str:
    """The text with every character escaped that is neither visible nor one of the ``kept``."""
    return "".join(
        character if character.isprintable() or character in kept else character.encode("unicode_escape").decode()
        for character in text
    )
