"""Recodings as scikit-learn transformers: a matrix of items in, a matrix of published items out.

Only this module needs scikit-learn: ``pip install setveil[sklearn]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as problem:
    raise ImportError("setveil.sklearn needs scikit-learn 1.6 or newer: pip install setveil[sklearn]") from problem

from scipy.sparse import csr_array, issparse

from setveil.algorithms.registry import by_kind, find
from setveil.core import Transactions, Vocabulary
from setveil.core.codebook import Codebook
from setveil.errors import GuaranteeError, InfeasibleError
from setveil.models import KmAnonymity, PrivacyModel, as_model
from setveil.releases import Recoding
from setveil.workflows.anonymize import anonymize
from setveil.workflows.assess import verify


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learns a recoding of the columns under which the data meets a guarantee, and applies it.

    Every column is an item; a row has the items whose value is above ``threshold``. ``fit`` decides which category is
    published for each item; ``transform`` returns one column of 0 and 1 per published item. A guarantee is about rows
    together: set ``check=False`` in a cross-validation, whose folds are smaller than the data.

    Args:
        model: a privacy model, or its name; any model with an algorithm that makes a recoding.
        parameters: the parameters of the model, if it is a name.
        algorithm: one that makes a recoding; None for the first such algorithm of the model.
        hierarchy: as in ``setveil.anonymize``; its leaves are the names of the columns. Not used if the algorithm
            takes none.
        options: the options of the algorithm.
        seed: the seed of all random numbers.
        threshold: a row has an item if the value is above this number.
        check: whether ``transform`` verifies the guarantee and refuses rows that do not meet it.

    Attributes:
        codebook_: the original items that every published item covers.
        n_features_in_, feature_names_in_: as in all estimators of scikit-learn.

    Examples:
        >>> import numpy as np
        >>> from setveil.sklearn import Anonymizer
        >>> X = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]] * 2)
        >>> anonymizer = Anonymizer("uncertainty", {"rho": "1/2", "sensitive": ["x3"]}, algorithm="suppresscontrol")
        >>> anonymizer.fit_transform(X).shape[0]
        8
    """

    codebook_: Codebook
    n_features_in_: int

    def __init__(
        self,
        model: str | PrivacyModel = "km",
        parameters: Mapping[str, Any] | None = None,
        *,
        algorithm: str | None = None,
        hierarchy: Any = "auto",
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        threshold: float = 0.0,
        check: bool = True,
    ) -> None:
        self.model = model
        self.parameters = parameters
        self.algorithm = algorithm
        self.hierarchy = hierarchy
        self.options = options
        self.seed = seed
        self.threshold = threshold
        self.check = check

    def _model(self) -> PrivacyModel:
        return as_model(self.model, self.parameters or {})

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the recoding.

        Raises:
            ValueError: there are too few rows, or the algorithm does not make a recoding.
            GuaranteeError: the release is not verified.
        """
        model = self._model()
        rows = self._rows(validate_data(self, X, accept_sparse="csr"))
        least = model.crowd or 1
        if rows.shape[0] < least:
            raise ValueError(f"n_samples={rows.shape[0]} is fewer than k={least}; use more rows or a smaller k.")
        makers = by_kind(model.name).get(Recoding.kind, [])
        name = self.algorithm or next(iter(makers), None)
        if name not in makers:
            known = f"use {', '.join(makers)}" if makers else "no algorithm of this model does; use another model"
            raise ValueError(f'algorithm="{name}" does not make a recoding for model "{model.name}"; {known}.')
        hierarchy = None if find(name).hierarchy == "none" else self.hierarchy
        try:
            release = anonymize(self._records(rows), model, name, hierarchy, self.options, self.seed)
        except InfeasibleError as problem:
            raise ValueError(str(problem)) from problem
        assert isinstance(release, Recoding)
        verdict = verify(release, model)
        if not verdict.holds:
            raise GuaranteeError(f"the release does not meet its guarantee: {verdict.reason}")
        self.codebook_ = release.codebook()
        self._names_out = np.array(list(release.published.vocabulary), dtype=object)
        self._release = replace(release, record=None, details={}, published=release.rows.select(np.arange(0)))
        target = release.target[release.domain.numbers(self._names_in())]  # [columns] published item, -1 for none
        kept = np.flatnonzero(target >= 0)
        shape = (len(target), len(self._names_out))
        self._membership = csr_array((np.ones(len(kept), dtype=np.int64), (kept, target[kept])), shape=shape)
        return self

    def transform(self, X: Any) -> Any:
        """The published items of each row: sparse if ``X`` is, an array of 0 and 1 otherwise.

        Raises:
            GuaranteeError: these rows do not meet the guarantee, and ``check`` is on.
        """
        check_is_fitted(self)
        given = validate_data(self, X, accept_sparse="csr", reset=False)
        published = csr_array(self._rows(given).astype(np.int64) @ self._membership)
        published.data = np.ones_like(published.data)
        published.sort_indices()
        if self.check:
            rows = Transactions(
                published.indptr.astype(np.int64),
                published.indices.astype(np.int32),
                self._release.published.vocabulary,
            )
            verdict = verify(replace(self._release, published=rows), self._model())
            if not verdict.holds:
                raise GuaranteeError(
                    f"these rows do not meet the guarantee: {verdict.reason} Transform more rows at once, or set "
                    "check=False if nothing is published, as in a cross-validation."
                )
        small = published.astype(np.uint8)
        return small if issparse(given) else small.toarray()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The labels of the published items, in the order of the columns."""
        check_is_fitted(self)
        return self._names_out

    def _names_in(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", map("x{}".format, range(self.n_features_in_)))]

    def _rows(self, X: Any) -> csr_array:
        """True where a row has an item."""
        if issparse(X) and self.threshold < 0:
            raise ValueError("threshold must be at least 0 for sparse data, in which missing values are 0.")
        rows = csr_array(self.threshold < X)
        rows.eliminate_zeros()
        return rows

    def _records(self, rows: csr_array) -> Transactions:
        names = self._names_in()
        vocabulary = Vocabulary(names)
        owners, columns = rows.nonzero()
        return Transactions.from_pairs(owners, vocabulary.numbers(names)[columns], rows.shape[0], vocabulary)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class KmAnonymizer(Anonymizer):
    """``Anonymizer`` for k^m-anonymity.

    Args:
        k: smallest number of rows that match what an attacker knows.
        m: largest number of items of a row that an attacker knows.
        algorithm: any algorithm for ``km`` that makes a recoding.
        hierarchy: as in ``setveil.anonymize``; its leaves are the names of the columns.
        options: the options of the algorithm.
        seed: the seed of all random numbers.
        threshold: a row has an item if the value is above this number.
        check: whether ``transform`` verifies the guarantee and refuses rows that do not meet it.

    Examples:
        >>> import numpy as np
        >>> from setveil.sklearn import KmAnonymizer
        >>> X = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]] * 2)
        >>> anonymizer = KmAnonymizer(k=4, m=2, hierarchy="fanout:2").fit(X)
        >>> anonymizer.transform(X).shape[1] <= X.shape[1]
        True
    """

    def __init__(
        self,
        k: int = 5,
        m: int = 2,
        *,
        algorithm: str = "aa",
        hierarchy: Any = "auto",
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        threshold: float = 0.0,
        check: bool = True,
    ) -> None:
        self.k = k
        self.m = m
        super().__init__(
            algorithm=algorithm, hierarchy=hierarchy, options=options, seed=seed, threshold=threshold, check=check
        )

    def _model(self) -> PrivacyModel:
        return KmAnonymity(self.k, self.m)
