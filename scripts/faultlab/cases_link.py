"""What the hosts' own interfaces do: shapers, queues, offloads, flaps, the wrong interface."""

from __future__ import annotations

import random

from .build import SENDER, ip, mbit, percent, second_cable, shaped, shell, stream
from .case import Case, Do, Setup, Stay

HOSTS_FILE = "127.0.0.1 localhost\\n192.168.1.100 nb-a\\n192.168.2.101 nb-b\\n"


def shaper(rng: random.Random, direction: str, mtu: str = "1500", **options: str) -> Setup:
    rate = mbit(rng, 40, 300)
    return Setup({"mtu": mtu}, (shaped(SENDER[direction], rate),), stream(direction, **options),
                 {"rate": f"{rate} Mb/s"})


def one_way_shaper(rng: random.Random) -> Setup:
    """Both directions are run; only one is slow."""
    rate = mbit(rng, 40, 200)
    slow = rng.choice(("forward", "reverse"))
    return Setup({}, (shaped(SENDER[slow], rate),), stream("forward,reverse", rounds="2"),
                 {"rate": f"{rate} Mb/s", "slow": slow})


def short_queue(rng: random.Random) -> Setup:
    """A shaper whose queue holds a few packets: it drops on this host."""
    rate, packets = mbit(rng, 60, 200), rng.randint(4, 8)
    queue = Do("a", ("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", f"{rate}mbit",
                     "burst", "64kb", "limit", str(packets * 1514)))
    return Setup({"offload": "off"}, (queue,), stream(),
                 {"rate": f"{rate} Mb/s", "queue": f"{packets} packets"})


def offloads_off(rng: random.Random, hosts: str, mtu: str) -> Setup:
    off = tuple(Do(host, tuple("ethtool -K eth0 tso off gso off gro off".split()))
                for host in hosts)
    del rng
    return Setup({"mtu": mtu}, off, stream(), {"off at": hosts, "MTU": mtu})


def flaps(rng: random.Random) -> Setup:
    """The cable is out for a moment, once a second; a stream survives that."""
    out_ms = rng.randint(20, 60)
    script = (f"while :; do sleep 1; ip link set eth0 down; sleep 0.0{out_ms}; "
              "ip link set eth0 up; done")
    return Setup({}, (Stay("b", ("sh", "-c", script)),), stream(), {"out": f"{out_ms} ms"})


def other_interface(rng: random.Random) -> Setup:
    """A host route sends the traffic over a slower second cable, though both hosts are in one
    subnet on the first."""
    rate = mbit(rng, 30, 100)
    routes = (ip("a", "route add 192.168.1.101/32 dev eth1"),
              ip("b", "route add 192.168.1.100/32 dev eth1"))
    return Setup({}, (*second_cable(rate), *routes), stream(), {"rate of eth1": f"{rate} Mb/s"})


def other_plane(rng: random.Random) -> Setup:
    """The peer's name means its address on the slower second cable on one host alone."""
    rate = mbit(rng, 30, 100)
    return Setup({}, (*second_cable(rate), shell("a", f"printf '{HOSTS_FILE}' > /etc/hosts")),
                 stream(), {"rate of eth1": f"{rate} Mb/s"})


def corrupted(rng: random.Random, way: str) -> Setup:
    share = percent(rng, 0.3, 1.5)
    bed = {"delay": "2ms", "corrupt": f"{share}%", "only": way, "seed": str(rng.randint(1, 99))}
    return Setup(bed, (), stream("forward" if way == "ab" else "reverse", budget="5s"),
                 {"corrupted": f"{share} %"})


CASES = (
    Case("L16-forward", ("L16",), lambda rng: shaper(rng, "forward"), never=("Q01",), ci=True),
    Case("L16-reverse", ("L16",), lambda rng: shaper(rng, "reverse"), never=("Q01",)),
    Case("L16-jumbo", ("L16",), lambda rng: shaper(rng, "forward", "9000")),
    Case("L16-bbr", ("L16",), lambda rng: shaper(rng, "forward", tcp__congestion="bbr")),
    Case("L16-4-streams", ("L16",), lambda rng: shaper(rng, "forward", tcp__streams="4")),
    Case("L16-one-way", ("L16",), one_way_shaper),
    Case("L08-short-queue", ("L08", "L16"), short_queue, also=("L08", "L16", "L11")),
    Case("L11-both-ends", ("L11",), lambda rng: offloads_off(rng, "ab", "1500"), ci=True),
    Case("L11-sender", ("L11",), lambda rng: offloads_off(rng, "a", "1500")),
    Case("L06-flaps", ("L06",), flaps),
    Case("L04-host-route", ("L04",), other_interface, also=("L16", "V06"), ci=True),
    Case("V06-name-of-other-plane", ("V06", "L04"), other_plane, also=("L04", "L16", "V06")),
    Case("Q09-corrupted-forward", ("Q09", "L12"), lambda rng: corrupted(rng, "ab"),
         also=("Q09", "L12"), never=("Q04",), ci=True),
    Case("Q09-corrupted-reverse", ("Q09", "L12"), lambda rng: corrupted(rng, "ba"),
         also=("Q09", "L12"), never=("Q04",)),
)
