"""NN+: the choice of partners, and its books."""

from __future__ import annotations

from collections import Counter

import numpy as np

from setveil.algorithms.base import Context
from setveil.algorithms.degree import _profiles as kernels
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.groups import narrow_rows, split_records
from setveil.algorithms.degree.nn_plus import NNPlus, _index_of, _profiles_of, _Sequence
from setveil.models import PrivacyDegree
from tests.naive import degree as naive
from tests.naive.degree_cases import random_cases


def test_nn_plus_takes_the_partner_that_lowers_the_error_most() -> None:
    for data, _, sensitive, p in random_cases(13, 250):
        split = split_records(data, PrivacyDegree(p, sensitive))
        public, hidden = split.public, split.hidden
        rows, secrets = Rows(public.indptr, public.items), Rows(hidden.indptr, hidden.items)
        profiles, index, state = _profiles_of(public, hidden, p), _index_of(public, hidden), split.nothing_grouped()
        kernels.fill_index(np.arange(split.n_records), rows, secrets, index, state)
        seed = int(split.telling[0])
        group = np.full(p, seed, dtype=np.int64)
        index.clock[0] += 1
        kernels.open_group(group[:1], secrets, profiles, index, state)
        n_found = kernels.list_partners(group[:1], (100, 100, 0), rows, secrets, profiles, index, state)
        listed = {int(record) for record in index.found[:n_found]}
        size = kernels.fill_group(group, 1, n_found, rows, secrets, profiles, index, state)

        of, mine = (list(map(frozenset, part.to_lists())) for part in (public, hidden))
        members = [seed]
        for record in group[1:size].tolist():
            open_to = [n for n in listed - set(members) if not any(mine[n] & mine[other] for other in members)]
            best = max((naive.worth(of, mine, p, members, n) for n in open_to), default=-np.inf)
            found = naive.worth(of, mine, p, members, record)
            assert found >= best - 1e-9
            if record not in listed:  # the shortest silent record, because everything listed does harm
                silent = [n for n in range(len(of)) if not mine[n] and n not in listed | set(members)]
                assert best < 0
                assert len(of[record]) == min(len(of[n]) for n in silent)
            members.append(record)
        assert size == p or not [n for n in range(len(of)) if not mine[n] and n not in members]
        assert {n for n in range(len(of)) if of[n] & of[seed] and not mine[n] & mine[seed]} <= listed


def test_nn_plus_keeps_its_books() -> None:
    """What the kernel believes to be in the groups of each sensitive item is what is there."""
    for data, _, sensitive, p in random_cases(14, 250):
        split = split_records(data, PrivacyDegree(p, sensitive))
        public, hidden = split.public, split.hidden
        profiles, index, state = _profiles_of(public, hidden, p), _index_of(public, hidden), split.nothing_grouped()
        algorithm = NNPlus(reach=3, needed=1, rounds=2)
        rows_of = narrow_rows(public), Rows(hidden.indptr, hidden.items)
        work = _Sequence(p, public, hidden, *rows_of, profiles, state)
        algorithm._form_groups(work, index, Context())
        algorithm._refill_groups(work, index, Context())
        rows, secrets = public.to_lists(), [set(row) for row in hidden.to_lists()]
        for number, item in enumerate(hidden.vocabulary):
            groups = {int(state.group_of[n]) for n, row in enumerate(secrets) if item in row} - {-1}
            expected = Counter(
                other
                for n, row in enumerate(rows)
                if int(state.group_of[n]) in groups or (state.group_of[n] < 0 and item in secrets[n])
                for other in row
            )
            for place in range(profiles.indptr[number], profiles.indptr[number + 1]):
                assert profiles.expected[place] == expected[public.vocabulary[int(profiles.items[place])]]
        assert not index.need.any()
