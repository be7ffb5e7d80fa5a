"""One Spark session for all tests: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK = {  # jobs this small are over before anything is worth compiling
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.setveil.gather": "false",  # records stay on the cluster, although they are few
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two cores of this machine; the tests that use it belong to the group "spark": one worker runs them."""
    from setveil.engines.spark import open_session

    session = open_session("local[2]", QUICK | {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("tables"))})
    yield session
    session.stop()
