"""Where the data lives on a Spark cluster: counting and recoding happen there, decisions on the driver.

This is the only folder that imports pyspark; nothing here is imported before somebody asks for it.
"""

from setveil.engines.spark.engine import SparkEngine
from setveil.engines.spark.frames import read_frame
from setveil.engines.spark.session import open_session
from setveil.engines.spark.transactions import SparkTransactions

__all__ = ["SparkEngine", "SparkTransactions", "open_session", "read_frame"]
