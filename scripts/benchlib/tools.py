"""The tools: how each is started for the same work. {peer}, {port}, {data_port} are filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .lab import CONGESTION

FOREVER_S = "20"  # of tools whose stream is cut after the window
KIB = 1024


@dataclass(frozen=True)
class Tool:
    """One way to run a program. `value` reads its own number from its output."""

    name: str
    server: tuple[str, ...]
    client: tuple[str, ...]
    value: Callable[[str], float] = lambda _: 0.0
    server_ends: bool = False


@dataclass(frozen=True)
class Programs:
    """Where the build's programs are."""

    build: Path

    @property
    def netbench(self) -> str:
        return str(self.build / "bin/netbench")

    @property
    def stream_floor(self) -> str:
        return str(self.build / "bin/peers/stream_floor")

    @property
    def pingpong_floor(self) -> str:
        return str(self.build / "bin/peers/pingpong_floor")

    @property
    def micro(self) -> str:
        return str(self.build / "bin/netbench_micro")


def only_row(document: str) -> dict:
    rows = json.loads(document)["measurements"]
    if len(rows) != 1 or rows[0]["status"] != "ok":
        raise ValueError(f"{len(rows)} rows: {[(row['id'], row['status']) for row in rows]}")
    return rows[0]


def agent(programs: Programs) -> tuple[str, ...]:
    return (programs.netbench, "agent", "--insecure", "--port", "{port}")


def pair(programs: Programs, *flags: str, budget: str = f"{FOREVER_S}s") -> tuple[str, ...]:
    return (programs.netbench, "pair", "--peer", "{peer}:{port}", "--insecure", "--transport",
            "tcp", "--tcp.congestion", CONGESTION, "--rounds", "1", "--budget", budget, *flags,
            "--json", "-")


def netbench_stream(programs: Programs, name: str, size: int, *flags: str,
                    budget: str = f"{FOREVER_S}s") -> Tool:
    return Tool(name, agent(programs),
                pair(programs, "--workload", "bandwidth", "--direction", "forward", "--size",
                     str(size), *flags, budget=budget))


def _netbench_calls_per_gb(output: str) -> float:
    """The agent's output comes after the document's end."""
    document, _ = json.JSONDecoder().raw_decode(output)
    counters = document["measurements"][0]["rounds"][0]["counters"]
    calls = counters["initiator"]["calls.send"] + counters["responder"]["calls.recv"]
    return calls / (counters["responder"]["payload.received_bytes"] * 1e-9)


def netbench_calls(programs: Programs, name: str, size: int) -> Tool:
    stream = netbench_stream(programs, name, size, budget="1s")
    return Tool(name, stream.server, stream.client, _netbench_calls_per_gb)


def _floor_calls_per_gb(output: str) -> float:
    found = re.findall(r"calls_per_gb=([0-9.]+)", output)
    if len(found) != 2:
        raise ValueError(f"calls of {len(found)} ends in: {output}")
    return sum(map(float, found))


# The receiver's buffer and low-water mark; None for the message size.
FLOOR_VARIANTS: dict[str, tuple[int | None, int | None]] = {
    "C plain": (None, 0),
    "C lowat": (None, None),
    "C large+lowat": (2048 * KIB, 1024 * KIB),
}


def floor_stream(programs: Programs, variant: str, size: int,
                 ending: tuple[str, ...] = ("--seconds", FOREVER_S)) -> Tool:
    chunk, lowat = FLOOR_VARIANTS[variant]
    return Tool(variant,
                (programs.stream_floor, "recv", "{peer}", "{port}", "--size", str(chunk or size),
                 "--lowat", str(size if lowat is None else lowat)),
                (programs.stream_floor, "send", "{peer}", "{port}", "--size", str(size),
                 "--congestion", CONGESTION, *ending), _floor_calls_per_gb, server_ends=True)


def iperf3_stream(name: str, size: int, *flags: str) -> Tool:
    return Tool(name, ("iperf3", "-s", "-p", "{port}"),
                ("iperf3", "-c", "{peer}", "-p", "{port}", "-t", FOREVER_S, "-l", str(size), "-C",
                 CONGESTION, *flags))


def nuttcp_stream(size: int, *flags: str) -> Tool:
    return Tool("nuttcp", ("nuttcp", "-S", "--nofork", "-P{port}"),
                ("nuttcp", "-P{port}", "-p{data_port}", f"-l{size // KIB}k", f"-T{FOREVER_S}",
                 *flags, "{peer}"))


def qperf_stream(size: int) -> Tool:
    return Tool("qperf", ("qperf", "-lp", "{port}"),
                ("qperf", "-lp", "{port}", "-t", FOREVER_S, "-m", str(size), "{peer}", "tcp_bw"))


def sockperf_stream() -> Tool:
    """Its messages end at 64 KiB."""
    return Tool("sockperf (64 KiB)",
                ("sockperf", "server", "--tcp", "-i", "{peer}", "-p", "{port}"),
                ("sockperf", "throughput", "--tcp", "-i", "{peer}", "-p", "{port}", "-m", "65000",
                 "-t", FOREVER_S))


def _rtt_p50_ns(document: str) -> float:
    return only_row(document)["summary"]["rtt_ns"]["p50"]


def _number(pattern: str, scale: float = 1.0) -> Callable[[str], float]:
    def read(output: str) -> float:
        if not (match := re.search(pattern, output)):
            raise ValueError(f"no '{pattern}' in: {output[-400:]}")
        return float(match[1]) * scale
    return read


def netbench_spin(programs: Programs, name: str) -> Tool:
    return Tool(name, agent(programs),
                pair(programs, "--workload", "latency", "--size", "64", "--tcp.wait", "spin",
                     budget="1s"), _rtt_p50_ns)


def floor_spin(programs: Programs) -> Tool:
    return Tool("C spin", (programs.pingpong_floor, "serve", "{peer}", "{port}", "--spin"),
                (programs.pingpong_floor, "ping", "{peer}", "{port}", "--spin", "--count", "60000"),
                _number(r"p50_ns=([0-9]+)"), server_ends=True)


def sockperf_spin() -> Tool:
    return Tool("sockperf --nonblocked",
                ("sockperf", "server", "--tcp", "--nonblocked", "-i", "{peer}", "-p", "{port}"),
                ("sockperf", "ping-pong", "--tcp", "--nonblocked", "--full-rtt", "-i", "{peer}",
                 "-p", "{port}", "-m", "64", "-t", "1"),
                _number(r"percentile 50\.000 = +([0-9.]+)", 1000))
