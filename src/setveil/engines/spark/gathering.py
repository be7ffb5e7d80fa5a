"""How large a Spark frame is, and how much of one this process can take."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType

from setveil.engines.spark.frames import quoted

SETTING = "spark.setveil.gather"  # "false": records stay on the cluster, however few there are


def is_wanted(session: SparkSession) -> bool:
    """Whether records may be brought into this process."""
    return (session.conf.get(SETTING, "true") or "").lower() != "false"


def count_cells(frame: DataFrame) -> tuple[int, int]:
    """Its rows and its cells; every item of a list is a cell."""
    lists = [field.name for field in frame.schema.fields if isinstance(field.dataType, ArrayType)]
    sizes = [f.sum(f.greatest(f.size(quoted(name)), f.lit(0))) for name in lists]
    n_rows, *n_items = frame.agg(f.count(f.lit(1)), *sizes).collect()[0]
    n_cells = int(n_rows) * (len(frame.columns) - len(lists)) + sum(int(number or 0) for number in n_items)
    return int(n_rows), n_cells


def most_bytes(session: SparkSession) -> float:
    """What Spark can hand over at once: half of Java's memory here, and of the largest result that is allowed."""
    jvm: Any = session.sparkContext._jvm
    heap = float(jvm.java.lang.Runtime.getRuntime().maxMemory())
    text = session.sparkContext.getConf().get("spark.driver.maxResultSize", "1g")
    largest = float(jvm.org.apache.spark.network.util.JavaUtils.byteStringAsBytes(text))
    return (min(heap, largest) if largest else heap) / 2
