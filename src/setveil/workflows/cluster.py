"""Data on a Spark cluster: how it comes in, which engine works on it, and how its release is checked there."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.algorithms import scaling_for
from setveil.core import Dataset
from setveil.core.progress import Progress
from setveil.core.provenance import Reading
from setveil.engines.distributed_groups import DistributedParts
from setveil.errors import InputError, UncheckedError, one_line, warn
from setveil.io.releases.canonical import PARTS
from setveil.io.releases.tables import SENSITIVE
from setveil.models import MODELS, PrivacyModel
from setveil.releases import Release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from setveil.verify import Verdict

ENGINES = ("local", "spark")
PEEK = 1_000  # rows of a frame that are looked at to tell what its columns are
COUNTS = "setveil_counts"
MALFORMED = "a row has more or fewer fields than the header, or a cell has several lines; correct it, or use Parquet."
ENCODINGS = {  # Python's name: Spark's
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32",
}  # fmt: skip
TEXT_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def is_spark_frame(data: object) -> bool:
    """Whether something is a Spark frame; told without importing Spark."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(data).__mro__
    )


def check_engine(engine: str, master: str | None) -> bool:
    """Whether Spark is asked for."""
    if engine not in ENGINES:
        raise InputError(f"--engine {one_line(engine)}: there is no such engine; choose from {', '.join(ENGINES)}.")
    if engine == "local" and master is not None:
        raise InputError("--master is for --engine spark; remove it.")
    return engine == "spark"


def session_on(master: str | None) -> SparkSession:
    """A Spark session, the running one or a new one."""
    try:
        from setveil.engines.spark.session import open_session
    except ImportError:
        raise InputError("--engine spark: Spark is not installed; `pip install 'setveil[spark]'`.") from None
    return open_session(master or "local[*]")


def told_by_spark(problem: BaseException) -> str | None:
    """One line on what Spark could not do, if that is what went wrong."""
    if not type(problem).__module__.startswith(("pyspark", "py4j")):
        return None
    from setveil.engines.spark.session import said_by

    return (
        f"Spark failed ({said_by(problem)}); nothing was published. Check the workers' logs, disks and memory, "
        "and run it again."
    )


def read_path(path: str | os.PathLike[str], master: str | None, options: Mapping[str, Any]) -> Dataset:
    """A Parquet or long CSV path of any kind that Spark reads."""
    source = os.fspath(path)
    session = session_on(master)
    from setveil.engines.spark.session import SparkError, is_of_workers, said_by

    where, format = Path(source).name or source, options.get("format")
    is_text = source.lower().endswith(TEXT_TABLES) if format is None else format == "long"
    if format not in (None, "parquet", "long"):
        raise InputError(f"{one_line(where)}: on Spark input is Parquet or a long CSV; use --format parquet or long.")
    try:
        if is_text:
            usual = "\t" if ".tsv" in source.lower() else ","
            delimiter = options.get("delimiter") or usual
            encoding = _encoding_on_spark(options.get("encoding") or "utf-8", where)
            reader = session.read.options(
                sep="\t" if delimiter == "tab" else delimiter, header=not options.get("no_header"), mode="FAILFAST",
                escape='"', encoding=encoding, columnPruning=False,
            )  # fmt: skip
            frame = reader.csv(source)
        else:
            frame = session.read.parquet(source)
        return read_frame(frame, where, options, is_text=is_text)
    except SparkError as problem:
        if is_of_workers(problem):
            raise
        said = said_by(problem)
        mend = MALFORMED if "malformed" in said else "check the path."
        raise InputError(f"{one_line(where)}: Spark cannot read it ({said}); {mend}") from None


def _encoding_on_spark(name: str, where: str) -> str:
    """What Spark calls an encoding that Python knows by several names."""
    try:
        return ENCODINGS[codecs.lookup(name).name]
    except (LookupError, ValueError):
        offered = ", ".join(sorted(set(ENCODINGS.values())))
        raise InputError(
            f"{one_line(where)}: --encoding {one_line(name)} is not read on Spark; there is {offered}."
        ) from None


def read_frame(frame: DataFrame, where: str, options: Mapping[str, Any], is_text: bool = False) -> Dataset:
    """The records of a Spark frame: a list per row, or one row per (id, item)."""
    import polars as pl

    from setveil.engines.spark import frames
    from setveil.io.formats.registry import words_for
    from setveil.io.options import ReadOptions
    from setveil.io.transactions import guards
    from setveil.io.transactions.columns import PolarsFrame
    from setveil.io.transactions.frames import plan_frame
    from setveil.io.transactions.labels import warn_about_blanks
    from setveil.io.transactions.missing import MissingCells

    stated = ("known_columns", "sensitive_columns", "carry", "column_hierarchy", "missing_person", "per_person")
    refused = [name for name in ("split", "strip", "item_columns", "keep_ids", *stated) if options.get(name)]
    if refused:
        raise InputError(f"{one_line(where)}: --{refused[0].replace('_', '-')} is not supported on Spark; remove it.")
    rule = options.get("missing") or ("value" if options.get("labels_as_they_are") else None)
    if rule == "drop":
        raise InputError(f"{one_line(where)}: --missing drop is not supported on Spark; empty such cells first.")
    names = ("id_column", "item_column", "person", "item", "drop")
    known = {name: options[name] for name in names if options.get(name) is not None}
    peek = PolarsFrame(pl.DataFrame(frame.limit(PEEK).toArrow()), where)
    plan = plan_frame(peek, ReadOptions.of({"format": "long" if is_text else None, **known}).checked())
    if plan.layout not in ("lists", "long"):
        raise InputError(
            f"{one_line(where)}: looks like {words_for(plan.layout)}; on Spark give a list column, or --id-column "
            "and --item-column."
        )
    is_list, id_column = plan.layout == "lists", None if plan.id_place is None else plan.names[plan.id_place]
    item_column = plan.names[plan.item_places[0]]
    if is_text and not options.get("labels_as_they_are"):
        used = [item_column] if id_column is None else [id_column, item_column]
        frames.check_decoded(frame, where, used, options.get("encoding") or "UTF-8")
    data = frames.read_frame(frame, where, item_column, id_column, is_list=is_list, null_is_empty=is_text)
    if data.n_records == 0:
        raise InputError(f"{one_line(where)}: contains no records.")
    if not is_list:
        missing = MissingCells(ReadOptions(missing=rule).checked())
        missing.take_labels(data, item_column)
        missing.report(where, data.n_records)
    warn_about_blanks(data.vocabulary.labels)
    found = guards.Findings() if options.get("labels_as_they_are") else guards.check(data, plan, where)
    found = found.joined(guards.tell_visits(plan, where, bool(options.get("labels_as_they_are"))))
    layout = "long" if is_text else "parquet"
    kind = f"{'CSV' if is_text else 'Spark frame'}, {words_for(plan.layout)}"
    reading = Reading(where, layout, kind, plan.evidence, plan.id_name, plan.item_name, plan.unused, plan.notes)
    return frames.with_reading(
        data, replace(reading, notes=(*plan.notes, "on Spark"), warnings=found.warnings, doubts=found.doubts)
    )


def algorithm_for(data: Dataset, model: PrivacyModel, algorithm: str | None) -> str | None:
    """The algorithm that was asked for, or the default where the data is; one that does not run there is refused."""
    if data.has_rows:
        return algorithm
    there = {name: entries for name in MODELS if (entries := scaling_for(name))}
    here = there.get(model.name, [])
    if not here or (algorithm is not None and algorithm not in [entry.name for entry in here]):
        asked = f'algorithm "{one_line(algorithm)}"' if algorithm and here else f'model "{model.name}"'
        offered = "; ".join(f"{', '.join(e.name for e in entries)} for {name}" for name, entries in there.items())
        raise InputError(f"{asked} does not run on Spark; there is {offered}, or read the data on one machine.")
    if algorithm is not None:
        return algorithm
    ready = [entry for entry in here if not entry.needs_shard_size]
    if ready:
        best = next((entry for entry in ready if entry.is_best_on_cluster), ready[0])
        warn(f'on Spark, algorithm "{best.name}" is used: the usual default needs all records in one place.')
        return best.name
    entry = here[0]
    accepted = " and --accept-guessable" if entry.guessable else ""
    raise InputError(
        f'model "{model.name}" has no default algorithm on Spark; choose {entry.name} with its option '
        f"shard_size{accepted}, or read the data on one machine."
    )


def read_parts(folder: Path, master: str | None = None) -> DistributedParts:
    """The published parts of a release, read by the cluster; every worker has to see the folder."""
    from setveil.engines.spark import frames
    from setveil.engines.spark.group_files import read_groups

    records = session_on(master).read.parquet(_location(folder / PARTS))
    rows = frames.read_frame(records, PARTS, "items", None, is_list=True, is_kept=False)
    return DistributedParts(rows, lambda: read_groups(records, _read_counts(folder, master), rows))


def _read_counts(folder: Path, master: str | None) -> DataFrame:
    reader = session_on(master).read.options(header=True, mode="FAILFAST", escape='"', multiLine=True)
    return reader.schema("`group` long, item string, count long").csv(_location(folder / SENSITIVE))


def judge_parts(
    folder: Path, model: PrivacyModel, progress: Progress, master: str | None = None
) -> tuple[Verdict, dict[str, int | float]]:
    """What the verifier finds in the published files, counted by Spark SQL."""
    if model.observable_items is not None:
        raise UncheckedError("Spark does not verify releases with observable items; use --engine local.")
    from setveil.verify.spark_sql import judge_groups, judge_table

    session = session_on(master)

    def ask(query: str) -> list[Any]:
        return session.sql(query).collect()

    if not model.is_about_groups:
        return judge_table(ask, _table(folder / PARTS), model, progress)
    _read_counts(folder, master).createOrReplaceTempView(COUNTS)
    try:
        return judge_groups(ask, _table(folder / PARTS), COUNTS, model, progress)
    finally:
        session.catalog.dropTempView(COUNTS)


def compare_parts(
    folder: Path, release: Release, original: Dataset, spelled: Callable[[str], str], master: str | None
) -> list[str]:
    """Problems found by holding the published parts against the original, both where they are.

    ``spelled``: how the files write a published label.
    """
    from setveil.engines.spark import SparkTransactions
    from setveil.verify.spark_sql import check_labels, check_recoded

    assert isinstance(original, SparkTransactions)
    images, problems = check_labels(release, original)
    if not release.is_uniform:
        return problems
    session = session_on(master)
    views = {
        "setveil_original": original.to_spark(),
        "setveil_images": session.createDataFrame(
            [(item, spelled(becomes)) for item, becomes in images], "item string, becomes string"
        ),
    }
    for name, frame in views.items():
        frame.createOrReplaceTempView(name)
    try:
        return problems + check_recoded(lambda query: session.sql(query).collect(), _table(folder / PARTS), *views)
    finally:
        for name in views:
            session.catalog.dropTempView(name)


def _table(folder: Path) -> str:
    return "parquet.`" + _location(folder).replace("`", "``") + "`"


def _location(folder: Path) -> str:
    return f"file://{folder.resolve()}"
