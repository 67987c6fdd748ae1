"""Words of the cases in virtual machines: bonds, VLANs, and what the path does to frames.

A path fault works on frames as they arrive, before their host looks at them: netem or a policer
behind ifb0, so that neither host has a queue of its own that would tell; without GRO, which would
hand them many segments as one packet to lose. Rates are far below what
emulated processors carry.
"""

from __future__ import annotations

import random
from typing import Any

from .build import RECEIVER, SENDER, mbit, shell, stream
from .case import Case, Draw, Setup, Step

FAR = "10.77.0.2"
BOND_FAR, VLAN_FAR, OVERLAY_FAR = "10.77.9.2", "10.77.8.2", "10.77.7.2"
NUMBERS = {"a": 1, "b": 2}
MEMBERS = ("eth1", "eth2")
TIMES = {"rounds": "2", "budget": "2s"}
TRIALS = "4s"
SINGLE_FRAMES = "ethtool -K eth0 gro off\n"

# The machines' cards have no offloads; between emulated processors threads wait, and packets too.
AMBIENT = ("K11", "L11", "K04")
# What carries frames from one emulated machine to the other passes so much and queues the rest: a
# bottleneck between the hosts, and no fault.
EMULATED_LINK = ("Q01",)


def guest_case(name: str, wanted: tuple[str, ...], draw: Draw, **options: Any) -> Case:
    ambient = AMBIENT + (EMULATED_LINK if options.get("kind") == "healthy" else ())
    return Case(name, wanted, draw, guest=True, ambient=tuple(
        entry for entry in ambient if entry not in wanted), **options)


def run_of(*steps: Step, direction: str = "forward", peer: str = FAR, trials: str = "0",
           shown: dict[str, str] | None = None, **options: str) -> Setup:
    """A short stream. trials: time for changing one thing, none by default: minutes are dear."""
    pair = stream(direction, **(TIMES | options)) | {"diagnose-budget": trials}
    return Setup(steps=steps, pair=pair, peer=peer, shown=shown or {})


def bond(host: str, options: str) -> Step:
    """bond0 over eth1 and eth2, with an address of its own; up when it carries."""
    members = "\n".join(f"link set {member} down\nlink set {member} master bond0"
                        for member in MEMBERS)
    number = NUMBERS[host]
    return shell(host, f"ip link add bond0 type bond miimon 50 {options}\n"
                       f"ip -batch - <<'IP'\n{members}\nlink set bond0 up\n"
                       f"addr add 10.77.9.{number}/24 dev bond0\nIP\n" + until_carrier("bond0"))


def until_carrier(device: str) -> str:
    """Up to four seconds: LACP takes its time."""
    return (f"for i in $(seq 40); do [ \"$(cat /sys/class/net/{device}/carrier)\" = 0 ] || break; "
            "sleep 0.1; done")


def bonds(options: str, other: str | None = None) -> tuple[Step, ...]:
    """At both ends; other: different options at b."""
    return bond("a", options), bond("b", options if other is None else other)


def netem(host: str, text: str) -> Step:
    """On IPv4 packets that arrive at a host's eth0; ARP is left alone."""
    return shell(host, _ifb(f"root netem {text}"))


def arriving(direction: str, text: str) -> Step:
    """netem on the data of this direction."""
    return netem(RECEIVER[direction], text)


def returning(direction: str, text: str) -> Step:
    """netem on what goes against the data."""
    return netem(SENDER[direction], text)


def _ifb(queue: str) -> str:
    return (SINGLE_FRAMES + "ip link add ifb0 type ifb\nip link set ifb0 up\n"
            "tc -batch - <<'TC'\nqdisc add dev eth0 ingress\n"
            "filter add dev eth0 parent ffff: protocol ip matchall "
            "action mirred egress redirect dev ifb0\n"
            f"qdisc add dev ifb0 {queue}\nTC")


def policed(host: str, mbits: int, burst_kib: int) -> Step:
    return shell(host, SINGLE_FRAMES + "tc -batch - <<'TC'\nqdisc add dev eth0 ingress\n"
                       "filter add dev eth0 parent ffff: protocol ip matchall action police "
                       f"rate {mbits}mbit burst {burst_kib}k conform-exceed drop\nTC")


def slow_rate(rng: random.Random) -> int:
    """Mb/s that two emulated processors carry easily."""
    return mbit(rng, 5, 15)
