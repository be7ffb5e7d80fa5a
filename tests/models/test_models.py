"""What every privacy model must offer, and which parameters are refused."""

from __future__ import annotations

from typing import Any

import pytest

import setveil as sv
from setveil.models import MODELS, NUMBERS, PARAMETERS, PrivacyModel, make_model, parameters_of

EVERY = pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)


@EVERY
def test_a_model_says_everything_about_itself(kind: type[PrivacyModel]) -> None:
    model = make_model(kind.name, kind.example)
    assert model.guarantee().endswith(".")
    assert all(line.endswith(".") for line in (*model.not_protected(), *model.alternatives))
    assert all(model.attacker())
    assert model.crowd in (2, None)  # some models have no such number
    assert set(model.private) <= set(model.options())


@EVERY
def test_a_policy_takes_all_parameters_of_a_model(kind: type[PrivacyModel]) -> None:
    content: dict[str, Any] = {"name": kind.name, **kind.example}
    policy = sv.Policy.from_dict({"schema": 1, "model": content})
    assert policy.model.given() == dict(kind.example)
    assert set(parameters_of(kind)) <= set(PARAMETERS)


def test_numbers_are_the_parameters_that_are_no_lists() -> None:
    assert NUMBERS == ("k", "m", "k_known", "p", "l", "h", "max_suppressed", "rho", "c", "r")


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("km", {"k": 1, "m": 2}, "k must be at least 2, not 1"),
        ("km", {"k": 2, "m": 0}, "m must be at least 1, not 0"),
        ("k-anonymity", {"k": 1}, "k must be at least 2, not 1"),
        ("constraints", {"k": 1, "constraints": [["a"]]}, "k must be at least 2, not 1"),
        ("degree", {"p": 1, "sensitive": ["a"]}, "p must be at least 2, not 1"),
        ("coherence", {"h": 50, "k": 1, "p": 2, "sensitive": ["a"]}, "k must be at least 2, not 1"),
        ("coherence", {"h": 50, "k": 2, "p": 0, "sensitive": ["a"]}, "p must be at least 1, not 0"),
    ],
)
def test_what_protects_nobody_is_refused(name: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(sv.InputError, match=problem):
        make_model(name, options)


@pytest.mark.parametrize("given", ["0:20,1:10,2:5", {0: 20, 1: 10, 2: 5}, [20, 10, 5], " 0: 20, 2:5, 1:10 "])
def test_k_may_depend_on_how_many_items_are_known(given: Any) -> None:
    model = make_model("km", {"k_known": given})
    assert model == sv.KmAnonymity(k=5, m=2, k_known="0:20,1:10,2:5")
    assert [model.k_for(size) for size in range(3)] == [20, 10, 5]
    assert model.options() == {"k": 5, "m": 2, "k_known": "0:20,1:10,2:5"}
    assert "at least 20 with no known item, at least 10 with 1 item, at least 5 with 2 items" in model.guarantee()
    assert "k_known" not in sv.KmAnonymity(k=5, m=2).options()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"k_known": "0:5,1:10"}, "10 people for 1 known items are more than 5 for 0"),
        ({"k_known": "1:10,2:5"}, "must give a smallest number of people for 0, 1, 2, …"),
        ({"k_known": "0:10,2:5"}, "must give a smallest number of people for 0, 1, 2, …"),
        ({"k_known": "0:10,0:5"}, "two numbers of people for one number of known items"),
        ({"k_known": "0:10,1:1"}, "k_known for 1 known items must be at least 2"),
        ({"k_known": "ten"}, "must look like 0:20,1:10,2:5"),
        ({"k_known": 5}, "must look like 0:20,1:10,2:5"),
        ({"k_known": {"a": 5}}, "a number of known items in k_known must be a whole number"),
        ({"k": 4, "k_known": "0:10,1:5"}, "k_known asks for 5 people for 1 known items, and k is 4"),
        ({"m": 2, "k_known": "0:10,1:5"}, "k_known gives numbers of people for 0 to 1 known items, and m is 2"),
        ({"m": "all", "k_known": "0:10,1:5"}, "choose a number for m"),
        ({"m": 2}, "needs k \\(smallest"),
    ],
)
def test_numbers_of_people_that_do_not_fit_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(sv.InputError, match=problem):
        make_model("km", options)


def test_a_release_meets_every_number_of_people() -> None:
    rows = [["a", "b"], ["a"], ["b"], ["a", "c"], ["a", "b"], ["b"], ["c", "a"], ["d"]] * 2
    with pytest.warns(sv.SetveilWarning, match="They use 4 for every number"):
        release = sv.anonymize(rows, "km", k_known="0:8,1:4,2:2")
    assert sv.verify(release, "km", k_known="0:8,1:4,2:2")
    with pytest.raises(sv.InfeasibleError, match="16 records"):
        sv.anonymize(rows, "km", k_known="0:17,1:2")


def test_a_model_by_name() -> None:
    rows = [["a", "b"], ["a", "b"], ["a"]]
    assert sv.verify(rows, "km", k=2, m=2) == sv.verify(rows, sv.KmAnonymity(k=2, m=2))
    release = sv.anonymize(rows, "km", k=2, m=1, hierarchy="fanout:2")
    assert sv.verify(release, "km", k=2, m=1)
    with pytest.raises(sv.InputError, match="k given in addition to a model"):
        sv.verify(rows, sv.KmAnonymity(k=2, m=2), k=3)


def test_coherence_promises_nothing_to_those_who_know_nothing() -> None:
    """Three of four records have the sensitive item: whoever counts knows that, whatever h says of known items."""
    model = sv.Coherence(h=50, k=2, p=2, sensitive=["s"])
    assert sv.verify([["s"], ["s"], ["s"], []], model).holds
    assert model.guarantee().startswith("Anyone who knows 1 to 2 public items of a person matches at least 2 ")
    assert any("none of the published items" in sentence for sentence in model.not_protected())


@EVERY
def test_numpy_numbers_are_the_numbers_they_are(kind: type[PrivacyModel]) -> None:
    """A certificate, and with it its digest, must not depend on where a number came from."""
    import numpy as np

    plain = make_model(kind.name, kind.example)
    given = {name: np.int64(value) if isinstance(value, int) else value for name, value in kind.example.items()}
    model = make_model(kind.name, given)
    assert model == plain and repr(model) == repr(plain)
    assert [type(value) for value in model.options().values()] == [type(value) for value in plain.options().values()]


def test_a_percentage_may_be_a_numpy_float() -> None:
    import numpy as np

    for h in (np.float32(12.5), np.float64(12.5)):
        model = sv.Coherence(h=h, k=np.uint8(2), p=np.int32(2), sensitive=["a"])  # type: ignore[arg-type]
        assert model == sv.Coherence(h=12.5, k=2, p=2, sensitive=["a"]) and type(model.h) is float
    for k in (np.True_, np.float64(5.0), True):
        with pytest.raises(sv.InputError, match="k must be a whole number"):
            sv.KmAnonymity(k=k, m=2)  # type: ignore[arg-type]
