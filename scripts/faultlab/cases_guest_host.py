"""What a host's own kernel does between virtual machines: VLANs, overlays, connection tracking, the
queues of softirq."""

from __future__ import annotations

import random

from .build import PORT, round_trips, script, shell
from .case import Do, Setup, Step
from .guest_words import FAR, NUMBERS, OVERLAY_FAR, SINGLE_FRAMES, VLAN_FAR, guest_case, run_of

PAIR = round_trips(budget="2s", rounds="1")
# So many connections to itself, which the table then holds.
HELD = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
held = []
for _ in range(int(sys.argv[1])):
    held.append(socket.create_connection(listener.getsockname()))
    held.append(listener.accept()[0])
    held[-1].sendall(b"x")
print("ready", flush=True)
time.sleep(600)
"""
TRACK = ("table inet lab {\n chain in { type filter hook input priority 0; "
         "ct state invalid drop; }\n}\n")


def vlan(host: str, number: int, mtu: int = 1500) -> Step:
    return shell(host, f"ip -batch - <<'IP'\nlink add link eth0 name vlan0 type vlan id {number}\n"
                       f"link set vlan0 mtu {mtu} up\n"
                       f"addr add 10.77.8.{NUMBERS[host]}/24 dev vlan0\nIP")


def other_vlan(rng: random.Random) -> Setup:
    here, there = rng.sample(range(2, 4000), 2)
    return Setup(steps=(vlan("a", here), vlan("b", there)), pair=PAIR, peer=VLAN_FAR,
                 shown={"VLAN": f"{here} and {there}"})


def trunk_without_room(rng: random.Random) -> Setup:
    """The switch counts the tag in its 1500 bytes: the last four do not fit."""
    number, most = rng.randint(2, 4000), 1500 - 4 * rng.randint(1, 10)
    steps = tuple(Do(host, ("nft", "-f", "-"),
                     "table netdev lab {\n chain in {\n  type filter hook ingress device eth0 "
                     f"priority 0;\n  meta length > {most} drop\n }}\n}}\n") for host in "ab")
    return run_of(vlan("a", number), vlan("b", number), *steps, peer=VLAN_FAR,
                  shown={"VLAN": str(number), "passes": f"{most} bytes"})


def uneven_vlans(rng: random.Random) -> Setup:
    """The VLAN's own MTU differs, though the cards agree."""
    small = rng.choice((1280, 1400, 1492))
    number = rng.randint(2, 4000)
    return run_of(vlan("a", number), vlan("b", number, small), peer=VLAN_FAR,
                  shown={"MTU": f"1500 and {small}"})


def overlay(rng: random.Random) -> Setup:
    """VXLAN adds 50 bytes; the MTU of the card below was lowered when the overlay was there."""
    number, under = rng.randint(2, 9000), rng.choice((1400, 1450, 1480))
    steps = tuple(shell(host, f"ip -batch - <<'IP'\nlink add vxlan0 type vxlan id {number} "
                              f"remote 10.77.0.{3 - NUMBERS[host]} dstport 4789 dev eth0\n"
                              f"link set vxlan0 up\nlink set eth0 mtu {under}\n"
                              f"addr add 10.77.7.{NUMBERS[host]}/24 dev vxlan0\nIP")
                  for host in "ab")
    return run_of(*steps, peer=OVERLAY_FAR, shown={"MTU": f"1450 on {under}"})


def full_table(rng: random.Random, host: str, room: int = 0) -> Setup:
    """Connections that are established are not thrown out for new ones."""
    count = rng.randint(8, 30)
    limit = ("sysctl -qw net.netfilter.nf_conntrack_max="
             f"$(($(cat /proc/sys/net/netfilter/nf_conntrack_count) + {room}))")
    return Setup(steps=(Do(host, ("nft", "-f", "-"), TRACK), script(host, HELD, str(count)),
                        shell(host, limit)), pair=PAIR, peer=FAR,
                 shown={"held": str(count), "full at": host, "room": str(room)})


def tiny_backlog(rng: random.Random) -> Setup:
    """RPS sends packets through the backlog of a CPU, which holds a few; single ones, so no GRO."""
    length = rng.randint(2, 6)
    steps = shell("b", f"sysctl -qw net.core.netdev_max_backlog={length}\n"
                       "echo 1 >/sys/class/net/eth0/queues/rx-0/rps_cpus\n" + SINGLE_FRAMES)
    return run_of(steps, budget="3s", shown={"backlog": f"{length} packets"})


def tiny_budget(rng: random.Random) -> Setup:
    budget = rng.randint(1, 4)
    return run_of(shell("b", f"sysctl -qw net.core.netdev_budget={budget}"),
                  shown={"budget": f"{budget} packets"})


SILENT = ("C02", "C08", "C09", "C10", "C12", "C14")

CASES = (
    guest_case("vlan-other-id", ("C04",), other_vlan, also=("C13",), never=("C02", "C05"),
               any_load=True),
    guest_case("vlan-trunk-without-room", ("M03",), trunk_without_room, never=("W01", "M02"),
               any_load=True),
    guest_case("vlan-mtu-differs", ("M04",), uneven_vlans, any_load=True),
    guest_case("vxlan-mtu", ("M05",), overlay, any_load=True),
    guest_case("conntrack-full-here", ("C08",), lambda rng: full_table(rng, "a"), also=SILENT,
               any_load=True),
    guest_case("conntrack-full-there", ("C08", "C02"), lambda rng: full_table(rng, "b"),
               also=SILENT, any_load=True),
    guest_case("conntrack-full-for-data", ("C08", "C18"), lambda rng: full_table(rng, "b", 1),
               also=(*SILENT, "C18"), any_load=True),
    guest_case("backlog-tiny", ("K08",), tiny_backlog, never=("Q04", "Q02", "Q03"), any_load=True),
    guest_case("budget-tiny", ("K08",), tiny_budget, note=True, never=("Q04",), any_load=True),
    guest_case("guest-plain", ("K11",), lambda rng: run_of(), also=("L11", "K04")),
)
