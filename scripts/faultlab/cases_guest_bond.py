"""Bonds, between virtual machines: where flows go, members that are down, slow, alone."""

from __future__ import annotations

import random

from .build import ip, mbit, shell
from .case import Setup
from .guest_words import BOND_FAR, MEMBERS, bond, bonds, guest_case, run_of

LACP = "mode 802.3ad lacp_rate fast lacp_active on"


def one_member(rng: random.Random, mode: str, direction: str) -> Setup:
    """Two hosts have one pair of hardware addresses: the hash of layer 2 has one value."""
    streams = rng.choice((4, 5, 6))
    return run_of(*bonds(f"{mode} xmit_hash_policy layer2"), peer=BOND_FAR, direction=direction,
                  tcp__streams=str(streams), shown={"bond": mode, "streams": str(streams)})


def spread(rng: random.Random) -> Setup:
    """Nothing is wrong: ports decide, and there are many."""
    streams = rng.choice((8, 12))
    return run_of(*bonds("mode balance-xor xmit_hash_policy layer3+4"), peer=BOND_FAR,
                  tcp__streams=str(streams), shown={"streams": str(streams)})


def backup_down(rng: random.Random, host: str) -> Setup:
    """Nothing is slower; at one end the other member has failed."""
    del rng
    return run_of(*bonds("mode active-backup primary eth1"), ip(host, "link set eth2 down"),
                  shell("b", "sleep 0.3"), peer=BOND_FAR, shown={"down": f"eth2 of {host}"})


def cable_out(rng: random.Random, mode: str) -> Setup:
    """One of the two cables has no signal at either end."""
    member = rng.choice(MEMBERS)
    return run_of(*bonds(mode), *(ip(host, f"link set {member} down") for host in "ab"),
                  shell("b", "sleep 0.3"), peer=BOND_FAR, shown={"down": member, "bond": mode})


def failed_over(rng: random.Random) -> Setup:
    """The active member is down, and the backup is slow."""
    rate = mbit(rng, 4, 10)
    options = "mode active-backup primary eth1"
    slow = (f"ip link set eth1 down; tc qdisc add dev eth2 root tbf rate {rate}mbit burst 16k "
            f"limit {rate * 6250}")
    return run_of(*bonds(options), shell("a", slow), shell("b", "ip link set eth1 down; sleep 0.3"),
                  peer=BOND_FAR, shown={"backup": f"{rate} Mb/s"})


def two_aggregators(rng: random.Random) -> Setup:
    """b has one cable in the bond, and answers on the other as another system."""
    streams = rng.choice((1, 4))
    lone = (f"ip link add bond0 type bond miimon 50 {LACP}\nip link set eth1 down\n"
            "ip link set eth1 master bond0\nip link set bond0 up\n"
            "ip addr add 10.77.9.2/24 dev bond0\n"
            f"ip link add bond1 type bond miimon 50 {LACP}\nip link set eth2 down\n"
            "ip link set eth2 master bond1\nip link set bond1 up")
    return run_of(shell("b", lone), bond("a", LACP), shell("a", "sleep 3"),
                  shell("b", "sleep 4"), peer=BOND_FAR, tcp__streams=str(streams),
                  shown={"streams": str(streams)})


def no_partner(rng: random.Random) -> Setup:
    """b's ports do not speak LACP."""
    other = rng.choice(("mode active-backup primary eth1", "mode broadcast"))
    return run_of(*bonds(LACP, other), peer=BOND_FAR, shown={"b": other})


def dealt_in_turn(rng: random.Random) -> Setup:
    """balance-rr, and one cable is longer."""
    delay = rng.uniform(1, 4)
    longer = (f"tc qdisc add dev eth2 root netem delay {delay:.1f}ms limit 5000")
    return run_of(*bonds("mode balance-rr"), shell("a", longer), peer=BOND_FAR,
                  shown={"longer": f"{delay:.1f} ms"})


BONDS_NEVER = ("B02", "B03", "B04", "B05")

CASES = (
    guest_case("B01-xor-layer2", ("B01",),
               lambda rng: one_member(rng, "mode balance-xor", "forward"),
               never=BONDS_NEVER, any_load=True),
    guest_case("B01-xor-reverse", ("B01",),
               lambda rng: one_member(rng, "mode balance-xor", "reverse"),
               never=BONDS_NEVER, any_load=True),
    guest_case("B01-lacp-layer2", ("B01",), lambda rng: one_member(rng, LACP, "forward"),
               never=BONDS_NEVER, any_load=True),
    guest_case("bond-spread", (), spread, kind="healthy"),
    guest_case("B02-backup-down", ("B02",), lambda rng: backup_down(rng, "a"),
               never=("B01", "B03", "B04"), any_load=True),
    guest_case("B02-other-end", ("B02",), lambda rng: backup_down(rng, "b"),
               never=("B01", "B03", "B04"), any_load=True),
    guest_case("B02-cable-out", ("B02",),
               lambda rng: cable_out(rng, "mode balance-xor xmit_hash_policy layer3+4"),
               never=("B04",), any_load=True),
    guest_case("B02-cable-out-lacp", ("B02",), lambda rng: cable_out(rng, LACP), also=("B03",),
               never=("B04",), any_load=True),
    guest_case("B02-failed-over", ("B02",), failed_over, also=("L16", "Q01"), never=("B01", "B04")),
    guest_case("B03-two-aggregators", ("B03",), two_aggregators, never=("B02", "B04"),
               also=("B01",), any_load=True),
    guest_case("B04-no-partner", ("B04",), no_partner, also=("B03", "B01"), never=("B02",),
               any_load=True),
    guest_case("B05-round-robin", ("B05",), dealt_in_turn, also=("Q05",), never=("Q04",)),
)
