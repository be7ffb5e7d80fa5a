"""What is known about code systems, for people who look for theirs."""

from __future__ import annotations

from typing import Any

from setveil.core import Transactions
from setveil.errors import InputError, one_line, unheard_warnings
from setveil.io.hierarchies.systems.registry import SYSTEMS

PRODUCTS = ": --hierarchy FILE --hierarchy-columns CODE,CATEGORY"  # how to give a list of products


def list_systems() -> dict[str, Any]:
    """All systems, one row each."""
    found = list(SYSTEMS.values())
    width = max(len(system.name) for system in found)
    rows = []
    for system in found:
        n_chapters = sum(block.above < 0 for block in system.blocks)
        text = (
            f"{system.name:<{width}}  {system.title}: {system.about}; {n_chapters} chapters, "
            f"{len(system.blocks) - n_chapters} blocks; such as {system.example}"
        )
        rows.append({"name": system.name, "title": system.title, "depth": 0, "text": text})
    return {"rows": rows}


def titles_of_systems() -> dict[str, str]:
    """The title of each way to read a system, by what --hierarchy calls it."""
    from setveil.io.hierarchies.systems.trees import ZEROS_LOST

    systems = list(SYSTEMS.values())
    titles = {system.name: system.title for system in systems}
    return titles | {f"{one.name}:{ZEROS_LOST}": f"{one.title}, leading zeros lost" for one in systems if one.padded}


def describe_system(name: str, code: str | None = None) -> dict[str, Any]:
    """Chapters and blocks of a system, or the groups of one code, chapter first."""
    if name not in SYSTEMS:
        raise InputError(f'"{one_line(name)}" is not a code system; choose one of {", ".join(SYSTEMS)}.')
    system = SYSTEMS[name]
    if code is None:
        return {"rows": [{"depth": block.depth, "text": block.label} for block in system.blocks]}
    read = system.read(code)
    if not read:
        near = system.with_zeros(code) or system.corrected(code)
        advice = f'did you mean "{near}"?' if near else f"codes look like {system.example}."
        raise InputError(f'"{one_line(code)}" is no {system.title} code; {advice}')
    names = [name for name in system.groups(read)[::-1] if name != f"{system.spell(read)}-"] + [code]
    return {"rows": [{"depth": depth, "text": text} for depth, text in enumerate(names)]}


def code_system_of(data: Transactions) -> tuple[str | None, str]:
    """The code system of the items, to be used as the hierarchy, and a sentence about it; None where there is none, or
    where codes must be corrected first.
    """
    from setveil.io.hierarchies.systems.detection import EAN
    from setveil.io.hierarchies.systems.trees import read_system

    found = _detected(data)
    if found is None:
        return None, ""
    name, evidence = found
    if name == EAN:
        return None, f"The items look like {evidence}. A product list makes meaningful categories{PRODUCTS}."
    try:
        with unheard_warnings():
            read_system(name, data.vocabulary)
    except InputError as problem:
        return None, f"The items look like {evidence}, but cannot be grouped yet. {problem}"
    return name, f"The items look like {evidence}. Their chapters and blocks are the hierarchy (--hierarchy {name})."


def groups_of_codes(data: Transactions) -> dict[str, list[str]]:
    """Per item the groups of its code, from the smallest to its chapter; nothing where the items are codes of no
    system.
    """
    found = _detected(data)
    if found is None or found[0] not in SYSTEMS:
        return {}
    system = SYSTEMS[found[0]]
    codes = {label: system.read(label) or system.read(system.with_zeros(label)) for label in data.vocabulary}
    return {label: system.groups(code) for label, code in codes.items() if code}


def _detected(data: Transactions) -> tuple[str, str] | None:
    from setveil.io.hierarchies.systems.detection import detect_system

    return detect_system(label for label, support in zip(data.vocabulary, data.supports, strict=True) if support)
