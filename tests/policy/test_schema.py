"""One TOML file, everything decided."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from setveil.core import Hierarchy, Vocabulary
from setveil.errors import InputError
from setveil.policy.schema import Policy
from setveil.policy.selection import read_items, select_items

FULL = """\
schema = 1
seed = 7

[model]
name = "km"
k = 5
m = 2

[algorithm]
name = "aa"

[algorithm.options]
tree_order = "leaves"

[hierarchy]
source = "tree.csv"
unknown_items = "root"

[output]
to = "jsonl"
keep_order = true
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_survives_writing_and_reading(tmp_path: Path) -> None:
    policy = Policy.from_file(write(tmp_path, FULL))
    assert policy.model.given() == {"k": 5, "m": 2}
    again = Policy.from_dict(tomllib.loads(policy.to_toml()))
    assert again == policy


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    policy = Policy.from_file(write(tmp_path, FULL))
    assert policy.hierarchy.source == str(tmp_path / "tree.csv")


def test_files_among_the_options_are_relative_to_the_file(tmp_path: Path) -> None:
    options = 'weights = "w.csv"\npenalty = "2.5"\norder = "static"'
    policy = Policy.from_file(write(tmp_path, FULL.replace('tree_order = "leaves"', options)))
    assert policy.algorithm.options == {"weights": str(tmp_path / "w.csv"), "penalty": "2.5", "order": "static"}
    assert policy.seen_from(tmp_path).algorithm.options["weights"] == "w.csv"


def test_built_hierarchies_are_not_paths(tmp_path: Path) -> None:
    policy = Policy.from_file(write(tmp_path, FULL.replace("tree.csv", "fanout:5")))
    assert policy.hierarchy.source == "fanout:5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "policy.toml: `schema = 1` is missing; add it as the first line."),
        ("schema = 2\n[model]\nname='km'\n", "policy.toml: `schema` must be 1, not 2."),
        ("schema = 1\n", "policy.toml: lacks `model`."),
        (
            "schema = 1\n[model]\nname='kn'\n",
            'policy.toml: unknown model "kn"; choose one of km, degree, k-anonymity, coherence, constraints, '
            "uncertainty, rules, kkm, counts.",
        ),
        (
            "schema = 1\n[model]\nname='km'\nk='5'\n",
            'policy.toml: k must be a whole number, not "5".',
        ),
        ("schema = 1\n[model]\nname='km'\nkk=5\n", "policy.toml: unknown key `model.kk`; check the spelling."),
        ("schema = 1\nextra=1\n[model]\nname='km'\n", "policy.toml: unknown key `extra`; check the spelling."),
    ],
)
def test_mistakes_are_named_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Policy.from_file(write(tmp_path, text))
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_broken_toml_and_missing_files_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not TOML"):
        Policy.from_file(write(tmp_path, "schema = = 1"))
    with pytest.raises(InputError, match="no such file"):
        Policy.from_file(tmp_path / "nowhere.toml")


def test_toml_strings_survive_any_label() -> None:
    labels = ['quote " and \\', "tab\tnew\nline", "DEL\x7f", "Ünïcode ☂", "'single'"]
    content = {
        "schema": 1,
        "model": {"name": "degree", "p": 2, "sensitive": labels},
        "algorithm": {"options": {"a b": 1}},
    }
    assert tomllib.loads(Policy.from_dict(content).to_toml()) == content


def test_items_are_selected_by_label_glob_and_subtree() -> None:
    tree = Hierarchy.from_paths([("493.0", "Asthma"), ("493.1", "Asthma"), ("042", "HIV"), ("a*b", "HIV")])
    words = tree.vocabulary
    assert select_items(["042", "493.*"], words, tree) == ["042", "493.0", "493.1"]
    assert select_items(["@subtree:Asthma"], words, tree) == ["493.0", "493.1"]
    assert select_items(["a*b"], words, tree) == ["a*b"]  # a label that exists is itself
    assert select_items(["unknown"], words, tree) == ["unknown"]
    with pytest.raises(InputError, match="matches"):
        select_items(["9*"], words, tree)
    with pytest.raises(InputError, match="no inner node"):
        select_items(["@subtree:Nowhere"], words, tree)
    with pytest.raises(InputError, match="needs a hierarchy"):
        select_items(["@subtree:Asthma"], Vocabulary(["x"]))


def test_item_lists_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("a b\n\n  c,d \n", encoding="utf-8")
    assert read_items(path) == ["a b", "c,d"]


COLUMNS = """\
schema = 1
[model]
name = "km"
k = 5
m = 2
[columns.patient]
role = "person"
[columns.dx]
role = "item"
[columns.age]
role = "known"
hierarchy = "ages.csv"
[columns.sex]
role = "known"
"""


def test_columns_state_roles(tmp_path: Path) -> None:
    policy = Policy.from_file(write(tmp_path, COLUMNS))
    assert policy.reading() == {
        "person": "patient",
        "item": ["dx"],
        "known_columns": ["age", "sex"],
        "column_hierarchy": {"age": str(tmp_path / "ages.csv")},
    }
    assert Policy.from_dict(tomllib.loads(policy.to_toml())) == policy
    assert policy.seen_from(tmp_path).columns["age"].hierarchy == "ages.csv"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('[input]\nid_column = "patient"', "both state roles"),
        ('[columns.other]\nrole = "person"', "cannot both identify people"),
        ('[columns.other]\nrole = "quasi"', "must be one of person, item, known"),
        ('[columns.other]\nrole = "drop"\nhierarchy = "flat"', "is not a known column"),
        ('[input]\nknown_columns = "age"', "unknown key `input.known_columns`"),
    ],
)
def test_columns_that_contradict(more: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as problem:
        Policy.from_file(write(tmp_path, COLUMNS + more))
    assert says in str(problem.value) and "\n" not in str(problem.value)


def test_options_become_tables(tmp_path: Path) -> None:
    from setveil.workflows.policies import make_policy

    given = {"model": {"name": "km", "k": 5, "m": 2}}
    reading = {"id_column": "p", "item_columns": "dx*", "known_columns": "age", "column_hierarchy": ["age=flat"]}
    policy = make_policy({**given, "input": {**reading, "format": "wide"}})
    assert policy.reading() == {
        "format": "wide", "person": "p", "item": ["dx*"], "known_columns": ["age"],
        "column_hierarchy": {"age": "flat"},
    }  # fmt: skip
    assert make_policy({**given, "input": {"id_column": "p"}}).reading() == {"id_column": "p"}
    changed = make_policy({"input": {"carry": "sex"}}, write(tmp_path, COLUMNS))
    assert changed.reading()["carry"] == ["sex"] and changed.reading()["known_columns"] == ["age"]
    with pytest.raises(InputError, match="two roles"):
        make_policy({**given, "input": {"person": "p", "drop": "p"}})
