"""An end that vanishes: what was measured stays, and the next client is served."""

from __future__ import annotations

import signal
import time
import unittest

from faults import LONG, SHORT, FaultCase, RunningPair, pair
from netbench import agent
from testbed import INTERFACE, require_root

SERVED_WITHIN_S = 5


def setUpModule() -> None:
    require_root()


class Agent(FaultCase):
    def measuring(self) -> RunningPair:
        self.server = agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *LONG)
        running.wait_for_round()
        return running

    def test_that_is_killed_costs_the_rest_of_the_run(self) -> None:
        running = self.measuring()
        self.server.signal(signal.SIGKILL)
        outcome = running.finish()
        self.assert_partial(outcome, outcome.slug)
        self.assertIn(outcome.slug, ("peer-closed", "peer-lost"))
        self.assertLess(outcome.seconds, 10)

    def test_that_is_stopped_is_lost_after_a_silence(self) -> None:
        running = self.measuring()
        self.server.signal(signal.SIGSTOP)
        self.addCleanup(self.server.signal, signal.SIGCONT)
        outcome = running.finish()
        self.assert_partial(outcome, "peer-lost")
        self.assertLess(outcome.seconds, 10)

    def test_that_resumes_serves_the_next_client(self) -> None:
        running = self.measuring()
        self.server.signal(signal.SIGSTOP)
        self.assert_partial(running.finish(), "peer-lost")
        self.server.signal(signal.SIGCONT)
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))

    def test_behind_a_link_that_goes_down_is_lost(self) -> None:
        running = self.measuring()
        self.bed.link_down("b")
        self.addCleanup(self.bed.link_up, "b")
        outcome = running.finish()
        self.assert_partial(outcome, "peer-lost")
        self.assertLess(outcome.seconds, 10)
        self.assertIn("192.168.1.101", outcome.stderr)

    def test_behind_a_link_that_comes_back_goes_on(self) -> None:
        running = self.measuring()
        self.bed.link_down("b")
        time.sleep(1.5)
        self.bed.link_up("b")
        time.sleep(3)
        self.assertTrue(running.process.alive(), running.process.output())
        running.signal(signal.SIGINT)
        self.assert_partial(running.finish(), "interrupted", 130)

    def test_killed_on_this_host_costs_the_rest_too(self) -> None:
        running = RunningPair(self.bed, *LONG, peer="self")
        running.wait_for_round()
        child = self.bed.run("a", ["pgrep", "-P", str(running.process.pid)]).stdout.split()
        self.bed.run("a", ["kill", "-9", *child])
        outcome = running.finish()
        self.assertIn(outcome.slug, ("peer-closed", "peer-lost"))
        self.assert_partial(outcome, outcome.slug)


class Client(FaultCase):
    def next_is_served(self) -> None:
        """Another client gets through the queue in time."""
        begin = time.monotonic()
        running = RunningPair(self.bed, "--insecure", *SHORT)
        served = r"\(nb-a\) is served(.|\n)*\(nb-a\) is served"
        self.server.wait_for(served, SERVED_WITHIN_S + 2)
        self.assertLess(time.monotonic() - begin, SERVED_WITHIN_S)
        self.assert_ok(running.finish(30))

    def measuring(self) -> RunningPair:
        self.server = agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *LONG)
        running.wait_for_round()
        return running

    def test_that_is_killed_makes_room_for_the_next(self) -> None:
        self.measuring().signal(signal.SIGKILL)
        self.next_is_served()

    def test_that_is_killed_makes_room_for_another_address(self) -> None:
        self.bed.ip("a", "address", "add", "192.168.1.110/24", "dev", INTERFACE)
        self.addCleanup(self.bed.ip, "a", "address", "del", "192.168.1.110/24", "dev", INTERFACE)
        self.measuring().signal(signal.SIGKILL)
        route = ("route", "change", "192.168.1.0/24", "dev", INTERFACE, "src")
        self.bed.ip("a", *route, "192.168.1.110")
        self.addCleanup(self.bed.ip, "a", *route, "192.168.1.100")
        self.next_is_served()
        self.assertIn("192.168.1.110", self.server.output())

    def test_that_is_killed_is_named_in_the_agents_log(self) -> None:
        self.measuring().signal(signal.SIGKILL)
        self.server.wait_for(r"192\.168\.1\.100:[0-9]+ \(nb-a\) (was lost|has left)", 6)

    def test_that_is_stopped_is_let_go(self) -> None:
        running = self.measuring()
        running.signal(signal.SIGSTOP)
        self.server.wait_for(r"\(nb-a\) was lost: .+", 6)
        self.next_is_served()
        running.signal(signal.SIGCONT)
        outcome = running.finish()
        self.assert_partial(outcome, outcome.slug)
        self.assertIn(outcome.slug, ("peer-closed", "peer-lost"))

    def test_behind_a_link_that_goes_down_is_let_go(self) -> None:
        self.measuring()
        self.bed.link_down("a")
        self.addCleanup(self.bed.link_up, "a")
        self.server.wait_for(r"192\.168\.1\.100:[0-9]+ \(nb-a\) was lost: .+", 6)
        self.bed.link_up("a")
        self.next_is_served()


if __name__ == "__main__":
    unittest.main()
