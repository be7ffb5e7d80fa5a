"""Which algorithms do not run on Spark, each with its reason; whatever is not listed here does."""

from __future__ import annotations

import pytest
from naive.scattered import Scattered

from setveil.algorithms import ENTRIES
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import PrivacyModel, as_model
from setveil.workflows.cluster import ON_SPARK, algorithm_for

WHOLE_TREE = "walks the count-tree in the records, path by path"
COMPARES = "compares records with all others"
REMAINDER = "a group may be formed only if all records that remain keep the degree"
GAPS = {
    ("da", "km"): WHOLE_TREE,
    ("oa", "km"): "tries cuts of the whole lattice; small data only",
    ("hghs", "km"): "looks at the threats of whole records",
    ("mhghs", "km"): "looks at the threats of whole records",
    ("mhghs+refine", "km"): "looks at the threats of whole records",
    ("trim", "km"): "leaves out single entries, which is decided record by record",
    ("lra", "km"): "parts of the records are recoded in different ways",
    ("vpa", "km"): WHOLE_TREE,
    ("pcta+", "km"): COMPARES,
    ("pcta", "km"): COMPARES,
    ("upcta", "km"): COMPARES,
    ("coat", "km"): COMPARES,
    ("gray-tsp", "k-anonymity"): "segments are joined to one tour before classes are cut",
    ("gsc", "k-anonymity"): COMPARES,
    ("lg", "k-anonymity"): COMPARES,
    **dict.fromkeys(
        [(name, "degree") for name in ("blocks", "nn+", "cahd", "nn", "lsh", "permmondrian", "random")], REMAINDER
    ),
    ("mm", "coherence"): "moles are found in the records",
    **dict.fromkeys([(name, "constraints") for name in ("pcta+", "pcta", "upcta", "coat")], COMPARES),
}
MODELS: dict[str, PrivacyModel] = {
    "km": as_model("km", {"k": 2, "m": 2}),
    "k-anonymity": as_model("k-anonymity", {"k": 2}),
    "degree": as_model("degree", {"p": 2, "sensitive": ["a"]}),
    "coherence": as_model("coherence", {"h": 50, "k": 2, "p": 2, "sensitive": ["a"]}),
    "constraints": as_model("constraints", {"k": 2, "constraints": [["a"]]}),
}


@pytest.mark.parametrize(("name", "model"), [(entry.name, model) for entry in ENTRIES for model in entry.models])
def test_an_algorithm_runs_or_is_refused_in_one_line(name: str, model: str) -> None:
    data = Scattered(Transactions.from_lists([["a", "b"], ["b"], ["a"]]), 2)
    if (name, model) not in GAPS:
        assert algorithm_for(data, MODELS[model], name) == name
        return
    with pytest.raises(InputError, match="does not run on Spark; there is aa") as refused:
        algorithm_for(data, MODELS[model], name)
    assert "\n" not in str(refused.value)


def test_what_runs_there_is_compared_byte_by_byte() -> None:
    from tests.engines.test_spark import COMPARED

    assert sorted(COMPARED) == sorted(name for names in ON_SPARK.values() for name in names)
