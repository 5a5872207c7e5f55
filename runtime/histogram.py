"""A histogram with logarithmic bins: exact counts, quantiles within 2 %, in bounded memory."""

import math
from dataclasses import dataclass

BINS_PER_OCTAVE = 32  # neighbouring bins differ by 2^(1/32) = 2.2 %
OCTAVES = 32


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of a sample, in its unit; zeros when it is empty."""

    p50: float = 0.0
    p99: float = 0.0
    p999: float = 0.0
    max: float = 0.0


class LogHistogram:
    """Counts of values from 0 up, in bins whose width grows with `resolution + value`."""

    def __init__(self, resolution: float) -> None:
        self.resolution = resolution
        self.count = 0
        self.max = 0.0
        self._counts = [0] * (BINS_PER_OCTAVE * OCTAVES)

    def add(self, value: float) -> None:
        """Count `value`; a negative one counts as 0."""
        value = max(value, 0.0)
        octaves = math.log2(1.0 + value / self.resolution)
        self._counts[min(int(BINS_PER_OCTAVE * octaves), len(self._counts) - 1)] += 1
        self.count += 1
        self.max = max(self.max, value)

    def quantile(self, fraction: float) -> float:
        """The upper edge of the bin that holds this fraction of the sample, at most its maximum."""
        rank = max(1, math.ceil(fraction * self.count))
        seen = 0
        for index, count in enumerate(self._counts):
            seen += count
            if seen >= rank:
                edge = self.resolution * (2.0 ** ((index + 1) / BINS_PER_OCTAVE) - 1.0)
                return min(edge, self.max)
        return 0.0

    def quantiles(self) -> Quantiles:
        """Median, 99 % and 99.9 % quantiles, and the maximum."""
        return Quantiles(self.quantile(0.5), self.quantile(0.99), self.quantile(0.999), self.max)
