"""From options to commands: pure, so that every topology can be read and tested without root.

direct:  a.eth0 ── b.eth0
middle:  a.eth0 ── m.a0 ⟨router | bridge | relay⟩ m.b0 ── b.eth0
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from .options import Options

ADDRESSES = {"a": "192.168.1.100", "b": "192.168.1.101"}
ADDRESSES6 = {"a": "fd00::100", "b": "fd00::101"}
HOST_NAMES = {"a": "nb-a", "b": "nb-b"}
ROUTER_ADDRESS, ROUTER_ADDRESS6 = "192.168.1.254", "fd00::fe"
INTERFACE = "eth0"


@dataclass(frozen=True)
class Command:
    """One command, run in the network namespace of `where` ('a', 'b', 'm'), or outside for ''."""

    where: str
    argv: tuple[str, ...]
    stdin: str = ""


def namespace(options: Options, host: str) -> str:
    return f"{options.name}-{host}"


def hosts(options: Options) -> tuple[str, ...]:
    return ("a", "b", "m") if options.has_middle else ("a", "b")


def _ip(where: str, *lines: str) -> Command:
    return Command(where, ("ip", "-batch", "-"), "\n".join(lines) + "\n")


def _run(where: str, text: str) -> Command:
    return Command(where, tuple(text.split()))


def create_links(options: Options) -> list[Command]:
    """Namespaces and the cable(s) between them, everything still down."""
    lines = [f"netns add {namespace(options, host)}" for host in hosts(options)]
    a, b, m = (namespace(options, host) for host in "abm")
    if options.has_middle:
        lines += [f"link add {INTERFACE} netns {a} type veth peer name a0 netns {m}",
                  f"link add {INTERFACE} netns {b} type veth peer name b0 netns {m}"]
    else:
        lines += [f"link add {INTERFACE} netns {a} type veth peer name {INTERFACE} netns {b}"]
    return [_ip("", *lines)]


def _ipv6_switch(where: str, interface: str, on: bool) -> Command:
    conf = f"net.ipv6.conf.{interface}"
    return _run(where, f"sysctl -qw {conf}.disable_ipv6={int(not on)} {conf}.accept_dad=0")


def configure_host(options: Options, host: str) -> list[Command]:
    """Address, MTU and offloads of one of the two hosts."""
    mtu = options.mtu_a if host == "a" else options.mtu_b
    lines = ["link set lo up", f"link set {INTERFACE} mtu {mtu} up",
             f"addr add {ADDRESSES[host]}/24 dev {INTERFACE}"]
    if options.ipv6:
        lines.append(f"addr add {ADDRESSES6[host]}/64 dev {INTERFACE} nodad")
    return [_ipv6_switch(host, INTERFACE, options.ipv6), _ip(host, *lines)]


def offloads_off(host: str, checksums: bool) -> Command:
    """One frame a packet, so that shares count frames of the wire. The relay needs finished
    checksums too: it sees the frame as the sender left it."""
    tail = " tx off rx off" if checksums else ""
    return _run(host, f"ethtool -K {INTERFACE} tso off gso off gro off{tail}")


def _middle_links(mtu: int) -> list[Command]:
    up = [f"link set {port} mtu {mtu} up" for port in ("a0", "b0")]
    return [_ip("m", "link set lo up", *up)]


def _without_ipv6() -> list[Command]:
    return [_ipv6_switch("m", port, False) for port in ("a0", "b0")]


def _bridge(options: Options) -> list[Command]:
    return [*_without_ipv6(), *_middle_links(options.wire_mtu),
            _ip("m", "link add br0 type bridge", "link set a0 master br0",
                "link set b0 master br0", f"link set br0 mtu {options.wire_mtu} up")]


ICMP_FILTER = """table inet testbed {
  chain out {
    type filter hook output priority 0;
    icmp type destination-unreachable drop
    icmpv6 type packet-too-big drop
  }
}
"""


def _router(options: Options) -> list[Command]:
    """Both hosts stay in one subnet: the router answers ARP for the far one (proxy ARP).

    A smaller middle MTU is on the routes: an interface would drop at its entrance, unseen by IP.
    """
    mtu = f" mtu lock {options.middle_mtu}" if options.middle_mtu else ""
    wire_mtu = dataclasses.replace(options, middle_mtu=0).wire_mtu
    settings = ["net.ipv4.ip_forward=1", "net.ipv4.conf.a0.proxy_arp=1",
                "net.ipv4.conf.b0.proxy_arp=1", "net.ipv4.neigh.a0.proxy_delay=0",
                "net.ipv4.neigh.b0.proxy_delay=0", "net.ipv4.conf.all.send_redirects=0",
                "net.ipv4.conf.a0.send_redirects=0", "net.ipv4.conf.b0.send_redirects=0"]
    lines = [f"addr add {ROUTER_ADDRESS}/32 dev lo"]
    lines += [f"route add {ADDRESSES[host]}/32 dev {host}0 src {ROUTER_ADDRESS}{mtu}"
              for host in "ab"]
    if options.ipv6:
        settings += ["net.ipv6.conf.all.forwarding=1", "net.ipv6.neigh.a0.proxy_delay=0",
                     "net.ipv6.neigh.b0.proxy_delay=0", "net.ipv6.conf.a0.proxy_ndp=1",
                     "net.ipv6.conf.b0.proxy_ndp=1"]
        lines.append(f"addr add {ROUTER_ADDRESS6}/128 dev lo")
        lines += [f"route add {ADDRESSES6[host]}/128 dev {host}0{mtu}" for host in "ab"]
        lines += [f"neigh add proxy {ADDRESSES6['b']} dev a0",
                  f"neigh add proxy {ADDRESSES6['a']} dev b0"]
    commands = [*([] if options.ipv6 else _without_ipv6()), *_middle_links(wire_mtu),
                Command("m", ("sysctl", "-qw", *settings)), _ip("m", *lines)]
    if not options.icmp:
        commands.append(Command("m", ("nft", "-f", "-"), ICMP_FILTER))
    return commands


def configure_middle(options: Options, emulator: str) -> list[Command]:
    """The middle host; the relay itself is started by the caller."""
    if options.third == "router":
        return _router(options)
    if emulator == "relay":
        return [*_without_ipv6(), *_middle_links(options.wire_mtu)]
    return _bridge(options)


def shaped_at(options: Options) -> str:
    """'host' or 'middle': where the token bucket is."""
    return options.rate_at or ("middle" if options.has_middle else "host")


def _egress(options: Options, where: str) -> list[tuple[str, str]]:
    """(namespace, interface) through which frames of the impaired directions leave."""
    ways = {"ab": ("a", "b0"), "ba": ("b", "a0")}
    chosen = [way for name, way in ways.items() if options.only in ("both", name)]
    return [(host, INTERFACE) if where == "host" else ("m", port) for host, port in chosen]


def token_buckets(options: Options, emulator: str) -> list[Command]:
    """tc-tbf(8) where the rate is limited; the relay limits its own rate."""
    where = shaped_at(options)
    if not options.rate or (where == "middle" and emulator == "relay"):
        return []
    parent = "parent 1:1 handle 2:" if where == "middle" and emulator == "netem" else "root"
    return [_run(host, f"tc qdisc add dev {interface} {parent} tbf rate {options.rate}bit "
                       f"burst {options.burst_bytes} limit {options.queue_bytes}")
            for host, interface in _egress(options, where)]


def netem_queues(options: Options) -> list[Command]:
    """tc-netem(8) on the middle's ports, with room for one second at the line's rate."""
    words = [f"delay {options.delay:g}us" if options.delay else "",
             f"loss {options.loss:.6%}" if options.loss else "",
             f"reorder {options.reorder:.6%}" if options.reorder else "",
             f"duplicate {options.duplicate:.6%}" if options.duplicate else "",
             f"corrupt {options.corrupt:.6%}" if options.corrupt else ""]
    text = " ".join(word for word in words if word)
    return [_run(host, f"tc qdisc add dev {interface} root handle 1: netem limit 100000 {text}")
            for host, interface in _egress(options, "middle")]


def relay_arguments(options: Options) -> list[str]:
    """Command line of testbed-relay, without the program."""
    values = {"delay-us": options.delay, "loss": options.loss, "reorder": options.reorder,
              "duplicate": options.duplicate, "corrupt": options.corrupt, "seed": options.seed}
    if options.rate and shaped_at(options) == "middle":
        values |= {"rate-bps": options.rate, "queue-bytes": options.queue_bytes}
    flags = [word for key, value in values.items() for word in (f"--{key}", repr(value))]
    return [*flags, "--only", options.only, "a0", "b0"]


def commands(options: Options, emulator: str) -> list[Command]:
    """Everything between `ip netns add` and a working network. emulator: '', netem or relay."""
    todo = create_links(options)
    for host in "ab":
        todo += configure_host(options, host)
        if not options.offload or emulator:
            todo.append(offloads_off(host, checksums=emulator == "relay"))
    if options.has_middle:
        todo += configure_middle(options, emulator)
    if emulator == "netem":
        todo += netem_queues(options)
    return todo + token_buckets(options, emulator)


def hosts_file(options: Options) -> str:
    """/etc/hosts of both: the two names in each family they have."""
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
    lines += [f"{ADDRESSES[host]} {HOST_NAMES[host]}" for host in "ab"]
    if options.ipv6:
        lines += [f"{ADDRESSES6[host]} {HOST_NAMES[host]}" for host in "ab"]
    return "\n".join(lines) + "\n"
