"""Data comes in here: one door from any file or object to Transactions, for every function a user calls."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.core import RemoteTransactions, Transactions, Vocabulary
from setveil.errors import SetveilWarning, UncheckedError, name_some, one_line
from setveil.workflows.cluster import check_engine, is_spark_frame, read_frame, read_path

if TYPE_CHECKING:
    from setveil.policy.schema import Policy


def as_transactions(data: Any, **options: Any) -> Transactions:
    """Data as given to the library: Transactions, a file (path or open), standard input (``-``) or a Python object.

    The options are those of ``read``; one that does not exist is an error, whatever the data is.
    """
    from setveil.io.transactions.reading import read_transactions

    if is_spark_frame(data):
        return read_frame(data, "DataFrame", options)
    return read_transactions(data, **options)


def read_twice(data: Any, **options: Any) -> Transactions:
    """``as_transactions`` for data that is to be published.

    Objects are read again at once by the verifier's own reader; files when the release is published.
    """
    from setveil.verify.originals import compare_readings

    records = as_transactions(data, **options)
    form = None if records.reading is None else records.reading.interpretation
    is_object = form is not None and form.container == "object" and not isinstance(data, Transactions)
    return compare_readings(records, data) if is_object else records


class Original(NamedTuple):
    """The original of a release as the verifier reads it."""

    data: Transactions
    problems: list[str]  # where the two readings differ
    unchecked: list[str]  # why it could not be read a second time
    notes: list[str]


def read_original(source: Any, **options: Any) -> Original:
    """The original for whoever checks a release: read once to tell its layout, then again by the verifier's reader."""
    from setveil.verify.originals import NoReaderError, read_again

    data = as_transactions(source, **options)
    if isinstance(source, Transactions) or isinstance(data, RemoteTransactions):
        return Original(data, [], [], [])
    try:
        again, problems = read_again(data, source)
    except NoReaderError as problem:
        return Original(data, [], [f"the original: {problem}"], [])
    except UncheckedError as problem:
        return Original(data, [], [], [f"the original was read once only: {problem}"])
    return Original(replace(again, reading=data.reading), problems, [], [])


def read(source: Any, format: str | None = None, **options: Any) -> Transactions:
    """Read a file (any layout, plain or .gz), standard input (``-``) or a Python object (lists, frames, sparse matrix).

    ``data.summary()`` says how it was read. Options: ``format``, ``delimiter``, ``id_column``, ``item_column``,
    ``item_columns``, ``split``, ``missing``, ``no_header``, ``strip``, ``encoding``, ``labels_as_they_are``,
    ``keep_ids``, as on the command line.

    Args:
        source: a path, ``-``, a binary file object, lists, a dict, a pandas, Polars or Arrow frame, a SciPy or NumPy
            matrix.
        format: the layout, if it is not to be detected.
        options: as named above.

    Returns:
        The records.

    Raises:
        InputError: what was wrong, where, and how to fix it.

    Examples:
        >>> import setveil as sv
        >>> sv.read("baskets.txt")
        Transactions(6 records, 5 items, 14 occurrences; baskets from baskets.txt)
        >>> sv.read([["milk", "bread"], ["beer"]]).to_lists()
        [['bread', 'milk'], ['beer']]
    """
    return as_transactions(source, format=format, **options)


def read_input(
    source: Any, policy: Policy, engine: str = "local", master: str | None = None
) -> tuple[Transactions, dict[str, Any]]:
    """The data a policy is about, and what the internal record says about where it came from."""
    options = policy.input.model_dump(exclude={"domain"}, exclude_none=True)
    options["keep_ids"] = policy.output.keep_ids
    if check_engine(engine, master) and not is_spark_frame(source):
        data = read_path(source, master, options)
    else:
        from setveil.verify.originals import compare_readings

        data = compare_readings(as_transactions(source, **options), source)  # before the long work
    if policy.input.domain:
        from setveil.policy.selection import read_items

        public = frozenset(read_items(policy.input.domain))
        strangers = [label for label in data.vocabulary if label not in public]
        if strangers:
            warnings.warn(
                f"{len(strangers):,} item(s) of the data are not in the domain: "
                f"{name_some(map(one_line, strangers), 3)}; published labels will name them. Check that the list "
                "belongs to this data.",
                SetveilWarning,
                stacklevel=2,
            )
        data = data.over(Vocabulary({*data.vocabulary, *public}))
    return data, data.facts()
