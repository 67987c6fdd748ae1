"""Row (e): what is reported over a token bucket, against the bytes that crossed the wire."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from . import tools
from .lab import Lab
from .tools import KIB, Programs, Tool
from .trial import Trial

RATE = "100mbit"
RATE_BPS = 100e6
HEADERS_BYTES = 66  # Ethernet 14, IPv4 20, TCP 20, timestamps 12 (RFC 791, 9293, 7323)
MSS_BYTES, FRAME_BYTES = 1448, 1514  # the bucket counts frames without their FCS
CEILING_BPS = RATE_BPS * MSS_BYTES / FRAME_BYTES
SIZES = (64 * KIB, 128 * KIB, 1024 * KIB)
# One frame and a little: a larger bucket may pass as much more in a window that catches up.
BURST_BYTES = 1600
LIMIT = 0.001


@dataclass(frozen=True)
class Accuracy:
    """One run. Wire payload: bytes of the receiver's interface without HEADERS_BYTES a packet."""

    tool: str
    size_bytes: int
    reported_bps: float
    window_s: float
    payload_bytes: float
    wire_payload_bytes: float

    @property
    def error(self) -> float:
        return self.payload_bytes / self.wire_payload_bytes - 1

    @property
    def over_ceiling_segments(self) -> float:
        """Payload beyond what the rate passes in the window, in segments. The bucket may have
        BURST_BYTES on top."""
        return (self.reported_bps - CEILING_BPS) * self.window_s / 8 / MSS_BYTES

    @property
    def met(self) -> bool:
        return abs(self.error) <= LIMIT and self.over_ceiling_segments <= BURST_BYTES / FRAME_BYTES

    def facts(self) -> dict[str, float | str | bool]:
        return asdict(self) | {"error": self.error, "met": self.met, "over_ceiling_segments":
                               self.over_ceiling_segments}


def _of_netbench(size: int, document: str) -> Accuracy:
    one = tools.only_row(document)["rounds"][0]
    counters = one["counters"]["responder"]
    wire = counters["if.eth0.rx_bytes"] - HEADERS_BYTES * counters["if.eth0.rx_packets"]
    forward = one["forward"]
    return Accuracy("netbench", size, forward["goodput_bps"], forward["measured_ns"] * 1e-9,
                    counters["payload.received_bytes"], wire)


def _iperf3(size: int, seconds: int) -> Tool:
    return Tool("iperf3", ("iperf3", "-s", "-p", "{port}"),
                ("iperf3", "-c", "{peer}", "-p", "{port}", "-t", str(seconds), "-l", str(size),
                 "-J"))


def _of_iperf3(size: int, output: str, wire_payload_bytes: float) -> Accuracy:
    received = json.loads(output)["end"]["sum_received"]
    return Accuracy("iperf3", size, received["bits_per_second"], received["seconds"],
                    received["bytes"], wire_payload_bytes)


def measure(lab: Lab, programs: Programs, rounds: int, seconds: int, scratch: Path, port: int
            ) -> list[Accuracy]:
    """lab: one with the token bucket. netbench's own rows are judged by the counters of their own
    time window; iperf3's by those of its whole run."""
    found = []
    for number in range(rounds * len(SIZES)):
        size = SIZES[number % len(SIZES)]
        tool = tools.netbench_stream(programs, "netbench", size, budget=f"{seconds}s")
        with Trial(lab, tool, port + 4 * number, scratch) as trial:
            found.append(_of_netbench(size, trial.whole(timeout_s=60).output))
    with Trial(lab, _iperf3(SIZES[1], seconds), port - 2, scratch) as trial:
        outcome = trial.whole(timeout_s=60)
        window = outcome.window
        wire = window.received_bytes - HEADERS_BYTES * window.received_packets
        found.append(_of_iperf3(SIZES[1], outcome.output, wire))
    return found
