"""Two hosts for side-by-side runs: a testbed, commands on it, and what they cost."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netlab import bed, namespaces, options, plan

ADDRESS_B = "192.168.1.101"
INTERFACE = "eth0"
CONGESTION = "reno"  # the one that every namespace may select without a module or a privilege


def process_cpu_s(pid: int) -> float:
    """CPU time of all threads of a process, ended ones too, to the nanosecond: its CPU clock is
    (~pid << 3) | 2 (CPUCLOCK_SCHED of linux/posix-timers.h)."""
    return time.clock_gettime((~pid << 3) | 2)


@dataclass(frozen=True)
class Machine:
    """Seconds since the start: not idle (all CPUs), and of the kernel's softirq threads."""

    busy_s: float
    softirq_threads_s: float


class Lab:
    """A testbed under this name, one core a host, from __enter__ to __exit__."""

    def __init__(self, name: str, rate: str = "", burst_bytes: int = 0) -> None:
        self.name = name
        self.options = options.Options(
            name=name, rate=options.rate_bps(rate) if rate else 0, burst=burst_bytes,
            cpus_a=options.default_cpus("a"), cpus_b=options.default_cpus("b"))
        self._softirq_threads = [int(comm.parent.name) for comm in Path("/proc").glob("[0-9]*/comm")
                                 if comm.read_text().startswith("ksoftirqd/")]

    def __enter__(self) -> Lab:
        bed.need_root()
        bed.up(self.options)
        for host in "ab":
            self.output(host, ["sysctl", "-qw", f"net.ipv4.tcp_congestion_control={CONGESTION}"])
        return self

    def __exit__(self, *_: object) -> None:
        bed.down(self.name)

    def words(self, host: str, argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` on a host, on the host's core, as the same process."""
        state = bed.state_folder(self.name) / host
        enter = ["nsenter", f"--net={namespaces.NETNS_ROOT / plan.namespace(self.options, host)}",
                 f"--uts={state / 'uts'}", f"--mount={state / 'mnt'}", "--"]
        cpus = self.options.cpus_a if host == "a" else self.options.cpus_b
        pin = ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
        return [*enter, *pin, *argv]

    def output(self, host: str, argv: Sequence[str], timeout_s: float = 60) -> str:
        return subprocess.run(self.words(host, argv), check=True, text=True, timeout=timeout_s,
                              stdin=subprocess.DEVNULL, capture_output=True).stdout

    def processes(self, host: str) -> list[int]:
        return namespaces.processes_in([plan.namespace(self.options, host)])

    def kill_all(self) -> None:
        """Ends every process on both hosts."""
        namespaces.kill_processes([plan.namespace(self.options, host) for host in "ab"])

    def machine(self) -> Machine:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        user, nice, system, _idle, _iowait, irq, softirq = ticks[:7]
        return Machine((user + nice + system + irq + softirq) / 100,
                       sum(map(process_cpu_s, self._softirq_threads)))


def received(pid: int) -> tuple[int, int]:
    """Bytes and packets that the interface of this process's host has received, headers counted."""
    for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines():
        name, _, values = line.partition(":")
        if name.strip() == INTERFACE:
            numbers = values.split()
            return int(numbers[0]), int(numbers[1])
    raise LookupError(f"no {INTERFACE} on the host of process {pid}")


def listens(pid: int, port: int) -> bool:
    """Whether anybody listens on this TCP port of the process's host (proc_net_tcp.rst)."""
    wanted = f":{port:04X}"
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1].endswith(wanted) and fields[3] == "0A":
                return True
    return False
