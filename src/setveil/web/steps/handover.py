"""Hand over: the public folder as an archive, both folders in their place, the policy and the command that repeats
it.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import Child, TaskError
from setveil.web.elements import Text, bullets, button, card_title, heading, paragraph, shown
from setveil.web.session import Run, Session

if TYPE_CHECKING:
    from setveil.web.page import Page


def build(page: Page) -> None:
    """The step."""
    runs = page.session.done()
    if not runs:
        paragraph(t.COMPARE_NONE)
        button(t.NEXT.format(step=t.STEPS["run"][0]), lambda: page.go("run"), main=True)
        return
    choices = {run.number: t.RUN_NAME.format(number=run.number) for run in runs}
    ui.select(choices, value=runs[-1].number, label=t.WHICH_RUN, on_change=lambda event: show(event.value)).props(
        "outlined dense"
    ).classes("wide")
    place = ui.element("div")

    def show(number: int) -> None:
        place.clear()
        with place:
            _hand_over(page, next(run for run in runs if run.number == number))

    show(runs[-1].number)


def _hand_over(page: Page, run: Run) -> None:
    session = page.session
    Text("p", run.guarantee, "sentence")
    _sign(session, run)
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(t.ZIP_TITLE)
            paragraph(t.ZIP_NOTE)
            bullets([*run.result["files"], "certificate.json"], "soft")

            async def download() -> None:
                if await _ask(session, "zip", out=str(run.out), target=str(_place(run, "release.zip")), name="release"):
                    ui.download(f"/run/{run.number}/release.zip", "release.zip")

            button(t.ZIP, download, main=True)
            ui.link(t.REPORT_PUBLIC, f"/run/{run.number}/report/public", new_tab=True)
        with ui.element("section").classes("card"):
            card_title(t.KEEP_TITLE)
            paragraph(t.KEEP_NOTE)
            field = ui.input(label=t.KEEP_LABEL).props("outlined dense")
            told = Text("p", "", "status").props("role=status")

            async def keep() -> None:
                given = (field.value or "").strip()
                target = Path(given).expanduser().absolute()
                if not given:
                    return
                kept = await _ask(session, "keep", out=str(run.out), target=str(target))
                if kept:
                    told.text = t.KEPT.format(public=shown(kept[0], 200), internal=shown(kept[1], 200))

            field.on("keydown.enter", keep)
            button(t.KEEP, keep)
            ui.link(t.REPORT_INTERNAL, f"/run/{run.number}/report/internal", new_tab=True)
    _repeat(session, run)


def _sign(session: Session, run: Run) -> None:
    """Purpose, and who decides: into the report that stays in the house."""
    heading(t.SIGN_TITLE)
    paragraph(t.SIGN_NOTE, "soft")
    known = run.policy["about"] or {**session.about, "date": ""}
    with ui.element("div").classes("fields"):
        fields = {
            name: ui.input(label=label, value=known.get(name, "")).props("outlined dense")
            for name, label in t.ABOUT.items()
        }
    told = Text("p", "", "status").props("role=status")

    async def sign() -> None:
        about = {name: field.value.strip() for name, field in fields.items() if (field.value or "").strip()}
        if await _ask(session, "sign", out=str(run.out), about=about):
            session.about = about
            run.policy["about"] = about
            told.text = t.SIGNED.format(number=run.number)

    button(t.SIGN, sign)


def _repeat(session: Session, run: Run) -> None:
    """The policy file and the command: what the page did can be done again without it."""
    heading(t.REPEAT_TITLE)
    policy, tree = _portable(run.policy)
    files = [t.REPEAT_POLICY] + ([t.REPEAT_TREE] if tree else [])
    paragraph(t.REPEAT_NOTE.format(files=t.REPEAT_AND.join(files)))
    name = Path(session.name).name
    Text("code", f"setveil anonymize {shlex.quote(name)} -o OUT --policy policy.toml", "command")

    async def download_policy() -> None:
        text = await _ask(session, "policy", policy=policy)
        if text:
            _place(run, "policy.toml").write_text(text, encoding="utf-8")
            ui.download(f"/run/{run.number}/policy.toml", "policy.toml")

    def download_tree() -> None:
        shutil.copyfile(tree or "", _place(run, "hierarchy.csv"))
        ui.download(f"/run/{run.number}/hierarchy.csv", "hierarchy.csv")

    with ui.element("div").classes("row-of-buttons"):
        button(t.REPEAT_POLICY, download_policy)
        if tree:
            button(t.REPEAT_TREE, download_tree)


def _portable(policy: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The policy with its hierarchy file beside it, and where that file is now."""
    source = policy["hierarchy"].get("source", "")
    if source and Path(source).is_file():
        return {**policy, "hierarchy": {"source": "hierarchy.csv"}}, source
    return policy, None


def _place(run: Run, name: str) -> Path:
    folder = run.folder / "downloads"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / name


async def _ask(session: Session, task: str, **given: Any) -> Any:
    """Ask a process of its own; True where there is nothing to tell."""
    child = Child()
    session.problem = ""
    try:
        result, _ = await child.ask(task, given)
        return True if result is None else result
    except TaskError as problem:
        session.problem = str(problem)
        return None
    finally:
        await child.end()
