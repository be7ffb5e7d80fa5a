"""The one page: navigation, the step that is open, and what may be downloaded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, Response
from nicegui import Client, ui

from setveil.web import texts as t
from setveil.web.elements import Text, button, in_fields, problem, shown
from setveil.web.guard import REPORT_POLICY
from setveil.web.session import Run, Session
from setveil.web.workspace import Workspace

STEPS = tuple(t.STEPS)
LOOK = 0.4  # seconds between two looks whether the session changed
STYLE = Path(__file__).parent / "style.css"


class Page:
    """What one tab shows of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.step = session.step
        self.seen = -1  # version of the step that is shown
        self.told = ""  # problem that is shown
        self._frame()
        self.show(self.step)
        ui.run_javascript(  # Quasar shows it while a file is sent, without a name
            f"document.querySelector('.q-loading-bar').setAttribute('aria-label', {json.dumps(t.SENDING)})"
        )
        ui.timer(LOOK, self._look)
        if session.path is None:
            ui.timer(LOOK, lambda: session.begin(session.wake()), once=True)

    def _frame(self) -> None:
        Text("a", t.SKIP, "skip").props('href="#step"')
        with ui.element("header").classes("top"):
            Text("span", t.NAME, "name")
            Text("span", t.MOTTO, "motto")
        with ui.element("div").classes("page"):
            with ui.element("nav") as nav:
                nav.props["aria-label"] = t.NAVIGATION
                with ui.element("ol"):
                    self.links = {step: self._link(step) for step in STEPS}
            with ui.element("main").props("id=step tabindex=-1"):
                self.title = Text("h1", "").props("tabindex=-1")
                self.lead = Text("p", "", "lead")
                self.status = Text("p", "", "status").props("role=status")
                self.trouble = ui.element("div")
                self.content = ui.element("div").classes("content")

    def _link(self, step: str) -> Text:
        with ui.element("li"):
            link = Text("button", t.STEPS[step][0]).props("type=button")
            return link.on("click", lambda: self.go(step))

    def go(self, step: str) -> None:
        """Open a step, and tell keyboard and screen reader where they are."""
        self.show(step)
        ui.run_javascript(
            "window.scrollTo(0, 0); document.querySelector('.page > nav [aria-current]')"
            ".scrollIntoView({inline: 'center', block: 'nearest'}); document.querySelector('main h1').focus()"
        )

    def show(self, step: str) -> None:
        """Build a step anew."""
        session = self.session
        self.step = session.step = step  # a new tab, or a reload, opens where the last one was
        self.seen = session.versions[step]
        for name, link in self.links.items():
            link.props("aria-current=step") if name == step else link.props(remove="aria-current")
        self.title.text, self.lead.text = t.STEPS[step][1:]
        self._tell()
        self.content.clear()
        with self.content:
            if session.is_touring:
                self._guide(step)
            if session.read is None and step not in ("open", "check"):
                Text("p", t.NO_DATA_YET)
                button(t.STEPS["open"][0], lambda: self.go("open"), main=True)
            else:
                import_module(f"setveil.web.steps.{step}").build(self)

    def _guide(self, step: str) -> None:
        """What to try here, for those who came without data."""
        number = STEPS.index(step)

        def end() -> None:
            self.session.is_touring = False
            self.refresh()

        with ui.element("aside").classes("tour") as place:
            place.props["aria-label"] = t.TOUR_NAME
            Text("p", t.TOUR_WHERE.format(number=number + 1, n=len(STEPS)), "soft")
            Text("p", t.TOUR[step])
            with ui.element("div").classes("row-of-buttons"):
                if number + 1 < len(STEPS):
                    following = STEPS[number + 1]
                    button(t.NEXT.format(step=t.STEPS[following][0]), lambda: self.go(following), name=t.TOUR_NEXT)
                button(t.TOUR_END, end)

    def refresh(self) -> None:
        """Show the step as things are now."""
        self.show(self.step)

    def _tell(self) -> None:
        """What is going on, and what went wrong."""
        self.status.text = self.session.busy
        if self.told != self.session.problem:
            self.told = self.session.problem
            self.trouble.clear()
            if self.told:
                with self.trouble:
                    problem(shown(in_fields(self.told), 600))

    def _look(self) -> None:
        """Show what changed. A step is built anew only where what it shows is another: what is typed there stays."""
        if self.seen == self.session.versions[self.step]:
            self._tell()
        else:
            self.refresh()


def make_app(workspace: Workspace, file: Path | None) -> tuple[Any, Callable[[], None]]:
    """The application to guard, and what to call at the end."""
    sessions: dict[str, Session] = {}
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    def session_of(request: Request) -> Session:
        """The session of a request that the guard let through."""
        name = request.scope["setveil.session"]
        if name not in sessions:
            sessions[name] = Session(workspace)
            if file is not None:
                sessions[name].begin(sessions[name].open(file, file.name))
        return sessions[name]

    def run_of(request: Request, number: int) -> Run:
        """A run of this session, and of no other."""
        found = next((run for run in session_of(request).done() if run.number == number), None)
        if found is None:
            raise HTTPException(404)
        return found

    @app.get("/run/{number}/report/{kind}")
    async def report(request: Request, number: int, kind: str) -> Response:
        run = run_of(request, number)
        folder = run.out if kind == "public" else run.out.with_name(f"{run.out.name}.internal")
        return FileResponse(
            folder / "report.html", media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
        )

    @app.get("/run/{number}/{name}")
    async def download(request: Request, number: int, name: str) -> Response:
        files = {"release.zip": "application/zip", "policy.toml": "application/toml", "hierarchy.csv": "text/csv"}
        path = run_of(request, number).folder / "downloads" / name
        if name not in files or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, media_type=files[name], filename=name)

    def root(request: Request, client: Client) -> None:
        client.title = t.TITLE
        outer = client.content.parent_slot
        if outer is not None:
            outer.parent.props("role=none")  # Quasar calls everything <main>
        colours, parts = _shared_style()
        ui.add_head_html(f"<style>{colours}\n.drawn {{\n{parts}\n}}\n{STYLE.read_text(encoding='utf-8')}</style>")
        ui.colors(primary="#1f5fa8")
        Page(session_of(request))

    ui.page("/")(root)
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

    return app, close


def _shared_style() -> tuple[str, str]:
    from setveil.workflows.pictures import shared_style

    return shared_style()
