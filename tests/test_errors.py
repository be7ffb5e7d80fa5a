"""Messages speak of options on the command line, and of arguments in Python."""

from __future__ import annotations

import pytest

import setveil as sv
from setveil.errors import InputError, SetveilWarning, speaking_of_options


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("use --format long --no-header, or --format basket.", 'use format="long" no_header=True, or format="basket".'),
        ("swap --id-column and --item-column.", "swap id_column and item_column."),
        ("as in --id-column 1 --item-column 2.", "as in id_column=1 item_column=2."),
        ('add --split "|" to split them', 'add split="|" to split them'),
        ('--item-columns "dx*"', 'item_columns="dx*"'),
        ("leave out --to.", "leave out to."),
        ("use --hierarchy-format edges.", 'use hierarchy_format="edges".'),
        ('item "--frozen pizza" is new', 'item "--frozen pizza" is new'),
        ("A00--B99 and 1--2", "A00--B99 and 1--2"),
    ],
)
def test_options_become_arguments(written: str, read: str) -> None:
    assert str(InputError(written)) == str(SetveilWarning(written)) == read
    with speaking_of_options():
        assert str(InputError(written)) == str(SetveilWarning(written)) == written


def test_unknown_arguments_are_errors() -> None:
    rows = [["a", "b"], ["a"], ["b"]]
    with pytest.raises(sv.InputError, match='no option "mm"'):
        sv.anonymize(rows, "km", k=2, mm=2)
    with pytest.raises(sv.InputError, match="needs m"):
        sv.verify(rows, "km", k=2)
    with pytest.raises(sv.InputError, match="has no parameter DD"):
        sv.generate("quest", DD=3)
    with pytest.raises(sv.InputError, match="choose one of quest, patients"):
        sv.generate("taxis")
    with pytest.raises(TypeError):
        sv.read(rows, colour="blue")
    with pytest.raises(TypeError):
        sv.risk(rows, knwon=(1, 2))
