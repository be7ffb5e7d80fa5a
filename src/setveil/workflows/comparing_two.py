"""Releases of the same data side by side."""

from __future__ import annotations

from functools import partial
from typing import Any

from setveil.core import Transactions
from setveil.core.tables import Table
from setveil.errors import InputError
from setveil.releases import Release
from setveil.verify import achieved
from setveil.workflows.assess import measure, risk


def _achieved(release: Release, _: Transactions) -> dict[str, Any]:
    assert release.model is not None
    return dict(achieved(release, release.model))


def compare_releases(*releases: Release, data: Any = None) -> Table:
    """A row per release: what it guarantees, what it achieved, what it cost, and what two known items reveal."""
    rows = []
    for release in releases:
        if not isinstance(release, Release):
            raise InputError(
                f"compare takes releases, not {type(release).__name__}; sv.compare tries settings on data."
            )
        reached: dict[str, Any] = (
            {} if release.model is None else release.published.look(partial(_achieved, release), dict)
        )
        figures = measure(release._original(data), release)
        rows.append(
            {
                "model": getattr(release.model, "name", ""),
                "algorithm": release.algorithm,
                **reached,
                "records": release.published.n_records,
                "published_items": release.published.n_items,
                **figures,
                "singled_out_by_2": risk(release, known=(2,), inference=False)["singled_out"][0],
            }
        )
    names = list(
        dict.fromkeys(name for row in rows for name, value in row.items() if not isinstance(value, dict | list))
    )
    return Table([{name: row.get(name) for name in names} for row in rows], "Releases compared")
