"""Links without a fault: MTU 1500 and 9000, one and four streams, cubic and bbr."""

from __future__ import annotations

import itertools
import random

from .build import round_trips, stream
from .case import Case, Setup

COUNT, COUNT_CI = 100, 4
KINDS = tuple(itertools.product(("1500", "9000"), ("1", "4"), ("cubic", "bbr")))


def healthy(rng: random.Random, mtu: str, streams: str, congestion: str) -> Setup:
    """A direct cable or a switch between, either direction, now and then round trips too."""
    bed: dict[str, str | bool] = {"mtu": mtu}
    if rng.random() < 0.25:
        bed["third"] = "bridge"
    direction = rng.choice(("forward", "reverse"))
    pair = stream(direction, rounds="2", budget="2s", tcp__streams=streams,
                  tcp__congestion=congestion) | {"diagnose-budget": "2s"}
    if rng.random() < 0.2:
        extra = round_trips()
        pair |= {"workload": "tcp/bandwidth,tcp/latency", "size": f"128K,{extra['size']}",
                 "budget": "3s"}
    shown = {"MTU": mtu, "streams": streams, "congestion": congestion, "direction": direction,
             "switch": "yes" if "third" in bed else "no"}
    return Setup(bed, (), pair, shown)


def _case(number: int) -> Case:
    mtu, streams, congestion = KINDS[number % len(KINDS)]
    return Case(f"healthy-{number:03d}", (), lambda rng: healthy(rng, mtu, streams, congestion),
                kind="healthy", ci=number < COUNT_CI)


CASES = tuple(_case(number) for number in range(COUNT))
