"""What the page answers to "What is this?", per step: titles and short texts, terms as the
glossary has them. And the tour.
"""

from __future__ import annotations

from setveil.words import TERMS


def _term(name: str) -> tuple[str, str]:
    """A term, as the glossary explains it."""
    return name, TERMS[name.lower()] + "."


HELP = {
    "start": (
        ("Workspace", "A file with everything decided about it, and its runs. Two workspaces never mix."),
        (
            "What is stored",
            "Everything is deleted when setveil ui ends. “Keep” stores one workspace until you delete it.",
        ),
        ("Where the data goes", "Nowhere. The page runs on this machine and loads nothing from outside."),
    ),
    "columns": (
        (
            "Person",
            TERMS["person"] + ". One record per person. k counts people, so visits must not be taken for people.",
        ),
        _term("Item"),
        ("Known", TERMS["known column"] + ". It is published only as far as the guarantee allows."),
        ("Sensitive", "An attacker must not learn it. It is published unchanged."),
        ("Carry", "Published unchanged and outside the guarantee. Choose it only if nobody can know it."),
        (
            "Hierarchy of a column",
            "How a known column is generalized: bands:5,10,20 for numbers, date:month,quarter,year, prefix:3,1 for "
            "postcodes, flat, or the path of a CSV file.",
        ),
    ),
    "overview": (
        ("People and items", "If these numbers surprise you, go back to Columns: the file was read in another way."),
        ("Rare items", "Items of few people single out those people. They are generalized or suppressed first."),
        (
            "Threshold",
            "A rule such as that of a statistics office: how many people must match an attacker's knowledge. The "
            "lights of a release are compared with it.",
        ),
    ),
    "risk": (
        _term("Singled out"),
        _term("Attacker"),
        (
            "Average and worst",
            "The average attacker knows any items of a person. The worst one knows the most revealing items.",
        ),
    ),
    "protect": (
        _term("Guarantee"),
        _term("Privacy model"),
        _term("Residual risk"),
        _term("Utility"),
        ("How to choose", "Take a proposal whose lights you can defend. Change k and m only if you know why."),
    ),
    "hierarchy": (
        _term("Hierarchy"),
        _term("Category"),
        ("Code systems", "Codes such as ICD-10 or ATC bring their own chapters and blocks."),
        ("Preview", "Shows what the chosen guarantee would merge. Nothing is written."),
    ),
    "run": (
        _term("Release"),
        _term("Generalized"),
        _term("Suppressed"),
        ("Lights", "Green, amber or red for guarantee, residual risk and utility. The report has every figure."),
    ),
    "compare": (
        ("The chart", "Further left: lower risk. Further down: counts are closer to the original."),
        ("Best runs", "The line joins runs that no other run beats in both. They have a star."),
    ),
    "handover": (
        (
            "Public and internal",
            "Recipients get the archive. The internal folder has original figures and stays with you.",
        ),
        _term("Assessment"),
        ("Signature", "Made with your OpenSSH key. It proves who issued the release, not that it is safe."),
    ),
    "check": (
        ("What is verified", "The guarantee is counted again from the files, by code that made no release."),
        ("Cannot be verified", "Something needed is not in the files, such as a private list of combinations."),
        (
            "A file of any software",
            "The guarantee chosen on the step Protect is counted on the open file as it is. Nothing is changed.",
        ),
    ),
}

TOUR_NAME = "Tour"
TOUR_WHERE = "Tour, stop {number} of {n}"
TOUR_NEXT = "Next stop of the tour"
TOUR_END = "End the tour"
TOUR = {
    "start": "The sample is open. Go on to see what it is.",
    "columns": "These baskets are synthetic. The column “basket” identifies a person and is never published; “item” "
    "holds the items.",
    "overview": "Look at the first records, and at whom the release is for. Everything later refers to it.",
    "risk": "Search for “pregnancy test” and add one or two more items. See how few people match. An attacker "
    "re-identifies a person in this way.",
    "protect": "Change k and m and read the guarantee: it names the attacker and what the attacker cannot do. Other "
    "privacy models protect sensitive items, or combinations that you choose.",
    "hierarchy": "The sample has a hierarchy. Rare items can be generalized to its categories. Press “Show” to browse "
    "it.",
    "run": "Press “Start”. setveil writes the release, reads it back and verifies it. Three lights show guarantee, "
    "residual risk and utility.",
    "compare": "Change k or the algorithm, run again, and compare the runs here.",
    "handover": "Download the archive: it contains only the public files. The command repeats the run without this "
    "page.",
    "check": "Drop the archive here, as a recipient would: the guarantee is verified from its files alone.",
}
