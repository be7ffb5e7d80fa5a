"""A data set that is open on the page: the file, the decisions about it, and its runs. It lives on the server, so a
reload loses nothing.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.errors import one_line
from setveil.web import texts as t
from setveil.web.children import Child, TaskError
from setveil.web.form import Form
from setveil.web.workspace import Workspace

EFFORT = "fast"  # people wait at the page; they can choose more
BAD = "bad"  # the colour of a red light


@dataclass
class Run:
    """One run of one policy on one data set."""

    number: int
    policy: dict[str, Any]
    guarantee: str
    folder: Path
    child: Child
    address: str  # of its files, below the page
    state: str = "running"  # then done, failed or cancelled
    stage: str = ""
    share: float | None = None
    started: float = field(default_factory=time.monotonic)
    stage_started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    result: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    is_infeasible: bool = False
    signing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def out(self) -> Path:
        """The public folder."""
        return self.folder / "release"

    @property
    def pages(self) -> dict[str, Path]:
        """Its pages, by the last part of their address; a page may be missing."""
        internal = self.out.with_name(f"{self.out.name}.internal")
        return {
            "public": self.out / "report.html",
            "internal": internal / "report.html",
            "assessment": internal / "assessment.html",
        }

    @property
    def lights(self) -> list[dict[str, str]]:
        """The lights of its release, none where there is no release."""
        return list(self.result.get("lights", ()))

    @property
    def is_red(self) -> bool:
        """Whether one of its lights is red."""
        return any(light["colour"] == BAD for light in self.lights)

    @property
    def needs_reason(self) -> bool:
        """Whether somebody must give a reason before the release is handed over."""
        return self.is_red and not self.policy["about"].get("reason")

    def progress(self, stage: str, share: float | None) -> None:
        """Take a report of its process."""
        if stage != self.stage:
            self.stage, self.stage_started = stage, time.monotonic()
        self.share = share

    def remaining(self) -> float | None:
        """Estimated seconds left in this stage, None at its beginning."""
        spent = time.monotonic() - self.stage_started
        if self.share is None or self.share < 0.05 or spent < 1:
            return None
        return spent * (1 - self.share) / self.share


class Dataset:
    """One file as it was read, everything decided about it, and its runs.

    ``number`` is its place in the addresses of the page; ``uploads`` maps the paths of uploads to the names they came
    with.
    """

    def __init__(self, workspace: Workspace, number: int, uploads: dict[str, str]) -> None:
        self.number, self.uploads = number, uploads
        self.folder = workspace.new_folder()
        self.versions: Counter[str] = Counter()  # per step, how often what it shows changed, so that tabs notice
        self.child = Child()  # holds the data
        self.spare: Child | None = None  # ready for the next run
        self.problem = ""
        self._doing: dict[object, str] = {}
        self._works: set[asyncio.Task[None]] = set()
        # open
        self.path: Path | None = None
        self.name = ""
        self.notes: list[str] = []  # warnings of readers
        self.options: dict[str, Any] = {}
        self.read: dict[str, Any] | None = None
        self.columns: list[Any] = []  # of a table: name, role, some cells
        self.is_reading = False
        # risk
        self.risk: dict[str, Any] | None = None
        self.known: list[str] = []
        # protect
        self.form = Form()
        self.algorithm: str | None = None
        self.algorithm_options: dict[str, Any] = {}  # of the proposal that was taken
        self.effort = EFFORT
        self.accepts_guessable = False
        self.purpose = "publish"
        self.proposals: dict[str, Any] | None = None
        self.n_known = 4  # items, in the picture of the risk
        # hierarchy
        self.hierarchy: str | None = None
        self.hierarchy_name = ""
        self.tree: dict[str, Any] | None = None
        self.faults: list[Any] = []  # of the last hierarchy file: severity, line, its text, what is wrong
        # run
        self.runs: list[Run] = []
        self.compared: list[int] = []  # runs that are shown side by side
        self.n_runs = 0
        self.handed_over: int | None = None  # the run that was chosen to be handed over
        self.about: dict[str, str] = {}  # the last sign-off
        # check
        self.checked: dict[str, Any] | None = None
        self.with_original = False

    def new_folder(self) -> Path:
        """An empty folder of its own."""
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def touch(self, *steps: str) -> None:
        """Something changed that these steps show, or all of them; steps that show nothing of it are left alone."""
        self.versions.update(steps or tuple(t.STEPS))

    # -- asking the child that holds the data ---------------------------------------------------------------------

    @property
    def busy(self) -> str:
        """What is being done now; the latest where there are several."""
        return next(reversed(self._doing.values()), "")

    @contextmanager
    def working(self, message: str) -> Iterator[Callable[[str, float | None], None]]:
        """Show that something takes a while; gives a progress callback. A TaskError becomes the problem shown."""
        work = object()
        self._doing[work], self.problem = message, ""

        def progress(stage: str, share: float | None) -> None:
            self._doing[work] = (t.STAGE if share is None else t.STAGE_SHARE).format(stage=stage, share=share)

        try:
            yield progress
        except TaskError as problem:
            if problem.kind != "replaced":
                self.problem = self.by_name(str(problem))
        finally:
            del self._doing[work]

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that goes on whatever the page shows."""
        task = asyncio.get_running_loop().create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    def title(self) -> str:
        """Its number and file name: a file may be open twice, read in two ways."""
        return t.DATASET_NONE if self.path is None else t.DATASET_NAME.format(number=self.number, name=self.name)

    def description(self) -> str:
        """Its size, and what a record is."""
        if self.read is None:
            return "" if self.path is None else t.READING if self.is_reading else t.DATASET_UNREAD
        facts = self.read["facts"]
        column = facts.get("id_column")
        record = t.RECORD_OF_COLUMN.format(column=one_line(column, 40)) if column else t.RECORD_OF_ROW
        return t.DATASET_FACTS.format(people=facts["records"], items=facts["items"], record=record)

    def by_name(self, message: str) -> str:
        """A message in which uploads have the names they came with: where they lie here helps nobody."""
        for path, name in self.uploads.items():
            message = message.replace(path, name)
        return message

    def open(
        self,
        path: Path,
        name: str,
        *,
        hierarchy: str | None = None,
        hierarchy_name: str = "",
        options: dict[str, Any] | None = None,
    ) -> None:
        """Start to read a file, the first and only one of this data set."""
        self.path, self.name, self.options = path, one_line(name), options or {}
        self.hierarchy, self.hierarchy_name = hierarchy, hierarchy_name
        self.begin(self.reread())

    def decide_as(self, other: Dataset) -> None:
        """Take over what was decided about the same file, read in another way."""
        self.form, self.accepts_guessable = deepcopy(other.form), other.accepts_guessable
        self.algorithm, self.effort, self.purpose = other.algorithm, other.effort, other.purpose
        self.algorithm_options = dict(other.algorithm_options)

    async def reread(self) -> None:
        """Read the file as the options say."""
        given = {"path": str(self.path), "name": self.name, "options": self.options}
        self.read = self.risk = self.tree = None
        self.is_reading = True
        self.touch()
        read: dict[str, Any] | None = None
        notes: list[str] = []
        with self.working(t.READING) as progress:
            read, notes = await self.child.ask("read", given, progress)
        columns = await self._columns()
        self.read, self.columns, self.is_reading = read, columns, False
        self.notes = [self.by_name(note) for note in notes]
        self.touch()
        if read is not None:
            self.begin(self._get_ready())
            with self.working(t.ASSESSING) as progress:
                self.risk, _ = await self.child.ask("risk", {}, progress)
            self.touch("risk")

    async def _columns(self) -> list[Any]:
        try:
            found, _ = await self.child.ask("columns", {"path": str(self.path), "options": self.options})
        except TaskError:
            return []
        return list(found)

    async def wake(self) -> None:
        """Start the process that will hold the data before a file is chosen."""
        if self.path is None:
            with suppress(TaskError):  # reading the file reports it
                await self.child.ask("wake")

    async def _get_ready(self) -> None:
        """Start the process of the next run before it is asked for."""
        if self.spare is None:
            self.spare = child = Child(gives_way=True)
            with suppress(TaskError):  # the run reports it
                await child.ask("wake")

    async def ask(self, message: str, task: str, **given: Any) -> Any:
        """The result of a task over the data, or None where it has a problem."""
        result = None
        with self.working(message) as progress:
            result, _ = await self.child.ask(task, given, progress)
        return result

    async def find_items(self, text: str) -> list[tuple[str, int]]:
        """Items by name, and how many people have each; none where the data is gone."""
        try:
            found, _ = await self.child.ask("find_items", {"text": text})
        except TaskError:
            return []
        return [(item, support) for item, support in found]

    async def find_groups(self, text: str) -> list[tuple[str, list[str]]]:
        """Groups of the hierarchy by name, and the items of the data in each; none where no hierarchy is chosen."""
        if not self.hierarchy:
            return []
        try:
            found, _ = await self.child.ask("find_groups", {"text": text, "source": self.hierarchy})
        except TaskError:
            return []
        return [(label, list(items)) for label, items in found]

    async def suggest(self) -> None:
        """Try what fits, in a process of its own."""
        child = Child(gives_way=True)
        given = {
            "path": str(self.path),
            "options": self.options,
            "hierarchy": self.hierarchy,
            "sensitive": self.form.sensitive,
            "purpose": self.purpose,
        }
        with self.working(t.TRYING) as progress:
            self.proposals, _ = await child.ask("suggest", given, progress)
        await child.end()
        self.touch("protect")

    # -- the guarantee --------------------------------------------------------------------------------------------

    def choose_algorithm(self, name: str | None, options: dict[str, Any] | None = None) -> None:
        """Use this algorithm, or the default; what was accepted of another one is not accepted of this."""
        self.algorithm, self.algorithm_options, self.accepts_guessable = name, dict(options or {}), False

    def tries_several(self) -> bool:
        """Whether several algorithms are tried, with more or less effort."""
        return self.algorithm is None and self.form.tries_several()

    def hierarchy_use(self) -> str:
        """Whether the chosen algorithm, or the default of the model, needs a hierarchy: ``required``, ``optional`` or
        ``none``.
        """
        if self.tries_several():
            return "optional"  # some of those that are tried need none
        entries = self.form.algorithms()
        chosen = [entry for entry in entries if entry.name == self.algorithm] or entries[:1]
        return chosen[0].hierarchy if chosen else "none"

    def hierarchy_source(self) -> str | None:
        """The hierarchy that a run uses; where one is needed and none was chosen, it is built from the data."""
        use = self.hierarchy_use()
        return None if use == "none" else self.hierarchy or ("auto" if use == "required" else None)

    def policy(self) -> dict[str, Any]:
        """Everything decided, as a policy."""
        algorithm: dict[str, Any] = {}
        if self.algorithm:
            algorithm = {"name": self.algorithm, "options": dict(self.algorithm_options)}
        if self.tries_several():
            algorithm["options"] = {"effort": self.effort}
        return {
            "model": {"name": self.form.model, **self.form.options()},
            "algorithm": algorithm,
            "hierarchy": {"source": self.hierarchy_source()},
            "input": dict(self.options),
            "output": {"accept_guessable": True} if self.accepts_guessable else {},
            "about": {},  # filled in when it is handed over
        }

    # -- runs -----------------------------------------------------------------------------------------------------

    def start_run(self) -> Run:
        """Start a run of what is decided now."""
        self.n_runs += 1
        child, self.spare = self.spare or Child(gives_way=True), None
        run = Run(
            self.n_runs,
            self.policy(),
            self.form.privacy_model().guarantee(),
            self.new_folder(),
            child,
            f"/data/{self.number}/run/{self.n_runs}",
        )
        self.runs.append(run)
        self.begin(self._run(run))
        self.touch("run")
        return run

    async def _run(self, run: Run) -> None:
        given = {"path": str(self.path), "name": self.name, "policy": run.policy, "out": str(run.out)}
        try:
            run.result, _ = await run.child.ask("run", given, run.progress)
            if run.state == "running":
                run.state = "done"
        except TaskError as problem:
            if run.state == "running":
                run.state, run.problem = "failed", self.by_name(str(problem))
                run.is_infeasible = problem.kind == "InfeasibleError"
        finally:
            run.child.stop()
            run.seconds = time.monotonic() - run.started
            if run.state != "done":
                shutil.rmtree(run.folder, ignore_errors=True)
            self.touch("run", "compare", *(["handover"] if len(self.done()) == 1 else []))

    def cancel(self, run: Run) -> None:
        """Stop a run at once; nothing of it stays."""
        if run.state == "running":
            run.state = "cancelled"
            run.child.replace()
            self.touch("run")

    def to_hand_over(self) -> Run:
        """The run that was chosen; else the latest without a red light, where there is one."""
        runs = self.done()
        chosen = [run for run in runs if run.number == self.handed_over]
        return [*runs, *(run for run in runs if not run.is_red), *chosen][-1]

    def done(self) -> list[Run]:
        """Runs that gave a release."""
        return [run for run in self.runs if run.state == "done"]

    def close(self, *, keeps_upload: bool = False) -> None:
        """Stop everything, and remove its files."""
        for child in (self.child, self.spare, *(run.child for run in self.runs)):
            if child is not None:
                child.replace()
        shutil.rmtree(self.folder, ignore_errors=True)
        if not keeps_upload and str(self.path) in self.uploads:
            shutil.rmtree(Path(str(self.path)).parent, ignore_errors=True)
