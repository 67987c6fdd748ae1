"""What a testbed shall look like, checked and in plain units."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass

RATE_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
TIME_UNITS_US = {"us": 1, "ms": 1000, "s": 1000 * 1000}
SIZE_UNITS = {"": 1, "b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}
DEFAULT_NAME = "nb"
SWITCH_MTU = 9216  # what a data-centre switch usually accepts


def _scaled(text: str, units: dict[str, int], what: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z]*)", text.lower())
    if not match or match[2] not in units:
        known = ", ".join(unit for unit in units if unit)
        raise argparse.ArgumentTypeError(f"'{text}' is no {what}: a number and one of {known}")
    return float(match[1]) * units[match[2]]


def rate_bps(text: str) -> int:
    """100mbit, 2.5gbit: decimal units as in tc(8)."""
    return int(_scaled(text, RATE_UNITS, "rate"))


def delay_us(text: str) -> float:
    """5ms, 250us, 1s."""
    return _scaled(text, TIME_UNITS_US, "time")


def size_bytes(text: str) -> int:
    """32kb, 2000: binary units as in tc(8)."""
    return int(_scaled(text, SIZE_UNITS, "size"))


def share(text: str) -> float:
    """1% as 0.01."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%", text)
    if not match or float(match[1]) > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is no share: write 1% or 0.05%")
    return float(match[1]) / 100


def cpu_list(text: str) -> tuple[int, ...]:
    """0 or 0,2-3; 'all' (an empty tuple here) for no pinning."""
    if text == "all":
        return ()
    cpus: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", part)
        if not match:
            raise argparse.ArgumentTypeError(f"'{text}' is no CPU list: write 0, 0,2-3 or all")
        cpus.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(cpus)


def bed_name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", text):
        raise argparse.ArgumentTypeError(f"'{text}': 1 to 32 of a-z, 0-9 and -")
    return text


def default_cpus(host: str) -> tuple[int, ...]:
    """One core a host where there are two, the first for a and the second for b."""
    cpus = sorted(os.sched_getaffinity(0))
    return () if len(cpus) < 2 else (cpus[0 if host == "a" else 1],)


@dataclass(frozen=True)
class Options:
    """One testbed. Rates in bit/s, times in microseconds, shares from 0 to 1; 0 is off."""

    name: str = DEFAULT_NAME
    mtu_a: int = 1500
    mtu_b: int = 1500
    ipv6: bool = False
    offload: bool = True
    rate: int = 0
    burst: int = 0
    queue: int = 0
    rate_at: str = ""
    delay: float = 0
    loss: float = 0
    reorder: float = 0
    duplicate: float = 0
    corrupt: float = 0
    only: str = "both"
    seed: int = 1
    third: str = ""
    middle_mtu: int = 0
    icmp: bool = False
    emulator: str = "auto"
    cpus_a: tuple[int, ...] = ()
    cpus_b: tuple[int, ...] = ()

    @property
    def impaired(self) -> bool:
        """Whether frames need an emulated wire (netem, or the relay where there is none)."""
        return any((self.delay, self.loss, self.reorder, self.duplicate, self.corrupt))

    @property
    def has_middle(self) -> bool:
        return bool(self.impaired or self.third)

    @property
    def wire_mtu(self) -> int:
        """MTU of the middle's interfaces: as large as a switch's unless a smaller one is wanted."""
        return self.middle_mtu or max(SWITCH_MTU, self.mtu_a, self.mtu_b)

    @property
    def burst_bytes(self) -> int:
        """Bucket of the rate limit: one millisecond of it, at least 32 KiB."""
        return self.burst or max(32 * 1024, self.rate // 8000)

    @property
    def queue_bytes(self) -> int:
        """Queue in front of the rate limit: 50 ms of it, at least 64 KiB."""
        return self.queue or max(64 * 1024, self.rate // 8 // 20)


def add_up_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `testbed up`."""
    add = parser.add_argument
    add("--mtu", type=int, default=1500, metavar="N", help="of both hosts (default 1500)")
    add("--mtu-a", type=int, metavar="N", help="of host a alone")
    add("--mtu-b", type=int, metavar="N", help="of host b alone")
    add("--ipv6", action="store_true", help="fd00::100 and fd00::101 too")
    add("--offload", choices=("on", "off"), default="on",
        help="off: no TSO, GSO and GRO (always off where frames are delayed, lost and so on)")
    add("--rate", type=rate_bps, default=0, metavar="100mbit", help="token bucket, both directions")
    add("--burst", type=size_bytes, default=0, metavar="32kb",
        help="its bucket (default: 1 ms of the rate, at least 32kb)")
    add("--queue", type=size_bytes, default=0, metavar="64kb",
        help="its queue (default: 50 ms of the rate, at least 64kb)")
    add("--rate-at", choices=("host", "middle"), default="",
        help="where the bucket is (default: the middle where there is one)")
    add("--delay", type=delay_us, default=0, metavar="5ms", help="one way; the round trip has two")
    add("--loss", type=share, default=0, metavar="1%", help="share of frames lost")
    add("--reorder", type=share, default=0, metavar="2%",
        help="share that overtakes the delayed ones (needs --delay)")
    add("--duplicate", type=share, default=0, metavar="1%", help="share sent twice")
    add("--corrupt", type=share, default=0, metavar="1%", help="share with one flipped bit")
    add("--only", choices=("both", "ab", "ba"), default="both",
        help="impair frames from a to b, or from b to a alone")
    add("--seed", type=int, default=1, help="of the relay's random numbers")
    add("--third", nargs="?", const="router", choices=("router", "bridge"), default="",
        help="a middle host between the two (default router)")
    add("--middle-mtu", type=int, default=0, metavar="N", help="of the middle host's interfaces")
    add("--icmp", choices=("drop", "allow"), default="drop",
        help="whether the router may say 'too big' (drop: a path-MTU black hole)")
    add("--emulator", choices=("auto", "netem", "relay"), default="auto",
        help="who delays and loses frames (auto: netem where the kernel has it)")
    for host in "ab":
        add(f"--cpus-{host}", type=cpu_list, default=None, metavar="LIST",
            help=f"cores of {host}'s commands, or all (default: one of two cores each)")


def from_arguments(args: argparse.Namespace) -> Options:
    """Raises ValueError, with the remedy, for combinations that make no network."""
    options = Options(
        name=args.name, mtu_a=args.mtu_a or args.mtu, mtu_b=args.mtu_b or args.mtu,
        ipv6=args.ipv6, offload=args.offload == "on", rate=args.rate, burst=args.burst,
        queue=args.queue, rate_at=args.rate_at, delay=args.delay, loss=args.loss,
        reorder=args.reorder, duplicate=args.duplicate, corrupt=args.corrupt, only=args.only,
        seed=args.seed, third=args.third or ("router" if args.middle_mtu else ""),
        middle_mtu=args.middle_mtu, icmp=args.icmp == "allow", emulator=args.emulator,
        cpus_a=default_cpus("a") if args.cpus_a is None else args.cpus_a,
        cpus_b=default_cpus("b") if args.cpus_b is None else args.cpus_b)
    if options.reorder and not options.delay:
        raise ValueError("--reorder needs --delay: reordered frames overtake the delayed ones")
    if options.rate_at == "middle" and not options.has_middle:
        raise ValueError("--rate-at middle needs a middle: add --third bridge")
    if (options.burst or options.queue) and not options.rate:
        raise ValueError("--burst and --queue need --rate")
    return options
