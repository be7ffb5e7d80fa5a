"""Which people of a population can be behind a published record, by trying every way to place its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def can_be(
    person: set[str], labels: Sequence[str], cover: Mapping[str, set[str]], domain: set[str], lacks_entries: bool
) -> bool:
    """Whether each label can cover another item of the person, and each item is covered or may be hidden."""
    if not person <= domain:
        return False
    anywhere = set().union(*cover.values()) if cover else set()
    shown = {item for item in person if any(item in cover[label] for label in labels)}
    hidden_at_least = person - shown - (person - anywhere)
    return (lacks_entries or not hidden_at_least) and _placed(list(labels), person, cover)


def _placed(labels: list[str], items: set[str], cover: Mapping[str, set[str]]) -> bool:
    if not labels:
        return True
    return any(_placed(labels[1:], items - {item}, cover) for item in items & cover[labels[0]])
