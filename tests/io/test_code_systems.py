"""Code systems: ranges, codes in all spellings, faults with their fixes, detection."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.io.hierarchies.systems.detection import detect_system, is_ean
from setveil.io.hierarchies.systems.registry import SYSTEMS
from setveil.io.hierarchies.systems.trees import read_system

ICD10 = ["E11.9", "E11.65", "E10.1", "I10", "C50.1", "C50.9", "C34", "D50.0", "D05", "H10.1", "H66.9"]
ICD9 = ["250.01", "250.00", "401.9", "V45.81", "E850.0", "038.9", "042", "493.90", "389.1"]


def path(system: str, code: str) -> list[str]:
    known = SYSTEMS[system]
    return [label.partition(" ")[0] for label in known.groups(known.read(code))][::-1]


@pytest.mark.parametrize(
    ("system", "code", "groups"),
    [
        ("icd10", "E11.9", ["E00-E90", "E10-E14", "E11.-", "E11.9-"]),
        ("icd10", "D48.1", ["C00-D48", "D37-D48", "D48.-", "D48.1-"]),
        ("icd10", "D50", ["D50-D89", "D50-D53", "D50.-"]),
        ("icd10", "H59.9", ["H00-H59", "H55-H59", "H59.-", "H59.9-"]),
        ("icd10", "H60", ["H60-H95", "H60-H62", "H60.-"]),
        ("icd10", "C50.9", ["C00-D48", "C00-C97", "C00-C75", "C50", "C50.9-"]),
        ("icd10", "X59", ["V01-Y98", "V01-X59", "W00-X59", "X58-X59", "X59.-"]),
        ("icd10", "Y05", ["V01-Y98", "X85-Y09", "Y05.-"]),
        ("icd10", "U07.1", ["U00-U99", "U00-U49", "U07.-", "U07.1-"]),
        ("icd10cm", "D3A.01", ["C00-D49", "D3A", "D3A.0-", "D3A.01-"]),
        ("icd10cm", "D38", ["C00-D49", "D37-D48", "D38.-"]),
        ("icd10cm", "C7B", ["C00-D49", "C7B"]),
        ("icd10cm", "M1A", ["M00-M99", "M05-M14", "M1A.-"]),
        ("icd10cm", "Z3A", ["Z00-Z99", "Z30-Z39", "Z3A.-"]),
        ("icd9cm", "139", ["001-139", "137-139", "139.-"]),
        ("icd9cm", "140", ["140-239", "140-149", "140.-"]),
        ("icd9cm", "V4581", ["V01-V91", "V40-V49", "V45.-", "V45.8-"]),
        ("icd9cm", "E850.0", ["E000-E999", "E850-E858", "E850.-"]),
        ("icd9cm", "285.9", ["280-289", "285.-", "285.9-"]),
        ("atc", "A10BA02", ["A", "A10", "A10B-", "A10BA-"]),
        ("atc", "A10B", ["A", "A10", "A10B-"]),
    ],
)
def test_a_code_is_where_its_system_has_it(system: str, code: str, groups: list[str]) -> None:
    assert path(system, code) == groups


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_range_lies_within_the_one_above(name: str) -> None:
    system = SYSTEMS[name]
    labels = [block.label for block in system.blocks]
    assert len(set(labels)) == len(labels)
    for block in system.blocks:
        for low, high in block.ranges:
            assert low <= high and len(low) == len(high), block
            if block.above >= 0:
                above = system.blocks[block.above]
                assert above.reaches(low) and above.reaches(high), block
    for number, block in enumerate(system.blocks):  # a category has one place: its own block, whatever overlaps
        for low, high in block.ranges:
            for category in (low, high):
                if system.parts(category)[0]:
                    assert number in system.place(category), (block, category)


def test_numbers_of_chapters() -> None:
    counts = {name: sum(block.above < 0 for block in system.blocks) for name, system in SYSTEMS.items()}
    assert counts == {"icd10": 22, "icd10cm": 22, "icd9cm": 19, "atc": 14}


@pytest.mark.parametrize("seed", range(20))
def test_trees_keep_chapters_apart(seed: int) -> None:
    """Against the table alone: two codes share a group below the root if and only if one range has both."""
    chance = random.Random(seed)
    name = chance.choice(list(SYSTEMS))
    system = SYSTEMS[name]
    codes = []
    while len(codes) < 30:
        block = chance.choice(system.blocks)
        category = chance.choice(block.ranges)[0]
        rest = "" if name == "atc" else chance.choice(["", ".0", ".1", ".12", "9"])
        if system.read(category + rest):
            codes.append(category + rest)
    unique = list({system.read(code): code for code in codes}.values())
    chance.shuffle(unique)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree, again = read_system(name, unique), read_system(name, sorted(unique))
    assert again.labels == tree.labels and again.parent.tolist() == tree.parent.tolist()
    assert set(tree.vocabulary) == set(unique)
    chapters = [block for block in system.blocks if block.above < 0]
    for one in unique:
        for other in unique:
            together = any(
                chapter.reaches(system.read(one)[: len(chapter.ranges[0][0])])
                and chapter.reaches(system.read(other)[: len(chapter.ranges[0][0])])
                for chapter in chapters
            )
            above = set(tree.ancestors(tree.vocabulary.number(one))[1:]) - {tree.root}
            shared = above & set(tree.ancestors(tree.vocabulary.number(other))[1:])
            assert bool(shared) is together, (one, other)


def test_groups_of_one_code_are_left_away_but_for_chapters() -> None:
    tree = read_system("icd10", ICD10)
    inner = {label.partition(" ")[0] for label in tree.labels[tree.n_items :]}
    assert {"E11.-", "E10-E14", "E00-E90", "C50", "H00-H59", "H60-H95", "D50-D89"} <= inner
    assert not {"E10.-", "I10.-", "I10-I15", "H10.-"} & inner
    assert tree.derived_from_data and tree.has_meaning


FAULTS = {
    "two spellings": ("icd9cm", [*ICD9, "25001"], 'the same code. Write it in one way only, such as "250.01"'),
    "lost zeros": ("icd9cm", [*ICD9, "38.1", "8"], '2 of the codes lost leading zeros ("38.1" for "038.1")'),
    "a comma": ("icd10", [*ICD10, "E11,8"], '"E11,8" (probably "E11.8")'),
    "letters for digits": ("icd10", [*ICD10, "JI8.O"], '"JI8.O" (probably "J18.0")'),
    "a digit for a letter": ("icd10", [*ICD10, "125.1"], '"125.1" (probably "I25.1")'),
    "a blank": ("icd10", [*ICD10, "E11 8"], '"E11 8" (probably "E11.8")'),
    "an asterisk": ("icd10", [*ICD10, "G63.2*"], '"G63.2*" (probably "G63.2")'),
    "no code": ("icd10", [*ICD10, "Other"], '1 of 12 items are no ICD-10 codes (such as E11.9): "Other"'),
    "a block": ("icd10", [*ICD10, "E10-E14"], '"E10-E14" is a group of ICD-10, not a code'),
    "another system": ("icd10", ICD9, "They look like ICD-9-CM codes"),
    "the American version": ("icd10", ["S72.001A", "S72.002A", "S72.009D", "M1A.0XX0", "E11.9"], "--hierarchy icd10cm"),
    "beyond the chapters": ("icd9cm", [*ICD9, "000.1"], 'no ICD-9-CM codes (such as 250.01): "000.1"'),
    "a parameter": ("icd10:zeros-lost", ICD10, '"zeros-lost" is unknown; write "icd10"'),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named_with_their_fix(name: str) -> None:
    source, labels, said = FAULTS[name]
    with pytest.raises(InputError) as caught:
        read_system(source, labels)
    assert said in str(caught.value), caught.value


def test_other_is_not_chapter_o(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = [[code, "Other"] for code in ICD10]
    with pytest.warns(sv.SetveilWarning, match='"Other": no ICD-10 code; it has no group'):
        release = sv.anonymize(data, "km", k=2, m=1, hierarchy="icd10", unknown_items="root", algorithm="aa")
    tree = release.record.hierarchy
    assert tree.parent[tree.vocabulary.number("Other")] == tree.root


def test_lost_zeros_can_be_read_on_request() -> None:
    tree = read_system("icd9cm:zeros-lost", [*ICD9, "8", "38.1", "9"])
    above = [tree.labels[node] for node in tree.ancestors(tree.vocabulary.number("8"))]
    assert above == ["8", "001-009 Bowel infections", "001-139 Infections", "ALL"]


def test_many_numbers_without_a_leading_zero_are_a_warning() -> None:
    codes = [f"{category}{digit}" for category in range(420, 430) for digit in range(10)] + ["V4581"]
    with pytest.warns(sv.SetveilWarning, match="none begins with 0"):
        read_system("icd9cm", codes)


PRICES = [f"{euros}.{cents:02d}" for euros in range(100, 400, 7) for cents in (0, 50, 99)]
COLUMNS = {
    "icd10": ICD10,
    "icd10cm": ["S72.001A", "S72.002A", "S72.009D", "M1A.0XX0", "E11.9", "I10"],
    "icd9cm": ICD9,
    "icd9cm ": ["4019", "25000", "V4581", "0389", "42731", "5849", "E8889"],
    "icd9cm  ": ["250.83", "276", "648", "8", "197", "414", "428", "398", "V27", "38", "250.6", "?"],
    "icd9cm   ": ["250.83", "276", "648", "197.1", "414", "428.0", "398", "427.31"],
    "atc": ["A10BA02", "C07AB02", "C07AB03", "N02BE01", "A10", "C09AA05"],
    "ean": ["4006381333931", "5901234123457", "9780201379624", "96385074", "0012345678905"],
    "none": ["milk", "bread", "beer", "wine", "salt"],
    "none ": [str(number) for number in range(100, 999)],
    "none  ": PRICES,
    "none   ": ["85123A", "71053", "84406B", "POST", "22752"],
    "none    ": ["P00069042", "P00248942", "P00087842", "P00085442", "P00285442"],
    "none     ": ["A01", "A02", "A03", "B01", "B02", "B03"],
    "none      ": [],
}


@pytest.mark.parametrize("expected", COLUMNS)
def test_detection(expected: str) -> None:
    found = detect_system(COLUMNS[expected])
    assert (found[0] if found else "none") == expected.strip(), found
    if found:
        assert "% of" in found[1] and "such as" in found[1]


def test_check_digits() -> None:
    right = [number for number in range(4006381333930, 4006381333940) if is_ean(str(number))]
    assert right == [4006381333931] and not is_ean("40063813339") and not is_ean("400638133393x")


def test_prefixes_that_mix_chapters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},{code}\n" for n, code in enumerate([*ICD9, "460.1"] * 3)]
    Path("visits.csv").write_text("patient,code\n" + "".join(rows))
    ask = ["anonymize", "visits.csv", "-o", "out", "--model", "km", "-k", "2", "-m", "1", "--algorithm", "aa"]
    assert _run([*ask, "--hierarchy", "prefix:1,3"]) == 2
    said = capsys.readouterr().err
    assert 'the group "4*" mixes chapters of ICD-9-CM (390-459' in said and "Set --hierarchy icd9cm" in said
    assert _run([*ask, "--hierarchy", "icd9cm"]) == 0
    assert _run(["verify", "out"]) == 0
    with pytest.warns(sv.SetveilWarning, match='the group "D\\*" mixes chapters of ICD-10'):
        sv.anonymize([[code] for code in ICD10 * 2], "km", k=2, m=1, algorithm="aa", hierarchy="prefix:1,3")


def test_mixed_chapters_are_a_last_resort_and_named() -> None:
    people = [["E11.9", "E10.1"], ["E11.9"], ["E10.1"], ["I10"], ["I10", "I25.1"], ["I25.1"]]
    release = sv.anonymize(people, "km", k=2, m=1, algorithm="pcta", hierarchy="icd10")
    assert set(release.codebook()) == {"E11.9", "E10.1", "I10", "I25.1"}
    apart = sv.anonymize([*people, ["E11.8"]], "km", k=2, m=1, algorithm="pcta", hierarchy="icd10")
    assert sv.measure([*people, ["E11.8"]], apart)["mixed_ratio"] == 0
    alone = [*people, ["C50.1"]]
    with pytest.warns(sv.SetveilWarning, match="as a last resort, one category .* mixes branches"):
        mixed = sv.anonymize(alone, "km", k=2, m=1, algorithm="pcta", hierarchy="icd10")
    assert sv.measure(alone, mixed)["mixed_ratio"] == 1
    assert "mixed_ratio" not in sv.measure(alone, sv.anonymize(alone, "km", k=2, m=1, algorithm="pcta"))


def test_systems_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["hierarchy", "systems"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in SYSTEMS) and "22 chapters" in shown
    assert _run(["hierarchy", "systems", "icd9cm", "--code", "25001"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[-3:]] == ["250.-", "250.0-", "25001"]
    assert _run(["hierarchy", "systems", "icd9cm", "--code", "8"]) == 2
    assert 'did you mean "008"?' in capsys.readouterr().err
