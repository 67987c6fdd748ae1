"""Runs of `netbench pair` that meet a fault, with what is expected of each of them.

    class Links(FaultCase):
        def test_that_fail_cost_the_point_alone(self) -> None:
            agent(self.bed)
            running = RunningPair(self.bed, "--insecure", *LONG)
            running.wait_for_round()
            self.bed.link_down("b")
            self.assert_partial(running.finish(), "peer-lost")

Every run writes its document, pair() to standard output (`--json -`), which must then hold one
valid document and nothing else, whatever happened.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import signal
import time
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path

import netbench
import validate_document
from netbench import Document
from testbed import INTERFACE, Background, Testbed, netbench_binary

ROW = ("--transport", "tcp", "--workload", "latency", "--size", "64")
SHORT = (*ROW, "--rounds", "3", "--budget", "2s")
"""One row of three rounds, in a few seconds."""
ONE_ROUND = (*ROW, "--rounds", "1", "--budget", "1s")
LONG = (*ROW, "--rounds", "200", "--budget", "60s")
"""The row of SHORT for as long as a fault needs to strike."""


@functools.cache
def _validator() -> object:
    return netbench.validator()


def parse_document(text: str) -> Document:
    """The one document that `text` is; AssertionError where it is not one, or not a valid one."""
    try:
        document = json.loads(text, object_pairs_hook=validate_document.unique_keys,
                              parse_constant=validate_document.no_constant)
    except ValueError as error:
        raise AssertionError(f"not one JSON document ({error}):\n{text[:2000]}") from error
    wrong = [f"{error.json_path}: {error.message[:200]}"
             for error in _validator().iter_errors(document)]
    wrong = wrong or list(validate_document.problems(document))
    if wrong:
        raise AssertionError("the document is not valid: " + "; ".join(wrong[:5]))
    return document


def rounds_of(document: Document) -> int:
    return sum(len(row["rounds"]) for row in document["measurements"])


def slug_of(text: str) -> str:
    """Of the last error[slug] in a text, "" where there is none."""
    found = re.findall(r"^error\[([a-z0-9-]+)\]: \S", text, re.MULTILINE)
    return found[-1] if found else ""


@dataclasses.dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def slug(self) -> str:
        return slug_of(self.stderr)

    @functools.cached_property
    def document(self) -> Document:
        return parse_document(self.stdout)


def pair(bed: Testbed, *words: str, peer: str = "nb-b", host: str = "a", json_to: str = "-",
         timeout: float = 60, env: Mapping[str, str] | None = None,
         prefix: Sequence[str] = ()) -> Outcome:
    """`netbench pair` to its end, however it ends. prefix: words before it, as in `nice -n 5`."""
    argv = [*prefix, netbench_binary(), "pair", "--peer", peer, *words, "--json", json_to]
    begin = time.monotonic()
    done = bed.run(host, argv, timeout=timeout, check=False, env=env)
    return Outcome(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


class RunningPair:
    """A `netbench pair --json FILE` in the background; FILE.partial shows how far it is."""

    def __init__(self, bed: Testbed, *words: str, peer: str = "nb-b", host: str = "a",
                 env: Mapping[str, str] | None = None) -> None:
        self.path = bed.scratch / f"result-{len(bed.backgrounds)}.json"
        self.partial = self.path.with_name(self.path.name + ".partial")
        self.process: Background = bed.start(
            host, [netbench_binary(), "pair", "--peer", peer, *words, "--quiet", "--json",
                   self.path], env=env)

    def signal(self, number: int) -> None:
        """Sends a signal, once the program has come so far that it takes signals."""
        wait_until(lambda: self._takes_signals() or not self.process.alive(), "its start")
        self.process.signal(number)

    def _takes_signals(self) -> bool:
        """True where SIGINT is blocked: a thread waits for it (proc(5): SigBlk)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        blocked = re.search("^SigBlk:\t([0-9a-f]+)$", status, re.MULTILINE)
        return blocked is not None and int(blocked[1], 16) >> (signal.SIGINT - 1) & 1 == 1

    def wait_for_round(self) -> None:
        """Until the first round is over and saved."""
        wait_until(lambda: self.partial.exists() or not self.process.alive(), "a round", 30)
        assert self.process.alive(), self.process.output()

    def finish(self, timeout: float = 20) -> Outcome:
        """Its outcome; AssertionError where it does not end in time. seconds: from this call on."""
        begin = time.monotonic()
        code = self.process.wait(timeout)
        seconds = time.monotonic() - begin
        assert not self.partial.exists(), f"{self.partial} was left behind"
        return Outcome(code, self.path.read_text(), self.process.output(), seconds)


def wait_until(happened, what: str, timeout: float = 10) -> None:
    """Polls until `happened()`; AssertionError naming `what` where it does not in time."""
    deadline = time.monotonic() + timeout
    while not happened():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.02)


def keygen(bed: Testbed, host: str, path: Path) -> None:
    bed.run(host, [netbench_binary(), "keygen", path])


def host_settings(bed: Testbed, host: str) -> str:
    """What a run may change and has to give back: MTU, addresses, routes."""
    link = json.loads(bed.ip(host, "-j", "address", "show", "dev", INTERFACE))[0]
    addresses = sorted(f"{entry['local']}/{entry['prefixlen']}" for entry in link["addr_info"])
    routes = [bed.ip(host, family, "route", "show", "table", "all") for family in ("-4", "-6")]
    return f"mtu {link['mtu']}\n{addresses}\n{''.join(routes)}"


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, all its threads (proc(5): /proc/pid/stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class FaultCase(unittest.TestCase):
    """One testbed for the class, given by FLAGS; what a test starts ends with it."""

    FLAGS: dict[str, object] = {}
    bed: Testbed
    settings: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.bed = Testbed(**cls.FLAGS)
        cls.bed.__enter__()
        cls.addClassCleanup(cls.bed.__exit__)
        cls.settings = {host: host_settings(cls.bed, host) for host in "ab"}

    def tearDown(self) -> None:
        for background in self.bed.backgrounds:
            background.stop()

    def firewall(self, host: str, rule: str, hook: str = "input") -> None:
        """A rule until the end of the test."""
        self.bed.firewall(host, rule, hook)
        self.addCleanup(self.bed.clear_firewall, host)

    def assert_failed(self, outcome: Outcome, slug: str, code: int = 4) -> None:
        """Nothing measured; the error, with a remedy, on standard error and in the document."""
        self.assertEqual(outcome.slug, slug, outcome.stderr)
        self.assertEqual(outcome.code, code, outcome.stderr)
        self.assertEqual(outcome.document["status"], "failed")
        self.assertEqual(outcome.document["error"]["code"], slug)
        self.assertGreater(len(outcome.document["error"].get("remedy", "")), 10)
        self.assertEqual(rounds_of(outcome.document), 0)

    def assert_partial(self, outcome: Outcome, slug: str, code: int = 5, rounds: int = 1) -> None:
        """The rounds before the fault are there, and the error that ended the run."""
        self.assertEqual(outcome.slug, slug, outcome.stderr)
        self.assertEqual(outcome.code, code, outcome.stderr)
        self.assertEqual(outcome.document["status"], "partial")
        self.assertEqual(outcome.document["error"]["code"], slug)
        self.assertGreaterEqual(rounds_of(outcome.document), rounds)

    def assert_ok(self, outcome: Outcome) -> None:
        self.assertEqual((outcome.code, outcome.slug), (0, ""), outcome.stderr)
        self.assertEqual(outcome.document["status"], "ok")

    def assert_restored(self, *hosts: str) -> None:
        for host in hosts or "ab":
            self.assertEqual(host_settings(self.bed, host), self.settings[host])
