"""One run of one tool: server, client, and what both cost while the traffic flowed."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from . import lab as labs
from .lab import Lab
from .tools import Tool

FLOWING_BYTES = 32 << 20  # more than any tool exchanges before its stream
SETTLE_S = 0.3
STARTED_S = 10.0


class TrialError(RuntimeError):
    """A tool did not do what the comparison needs."""


@dataclass(frozen=True)
class Window:
    """Between two looks: what flowed, what the tool's processes took on each host, and others."""

    seconds: float
    received_bytes: int
    received_packets: int
    cpu_a_s: float
    cpu_b_s: float
    softirq_threads_s: float
    foreign_cpus: float

    @property
    def cpu_s_per_gb(self) -> float:
        return (self.cpu_a_s + self.cpu_b_s) / (self.received_bytes * 1e-9)

    @property
    def bps(self) -> float:
        return self.received_bytes * 8 / self.seconds


@dataclass(frozen=True)
class Outcome:
    """A window, or the output of a tool that ran to its end, or both."""

    window: Window
    output: str = ""
    server_output: str = ""

    def facts(self) -> dict[str, float]:
        return asdict(self.window)


@dataclass(frozen=True)
class _Look:
    at_s: float
    bytes: int
    packets: int
    cpu_s: tuple[float, float]
    machine: labs.Machine


class Trial:
    """Server on b, client on a, each a fresh process; everything is ended by __exit__."""

    def __init__(self, lab: Lab, tool: Tool, port: int, scratch: Path) -> None:
        self._lab, self._tool, self._port, self._scratch = lab, tool, port, scratch
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self._lab.kill_all()
        for process in self._processes:
            process.wait()

    def stream(self, seconds: float) -> Outcome:
        """A window of this length in the middle of the tool's stream, which is then cut."""
        self._launch()
        self._await_flow()
        time.sleep(SETTLE_S)
        first = self._look()
        time.sleep(seconds)
        window = self._window(first, self._look())
        if self._client.poll() is not None:
            raise TrialError(f"{self._tool.name} ended inside the window: {self._text('a')}")
        return Outcome(window)

    def whole(self, timeout_s: float) -> Outcome:
        """The tool to its end; the window is its whole life, and only its foreign load matters."""
        before = self._lab.machine()
        started = time.monotonic()
        self._launch()
        first = self._look()
        if self._wait(self._client, timeout_s) != 0:
            raise TrialError(f"{self._tool.name} failed: {self._text('a')} {self._text('b')}")
        seconds = time.monotonic() - started
        after = self._lab.machine()
        client, server = self._usage.ru_utime + self._usage.ru_stime, 0.0
        bytes_, packets = first.bytes, first.packets
        if not self._tool.server_ends:
            bytes_, packets = labs.received(self._server.pid)
            server = labs.process_cpu_s(self._server.pid)
        else:
            self._wait(self._server, timeout_s=2)
            server = self._usage.ru_utime + self._usage.ru_stime
        softirq = after.softirq_threads_s - before.softirq_threads_s
        foreign = (after.busy_s - before.busy_s - client - server - softirq) / seconds
        return Outcome(Window(seconds, bytes_ - first.bytes, packets - first.packets, client,
                              server, softirq, foreign), self._text("a"), self._text("b"))

    def _launch(self) -> None:
        self._server = self._start("b", self._tool.server)
        deadline = time.monotonic() + STARTED_S
        while not labs.listens(self._server.pid, self._port):
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise TrialError(f"{self._tool.name}: no server: {self._text('b')}")
            time.sleep(0.01)
        self._client = self._start("a", self._tool.client)

    def _start(self, host: str, argv: tuple[str, ...]) -> subprocess.Popen[bytes]:
        words = [word.format(port=self._port, data_port=self._port + 1, peer=labs.ADDRESS_B)
                 for word in argv]
        with open(self._scratch / host, "wb") as output:
            process = subprocess.Popen(self._lab.words(host, words), stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT)
        self._processes.append(process)
        return process

    def _text(self, host: str) -> str:
        return (self._scratch / host).read_text(errors="replace")

    def _wait(self, process: subprocess.Popen[bytes], timeout_s: float) -> int:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                self._usage = usage
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode
            time.sleep(0.02)
        raise TrialError(f"{self._tool.name} took over {timeout_s} s: {self._text('a')}")

    def _await_flow(self) -> None:
        start, _ = labs.received(self._server.pid)
        deadline = time.monotonic() + STARTED_S
        while labs.received(self._server.pid)[0] - start < FLOWING_BYTES:
            if self._client.poll() is not None or time.monotonic() > deadline:
                raise TrialError(f"{self._tool.name}: nothing flows: {self._text('a')}")
            time.sleep(0.02)

    def _look(self) -> _Look:
        cpu = tuple(sum(map(labs.process_cpu_s, self._lab.processes(host))) for host in "ab")
        machine = self._lab.machine()
        bytes_, packets = labs.received(self._server.pid)
        return _Look(time.monotonic(), bytes_, packets, (cpu[0], cpu[1]), machine)

    def _window(self, first: _Look, last: _Look) -> Window:
        seconds = last.at_s - first.at_s
        cpu_a, cpu_b = (late - early for early, late in zip(first.cpu_s, last.cpu_s))
        softirq = last.machine.softirq_threads_s - first.machine.softirq_threads_s
        busy = last.machine.busy_s - first.machine.busy_s
        return Window(seconds, last.bytes - first.bytes, last.packets - first.packets, cpu_a, cpu_b,
                      softirq, max(0.0, (busy - cpu_a - cpu_b - softirq) / seconds))
