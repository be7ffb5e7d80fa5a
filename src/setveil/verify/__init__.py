"""Independent checks of a published release. Counts with code of its own; Numba is loaded when something is counted."""

from setveil.verify.claims import achieved, judge, lists_violations, minimal_violations, verify
from setveil.verify.codebook import check_codebook
from setveil.verify.fidelity import check_original
from setveil.verify.files import check_files
from setveil.verify.item_counts import check_item_counts
from setveil.verify.pages import check_earlier_page
from setveil.verify.verdict import Verdict, Violation

__all__ = [
    "Verdict",
    "Violation",
    "achieved",
    "check_codebook",
    "check_earlier_page",
    "check_files",
    "check_item_counts",
    "check_original",
    "judge",
    "lists_violations",
    "minimal_violations",
    "verify",
]
