"""The transformer passes scikit-learn's own checks, and publishes what the library publishes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import setveil as sv
from setveil.sklearn import KmAnonymizer

ALONE = "a promise is about rows together: few rows alone have nobody to hide among"
NOT_FOR_SETS = {"check_methods_subset_invariance": ALONE}


@parametrize_with_checks(
    [KmAnonymizer(k=2, m=1, hierarchy="fanout:2")],
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
