"""Lists of codes: no trees, but their prefixes make one."""

from __future__ import annotations

import re
from collections.abc import Iterable


def looks_like_codes(labels: Iterable[str]) -> bool:
    """Whether nearly all labels are short, without blanks, in capitals and digits."""
    known = list(labels)
    n_codes = sum(
        bool(re.fullmatch(r"[A-Z0-9][A-Z0-9.\-]{0,11}", label)) and any(map(str.isdigit, label)) for label in known
    )
    return bool(known) and n_codes >= 0.9 * len(known)


def advised_hierarchy(codes: Iterable[str]) -> str:
    """What to write behind ``--hierarchy`` for codes: their system where it is known, else the prefix lengths at which
    they branch.
    """
    from setveil.io.hierarchies.systems.detection import EAN, detect_system

    known = sorted(set(codes))
    found = detect_system(known)
    if found is not None and found[0] != EAN:
        return found[0]
    longest = max(map(len, known), default=1)
    return f"prefix:{','.join(map(str, shared_lengths(known, range(1, longest)) or (1,)))}"


def shared_lengths(codes: list[str], lengths: Iterable[int]) -> tuple[int, ...]:
    """The lengths at which groups differ from those of the length before, and hold more than one code."""
    chosen: list[int] = []
    n_before = 1
    for length in lengths:
        n_groups = len({code[:length] for code in codes})
        if n_groups > n_before and n_groups * 1.2 <= len(codes):
            chosen.append(length)
            n_before = n_groups
    return tuple(chosen)
