"""The form of the step Protect is made from what models declare, those of other packages included."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import setveil as sv
from setveil.algorithms import registry
from setveil.models import MODELS, declared, make_model, parameters_of
from setveil.models.parameters import Kind, Whole
from setveil.web import model_pictures, texts
from setveil.web.dataset import Dataset
from setveil.web.form import Form, slider_of
from setveil.web.session import Session
from setveil.web.workspace import Workspace
from setveil.workflows import listing
from setveil.workflows.policies import make_policy

PLUGIN = Path(__file__).parents[1] / "plugin"
WEB = Path(texts.__file__).parent
EVERY = pytest.mark.parametrize("model", MODELS)


def filled(model: str) -> Form:
    """A form with its first values, and the lists of the model's example."""
    form = Form()
    form.model = model
    for name, value in MODELS[model].example.items():
        if declared(MODELS[model])[name].kind.is_list:
            form.enter(name, value)
    return form


@EVERY
def test_every_model_has_a_form_whose_first_values_make_a_policy(model: str) -> None:
    form = filled(model)
    assert {one.name for one in form.parameters()} == set(parameters_of(MODELS[model]))
    made = form.privacy_model()
    given = make_policy({"model": {"name": model, **form.options()}}).model.given()
    own = {name: value for name, value in given.items() if name in declared(MODELS[model])}
    assert make_model(model, own) == made
    for parameter in form.parameters():
        if not parameter.kind.is_list and isinstance(value := form.value(parameter), int | float):
            low, high = slider_of(parameter)
            assert low <= value <= high, parameter.name


def test_models_that_cannot_work_with_the_columns_are_refused_before_a_run() -> None:
    form = Form()
    form.suit([("age", "known")])
    refused = {name for name, kind in MODELS.items() if form.refusal(kind)}
    rows = [{"person": n, "age": n % 3, "item": item} for n in range(60) for item in ("a", "bc"[n % 2])]
    for name, kind in MODELS.items():
        if name not in refused and kind.known_columns == "class":
            sv.anonymize(rows, make_model(name, kind.example), person="person", item="item", known=["age"])
    assert form.model not in refused
    assert "k-anonymity" in refused  # its guarantee is about whole records, but no algorithm generalizes columns


@EVERY
def test_a_picture_that_a_model_names_exists(model: str) -> None:
    name = MODELS[model].picture
    assert not name or texts.PICTURES[name] in model_pictures.picture_of(name)


def test_the_page_names_no_model_and_no_parameter() -> None:
    """A list of models in the page would be one more place to edit for a new model."""
    names = {*MODELS, *(name for model in MODELS.values() for name in parameters_of(model))} - {"k", "m", "p", "l", "h"}
    names -= {"sensitive", "counts"}  # the list that suggestions ask for; what an example of a group counts
    quoted = re.compile("|".join(f'"{re.escape(name)}"' for name in sorted(names)))
    found = [
        f"{path.name}: {match[0]}"
        for path in sorted(WEB.rglob("*.py"))
        for match in quoted.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_numbers_belong_to_their_model_and_lists_are_shared() -> None:
    form = Form()
    form.model = "degree"
    form.enter("p", 7.0)  # as the browser sends it
    form.enter("sensitive", ["hiv"])
    form.enter("no such parameter", 1)
    assert form.options() == {"p": 7, "sensitive": ["hiv"]}
    form.model = "coherence"
    assert form.options()["p"] != 7
    assert form.options()["sensitive"] == ["hiv"]
    form.model = "degree"
    assert form.options()["p"] == 7


@dataclass(frozen=True)
class Fraction(Kind):
    """A kind that the page has never heard of."""

    def check(self, name: str, value: Any) -> Any:
        return value

    def parse(self, text: str) -> Any:
        return text

    @property
    def range(self) -> str:
        return "1/2"


def test_a_parameter_of_an_unknown_kind_begins_with_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.models.parameters import parameter

    @dataclass(frozen=True, repr=False)
    class Odd(sv.PrivacyDegree):
        name: ClassVar[str] = "odd"
        example: ClassVar[dict[str, Any]] = {"p": 3, "share": "1/2", "sensitive": ["9"]}
        share: str = parameter(Fraction(), "A share.", default="1/3")

    monkeypatch.setitem(MODELS, "odd", Odd)
    form = filled("odd")
    assert form.options() == {"p": 5, "share": "1/3", "sensitive": ["9"]}
    assert slider_of(parameters_of(Odd)["p"]) == (2, 50)
    assert isinstance(parameters_of(Odd)["p"].kind, Whole)


# -- a package of somebody else ----------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """toyveil as pip would leave it: in the child processes of the page, and in this one."""
    place = tmp_path / "installed"
    about = place / "toyveil-1.0.dist-info"
    about.mkdir(parents=True)
    (place / "toyveil").symlink_to(PLUGIN / "toyveil")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toyveil\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[setveil.models]\nfrequent = toyveil.model:FrequentItems\n"
        "[setveil.algorithms]\ndrop-rare = toyveil.algorithm:DropRare\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{place}:{Path(sv.__file__).parents[1]}")
    monkeypatch.syspath_prepend(str(place))
    from toyveil.algorithm import DropRare  # type: ignore[import-not-found]
    from toyveil.model import FrequentItems  # type: ignore[import-not-found]

    monkeypatch.setitem(MODELS, FrequentItems.name, FrequentItems)
    for module in (registry, listing):
        monkeypatch.setattr(module, "ENTRIES", (*module.ENTRIES, registry.entry_of(DropRare)))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "toyveil"]:
        del sys.modules[name]


@pytest.mark.usefixtures("installed")
def test_a_foreign_model_has_a_form_and_runs(tmp_path: Path) -> None:
    (tmp_path / "people.dat").write_text("".join(f"{n % 3} {3 + n % 5} {100 + n // 2}\n" for n in range(60)))

    async def use(session: Session) -> Dataset:
        dataset = session.open(session.dataset, tmp_path / "people.dat", "people.dat")
        while dataset.read is None or dataset.busy:
            await asyncio.sleep(0.05)
        assert "frequent" in [kind.name for kind in sv.models()]
        dataset.form.model = "frequent"
        (least,) = dataset.form.parameters()
        assert (least.label, slider_of(least), dataset.form.value(least)) == ("Smallest count", (2, 9), 3)
        dataset.form.enter("least", 4)
        assert "at least 4 published records" in dataset.form.privacy_model().guarantee()
        assert [entry.name for entry in dataset.form.algorithms()][:1] == ["drop-rare"]
        assert dataset.hierarchy_source() is None
        run = dataset.start_run()
        while run.state == "running":
            await asyncio.sleep(0.05)
        for child in (dataset.child, dataset.spare, run.child):
            if child is not None:
                await child.end()
        assert run.problem == ""
        assert {light["question"]: light["colour"] for light in run.lights}["Guarantee"] in ("good", "care")  # verified
        return dataset

    with Workspace(tmp_path) as workspace:
        session = Session(workspace)
        dataset = asyncio.run(use(session))
        published = (dataset.runs[0].out / "published.dat").read_text()
        assert not {f"{100 + n}" for n in range(30)} & set(published.split())  # each is in two records only
        session.close()
