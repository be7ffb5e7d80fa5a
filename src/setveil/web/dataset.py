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
from pathlib import Path
from typing import Any

from setveil.errors import one_line
from setveil.io.roles import OPTION_OF
from setveil.web import texts as t
from setveil.web.children import ENDED, Child, TaskError
from setveil.web.form import Form
from setveil.web.runs import Run
from setveil.web.workspace import Workspace
from setveil.workflows.proposals import PURPOSES

Progress = Callable[[str, float | None], None]
UNCLEAR = "UnclearColumnsError"  # the kind of a problem that the owner solves by stating roles
EFFORT = "fast"  # people wait at the page; they can choose more


class Dataset:
    """One file as it was read, everything decided about it, and its runs.

    ``number`` is its place in the addresses of the page; ``uploads`` maps the paths of uploads to the names they came
    with.
    """

    def __init__(self, workspace: Workspace, number: int, uploads: dict[str, str]) -> None:
        self.workspace, self.number, self.uploads = workspace, number, uploads
        self.folder = workspace.new_folder()
        self.versions: Counter[str] = Counter()  # per step, how often what it shows changed, so that tabs notice
        self.child = Child()  # holds the data
        self.spare: Child | None = None  # ready for the next run
        self.problems: dict[str, str] = {}  # per step, what went wrong there last
        self.visited: set[str] = set()  # steps that were shown
        self.kept: Path | None = None  # where the workspace is kept
        self.reopening = ""  # what was lost when it was opened again
        self._doing: dict[object, str] = {}
        self._works: set[asyncio.Task[None]] = set()
        # columns and overview
        self.path: Path | None = None
        self._stamp: tuple[int, ...] = ()  # of the file when it was read
        self._holder = 0  # the process that read it, by the number of its start
        self.name = ""
        self.notes: list[str] = []  # warnings of readers
        self.options: dict[str, Any] = {}
        self.read: dict[str, Any] | None = None
        self.columns: list[dict[str, Any]] = []  # of a table, with their roles
        self.questions: list[str] = []  # about columns, for the owner
        self.is_undecided = False  # not read, because only the owner can tell the columns apart
        self.sheets: list[str] = []  # of a workbook
        self.purpose = next(iter(PURPOSES))
        self.profile: str | None = None
        self.recipient = ""
        self.is_reading = False
        self.names: dict[str, str] = {}  # of codes, from the list or the code system
        self.names_list: str | None = None
        # risk
        self.risk: dict[str, Any] | None = None
        self.known: list[str] = []  # items of a person, tried by hand
        self.known_values: dict[str, str] = {}  # and values of columns
        self.known_columns: list[str] = []  # in the picture of the risk
        self.risk_of: dict[tuple[str, ...], list[dict[str, Any]]] = {}  # rows by the known columns
        # protect
        self.form = Form()
        self.algorithm: str | None = None
        self.algorithm_options: dict[str, Any] = {}  # of the proposal that was taken
        self.effort = EFFORT
        self.accepts_guessable = False
        self.proposals: dict[str, Any] | None = None
        self.proposing: Child | None = None  # tries settings now
        self.patience = 1.0  # times the usual budget of that search; it grows where nothing was found
        self.found_nothing = False
        self.n_known = 4  # items, in the picture of the risk
        # hierarchy
        self.hierarchy: str | None = None
        self.hierarchy_name = ""
        self.tree: dict[str, Any] | None = None
        self.n_trees = 0  # that were built or read
        self.systems: dict[str, Any] | None = None  # code systems, and the one that the items belong to
        self.preview: dict[str, Any] | None = None  # what the guarantee would do with this hierarchy
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
    def working(self, message: str, step: str) -> Iterator[Progress]:
        """Show that something takes a while; gives a progress callback. A TaskError becomes the problem of the step."""
        work = object()
        self._doing[work] = message
        self.problems.pop(step, None)

        def progress(stage: str, share: float | None) -> None:
            self._doing[work] = (t.STAGE if share is None else t.STAGE_SHARE).format(
                stage=stage, percent=100 * (share or 0)
            )

        try:
            yield progress
        except TaskError as problem:
            if problem.kind != "replaced":
                self.problems[step] = self.by_name(str(problem))
        finally:
            del self._doing[work]

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that goes on whatever the page shows."""
        task = asyncio.get_running_loop().create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        while self._works:
            await asyncio.gather(*self._works)

    def title(self) -> str:
        """Its number and file name: a file may be open twice, read in two ways."""
        return t.DATASET_NONE if self.path is None else t.DATASET_NAME.format(number=self.number, name=self.name)

    def description(self) -> str:
        """Its size, and what a record is."""
        if self.read is None:
            unread = t.DATASET_UNDECIDED if self.is_undecided else t.DATASET_UNREAD
            return "" if self.path is None else t.READING if self.is_reading else unread
        facts = self.read["facts"]
        column = facts.get("id_column")
        record = t.RECORD_OF_COLUMN.format(column=one_line(column, 40)) if column else t.RECORD_OF_ROW
        words = t.DATASET_VISITS if self.read["are_visits"] else t.DATASET_FACTS
        return words.format(people=facts["records"], items=facts["items"], record=record)

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
        self.is_reading = True
        self.begin(self.reread())

    def decide_as(self, other: Dataset) -> None:
        """Take over what was decided about the same file, read in another way."""
        self.form, self.accepts_guessable = deepcopy(other.form), other.accepts_guessable
        self.algorithm, self.effort, self.about = other.algorithm, other.effort, dict(other.about)
        self.purpose, self.profile, self.recipient = other.purpose, other.profile, other.recipient
        self.algorithm_options, self.names_list = dict(other.algorithm_options), other.names_list

    async def reread(self) -> None:
        """Read the file as the options say."""
        given = {"path": str(self.path), "name": self.name, "options": self.options}
        self.read = self.risk = self.tree = None
        self.known, self.known_values, self.known_columns, self.risk_of = [], {}, [], {}
        self.preview = None
        self.forget_proposals()
        self.is_reading = True
        self.touch()
        read: dict[str, Any] | None = None
        notes: list[str] = []
        unclear = ""
        self._stamp = stamp_of(self.path)
        with self.working(t.READING, "columns") as progress:
            try:
                read, notes = await self.child.ask("read", given, progress)
            except TaskError as problem:
                if problem.kind != UNCLEAR:
                    raise
                unclear = t.COLUMNS_UNCLEAR.format(what=self.by_name(str(problem)), read=t.READ_AGAIN)
        self._holder = self.child.n_starts
        columns = await self._columns()
        self.read, self.is_reading, self.is_undecided = read, False, bool(unclear)
        self.columns, self.sheets = columns["columns"], columns["sheets"]
        self.questions = [*([unclear] if unclear else []), *columns["questions"]]
        if read is not None:
            self.form.suit([(column["name"], column["role"]) for column in read["columns"]])
        self.notes = [self.by_name(note) for note in notes]
        self.touch()
        if read is not None:
            self.begin(self._get_ready())
            await self.take_names(self.names_list)
            self.risk = await self.ask(t.ASSESSING, "risk", "risk")
            if self.risk is not None:  # attackers know the known columns unless somebody says otherwise
                self.known_columns = list(self.risk["values"])
                self.risk_of = {tuple(self.known_columns): self.risk["with_columns"]}
            self.touch("risk")

    async def take_names(self, path: str | None) -> None:
        """Show names beside codes: those of the list, else those of the code system."""
        names = await self.ask(t.READING, "overview", "names", path=path)
        if names is not None and (names, path) != (self.names, self.names_list):
            self.names, self.names_list = names, path
            self.touch("overview", "risk", "protect", "hierarchy")

    def shown(self, label: str, limit: int = 40) -> str:
        """An item or category as people see it, with its name where it has one."""
        name = self.names.get(label)
        return one_line(label, limit) if not name else f"{one_line(label, limit)} {one_line(name, limit)}"

    async def _columns(self) -> dict[str, Any]:
        try:
            found, _ = await self.child.ask("columns", {"path": str(self.path), "options": self.options})
        except TaskError:
            return {"columns": [], "questions": [], "sheets": []}
        return dict(found)

    def states_roles(self) -> bool:
        """Whether somebody said what the columns are."""
        return any(name in self.options for name in OPTION_OF.values())

    def asks_for_roles(self) -> bool:
        """Whether columns have to be looked at first: one may be known or sensitive, and nobody has stated a role."""
        return not self.states_roles() and any(column["role"] in ("known", "sensitive") for column in self.columns)

    async def wake(self) -> None:
        """Start the process that will hold the data before a file is chosen."""
        if self.path is None:
            with suppress(TaskError):  # reading the file reports it
                await self.child.ask("wake")

    async def _get_ready(self) -> None:
        """Start the process of the next run before it is asked for."""
        if self.spare is None and self.folder.is_dir():  # else the data set was closed
            self.spare = child = Child(gives_way=True)
            with suppress(TaskError):  # the run reports it
                await child.ask("wake")

    async def ask_apart(self, task: str, **given: Any) -> Any:
        """The result of a short task that needs no records: nothing else keeps it waiting."""
        child = self.spare = self.spare or Child(gives_way=True)  # that of the next run has nothing to do yet
        answer, _ = await child.ask(task, given)
        return answer

    async def ask(self, message: str, step: str, task: str, **given: Any) -> Any:
        """The result of a task over the data, or None where it has a problem, which the step then shows."""
        found: list[Any] = []
        with self.working(message, step) as progress:
            found.append(await self.answer(task, given, progress))
        return found[0] if found else None

    async def answer(self, task: str, given: dict[str, Any], progress: Progress | None = None) -> Any:
        """The answer of the process that holds the data. Where that process has ended, another one reads the same file
        and is asked again, once.
        """
        for is_last in (False, True):
            try:
                if self.read is not None and (self.child.has_ended or self.child.n_starts != self._holder):
                    await self._read_once_more(progress)
                answer, _ = await self.child.ask(task, given, progress)
                return answer
            except TaskError as problem:
                if problem.kind != ENDED or is_last:
                    raise
        raise AssertionError

    async def _read_once_more(self, progress: Progress | None) -> None:
        """Give a new process what the old one held: the records, and the hierarchy that is shown."""
        self.check_unchanged()
        await self.child.ask("read", {"path": str(self.path), "name": self.name, "options": self.options}, progress)
        await self.child.ask("names", {"path": self.names_list}, progress)
        if self.tree is not None and self.hierarchy:
            await self.child.ask("tree", {"source": self.hierarchy}, progress)
        self._holder = self.child.n_starts

    def check_unchanged(self) -> None:
        """TaskError where the file is no longer the one that was read: nothing may mix the two."""
        if self.path is not None and stamp_of(self.path) != self._stamp:
            raise TaskError(t.FILE_CHANGED.format(name=self.name), "changed")

    async def find_items(self, text: str) -> list[tuple[str, int]]:
        """Items by name, and how many people have each; none where the data is gone."""
        try:
            found = await self.answer("find_items", {"text": text})
        except TaskError:
            return []
        return [(item, support) for item, support in found]

    async def find_groups(self, text: str) -> list[tuple[str, list[str]]]:
        """Groups of the hierarchy by name, and the items of the data in each; none where no hierarchy is chosen."""
        if not self.hierarchy:
            return []
        try:
            found = await self.answer("find_groups", {"text": text, "source": self.hierarchy})
        except TaskError:
            return []
        return [(label, list(items)) for label, items in found]

    def forget_proposals(self) -> None:
        """They were made for other records or another audience."""
        self.proposals, self.found_nothing, self.patience = None, False, 1.0
        if self.proposing is not None:
            self.proposing.replace()

    async def suggest(self) -> None:
        """Try what fits, in a process of its own; one search at a time."""
        if self.proposing is not None:
            return
        child = self.proposing = Child(gives_way=True)
        self.found_nothing = False
        self.touch("protect")
        given = {
            "path": str(self.path),
            "options": self.options,
            "hierarchy": self.hierarchy,
            "sensitive": self.form.sensitive,
            "purpose": self.purpose,
            "profile": self.profile,
            "patience": self.patience,
        }
        with self.working(t.TRYING, "protect") as progress:
            self.check_unchanged()
            try:
                self.proposals, _ = await child.ask("suggest", given, progress)
            except TaskError as problem:
                self.found_nothing = problem.kind == "InfeasibleError"
                self.patience *= 2 if self.found_nothing else 1
                raise
        self.proposing = None
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
            "output": {
                **({"accept_guessable": True} if self.accepts_guessable else {}),
                **({"names": self.names_list} if self.names_list else {}),
            },
            "about": {},  # filled in when it is handed over
            "assessment": {name: value for name, value in self.assessment().items() if value},
        }

    def assessment(self) -> dict[str, str | None]:
        """Who receives the release, and what it is compared with."""
        return {
            "profile": self.profile,
            "environment": PURPOSES[self.purpose].environment,
            "recipient": self.recipient,
        }

    def is_done(self, step: str) -> bool:
        """Whether a step needs nothing more."""
        is_seen, is_read = step in self.visited, self.read is not None
        conditions = {
            "start": self.path is not None,
            "columns": is_read and not self.asks_for_roles(),
            "risk": is_seen and self.risk is not None,
            "protect": is_seen and is_read and self.proposing is None and not self.form.problem(),
            "hierarchy": is_read and (is_seen or bool(self.runs)),
            "run": bool(self.done()),
            "compare": is_seen and bool(self.done()),
            "handover": any(run.is_handed_over for run in self.runs),
            "check": self.checked is not None,
        }
        return conditions.get(step, is_seen and is_read)

    # -- runs -----------------------------------------------------------------------------------------------------

    def address_of(self, run: int) -> str:
        """The address of a run, below the page."""
        return f"/data/{self.number}/run/{run}"

    def start_run(self) -> Run:
        """Start a run of what is decided now."""
        self.n_runs += 1
        child, self.spare = self.spare or Child(gives_way=True), None
        policy = self.policy()
        policy["model"] |= self.form.settled()
        run = Run(
            self.n_runs,
            policy,
            self.form.privacy_model().guarantee(),
            self.new_folder(),
            child,
            self.address_of(self.n_runs),
        )
        self.runs.append(run)
        self.begin(self._run(run))
        self.touch("run")
        return run

    async def _run(self, run: Run) -> None:
        given = {"path": str(self.path), "name": self.name, "policy": run.policy, "out": str(run.out)}
        try:
            self.check_unchanged()
            run.result, _ = await run.child.ask("run", given, run.progress)
            self.check_unchanged()  # the run read it for itself
            if run.state == "running":
                run.state = "done"
                self.begin(self._get_ready())
        except TaskError as problem:
            if run.state == "running":
                run.state, run.problem = "failed", self.by_name(str(problem))
                run.is_infeasible = problem.kind == "InfeasibleError"
        finally:
            run.child.stop()
            run.seconds = time.monotonic() - run.started
            if run.state != "done":
                shutil.rmtree(run.folder, ignore_errors=True)
            self.touch("start", "run", "compare", *(["handover"] if len(self.done()) == 1 else []))

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
        for child in (self.child, self.spare, self.proposing, *(run.child for run in self.runs)):
            if child is not None:
                child.replace()
        shutil.rmtree(self.folder, ignore_errors=True)
        if not keeps_upload and str(self.path) in self.uploads:
            shutil.rmtree(Path(str(self.path)).parent, ignore_errors=True)


def stamp_of(path: Path | None) -> tuple[int, ...]:
    """What changes when a file is replaced or written to; nothing where there is none."""
    try:
        found = (path or Path()).stat()
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ino
