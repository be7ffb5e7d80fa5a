"""Policies from what a user gave, and back from a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.core import Dataset, Hierarchy, Vocabulary
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError
from setveil.releases import RunRecord
from setveil.workflows.hierarchy import resolve_hierarchy

if TYPE_CHECKING:
    from setveil.policy.schema import Policy


def make_policy(given: Mapping[str, Any], file: str | os.PathLike[str] | None = None) -> Policy:
    """A policy from what was given, on top of a policy file; ``None`` means not given.

    What is given replaces what the file says, key by key, in nested tables as well. A name that differs from the file's
    replaces its whole table: the parameters of one model, or the options of one algorithm, say nothing about another.
    """
    from setveil.policy.schema import Policy

    content: dict[str, Any] = {}
    if file is not None:
        content = Policy.from_file(Path(file)).model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    policy = Policy.from_dict(_with_profile(_with_roles({**_merged(content, given), "schema": 1})))
    return policy.read_from(None if file is None else Path(file))


def _with_roles(content: dict[str, Any]) -> dict[str, Any]:
    """Roles that were given as options of reading, in the tables of a policy."""
    from setveil.io.options import READING
    from setveil.io.roles import OLDER, as_tables

    names = {name for name, option in READING.items() if option.is_role}
    reading, columns = dict(content.get("input") or {}), content.get("columns") or {}
    if names.isdisjoint(reading) and not columns:
        return content
    stated = {name: reading.pop(name) for name in (*names, *OLDER) if name in reading}
    return {**content, "input": reading, "columns": {**columns, **as_tables(stated)}}


def _with_profile(content: dict[str, Any]) -> dict[str, Any]:
    """The k of the profile, where a profile was chosen, the model needs a k, and none was given."""
    from setveil.models import PARAMETERS
    from setveil.report.profiles import find_profile

    profile, model = (content.get("assessment") or {}).get("profile"), content.get("model")
    if profile is None or not isinstance(model, dict) or "k" in model or model.get("name") not in PARAMETERS["k"]:
        return content
    return {**content, "model": {**model, "k": find_profile(profile).k}}


def _merged(table: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    named = given.get("name")
    merged = dict(table) if named is None or named == table.get("name") else {}
    for key, value in given.items():
        if isinstance(value, Mapping):
            below = merged.get(key)
            merged[key] = _merged(below if isinstance(below, Mapping) else {}, value)
        elif value is not None:
            merged[key] = value
    return merged


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Options of reading as they stand in a command."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            words += [word for one in value.items() for word in (flag, "=".join(one))]
        elif isinstance(value, list | tuple):
            words += [flag, ",".join(map(str, value))]
        elif value not in (None, False):
            words += [flag, str(value)]
    return words


def policy_of(record: RunRecord, reading: Mapping[str, Any] | None = None) -> Policy:
    """The policy that repeats a run made from the library; ``reading``: how its data was read."""
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
    return Policy.from_dict(_with_roles({**content, "input": dict(reading)}) if reading else content)


def _as_patterns(value: Any, known: Vocabulary) -> Any:
    """Labels of a list, or of lists, as a policy writes them; anything else as it is."""
    from setveil.policy.selection import as_pattern

    if isinstance(value, list | tuple):
        return [as_pattern(one, known) if isinstance(one, str) else _as_patterns(one, known) for one in value]
    return value


def hierarchy_of(policy: Policy, data: Dataset, progress: Progress = no_progress) -> Hierarchy | None:
    """The hierarchy of a policy; if it is built from the data, it is built for the policy's model."""
    from setveil.models import MODELS
    from setveil.policy.resolve import model_of

    model = model_of(policy, data, None) if MODELS[policy.model.name].shapes_hierarchy else None
    return resolve_hierarchy(policy.hierarchy.source, data, policy.hierarchy.unknown_items, model, progress)


def list_sensitive(given: str, data: Dataset, hierarchy: str | None = None) -> tuple[str, ...]:
    """Sensitive items as the command line takes them: a file with one per line, or ``a,b,c``; patterns expanded."""
    from setveil.policy.selection import BY_COMMAS, ONE_PER_LINE, read_items, refuse_file_names, select_items
    from setveil.workflows.request_checks import refuse_all_sensitive

    is_file = Path(given).is_file()
    patterns = read_items(given) if is_file else [part.strip() for part in given.split(",") if part.strip()]
    if not patterns:
        raise InputError("the list of sensitive items is empty; name at least one.")
    if not is_file:
        refuse_file_names(patterns, data.vocabulary)
    tree, apart = resolve_hierarchy(hierarchy, data), ONE_PER_LINE if is_file else BY_COMMAS
    listed = tuple(select_items(patterns, data.vocabulary, tree, apart))
    refuse_all_sensitive(data, listed)
    return listed


def check_request(data: Dataset, hierarchy: str | None, sensitive: str | None) -> tuple[str, ...]:
    """The sensitive items that settings are tried with; a slip in either is reported before any of them is."""
    from setveil.workflows.request_checks import check_lists

    if hierarchy and hierarchy != "auto":  # which takes time, and has nothing to get wrong
        resolve_hierarchy(hierarchy, data)
    if sensitive is None:
        return ()
    listed = list_sensitive(sensitive, data, hierarchy)
    check_lists(data, {"sensitive": listed})
    return listed
