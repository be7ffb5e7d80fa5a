"""What a policy would do to the items, without writing, verifying or measuring anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.core import Hierarchy, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.policy.resolve import model_of
from setveil.policy.schema import Policy
from setveil.report.changes import changes_of
from setveil.workflows.pictures import drawn_items, short_percent

MOST = 12  # categories that are named


def preview(
    data: Transactions,
    policy: Policy,
    tree: Hierarchy,
    names: Mapping[str, str] | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """The picture of the items with its legend, the categories that most entries go to, and how pure they are."""
    from setveil.utility.categories import purity_of
    from setveil.workflows.anonymize import anonymize

    release = anonymize(
        data,
        model_of(policy, data, tree),
        algorithm=policy.algorithm.name,
        hierarchy=tree,
        options=dict(policy.algorithm.options),
        seed=policy.seed,
        names=names or None,
        progress=progress,
    )
    labels = list(release.published.vocabulary)
    changes = changes_of(release, labels, data)
    picture, legend = drawn_items(changes)
    sizes = release.meaning.sizes
    entries = release.published.supports
    order = sorted((number for number in range(len(sizes)) if sizes[number] > 1), key=lambda n: (-int(entries[n]), n))
    purity = purity_of(release, tree)
    return {
        "picture": picture,
        "legend": legend,
        "items": {name: changes.get(name, 0) for name in ("n_intact", "n_mixed", "n_generalized", "n_left_out")},
        "categories": [(labels[n], int(sizes[n]), int(entries[n])) for n in order[:MOST]],
        "n_categories": len(order),
        "purity": "" if purity is None else short_percent(purity.purity),
    }
