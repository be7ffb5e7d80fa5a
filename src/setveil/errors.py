"""Everything setveil raises on purpose.

    SetveilError                 exit 4   something is wrong inside setveil
    ├── InputError               exit 2   a file, an option or a policy is wrong; says where and how to fix it
    ├── InfeasibleError          exit 3   the ask cannot be met; names the items in the way
    ├── GuaranteeError           exit 1   a release does not keep its claim; it is not published
    ├── UncheckedError           exit 5   whether a claim holds cannot be told here, or not in the time allowed
    └── CancelledError           exit 130 the user stopped a long run; nothing was written

Messages are one line: what was wrong, where (``file:line``), how to fix it. They may name items, never records.
"""

from __future__ import annotations

from collections.abc import Iterable


class SetveilError(Exception):
    """Root of the tree; raised itself only for faults of setveil."""

    exit_code = 4


class InputError(SetveilError):
    """Bad input or usage."""

    exit_code = 2


class InfeasibleError(SetveilError):
    """No release can meet the ask; ``items`` are the labels in the way."""

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
    """Something the user should know about an ask that is allowed all the same (k=1, an unknown item in a constraint)."""


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
