"""A preview shows what a run with the same policy would do."""

from __future__ import annotations

import setveil as sv
from setveil.workflows import previews
from setveil.workflows.policies import make_policy


def test_a_preview_is_what_the_run_does() -> None:
    data = sv.generate("quest", D=3000, T=4, N=20, L=20, seed=3)
    tree = sv.Hierarchy.balanced(data, fanout=4)
    policy = make_policy({"model": {"name": "km", "k": 5, "m": 2}, "algorithm": {"name": "aa"}})
    found = previews.preview(data, policy, tree)
    release = sv.anonymize(data, "km", k=5, m=2, algorithm="aa", hierarchy=tree)
    book = {label: items for label, items in release.codebook().items() if label}
    used = {label for label, support in zip(data.vocabulary, data.supports, strict=True) if support}
    assert found["items"]["n_intact"] == len({items[0] for items in book.values() if len(items) == 1} & used) > 0
    assert sum(found["items"].values()) == len(used)
    assert {label: size for label, size, _ in found["categories"]} == {
        label: len(items) for label, items in book.items() if len(items) > 1
    }
    assert found["picture"].startswith("<svg")
