"""Words in which the cases are written: streams, round trips, and what is done to the path."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from dataclasses import replace

from .case import Do, Setup, Stay, Step

INTERFACE = "eth0"
PORT = 18550
TRIALS = "8s"  # one change tried in full: five pairs of visits
TIMES = ("rounds", "budget", "diagnose-budget")
SENDER = {"forward": "a", "reverse": "b"}
RECEIVER = {"forward": "b", "reverse": "a"}
WAY = {"forward": "ab", "reverse": "ba"}
MIDDLE_EXIT = {"forward": "b0", "reverse": "a0"}  # the middle's interface that a way leaves by


def stream(direction: str = "forward", **options: str) -> dict[str, str]:
    """`pair` for one row of a stream. options: congestion="bbr" is --tcp.congestion bbr."""
    words = {"transport": "tcp", "workload": "tcp/bandwidth", "direction": direction,
             "size": "128K", "rounds": "3", "budget": "4s", "diagnose-budget": TRIALS,
             "tcp.congestion": "cubic"}
    return words | _named(options)


def datagrams(direction: str = "forward", **options: str) -> dict[str, str]:
    words = {"transport": "udp", "workload": "udp/bandwidth", "direction": direction,
             "size": "1448", "rounds": "3", "budget": "4s", "diagnose-budget": TRIALS}
    return words | _named(options)


def round_trips(size: str = "64", **options: str) -> dict[str, str]:
    words = {"transport": "tcp", "workload": "tcp/latency", "size": size, "rounds": "3",
             "budget": "3s", "diagnose-budget": TRIALS}
    return words | _named(options)


def _named(options: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("__", "."): value for name, value in options.items()}


def merged(first: Setup, second: Setup) -> Setup:
    """Both at once. ValueError where they want different things of the same knob."""
    bed = dict(first.bed)
    for key, value in second.bed.items():
        if bed.setdefault(key, value) != value:
            raise ValueError(f"two values for --{key}: {bed[key]} and {value}")
    pair = dict(first.pair)
    for key, value in second.pair.items():
        if key in ("direction", "transport", "workload", "size") and key in pair:
            pair[key] = ",".join(dict.fromkeys([*pair[key].split(","), *value.split(",")]))
        elif pair.setdefault(key, value) != value and key not in TIMES:
            raise ValueError(f"two values for --{key}: {pair[key]} and {value}")
    shown = {**first.shown, **second.shown}
    return replace(first, bed=bed, pair=pair, shown=shown, steps=(*first.steps, *second.steps))


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """Every factor between low and high is as likely."""
    return low * (high / low) ** rng.random()


def kib(rng: random.Random, low: int, high: int) -> str:
    return f"{round(log_uniform(rng, low, high))}K"


def mbit(rng: random.Random, low: int, high: int) -> int:
    return round(log_uniform(rng, low, high))


def delay(rng: random.Random, low_ms: float, high_ms: float) -> str:
    """One way, as the testbed wants it."""
    return f"{log_uniform(rng, low_ms, high_ms):.1f}ms"


def percent(rng: random.Random, low: float, high: float) -> float:
    """In percent, three digits."""
    return float(f"{log_uniform(rng, low, high):.3g}")


def sysctl(host: str, **values: object) -> Do:
    """ipv4 settings of a host: tcp_sack=0."""
    words = [f"net.ipv4.{key}={value}" for key, value in values.items()]
    return Do(host, ("sysctl", "-qw", *words))


def ip(host: str, text: str) -> Do:
    return Do(host, ("ip", *text.split()))


def shell(host: str, text: str) -> Do:
    return Do(host, ("sh", "-euc", text))


def firewall(host: str, rule: str, hook: str = "input") -> Do:
    """One rule of a host's firewall."""
    return Do(host, ("nft", "-f", "-"), f"table inet lab {{\n chain {hook} {{\n"
              f"  type filter hook {hook} priority 0\n  {rule}\n }}\n}}\n")


def on_the_way(direction: str, rule: str) -> Do:
    """A rule on frames that leave the middle in this direction, seen by neither host."""
    port = MIDDLE_EXIT[direction]
    return Do("m", ("nft", "-f", "-"), f"table netdev lab_{port} {{\n chain out {{\n"
              f"  type filter hook egress device \"{port}\" priority 0\n  {rule}\n }}\n}}\n")


def lost(direction: str, share_percent: float) -> Do:
    """A share of the frames of one direction is lost in the middle; small ones pass, so that the
    control channel and the other direction's acknowledgements are left alone."""
    modulus = 100_000
    return on_the_way(direction, f"ip length > 200 numgen random mod {modulus} < "
                                 f"{round(share_percent / 100 * modulus)} drop")


def shaped(host: str, mbits: int, interface: str = INTERFACE) -> Do:
    """A token bucket with 50 ms of queue, as scripts/testbed makes them."""
    burst, queue = max(32 * 1024, mbits * 125), max(64 * 1024, mbits * 6250)
    return Do(host, ("tc", "qdisc", "replace", "dev", interface, "root", "tbf", "rate",
                     f"{mbits}mbit", "burst", str(burst), "limit", str(queue)))


def script(host: str, text: str, *arguments: str) -> Stay:
    """A Python program that prints "ready" when it is."""
    return Stay(host, (sys.executable, "-c", text, *arguments), "ready")


def hogs(host: str, count: int) -> tuple[Stay, ...]:
    """Busy loops on the core of this host."""
    return (Stay(host, ("sh", "-c", "while :; do :; done")),) * count


FAR_ADDRESS = "10.1.2.1"


def two_subnets(mtu: int = 0) -> tuple[Step, ...]:
    """10.1.1.1 at a and 10.1.2.1 at b, the router between them their gateway; with its MTU."""
    lock = f" mtu lock {mtu}" if mtu else ""
    steps = (ip("m", "addr add 10.1.1.254/24 dev a0"), ip("m", "addr add 10.1.2.254/24 dev b0"),
             ip("a", "addr add 10.1.1.1/24 dev eth0"), ip("b", "addr add 10.1.2.1/24 dev eth0"),
             ip("a", "route add 10.1.2.0/24 via 10.1.1.254"),
             ip("b", "route add 10.1.1.0/24 via 10.1.2.254"))
    routes = (ip("m", f"route replace 10.1.1.0/24 dev a0 src 10.1.1.254{lock}"),
              ip("m", f"route replace 10.1.2.0/24 dev b0 src 10.1.2.254{lock}"))
    return (*steps, *routes) if mtu else steps


def second_cable(mbits: int) -> tuple[Step, ...]:
    """eth1 between the hosts, 192.168.2.100 and .101, shaped both ways. {a}, {b}: namespaces."""
    make = "ip -n {a} link add eth1 type veth peer name eth1 netns {b}"
    addresses = [ip(host, f"addr add 192.168.2.10{n}/24 dev eth1") for n, host in enumerate("ab")]
    return (Do("", tuple(make.split())), *addresses,
            *(ip(host, "link set eth1 up") for host in "ab"),
            *(shaped(host, mbits, "eth1") for host in "ab"))
