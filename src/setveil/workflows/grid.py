"""What to compare: blocks of settings, from a file, from Python, or by default.

A grid file (TOML) holds blocks; every key of a block may be a list, and the block stands for all combinations:

    schema = 1
    known = 3                       # the attacker's items for the risk axis

    [limits]
    seconds = 120                   # per setting
    memory_mb = 4000

    [[grid]]
    model = "km"
    k = [2, 5, 10]
    m = [1, 2]
    algorithm = ["aa", "pcta+"]
    hierarchy = ["fanout:5", "auto"]
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from setveil.algorithms import PORTFOLIO, proposed_for
from setveil.errors import InputError
from setveil.models import MODELS, PARAMETERS, declared
from setveil.policy.schema import Policy, read_toml

OTHER_KEYS = ("model", "algorithm", "hierarchy", "options", "seed")


@dataclass(frozen=True)
class Grid:
    """What to compare."""

    policies: tuple[Policy, ...]
    known: int = 3
    seconds: float = 600.0
    memory_mb: int = 8000


def read_grid(path: str | os.PathLike[str]) -> Grid:
    """Read and check a grid file; paths in it are relative to it."""
    return make_grid(read_toml(Path(path)), Path(path))


def default_grid(
    hierarchy: str | None = None, sensitive: Sequence[str] | str | None = None, has_known_columns: bool = False
) -> Grid:
    """What is worth comparing on any data: the values that each model proposes, with the algorithms that keep most.

    Models that need sensitive items are compared where there are some, models about columns where columns are known.
    """
    blocks: list[dict[str, Any]] = []
    for name, model in MODELS.items():
        if not model.suits(has_known_columns):
            continue
        known = declared(model)
        needed = [one for one in known.values() if one.is_required and one.name not in model.grid]
        if not model.grid or (needed and (not sensitive or any(one.name != "sensitive" for one in needed))):
            continue
        block = {
            "model": name,
            **model.grid,
            **({"sensitive": sensitive} if sensitive and "sensitive" in known else {}),
        }
        if name in PORTFOLIO:
            entries = proposed_for(name)
            along = [entry.name for entry in entries if entry.hierarchy == "required"]
            blocks.append({**block, "algorithm": along, "hierarchy": hierarchy or "auto"})
            blocks.append({**block, "algorithm": [entry.name for entry in entries if entry.name not in along]})
        else:
            blocks.append({**block, **({"hierarchy": hierarchy} if hierarchy and model.generalizes_columns else {})})
    return make_grid({"schema": 1, "limits": {"seconds": 60}, "grid": blocks}, Path("grid"), Path())


def make_grid(content: Mapping[str, Any], where: Path, folder: Path | None = None) -> Grid:
    """A grid from nested dictionaries; paths in it are relative to ``folder``, that of ``where`` unless given."""
    folder = where.parent if folder is None else folder
    if content.get("schema") != 1:
        raise InputError(f"{where}: `schema = 1` is missing; add it as the first line.")
    blocks, limits = content.get("grid"), content.get("limits", {})
    if not isinstance(limits, dict):
        raise InputError(f"{where}: `limits` is a table with seconds and memory_mb.")
    if not isinstance(blocks, list) or not blocks or not all(isinstance(block, dict) for block in blocks):
        raise InputError(f"{where}: [[grid]] blocks are missing; write at least one.")
    unknown = sorted(set(content) - {"schema", "grid", "limits", "known"}) + sorted(
        set(limits) - {"seconds", "memory_mb"}
    )
    if unknown:
        raise InputError(f"{where}: unknown key `{unknown[0]}`; check the spelling.")
    policies = [policy for block in blocks for policy in _expand(block, where, folder)]
    distinct = list({policy.to_toml(): policy for policy in policies}.values())
    if not distinct:
        raise InputError(f"{where}: an empty list in a [[grid]] block makes no setting; add a value.")
    return Grid(
        tuple(distinct),
        int(_number(content.get("known", 3), "known", 1000, where)),
        _number(limits.get("seconds", 600), "limits.seconds", 1e7, where),
        int(_number(limits.get("memory_mb", 8000), "limits.memory_mb", 1e9, where)),
    )


def _number(value: Any, name: str, most: float, where: Path) -> float:
    """A number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:  # false for nan
        raise InputError(f"{where}: `{name}` is a number above 0, at most {most:,.0f}.")
    return float(value)


def _expand(block: Mapping[str, Any], where: Path, folder: Path) -> Iterator[Policy]:
    for key in block:
        if key not in (*PARAMETERS, *OTHER_KEYS):
            raise InputError(
                f"{where}: unknown key `grid.{key}`; it is one of {', '.join((*OTHER_KEYS, *PARAMETERS))}."
            )
    if "model" not in block:
        raise InputError(f"{where}: `model` is missing in a [[grid]] block.")
    if not isinstance(block.get("options", {}), dict):
        raise InputError(f"{where}: `grid.options` is a table of options of the algorithm.")
    for values in product(*(_choices(key, value) for key, value in block.items())):
        chosen = dict(zip(block, values, strict=True))
        hierarchy = chosen.get("hierarchy")
        if hierarchy is not None and not isinstance(hierarchy, str):
            raise InputError(f'{where}: `grid.hierarchy` is a text, as in "fanout:5".')
        content: dict[str, Any] = {
            "schema": 1,
            "model": {"name": chosen["model"], **{key: chosen[key] for key in PARAMETERS if key in chosen}},
        }
        if "seed" in chosen:
            content["seed"] = chosen["seed"]
        algorithm = {"name": chosen.get("algorithm"), "options": chosen.get("options")}
        content["algorithm"] = {key: value for key, value in algorithm.items() if value is not None}
        if hierarchy:
            content["hierarchy"] = {"source": hierarchy}
        yield Policy.from_dict(content, folder / where.name)


def _choices(key: str, value: Any) -> list[Any]:
    if key == "options":
        names = list(value)
        return [dict(zip(names, some, strict=True)) for some in product(*(_choices("", value[name]) for name in names))]
    is_list_of_labels = _holds_items(key) and isinstance(value, list)
    if is_list_of_labels and not any(isinstance(part, list) for part in value):
        return [value]  # a list of labels is one value, a list of lists is several
    return value if isinstance(value, list) else [value]


def _holds_items(key: str) -> bool:
    """Whether a key is a parameter that lists items."""
    return any(parameter.kind.is_list for parameter in PARAMETERS.get(key, {}).values())
