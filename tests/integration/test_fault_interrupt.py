"""Ctrl-C at every phase: exit 130 at once, nothing lost, nothing left changed."""

from __future__ import annotations

import signal
import time
import unittest

from faults import (LONG, SHORT, FaultCase, Outcome, RunningPair, pair, parse_document,
                    rounds_of, wait_until)
from netbench import agent
from test_fault_connect import PORT, SILENT_SERVER
from testbed import netbench_binary, require_root

AT_ONCE_S = 3  # a second of it is the orderly end of the control connection


def setUpModule() -> None:
    require_root()


class Interrupt(FaultCase):
    def interrupt(self, running: RunningPair, number: int = signal.SIGINT) -> Outcome:
        running.signal(number)
        outcome = running.finish()
        self.assertEqual((outcome.code, outcome.slug), (130, "interrupted"), outcome.stderr)
        self.assertLess(outcome.seconds, AT_ONCE_S)
        return outcome

    def sockets(self, state: str) -> str:
        return self.bed.run("a", ["ss", "-Htn", "state", state]).stdout

    def interrupt_before_rounds(self, running: RunningPair) -> None:
        outcome = self.interrupt(running)
        self.assertEqual(outcome.document["status"], "failed")
        self.assertEqual(outcome.document["error"]["code"], "interrupted")
        self.assertEqual(rounds_of(outcome.document), 0)

    def test_while_connecting(self) -> None:
        self.firewall("b", f"tcp dport {PORT} drop")
        running = RunningPair(self.bed, "--insecure", *LONG)
        wait_until(lambda: "192.168.1.101" in self.sockets("syn-sent"), "a connection attempt")
        self.interrupt_before_rounds(running)

    def test_while_the_agent_does_not_answer(self) -> None:
        self.bed.start("b", SILENT_SERVER).wait_for("ready")
        running = RunningPair(self.bed, "--insecure", *LONG)
        wait_until(lambda: "192.168.1.101" in self.sockets("established"), "a connection")
        self.interrupt_before_rounds(running)

    def test_while_waiting_in_the_queue(self) -> None:
        agent(self.bed)
        first = RunningPair(self.bed, "--insecure", *LONG)
        first.wait_for_round()
        second = RunningPair(self.bed, "--insecure", *LONG)
        second.process.wait_for("place 1 in its queue")
        self.interrupt_before_rounds(second)
        self.assertTrue(first.process.alive())
        self.interrupt(first)

    def test_while_probing_the_path(self) -> None:
        server = agent(self.bed)
        self.firewall("b", "meta length > 600 drop")
        running = RunningPair(self.bed, "--insecure", *LONG)
        server.wait_for("is served")
        time.sleep(0.5)
        self.assertTrue(running.process.alive(), running.process.output())
        self.interrupt_before_rounds(running)

    def test_while_measuring(self) -> None:
        server = agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *LONG)
        running.wait_for_round()
        outcome = self.interrupt(running)
        self.assert_partial(outcome, "interrupted", 130)
        self.assertIn("--resume", outcome.stderr)
        server.wait_for("has left", 5)
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))

    def test_while_measuring_writes_one_document_to_standard_output(self) -> None:
        server = agent(self.bed)
        target = self.bed.scratch / "stdout.json"
        running = self.bed.start("a", ["sh", "-c", 'exec "$@" >"$0"', target, netbench_binary(),
                                       "pair", "--peer", "nb-b", "--insecure", *LONG, "--json",
                                       "-"])
        server.wait_for("is served")
        time.sleep(5)
        running.signal(signal.SIGINT)
        self.assertEqual(running.wait(AT_ONCE_S), 130)
        document = parse_document(target.read_text())
        self.assertEqual((document["status"], document["error"]["code"]),
                         ("partial", "interrupted"))
        self.assertGreaterEqual(rounds_of(document), 1)

    def test_while_measuring_each_workload(self) -> None:
        server = agent(self.bed)
        for workload in ("bandwidth", "message_rate", "loaded_latency", "connect"):
            with self.subTest(workload):
                running = RunningPair(self.bed, "--insecure", "--transport", "tcp", "--workload",
                                      workload, "--rounds", "200", "--budget", "100s")
                running.wait_for_round()
                self.assert_partial(self.interrupt(running), "interrupted", 130)
        self.assertTrue(server.alive())

    def test_while_measuring_this_host_alone(self) -> None:
        running = RunningPair(self.bed, *LONG, peer="self")
        running.wait_for_round()
        self.assert_partial(self.interrupt(running), "interrupted", 130)
        left = self.bed.run("a", ["pgrep", "-f", "netbench agent --bind 127.0.0.1"], check=False)
        self.assertEqual(left.stdout, "")

    def test_by_sigterm_and_sighup_is_the_same(self) -> None:
        agent(self.bed)
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                running = RunningPair(self.bed, "--insecure", *LONG)
                running.wait_for_round()
                self.assert_partial(self.interrupt(running, number), "interrupted", 130)

    def test_twice_ends_at_once_and_keeps_the_unfinished_document(self) -> None:
        server = agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *LONG)
        running.wait_for_round()
        server.signal(signal.SIGSTOP)
        self.addCleanup(server.signal, signal.SIGCONT)
        running.signal(signal.SIGINT)
        time.sleep(0.1)
        running.signal(signal.SIGINT)
        running.process.wait(AT_ONCE_S)
        self.assertTrue(running.partial.exists() or running.path.exists())

    def test_of_an_agent_in_the_midst_ends_it_and_the_run(self) -> None:
        server = agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *LONG)
        running.wait_for_round()
        server.signal(signal.SIGINT)
        self.assertEqual(server.wait(5), 0)
        outcome = running.finish()
        self.assert_partial(outcome, outcome.slug)
        self.assertIn(outcome.slug, ("peer-closed", "peer-lost"))


if __name__ == "__main__":
    unittest.main()
