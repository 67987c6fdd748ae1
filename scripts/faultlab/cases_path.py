"""What the path between the hosts does: queues, policers, loss, reordering, other traffic."""

from __future__ import annotations

import random

from .build import (MIDDLE_EXIT, delay, ip, log_uniform, lost, mbit, on_the_way, percent, script,
                    shaped, stream)
from .case import Case, Setup

BRIDGE = {"third": "bridge"}
# Datagrams of 1400 bytes to the discard port at a rate, from the middle's own address.
SENDER_SCRIPT = """
import socket, sys, time
bps = float(sys.argv[1])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begin, sent = time.monotonic(), 0
print("ready", flush=True)
while True:
    try:
        out.sendto(bytes(1400), (sys.argv[2], 9))
    except OSError:
        pass
    sent += 1442 * 8
    time.sleep(max(0.0, sent / bps - (time.monotonic() - begin)))
"""


def remote_queue(rng: random.Random, direction: str, **options: str) -> Setup:
    rate = mbit(rng, 30, 200)
    return Setup(BRIDGE, (shaped("m", rate, MIDDLE_EXIT[direction]),), stream(direction, **options),
                 {"rate": f"{rate} Mb/s"})


def policer(rng: random.Random, direction: str) -> Setup:
    """Frames above the rate are dropped; nothing waits. Single frames, so offloads off."""
    rate, burst = mbit(rng, 40, 150), rng.choice((32, 64))
    rule = f"limit rate over {rate * 125} kbytes/second burst {burst} kbytes drop"
    return Setup(BRIDGE | {"offload": "off"}, (on_the_way(direction, rule),), stream(direction),
                 {"rate": f"{rate} Mb/s", "burst": f"{burst} KiB"})


def shallow_buffer(rng: random.Random) -> Setup:
    """A slower port behind a switch with a few packets of buffer, forward; the way back is fine."""
    rate, packets, wait = mbit(rng, 60, 120), rng.randint(12, 24), delay(rng, 1, 3)
    bed = {"delay": wait, "rate": f"{rate}mbit", "queue": str(packets * 1514), "rate-at": "middle"}
    return Setup(bed, (), stream("forward", budget="5s"),
                 {"rate": f"{rate} Mb/s", "queue": f"{packets} packets", "delay": wait})


def random_loss(rng: random.Random, low: float, high: float, direction: str,
                **options: str) -> Setup:
    share, wait = percent(rng, low, high), delay(rng, 3, 6)
    return Setup({"delay": wait}, (lost(direction, share),),
                 stream(direction, budget="5s", **options),
                 {"loss": f"{share} %", "delay": wait})


def one_way_queue(rng: random.Random) -> Setup:
    """Both directions are run; the switch's port is slow in one."""
    rate, slow = mbit(rng, 30, 200), rng.choice(tuple(MIDDLE_EXIT))
    return Setup(BRIDGE, (shaped("m", rate, MIDDLE_EXIT[slow]),),
                 stream("forward,reverse", rounds="2", budget="6s"),
                 {"rate": f"{rate} Mb/s", "slow": slow})


def lost_acknowledgements(rng: random.Random, direction: str) -> Setup:
    """Of the small frames that go against the data. Offloads off: they are single ones."""
    share = percent(rng, 8, 20)
    back = {"forward": "reverse", "reverse": "forward"}[direction]
    rule = f"ip length < 100 numgen random mod 1000 < {round(share * 10)} drop"
    return Setup(BRIDGE | {"offload": "off"}, (on_the_way(back, rule),), stream(direction),
                 {"ACKs lost": f"{share} %"})


def reordered(rng: random.Random, way: str) -> Setup:
    share, wait = percent(rng, 1, 3), delay(rng, 1, 3)
    bed = {"delay": wait, "reorder": f"{share}%", "seed": str(rng.randint(1, 99))}
    return Setup(bed, (), stream({"ab": "forward", "ba": "reverse"}[way], budget="5s"),
                 {"reordered": f"{share} %", "delay": wait})


def cross_traffic(rng: random.Random) -> Setup:
    """A third host sends datagrams through the same slow port."""
    rate = mbit(rng, 60, 120)
    other = round(rate * log_uniform(rng, 0.35, 0.6))
    steps = (shaped("m", rate, "b0"), ip("m", "addr add 192.168.1.77/24 dev br0"),
             script("m", SENDER_SCRIPT, str(other * 1e6), "192.168.1.101"))
    return Setup(BRIDGE, steps, stream(), {"rate": f"{rate} Mb/s", "others": f"{other} Mb/s"})


def long_path_loss(rng: random.Random) -> Setup:
    return random_loss(rng, 0.1, 0.3, "forward", tcp__congestion="reno", size="1M")


CASES = (
    Case("Q01-forward", ("Q01",), lambda rng: remote_queue(rng, "forward"), also=("Q04",),
         never=("L16",), ci=True),
    Case("Q01-reverse", ("Q01",), lambda rng: remote_queue(rng, "reverse"), never=("L16",)),
    Case("Q01-bbr", ("Q01",), lambda rng: remote_queue(rng, "forward", tcp__congestion="bbr"),
         never=("L16",)),
    Case("Q01-4-streams", ("Q01",), lambda rng: remote_queue(rng, "forward", tcp__streams="4"),
         never=("L16",)),
    Case("Q03-forward", ("Q03",), lambda rng: policer(rng, "forward"), never=("Q01", "L16"),
         ci=True),
    Case("Q03-reverse", ("Q03",), lambda rng: policer(rng, "reverse"), never=("Q01", "L16")),
    Case("Q02-shallow-buffer", ("Q02",), shallow_buffer),
    Case("Q04-heavy", ("Q04",), lambda rng: random_loss(rng, 1, 2, "forward"), never=("Q01",),
         ci=True),
    Case("Q04-medium", ("Q04",), lambda rng: random_loss(rng, 0.4, 0.9, "forward"),
         never=("Q01",)),
    Case("Q04-light", ("Q04",), long_path_loss, never=("Q01",)),
    Case("Q04-reverse", ("Q04",), lambda rng: random_loss(rng, 0.5, 2, "reverse"),
         never=("Q01",)),
    Case("Q04-4-streams", ("Q04",),
         lambda rng: random_loss(rng, 0.5, 2, "forward", tcp__streams="4"), never=("Q01",)),
    Case("Q01-one-way", ("Q01",), one_way_queue, never=("L16",)),
    Case("Q08-forward", ("Q08",), lambda rng: lost_acknowledgements(rng, "forward"),
         also=("L11",), never=("Q04",)),
    Case("Q08-reverse", ("Q08",), lambda rng: lost_acknowledgements(rng, "reverse"),
         also=("L11",), never=("Q04",)),
    Case("Q05-forward", ("Q05",), lambda rng: reordered(rng, "ab"), never=("Q04",), ci=True),
    Case("Q05-reverse", ("Q05",), lambda rng: reordered(rng, "ba"), never=("Q04",)),
    Case("Q06-cross-traffic", ("Q06",), cross_traffic, also=("Q01",), ci=True),
)
