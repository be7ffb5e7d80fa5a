"""One setting of a comparison, in a process of its own: ``python -m setveil.workflows.compare_worker ORDER`` prints
one JSON object.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from setveil.core import Transactions
from setveil.errors import SetveilError
from setveil.policy.resolve import model_of
from setveil.policy.schema import Policy
from setveil.releases import Release
from setveil.report.facts import Facts
from setveil.report.figures import worst_of
from setveil.utility.avg_re import least_error
from setveil.utility.columns import mixed_errors
from setveil.workflows.anonymize import anonymize
from setveil.workflows.assess import KNOWN, measure, public_risk, quick_attacks, verify
from setveil.workflows.inputs import read
from setveil.workflows.policies import hierarchy_of

_PR_SET_PDEATHSIG = 1
SPARE = 1 << 30  # bytes that libraries reserve and never touch


def work(order: dict[str, Any]) -> dict[str, Any]:
    """Run the policy and measure its release; nothing is published."""
    policy = Policy.from_file(order["policy"])
    data = read(order["source"], **order["read"])
    tree = hierarchy_of(policy, data)
    model = model_of(policy, data, tree)
    started = time.perf_counter()
    release = anonymize(data, model, policy.algorithm.name, tree, policy.algorithm.options, policy.seed)
    seconds = time.perf_counter() - started
    verdict = verify(release, model)
    if not verdict.holds:
        return {"status": "broken", "reason": verdict.reason}
    return {"status": "ok", "seconds": seconds, **figures_of(data, release, order["known"])}


def figures_of(data: Transactions, release: Release, known: int, facts: Facts | None = None) -> dict[str, Any]:
    """What a comparison shows of a release that was verified: risk, loss, and memory so far.

    ``facts``: of the report, where one was written; its figures are taken over.
    """
    record = release.record
    assert record is not None
    attacks: Sequence[Mapping[str, Any]]
    risk_after: Sequence[Mapping[str, Any]]
    if facts is None:
        attacks = quick_attacks(data, release, record.seed, sorted({*KNOWN, known}))
        risk_after = public_risk(release, record.model).to_dict()["rows"]
    else:
        attacks, risk_after = facts.attacks, facts.risk_after
    worst = worst_of([row for row in attacks if row["known"] in KNOWN], risk_after)
    linked = [row["linked"]["of_all_people"] for row in attacks if row["known"] == known and row["linked"]]
    metrics = measure(data, release) if facts is None else facts.metrics
    return {
        "algorithm": record.algorithm,
        "singled_out": None if worst is None else worst.of_all_people,
        "mean_chance": max(linked, default=None),
        "sensitive_chance": release.largest_share,  # who is in a group is no secret
        "avg_re": least_error(data, release, seed=record.seed) if facts is None else _least_error_of(facts),
        "mixed_re": mixed_errors(data, release, record.seed).get("mean"),
        "ncp_columns": metrics.get("ncp_columns"),
        "kl": metrics.get("kl_uniform"),
        "published_items": release.published.n_items,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        **{
            name: metrics.get(name)
            for name in ("exact_ratio", "largest_set", "ncp", "ul_log2", "suppression_ratio", "il_ratio")
        },
    }


def _least_error_of(facts: Facts) -> float | None:
    """What ``least_error`` gives, from the errors that the report shows: the same queries were asked."""
    by_estimator = facts.query_errors.get("pairs") or facts.query_errors.get("singles") or {}
    return min((row["mean"] for row in by_estimator.values()), default=None)


def limit(order: dict[str, Any]) -> None:
    """End with whoever asked, and stop by oneself where nobody watches: at twice the time, or beyond the memory."""
    with suppress(AttributeError, OSError):  # elsewhere than on Linux the watching process has to do
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != order["parent"]:  # gone before that took effect
        os._exit(1)
    seconds, memory = int(2 * order["seconds"]) + 60, int(order["memory_mb"] * 1e6) + SPARE
    for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_DATA, memory)):
        _, hard = resource.getrlimit(what)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (allowed, hard))


def main() -> None:
    """Print the result, whatever happens."""
    warnings.simplefilter("ignore")
    try:
        order = json.loads(sys.argv[1])
        limit(order)
        result = work(order)
    except SetveilError as problem:
        result = {"status": "refused", "reason": str(problem)}
    except MemoryError:
        result = {"status": "memory", "reason": "out of memory"}
    except Exception as problem:
        result = {"status": "failed", "reason": f"internal error ({type(problem).__name__})"}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
