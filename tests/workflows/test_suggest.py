"""Suggestions: fitting, feasible, and with a command that works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from setveil.cli.main import _run
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.workflows.suggest import command_for, profile_of, suggest

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def sparse(seed: int = 0, n_records: int = 300) -> Transactions:
    random = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, 61)
    chosen = [
        random.choice(60, size=random.integers(1, 5), replace=False, p=weights / weights.sum())
        for _ in range(n_records)
    ]
    return Transactions.from_lists([[f"i{item:02d}" for item in row] for row in chosen])


def test_the_profile_tells_the_shape() -> None:
    profile = profile_of(Transactions.from_lists([["a", "b"], ["a"], [], ["a", "c"]]))
    assert (profile.n_records, profile.n_filled, profile.n_items, profile.longest) == (4, 3, 3, 2)
    assert profile.mean_length == 1.25
    assert profile.singled_out[0] == pytest.approx((0.5 + 0 + 0.5) / 3)


def test_sensitive_items_lead_to_groups() -> None:
    found = suggest(sparse(), sensitive=("i40",))
    assert found.choices[0].policy.model.name == "degree"
    assert found.choices[0].policy.model.sensitive == ["i40"]


def test_every_choice_was_verified_and_its_command_says_how(tmp_path: Path) -> None:
    found = suggest(sparse(), hierarchy="fanout:5")
    assert found.choices
    assert all(choice.policy.model.k or choice.policy.model.p for choice in found.choices)
    command = command_for("data.csv", found.choices[0])
    assert command.startswith("setveil anonymize data.csv -o OUT --model km -k 5 -m 2 --algorithm aa")


def test_a_tiny_data_set_gets_a_small_crowd() -> None:
    found = suggest(Transactions.from_lists([["a"], ["a", "b"], ["b"], ["a"]]), hierarchy="fanout:2")
    assert found.choices[0].policy.model.k == 2


def test_nobody_to_hide_among() -> None:
    with pytest.raises(InputError, match="nobody to hide among"):
        suggest(Transactions.from_lists([["a"], []]))


@pytest.mark.slow
def test_the_command_does_what_it_proposes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    from setveil.io.transactions.writing import write_transactions

    monkeypatch.chdir(tmp_path)
    data = sparse()
    write_transactions(data, "data.csv", type(data.layout)("long"))
    assert _run(["suggest", "data.csv", "--hierarchy", "fanout:5", "--run", "-o", "out"]) == 0
    assert "Proposal:" in capsys.readouterr().out
    assert _run(["verify", "out", "--original", "data.csv"]) == 0
