"""Two hosts for a test: the scripts/testbed command as a context manager.

    with Testbed(mtu=9000, rate="100mbit") as bed:
        agent = bed.start("b", [netbench_binary(), "agent", "--insecure"])
        agent.wait_for("listening")
        done = bed.run("a", [netbench_binary(), "pair", "--peer", "nb-b"], timeout=60)

Host a is nb-a, 192.168.1.100 (fd00::100); host b is nb-b, 192.168.1.101 (fd00::101); their
interface is eth0. Keyword arguments are the flags of `scripts/testbed up`: mtu_a=1500 is
--mtu-a 1500, ipv6=True is --ipv6. Leaving the block ends every process on both hosts.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "scripts/testbed"
ADDRESSES = {"a": "192.168.1.100", "b": "192.168.1.101"}
ADDRESSES6 = {"a": "fd00::100", "b": "fd00::101"}
INTERFACE = "eth0"

_numbers = itertools.count()


def require_root() -> None:
    """Skips the whole module, with the reason, where namespaces cannot be made."""
    if os.geteuid() != 0:
        reason = "integration test skipped: network namespaces need root"
        print(reason, file=sys.stderr)
        raise unittest.SkipTest(reason)


def netbench_binary() -> str:
    """The binary under test: $NETBENCH_BIN, which ctest sets."""
    binary = os.environ.get("NETBENCH_BIN", "")
    if not os.access(binary, os.X_OK):
        raise RuntimeError(f"NETBENCH_BIN='{binary}' is no program: set it, or run this by ctest")
    return binary


class Background:
    """A process on a host whose output (both streams) goes to a file."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        """Of the command itself, in this machine's numbering: kill(2) and /proc take it."""
        return self.process.pid

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_for(self, pattern: str, timeout: float = 10) -> re.Match[str]:
        """First match of a regular expression in the output; AssertionError with the output if
        none comes in time or the process ends without one."""
        deadline = time.monotonic() + timeout
        while True:
            ended = not self.alive()
            if match := re.search(pattern, self.output(), re.MULTILINE):
                return match
            if ended or time.monotonic() > deadline:
                why = f"ended with {self.process.returncode}" if ended else f"waited {timeout} s"
                raise AssertionError(f"no '{pattern}' ({why}) in:\n{self.output()}")
            time.sleep(0.01)

    def wait(self, timeout: float = 10) -> int:
        """Exit code; AssertionError with the output when it does not end in time."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"still running after {timeout} s:\n{self.output()}") from error

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self, timeout: float = 5) -> int:
        """SIGTERM, then SIGKILL; exit code as of subprocess."""
        if self.alive():
            self.signal(signal.SIGTERM)
            try:
                return self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.signal(signal.SIGKILL)
        return self.process.wait()


class Testbed:
    """Two hosts, up from __enter__ to __exit__. Flags as keyword arguments, see the module."""

    def __init__(self, **flags: Any) -> None:
        self.name = f"t{os.getpid()}-{next(_numbers)}"
        self.backgrounds: list[Background] = []
        self._flags = flags

    def __enter__(self) -> Testbed:
        _remove_stale()
        self._logs = tempfile.TemporaryDirectory(prefix="netbench-testbed-")
        try:
            _testbed("up", "--name", self.name, *_as_flags(self._flags))
        except BaseException:
            self._logs.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _testbed("down", "--name", self.name)
        for background in self.backgrounds:
            background.process.kill()  # one that had not come onto its host yet
            background.process.wait()
        self._logs.cleanup()

    @property
    def scratch(self) -> Path:
        """A folder that both hosts and the test see, removed at the end."""
        return Path(self._logs.name)

    def home(self, host: str) -> Path:
        """The home folder of a host ($HOME there), as the test sees it."""
        return Path("/run/netbench-testbed", self.name, host, "run/home")

    def _argv(self, host: str, argv: Sequence[str | Path]) -> list[str]:
        words = [str(word) for word in argv]
        return [sys.executable, str(SCRIPT), "run", "--name", self.name, host, "--", *words]

    def run(self, host: str, argv: Sequence[str | Path], *, timeout: float = 60,
            check: bool = True, env: Mapping[str, str] | None = None,
            stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a command on a host to its end. check: AssertionError, with its output, unless it
        returns 0. On a timeout it is killed: AssertionError with what it wrote so far."""
        try:
            done = subprocess.run(self._argv(host, argv), input=stdin, text=True, timeout=timeout,
                                  capture_output=True, check=False, env=_environment(env))
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{_words(argv)} on {host} took over {timeout} s:\n"
                                 f"{error.stdout!r}\n{error.stderr!r}") from error
        if check and done.returncode != 0:
            raise AssertionError(f"{_words(argv)} on {host} returned {done.returncode}:\n"
                                 f"{done.stdout}\n{done.stderr}")
        return done

    def start(self, host: str, argv: Sequence[str | Path], *,
              env: Mapping[str, str] | None = None) -> Background:
        """Starts a command on a host; it is killed at the end of the block at the latest."""
        log = self.scratch / f"{len(self.backgrounds)}-{host}-{Path(argv[0]).name}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(self._argv(host, argv), stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT,
                                       env=_environment(env))
        self.backgrounds.append(Background(process, log))
        return self.backgrounds[-1]

    def ip(self, host: str, *words: str) -> str:
        return self.run(host, ["ip", *words]).stdout

    def tc(self, host: str, *words: str) -> str:
        return self.run(host, ["tc", *words]).stdout

    def nft(self, host: str, rules: str) -> None:
        """Loads a ruleset, for example 'table inet t { chain c { … } }' ('m': the middle)."""
        self.run(host, ["nft", "-f", "-"], stdin=rules)

    def firewall(self, host: str, rule: str, hook: str = "input") -> None:
        """Adds one rule, for example 'tcp dport 18550 drop', to a host's firewall."""
        self.nft(host, f"table inet test {{\n chain {hook} {{\n"
                       f"  type filter hook {hook} priority 0\n  {rule}\n }}\n}}\n")

    def clear_firewall(self, host: str) -> None:
        self.run(host, ["nft", "flush", "ruleset"])

    def link_down(self, host: str) -> None:
        self.ip(host, "link", "set", INTERFACE, "down")

    def link_up(self, host: str) -> None:
        self.ip(host, "link", "set", INTERFACE, "up")

    def mtu(self, host: str) -> int:
        return int(self._link(host)["mtu"])

    def counters(self, host: str) -> dict[str, dict[str, int]]:
        """Of eth0, for example counters('a')['tx']['bytes'], with Ethernet headers."""
        return self._link(host)["stats64"]

    def relay_stats(self) -> dict[str, dict[str, int]]:
        """What the emulated wire did: {'ab': {'received': …, 'lost': …}, 'ba': …}."""
        return json.loads(_testbed("stats", "--name", self.name))

    def _link(self, host: str) -> dict[str, Any]:
        return json.loads(self.ip(host, "-j", "-s", "link", "show", INTERFACE))[0]


def _words(argv: Sequence[str | Path]) -> str:
    return " ".join(str(word) for word in argv)


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, **(extra or {})}


def _as_flags(flags: Mapping[str, Any]) -> list[str]:
    words = []
    for key, value in flags.items():
        if value is not False and value is not None:
            words.append("--" + key.replace("_", "-"))
            words += [] if value is True else [str(value)]
    return words


def _testbed(*words: str) -> str:
    done = subprocess.run([sys.executable, str(SCRIPT), *words], text=True, capture_output=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def _remove_stale() -> None:
    """Takes down what a killed test left behind: its process id is in the name."""
    for name in _testbed("list").split():
        match = re.fullmatch(r"t([0-9]+)-[0-9]+", name)
        if match and not Path("/proc", match[1]).exists():
            _testbed("down", "--name", name)
