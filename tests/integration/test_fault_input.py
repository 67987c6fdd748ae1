"""Values that cannot be: refused before anything is touched, naming what would do instead."""

from __future__ import annotations

import unittest

from faults import SHORT, FaultCase, Outcome, pair
from netbench import agent
from testbed import netbench_binary, require_root

TCP = ("--insecure", "--transport", "tcp", "--rounds", "1", "--budget", "4s")
LITTLE_MEMORY = ("sh", "-c", 'ulimit -v 900000; exec "$@"', "sh")
FEW_DESCRIPTORS = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")


def setUpModule() -> None:
    require_root()


class InputFault(FaultCase):
    def assert_usage(self, outcome: Outcome, slug: str, *texts: str) -> None:
        self.assert_failed(outcome, slug, 2)
        for text in texts:
            self.assertIn(text, outcome.stderr)
        self.assertLess(outcome.seconds, 5)


class Size(InputFault):
    def assert_refused(self, size: str, slug: str, *texts: str) -> None:
        """Without an agent: nothing was tried."""
        outcome = pair(self.bed, *TCP, "--workload", "latency", f"--size={size}")
        self.assert_usage(outcome, slug, *texts)

    def test_that_is_zero_is_refused(self) -> None:
        self.assert_refused("0", "bad-size", "0")

    def test_that_is_negative_is_refused(self) -> None:
        self.assert_refused("-1", "bad-size", "-1")

    def test_of_two_to_the_63rd_is_refused(self) -> None:
        self.assert_refused(str(2**63), "bad-size", str(2**63))

    def test_of_an_unknown_unit_is_refused(self) -> None:
        self.assert_refused("1Q", "bad-size", "1Q")

    def test_that_is_no_number_is_refused(self) -> None:
        self.assert_refused("many", "bad-size", "many")

    def test_in_a_list_of_good_ones_is_refused(self) -> None:
        self.assert_refused("64,1K,0", "bad-size", "0")

    def test_beyond_all_workloads_is_refused(self) -> None:
        agent(self.bed)
        outcome = pair(self.bed, *TCP, "--workload", "latency", "--size", "64,1T")
        self.assert_usage(outcome, "bad-size", "1 TiB")

    def test_that_is_larger_than_memory_costs_its_row_alone(self) -> None:
        agent(self.bed)
        outcome = pair(self.bed, *TCP, "--workload", "bandwidth", "--direction", "forward",
                       "--size", "64K,1G", prefix=LITTLE_MEMORY)
        rows = {row["size_bytes"]: row for row in outcome.document["measurements"]}
        self.assertEqual(rows[2**16]["status"], "ok")
        self.assertEqual(rows[2**30]["status"], "failed")
        self.assertEqual(rows[2**30]["error"]["code"], "out-of-memory")
        self.assert_partial(outcome, "points-failed")
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))

    def test_that_is_larger_than_the_agents_memory_costs_its_row_alone(self) -> None:
        self.bed.start("b", [*LITTLE_MEMORY, netbench_binary(), "agent", "--insecure"]).wait_for(
            "agent on port")
        outcome = pair(self.bed, *TCP, "--workload", "latency", "--size", "64,1G")
        rows = {row["size_bytes"]: row for row in outcome.document["measurements"]}
        self.assertEqual(rows[64]["status"], "ok")
        self.assertEqual(rows[2**30]["status"], "failed")
        self.assertEqual(rows[2**30]["error"]["code"], "out-of-memory")
        self.assert_partial(outcome, "points-failed")
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))


class Mtu(InputFault):
    FLAGS = {"ipv6": True}

    def run_with(self, mtu: str, *words: str) -> Outcome:
        agent(self.bed, "--allow-knobs")
        return pair(self.bed, "--insecure", *SHORT, "--mtu", mtu, *words)

    def test_below_68_is_refused(self) -> None:
        outcome = self.run_with("67")
        self.assert_usage(outcome, "bad-mtu", "67", "68")
        self.assert_restored()

    def test_above_that_of_the_interface_is_refused(self) -> None:
        outcome = self.run_with("65536")
        self.assert_usage(outcome, "bad-mtu", "65536", "65535")
        self.assert_restored()

    def test_of_1000_is_refused_where_there_is_ipv6(self) -> None:
        outcome = self.run_with("1000")
        self.assert_failed(outcome, "nothing-measured")
        row, = outcome.document["measurements"]
        self.assertEqual(row["error"]["code"], "mtu-ipv6")
        self.assertIn("1280", row["error"]["message"])
        self.assert_restored()


class Streams(InputFault):
    def test_that_need_more_descriptors_than_there_are_cost_their_row_alone(self) -> None:
        agent(self.bed)
        outcome = pair(self.bed, *TCP, "--workload", "bandwidth", "--size", "64K", "--direction",
                       "forward", "--tcp.streams", "1,200",
                       prefix=FEW_DESCRIPTORS)
        self.assert_limited(outcome)
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))

    def test_that_need_more_descriptors_than_the_agent_has_cost_their_row_alone(self) -> None:
        self.bed.start("b", [*FEW_DESCRIPTORS, netbench_binary(), "agent", "--insecure"]).wait_for(
            "agent on port")
        outcome = pair(self.bed, *TCP, "--workload", "bandwidth", "--size", "64K", "--direction",
                       "forward", "--tcp.streams", "1,200")
        self.assert_limited(outcome)
        self.assert_ok(pair(self.bed, "--insecure", *SHORT))

    def assert_limited(self, outcome: Outcome) -> None:
        rows = {row["tunables"]["requested"]["tcp.streams"]: row
                for row in outcome.document["measurements"]}
        self.assertEqual(rows[1]["status"], "ok", rows[1])
        self.assertEqual(rows[200]["status"], "failed")
        self.assertEqual(rows[200]["error"]["code"], "too-many-streams")
        self.assertIn("ulimit -n", rows[200]["error"]["remedy"])
        self.assert_partial(outcome, "points-failed")


class Options(InputFault):
    def test_with_a_typing_error_suggest_the_right_one(self) -> None:
        agent(self.bed)
        outcome = pair(self.bed, *TCP, "--workload", "latncy")
        self.assert_usage(outcome, "bad-workload", 'did you mean "latency"?')

    def test_that_exclude_each_other_are_refused(self) -> None:
        outcome = pair(self.bed, *SHORT, "--csv", "-")
        self.assert_usage(outcome, "usage", "--csv")

    def test_that_do_not_exist_are_refused(self) -> None:
        self.assert_usage(pair(self.bed, *SHORT, "--tcp.sndbuff", "64K"), "usage", "--tcp.sndbuff")

    def test_of_a_transport_that_does_not_exist_are_refused(self) -> None:
        outcome = pair(self.bed, "--insecure", "--transport", "pigeon")
        self.assertEqual(outcome.code, 2)
        self.assertIn("pigeon", outcome.stderr)
        self.assertEqual(outcome.document["status"], "failed")


if __name__ == "__main__":
    unittest.main()
