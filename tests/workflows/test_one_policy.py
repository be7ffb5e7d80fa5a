"""One policy means one release: the command line, the library and the page write the same bytes, for every model, every
algorithm and every value of every option that an algorithm declares. What is written as ``policy.toml`` repeats it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import tomli_w

import setveil as sv
from setveil.algorithms import ENTRIES, Entry, Option
from setveil.cli.main import _run
from setveil.core.progress import no_progress
from setveil.errors import InputError, SetveilError
from setveil.models import MODELS
from setveil.web.tasks import Tasks
from setveil.workflows import assess
from setveil.workflows.policies import make_policy
from setveil.workflows.portfolio import EFFORTS, YARDSTICKS

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")

LABELS = [str(number) for number in range(1, 10)]  # those of the models' examples; 9 is sensitive there
FILE, TABLE = "values.csv", dict.fromkeys(LABELS[:4], 0.5)
# Options that are words or tables of another kind.
OTHER: dict[tuple[str, str], list[Any]] = {
    **{(name, "items"): ["aa"] for name in ("classes", "rmerge", "tmerge", "rtmerge")},
    ("classes", "column_weights"): ["age=2", {"sex": 3}],
}


def values_of(entry: Entry, option: Option) -> Iterator[Any]:
    """Values that the declaration of an option allows: every choice, both truths, a number in its range, and where a
    number for each item is meant, a file and a table.
    """
    kinds = get_args(get_type_hints(entry.load())[option.name])
    if (entry.name, option.name) in OTHER:
        yield from OTHER[entry.name, option.name]
    elif option.choices:
        yield from option.choices
    elif isinstance(option.default, bool):
        yield from (True, False)
    elif option.bounds:
        kind = float if isinstance(option.default, float) or float in kinds else int
        low = option.least if option.least is not None else option.above or 0
        high = option.most if option.most is not None else option.below or low + 2
        yield next(kind(value) for value in (low + 1, low + 2, (low + high) / 2) if _is_allowed(option, kind(value)))
    else:
        yield from (FILE, TABLE)
        if float in kinds:
            yield 2.5


def _is_allowed(option: Option, value: Any) -> bool:
    try:
        option.check(value)
    except InputError:
        return False
    return value != option.default


# Allowed by the declaration, refused by so small a sample.
REFUSED: list[dict[str, Any]] = [{"max_cuts": 2}]

COLUMNS = {
    "patient": {"role": "person"},
    "code": {"role": "item"},
    "age": {"role": "known", "hierarchy": "bands:10,20"},
    "sex": {"role": "known"},
}

CASES = [
    pytest.param(entry.name, model, {option.name: value}, id=f"{entry.name}-{model}-{option.name}={value}"[:60])
    for entry in ENTRIES
    for option in entry.options()
    for number, value in enumerate(values_of(entry, option))
    for model in entry.models[: None if number == 0 else 1]  # how an option travels does not depend on its value
]
CASES += [
    pytest.param(entry.name, model, {}, id=f"{entry.name}-{model}")
    for entry in ENTRIES
    for model in entry.models
    if not entry.options()
]
CASES += [
    pytest.param(None, "km", {"effort": effort, "yardstick": yardstick}, id=f"default-km-{effort}-{yardstick}")
    for effort in EFFORTS
    for yardstick in YARDSTICKS
]
CASES += [pytest.param(None, model, {}, id=f"default-{model}") for model in MODELS if model != "km"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assess, "TARGETS", 20)  # attacks are not what is compared here
    random = np.random.default_rng(7)
    rows = [random.choice(8, size=random.integers(1, 4), replace=False) + 1 for _ in range(30)]
    lines = [" ".join(map(str, sorted(row))) + (" 9" if number % 8 == 0 else "") for number, row in enumerate(rows)]
    Path("data.dat").write_text("\n".join(lines) + "\n")
    cells = [[f"p{n}", str(30 + n * 7 % 40), "fm"[n % 2], line] for n, line in enumerate(lines)]
    people = [",".join([*cells_of[:3], item]) for cells_of in cells for item in cells_of[3].split()]
    Path("data.csv").write_text("\n".join(["patient,age,sex,code", *people]) + "\n")
    Path(FILE).write_text("".join(f"{label},0.{number}\n" for number, label in enumerate(LABELS, start=1)))
    return tmp_path


def ask(algorithm: str | None, model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """A policy as its file says it."""
    chosen: dict[str, Any] = {"name": algorithm} if algorithm else {}
    return {
        "schema": 1,
        "seed": 3,
        "model": {"name": model, **MODELS[model].example},
        "algorithm": {**chosen, **({"options": dict(options)} if options else {})},
        "hierarchy": {"source": "fanout:3"},
        **({"columns": COLUMNS} if MODELS[model].generalizes_columns else {}),
        "output": {"accept_guessable": True},
    }


def data_of(model: str) -> str:
    """The file of a model's data: with columns where the model is about columns."""
    return "data.csv" if MODELS[model].generalizes_columns else "data.dat"


def bytes_of(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def command(*arguments: str, data: str = "data.dat") -> int:
    return _run(["anonymize", data, *arguments, "--quiet"])


def from_library(asked: Mapping[str, Any], out: str) -> None:
    """The same without a policy: a model, and what ``anonymize`` and ``publish`` take."""
    model, chosen = asked["model"], asked["algorithm"]
    parameters = {name: value for name, value in model.items() if name != "name"}
    stated: dict[str, Any] = (
        {"person": "patient", "item": "code", "known": ["age", "sex"]} if "columns" in asked else {}
    )
    if stated:
        stated["column_hierarchy"] = {"age": COLUMNS["age"]["hierarchy"]}
    release = sv.anonymize(
        data_of(model["name"]),
        model["name"],
        chosen.get("name"),
        asked["hierarchy"]["source"],
        chosen.get("options"),
        asked["seed"],
        **parameters,
        **stated,
    )
    release.publish(out, accept_guessable=True)


@pytest.mark.parametrize(("algorithm", "model", "options"), CASES)
def test_the_same_bytes_whichever_way_it_is_asked(
    here: Path, algorithm: str | None, model: str, options: dict[str, Any]
) -> None:
    asked = ask(algorithm, model, options)
    Path("policy.toml").write_text(tomli_w.dumps(asked))
    data = data_of(model)
    status = command("-o", "command", "--policy", "policy.toml", data=data)
    ways = {
        "library": lambda: sv.run(sv.Policy.from_file("policy.toml"), data, "library"),
        "page": lambda: Tasks(no_progress).do_run(data, data, asked, "page/out"),
        "call": lambda: from_library(asked, "call"),
    }
    Path("page").mkdir()
    if status != 0:
        assert options in REFUSED, options
        for way in ways.values():
            with pytest.raises(SetveilError) as refused:
                way()
            assert refused.value.exit_code == status
        return
    expected = bytes_of("command")
    for name, way in ways.items():
        way()
        assert bytes_of("page/out" if name == "page" else name) == expected, name
    written = tomllib.loads(Path("command.internal/policy.toml").read_text())
    assert written.get("algorithm", {}).get("options", {}) == {
        name: f"../{FILE}" if value == FILE else value for name, value in options.items()
    }
    if algorithm is not None:
        assert json.loads(Path("command.internal/run.json").read_text())["algorithm"]["options"] == options
    assert command("-o", "again", "--policy", "command.internal/policy.toml", data=data) == 0
    assert bytes_of("again") == expected
    pairs = [
        f"--option={name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in options.items()
    ]
    if not any(isinstance(value, dict) for value in options.values()):  # which is written in policies alone
        named = ["--algorithm", algorithm] if algorithm else []
        Path("plain.toml").write_text(tomli_w.dumps({**asked, "algorithm": {}}))
        assert command("-o", "given", "--policy", "plain.toml", *named, *pairs, data=data) == 0
        assert bytes_of("given") == expected


@pytest.mark.parametrize("options", [{"nonsense": 1}, {"tree_order": "sideways"}, {"tree_order": 3}])
def test_a_wrong_option_in_a_policy_is_refused(
    here: Path, options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("policy.toml").write_text(tomli_w.dumps(ask("aa", "km", options)))
    assert command("-o", "out", "--policy", "policy.toml") == 2
    assert next(iter(options)) in capsys.readouterr().err
    assert not Path("out").exists()


def test_options_of_a_policy_are_overridden_one_by_one(here: Path) -> None:
    Path("policy.toml").write_text(tomli_w.dumps(ask("pta", "k-anonymity", {"segment_size": 7, "recentre": True})))
    given = {"algorithm": {"name": None, "options": {"segment_size": "9"}}}
    assert make_policy(given, "policy.toml").algorithm.options == {"segment_size": "9", "recentre": True}
    named = {"algorithm": {"name": "pta", "options": {}}}
    assert make_policy(named, "policy.toml").algorithm.options == {"segment_size": 7, "recentre": True}
    other = {"algorithm": {"name": "weave", "options": {}}}  # to which they do not belong
    assert make_policy(other, "policy.toml").algorithm.options == {}


def test_a_file_in_the_options_is_found_beside_the_policy(here: Path) -> None:
    Path("apart").mkdir()
    Path(FILE).rename(Path("apart") / FILE)
    Path("apart/policy.toml").write_text(tomli_w.dumps(ask("pcta", "km", {"weights": FILE})))
    assert command("-o", "out", "--policy", "apart/policy.toml") == 0
    assert tomllib.loads(Path("out.internal/policy.toml").read_text())["algorithm"]["options"] == {
        "weights": f"../apart/{FILE}"
    }
    assert command("-o", "again", "--policy", "out.internal/policy.toml") == 0
    assert bytes_of("again") == bytes_of("out")


def test_numbers_of_other_libraries_survive(here: Path) -> None:
    options = {"segment_size": np.int64(7), "segments": None, "recentre": np.bool_(True)}
    release = sv.anonymize("data.dat", "k-anonymity", k=2, algorithm="pta", options=options)
    release.publish("out")
    written = tomllib.loads(Path("out.internal/policy.toml").read_text())["algorithm"]["options"]
    assert written == {"segment_size": 7, "recentre": True}
    assert command("-o", "again", "--policy", "out.internal/policy.toml") == 0
    assert bytes_of("again")["published.dat"] == bytes_of("out")["published.dat"]
    decided = sv.Policy.from_dict(ask("pta", "k-anonymity", options))
    assert tomllib.loads(decided.to_toml())["algorithm"]["options"] == written


def test_an_option_that_is_neither_text_nor_number_is_refused(here: Path) -> None:
    Path("policy.toml").write_text(
        'schema = 1\n[model]\nname = "km"\nk = 2\nm = 1\n[algorithm]\nname = "pcta"\n[algorithm.options]\n'
        "weights = 2020-01-01\n"
    )
    with pytest.raises(InputError, match='"weights" should be text, a number'):
        sv.Policy.from_file("policy.toml")


def test_a_grid_keeps_options_without_an_algorithm_and_finds_their_files(here: Path) -> None:
    from setveil.workflows.grid import read_grid

    Path("apart").mkdir()
    Path("apart/grid.toml").write_text(
        'schema = 1\n[[grid]]\nmodel = "km"\nk = 2\nm = 1\noptions = {effort = ["fast", "best"]}\n'
        '[[grid]]\nmodel = "km"\nk = 2\nm = 1\nalgorithm = "pcta"\noptions = {weights = "values.csv"}\n'
    )
    found = [policy.algorithm.options for policy in read_grid("apart/grid.toml").policies]
    assert found == [{"effort": "fast"}, {"effort": "best"}, {"weights": "apart/values.csv"}]
