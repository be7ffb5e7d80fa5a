"""What a child process of the page does: each task calls workflows and returns plain values.

Labels in results are as the data has them; the page shows them through ``errors.one_line``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import setveil as sv
from setveil.arrays.compiling import call_before_compiling
from setveil.core.provenance import VISITS
from setveil.errors import InfeasibleError, InputError, UncheckedError
from setveil.io.transactions.ambiguous_columns import UNCLEAR
from setveil.report.assessment import statements_of
from setveil.report.profiles import find_profile
from setveil.web.proposals import shown_proposals
from setveil.web.texts import (
    ONE_AND_MANY,
    PRODUCT_LIST,
    RUN_NAME,
    SUGGEST,
    SUGGEST_LONGER,
)
from setveil.workflows import (
    bounded,
    code_systems,
    compare,
    compare_worker,
    explore,
    handover,
    losses,
    pictures,
    pipeline,
    policies,
    previews,
    recheck,
    signing,
    tree_edits,
)
from setveil.workflows import suggest as suggesting
from setveil.workflows.hierarchy import resolve_hierarchy

LONGER = SUGGEST_LONGER.format(suggest=SUGGEST)
KNOWN_ITEMS = (1, 2, 3, 4)  # of a person, in the picture of the risk
KNOWN = 3  # items an attacker knows, in the comparison of runs
N_SHOWN = 200  # children of a node at a time
FACTS = "facts"  # what the report of a run was made of, beside its release
AUDIT_SECONDS = 300.0  # until a check of a file that states nothing is given up
BINS = (1, 2, 5, 10, 100)
# Figures of the comparison: how they are shown, and what is best.
FIGURES: dict[str, tuple[Callable[[Any], str], Callable[[set[float]], float] | None]] = {
    "exact_ratio": (pictures.short_percent, max),
    "largest_set": (pictures.figure, min),
    "mean_chance": (pictures.short_percent, min),
    "singled_out": (pictures.short_percent, min),
    "sensitive_chance": (pictures.short_percent, min),
    "avg_re": (pictures.short_percent, min),
    "mixed_re": (pictures.short_percent, min),
    "kl": (pictures.figure, min),
    "published_items": (pictures.figure, max),
    "seconds": (pictures.seconds, None),
}


class UnclearColumnsError(InputError):
    """A table whose columns only the owner can tell apart."""


class Tasks:
    """Holds one data set between two tasks; ``do_NAME`` carries out the task of that name."""

    def __init__(self, progress: Any) -> None:
        self.progress = progress
        call_before_compiling(lambda: progress("compiling, for the first run of this kind", None))
        self._data: sv.Transactions | None = None
        self.trees: list[sv.Hierarchy] = []  # the last is shown; the others are taken back to
        self.supports: list[int] = []
        self.names: dict[str, str] = {}  # of items and categories
        self.floors: dict[int, float] = {}  # the least error of pair counts at each k
        self.picked_from: dict[str, sv.Hierarchy] = {}  # the last tree whose groups were looked up, by its source

    @property
    def data(self) -> sv.Transactions:
        """The data that was read."""
        if self._data is None:
            raise InputError("Open a file first.")
        return self._data

    def do_wake(self) -> None:
        """The process is started, and has imported what its tasks need."""

    # -- open -----------------------------------------------------------------------------------------------------

    def do_read(self, path: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """Read a file; how it was read, and its first records."""
        self.progress("reading", None)
        try:
            data = explore.as_visits(sv.read(path, **options), options)
        except InputError as problem:
            what, is_unclear, _ = str(problem).partition(UNCLEAR)
            raise UnclearColumnsError(what) if is_unclear else problem from None
        if data.reading is not None:  # an upload has the name it came with
            data = replace(data, reading=replace(data.reading, name=name))
        self._data, self.trees, self.picked_from, self.names, self.floors = data, [], {}, {}, {}
        who = _who(data)
        return {
            "facts": data.facts(),
            "are_visits": _are_visits(data),
            "records": explore.first_records(data),
            "overview": explore.overview(data),
            "columns": explore.known_columns(data),
            "lengths": pictures.length_chart(*explore.lengths(data), who),
            "supports": pictures.support_chart(_supports_by_size(data), who),
        }

    def do_names(self, path: str | None) -> dict[str, str]:
        """Names of codes from a list, else from their code system; items are searched by them, too."""
        self.names = explore.names_of_codes(self.data, path)
        return self.names

    def do_columns(self, path: str, options: dict[str, Any]) -> dict[str, Any]:
        """The columns of a table with their roles, what only the owner can answer, and the sheets of a workbook."""
        columns, questions = explore.columns_of(path, options)
        return {"columns": columns, "questions": questions, "sheets": explore.sheets_of(path)}

    # -- risk -----------------------------------------------------------------------------------------------------

    def do_risk(self) -> dict[str, Any]:
        """The risk by number of known items, and rare combinations."""
        rows = explore.risk_with_columns(self.data, (), KNOWN_ITEMS, self.progress)  # of items alone
        values = explore.column_values(self.data)
        return {
            "rows": rows,
            "chart": pictures.risk_chart(rows),
            "rarest": [[{}, items] for items, _ in explore.rarest(self.data, progress=self.progress)],
            "rare_people": explore.rare_people(self.data),
            "values": values,
            "with_columns": self.do_risk_with_columns(list(values), list(KNOWN_ITEMS)) if values else rows,
        }

    def do_risk_with_columns(self, columns: list[str], known: list[int]) -> list[dict[str, Any]]:
        """The risk of attackers who know these columns and some items."""
        return explore.risk_with_columns(self.data, columns, known, self.progress)

    def do_find_items(self, text: str) -> list[tuple[str, int]]:
        """Items by name."""
        return explore.find_items(self.data, text, self.names)

    def do_find_groups(self, text: str, source: str) -> list[tuple[str, list[str]]]:
        """Groups by name, and the items of the data in each."""
        if source not in self.picked_from:
            tree = resolve_hierarchy(source, self.data, progress=self.progress)
            assert tree is not None
            self.picked_from = {source: tree}
        return tree_edits.groups_with_items(self.picked_from[source], self.data, text)

    def do_fitting(self, labels: list[str], values: dict[str, str]) -> int:
        """How many people have all these."""
        return explore.fitting(self.data, labels, values)

    # -- protect --------------------------------------------------------------------------------------------------

    def do_suggest(
        self,
        path: str,
        options: dict[str, Any],
        hierarchy: str | None,
        sensitive: list[str],
        purpose: str,
        profile: str | None,
        patience: float,
    ) -> dict[str, Any]:
        """Two or three settings that were tried and work, why, and what was rejected."""
        data = sv.read(path, **options)
        who = _who(explore.as_visits(data, options))
        try:
            found = suggesting.suggest(
                data,
                purpose=purpose,
                profile=profile,
                hierarchy=hierarchy,
                sensitive=sensitive,
                seconds=patience * suggesting.SECONDS,
                progress=self.progress,
            )
        except InfeasibleError as problem:  # the page has a button instead of an option
            raise InfeasibleError(str(problem).replace(suggesting.MORE_TIME, LONGER)) from None
        crowds = compare.crowds_of(choice.policy.model.given() for choice in found.choices)
        judged_by = find_profile(profile, found.purpose.environment)
        return shown_proposals(found, judged_by, compare.floors_of(data, crowds), who)

    # -- hierarchy ------------------------------------------------------------------------------------------------

    def do_tree(self, source: str, name: str = "") -> dict[str, Any]:
        """Build or read a hierarchy that fits the data."""
        tree = resolve_hierarchy(source, self.data, progress=self.progress)
        assert tree is not None
        self._show(tree, [])
        return self.do_node(tree.root)

    def do_node(self, node: int, start: int = 0) -> dict[str, Any]:
        """A node, the way to it, and its children."""
        tree = self._tree()
        if not 0 <= node < tree.n_nodes:
            node = tree.root
        children = sorted(tree.children[node], key=lambda child: (child < tree.n_items, -self.supports[child]))
        return {
            "path": [self._facts_of(above) for above in reversed(tree.ancestors(node))],
            "children": [self._facts_of(child) for child in children[start : start + N_SHOWN]],
            "n_children": len(children),
            "start": start,
            "n_shown": N_SHOWN,
            "n_items": tree.n_items,
            "n_groups": tree.n_nodes - tree.n_items,
            "height": tree.height,
            "n_steps": len(self.trees) - 1,
        }

    def do_find_nodes(self, text: str) -> list[dict[str, Any]]:
        """Nodes by name, each with the way to it."""
        tree = self._tree()
        found = tree_edits.find_nodes(tree, text)
        return [
            {**self._facts_of(node), "way": [tree.labels[above] for above in reversed(tree.ancestors(node)[1:])]}
            for node in found
        ]

    def do_edit(self, edit: str, node: int, given: Any = None) -> dict[str, Any]:
        """Rename, move, merge, split or dissolve; shows the place where it happened."""
        tree = self._tree()
        edits: dict[str, Any] = {
            "rename": lambda: tree_edits.renamed(tree, node, given),
            "move": lambda: tree_edits.moved(tree, given, node),
            "merge": lambda: tree_edits.merged(tree, given["nodes"], given["label"]),
            "split": lambda: tree_edits.split(tree, given["nodes"], given["label"]),
            "dissolve": lambda: tree_edits.dissolved(tree, node),
        }
        label = {"rename": lambda: given, "split": lambda: given["label"]}.get(edit, lambda: tree.labels[node])()
        self._show(edits[edit](), self.trees)
        tree = self._tree()
        place = next((group for group in range(tree.n_items, tree.n_nodes) if tree.labels[group] == label), tree.root)
        return self.do_node(place)

    def do_unnamed(self) -> dict[str, Any]:
        """Groups that still need a name, with a few of their items."""
        tree = self._tree()
        nodes, n_all = tree_edits.unnamed(tree)
        return {
            "groups": [
                {**self._facts_of(node), "items": [tree.labels[leaf] for leaf in tree.leaves(node)[:8].tolist()]}
                for node in nodes
            ],
            "n_all": n_all,
        }

    def do_systems(self) -> dict[str, Any]:
        """The code systems, and the one that the items belong to."""
        found, words = code_systems.code_system_of(self.data)
        words = words.replace(f" (--hierarchy {found})", "")  # the page has a button, and a place to drop a file
        words = words.replace(code_systems.PRODUCTS, PRODUCT_LIST)
        return {"systems": code_systems.titles_of_systems(), "found": found, "words": words}

    def do_preview(self, policy: dict[str, Any]) -> dict[str, Any]:
        """What a policy would do to the items, with the hierarchy that is shown; nothing is written."""
        return previews.preview(self.data, policies.make_policy(policy), self._tree(), self.names, self.progress)

    def do_faults(self, path: str) -> list[explore.Fault]:
        """What is wrong with a hierarchy file, line by line."""
        return explore.faults_of_hierarchy(path, self.data.vocabulary)

    def do_undo(self) -> dict[str, Any]:
        """Take the last step back."""
        if len(self.trees) > 1:
            self._show(self.trees[-2], self.trees[:-2])
        return self.do_node(self._tree().root)

    def do_save_tree(self, path: str) -> None:
        """Write the hierarchy as CSV, leaf to root."""
        self._tree().to_file(path)

    def _tree(self) -> sv.Hierarchy:
        if not self.trees:
            raise InputError("Choose a hierarchy first.")
        return self.trees[-1]

    def _show(self, tree: sv.Hierarchy, before: Sequence[sv.Hierarchy]) -> None:
        self.supports = tree_edits.supports_below(tree, self.data)
        self.trees = [*before, tree]

    def _facts_of(self, node: int) -> dict[str, Any]:
        return tree_edits.node_of(self._tree(), node, self.supports)._asdict()

    # -- run ------------------------------------------------------------------------------------------------------

    def do_run(self, path: str, name: str, policy: dict[str, Any], out: str) -> dict[str, Any]:
        """The whole flow of one policy, and the figures of the comparison."""
        decided = policies.make_policy(policy)
        outcome = pipeline.run(decided, path, out, progress=self.progress)
        record = outcome.release.record
        assert record is not None
        self.progress("comparing", None)
        facts = outcome.facts
        assert facts is not None
        (Path(out).parent / FACTS).write_bytes(pickle.dumps(facts.with_files(outcome.certificate["files"])))
        picture, legend = pictures.cut_picture(facts)
        before, after = outcome.risk_before.to_dict()["rows"], outcome.risk_after.to_dict()["rows"]
        return {
            "guarantee": record.model.guarantee(),
            "not_protected": record.model.not_protected(),
            "lights": [light._asdict() for light in outcome.lights],
            "advice": list(outcome.advice),
            "achieved": dict(outcome.achieved),
            "metrics": pictures.metric_rows(outcome.metrics),
            "chart": pictures.risk_chart(before, after, _finite(record.model.reach)),
            "has_reach": record.model.reach is not None,
            "warnings": list(record.warnings),
            "statements": statements_of(facts),
            "seconds": sum(outcome.seconds.values()),
            "files": sorted(outcome.certificate["files"]),
            "picture": picture,
            "legend": legend,
            "losses": losses.losses_of(facts, outcome.release, record.data.rows, record.model),
            "examples": list(facts.examples),
            "figures": {
                "status": "ok",
                "seconds": record.seconds["anonymize"],
                **compare_worker.figures_of(record.data.rows, outcome.release, KNOWN, outcome.facts),
            },
        }

    def do_compare(self, runs: list[dict[str, Any]]) -> dict[str, Any]:
        """The runs in one picture."""
        points = [
            compare.Point(str(run["number"]), policies.make_policy(run["policy"]), run["figures"]) for run in runs
        ]
        names = {point.id: RUN_NAME.format(number=point.id) for point in points}
        crowds = compare.crowds_of(point.policy.model.given() for point in points)
        self.floors |= compare.floors_of(self.data, crowds - set(self.floors))
        floors = {k: floor for k, floor in self.floors.items() if k in crowds}
        chart, key, rows = pictures.runs_chart(points, KNOWN, names, floors)
        compared = [
            {
                "number": int(row["id"]),
                "name": row["name"],
                "is_best": row["pareto"],
                "figures": {name: show(row[name]) for name, (show, _) in FIGURES.items()},
            }
            for row in rows
        ]
        return {"chart": chart, "key": key, "rows": compared, "best": best_figures(rows)}

    # -- hand over ------------------------------------------------------------------------------------------------

    def do_policy(self, policy: dict[str, Any]) -> str:
        """The policy as its file."""
        return policies.make_policy(policy).to_toml()

    def do_sign(self, out: str, about: dict[str, Any], recipient: str | None) -> None:
        """Put the sign-off into the internal files of a run."""
        facts = pickle.loads((Path(out).parent / FACTS).read_bytes())  # written by the run, in a folder of our own
        handover.sign_off(out, facts, about, recipient)

    def do_sign_certificate(self, out: str, key: str) -> str:
        """Sign the certificate of a release with a key of the owner; what is known of the signature."""
        signing.sign_certificate(Path(out), Path(key).expanduser())
        return signing.check_signature(Path(out)).key or ""

    def do_zip(self, out: str, target: str, name: str) -> None:
        """The public folder as an archive."""
        handover.zip_public(out, target, name)

    def do_keep(self, out: str, target: str) -> list[str]:
        """Copy the release and its internal folder to their place."""
        return [str(path) for path in handover.keep_release(out, target)]

    # -- check ----------------------------------------------------------------------------------------------------

    def do_check(self, path: str, original: str | None, options: dict[str, Any]) -> dict[str, Any]:
        """The verdict about a folder or an archive."""
        warned: list[str] = []
        request = bounded.Request(path, original, reading=options if original else {})
        with bounded.BoundedCheck(request) as check:  # the files may come from anyone
            answer = check.answer(bounded.Listener(self.progress, warn=warned.append))
        claim = answer["claim"]
        reason = answer["reason"] if claim is not None and not claim["holds"] else ""
        problems = [line.replace(f"{path}/", "") for line in answer["problems"]]  # an upload lies anywhere
        return {**answer, "problems": problems, "reason": reason, "notes": [*answer["notes"], *warned]}

    def do_audit(self, model: dict[str, Any]) -> dict[str, Any]:
        """Whether the data as it is meets a guarantee."""
        try:
            verdict, _ = recheck.audit(self.data, model, 0, AUDIT_SECONDS, self.progress)
        except UncheckedError as problem:
            return {"holds": None, "reason": str(problem), "nothing_left": ""}
        left = recheck.nothing_left(self.data) if verdict.holds else ""
        return {"holds": verdict.holds, "reason": "" if verdict.holds else verdict.reason, "nothing_left": left}


def best_figures(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The best of each figure in which runs differ, as it is shown: what looks the same is equally good."""
    found = {}
    for name, (show, choose) in FIGURES.items():
        values = {row[name] for row in rows if row[name] is not None}
        if choose is not None and len({show(value) for value in values}) > 1:
            found[name] = show(choose(values))
    return found


def _are_visits(data: sv.Transactions) -> bool:
    return data.reading is not None and VISITS in data.reading.doubts


def _who(data: sv.Transactions) -> str:
    """What records are: people, or visits."""
    return ONE_AND_MANY[_are_visits(data)][1]


def _supports_by_size(data: sv.Transactions) -> list[int]:
    """Items by the number of people who have them."""
    supports = data.supports[data.supports > 0]
    bounds = zip(BINS, (*BINS[1:], float("inf")), strict=True)
    return [int(((supports >= low) & (supports < high)).sum()) for low, high in bounds]


def _finite(reach: float | None) -> float | None:
    return None if reach is None else min(reach, 99.0)
