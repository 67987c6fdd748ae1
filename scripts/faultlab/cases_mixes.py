"""Two faults at once, drawn by the seed: in different directions, transports and workloads, or in
one direction where both leave their mark."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from .build import (RECEIVER, SENDER, datagrams, log_uniform, lost, merged, on_the_way, percent,
                    round_trips, shaped, stream, sysctl)
from .case import Case, Do, Setup

COUNT = 40
CI = (1, 2)
SHORT_TRIALS = {"diagnose-budget": "4s"}
SEGMENT = "1448"  # fits a datagram, is held back by Nagle in pieces, and is not too small to stream


@dataclass(frozen=True)
class Ingredient:
    """One fault of a mix. place: where its mark is; two of a mix have different places. far:
    whether it needs a path with delay, or one without; None: either. unlike: classes that hide it.
    """

    classes: tuple[str, ...]
    place: str
    far: bool | None
    draw: Callable[[random.Random], Setup]
    unlike: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        way = self.place if self.place in SENDER else ""
        return f"{self.classes[0]}{'-' + way if way else ''}"


def _window(rng: random.Random, direction: str) -> Setup:
    ceiling = round(log_uniform(rng, 128, 256)) * 1024
    return Setup({}, (sysctl(RECEIVER[direction], tcp_rmem=f"4096 65536 {ceiling}"),),
                 stream(direction), {f"tcp_rmem[2] {direction}": str(ceiling)})


def _send_buffer(rng: random.Random, direction: str) -> Setup:
    ceiling = round(log_uniform(rng, 64, 128)) * 1024
    return Setup({}, (sysctl(SENDER[direction], tcp_wmem=f"4096 16384 {ceiling}"),),
                 stream(direction), {f"tcp_wmem[2] {direction}": str(ceiling)})


def _loss(rng: random.Random, direction: str) -> Setup:
    share = percent(rng, 0.6, 2)
    return Setup({}, (lost(direction, share),), stream(direction),
                 {f"loss {direction}": f"{share} %"})


def _shaper(rng: random.Random, direction: str) -> Setup:
    rate = round(log_uniform(rng, 30, 80))
    return Setup({}, (shaped(SENDER[direction], rate),), stream(direction),
                 {f"rate {direction}": f"{rate} Mb/s"})


def _policer(rng: random.Random, direction: str) -> Setup:
    rate = round(log_uniform(rng, 40, 120))
    rule = f"limit rate over {rate * 125} kbytes/second burst 32 kbytes drop"
    return Setup({"offload": "off"}, (on_the_way(direction, rule),), stream(direction),
                 {f"policer {direction}": f"{rate} Mb/s"})


def _datagram_buffer(rng: random.Random) -> Setup:
    """In the direction of the other fault, if that has one."""
    rate = round(log_uniform(rng, 200, 350))
    pair = datagrams(udp__rcvbuf="2K", udp__rate=f"{rate}M")
    del pair["direction"]
    return Setup({}, (), pair, {"datagrams": f"{rate} Mb/s"})


def _nagle(rng: random.Random) -> Setup:
    pieces = str(rng.choice((2, 3)))
    return Setup({}, (), round_trips(tcp__nodelay="off", tcp__writes=pieces),
                 {"round trips": f"in {pieces} writes"})


def _uneven_mtu(rng: random.Random) -> Setup:
    large = rng.choice(("4000", "9000"))
    return Setup({"mtu-a": large, "mtu-b": "1500"}, (), {}, {"MTU": f"{large} and 1500"})


def _both_ways(classes: tuple[str, ...], far: bool | None,
               draw: Callable[[random.Random, str], Setup]) -> list[Ingredient]:
    return [Ingredient(classes, "forward", far, lambda rng: draw(rng, "forward")),
            Ingredient(classes, "reverse", far, lambda rng: draw(rng, "reverse"))]


INGREDIENTS = (
    *_both_ways(("W02", "W01"), True, _window), *_both_ways(("W05",), True, _send_buffer),
    *_both_ways(("Q04",), True, _loss), *_both_ways(("L16",), None, _shaper),
    *_both_ways(("Q03",), False, _policer),
    Ingredient(("K14",), "datagrams", None, _datagram_buffer, unlike=("L16", "Q03")),
    Ingredient(("W11",), "round trips", False, _nagle),
    Ingredient(("M04",), "ends", False, _uneven_mtu),
)


@dataclass(frozen=True)
class Meeting:
    """Two faults of one direction, their parameters drawn together so that both are near: either
    alone would hold the stream down about as far."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    draw: Callable[[random.Random], Setup]

    @property
    def name(self) -> str:
        return f"{self.first[0]}-with-{self.second[0]}"


def _loss_beside(rng: random.Random, direction: str) -> tuple[Setup, float, float]:
    """A path with loss, with what it lets through (bit/s) and its round trip (s): Mathis et al.,
    1.22 MSS / (RTT sqrt p)."""
    share, one_way_ms = percent(rng, 0.3, 0.8), round(rng.uniform(3, 5), 1)
    round_trip_s = 2e-3 * one_way_ms + 0.5e-3
    bps = 1.22 * 1448 * 8 / (round_trip_s * (share / 100) ** 0.5)
    setup = Setup({"delay": f"{one_way_ms}ms"}, (lost(direction, share),),
                  stream(direction, rounds="4", budget="7s") | SHORT_TRIALS,
                  {"loss": f"{share} %", "delay": f"{one_way_ms}ms", "direction": direction})
    return setup, bps, round_trip_s


def _loss_and_shaper(rng: random.Random) -> Setup:
    direction = rng.choice(tuple(SENDER))
    setup, bps, _ = _loss_beside(rng, direction)
    rate = max(5, round(bps * rng.uniform(0.6, 0.8) / 1e6))
    return replace(setup, steps=(*setup.steps, shaped(SENDER[direction], rate)),
                   shown={**setup.shown, "rate": f"{rate} Mb/s"})


def _loss_and_window(rng: random.Random) -> Setup:
    """The window is about 0.8 of what SO_RCVBUF asks for, doubled and then shared with overhead."""
    direction = rng.choice(tuple(SENDER))
    setup, bps, round_trip_s = _loss_beside(rng, direction)
    buffer = max(8, round(bps * rng.uniform(0.7, 0.9) * round_trip_s / 8 / 1.2 / 1024))
    return replace(setup, pair={**setup.pair, "tcp.rcvbuf": f"{buffer}K"},
                   shown={**setup.shown, "rcvbuf": f"{buffer} KiB"})


def _loss_and_pacing(rng: random.Random) -> Setup:
    direction = rng.choice(tuple(SENDER))
    setup, bps, _ = _loss_beside(rng, direction)
    rate = max(5, round(bps * rng.uniform(0.6, 0.8) / 1e6))
    return replace(setup, pair={**setup.pair, "tcp.pacing": f"{rate}M"},
                   shown={**setup.shown, "pacing": f"{rate} Mb/s"})


def _shaper_and_uneven_ends(rng: random.Random) -> Setup:
    return merged(_shaper(rng, rng.choice(tuple(SENDER))), _uneven_mtu(rng))


MEETINGS = (Meeting(("Q04",), ("L16",), _loss_and_shaper),
            Meeting(("Q04",), ("W01",), _loss_and_window),
            Meeting(("Q04",), ("W09",), _loss_and_pacing),
            Meeting(("L16",), ("M04",), _shaper_and_uneven_ends))


def chosen(rng: random.Random) -> tuple[Ingredient, Ingredient]:
    """Two of different classes and places that can be had on one path."""
    while True:
        first, second = rng.sample(INGREDIENTS, 2)
        fits = first.far is None or second.far is None or first.far == second.far
        fits &= not {*first.unlike, *second.unlike} & {*first.classes, *second.classes}
        if first.classes != second.classes and first.place != second.place and fits:
            return first, second


def _plan(pair: dict[str, str]) -> dict[str, str]:
    """One plan for both: one size that suits them, a second and a half for each round of a row."""
    workloads = pair["workload"].split(",")
    ways = pair.setdefault("direction", "forward").count(",") + 1
    rows = sum(1 if workload == "tcp/latency" else ways for workload in workloads)
    size = "128K" if workloads == ["tcp/bandwidth"] else SEGMENT
    return pair | {"rounds": "2", "budget": f"{3 * rows}s", "size": size} | SHORT_TRIALS


def _mix(rng: random.Random, first: Ingredient, second: Ingredient) -> Setup:
    setup = merged(first.draw(rng), second.draw(rng))
    pair = dict(setup.pair) if "workload" in setup.pair else stream()
    bed = dict(setup.bed)
    if first.far or second.far:
        bed["delay"] = f"{log_uniform(rng, 4, 7):.1f}ms"
    elif any(isinstance(step, Do) and step.host == "m" for step in setup.steps):
        bed["third"] = "bridge"
    return replace(setup, bed=bed, pair=_plan(pair))


def cases(seed: int) -> tuple[Case, ...]:
    """The seed draws which faults meet, too."""
    return tuple(_case(seed, number) for number in range(COUNT))


def _case(seed: int, number: int) -> Case:
    rng = random.Random(f"{seed}/mix/{number}")
    if number % 4 == 0:
        meeting = rng.choice(MEETINGS)
        return Case(f"mix-{number:02d}-{meeting.name}", (), meeting.draw,
                    parts=(meeting.first, meeting.second), kind="mix", ci=number in CI)
    first, second = chosen(rng)
    return Case(f"mix-{number:02d}-{first.name}+{second.name}", (),
                lambda draw: _mix(draw, first, second), parts=(first.classes, second.classes),
                kind="mix", ci=number in CI)
