"""What netem and a policer do to frames between virtual machines: loss, delay, reordering,
duplicates, corruption, rates and short queues."""

from __future__ import annotations

import random

from .build import SENDER, delay, mbit, percent, shell
from .case import Setup
from .guest_words import TRIALS, arriving, guest_case, policed, returning, run_of, slow_rate


def lost(rng: random.Random, direction: str) -> Setup:
    share, wait = percent(rng, 0.6, 2), delay(rng, 5, 10)
    return run_of(arriving(direction, f"delay {wait} loss {share}% limit 10000"),
                  direction=direction, budget="5s", trials=TRIALS,
                  shown={"loss": f"{share} %", "delay": wait})


def delayed(rng: random.Random) -> Setup:
    """A long path with nothing wrong, in both directions."""
    wait = delay(rng, 3, 15)
    return run_of(arriving("forward", f"delay {wait} limit 10000"),
                  returning("forward", f"delay {wait} limit 10000"), budget="3s",
                  shown={"delay": wait})


def reordered(rng: random.Random) -> Setup:
    share, wait = percent(rng, 3, 8), delay(rng, 3, 6)
    return run_of(arriving("forward", f"delay {wait} reorder {share}% limit 10000"),
                  shown={"reordered": f"{share} %", "delay": wait})


def jitter(rng: random.Random) -> Setup:
    """Each frame is delayed by itself, so that they overtake each other."""
    wait = rng.uniform(4, 8)
    spread = wait * rng.uniform(0.2, 0.4)
    return run_of(arriving("forward", f"delay {wait:.1f}ms {spread:.1f}ms limit 10000"),
                  shown={"delay": f"{wait:.1f} ± {spread:.1f} ms"})


def duplicated(rng: random.Random) -> Setup:
    share, wait = percent(rng, 1, 5), delay(rng, 2, 5)
    return run_of(arriving("forward", f"delay {wait} duplicate {share}% limit 10000"),
                  shown={"duplicated": f"{share} %", "delay": wait})


def corrupted(rng: random.Random, direction: str) -> Setup:
    share, wait = percent(rng, 0.5, 1.5), delay(rng, 2, 5)
    return run_of(arriving(direction, f"delay {wait} corrupt {share}% limit 10000"),
                  direction=direction, budget="4s",
                  shown={"corrupted": f"{share} %", "delay": wait})


def remote_queue(rng: random.Random, direction: str) -> Setup:
    rate = slow_rate(rng)
    packets = rng.randint(60, 120)
    return run_of(arriving(direction, f"rate {rate}mbit limit {packets}"), direction=direction,
                  budget="3s", trials=TRIALS,
                  shown={"rate": f"{rate} Mb/s", "queue": f"{packets} packets"})


def shallow(rng: random.Random) -> Setup:
    rate, packets, wait = slow_rate(rng), rng.randint(10, 16), delay(rng, 18, 28)
    return run_of(arriving("forward", f"rate {rate}mbit limit {packets}"),
                  returning("forward", f"delay {wait} limit 1000"), budget="5s",
                  shown={"rate": f"{rate} Mb/s", "queue": f"{packets} packets", "delay": wait})


def policer(rng: random.Random) -> Setup:
    rate, burst = slow_rate(rng), rng.choice((16, 24))
    return run_of(policed("b", rate, burst), budget="4s",
                  shown={"rate": f"{rate} Mb/s", "burst": f"{burst} KiB"})


def lost_acknowledgements(rng: random.Random) -> Setup:
    share = percent(rng, 10, 20)
    return run_of(returning("forward", f"loss {share}% limit 10000"), budget="3s",
                  shown={"ACKs lost": f"{share} %"})


def own_netem(rng: random.Random, direction: str) -> Setup:
    """The rate is in the sender's own queueing discipline."""
    rate = mbit(rng, 5, 15)
    return run_of(shell(SENDER[direction], f"tc qdisc add dev eth0 root netem rate {rate}mbit "
                                           "limit 200"), direction=direction,
                  trials=TRIALS, shown={"rate": f"{rate} Mb/s"})


CASES = (
    guest_case("netem-loss", ("Q04",), lambda rng: lost(rng, "forward"), never=("Q01", "L16")),
    guest_case("netem-loss-reverse", ("Q04",), lambda rng: lost(rng, "reverse"),
               never=("Q01", "L16")),
    guest_case("netem-delay", (), delayed, kind="healthy"),
    guest_case("netem-reorder", ("Q05",), reordered, never=("Q04",)),
    guest_case("netem-jitter", ("Q05",), jitter, never=("Q04",)),
    guest_case("netem-duplicate", (), duplicated, kind="healthy"),
    guest_case("netem-corrupt", ("Q09", "L12"), lambda rng: corrupted(rng, "forward"),
               also=("Q09", "L12"), never=("Q04",)),
    guest_case("netem-rate", ("Q01",), lambda rng: remote_queue(rng, "forward"), never=("L16",)),
    guest_case("netem-rate-reverse", ("Q01",), lambda rng: remote_queue(rng, "reverse"),
               never=("L16",)),
    guest_case("netem-short-queue", ("Q02",), shallow, never=("L16",)),
    guest_case("police-ingress", ("Q03",), policer, never=("Q01", "L16")),
    guest_case("netem-ack-loss", ("Q08",), lost_acknowledgements, never=("Q04",)),
    guest_case("netem-own-rate", ("L16",), lambda rng: own_netem(rng, "forward"), never=("Q01",)),
)
