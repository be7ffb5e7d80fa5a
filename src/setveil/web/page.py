"""The one page: navigation, the data set and the step that are shown, and what may be downloaded."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, Response
from nicegui import Client, events, ui

from setveil.web import kept
from setveil.web import texts as t
from setveil.web.dataset import Dataset
from setveil.web.elements import Text, button, empty, in_fields, paragraph, problem, shown
from setveil.web.guard import REPORT_POLICY
from setveil.web.help import HELP, TOUR, TOUR_END, TOUR_NAME, TOUR_NEXT, TOUR_WHERE
from setveil.web.runs import Run
from setveil.web.session import Session
from setveil.web.uploads import Sender
from setveil.web.workspace import Workspace
from setveil.workflows.pictures import shared_style

STEPS = tuple(t.STEPS)
NEED_DATA = tuple(step for step in STEPS if step not in ("start", "columns", "check"))
LOOK = 0.4  # seconds between two looks whether something changed
STYLE = Path(__file__).parent / "style.css"
# Back and Forward give the page the address they lead to, without the random path that all addresses share.
ON_MOVED = """window.addEventListener('popstate',
  () => emitEvent('moved', location.pathname.slice(window.path_prefix.length)))"""
# The heading takes the focus, so that keyboard and screen reader go on there.
AT_STEP = "document.querySelector('.page > nav [aria-current]').scrollIntoView({inline: 'center', block: 'nearest'});"
AT_HEADING = f"window.scrollTo(0, 0); {AT_STEP} document.querySelector('main h1').focus()"
# What went wrong is brought into view where the step is longer than the window.
TO_TROUBLE = "document.querySelector('.trouble')?.scrollIntoView({block: 'nearest'})"


class Page:
    """What one tab shows of a session: one step of one data set, and one run where the step shows single runs."""

    def __init__(self, session: Session, dataset: Dataset, step: str, part: str = "") -> None:
        self.session, self.dataset, self.step, self.part = session, dataset, step, part
        self.client = ui.context.client
        self._seen = -1  # version of the step that is shown
        self._read: object = None  # the data that it was built from
        self._seen_header: object = None
        self._seen_problem = ""
        self._seen_done: list[bool] = []
        self.shows_help = False
        self.sending = ""  # what is being sent
        self.sent_by: dict[tuple[int, str, str], Sender] = {}  # per data set, step and place
        self.parts: list[Part] = []  # of the step that is shown
        self._frame()
        self.show(step, part)
        self._write_address("replaceState")
        ui.on("moved", self._move)
        self.client.run_javascript(f"{ON_MOVED}; {AT_STEP}")
        self.client.run_javascript(  # Quasar shows it while a file is sent, without a name
            f"document.querySelector('.q-loading-bar').setAttribute('aria-label', {json.dumps(t.SENDING)})"
        )
        ui.timer(LOOK, self._look)
        if dataset.path is None:
            ui.timer(LOOK, lambda: dataset.begin(dataset.wake()), once=True)

    def _frame(self) -> None:
        Text("a", t.SKIP, "skip").props('href="#step"')
        with ui.element("header").classes("top"):
            Text("span", t.TITLE, "name")
            Text("span", t.MOTTO, "motto")
        self.notice = ui.element("div")
        with ui.element("section").classes("dataset") as header:
            header.props["aria-label"] = t.DATASET
            self.header = ui.element("div")
        with ui.element("div").classes("page") as self.page:
            with ui.element("nav") as nav:
                nav.props["aria-label"] = t.NAVIGATION
                with ui.element("ol"):
                    self.links = {step: self._link(step) for step in STEPS}
            with ui.element("main").props("id=step tabindex=-1"):
                with ui.element("div").classes("between heading"):
                    self.title = Text("h1", "").props("tabindex=-1")
                    self.asks = button(t.HELP_OPEN, self._toggle_help)
                    self.asks.props["aria-expanded"] = "false"
                self.lead = Text("p", "", "lead")
                self.status = Text("p", "", "status").props("role=status")
                self.trouble = ui.element("div").classes("trouble")
                self.content = ui.element("div").classes("content")
                self.footer = ui.element("div").classes("row-of-buttons footer")
            self.help = ui.element("aside").classes("help")
            self.help.props["aria-label"] = t.HELP_NAME
        self.senders = ui.element("div").classes("senders")  # of files; a step may be built anew meanwhile

    def _link(self, step: str) -> Text:
        with ui.element("li"):
            link = Text("button", t.STEPS[step][0]).props("type=button")
            return link.on("click", lambda: self.go(step))

    # -- where it is ----------------------------------------------------------------------------------------------

    def go(self, step: str, part: str = "") -> None:
        """Open a step, under an address of its own, and tell keyboard and screen reader where they are."""
        self.show(step, part)
        self._write_address("pushState")
        self.client.run_javascript(AT_HEADING)

    def show_dataset(self, dataset: Dataset, step: str = "") -> None:
        """Show another data set: everything on the page is then about that one."""
        self.dataset = dataset
        self.show(step or self.step)
        self._write_address("pushState")

    @property
    def address(self) -> str:
        """Of what is shown, below the random path that all addresses share."""
        if self.step == "start":
            return "/start"
        return f"/data/{self.dataset.number}/{self.step}" + (f"/{self.part}" if self.part else "")

    def _write_address(self, how: str) -> None:
        address = json.dumps(self.address)
        self.client.run_javascript(
            f"if (location.pathname !== window.path_prefix + {address})"
            f" history.{how}(null, '', window.path_prefix + {address})"
        )
        self._write_title()

    def _write_title(self) -> None:
        name = "" if self.dataset.path is None or self.step == "start" else self.dataset.name
        title = " · ".join(part for part in (t.STEPS[self.step][0], name, t.TITLE) if part)
        self.client.run_javascript(f"document.title = {json.dumps(title)}")

    def _move(self, event: events.GenericEventArguments) -> None:
        """Back or Forward."""
        dataset, step, part = place_of(str(event.args), self.session)
        self.dataset = dataset or self.dataset
        self.show(step or self.step, part)
        self._write_title()  # not the address: the browser may be elsewhere by now
        self.client.run_javascript(AT_HEADING)

    # -- what it shows --------------------------------------------------------------------------------------------

    def show(self, step: str, part: str = "") -> None:
        """Build a step anew."""
        dataset, session = self.dataset, self.session
        if step == "overview" and dataset.path and not dataset.read and not dataset.is_reading:
            step = "columns"  # where it can be mended
        if step == "overview" and dataset.read and dataset.asks_for_roles() and "columns" not in dataset.visited:
            step = "columns"  # before any figure looks safe
        self.step = session.step = step  # a new tab opens where the last one was
        self.part = part
        session.dataset = dataset
        if dataset.read is not None:  # a step that had nothing to show was not seen
            dataset.visited.add(step)
        self._seen, self._read = dataset.versions[step], dataset.read
        for name, link in self.links.items():
            link.props("aria-current=step") if name == step else link.props(remove="aria-current")
        self.title.text, self.lead.text = t.STEPS[step][1:]
        self._show_header()
        self._show_status()
        self._show_help()
        self.content.clear()
        self.parts = []
        with self.content:
            if session.is_touring:
                self._guide(step)
            if dataset.read is None and step in NEED_DATA:
                if not dataset.is_reading:  # else the status says so
                    back = "start" if dataset.path is None else "columns"
                    empty(t.NO_DATA_YET, t.STEPS[back][0], lambda: self.go(back))
            else:
                import_module(f"setveil.web.steps.{step}").build(self)
        self._show_footer()

    def _show_footer(self) -> None:
        """Back and Next."""
        before, after = around(self.dataset, self.step)
        self.footer.clear()
        with self.footer:
            if before:
                button(t.BACK.format(step=t.STEPS[before][0]), lambda: self.go(before))
            if after and (self.dataset.read is not None or self.step not in (*NEED_DATA, "start", "columns")):
                is_main = self.dataset.is_done(self.step)  # else the step itself has the one main button
                button(t.NEXT.format(step=t.STEPS[after][0]), lambda: self.go(after), main=is_main)

    def _toggle_help(self) -> None:
        self.shows_help = not self.shows_help
        self.asks.props["aria-expanded"] = "true" if self.shows_help else "false"
        self.asks.update()
        self._show_help()

    def _show_help(self) -> None:
        """What the step is about, beside the work."""
        self.page.classes(add="with-help" if self.shows_help else "", remove="" if self.shows_help else "with-help")
        self.help.set_visibility(self.shows_help)
        self.help.clear()
        if self.shows_help:
            with self.help:
                with ui.element("div").classes("between"):
                    Text("h2", t.HELP_OPEN, "title")
                    button(t.CLOSE, self._toggle_help)
                for title, text in HELP[self.step]:
                    Text("h3", title)
                    paragraph(text[:1].upper() + text[1:])

    def _show_header(self) -> None:
        """The data set that everything below is about, a choice of the others, and the notice about other browsers."""
        session = self.session
        choices = {dataset.number: dataset.title() for dataset in session.datasets}
        current = session.notice, choices, self.dataset.number, self.dataset.description(), self.step == "start"
        self._show_done()
        if current == self._seen_header:
            return
        self._seen_header = current
        self.notice.clear()
        with self.notice:
            if session.notice:
                with ui.element("div").classes("notice").props("role=alert"):
                    Text("p", session.notice)
                    button(t.DISMISS, self._dismiss)
        self.header.clear()
        with self.header:
            Text("span", self.dataset.title(), "which")
            Text("span", self.dataset.description(), "soft")
            if len(choices) > 1:
                select = ui.select(choices, value=self.dataset.number, label=t.DATASET_SWITCH, on_change=self._switch)
                select.props("options-dense")

    def _show_done(self) -> None:
        """Mark the steps that need nothing more."""
        done = [self.dataset.is_done(step) for step in STEPS]
        if done != self._seen_done:
            self._seen_done = done
            for (step, link), is_done in zip(self.links.items(), done, strict=True):
                name = t.STEPS[step][0]
                link.props["aria-label"] = t.DONE.format(step=name) if is_done else name
                link.classes(add="done" if is_done else "", remove="" if is_done else "done")

    def _dismiss(self) -> None:
        self.session.notice = ""
        self._show_header()

    def _switch(self, event: Any) -> None:
        found = self.session.find(event.value)
        if found is not None and found is not self.dataset:
            self.show_dataset(found)

    def _guide(self, step: str) -> None:
        """What to try here, for people who came without data."""
        number = STEPS.index(step)

        def end() -> None:
            self.session.is_touring = False
            self.refresh()

        with ui.element("aside").classes("tour") as place:
            place.props["aria-label"] = TOUR_NAME
            Text("p", TOUR_WHERE.format(number=number, n=len(STEPS) - 1), "soft")
            Text("p", TOUR[step])
            with ui.element("div").classes("row-of-buttons"):
                if number + 1 < len(STEPS):
                    following = STEPS[number + 1]
                    button(t.NEXT.format(step=t.STEPS[following][0]), lambda: self.go(following), name=TOUR_NEXT)
                button(TOUR_END, end)

    def refresh(self) -> None:
        """Show the step as things are now; where another one must come first, the address is that one's."""
        before = self.step
        self.show(before, self.part)
        if self.step != before:
            self._write_address("replaceState")

    def _show_status(self) -> None:
        """What is going on, and what went wrong on this step."""
        self.status.text = self.sending or self.dataset.busy
        words = self.dataset.problems.get(self.step, "")
        if self._seen_problem != words:
            self._seen_problem = words
            self.trouble.clear()
            if words:
                with self.trouble:
                    problem(shown(in_fields(words), 2000))
                self.client.run_javascript(TO_TROUBLE)

    def _look(self) -> None:
        """Show what changed since the last look."""
        if self.dataset not in self.session.datasets:  # another tab removed it
            self.show_dataset(self.session.dataset)
        elif self._seen != self.dataset.versions[self.step]:
            is_same = self.step == "start" or self._read is self.dataset.read
            self._update() if self.parts and is_same else self.refresh()
        else:
            self._show_header()
            self._show_status()

    def _update(self) -> None:
        """Show what changed in the step; the rest stays as it is, with what is typed there."""
        self._seen = self.dataset.versions[self.step]
        for part in self.parts:
            part.look()
        self._show_header()
        self._show_status()
        self._show_footer()

    def add_part(self, build: Callable[[], object], shows: Callable[[], object] = lambda: None) -> None:
        """A part of the step that is built anew only where what it ``shows`` is another."""
        self.parts.append(Part(build, shows))


class Part:
    """A part of a step."""

    def __init__(self, build: Callable[[], object], shows: Callable[[], object]) -> None:
        self.build, self.shows = build, shows
        self.shown: object = self  # nothing that it could show
        self.place = ui.element("div").classes("part")
        self.look()

    def look(self) -> None:
        """Build it where it shows something else than before."""
        shown_now = self.shows()
        if shown_now != self.shown:
            self.shown = shown_now
            self.place.clear()
            with self.place:
                self.build()


def place_of(address: str, session: Session) -> tuple[Dataset | None, str, str]:
    """The data set, the step and the part of it that an address names; empty where it names none."""
    parts = [*address.strip("/").split("/"), "", "", "", ""]
    if parts[0] == "start":
        return None, "start", ""
    dataset = session.find(int(parts[1])) if parts[1].isdecimal() and len(parts[1]) < 10 else None
    return dataset, parts[2] if parts[2] in STEPS else "", parts[3]


def around(dataset: Dataset, step: str) -> tuple[str, str]:
    """The steps before and after one; a hierarchy that nothing uses is passed over."""
    way = [name for name in STEPS if (name != "hierarchy" or name == step or _uses(dataset))]
    place = way.index(step)
    return way[place - 1] if place else "", way[place + 1] if place + 1 < len(way) else ""


def _uses(dataset: Dataset) -> bool:
    return dataset.hierarchy_use() != "none"


def make_app(workspace: Workspace, file: Path | None) -> tuple[Any, Callable[[str], None], Callable[[], None]]:
    """The application to guard, what to call with every new session, and what to call at the end. Sessions begin with
    ``file``: a data file, or the folder of a workspace.
    """
    sessions: dict[str, Session] = {}
    opened: dict[str, str] = {}  # when each session was opened
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    def announce(name: str) -> None:
        """Tell every session about another one: if somebody else got in, the owner sees it."""
        opened[name] = time.strftime("%H:%M:%S")
        for session in sessions.values():
            session.notice = t.OTHER_SESSION.format(time=opened[name])

    def session_of(request: Request) -> Session:
        """The session of a request that the guard let through."""
        name = request.scope["setveil.session"]
        if name not in sessions:
            sessions[name] = session = Session(workspace)
            others = [when for other, when in opened.items() if other != name]
            session.notice = t.OTHER_SESSION.format(time=others[-1]) if others else ""
            if file is not None and file.is_dir():  # a workspace
                kept.reopen(session, session.dataset, file, is_kept=False)
                session.step = "compare"
            elif file is not None:
                session.open(session.dataset, file, file.name)
                session.step = "overview"
        return sessions[name]

    def run_of(request: Request, dataset: int, number: int) -> Run:
        """A run of this session, and of no other."""
        found = session_of(request).find(dataset)
        run = next((run for run in found.done() if run.number == number), None) if found else None
        if run is None:
            raise HTTPException(404)
        return run

    @app.get("/data/{dataset}/run/{number}/report/{kind}")
    async def report(request: Request, dataset: int, number: int, kind: str) -> Response:
        path = run_of(request, dataset, number).pages.get(kind)
        if path is None or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})

    @app.get("/data/{dataset}/run/{number}/{name}")
    async def download(request: Request, dataset: int, number: int, name: str) -> Response:
        files = {
            "release.zip": "application/zip",
            "policy.toml": "application/toml",
            t.REPEAT_TREE: "text/csv",
            t.REPEAT_NAMES: "text/csv",
        }
        path = run_of(request, dataset, number).folder / "downloads" / name
        if name not in files or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, media_type=files[name], filename=name)

    def build(client: Client, session: Session, dataset: Dataset, step: str, part: str = "") -> None:
        client.title = t.TITLE
        outer = client.content.parent_slot
        if outer is not None:
            outer.parent.props("role=none")  # Quasar calls everything <main>
        colours, parts = shared_style()
        ui.add_head_html(f"<style>{colours}\n.drawn {{\n{parts}\n}}\n{STYLE.read_text(encoding='utf-8')}</style>")
        ui.colors(primary="#1f5fa8")
        Page(session, dataset, step, part)

    def root(request: Request, client: Client) -> None:
        session = session_of(request)
        build(client, session, session.dataset, session.step)

    def start(request: Request, client: Client) -> None:
        session = session_of(request)
        build(client, session, session.dataset, "start")

    def at(request: Request, client: Client, number: str, step: str, part: str = "") -> None:
        session = session_of(request)
        found, step, part = place_of(f"data/{number}/{step}/{part}", session)
        build(client, session, found or session.dataset, step if found and step else "start", part)

    ui.page("/")(root)
    ui.page("/start")(start)
    ui.page("/data/{number}/{step}")(at)
    ui.page("/data/{number}/{step}/{part}")(at)
    ui.run_with(
        app,
        title=t.TITLE,
        dark=None,
        language="en-US",
        tailwind=False,
        gzip_middleware_factory=None,
        reconnect_timeout=10,
        binding_refresh_interval=None,
        show_welcome_message=False,
        favicon="🛡️",
    )

    def close() -> None:
        for session in sessions.values():
            session.close()
        shutil.rmtree(workspace.folder, ignore_errors=True)

    return app, announce, close
