"""A histogram with logarithmic bins: exact counts, quantiles within 2 %, in bounded memory."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

BATCH = 256  # values that are counted at once
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
    """Counts of values of either sign, in bins whose width grows with `resolution + |value|`.

    Attributes:
        new: values that are not counted yet. A loop that has no time appends here, and calls
            `settle` now and then.
    """

    def __init__(self, resolution: float) -> None:
        self.resolution = resolution
        self._count, self._max = 0, 0.0
        self._counts: Counter[int] = Counter()  # by number of the bin; bin 0 begins at 0
        self.new: list[float] = []

    def add(self, value: float) -> None:
        """Count `value`; one that is no number is left out."""
        self.new.append(value)
        if len(self.new) >= BATCH:
            self.settle()

    @property
    def count(self) -> int:
        """Number of counted values."""
        self.settle()
        return self._count

    @property
    def max(self) -> float:
        """The largest value; 0 before the first."""
        self.settle()
        return self._max

    @property
    def counts(self) -> dict[int, int]:
        """Number of values in each bin, by its number: for `merge` elsewhere."""
        self.settle()
        return dict(self._counts)

    def merge(self, counts: Mapping[int, int], maximum: float) -> None:
        """Count the values of another histogram of the same resolution, whose maximum is given."""
        count = sum(counts.values())
        if count:
            self._max = maximum if self._count == 0 else max(self._max, maximum)
            self._count += count
            self._counts.update(counts)

    def settle(self) -> None:
        """Count what was added: many at once, which takes a tenth of the time."""
        values = np.array(self.new)
        self.new.clear()
        values = values[~np.isnan(values)]
        if values.size == 0:
            return
        most = BINS_PER_OCTAVE * OCTAVES
        bins = BINS_PER_OCTAVE * np.log2(1.0 + np.abs(values) / self.resolution)
        index = np.minimum(bins, most).astype(np.int64)
        numbers, counts = np.unique(np.where(values >= 0.0, index, -1 - index), return_counts=True)
        self.merge(dict(zip(numbers.tolist(), counts.tolist(), strict=True)), float(values.max()))

    def quantile(self, fraction: float) -> float:
        """The upper edge of the bin that holds this fraction of the sample, at most its maximum."""
        rank, total = max(1, math.ceil(fraction * self.count)), 0
        for index in sorted(self._counts):
            total += self._counts[index]
            if total >= rank:
                return min(self._upper_edge(index), self._max)
        return 0.0

    def quantiles(self) -> Quantiles:
        """Median, 99 % and 99.9 % quantiles, and the maximum."""
        return Quantiles(self.quantile(0.5), self.quantile(0.99), self.quantile(0.999), self.max)

    def _upper_edge(self, index: int) -> float:
        steps = index + 1 if index >= 0 else -1 - index
        edge = self.resolution * (2.0 ** (steps / BINS_PER_OCTAVE) - 1.0)
        return edge if index >= 0 else -edge
