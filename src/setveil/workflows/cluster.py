"""Data on a Spark cluster: how it comes in, which engine works on it, and how its release is checked there."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.algorithms import scaling_for
from setveil.core import Dataset, Layout, Transactions
from setveil.core.progress import Progress
from setveil.core.provenance import Reading
from setveil.engines.distributed_groups import DistributedParts
from setveil.errors import InputError, UncheckedError, one_line, warn
from setveil.io.formats.registry import FORMATS, entries_of, format_named, listed, words_for
from setveil.io.releases.addresses import as_address
from setveil.io.releases.canonical import PARTS
from setveil.io.releases.tables import SENSITIVE
from setveil.models import MODELS, PrivacyModel
from setveil.releases import Release
from setveil.workflows.forecast import for_gathering

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from setveil.io.transactions.columns import PolarsFrame
    from setveil.verify import Verdict

ENGINES = ("local", "spark")
BYTES_PER_CELL = 8  # at least, while they are handed over
NOT_DECODED = "\ufffd"  # Spark writes this for whatever it cannot decode
PEEK = 1_000  # rows of a frame that are looked at to tell what its columns are
COUNTS = "setveil_counts"
MALFORMED = "a row has more or fewer fields than the header, or a cell has several lines; correct it, or use Parquet."
ENCODINGS = {  # Python's name: Spark's
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32",
}  # fmt: skip
CSV = "csv"  # Spark's name
TABLE = re.compile(r"\w+(\.\w+){0,2}")  # catalog, schema and name
TEXT_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def is_spark_frame(data: object) -> bool:
    """Whether something is a Spark frame; detected without importing Spark."""
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


def spark_reason(problem: BaseException) -> str | None:
    """One line on what Spark could not do, if that is what went wrong."""
    if not type(problem).__module__.startswith(("pyspark", "py4j")):
        return None
    from setveil.engines.spark.session import NOT_THERE, said_by

    if NOT_THERE in str(problem):
        return (
            "the Python of Spark's workers has no setveil; nothing was published. Install the same version on every "
            "worker, or name their Python in PYSPARK_PYTHON."
        )
    return (
        f"Spark failed ({said_by(problem)}); nothing was published. Check the workers' logs, disks and memory, "
        "and run it again."
    )


def read_path(path: str | os.PathLike[str], master: str | None, options: Mapping[str, Any]) -> Dataset:
    """A Parquet or long CSV path of any kind that Spark reads, or a table of the session's catalog."""
    source = os.fspath(path)
    session = session_on(master)
    from setveil.engines.spark.session import SparkError, is_of_workers, said_by

    if _is_table(session, source):
        return read_frame(session.table(source), source, options)
    where = Path(source).name or source
    format = None if options.get("format") is None else format_named(options["format"])
    is_text = source.lower().endswith(TEXT_TABLES) if format is None else format.on_cluster == CSV
    if format is not None and not format.on_cluster:
        offered = listed({name: known for name, known in FORMATS.items() if known.on_cluster})
        raise InputError(f"{one_line(where)}: Spark reads Parquet and long CSV tables; use --format {offered}.")
    try:
        if is_text:
            usual = "\t" if ".tsv" in source.lower() else ","
            delimiter = options.get("delimiter") or usual
            options = {**options, "delimiter": "\t" if delimiter == "tab" else delimiter}
            encoding = _encoding_on_spark(options.get("encoding") or "utf-8", where)
            reader = session.read.options(
                sep=options["delimiter"], header=not options.get("no_header"), mode="FAILFAST",
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
        mend = MALFORMED if "malformed" in said else "check the path, or the name of the table."
        raise InputError(f"{one_line(where)}: Spark cannot read it ({said}); {mend}") from None


def _is_table(session: SparkSession, name: str) -> bool:
    """Whether a name is that of a table in the session's catalog; a file of that name goes first."""
    from setveil.engines.spark.session import SparkError

    try:
        return bool(TABLE.fullmatch(name)) and not os.path.lexists(name) and session.catalog.tableExists(name)
    except SparkError:  # there is no such catalog
        return False


def check_table(name: str, out: str | os.PathLike[str], force: bool, master: str | None) -> None:
    """Refuse, before the long work, a table that cannot be saved."""
    shown = f"--table {one_line(name, 60)}"
    if as_address(out) is not None:
        raise InputError(f"{shown}: is saved from the published folder, which has to be on this machine.")
    if not TABLE.fullmatch(name):
        raise InputError(f"{shown}: is not the name of a table, as in schema.name.")
    if not force and _is_table(session_on(master), name):
        raise InputError(f"{shown}: exists already; choose another name or add --force.")


def save_table(folder: Path, published: str, digest: str, name: str, master: str | None) -> None:
    """Save the published records, as they stand in the verified files, as a table of the session's catalog."""
    from setveil.engines.spark.session import SparkError, said_by

    session = session_on(master)
    read = session.read.json if published.endswith(".jsonl") else session.read.parquet
    try:
        read(_location(folder / published)).write.mode("overwrite").saveAsTable(name)
        session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('setveil.certificate' = '{digest}')")
    except SparkError as problem:
        raise InputError(
            f"--table {one_line(name, 60)}: cannot be saved ({said_by(problem)}); the release itself is published in "
            f"{one_line(str(folder), 120)}."
        ) from None


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
    """The records of a Spark frame: brought into this process if they fit, else left on the cluster."""
    import polars as pl

    from setveil.engines.spark.gathering import SETTING, count_cells, is_wanted, most_bytes
    from setveil.io.transactions.columns import PolarsFrame

    first = frame.limit(PEEK).toArrow()
    if not is_wanted(frame.sparkSession):
        reason = f"{SETTING} is false"
    else:
        n_rows, n_cells = count_cells(frame)
        n_bytes = max(n_rows * first.nbytes / max(1, first.num_rows), BYTES_PER_CELL * n_cells)
        forecast, most = for_gathering(n_cells, n_bytes), most_bytes(frame.sparkSession)
        reason = ""
        if forecast.free is not None and forecast.needed > forecast.free / 2:
            reason = f"this process {forecast}, half of which may be used"
        elif n_bytes > most:
            reason = f"{n_bytes / 1e9:,.1f} GB, of which Spark can hand over {most / 1e9:,.1f}: see spark.driver.memory"
        if not reason:
            return _read_here(frame, where, options, is_text)
    peek = PolarsFrame(pl.DataFrame(first), where)
    return _read_there(frame, peek, where, options, is_text, reason)


def _text_format() -> str:
    """The layout of the text that Spark reads."""
    return next(format.name for format in FORMATS.values() if format.on_cluster == CSV)


def _read_here(frame: DataFrame, where: str, options: Mapping[str, Any], is_text: bool) -> Transactions:
    """The records in this process, read by the reader of frames, and again by the verifier's own."""
    import polars as pl

    from setveil.io.transactions.reading import read_transactions
    from setveil.verify.originals import compare_readings

    table = pl.DataFrame(frame.toArrow())
    if table.is_empty():
        raise InputError(f"{one_line(where)}: contains no records.")
    if is_text:  # Spark reads nothing between two delimiters as null
        table = table.fill_null("")
    of_files = ("delimiter", "no_header", "encoding", "sheet", "format")
    given = {name: value for name, value in options.items() if name not in of_files}
    if is_text:
        given["format"] = _text_format()
    data = compare_readings(read_transactions(table, table=where, **given), table)
    reading = data.reading
    assert reading is not None
    if is_text:
        names = (reading.id_column, reading.item_column)
        used = table[[name for name in (*names, *dict(reading.columns)) if name in table.columns]]
        is_marked = any(column.str.contains(NOT_DECODED, literal=True).any() for column in used)
        if is_marked and not options.get("labels_as_they_are"):
            raise _not_decoded(where, options.get("encoding"))
        data = replace(data, layout=Layout(_text_format(), options["delimiter"], *names))
    kind = f"{'CSV' if is_text else 'Spark frame'}, {reading.kind or words_for(reading.layout)}"
    reading = replace(reading, kind=kind, notes=(*reading.notes, "on Spark, brought into this process"))
    return replace(data, reading=reading)


def _read_there(
    frame: DataFrame, peek: PolarsFrame, where: str, options: Mapping[str, Any], is_text: bool, reason: str
) -> Dataset:
    """The records on the cluster: a list per row, or one row per (id, item); ``reason``: why they are not here."""
    from setveil.engines.spark import frames
    from setveil.io.options import ReadOptions
    from setveil.io.transactions import guards
    from setveil.io.transactions.frames import plan_frame
    from setveil.io.transactions.labels import warn_about_blanks
    from setveil.io.transactions.missing import MissingCells

    stated = ("known_columns", "sensitive_columns", "carry", "column_hierarchy", "missing_person", "per_person")
    refused = [name for name in ("split", "strip", "item_columns", "keep_ids", *stated) if options.get(name)]
    if refused:
        raise InputError(
            f"{one_line(where)}: --{refused[0].replace('_', '-')} needs all records in this process, and they stay on "
            f"the cluster ({reason}); give the driver more memory, or read less data."
        )
    rule = options.get("missing") or ("value" if options.get("labels_as_they_are") else None)
    if rule == "drop":
        raise InputError(f"{one_line(where)}: --missing drop is not supported on Spark; empty such cells first.")
    names = ("id_column", "item_column", "person", "item", "drop")
    known = {name: options[name] for name in names if options.get(name) is not None}
    plan = plan_frame(peek, ReadOptions.of({"format": _text_format() if is_text else None, **known}).checked())
    if entries_of(plan) not in (None, "row"):
        raise InputError(
            f"{one_line(where)}: looks like {words_for(plan.layout)}; on Spark give a list column, or --person "
            "and --item."
        )
    is_list, id_column = entries_of(plan) is None, None if plan.id_position is None else plan.names[plan.id_position]
    item_column = plan.names[plan.item_positions[0]]
    if is_text and not options.get("labels_as_they_are"):
        used = [item_column] if id_column is None else [id_column, item_column]
        if frames.holds_text(frame, used, NOT_DECODED):
            raise _not_decoded(where, options.get("encoding"))
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
    kind = f"{'CSV' if is_text else 'Spark frame'}, {words_for(plan.layout)}"
    reading = Reading(
        where,
        _text_format() if is_text else "parquet",
        kind,
        plan.evidence,
        plan.id_name,
        plan.item_name,
        plan.unused,
        (*plan.notes, "on Spark"),
        warnings=found.warnings,
        doubts=found.doubts,
    )
    return frames.with_reading(data, reading)


def _not_decoded(where: str, encoding: str | None) -> InputError:
    """Text in another encoding: different labels, or different people, would become one."""
    return InputError(
        f"{one_line(where)}: holds bytes that are not {one_line(encoding or 'UTF-8')}; name the encoding, as in "
        "--encoding latin-1 (if the labels are right, use --labels-as-they-are)."
    )


def algorithm_for(data: Dataset, model: PrivacyModel, algorithm: str | None) -> str | None:
    """The algorithm that was asked for, or the default where the data is; one that does not run there is refused."""
    return data.look(lambda _: algorithm, lambda: _algorithm_there(model, algorithm))


def _algorithm_there(model: PrivacyModel, algorithm: str | None) -> str:
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
