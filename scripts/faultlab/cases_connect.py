"""Connections that are not made: the rungs of the ladder, C01 to C18."""

from __future__ import annotations

import random

from .build import (FAR_ADDRESS, PORT, datagrams, firewall, ip, round_trips, script, sysctl,
                    two_subnets)
from .case import Case, Do, Setup, Step

PAIR = round_trips(budget="2s", rounds="1")
SILENT = ("C02", "C09", "C10", "C12", "C14")  # the client hears nothing at all

# A server that never accepts, its queue of one already full.
FULL_QUEUE = f"""
import socket, time
listener = socket.create_server(("192.168.1.101", {PORT}), backlog=0)
held = []
for _ in range(3):
    held.append(socket.socket())
    held[-1].setblocking(False)
    held[-1].connect_ex(("192.168.1.101", {PORT}))
print("ready", flush=True)
time.sleep(600)
"""
# Every port of the small range is taken.
TAKEN_PORTS = """
import socket, time
held = []
for port in range(50000, 50004):
    held.append(socket.create_server(("0.0.0.0", port)))
print("ready", flush=True)
time.sleep(600)
"""


def plain(*steps: Step, **changes: object) -> Setup:
    return Setup(**{"pair": PAIR, "steps": steps} | changes)  # type: ignore[arg-type]


def refused_by(rule: str) -> Setup:
    return plain(firewall("b", f"tcp dport {PORT} {rule}"))


def no_listener(rng: random.Random) -> Setup:
    del rng
    return plain(agent=None)


def unused_address(rng: random.Random) -> Setup:
    address = f"192.168.1.{rng.randint(110, 240)}"
    return plain(peer=address, agent=None, shown={"peer": address})


def no_route(rng: random.Random) -> Setup:
    address = f"10.{rng.randint(0, 200)}.{rng.randint(0, 200)}.{rng.randint(1, 200)}"
    return plain(peer=address, agent=None, shown={"peer": address})


def reverse_path_filter(rng: random.Random) -> Setup:
    """a speaks from a second address, to which b's route goes over another interface, and b is
    strict about that. a asks for b's hardware address from its first one, so that is answered."""
    del rng
    return plain(Do("", tuple("ip -n {b} link add side0 type veth peer name side1".split())),
                 ip("b", "link set side0 up"), ip("b", "link set side1 up"),
                 sysctl("b", **{"conf.all.rp_filter": 1, "conf.eth0.rp_filter": 1}),
                 ip("b", "route add 10.9.0.0/24 dev side0"), ip("a", "addr add 10.9.0.1/32 dev lo"),
                 sysctl("a", **{"conf.all.arp_announce": 2}),
                 ip("a", "route add 192.168.1.101/32 dev eth0 src 10.9.0.1"))


def not_forwarding(rng: random.Random) -> Setup:
    """Two subnets with a router between that has forwarding off."""
    del rng
    return plain(sysctl("m", ip_forward=0), *two_subnets(), bed={"third": "router"},
                 peer=FAR_ADDRESS)


def link_down(host: str, bed: dict[str, str | bool]) -> Setup:
    return plain(ip(host, "link set eth0 down"), bed=bed)


def wrong_netmask(rng: random.Random) -> Setup:
    """b holds its address alone: it has no way back."""
    del rng
    return plain(ip("b", "addr flush dev eth0"), ip("b", "addr add 192.168.1.101/32 dev eth0"))


def wrong_netmask_here(rng: random.Random) -> Setup:
    del rng
    return plain(ip("a", "addr flush dev eth0"), ip("a", "addr add 192.168.1.100/32 dev eth0"))


def taken_ports(rng: random.Random) -> Setup:
    del rng
    return plain(sysctl("a", ip_local_port_range="50000 50003"),
                 script("a", TAKEN_PORTS))


def duplicate_address(rng: random.Random) -> Setup:
    """A third host answers for b's address, before b does."""
    del rng
    return plain(Do("m", ("ip", "addr", "add", "192.168.1.101/24", "dev", "br0")),
                 bed={"third": "bridge"})


def data_port_blocked(rng: random.Random) -> Setup:
    """The control channel works; datagrams to the same port vanish."""
    del rng
    return Setup(steps=(firewall("b", f"udp dport {PORT} drop"),),
                 pair=datagrams(rounds="1", udp__rate="100M"))


CASES = (
    Case("C01-nothing-listens", ("C01",), no_listener, also=("C03c", "C07"), ci=True),
    Case("C02-dropped", ("C02",), lambda rng: refused_by("drop"), ci=True),
    Case("C03-port-unreachable", ("C03",),
         lambda rng: refused_by("reject with icmp type port-unreachable"), ci=True),
    Case("C03b-admin-prohibited", ("C03b",),
         lambda rng: refused_by("reject with icmp type admin-prohibited"), ci=True),
    Case("C03b-host-prohibited", ("C03b",),
         lambda rng: refused_by("reject with icmp type host-prohibited")),
    Case("C03c-reset", ("C03c", "C01"), lambda rng: refused_by("reject with tcp reset"),
         also=("C01", "C03c", "C07")),
    Case("C04-unused-address", ("C04",), unused_address, ci=True),
    Case("C05-no-route", ("C05",), no_route, ci=True),
    Case("C06-unknown-name", ("C06",),
         lambda rng: plain(peer=f"gpu{rng.randint(2, 99)}.invalid", agent=None), ci=True),
    Case("C07-bound-to-loopback", ("C07", "C01"),
         lambda rng: plain(agent=("--insecure", "--bind", "127.0.0.1")), also=("C01", "C03c")),
    Case("C09-accept-queue-full", ("C09", "C02"),
         lambda rng: plain(script("b", FULL_QUEUE), agent=None), also=SILENT),
    Case("C10-reverse-path-filter", ("C10", "C02", "C14"), reverse_path_filter, also=SILENT),
    Case("C11-local-drop", ("C11",),
         lambda rng: plain(firewall("a", f"tcp dport {PORT} drop", "output")), ci=True),
    Case("C11-local-reject", ("C11",),
         lambda rng: plain(firewall("a", f"tcp dport {PORT} reject", "output"))),
    Case("C12-not-forwarding", ("C12", "C02"), not_forwarding, also=SILENT),
    Case("C13-own-link-down", ("C13",), lambda rng: link_down("a", {}), also=("C05",), ci=True),
    Case("C13-peer-link-down", ("C13",), lambda rng: link_down("b", {})),
    Case("C04-far-link-down", ("C04", "C13"), lambda rng: link_down("b", {"third": "bridge"}),
         also=("C04", "C13")),
    Case("C14-netmask-there", ("C14", "C10", "C02"), wrong_netmask, also=SILENT),
    Case("C14-netmask-here", ("C14", "C05"), wrong_netmask_here, also=("C05",)),
    Case("C16-ports-exhausted", ("C16",), taken_ports),
    Case("C17-duplicate-address", ("C17", "C01"), duplicate_address, also=("C01", "C03c", "C07")),
    Case("C18-data-port-blocked", ("C18",), data_port_blocked),
)
