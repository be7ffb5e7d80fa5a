"""Hand over: lights and sign-off, the public folder as an archive, both folders in their place, the policy and the
command that repeat the run. A release with a red light needs a reason first.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.report.profiles import ENVIRONMENTS
from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.dataset import Dataset
from setveil.web.elements import (
    Text,
    about_visits,
    bullets,
    button,
    card_title,
    empty,
    heading,
    in_fields,
    lights,
    lights_in_words,
    paragraph,
    shown,
)
from setveil.web.runs import Run

if TYPE_CHECKING:
    from setveil.web.page import Page

MIN_REASON = 10  # characters


def build(page: Page) -> None:
    """The step."""
    dataset, runs = page.dataset, page.dataset.done()
    if not runs:
        empty(t.HANDOVER_NONE, t.STEPS["run"][0], lambda: page.go("run"))
        return
    choices = {run.number: t.RUN_CHOICE.format(number=run.number, lights=lights_in_words(run.lights)) for run in runs}
    place = ui.element("div")

    def show(number: int) -> None:
        dataset.handed_over = number
        place.clear()
        with place:
            _hand_over(dataset, next(run for run in runs if run.number == number))

    chosen = dataset.to_hand_over()
    select = ui.select(choices, value=chosen.number, label=t.WHICH_RUN, on_change=lambda event: show(event.value))
    select.classes("wide")
    select.move(target_index=0)
    with place:
        _hand_over(dataset, chosen)


def _hand_over(dataset: Dataset, run: Run) -> None:
    Text("p", run.guarantee, "sentence")
    about_visits(dataset)
    lights(run.lights, level=2, with_reasons=False)
    guarded: list[ui.button] = []  # buttons that a missing reason disables

    def allow() -> None:
        for made in guarded:
            made.set_enabled(not run.needs_reason)

    if run.is_red:
        _reason(dataset, run, allow)
    _sign(dataset, run)
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(t.ZIP_TITLE)
            paragraph(t.ZIP_NOTE)
            bullets([*run.result["files"], "certificate.json"], "soft")

            async def download() -> None:
                given: dict[str, Any] = {
                    "out": str(run.out),
                    "target": str(_place(run, "release.zip")),
                    "name": "release",
                }
                if not _lacks_reason(dataset, run) and await _ask(dataset, "zip", **given):
                    run.is_handed_over = True
                    ui.download(f"{run.address}/release.zip", "release.zip")

            guarded.append(button(t.ZIP, download, main=True))
            ui.link(t.REPORT_PUBLIC, f"{run.address}/report/public", new_tab=True)
        with ui.element("section").classes("card"):
            card_title(t.KEEP_TITLE)
            paragraph(t.KEEP_NOTE)
            field = ui.input(label=t.KEEP_LABEL)
            status = Text("p", "", "status").props("role=status")

            async def keep() -> None:
                given = (field.value or "").strip()
                target = Path(given).expanduser().absolute()
                if not given or _lacks_reason(dataset, run):
                    return
                kept = await _ask(dataset, "keep", field, out=str(run.out), target=str(target))
                if kept:
                    run.is_handed_over = True
                    status.text = t.KEPT.format(public=shown(kept[0], 200), internal=shown(kept[1], 200))

            field.on("keydown.enter", keep)
            guarded.append(button(t.KEEP, keep))
            ui.link(t.REPORT_INTERNAL, f"{run.address}/report/internal", new_tab=True)
        with ui.element("section").classes("card"):
            _signature(dataset, run)
    allow()
    _repeat(dataset, run)


def _lacks_reason(dataset: Dataset, run: Run) -> bool:
    """Whether a red release has no reason yet; then the page asks for it."""
    if run.needs_reason:
        dataset.problems["handover"] = t.REASON_MISSING
    return run.needs_reason


def _reason(dataset: Dataset, run: Run, allow: Callable[[], None]) -> None:
    """Ask why a release with a red light is handed over; the answer goes into the internal files of the run."""
    with ui.element("section").classes("reason"):
        heading(t.REASON_TITLE)
        paragraph(t.REASON_NOTE)
        field = ui.textarea(label=t.REASON_LABEL, value=run.policy["about"].get("reason", ""))
        field.props("autogrow").classes("wide")
        status = Text("p", "", "status").props("role=status")

        async def record() -> None:
            reason = " ".join((field.value or "").split())
            if len(reason) < MIN_REASON:
                field.error = t.REASON_SHORT.format(n=MIN_REASON)
            elif await _write_about(dataset, run, {"reason": reason}):
                status.text = t.REASON_RECORDED.format(number=run.number)
                allow()

        button(t.REASON_RECORD, record)


def _sign(dataset: Dataset, run: Run) -> None:
    """The assessment: purpose, names, conditions and what somebody confirms, for the internal pages."""
    about = run.policy["about"]
    known = {**dataset.about, "date": ""} | about
    assessed = run.policy["assessment"]
    heading(t.SIGN_TITLE)
    paragraph(t.SIGN_NOTE, "soft")
    with ui.element("div").classes("fields"):
        fields = {name: ui.input(label=label, value=known.get(name, "")) for name, label in t.ABOUT.items()}
        recipient = ui.input(label=t.RECIPIENT, value=assessed.get("recipient", ""))
    paragraph(t.SIGN_ENVIRONMENT.format(words=ENVIRONMENTS[assessed["environment"]].words), "soft")
    confirmed = set(about.get("confirmed", ()))
    with ui.element("fieldset").classes("confirm"):
        Text("legend", t.SIGN_CONFIRM)
        statements = {
            line: ui.checkbox(line, value=line in confirmed).props("dense") for line in run.result["statements"]
        }
    conditions = ui.textarea(label=t.SIGN_CONDITIONS, value="\n".join(about.get("conditions", ())))
    conditions.props("autogrow").classes("wide")
    status = Text("p", "", "status").props("role=status")

    async def sign() -> None:
        given: dict[str, Any] = {name: (field.value or "").strip() for name, field in fields.items()}
        dataset.about = {name: value for name, value in given.items() if value}
        given["confirmed"] = [line for line, box in statements.items() if box.value]
        given["conditions"] = [line.strip() for line in (conditions.value or "").splitlines() if line.strip()]
        if await _write_about(dataset, run, given, (recipient.value or "").strip()):
            missing = len(statements) - len(given["confirmed"])
            status.text = t.SIGNED.format(number=run.number) + (t.SIGN_OPEN.format(n=missing) if missing else "")

    with ui.element("div").classes("row-of-buttons"):
        button(t.SIGN, sign)
        if run.pages["assessment"].is_file():
            ui.link(t.ASSESSMENT, f"{run.address}/report/assessment", new_tab=True)


def _signature(dataset: Dataset, run: Run) -> None:
    """Sign the certificate with a key of the owner."""
    card_title(t.KEY_TITLE)
    paragraph(t.KEY_NOTE)
    field = ui.input(label=t.KEY_LABEL)
    status = Text("p", t.KEY_DONE if (run.out / t.SIGNATURE_FILE).is_file() else "", "status").props("role=status")

    async def sign() -> None:
        given = (field.value or "").strip()
        if given and not _lacks_reason(dataset, run):
            async with run.signing:
                key = await _ask(dataset, "sign_certificate", field, out=str(run.out), key=given)
            if key:
                status.text = t.KEY_SIGNED.format(key=shown(key, 100))

    field.on("keydown.enter", sign)
    button(t.KEY_SIGN, sign)


async def _write_about(dataset: Dataset, run: Run, changes: dict[str, Any], recipient: str | None = None) -> bool:
    """Change entries of the sign-off in the internal files of a run, one change at a time; False where that failed."""
    async with run.signing:
        about = {name: value for name, value in {**run.policy["about"], **changes}.items() if value}
        if not await _ask(dataset, "sign", out=str(run.out), about=about, recipient=recipient):
            return False
        run.policy["about"] = about
        if recipient is not None:
            run.policy["assessment"]["recipient"] = recipient
        return True


def _repeat(dataset: Dataset, run: Run) -> None:
    """The policy file and the command that repeat the run without the page."""
    heading(t.REPEAT_TITLE)
    policy, further = _portable(run.policy)
    files = [t.REPEAT_POLICY, *further]
    paragraph(t.REPEAT_NOTE.format(files=t.AND.join(files)))
    name = Path(dataset.name).name
    Text("code", f"setveil anonymize {shlex.quote(name)} -o OUT --policy policy.toml", "command")

    async def download_policy() -> None:
        text = await _ask(dataset, "policy", policy=policy)
        if text:
            _place(run, "policy.toml").write_text(text, encoding="utf-8")
            ui.download(f"{run.address}/policy.toml", "policy.toml")

    def download(name: str, path: str) -> None:
        shutil.copyfile(path, _place(run, name))
        ui.download(f"{run.address}/{name}", name)

    with ui.element("div").classes("row-of-buttons"):
        button(t.REPEAT_POLICY, download_policy)
        for name, path in further.items():
            button(name, lambda name=name, path=path: download(name, path))


def _portable(policy: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The policy with its hierarchy and its list of names in the same folder: their names, and where they are now."""
    further = {}
    for part, key, name in (("hierarchy", "source", t.REPEAT_TREE), ("output", "names", t.REPEAT_NAMES)):
        path = policy[part].get(key)
        if path and Path(path).is_file():
            policy = {**policy, part: {**policy[part], key: name}}
            further[name] = path
    return policy, further


def _place(run: Run, name: str) -> Path:
    folder = run.folder / "downloads"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / name


async def _ask(dataset: Dataset, task: str, field: ui.input | None = None, **given: Any) -> Any:
    """True where the task has no result, None where it failed: the field shows why, else the step."""
    dataset.problems["handover"] = ""
    try:
        result = await dataset.ask_apart(task, **given)
        return True if result is None else result
    except TaskError as problem:
        if field is None:
            dataset.problems["handover"] = str(problem)
        else:
            field.error = shown(in_fields(str(problem)), 300)
        return None
