"""Methods of ``core`` objects whose work another folder does, imported when they are called.

``Hierarchy.auto`` or ``Release.publish`` would make ``core`` import the folders that use it. Only names that users
look for on an object are here; everything else is imported, so that the import rules see it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DEFERRED = {
    "Hierarchy.from_file": "setveil.io.hierarchies.hierarchy_files:read_hierarchy",
    "Hierarchy.to_file": "setveil.io.hierarchies.writing:write_hierarchy",
    "Hierarchy.balanced": "setveil.taxonomies.balanced:balanced",
    "Hierarchy.prefix": "setveil.taxonomies.prefix:by_prefix",
    "Hierarchy.auto": "setveil.workflows.hierarchy:auto_hierarchy",
    "verify": "setveil.workflows.assess:verify",
    "risk": "setveil.workflows.assess:risk",
    "measure": "setveil.workflows.assess:measure",
    "attack": "setveil.workflows.assess:attack",
    "Release.publish": "setveil.workflows.publish:publish",
    "Release.apply": "setveil.workflows.apply:apply",
    "Release.to_polars": "setveil.io.releases.frames:to_polars",
    "Release.to_pandas": "setveil.io.releases.frames:to_pandas",
    "Release.to_arrow": "setveil.io.releases.frames:to_arrow",
    "Release.to_sparse": "setveil.io.releases.frames:to_sparse",
    "Release.to_lists": "setveil.io.releases.frames:to_lists",
    "Codebook.to_polars": "setveil.io.releases.frames:codebook_to_polars",
    "Codebook.to_pandas": "setveil.io.releases.frames:codebook_to_pandas",
    "Transactions.to_polars": "setveil.io.releases.frames:to_polars",
    "Transactions.to_pandas": "setveil.io.releases.frames:to_pandas",
    "RiskTable.plot": "setveil.report.plots:plot_risk",
    "Release.plot": "setveil.report.plots:plot_release",
    "Release.compare": "setveil.workflows.comparing_two:compare_releases",
    "card": "setveil.report.cards:card",
}


def call(name: str, *arguments: Any, **options: Any) -> Any:
    """Do the work behind a registered name."""
    module, _, function = DEFERRED[name].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)
