"""Independent checks of a published release. Counts with code of its own; Numba is loaded when something is counted.

- ``claims`` asks the verifier of a model: ``km``, ``kkm``, ``k_anonymity``, ``degree``, … (``count_*``: of ``counts``)
- ``published``, ``columns`` and ``book`` have what is checked, as the verifier's own arrays; ``tables`` distinct rows
- ``search`` finds rare itemsets with the loops of ``counting``; ``dense`` counts all of them where they are few
- ``files``, ``codebook``, ``item_counts`` and ``pages`` check what is beside the records
- ``fidelity``, ``column_fidelity`` and ``count_fidelity`` compare with the original, which ``originals`` reads again
- ``spark_sql`` counts on a cluster; ``people`` counts those behind visits
"""

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
