"""CPU of the hosts and the kernel's queues to the application."""

from __future__ import annotations

import random

from .build import datagrams, hogs, log_uniform, mbit, stream
from .case import Case, Quota, Setup

def busy_core(rng: random.Random, host: str, direction: str) -> Setup:
    count = rng.randint(3, 5)
    return Setup({}, hogs(host, count), stream(direction), {"busy loops": f"{count} on {host}"})


def quota(rng: random.Random, host: str, direction: str) -> Setup:
    share = round(log_uniform(rng, 0.08, 0.25), 2)
    return Setup({}, (Quota(host, share),), stream(direction),
                 {"quota": f"{share * 100:.0f} % of a core on {host}"})


def datagram_buffer(rng: random.Random, direction: str) -> Setup:
    rate = mbit(rng, 300, 800)
    return Setup({}, (), datagrams(direction, udp__rcvbuf="4K", udp__rate=f"{rate}M"),
                 {"rate": f"{rate} Mb/s", "rcvbuf": "4 KiB"})


CASES = (
    Case("K04-receiver", ("K04",), lambda rng: busy_core(rng, "b", "forward"), any_load=True,
         never=("W01", "Q04"), ci=True),
    Case("K04-sender", ("K04",), lambda rng: busy_core(rng, "a", "forward"), any_load=True,
         never=("W07", "Q04")),
    Case("K04-reverse", ("K04",), lambda rng: busy_core(rng, "a", "reverse"), any_load=True,
         never=("W01", "Q04")),
    Case("K05-receiver", ("K05",), lambda rng: quota(rng, "b", "forward"), any_load=True,
         also=("K04",), never=("W01",), ci=True),
    Case("K05-sender", ("K05",), lambda rng: quota(rng, "a", "forward"), any_load=True,
         also=("K04",), never=("W07",)),
    Case("K14-forward", ("K14",), lambda rng: datagram_buffer(rng, "forward"), ci=True),
    Case("K14-reverse", ("K14",), lambda rng: datagram_buffer(rng, "reverse")),
)
