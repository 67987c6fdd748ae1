"""What the applications do: slow reader and writer, small writes, Nagle, pacing."""

from __future__ import annotations

import random

from .build import delay, kib, log_uniform, mbit, round_trips, stream
from .case import Case, Setup


def slow_reader(rng: random.Random, direction: str, **options: str) -> Setup:
    rate = mbit(rng, 80, 300)
    return Setup({}, (), stream(direction, tcp__read_rate=f"{rate}M", **options),
                 {"read rate": f"{rate} Mb/s"})


def slow_writer(rng: random.Random, direction: str, **options: str) -> Setup:
    rate = mbit(rng, 80, 300)
    return Setup({}, (), stream(direction, tcp__write_rate=f"{rate}M", **options),
                 {"write rate": f"{rate} Mb/s"})


def small_writes(rng: random.Random, direction: str) -> Setup:
    size = round(log_uniform(rng, 32, 128))
    return Setup({}, (), stream(direction, size=str(size)), {"size": f"{size} B"})


def nagle(rng: random.Random) -> Setup:
    size, pieces = round(log_uniform(rng, 32, 512)), rng.choice((2, 3))
    return Setup({}, (), round_trips(str(size), tcp__nodelay="off", tcp__writes=str(pieces)),
                 {"size": f"{size} B", "writes": str(pieces)})


def paced(rng: random.Random, direction: str, congestion: str) -> Setup:
    rate = mbit(rng, 50, 400)
    return Setup({}, (), stream(direction, tcp__pacing=f"{rate}M", tcp__congestion=congestion),
                 {"pacing": f"{rate} Mb/s"})


def slow_reader_far(rng: random.Random) -> Setup:
    rate, wait = mbit(rng, 20, 60), delay(rng, 1, 3)
    return Setup({"delay": wait}, (), stream(tcp__read_rate=f"{rate}M"),
                 {"read rate": f"{rate} Mb/s", "delay": wait})


CASES = (
    Case("W06-forward", ("W06",), lambda rng: slow_reader(rng, "forward"), never=("W01", "Q01"),
         ci=True),
    Case("W06-reverse", ("W06",), lambda rng: slow_reader(rng, "reverse"), never=("W01", "Q01")),
    Case("W06-large-buffer", ("W06",),
         lambda rng: slow_reader(rng, "forward", tcp__rcvbuf=kib(rng, 2048, 4096)),
         never=("W01", "Q01")),
    Case("W06-far", ("W06",), slow_reader_far, never=("W01", "Q01")),
    Case("W07-forward", ("W07",), lambda rng: slow_writer(rng, "forward"), never=("W05",),
         ci=True),
    Case("W07-reverse", ("W07",), lambda rng: slow_writer(rng, "reverse"), never=("W05",)),
    Case("W07-bbr", ("W07",), lambda rng: slow_writer(rng, "forward", tcp__congestion="bbr")),
    Case("W14-forward", ("W14",), lambda rng: small_writes(rng, "forward")),
    Case("W14-reverse", ("W14",), lambda rng: small_writes(rng, "reverse")),
    Case("W11-nagle", ("W11",), nagle, never=("K07",), ci=True),
    Case("W09-forward", ("W09",), lambda rng: paced(rng, "forward", "cubic"), never=("L16",),
         ci=True),
    Case("W09-reverse", ("W09",), lambda rng: paced(rng, "reverse", "bbr"), never=("L16",)),
)
