"""What one browser is doing: the file, the promise, the hierarchy, the runs. Lives on the server, so a reload loses
nothing.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import setveil as sv
from setveil.errors import one_line
from setveil.web import texts as t
from setveil.web.children import Child, TaskError
from setveil.web.workspace import Workspace, safe_name

if TYPE_CHECKING:
    from nicegui.elements.upload_files import FileUpload

MODELS: dict[str, Callable[..., Any]] = {
    "km": sv.KmAnonymity,
    "degree": sv.PrivacyDegree,
    "k-anonymity": sv.KAnonymity,
    "coherence": sv.Coherence,
    "constraints": sv.ConstraintAnonymity,
}
NEEDS_SENSITIVE = ("degree", "coherence")
TAKES_SENSITIVE = (*NEEDS_SENSITIVE, "k-anonymity")
PARAMETERS: dict[str, tuple[str, ...]] = {
    "km": ("k", "m"),
    "degree": ("p",),
    "k-anonymity": ("k", "l"),
    "coherence": ("h", "k", "p"),
    "constraints": ("k", "max_suppressed"),
}
EFFORT = "fast"  # people wait at the page; more can be asked for


@dataclass
class Run:
    """One run of one policy."""

    number: int
    policy: dict[str, Any]
    guarantee: str
    folder: Path
    child: Child
    state: str = "running"  # then done, failed or cancelled
    stage: str = ""
    share: float | None = None
    started: float = field(default_factory=time.monotonic)
    stage_started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    result: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    is_infeasible: bool = False

    @property
    def out(self) -> Path:
        """The public folder."""
        return self.folder / "release"

    def progress(self, stage: str, share: float | None) -> None:
        """Heard from its process."""
        if stage != self.stage:
            self.stage, self.stage_started = stage, time.monotonic()
        self.share = share

    def remaining(self) -> float | None:
        """Seconds left in this stage, once that can be told."""
        spent = time.monotonic() - self.stage_started
        if self.share is None or self.share < 0.05 or spent < 1:
            return None
        return spent * (1 - self.share) / self.share


class Session:
    """Everything one browser has decided so far."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.versions: Counter[str] = Counter()  # per step, how often what it shows changed, so that tabs notice
        self.step = "open"
        self.is_touring = False
        self.child = Child()  # holds the data
        self.spare: Child | None = None  # ready for the next run
        self.problem = ""
        self._doing: dict[object, str] = {}
        self._works: set[asyncio.Task[None]] = set()
        # open
        self.path: Path | None = None
        self.name = ""
        self.uploads: dict[str, str] = {}  # where each lies, and the name it came with
        self.notes: list[str] = []  # what readers warn of
        self.is_sample = False
        self.options: dict[str, Any] = {}
        self.read: dict[str, Any] | None = None
        self.columns: list[Any] = []  # of a table: name, role, some cells
        self.is_reading = False
        # danger
        self.danger: dict[str, Any] | None = None
        self.known: list[str] = []
        # protect
        self.model = "km"
        self.parameters: dict[str, Any] = {"k": 5, "m": 2, "p": 4, "l": 1, "h": 50.0, "max_suppressed": 0.0}
        self.sensitive: list[str] = []
        self.constraints: list[list[str]] = []
        self.utility: list[list[str]] = []  # groups of items that are not mixed with others
        self.utility_rest = "free"
        self.algorithm: str | None = None
        self.effort = EFFORT
        self.accepts_guessable = False
        self.purpose = "publish"
        self.proposals: list[dict[str, Any]] | None = None
        # hierarchy
        self.hierarchy: str | None = None
        self.hierarchy_name = ""
        self.tree: dict[str, Any] | None = None
        self.faults: list[Any] = []  # of the last hierarchy file: severity, line, its text, what is wrong
        # run
        self.runs: list[Run] = []
        self.compared: list[int] = []  # runs that are shown side by side
        self.n_runs = 0
        self.about: dict[str, str] = {}  # as it was signed last
        # check
        self.checked: dict[str, Any] | None = None

    def touch(self, *steps: str) -> None:
        """Something changed that these steps show, or all of them; steps that show nothing of it are left alone."""
        self.versions.update(steps or tuple(t.STEPS))

    # -- asking the child that holds the data ---------------------------------------------------------------------

    @property
    def busy(self) -> str:
        """What is being done now, in words; the latest where there are several."""
        return next(reversed(self._doing.values()), "")

    @contextmanager
    def working(self, words: str) -> Iterator[Callable[[str, float | None], None]]:
        """Something takes a while: gives what hears its progress; what goes wrong is kept as the problem."""
        work = object()
        self._doing[work], self.problem = words, ""

        def progress(stage: str, share: float | None) -> None:
            told = t.STAGE if share is None else t.STAGE_SHARE
            self._doing[work] = told.format(stage=stage, share=share)

        try:
            yield progress
        except TaskError as problem:
            if problem.kind != "replaced":
                self.problem = self.by_name(str(problem))
        finally:
            del self._doing[work]

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that goes on whoever looks at the page."""
        task = asyncio.get_running_loop().create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    async def receive(self, file: FileUpload, stem: str) -> Path:
        """Keep an upload under a name of our own."""
        path = self.workspace.new_folder() / safe_name(file.name, stem)
        self.uploads[str(path)] = one_line(file.name)
        await file.save(path)
        return path

    def by_name(self, words: str) -> str:
        """Words in which uploads have the names they came with: where they lie here tells nobody anything."""
        for path, name in self.uploads.items():
            words = words.replace(path, name)
        return words

    async def open(self, path: Path, name: str, *, is_sample: bool = False, taxonomy: str | None = None) -> None:
        """Read another file; whatever was said about the one before is forgotten."""
        if self.path is not None:
            self.child.replace()
            self.child = Child()
        self.path, self.name, self.is_sample, self.options = path, name, is_sample, {}
        self.known, self.sensitive, self.constraints, self.utility = [], [], [], []
        self.proposals, self.hierarchy_name = None, ""
        self.hierarchy, self.faults = taxonomy, []
        await self.reread()

    async def reread(self) -> None:
        """Read the file as the options say; where another is opened meanwhile, this one is forgotten."""
        child, given = self.child, {"path": str(self.path), "name": self.name, "options": self.options}
        self.read = self.danger = self.tree = None
        self.is_reading = True
        self.touch()
        read: dict[str, Any] | None = None
        notes: list[str] = []
        with self.working(t.READING) as progress:
            read, notes = await child.ask("read", given, progress)
        columns = await self._columns(child)
        if child is not self.child:
            return
        self.read, self.columns, self.is_reading = read, columns, False
        self.notes = [self.by_name(note) for note in notes]
        self.touch()
        if read is not None:
            self.begin(self._get_ready())
            danger = None
            with self.working(t.ASSESSING) as progress:
                danger, _ = await child.ask("danger", {}, progress)
            if child is self.child:
                self.danger = danger
                self.touch("danger")

    async def _columns(self, child: Child) -> list[Any]:
        try:
            found, _ = await child.ask("columns", {"path": str(self.path), "options": self.options})
        except TaskError:
            return []
        return list(found)

    async def wake(self) -> None:
        """Start the process that will hold the data while somebody still looks for the file."""
        if self.path is None:
            with suppress(TaskError):  # reading will say what is wrong
                await self.child.ask("wake")

    async def _get_ready(self) -> None:
        """Start the process of the next run while somebody still thinks about it."""
        if self.spare is None:
            self.spare = child = Child(gives_way=True)
            with suppress(TaskError):  # the run will say what is wrong
                await child.ask("wake")

    async def ask(self, words: str, task: str, **given: Any) -> Any:
        """The result of a task over the data, or None where it has a problem."""
        result = None
        with self.working(words) as progress:
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
            "sensitive": self.sensitive,
            "purpose": self.purpose,
        }
        with self.working(t.TRYING) as progress:
            self.proposals, _ = await child.ask("suggest", given, progress)
        await child.end()
        self.touch("protect")

    # -- the promise ----------------------------------------------------------------------------------------------

    def promise(self) -> Any:
        """The model as it is set now; InputError where something is missing."""
        return MODELS[self.model](**self.model_options())

    def model_options(self) -> dict[str, Any]:
        """Its parameters."""
        options = {name: self.parameters[name] for name in PARAMETERS[self.model]}
        if self.model in TAKES_SENSITIVE and (self.sensitive or self.model in NEEDS_SENSITIVE):
            options["sensitive"] = list(self.sensitive)
        if self.model == "constraints":
            options["constraints"] = [list(items) for items in self.constraints]
            if self.utility:
                options["utility"] = [list(items) for items in self.utility]
        return options

    def tries_several(self) -> bool:
        """Whether several ways are tried, with more or less effort."""
        return self.algorithm is None and self.model == "km"

    def tree_use(self) -> str:
        """Whether the way that is chosen, or the model's usual one, needs a hierarchy: ``required``, ``optional`` or
        ``none``.
        """
        if self.tries_several():
            return "optional"  # several ways are tried, and some go without
        ways = [entry for entry in sv.algorithms() if self.model in entry.models]
        return next((entry for entry in ways if entry.name == self.algorithm), ways[0]).hierarchy

    def tree_source(self) -> str | None:
        """The hierarchy that a run uses; where one is needed and none was chosen, it is built from the data."""
        use = self.tree_use()
        return None if use == "none" else self.hierarchy or ("auto" if use == "required" else None)

    def policy(self) -> dict[str, Any]:
        """Everything decided, as a policy."""
        algorithm: dict[str, Any] = {"name": self.algorithm} if self.algorithm else {}
        if self.tries_several():
            algorithm["options"] = {"effort": self.effort}
        model = {"name": self.model, **self.model_options()}
        if "utility" in model:
            model["utility_rest"] = self.utility_rest
        return {
            "model": model,
            "algorithm": algorithm,
            "hierarchy": {"source": self.tree_source()},
            "input": dict(self.options),
            "output": {"accept_guessable": True} if self.accepts_guessable else {},
            "about": {},  # signed when it is handed over
        }

    # -- runs -----------------------------------------------------------------------------------------------------

    def start_run(self) -> Run:
        """Start a run of what is decided now."""
        self.n_runs += 1
        child, self.spare = self.spare or Child(gives_way=True), None
        run = Run(self.n_runs, self.policy(), self.promise().guarantee(), self.workspace.new_folder(), child)
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

    def done(self) -> list[Run]:
        """Runs that gave a release."""
        return [run for run in self.runs if run.state == "done"]

    def close(self) -> None:
        """Stop everything."""
        for child in (self.child, self.spare, *(run.child for run in self.runs)):
            if child is not None:
                child.replace()
