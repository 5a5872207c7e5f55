"""A histogram with logarithmic bins: exact counts, quantiles within 2 %, in bounded memory."""

import math
from collections import Counter
from collections.abc import Mapping
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
    """Counts of values of either sign, in bins whose width grows with `resolution + |value|`."""

    def __init__(self, resolution: float) -> None:
        self.resolution = resolution
        self.count = 0
        self.max = 0.0
        self._counts: Counter[int] = Counter()  # by number of the bin; bin 0 begins at 0

    def add(self, value: float) -> None:
        """Count `value`."""
        octaves = math.log2(1.0 + abs(value) / self.resolution)
        index = min(int(BINS_PER_OCTAVE * octaves), BINS_PER_OCTAVE * OCTAVES)
        self._counts[index if value >= 0.0 else -1 - index] += 1
        self.max = value if self.count == 0 else max(self.max, value)
        self.count += 1

    @property
    def counts(self) -> dict[int, int]:
        """How many values each bin holds, by its number: for `merge` elsewhere."""
        return dict(self._counts)

    def merge(self, counts: Mapping[int, int], maximum: float) -> None:
        """Count the values of another histogram of the same resolution, whose maximum is given."""
        count = sum(counts.values())
        if count:
            self.max = maximum if self.count == 0 else max(self.max, maximum)
            self.count += count
            self._counts.update(counts)

    def quantile(self, fraction: float) -> float:
        """The upper edge of the bin that holds this fraction of the sample, at most its maximum."""
        rank, total = max(1, math.ceil(fraction * self.count)), 0
        for index in sorted(self._counts):
            total += self._counts[index]
            if total >= rank:
                return min(self._upper_edge(index), self.max)
        return 0.0

    def quantiles(self) -> Quantiles:
        """Median, 99 % and 99.9 % quantiles, and the maximum."""
        return Quantiles(self.quantile(0.5), self.quantile(0.99), self.quantile(0.999), self.max)

    def _upper_edge(self, index: int) -> float:
        steps = index + 1 if index >= 0 else -1 - index
        edge = self.resolution * (2.0 ** (steps / BINS_PER_OCTAVE) - 1.0)
        return edge if index >= 0 else -edge
