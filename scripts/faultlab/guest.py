"""Cases that need a kernel of their own (bonds, VLANs, netem, connection tracking): two virtual
machines of scripts/rdma-lab, booted once for all of them and put back to a known state for each."""

from __future__ import annotations

import contextlib
import os
import shlex
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from netlab.namespaces import LabError
from rdmalab.host import LabError as GuestError
from rdmalab.lab import Lab
from rdmalab.machine import Options
from rdmalab.sysroot import Sysroot

from .case import Do, Setup, Stay, Step
from .run import AGENT_SAYS, Outcome, Programs, outcome_of, pair_words

NUMBERS = {"a": 1, "b": 2}
MACHINES = Options(nics=3, rdma="none", modules=("bonding",), boot_timeout=120, bound=True)
STEPS_S, RUN_S = 40, 90

# Whatever a case may have left. eth0 has the address of its host, eth1 and eth2 have none.
_DEVICES = ("vlan0", "vxlan0", "bond0", "bond1", "ifb0")
_CARDS = ("eth0", "eth1", "eth2")
_DEFAULTS = ("net.core.netdev_max_backlog=1000", "net.core.netdev_budget=300",
             "net.core.netdev_budget_usecs=8000", "net.netfilter.nf_conntrack_max=65536")


def need_machines() -> None:
    """LabError, with the remedy, where the machines' packages are not there."""
    try:
        Sysroot().need()
    except GuestError as error:
        raise LabError(f"cases with virtual machines: {error}") from error


class Guests:
    """The two machines; they boot with the first run, and end with the block."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._lab: Lab | None = None
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> Guests:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, programs: Programs, setup: Setup) -> Outcome:
        """Outcome with a problem where the lab itself cannot do this."""
        with self._one_at_a_time:
            began = time.monotonic()
            try:
                return self._measure(programs, setup)
            except (GuestError, OSError) as error:
                return Outcome({}, 1, "", time.monotonic() - began, str(error))

    def _measure(self, programs: Programs, setup: Setup) -> Outcome:
        if self._lab is None:
            self._lab = self._stack.enter_context(Lab.up(MACHINES, Sysroot()))
        load = _Load(machine.pid for machine in self._lab.machines.values())
        began = time.monotonic()
        done = self._lab.run({"a": initiator_script(programs.netbench, setup),
                              "b": responder_script(programs.netbench, setup)}, RUN_S)
        wait = load.wait_share()
        if done["b"].code:
            return Outcome({}, 1, "", time.monotonic() - began, f"host b: {done['b'].stderr}")
        return outcome_of(done["a"].code, done["a"].stdout, done["a"].stderr, began, wait)


def initiator_script(netbench: Path, setup: Setup) -> str:
    """Writes the document to standard output. Whatever fails here, b is not kept waiting."""
    words = shlex.join([str(netbench), *pair_words(setup)])
    return "\n".join([_begin("a"), *_steps(setup, "a"), f"lab-sync ready {STEPS_S} >&2", words])


def responder_script(netbench: Path, setup: Setup) -> str:
    lines = [_begin("b"), *_steps(setup, "b")]
    if setup.agent is not None:
        agent = Stay("b", (str(netbench), "agent", *setup.agent), AGENT_SAYS)
        lines += _stay(agent, "agent")
    return "\n".join([*lines, f"lab-sync ready {STEPS_S}", f"lab-sync end {RUN_S}"])


def _begin(host: str) -> str:
    """Ends what stays, tells the other host, and undoes what an earlier case did."""
    number = NUMBERS[host]
    links = [*(f"link del {name}" for name in _DEVICES),
             *(line for card in _CARDS for line in (
                 f"link set {card} nomaster", f"addr flush dev {card}",
                 f"link set {card} mtu 1500 up")),
             f"addr add 10.77.0.{number}/24 dev eth0", "neigh flush all",
             "tcp_metrics flush all"]
    queues = [f"qdisc del dev {card} {place}" for card in _CARDS for place in ("root", "ingress")]
    return "\n".join([
        "set -e", "stays=()", "export HOME=/run/home", "mkdir -p $HOME", "cd /run",
        "finish() {", "  kill ${stays[@]} 2>/dev/null || true",
        f"  : >$LAB_DIR/sync/ready.{host}", f"  : >$LAB_DIR/sync/end.{host}", "}",
        "trap finish EXIT", "nft flush ruleset",
        _batch("ip", links), _batch("tc", queues),
        f"sysctl -qew {' '.join(_DEFAULTS)} 2>/dev/null || true",
        "echo 0 >/sys/class/net/eth0/queues/rx-0/rps_cpus", "ethtool -K eth0 gro on"])


def _batch(program: str, lines: Iterable[str]) -> str:
    """Lines of ip(8) or tc(8), those that find nothing to undo too."""
    return "\n".join([f"{program} -force -batch - <<'END' >/dev/null 2>&1 || true", *lines, "END"])


def _steps(setup: Setup, host: str) -> Iterable[str]:
    for number, step in enumerate(setup.steps):
        if step.host == host:
            yield from _step(step, f"step-{number}")


def _step(step: Step, name: str) -> list[str]:
    if isinstance(step, Stay):
        return _stay(step, name)
    if isinstance(step, Do):
        if step.stdin:
            return [f"{shlex.join(step.argv)} <<'END' >&2", step.stdin.rstrip("\n"), "END"]
        return [f"{shlex.join(step.argv)} >&2"]
    raise GuestError(f"{type(step).__name__} is not for virtual machines")


def _stay(stay: Stay, name: str) -> list[str]:
    """In the background; goes on when it has said what it shall say, or fails with its output."""
    log = f"/run/{name}.log"
    lines = [f"{shlex.join(stay.argv)} >{log} 2>&1 </dev/null &", "stays+=($!)"]
    if stay.says:
        lines += [f"until grep -q {shlex.quote(stay.says)} {log}; do",
                  f"  kill -0 ${{stays[-1]}} || {{ cat {log} >&2; exit 1; }}", "  sleep 0.1",
                  "done"]
    return lines


class _Load:
    """How long the machines' threads wait for a CPU of this machine, from now on."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = tuple(pids)
        self._began = time.monotonic()
        self._threads, self._busy = self._read()

    def _read(self) -> tuple[dict[str, tuple[int, int]], float]:
        """By thread: nanoseconds that it ran and waited (kernel: scheduler/sched-stats); seconds
        that all CPUs were busy, proc_stat(5)."""
        threads = {}
        for pid in self._pids:
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    ran, waited, _ = (task / "schedstat").read_text().split()
                    threads[task.name] = (int(ran), int(waited))
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
        idle = sum(fields[3:5])
        return threads, (sum(fields[:8]) - idle) / os.sysconf("SC_CLK_TCK")

    def wait_share(self) -> float:
        """Of the thread that waited longest. Threads that wait for one another are not disturbed:
        others than they cannot have kept them longer than they ran themselves."""
        elapsed = max(time.monotonic() - self._began, 1e-3)
        threads, busy = self._read()
        moved = [(ran - self._threads[name][0], waited - self._threads[name][1])
                 for name, (ran, waited) in threads.items() if name in self._threads]
        own = sum(ran for ran, _ in moved) / 1e9
        longest = max((waited for _, waited in moved), default=0) / 1e9
        return max(0.0, min(longest, busy - self._busy - own)) / elapsed
