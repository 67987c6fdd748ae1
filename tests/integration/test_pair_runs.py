"""Runs that are watched, interrupted, gone on with, and timed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

from netbench import agent, pair, pair_words, read_document
from testbed import Testbed, netbench_binary, require_root


def setUpModule() -> None:
    require_root()


class Streaming(unittest.TestCase):
    def test_gives_a_line_soon_after_the_first_round(self) -> None:
        with Testbed() as bed:
            agent(bed)
            began = time.monotonic()
            running = bed.start("a", pair_words(
                "--transport", "tcp", "--workload", "latency", "--size", "64:4K:x2", "--rounds",
                "3", "--budget", "6s", "--stream"))
            line = running.wait_for(r"^\{.*\}$", timeout=20)[0]
            seconds = time.monotonic() - began
            self.assertTrue(running.alive(), "lines come only at the end")
            running.stop()
        event = json.loads(line)
        self.assertEqual((event["event"], event["workload"], event["round"]),
                         ("round", "latency", 0))
        # Connecting, probing and a round of 0.4 s come first. 1.5 s are enough on an idle machine.
        print(f"first line of --stream after {seconds:.2f} s", flush=True)
        self.assertLess(seconds, 5)

    def test_ends_the_run_when_its_reader_has_gone(self) -> None:
        with Testbed() as bed:
            agent(bed)
            command = shlex.join(pair_words("--transport", "tcp", "--workload", "latency",
                                            "--size", "64:4K:x2", "--rounds", "9", "--budget",
                                            "40s", "--stream"))
            began = time.monotonic()
            done = bed.run("a", ["sh", "-c", f"{command} | head -1"])
            self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(json.loads(done.stdout)["event"], "round")

    def test_gives_each_round_and_the_end(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = bed.run("a", pair_words("--transport", "tcp", "--workload", "latency", "--size",
                                           "64,1K", "--rounds", "2", "--budget", "2s", "--stream"))
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([event["event"] for event in events], ["round"] * 4 + ["finished"])
        self.assertEqual(events[-1]["status"], "ok")


class Resuming(unittest.TestCase):
    FLAGS = ("--transport", "tcp", "--workload", "latency", "--size", "64:1K:x2", "--rounds", "3",
             "--budget", "6s")

    def interrupt(self, bed: Testbed, target: Path) -> dict[str, Any]:
        """Ctrl-C after at least two rounds; the document that is left."""
        running = bed.start("a", pair_words(*self.FLAGS, "--json", str(target)))
        partial = Path(f"{target}.partial")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if partial.exists() and len(self.measured(json.loads(partial.read_text()))) >= 2:
                break
            time.sleep(0.05)
        running.signal(signal.SIGINT)
        self.assertEqual(running.wait(), 130, running.output())
        document = read_document(target)
        self.assertEqual((document["status"], document["error"]["code"]),
                         ("partial", "interrupted"))
        return document

    @staticmethod
    def measured(document: dict[str, Any]) -> dict[tuple[str, int], str]:
        return {(row["id"], one["index"]): one["started_utc"]
                for row in document["measurements"] for one in row["rounds"]}

    def test_goes_on_after_an_interrupt_and_measures_no_point_twice(self) -> None:
        with Testbed() as bed:
            agent(bed)
            target = bed.scratch / "resumed.json"
            first = self.measured(self.interrupt(bed, target))
            self.assertGreaterEqual(len(first), 2)
            self.assertLess(len(first), 15)
            done = pair(bed, *self.FLAGS, "--resume", to=target, budget="")
        second = self.measured(done.document)
        self.assertEqual(done.document["status"], "ok")
        self.assertEqual(len(second), 15)
        self.assertEqual({key: second[key] for key in first}, first, "the first part is kept")
        counts = Counter((row["id"], one["index"]) for row in done.document["measurements"]
                         for one in row["rounds"])
        self.assertEqual(set(counts.values()), {1})

    def test_loses_nothing_when_it_cannot_go_on(self) -> None:
        """With other options, without an agent, and when there is nothing left to do."""
        with Testbed() as bed:
            serving = agent(bed)
            target = bed.scratch / "resumed.json"
            first = self.measured(self.interrupt(bed, target))
            other = pair(bed, *self.FLAGS[:5], "1K,2K", "--resume", to=target, code=2)
            self.assertEqual(other.slug, "resume-mismatch")
            self.assertEqual(self.measured(other.document), first)
            serving.stop()
            alone = pair(bed, *self.FLAGS, "--resume", to=target, budget="", code=5)
            self.assertEqual(alone.slug, "peer-refused")
            self.assertEqual(self.measured(alone.document), first)
            agent(bed)
            done = pair(bed, *self.FLAGS, "--resume", to=target, budget="")
            again = pair(bed, *self.FLAGS, "--resume", to=target, budget="", code=2)
            self.assertEqual(again.slug, "already-complete")
            self.assertEqual(self.measured(again.document), self.measured(done.document))


class Speed(unittest.TestCase):
    """Of the program itself. The bounds leave room for a loaded machine."""

    def test_help_takes_under_10_ms(self) -> None:
        """Of processor time, which other programs do not lengthen; best of 20."""
        def once() -> tuple[float, float]:
            began = time.monotonic()
            process = subprocess.Popen([netbench_binary(), "--help"], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return usage.ru_utime + usage.ru_stime, time.monotonic() - began

        spent = [once() for _ in range(20)]
        used, elapsed = (min(column) for column in zip(*spent))
        print(f"--help: {used * 1e3:.1f} ms of a processor, {elapsed * 1e3:.1f} ms elapsed",
              flush=True)
        self.assertLess(used, 0.010)

    def check_run(self, *flags: str, budget_s: int, limit_s: float) -> None:
        """The plan keeps to its budget; the wall clock of a loaded machine may exceed it a bit."""
        with Testbed(cpus_a="all") as bed:
            done = pair(bed, *flags, peer="self", insecure=False, budget="")
        print(f"pair --peer self {' '.join(flags)}: {done.seconds:.1f} s", flush=True)
        self.assertEqual(done.document["status"], "ok")
        self.assertEqual({row["transport"] for row in done.document["measurements"]},
                         {"tcp", "udp"})
        self.assertLessEqual(done.document["config"]["budget_ns"], budget_s * 1e9)
        self.assertLess(done.seconds, limit_s)

    def test_quick_run_on_one_host_takes_under_20_s(self) -> None:
        self.check_run("--quick", budget_s=16, limit_s=20 * 1.5)

    def test_default_run_on_one_host_takes_under_60_s(self) -> None:
        self.check_run(budget_s=54, limit_s=60 * 1.5)


if __name__ == "__main__":
    unittest.main()
