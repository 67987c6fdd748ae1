"""Path MTU: black holes behind a router and in a bridge, ends that differ."""

from __future__ import annotations

import random
from dataclasses import replace

from .build import FAR_ADDRESS, round_trips, stream, sysctl, two_subnets
from .case import Case, Setup


def routed_hole(rng: random.Random) -> Setup:
    """Two subnets, and a router between that forwards less and does not say so."""
    small = rng.choice((1400, 1500, 2000, 4000))
    return Setup({"mtu": "9000", "third": "router", "middle-mtu": str(small)},
                 two_subnets(small), stream(), {"MTU": f"9000, router {small}"}, peer=FAR_ADDRESS)


def bridged_hole(rng: random.Random, **options: str) -> Setup:
    small = rng.choice((1400, 1500, 2000, 4000))
    bed = {"mtu": "9000", "third": "bridge", "middle-mtu": str(small), "offload": "off"}
    return Setup(bed, (), stream(**options), {"MTU": f"9000, bridge {small}"})


def hole_with_probing(rng: random.Random) -> Setup:
    """The kernel finds the small MTU itself after some timeouts (RFC 4821): the hole remains."""
    setup = bridged_hole(rng)
    return replace(setup, steps=tuple(sysctl(host, tcp_mtu_probing=1) for host in "ab"))


def uneven_ends(rng: random.Random, large_at: str) -> Setup:
    large = rng.choice((4000, 9000))
    sizes = {"a": large, "b": 1500} if large_at == "a" else {"a": 1500, "b": large}
    return Setup({"mtu-a": str(sizes["a"]), "mtu-b": str(sizes["b"])}, (), stream(),
                 {"MTU": f"{sizes['a']} and {sizes['b']}"})


def hole_of_round_trips(rng: random.Random) -> Setup:
    setup = routed_hole(rng)
    return replace(setup, pair=round_trips("64K"))


CASES = (
    Case("M02-routed-hole", ("M02",), routed_hole, never=("W01",), ci=True),
    Case("M02-round-trips", ("M02",), hole_of_round_trips, never=("W01",)),
    Case("M03-bridged-hole", ("M03",), bridged_hole, never=("W01",), ci=True),
    Case("M03-reverse", ("M03",), lambda rng: bridged_hole(rng, direction="reverse"),
         never=("W01",)),
    Case("M03-mtu-probing", ("M03",), hole_with_probing, never=("W01",)),
    Case("M04-large-here", ("M04",), lambda rng: uneven_ends(rng, "a"), any_load=True),
    Case("M04-large-there", ("M04",), lambda rng: uneven_ends(rng, "b"), any_load=True),
)
