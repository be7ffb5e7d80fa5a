"""What does not run on Spark, each with its reason: algorithms, and questions about records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from naive.scattered import Scattered

from setveil.algorithms import ENTRIES, Context
from setveil.algorithms.degree.cahd import CAHD
from setveil.algorithms.k_anonymity.pta import PTA
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.optimal import Optimal
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.models import KAnonymity, KmAnonymity, PrivacyDegree, PrivacyModel, as_model
from setveil.workflows.cluster import ON_SPARK, algorithm_for
from setveil.workflows.folder import patterns_of_folder

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
    **dict.fromkeys([(name, "degree") for name in ("blocks", "nn+", "nn", "lsh", "permmondrian", "random")], REMAINDER),
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


SOME = Transactions.from_lists([["a", "b"], ["b"], ["a"]])
ELSEWHERE = Scattered(SOME, 2)
QUESTIONS: dict[str, tuple[str, Callable[[], object]]] = {  # each with its reason
    'm="all"': (
        "itemsets of every size: the length of the longest recoded record is asked again and again",
        lambda: AA().run(
            ELSEWHERE, KmAnonymity(k=2, m="all"), Context(hierarchy=Hierarchy.balanced(SOME.vocabulary, 2))
        ),
    ),
    "measure --patterns": (
        "frequent itemsets are mined in memory",
        lambda: patterns_of_folder(ELSEWHERE, "nowhere", (0.1,)),
    ),
    "leftovers=all": (
        "leftovers are compared with the classes of all segments",
        lambda: PTA(leftovers="all").run(ELSEWHERE, KAnonymity(k=2), Context()),
    ),
    "cahd without shard_size": (
        "a group may be formed only if all records that remain keep the degree",
        lambda: CAHD().run(ELSEWHERE, PrivacyDegree(p=2, sensitive=("a",)), Context()),
    ),
    "suppression of optimal": (
        "which nodes become rare by suppressing single items takes the records",
        lambda: Optimal(suppression=True).run(
            ELSEWHERE, KmAnonymity(k=2, m=2), Context(hierarchy=Hierarchy.balanced(ELSEWHERE))
        ),
    ),
    "suppress_excess of cahd": (
        "occurrences are drawn among all records",
        lambda: CAHD(shard_size=2, suppress_excess=True).run(
            ELSEWHERE, PrivacyDegree(p=2, sensitive=("a",)), Context()
        ),
    ),
    "the default of the privacy degree": (
        "its groups are made of all records; what runs there can be guessed, and nobody gets that unasked",
        lambda: algorithm_for(ELSEWHERE, MODELS["degree"], None),
    ),
    "sensitive items in k-anonymity": (
        "shards carry public items only",
        lambda: PTA().run(ELSEWHERE, KAnonymity(k=2, sensitive=("a",)), Context()),
    ),
}


@pytest.mark.parametrize("asked", [ask for _, ask in QUESTIONS.values()], ids=QUESTIONS)
def test_a_question_that_needs_the_records_is_refused_in_one_line(asked: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=r"local|shard_size=N") as refused:
        asked()
    assert "\n" not in str(refused.value)


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
    from tests.engines.test_spark_groups import GROUPED

    assert sorted([*COMPARED, *GROUPED]) == sorted(name for names in ON_SPARK.values() for name in names)
