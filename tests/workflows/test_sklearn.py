"""The transformer passes scikit-learn's own checks, and publishes what the library publishes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import setveil as sv
from setveil.algorithms.registry import by_kind
from setveil.models import MODELS
from setveil.sklearn import Anonymizer, KmAnonymizer

ALONE = "a promise is about rows together: few rows alone have nobody to hide among"
NOT_FOR_SETS = {"check_methods_subset_invariance": ALONE}


@parametrize_with_checks(
    [
        KmAnonymizer(k=2, m=1, hierarchy="fanout:2"),
        Anonymizer("constraints", {"k": 2, "constraints": [["x0"]]}, algorithm="coat", hierarchy=None),
    ],
    expected_failed_checks=lambda estimator: NOT_FOR_SETS,
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def baskets() -> pd.DataFrame:
    cells = random_array((60, 8), density=0.3, rng=np.random.default_rng(1)).toarray() > 0
    return pd.DataFrame(cells, columns=[f"item{number}" for number in range(8)])


def test_it_publishes_what_the_library_publishes() -> None:
    frame = baskets()
    release = sv.anonymize(frame, "km", k=4, m=2, algorithm="aa", hierarchy="fanout:2")
    anonymizer = KmAnonymizer(k=4, m=2, hierarchy="fanout:2")
    published = anonymizer.fit_transform(frame)
    assert np.array_equal(published, release.to_sparse().toarray())
    assert list(anonymizer.get_feature_names_out()) == list(release.published.vocabulary)
    assert anonymizer.codebook_ == release.codebook()
    nameless = KmAnonymizer(k=4, m=2, hierarchy="fanout:2").fit(frame.to_numpy())
    sparse = nameless.transform(csr_array(frame.to_numpy()))
    assert np.array_equal(sparse.toarray(), published)


def test_rows_that_break_the_promise_are_refused() -> None:
    frame = baskets()
    strict = KmAnonymizer(k=4, m=2, hierarchy="fanout:2").fit(frame)
    with pytest.raises(sv.GuaranteeError, match="do not meet the guarantee"):
        strict.transform(frame.iloc[:2])
    lenient = KmAnonymizer(k=4, m=2, hierarchy="fanout:2", check=False).fit(frame)
    assert lenient.transform(frame.iloc[:2]).shape[0] == 2


def test_it_stands_in_a_pipeline() -> None:
    pipeline = make_pipeline(KmAnonymizer(k=3, m=1, hierarchy="fanout:2").set_output(transform="pandas"))
    assert isinstance(pipeline.fit_transform(baskets()), pd.DataFrame)


PARAMETERS: dict[str, dict[str, Any]] = {
    "km": {"k": 3, "m": 1},
    "coherence": {"h": 80, "k": 2, "p": 1, "sensitive": ["item7"]},
    "constraints": {"k": 3, "constraints": [["item0"], ["item1", "item2"]]},
    "uncertainty": {"rho": "1/2", "sensitive": ["item7"]},
    "rules": {"k": 2, "c": "1/2", "rules": [(("item0",), ("item7",))]},
}
RECODING = [name for name in MODELS if by_kind(name).get("recoding")]


@pytest.mark.parametrize("name", RECODING)
def test_every_model_that_makes_recodings(name: str) -> None:
    frame = baskets()
    anonymizer = Anonymizer(name, PARAMETERS[name], hierarchy="fanout:2", seed=3)
    published = anonymizer.fit_transform(frame)
    assert published.shape == (60, len(anonymizer.get_feature_names_out()))


def test_algorithms_that_make_no_recoding_are_refused() -> None:
    with pytest.raises(ValueError, match='"trim" does not make a recoding for model "km"; use aa'):
        KmAnonymizer(k=2, m=1, algorithm="trim").fit(baskets())
    with pytest.raises(ValueError, match="no algorithm of this model does"):
        Anonymizer("degree", {"p": 2, "sensitive": ["item7"]}).fit(baskets())


def test_a_grid_search_finds_k_and_algorithm() -> None:
    frame = baskets()
    target = frame["item0"].to_numpy()
    steps = make_pipeline(KmAnonymizer(hierarchy="fanout:2", check=False), LogisticRegression())
    grid = {"kmanonymizer__k": [2, 8], "kmanonymizer__m": [1], "kmanonymizer__algorithm": ["aa", "pcta"]}
    found = GridSearchCV(steps, grid, cv=3, error_score="raise").fit(frame, target)
    assert found.best_params_["kmanonymizer__k"] == 2 and found.best_score_ > 0.8
