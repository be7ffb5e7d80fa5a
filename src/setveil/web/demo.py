"""The decision of ``setveil demo`` as a workspace of the page, with a finished run for every candidate."""

from __future__ import annotations

from pathlib import Path

from setveil.errors import SetveilError
from setveil.web import kept
from setveil.web.session import Session
from setveil.web.workspace import Workspace

FOLDER = "demo"


async def make_demo(workspace: Workspace) -> Path:
    """Run every candidate on the bundled data; the folder that each session opens as a workspace."""
    from setveil.workflows.deciding import CANDIDATES, PROFILE
    from setveil.workflows.samples import DEMO_ROLES, demo_files

    baskets, taxonomy = demo_files()
    session = Session(workspace)
    dataset = session.open(session.dataset, baskets, baskets.name, hierarchy=str(taxonomy), options=dict(DEMO_ROLES))
    dataset.profile = PROFILE
    await dataset.settle()
    for candidate in CANDIDATES:
        dataset.form.model = candidate["model"]["name"]
        for name, value in candidate["model"].items():
            dataset.form.enter(name, value)
        dataset.choose_algorithm(candidate["algorithm"]["name"])
        run = dataset.start_run()
        await dataset.settle()
        if run.state != "done":
            raise SetveilError(f"The demo has no release: {run.problem}")
    folder = kept.keep(dataset, workspace.folder / FOLDER)
    await dataset.child.end()
    session.close()
    return folder
