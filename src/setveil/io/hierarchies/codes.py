"""Lists of codes: no trees, but their prefixes make one."""

from __future__ import annotations

import re
from collections.abc import Iterable

KNOWN = {  # code system → pattern of most codes, lengths of its levels
    "ATC": (re.compile(r"[A-Z](?:[0-9]{2}(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?)?"), (1, 3, 4, 5)),
    "ICD-10": (re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?"), (1, 3, 5)),
    "ICD-9": (re.compile(r"(?:[0-9]{3}|V[0-9]{2}|E[0-9]{3})(?:\.?[0-9]{1,2})?"), (1, 3, 5)),
}


def looks_like_codes(labels: Iterable[str]) -> bool:
    """Whether nearly all labels are short, without blanks, in capitals and digits."""
    known = list(labels)
    n_codes = sum(
        bool(re.fullmatch(r"[A-Z0-9][A-Z0-9.\-]{0,11}", label)) and any(map(str.isdigit, label)) for label in known
    )
    return bool(known) and n_codes >= 0.9 * len(known)


def fitting_lengths(codes: Iterable[str]) -> tuple[int, ...]:
    """Prefix lengths that make groups of the codes: those of the code system where it is known, else where prefixes
    branch.
    """
    known = sorted(set(codes))
    for pattern, lengths in KNOWN.values():
        if sum(bool(pattern.fullmatch(code)) for code in known) >= 0.9 * len(known):
            return _shared(known, lengths) or lengths[:2]
    longest = max(map(len, known), default=1)
    return _shared(known, range(1, longest)) or (1,)


def _shared(codes: list[str], lengths: Iterable[int]) -> tuple[int, ...]:
    """The lengths at which groups differ from those of the length before, and hold more than one code."""
    chosen: list[int] = []
    n_before = 1
    for length in lengths:
        n_groups = len({code[:length] for code in codes})
        if n_groups > n_before and n_groups * 1.2 <= len(codes):
            chosen.append(length)
            n_before = n_groups
    return tuple(chosen)
