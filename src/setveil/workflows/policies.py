"""Policies from what a user gave, and back from a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.core import Hierarchy, RunRecord, Transactions, Vocabulary
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError
from setveil.workflows.hierarchy import resolve_hierarchy

if TYPE_CHECKING:
    from setveil.policy.schema import Policy


def make_policy(given: Mapping[str, Any], file: str | os.PathLike[str] | None = None) -> Policy:
    """A policy from what was given, on top of a policy file; ``None`` means not given."""
    from setveil.policy.schema import Policy

    content: dict[str, Any] = {"schema": 1}
    if file is not None:
        content = Policy.from_file(Path(file)).model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        content["schema"] = 1
    for section, values in given.items():
        if isinstance(values, Mapping):
            kept = {key: value for key, value in values.items() if value is not None}
            changed = section == "model" and "name" in kept and kept["name"] != content.get("model", {}).get("name")
            content[section] = kept if changed else {**content.get(section, {}), **kept}
        elif values is not None:
            content[section] = values
    return Policy.from_dict(content)


def policy_of(record: RunRecord) -> Policy:
    """The policy that repeats a run made from the library."""
    from setveil.policy.schema import Policy

    known = (record.original or record.data).vocabulary
    options = {name: _as_patterns(value, known) for name, value in record.model.options().items() if value is not None}
    content: dict[str, Any] = {
        "schema": 1,
        "seed": record.seed,
        "model": {"name": record.model.name, **options},
        "algorithm": {"name": record.algorithm, "options": dict(record.options)},
    }
    if record.hierarchy_source and record.hierarchy_source != "given":
        content["hierarchy"] = {"source": record.hierarchy_source}
    return Policy.from_dict(content)


def _as_patterns(value: Any, known: Vocabulary) -> Any:
    """Labels of a list, or of lists, as a policy writes them; anything else as it is."""
    from setveil.policy.selection import as_pattern

    if isinstance(value, list | tuple):
        return [as_pattern(one, known) if isinstance(one, str) else _as_patterns(one, known) for one in value]
    return value


def hierarchy_of(policy: Policy, data: Transactions, progress: Progress = no_progress) -> Hierarchy | None:
    """The hierarchy a policy asks for; one built from the data suits the promise."""
    from setveil.policy.resolve import model_of

    model = model_of(policy, data, None) if policy.model.name == "km" else None
    return resolve_hierarchy(policy.hierarchy.source, data, policy.hierarchy.unknown_items, model, progress)


def list_sensitive(given: str, data: Transactions, hierarchy: str | None = None) -> tuple[str, ...]:
    """Sensitive items as the command line takes them: a file with one per line, or ``a,b,c``; patterns expanded."""
    from setveil.policy.selection import read_items, select_items
    from setveil.workflows.anonymize import refuse_all_sensitive

    patterns = (
        read_items(given) if Path(given).is_file() else [part.strip() for part in given.split(",") if part.strip()]
    )
    if not patterns:
        raise InputError("the list of sensitive items is empty; name at least one.")
    listed = tuple(select_items(patterns, data.vocabulary, resolve_hierarchy(hierarchy, data)))
    refuse_all_sensitive(data, listed)
    return listed


def check_ask(data: Transactions, hierarchy: str | None, sensitive: str | None) -> tuple[str, ...]:
    """The sensitive items that settings are tried with; a slip in either is told before any of them is."""
    from setveil.workflows.anonymize import check_lists

    if hierarchy and hierarchy != "auto":  # which takes time, and has nothing to get wrong
        resolve_hierarchy(hierarchy, data)
    if sensitive is None:
        return ()
    listed = list_sensitive(sensitive, data, hierarchy)
    check_lists(data, {"sensitive": listed})
    return listed
