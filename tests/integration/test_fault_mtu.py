"""A run that changed the MTU and did not end as it should: the MTU comes back all the same."""

from __future__ import annotations

import signal
import unittest

from faults import LONG, SHORT, FaultCase, RunningPair, pair
from netbench import agent
from testbed import INTERFACE, require_root


def setUpModule() -> None:
    require_root()


class MtuCase(FaultCase):
    def measuring(self) -> RunningPair:
        """A run that has changed the MTU of both hosts."""
        self.server = agent(self.bed, "--allow-knobs")
        running = RunningPair(self.bed, "--insecure", *LONG, "--mtu", "1400")
        running.wait_for_round()
        self.assertEqual((self.bed.mtu("a"), self.bed.mtu("b")), (1400, 1400))
        return running


class ChangedMtu(MtuCase):
    FLAGS = {"ipv6": True}

    def test_comes_back_when_the_run_is_interrupted(self) -> None:
        running = self.measuring()
        running.signal(signal.SIGINT)
        self.assert_partial(running.finish(), "interrupted", 130)
        self.server.wait_for("has left")
        self.assert_restored()

    def test_of_the_agent_comes_back_when_the_client_is_killed(self) -> None:
        self.measuring().signal(signal.SIGKILL)
        self.server.wait_for(r"\(nb-a\) (was lost|has left)", 6)
        self.assert_restored("b")
        self.assertEqual(self.bed.mtu("a"), 1400)
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))  # the next run gives it back
        self.assert_restored()

    def test_of_the_agent_comes_back_at_its_next_start(self) -> None:
        running = self.measuring()
        self.server.signal(signal.SIGKILL)
        outcome = running.finish()
        self.assert_partial(outcome, outcome.slug)
        self.assert_restored("a")
        self.assertEqual(self.bed.mtu("b"), 1400)
        again = agent(self.bed, "--allow-knobs")
        self.assertIn(f"restored MTU 1500 of {INTERFACE}", again.output())
        self.assert_restored()

    def test_of_the_agent_comes_back_when_it_is_stopped_properly(self) -> None:
        running = self.measuring()
        self.assertEqual(self.server.stop(), 0)
        outcome = running.finish()
        self.assert_partial(outcome, outcome.slug)
        self.assert_restored()


class ChangedMtuOfALostLink(MtuCase):
    def test_comes_back_on_both_hosts(self) -> None:
        running = self.measuring()
        self.bed.link_down("b")
        self.assert_partial(running.finish(), "peer-lost")
        self.server.wait_for("was lost", 6)
        self.bed.link_up("b")
        self.assert_restored()


if __name__ == "__main__":
    unittest.main()
