"""Labels and their numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from setveil.errors import InputError, name_some


def ascending(labels: Iterable[str]) -> list[str]:
    """Labels in ascending order: by value, then by string, if every label is ``[0-9]+``; else by code point."""
    known = sorted(labels)
    together = "".join(known)
    if together.isascii() and together.isdigit() and known[0]:
        # Zero-padding compares like the value, without the cost and the size limit of int().
        is_padded = any(label.startswith("0") and label != "0" for label in known[:2])  # ascending
        known.sort(key=_as_number if is_padded else len)
    return known


def _as_number(label: str) -> tuple[int, str]:
    digits = label.lstrip("0")
    return len(digits), digits


class Vocabulary(Sequence[str]):
    """The labels of a domain, numbered 0, 1, … in ascending order."""

    __slots__ = ("__dict__", "labels")

    def __init__(self, labels: Iterable[str]) -> None:
        """``labels`` must be distinct; they are put in ascending order here."""
        ordered = tuple(ascending(labels))
        if "" in ordered:
            raise InputError("an item label is empty; give every item a name.")
        self.labels = ordered
        if len(self._number) != len(ordered):
            raise ValueError("labels of a vocabulary must be distinct")

    @classmethod
    def presorted(cls, labels: Sequence[str]) -> Vocabulary:
        """Trust the caller that labels are distinct, non-empty and in ascending order (readers that sorted them)."""
        vocabulary = cls.__new__(cls)
        vocabulary.labels = tuple(labels)
        return vocabulary

    @cached_property
    def _number(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        return self.labels[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} labels)"

    def number(self, label: str) -> int:
        """The number of a label, or -1 for an unknown one."""
        return self._number.get(label, -1)

    def numbers(self, labels: Iterable[str]) -> NDArray[np.int32]:
        """Numbers of several labels, -1 for unknown ones."""
        if isinstance(labels, Vocabulary) and labels.labels == self.labels:
            return np.arange(len(self), dtype=np.int32)
        return np.fromiter(map(self._number.get, labels, repeat(-1)), dtype=np.int32)

    def encode(self, labels: Iterable[str], what: str = "item") -> NDArray[np.int32]:
        """Numbers of several labels; unknown ones are an error that names them."""
        wanted = list(labels)
        numbers = self.numbers(wanted)
        if (numbers < 0).any():
            unknown = [label for label, number in zip(wanted, numbers, strict=True) if number < 0]
            raise InputError(f"unknown {what} {name_some(unknown)}; check the spelling.")
        return numbers


def as_read_aloud(label: str) -> str:
    """A label, or an id, without what the eye passes over: case, blanks, invisible signs."""
    if not label.isascii():
        normal = unicodedata.normalize("NFKC", label)
        label = "".join(sign for sign in normal if unicodedata.category(sign) != "Cf")
    return " ".join(label.casefold().split())
