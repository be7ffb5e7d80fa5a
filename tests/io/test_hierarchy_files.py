"""Hierarchy files: every format, there and back, and what is said about the broken ones."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import textwrap
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from setveil.core import Hierarchy, Vocabulary
from setveil.errors import InputError, SetveilWarning
from setveil.io.hierarchies.hierarchy_files import FORMATS, Problem, check_hierarchy, read_hierarchy, write_hierarchy
from tests.naive import hierarchy as naive
from tests.strategies import hierarchies

DRINKS: naive.Tree = ("ALL", [("drinks", [("alcohol", [("beer", []), ("wine", [])]), ("milk", [])]), ("bag", [])])


def as_tuples(tree: Hierarchy, node: int | None = None) -> naive.Tree:
    node = tree.root if node is None else node
    return tree.labels[node], [as_tuples(tree, child) for child in tree.children[node]]


def same(one: Hierarchy, other: Hierarchy) -> bool:
    return (
        one.labels == other.labels
        and one.parent.tolist() == other.parent.tolist()
        and as_tuples(one) == as_tuples(other)
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)

    def make(content: str | bytes, name: str = "h.csv") -> str:
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return make


# -- reading ------------------------------------------------------------------------------------------------------

AMNESIA = """distinct
name drinks
type string
height 4

alcohol has beer wine

drinks has alcohol milk

ALL has drinks bag
"""

GRAPH = {
    "type": "distinct",
    "nodeList": [
        {"id": str(n), "label": label, "level": 0} for n, label in enumerate(["ALL", "drinks", "bag", "alcohol"])
    ]
    + [{"id": name, "label": name, "color": "red"} for name in ("milk", "beer", "wine")],
    "edgeList": [
        {"from": "0", "to": "1"},
        {"from": "0", "to": "2"},
        {"from": "1", "to": "3"},
        {"from": "1", "to": "milk"},
        {"from": "3", "to": "beer"},
        {"from": "3", "to": "wine"},
    ],
}

NESTED = {
    "name": "ALL",
    "children": [{"name": "drinks", "children": [{"name": "alcohol", "children": ["beer", "wine"]}, "milk"]}, "bag"],
}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("beer,alcohol,drinks\nwine,alcohol,drinks\nmilk,drinks\nbag\n", "h.csv"),
        ("item,category,department\nbeer,alcohol,drinks\nwine,alcohol,drinks\nmilk,drinks\nbag\n", "h.csv"),
        ("beer;alcohol;drinks;ALL\nwine;alcohol;drinks;ALL\nmilk;drinks;ALL;\nbag;ALL;;", "h.csv"),
        ("beer\talcohol\tdrinks\r\nwine\talcohol\tdrinks\r\n\r\nmilk\tdrinks\t\r\nbag\t\t\r\n", "h.tsv"),
        ('"beer";"alcohol";"drinks"\n"wine";"alcohol";"drinks"\n"milk";"drinks"\n"bag"', "h.txt"),
        ("\ufefflevel 0,level 1,level 2\nbeer,alcohol,drinks\nwine,alcohol,drinks\nmilk,drinks,\nbag,,\n,,\n", "h.csv"),
        ("beer,alcohol\nwine,alcohol\nalcohol,drinks\nmilk,drinks\ndrinks,ALL\nbag,ALL\n", "h.csv"),
        ("child,parent\ndrinks,ALL\nbag,ALL\nalcohol,drinks\nmilk,drinks\nbeer,alcohol\nwine,alcohol\nALL,\n", "h.csv"),
        (AMNESIA, "h.txt"),
        (AMNESIA.replace("\n", " \r\n"), "h.txt"),
        (AMNESIA.split("\n\n", 1)[1], "h.txt"),
        (AMNESIA.removeprefix("distinct\n"), "h.txt"),
        (json.dumps(GRAPH), "h.txt"),
        (json.dumps(NESTED), "h.json"),
        (json.dumps(NESTED["children"]), "h.json"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_one_tree_in_many_files(file: Callable[..., str], content: str, name: str, zipped: bool) -> None:
    path = file(gzip.compress(content.encode()), name + ".gz") if zipped else file(content, name)
    assert as_tuples(read_hierarchy(path)) == DRINKS
    assert as_tuples(Hierarchy.from_file(Path(path))) == DRINKS
    assert not [problem for problem in check_hierarchy(path) if problem.severity == "error"]


def test_spmf_taxonomies_are_edges_of_integers(file: Callable[..., str]) -> None:
    tree = read_hierarchy(file("1,6\n2,6\n3,7\n6,8\n7,8\n4,8\n", "taxonomy.txt"))
    assert as_tuples(tree) == ("8", [("6", [("1", []), ("2", [])]), ("7", [("3", [])]), ("4", [])])


def test_children_keep_the_order_of_their_edges(file: Callable[..., str]) -> None:
    tree = read_hierarchy(file("x,b\na,r\nb,r\ny,a\n"))
    assert as_tuples(tree) == ("r", [("a", [("y", [])]), ("b", [("x", [])])])


def test_an_arx_file_with_intervals_and_a_star(file: Callable[..., str]) -> None:
    tree = read_hierarchy(file("1;[0, 5[;[0, 10[;*\n6;[5, 10[;[0, 10[;*\n"))
    assert as_tuples(tree) == ("*", [("[0, 10[", [("[0, 5[", [("1", [])]), ("[5, 10[", [("6", [])])])])


def test_a_row_without_the_star_of_all_others_is_a_header(file: Callable[..., str]) -> None:
    text = "Wert;Gruppe;Oben\nbeer;alcohol;*\nwine;alcohol;*\n"
    assert read_hierarchy(file(text)).n_items == 2
    assert read_hierarchy(file(text), header=False).n_items == 3
    assert read_hierarchy(file("item,a\nbeer,a\nwine,a\n")).n_items == 3  # a heading does not recur below
    assert read_hierarchy(file("beer,a\nwine,b\n"), header=True).n_items == 1


def test_two_columns_are_rows_or_edges(file: Callable[..., str]) -> None:
    rows = "ham,sausage\nsausage,sausage\ncola,soda\n"
    assert as_tuples(read_hierarchy(file(rows)))[1][0] == ("sausage", [("ham", []), ("sausage", [])])
    either = file("ham,sausage\ncola,soda\n")
    assert same(read_hierarchy(either, format="csv"), read_hierarchy(either, format="edges"))
    assert same(read_hierarchy(either), read_hierarchy(either, format="edges"))
    unclear = file("ham,sausage\nsausage,sausage\ncola,soda\nsoda,drinks\n")
    with pytest.raises(InputError, match=r"^h\.csv:1: rows from leaf .*set --hierarchy-format csv or edges\.$"):
        read_hierarchy(unclear)
    assert read_hierarchy(unclear, format="csv").n_items == 4


def test_the_real_taxonomy_of_groceries(real_data: Callable[[str], Path]) -> None:
    path = real_data("groceries_taxonomy.csv")
    tree = read_hierarchy(path)
    assert (tree.n_items, tree.n_nodes, tree.height) == (169, 169 + 55 + 10 + 1, 3)
    problems = check_hierarchy(path, tree.vocabulary)
    assert {problem.severity for problem in problems} == {"warning", "note"}
    repeated = [problem for problem in problems if " names " in problem.message]
    assert [len(problem.items) or 1 for problem in repeated] == [
        20,
        1,
    ]  # items named like a group, perfumery twice a group
    assert "19 more like this" in repeated[0].message


# -- there and back -----------------------------------------------------------------------------------------------

LABELS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=6)


@pytest.mark.parametrize("format", FORMATS)
def test_round_trips_of_plain_trees(format: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    for number in range(150):
        tree = Hierarchy.from_parents(*naive.parents_and_labels(naive.random_tree(rng, rng.randint(1, 12))))
        path = tmp_path / f"h{number}{'.gz' if number % 5 == 0 else ''}"
        write_hierarchy(tree, path, format)
        for again in (read_hierarchy(path), read_hierarchy(path, format=format)):
            assert same(again, tree), as_tuples(tree)


@given(hierarchies(), st.lists(LABELS, min_size=30, max_size=30, unique=True), st.sampled_from(["csv", "amnesia-json"]))
def test_round_trips_with_any_labels(
    tmp_path_factory: pytest.TempPathFactory, tree: Hierarchy, labels: list[str], format: str
) -> None:
    new_label = dict(zip(dict.fromkeys(tree.labels), labels, strict=False))
    order = tree.in_preorder
    parents = [int(tree.preorder[tree.parent[node]]) if tree.parent[node] >= 0 else -1 for node in order]
    tree = Hierarchy.from_parents(parents, [new_label[tree.labels[node]] for node in order])
    path = tmp_path_factory.getbasetemp() / "any-labels"
    write_hierarchy(tree, path, format)
    assert same(read_hierarchy(path), tree)


def test_an_arrow_as_a_label_makes_no_paths(tmp_path: Path) -> None:
    tree = Hierarchy.from_paths([*([item, " > ", " > "] for item in "bcd "), [" > ", " > ", " > "]])
    write_hierarchy(tree, tmp_path / "h.csv", "csv")
    assert same(read_hierarchy(tmp_path / "h.csv"), tree)


def test_what_a_format_cannot_say_is_refused_by_name(tmp_path: Path) -> None:
    repeated = Hierarchy.from_paths([["ham", "sausage"], ["sausage", "sausage"]])
    for format in ("edges", "amnesia"):
        with pytest.raises(InputError, match=f'^{format} needs .* for every node, and "sausage" occurs twice'):
            write_hierarchy(repeated, tmp_path / "h", format)
    with pytest.raises(InputError, match='"has", "red wine" cannot be written; use csv'):
        write_hierarchy(Hierarchy.from_paths([["has", "r"], ["red wine", "r"], ["x", "r"]]), tmp_path / "h", "amnesia")
    twins = Hierarchy.from_parents([-1, 0, 0, 1, 2], ["r", "g", "g", "a", "b"])
    with pytest.raises(InputError, match='two groups named "g" below one parent'):
        write_hierarchy(twins, tmp_path / "h", "csv")
    write_hierarchy(twins, tmp_path / "h", "amnesia-json")
    assert same(read_hierarchy(tmp_path / "h"), twins)
    with pytest.raises(InputError, match='unknown hierarchy format "xml"; choose one of csv, edges'):
        write_hierarchy(twins, tmp_path / "h", "xml")


def test_files_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    tree = Hierarchy.from_paths([["a", "g"], ["b", "g"], ["c"]])
    texts = {}
    for format in FORMATS:
        write_hierarchy(tree, tmp_path / "h", format)
        texts[format] = (tmp_path / "h").read_text()
    assert texts["csv"] == "item,level 1,level 2\na,g,ALL\nb,g,ALL\nc,ALL,\n"
    assert texts["edges"] == "child,parent\ng,ALL\na,g\nb,g\nc,ALL\n"
    assert texts["amnesia"] == "distinct\nname hierarchy\ntype string\nheight 3\n\ng has a b\n\nALL has g c\n"
    assert json.loads(texts["amnesia-json"])["edgeList"][0] == {"from": "ALL", "to": "g"}


# -- what is wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "beer,alcohol,x\nwine,alcohol,x\nbeer,drinks,x\n",
            'h.csv:3: item "beer" has two parents ("alcohol", "drinks"); keep one.',
        ),
        ("beer,a,x\nbeer,a,y\n", 'h.csv:2: item "beer" has two parents ("a" below "x", "a" below "y"); keep one.'),
        (
            "beer,a,x\nwine,a,x\nbeer,a\n",
            'h.csv:3: item "beer" has two parents ("a" below "x", "a" below the root); keep one.',
        ),
        ("child,parent\nbeer,a\na,r\nbeer,r\n", 'h.csv:4: item "beer" has two parents ("a", "r"); keep one.'),
        ("child,parent\nbeer,a\na,r\na,s\n", 'h.csv:4: group "a" has two parents ("r", "s"); keep one.'),
        ("beer,a\na,b\nb,a\n", 'h.csv:3: "a" → "b" → "a" is a cycle; remove one of these links.'),
        ("child,parent\nbeer,a\na,a\n", 'h.csv:3: "a" → "a" is a cycle; remove one of these links.'),
        (
            "item,a,b\nbeer,,x\nwine,y,x\n",
            'h.csv:2: level 1 of item "beer" is empty; fill it in, or omit cells at the end of the row only.',
        ),
        (
            "item,a,b\n,y,x\nwine,y,x\n",
            "h.csv:2: the item is empty; fill it in, or omit cells at the end of the row only.",
        ),
        ("child,parent\n,y\n", 'h.csv:2: a child of "y" is empty; give it a name.'),
        ("item,group\nbeer,a,b\nwine,a\n", "h.csv:2: 3 fields below a header of 2; check the quotation."),
        ("item,group\n", "h.csv:1: there is nothing below the header; add one row per item."),
        ("beer\nwine\n", "h.csv:1: no delimiter found (;, comma or tab); name it, or the format."),
        (
            'beer,"alc\nwine,a\n',
            "h.csv:1: unexpected end of data; close the quotation mark, or double it inside a label.",
        ),
        ("", "h.csv: the file is empty."),
        (" \n\n", "h.csv: the file is empty."),
        (b"beer,a\nw\x81ne,a\n", "h.csv:2: the text is not UTF-8; save it as UTF-8."),
        (b"beer,a\n\nw\0ne,a\n", "h.csv:3: a NUL byte; the file is damaged or not a text file."),
        (
            gzip.compress(b"beer,a\n", mtime=0)[:-6],
            "h.csv:2: the gzip data ends too early; copy or compress the file again.",
        ),
        (
            "range\nname age\n\n0,9 has 0,4 5,9\n",
            "h.csv:1: a hierarchy of ranges; setveil takes hierarchies of distinct values.",
        ),
        (
            "distinct\nname x\n\nred wine has merlot\n",
            'h.csv:4: expected "parent has child child …" with names free of blanks; use csv for other names.',
        ),
        ("distinct\nname x\n\na has b c\n\nr has a b\n", 'h.csv:6: item "b" has two parents ("a", "r"); keep one.'),
        ("distinct\nname x\n", "h.csv: the hierarchy has no nodes."),
        ('{"nodeList": [\n1,]}', "h.csv:2: not JSON (Illegal trailing comma before end of array); check the file."),
        (
            '{"nodeList": [1], "edgeList": []}',
            'h.csv: an entry of "nodeList" is not an object; see the formats in the documentation.',
        ),
        ('{"nodeList": []}', 'h.csv: "edgeList" is missing or not a list; see the formats in the documentation.'),
        ('{"nodeList": [{"id": "a"}, {"id": "a"}], "edgeList": []}', 'h.csv: node id "a" occurs twice; keep one.'),
        (
            '{"nodeList": [{"id": "a"}], "edgeList": [{"from": "a", "to": "b"}]}',
            'h.csv: an edge names "b", which is not a node id; add the node.',
        ),
        (
            '{"nodeList": [{"id": "a", "label": null}], "edgeList": []}',
            "h.csv: the label of a node is missing, empty or neither text nor an integer; give it a name.",
        ),
        (
            '{"name": "r", "children": ["a", {"name": "g", "children": ["a"]}]}',
            'h.csv: item "a" has two parents ("r", "g"); keep one.',
        ),
        ('{"name": "r", "children": 3}', 'h.csv: "children" of "r" is not a list; give a list of nodes.'),
        (
            '{"name": "r", "children": [true]}',
            'h.csv: "label" of a node is missing, empty or neither text nor an integer; give it a name.',
        ),
    ],
)
def test_the_first_error_is_one_line_with_place_and_cure(
    file: Callable[..., str], content: str | bytes, message: str
) -> None:
    path = file(content)
    with pytest.raises(InputError) as error:
        read_hierarchy(path)
    if "Illegal trailing comma" in message:  # worded differently by some versions of Python
        assert str(error.value).startswith("h.csv:2: not JSON (")
    else:
        assert str(error.value) == message


def test_places_that_hold_no_file(file: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^gone\.csv: no such file; check the path\.$"):
        read_hierarchy("gone.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_hierarchy(tmp_path)
    with pytest.raises(InputError, match='unknown hierarchy format "tree"'):
        read_hierarchy(file("a,b\n"), format="tree")
    with pytest.raises(InputError, match="is not one character"):
        read_hierarchy(file("a,b\n"), delimiter="::")
    assert read_hierarchy(file("a|g\nb|g\n"), delimiter="|").n_items == 2
    assert read_hierarchy(file("a\nb\n"), format="csv").n_items == 2


def brief(problems: list[Problem]) -> list[tuple[str, int | None, str]]:
    return [(problem.severity, problem.line, problem.message.split(";")[0]) for problem in problems]


def test_check_lists_everything_not_only_the_first(file: Callable[..., str]) -> None:
    path = file(
        "item,group,top\n"
        "beer,alcohol,drinks\n"
        "beer,drinks,drinks\n"  # a second parent
        "wine,,drinks\n"  # a hole
        "ale,alcohol,drinks\n"
        "ale,alcohol,drinks\n"  # twice
        "tea,alcohol,food\n"  # alcohol once more, elsewhere
        "food,staples,food\n"  # an item named like a group
        " rice,staples,food\n"
        "bag,a,b,c\n"
    )
    problems = check_hierarchy(path, Vocabulary(["beer", "alcohol", "tea", "cola", "juice"]))
    assert brief(problems) == [
        ("error", None, '2 items of the data missing: "cola", "juice"'),
        ("error", 3, 'item "beer" has two parents ("alcohol", "drinks")'),
        ("error", 4, 'level 1 of item "wine" is empty'),
        ("error", 7, '"alcohol" is an item of the data and a group here'),
        ("error", 10, "4 fields below a header of 3"),
        ("warning", 6, 'item "ale" repeats line 5'),
        ("warning", 7, 'label "alcohol" names 2 groups'),
        ("warning", 8, 'label "food" names an item and 1 group'),
        ("warning", 9, 'label " rice" has blanks around it'),
        ("note", None, '2 groups have one child only: "drinks", "alcohol"'),
        ("note", None, '3 items of the hierarchy not in the data: " rice", "ale", "food"'),
    ]
    assert problems[0].items == ("cola", "juice")
    assert str(problems[1]) == 'h.csv:3: item "beer" has two parents ("alcohol", "drinks"); keep one.'
    assert all("\n" not in str(problem) and str(problem).endswith(".") for problem in problems)


def test_check_finds_every_cycle_and_every_second_parent(file: Callable[..., str]) -> None:
    path = file("child,parent\na,b\nb,a\nc,d\nd,e\ne,c\nx,a\nx,c\ny,z\ny,z\n")
    assert brief(check_hierarchy(path)) == [
        ("error", 3, '"a" → "b" → "a" is a cycle'),
        ("error", 6, '"c" → "d" → "e" → "c" is a cycle'),
        ("error", 8, 'item "x" has two parents ("a", "c")'),
        ("warning", 10, 'item "y" repeats its link of line 9'),
        ("note", None, '5 groups have one child only: "b", "c", "d", "e", "z"'),
    ]


def test_a_row_that_might_be_a_header_is_noted(file: Callable[..., str]) -> None:
    text = "Artikel;Warengruppe;Abteilung\nbeer;alcohol;drinks\nwine;alcohol;drinks\nham;cold;meat\n"
    assert ("note", 1, "the first line shares no group with the others") in brief(check_hierarchy(file(text)))
    assert brief(check_hierarchy(file("ham;cold;meat\nbeer;alcohol;drinks\n"))) == [
        ("note", None, '4 groups have one child only: "meat", "cold", "drinks", "alcohol"')
    ]


def test_a_clean_file_gives_no_problems(file: Callable[..., str]) -> None:
    path = file("beer,alcohol\nwine,alcohol\nham,cold\nbrawn,cold\n")
    assert check_hierarchy(path, Vocabulary(["beer", "wine", "ham", "brawn"])) == []


@example(b"\x1c")
@given(st.one_of(st.binary(max_size=60), st.text(st.sampled_from('ab,;\t"\n {}[]:has*'), max_size=60).map(str.encode)))
@pytest.mark.filterwarnings("ignore:.*read as")
def test_no_bytes_lead_to_anything_but_a_tree_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-bytes"
    path.write_bytes(content)
    for format in (None, *FORMATS):
        try:
            tree = read_hierarchy(path, format=format)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert tree.n_items > 0


def test_the_documented_examples_are_read(file: Callable[..., str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8").split("## Hierarchies\n")[1]
    text = text.split("\n## ")[0]
    examples = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text, flags=re.MULTILINE)
    trees = [read_hierarchy(file(textwrap.dedent(example))) for example in examples]
    assert [as_tuples(tree) for tree in trees] == [
        ("ALL", [("Drinks", [("beer", [("lager", []), ("wheat beer", [])])]), ("Pantry", [("salt", [])])]),
        ("8", [("6", [("1", []), ("2", [])])]),
        ("ALL", [("beer", [("lager", []), ("wheat", [])]), ("water", [])]),
        ("ALL", [("beer", [])]),
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("encoding", ["utf-8", "iso8859-1"])
def test_a_pipe_is_read_once(tmp_path: Path, encoding: str) -> None:
    text = "item,group,top\ncafé,drinks,all\ntea,drinks,all\nbread,food,all\n"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(text.encode(encoding),), daemon=True)
    writer.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetveilWarning)
        tree = read_hierarchy(pipe)
    writer.join()
    assert sorted(tree.labels[: tree.n_items]) == ["bread", "café", "tea"]
