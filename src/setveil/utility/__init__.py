"""What a release cost: one file per family of metrics, listed in ``measure``."""

from setveil.utility.histograms import histograms
from setveil.utility.measure import measure

__all__ = ["histograms", "measure"]
