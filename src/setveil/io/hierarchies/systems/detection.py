"""Which code system the labels of a column come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from setveil.errors import InputError, warn
from setveil.io.hierarchies.systems.base import CodeSystem
from setveil.io.hierarchies.systems.registry import SYSTEMS

FEWEST = 5  # distinct labels; fewer may look like anything
SHARE = 0.9  # of the labels must be codes
LETTERS = 5  # first letters of codes without dots
MOST = 5000  # labels looked at, evenly spaced in sorted order
EAN = "ean"
MISSING = frozenset({"", "?", "-", "NA", "N/A", "NULL", "NONE", "NAN", "UNKNOWN", "OTHER"})


def detect_system(labels: Iterable[str]) -> tuple[str, str] | None:
    """The code system of labels and the evidence, as ``("icd10", "ICD-10 codes (98 % of 812 distinct values, such as
    E11.9)")``; None if no system fits.

    ``ean`` is the only answer that is no ``--hierarchy``: product numbers with check digits, whose categories a product
    list must tell.
    """
    distinct = sorted({label for label in labels if label.strip().upper() not in MISSING})
    known = distinct[:: max(len(distinct) // MOST, 1)]
    if len(known) < FEWEST:
        return None
    eans = [label for label in known if is_ean(label)]
    if len(eans) >= SHARE * len(known):
        return EAN, _evidence("product numbers (EAN, GTIN)", eans, known)
    found: list[tuple[int, int, CodeSystem, list[str]]] = []
    for rank, system in enumerate(SYSTEMS.values()):
        codes = [label for label in known if system.read(label) or system.with_zeros(label)]
        if len(codes) >= SHARE * len(known) and _is_telling(system, codes):
            found.append((len(codes), -rank, system, codes))
    if not found:
        return None
    _, _, system, codes = max(found, key=lambda one: one[:2])
    return system.name, _evidence(f"{system.title} codes", codes, known)


def _evidence(what: str, codes: Sequence[str], known: Sequence[str]) -> str:
    share = f"{len(codes) / len(known):.0%}".replace("%", " %")
    shown = ", ".join(codes[:: max(len(codes) // 3, 1)][:3])
    return f"{what} ({share} of {len(known):,} distinct values, such as {shown})"


def _is_telling(system: CodeSystem, codes: Sequence[str]) -> bool:
    """Whether the labels are more than numbers or short words that happen to fit.

    Numbers of three to five digits may be anything: ICD-9 shows by V and E codes among them, or by none, one and two
    digits behind the dots. ATC shows by codes longer than a therapeutic group, ICD-10 by dots or by several letters.
    """
    if system.padded:
        numbers = [label for label in codes if label[:1].isdigit()]
        if len(numbers) < len(codes):
            return len(numbers) * 2 >= len(codes)
        whole = sum(len(label.partition(".")[0]) == 3 for label in codes)
        return {len(label.partition(".")[2]) for label in codes} >= {0, 1, 2} and whole >= SHARE * len(codes)
    if not system.has_dot:
        return sum(len(label) > 3 for label in codes) * 2 > len(codes)
    return any("." in label for label in codes) or len({label[0].upper() for label in codes}) >= LETTERS


def is_ean(label: str) -> bool:
    """Whether a label has 8, 12, 13 or 14 digits of which the last is the check digit."""
    if len(label) not in (8, 12, 13, 14) or not re.fullmatch("[0-9]+", label):
        return False
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(label[:-1])))
    return (10 - total % 10) % 10 == int(label[-1])


def refuse_mixed_prefixes(labels: Iterable[str], lengths: Sequence[int]) -> None:
    """An error where groups by leading characters would mix chapters of the codes' system; a warning where a letter
    stands for two chapters (D and H of ICD-10).
    """
    known = list(labels)
    found = detect_system(known)
    if found is None or found[0] == EAN or not lengths:
        return
    system = SYSTEMS[found[0]]
    chapters: dict[str, str] = {}  # prefix → the first chapter met
    for label in known:
        code = system.read(label) or system.read(system.with_zeros(label))
        prefix = label[: min(lengths)]
        if not code or len(label) < min(lengths):
            continue
        chapter = system.chapter(code)
        if chapters.setdefault(prefix, chapter) != chapter:
            asked = ",".join(map(str, lengths))
            text = (
                f'--hierarchy prefix:{asked}: the group "{prefix}*" mixes chapters of {system.title} '
                f"({chapters[prefix]}; {chapter}). Set --hierarchy {system.name}, which keeps chapters apart."
            )
            if system.padded:  # digits, whose first says little
                raise InputError(text)
            warn(text)
            return
