"""pcta+: safe, and never more suppressed than by COAT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints.coat import COAT
from setveil.algorithms.constraints.pcta_plus import PCTAPlus
from setveil.algorithms.constraints.upcta import UPCTA
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.utility.loss import ncp
from tests.naive.constraint_cases import (
    some_ask,
)


def test_releases_keep_their_promise_and_pcta_plus_never_suppresses_more() -> None:
    compared = 0
    for seed in range(700):
        records, ask = some_ask(seed)
        if not any(records):
            continue
        data = Transactions.from_lists(map(sorted, records))
        models: list[object] = [KmAnonymity(ask["k"], ask["m"])]
        models.append(ConstraintAnonymity(ask["k"], ask["constraints"], ask["groups"] or None, ask["bound"]))
        for model in models:
            found: dict[str, int | None] = {}
            for name, algorithm in (("pcta+", PCTAPlus(sweeps=seed % 3)), ("upcta", UPCTA()), ("coat", COAT())):
                try:
                    release = algorithm.run(data, model, Context(seed=seed))
                except sv.InfeasibleError:
                    found[name] = None
                    continue
                verdict = sv.verify(release, model)
                assert verdict.holds, (seed, name, verdict)
                found[name] = release.details["suppressed_items"]
            if found["coat"] is not None:
                assert found["pcta+"] is not None
                assert found["pcta+"] <= found["coat"]
                compared += 1
    assert compared > 600


def test_pcta_plus_on_click_streams(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("BMS1.dat.gz"))
    better = PCTAPlus().run(data, KmAnonymity(5, 2), Context())
    assert ncp(data, better) < 0.0035
