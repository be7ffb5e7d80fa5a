"""read → assess → anonymize → verify → measure → publish: the one place that knows the whole sequence.

The command line, the web page and a notebook all call it. Nothing is published that ``verify`` has not accepted, and
what it accepts are the files as written, read back.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.algorithms import Context, find_for
from setveil.algorithms.base import never
from setveil.core.progress import Progress, no_progress
from setveil.engines import engine_for
from setveil.errors import InputError, collected_warnings
from setveil.policy.resolve import model_of
from setveil.report.profiles import find_profile
from setveil.workflows.anonymize import make_release, with_names, with_warnings
from setveil.workflows.assess import quick_risk
from setveil.workflows.cluster import check_table, save_table
from setveil.workflows.inputs import read_input
from setveil.workflows.outputs import staging_for
from setveil.workflows.policies import hierarchy_of
from setveil.workflows.progress_bars import shows_progress
from setveil.workflows.publish import Outcome, publish, refuse_guessable
from setveil.workflows.repeated import digest_if_repeated, warn_of_other_categories
from setveil.workflows.signing import try_key

if TYPE_CHECKING:
    from setveil.policy.schema import Policy


@shows_progress
def run(
    policy: Policy | str | os.PathLike[str],
    source: Any,
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | bool = no_progress,
    cancelled: Callable[[], bool] = never,
    engine: str = "local",
    master: str | None = None,
    table: str | None = None,
    tell: Callable[[str], object] = lambda line: None,
    sign: str | os.PathLike[str] | None = None,
    population: Any = None,
) -> Outcome:
    """Carry out a policy on an input: read, anonymize, verify, measure and publish.

    Args:
        policy: the decisions of the data owner: a policy or its file. Policy and data may come in either order.
        source: anything that ``read`` takes; with ``engine="spark"`` also the name of a table.
        out: the folder to publish, or an address such as ``"s3://bucket/out"`` (``setveil[remote]``).
        force: replace an earlier release.
        progress: called with a stage name and a fraction between 0 and 1.
        cancelled: polled regularly; return True to cancel the run.
        engine: ``"local"``, or ``"spark"`` for data on a cluster.
        master: the master of the cluster, as ``"local[2]"`` or ``"spark://HOST:7077"``.
        table: with ``engine="spark"``: also save the published records as this table of the session's catalog.
        tell: receives a one-line summary of how the input was read.
        sign: a private key of OpenSSH; writes ``certificate.sig``.
        population: people among whom those of the data are, with the same items: anything that ``read`` takes.

    Returns:
        The paths, the verdict, and the record of the run.

    Raises:
        AlreadyPublishedError: the same release is already there.
        GuaranteeError: the files as written do not meet the guarantee; nothing is published.
        InfeasibleError: no release can meet the guarantee.
        InputError: the input, the policy or the folder is wrong.

    Examples:
        >>> import setveil as sv
        >>> policy = sv.Policy.from_dict({
        ...     "schema": 1,
        ...     "model": {"name": "km", "k": 2, "m": 2},
        ...     "algorithm": {"name": "aa"},
        ...     "hierarchy": {"source": "taxonomy.csv"},
        ... })
        >>> sv.run(policy, "baskets.txt", "from-a-policy").verdict.holds
        True
    """
    assert callable(progress)
    policy, source = _in_order(policy, source, out)
    chosen = policy.algorithm
    if chosen.name:
        find_for(policy.model.name, chosen.name)
        refuse_guessable(chosen.name, policy.output.accept_guessable)
    find_profile(policy.assessment.profile, policy.assessment.environment)  # complain before the long work
    if sign is not None:
        try_key(sign)
    store = master or "local[*]" if engine == "spark" else None  # whose file systems are used
    if table is not None:
        if store is None:
            raise InputError("--table is for --engine spark; remove it.")
        check_table(table, out, force, master)
    earlier = None if force else digest_if_repeated(out, policy, source, store)
    with staging_for(out, force or earlier is not None, store) as staging:  # reserved before the long work
        progress("reading", None)
        with collected_warnings() as read_notes:
            data, input_facts = read_input(source, policy, engine, master)
        tell(data.summary())
        with collected_warnings() as notes:
            tree = hierarchy_of(policy, data, progress)
            model = model_of(policy, data, tree)
            progress("assessing the risk", None)
            risk_before = quick_risk(data, model)
            data.forget_index()  # attacks come much later, and it is made quickly
            hierarchy = policy.hierarchy.source or ""
            context = Context(tree, engine_for(data), policy.seed, progress, cancelled, hierarchy)
            release = make_release(data, model, chosen.name, chosen.options, context)
            warn_of_other_categories(policy.file, release)
        outcome = publish(
            with_warnings(with_names(release, policy.output.names), [*read_notes, *notes]),
            out,
            to=policy.output.to if table is None or release.has_groups else "parquet",
            force=force,
            **policy.output.model_dump(exclude={"to", "names"}),
            policy=policy,
            input_facts=input_facts,
            risk_before=risk_before,
            sign=sign,
            population=population,
            progress=progress,
            staging=staging,
            earlier=earlier,
        )
    if table is not None:
        published, digest = outcome.certificate["release"]["published"], outcome.certificate["digest"]
        save_table(Path(outcome.path), published, digest, table, master)
    return outcome


def _in_order(policy: Any, source: Any, out: Any) -> tuple[Policy, Any]:
    """A policy and the data, given in either order; a policy may be its file."""
    from setveil.policy.schema import Policy

    for one, other in ((policy, source), (source, policy)) if isinstance(out, str | os.PathLike) else ():
        if isinstance(one, Policy):
            return one, other
        if isinstance(one, str | os.PathLike) and os.fspath(one).endswith(".toml"):
            return Policy.from_file(Path(one)), other
    raise InputError("run takes a policy, the data and the folder to publish: run(policy, data, out).")
