"""The hierarchy of a code system over the codes of a data set, and what is wrong with labels that are no codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from setveil.core.hierarchy import Hierarchy
from setveil.errors import InputError, name_some, one_line, warn
from setveil.io.hierarchies.systems.base import CodeSystem
from setveil.io.hierarchies.systems.detection import detect_system
from setveil.io.hierarchies.systems.registry import SYSTEMS

ZEROS_LOST = "zeros-lost"  # behind the name of a system: 8 is 008
MANY = 100  # codes of digits only, among which some begin with 0 unless a spreadsheet dropped it


def read_system(source: str, labels: Iterable[str], unknown_items: str = "error") -> Hierarchy:
    """The hierarchy that ``icd10`` or ``icd9cm:zeros-lost`` names, over the given labels.

    Labels that are no codes are an error that names them and the likely correction. With ``unknown_items="root"`` the
    caller adds them below the root.
    """
    name, _, parameter = source.partition(":")
    system = SYSTEMS[name]
    if parameter and (parameter != ZEROS_LOST or not system.padded):
        known = f'"{name}" or "{name}:{ZEROS_LOST}"' if system.padded else f'"{name}"'
        raise InputError(f'--hierarchy {one_line(source)}: "{one_line(parameter)}" is unknown; write {known}.')
    written = list(labels)
    codes = _codes_of(system, written, parameter == ZEROS_LOST)
    _refuse_two_spellings(system, codes)
    unknown = [label for label in written if label not in codes]
    if unknown and (unknown_items != "root" or not codes):
        raise InputError(f"--hierarchy {name}: {_what_is_wrong(system, unknown, written)}")
    _warn(system, codes, unknown)
    return _tree_of(system, codes)


def _codes_of(system: CodeSystem, labels: Sequence[str], zeros_lost: bool) -> dict[str, str]:
    """Label → code."""
    codes = {}
    for label in labels:
        code = system.read(label) or (system.read(system.with_zeros(label)) if zeros_lost else "")
        if code:
            codes[label] = code
    return codes


def _refuse_two_spellings(system: CodeSystem, codes: dict[str, str]) -> None:
    times = Counter(codes.values())
    twice = next((code for code, count in sorted(times.items()) if count > 1), None)
    if twice is None:
        return
    spellings = [label for label, code in codes.items() if code == twice]
    n_more = sum(count > 1 for count in times.values()) - 1
    more = f" {n_more:,} more codes are written in several ways." if n_more else ""
    raise InputError(
        f"--hierarchy {system.name}: {name_some(spellings)} are the same code. Write it in one way only, such as "
        f'"{system.spell(twice)}".{more}'
    )


def _what_is_wrong(system: CodeSystem, unknown: list[str], labels: Sequence[str]) -> str:
    """The most telling fault, and how to fix it."""
    other = detect_system(labels)
    if other is not None and other[0] != system.name and len(unknown) * 2 > len(labels):
        return f"the items are no {system.title} codes. They look like {other[1]}; set --hierarchy {other[0]}."
    n_of = f"{len(unknown):,} of {len(labels):,} items"
    lost = [label for label in unknown if system.with_zeros(label)]
    if lost:
        return (
            f'{len(lost):,} of the codes lost leading zeros ("{lost[0]}" for "{system.with_zeros(lost[0])}"), as in '
            f"spreadsheets. Export the column as text, or set --hierarchy {system.name}:{ZEROS_LOST} to read them so."
        )
    mistyped = [(label, better) for label in unknown if (better := system.corrected(label))]
    if mistyped:
        shown = ", ".join(f'"{one_line(label)}" (probably "{better}")' for label, better in mistyped[:3])
        more = f" and {len(mistyped) - 3:,} more" if len(mistyped) > 3 else ""
        return f"typing errors in {shown}{more}. Correct them, or set --unknown-items root to keep them ungrouped."
    groups = [label for label in unknown if system.is_group_name(label)]
    if groups:
        return (
            f"{name_some(groups)} {'is a group' if len(groups) == 1 else 'are groups'} of {system.title}, not a code. "
            "Replace it by its codes, or set --unknown-items root to keep it ungrouped."
        )
    return (
        f"{n_of} are no {system.title} codes (such as {system.example}): {name_some(unknown)}. Remove them, or set "
        "--unknown-items root to keep them ungrouped."
    )


def _warn(system: CodeSystem, codes: dict[str, str], unknown: list[str]) -> None:
    notes = []
    if unknown:
        who = "it has" if len(unknown) == 1 else "they have"
        notes.append(f"{name_some(unknown)}: no {system.title} code; {who} no group.")
    numeric = [label for label in codes if label.isdigit() and len(label) > 3]
    if system.padded and len(numeric) >= MANY and not any(label.startswith("0") for label in codes):
        notes.append(
            f"{len(codes):,} codes, and none begins with 0. Spreadsheets drop leading zeros: then 0389 reads as 389, "
            "which is another code. Compare with the source."
        )
    unlisted = [label for label, code in codes.items() if not _has_block(system, code)]
    if unlisted:
        notes.append(f"{name_some(unlisted)}: {system.title} has no block for this category; check the code.")
    for text in notes:
        warn(f"--hierarchy {system.name}: {text}")


def _has_block(system: CodeSystem, code: str) -> bool:
    """Whether a code belongs to a block where its chapter has blocks, or is the code of the chapter itself."""
    place = system.place(code)
    is_divided = any(block.above == place[-1] for block in system.blocks)
    return not is_divided or system.blocks[place[-1]].label.partition(" ")[0] == code


def _tree_of(system: CodeSystem, codes: dict[str, str]) -> Hierarchy:
    """Chapters, and below them each group that tells at least two codes from others."""
    if not codes:
        raise InputError(f"--hierarchy {system.name}: there are no items.")
    members = Counter(group for code in codes.values() for group in system.groups(code))
    taken = set(codes)
    paths = []
    for label, code in sorted(codes.items(), key=lambda pair: (pair[1], pair[0])):
        *groups, chapter = system.groups(code)
        kept = []
        n_inside = 1
        for group in groups:
            if members[group] > n_inside:  # else it holds what the group before holds
                kept.append(group)
                n_inside = members[group]
        paths.append([label, *kept, chapter])
    assert not taken & set(members), "no group is named like a code"
    order = {block.label: number for number, block in enumerate(system.blocks)}
    paths.sort(key=lambda path: order[path[-1]])  # chapters as in the system; codes are in order already
    return Hierarchy.from_paths(paths, derived_from_data=True)  # its leaves are the items that occur
