"""Statistics of pairs: the ratio of two tools that ran one after the other in the same round."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 10_000
LEVEL = 0.95
METHOD = f"median of the pairs' ratios, {LEVEL:.0%} percentile bootstrap ({RESAMPLES} resamples)"


@dataclass(frozen=True)
class Ratio:
    """Median ratio of n pairs with its interval; low and high are the median where n < 3."""

    median: float
    low: float
    high: float
    n: int


def ratio_of(pairs: Sequence[tuple[float, float]], seed: int = 1) -> Ratio:
    """Of first to second. Resamples whole pairs (B. Efron, Bootstrap methods, 1979)."""
    ratios = [first / second for first, second in pairs]
    median = statistics.median(ratios)
    if len(ratios) < 3:
        return Ratio(median, median, median, len(ratios))
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios)))
                     for _ in range(RESAMPLES))
    tail = int(RESAMPLES * (1 - LEVEL) / 2)
    return Ratio(median, medians[tail], medians[-1 - tail], len(ratios))
