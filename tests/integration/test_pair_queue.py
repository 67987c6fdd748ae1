"""An agent with several clients, and the control connection while the data flows."""

from __future__ import annotations

import re
import unittest

from netbench import BRIEF, agent, only_row, pair, pair_words, read_document
from testbed import Testbed, require_root

LATENCY = (*BRIEF, "--workload", "latency", "--size", "64")


def setUpModule() -> None:
    require_root()


class Queue(unittest.TestCase):
    def test_makes_the_second_client_wait_at_its_place_and_harms_no_result(self) -> None:
        with Testbed() as bed:
            serving = agent(bed)
            files = [bed.scratch / f"{name}.json" for name in ("first", "second", "third")]
            flags = (*BRIEF, "--workload", "bandwidth", "--size", "64K", "--direction", "forward")
            first = bed.start("a", pair_words(*flags, "--budget", "6s", "--json", str(files[0])))
            serving.wait_for("is served")
            second = bed.start("a", pair_words(*LATENCY, "--budget", "1s", "--json", str(files[1])))
            place = second.wait_for(r"the agent serves (.*); place (\d+) in its queue")
            self.assertIn("nb-a", place[1])
            self.assertEqual(place[2], "1")
            third = bed.start("a", pair_words(*LATENCY, "--budget", "1s", "--json", str(files[2])))
            self.assertEqual(third.wait_for(r"; place (\d+) in its queue")[1], "2")
            self.assertTrue(first.alive(), "the first client still measures")
            for running in (first, second, third):
                self.assertEqual(running.wait(60), 0, running.output())
            # The third moved up when the second's turn came.
            self.assertEqual(re.findall(r"place (\d+) in", third.output()), ["2", "1"])
            documents = [read_document(file) for file in files]
        for document in documents:
            self.assertEqual(document["status"], "ok")
            self.assertEqual(only_row(document)["status"], "ok")
        self.assertLess(documents[0]["run"]["finished_utc"],
                        only_row(documents[1])["rounds"][0]["started_utc"])

    def test_is_left_alone_with_no_wait(self) -> None:
        with Testbed() as bed:
            serving = agent(bed)
            first = bed.start("a", pair_words(*BRIEF, "--workload", "bandwidth", "--size", "64K",
                                              "--budget", "6s"))
            serving.wait_for("is served")
            done = pair(bed, *LATENCY, "--no-wait", code=4)
            self.assertEqual(first.wait(60), 0, first.output())
        self.assertEqual(done.slug, "peer-busy")
        self.assertRegex(done.stderr, r"held by .*nb-a")
        self.assertEqual(done.document["error"]["code"], "peer-busy")
        self.assertLess(done.seconds, 5)


class ControlConnection(unittest.TestCase):
    def test_survives_a_filter_that_forgets_idle_connections(self) -> None:
        """A stateful firewall drops what it has no state of, and forgets after 3 s of silence; one
        bandwidth visit is longer than that."""
        with Testbed() as bed:
            agent(bed)
            bed.nft("b", """
                table inet idle {
                  set alive {
                    type ipv4_addr . inet_service; timeout 3s; flags dynamic,timeout;
                  }
                  chain input {
                    type filter hook input priority 0
                    tcp dport 18550 tcp flags syn / syn,ack update @alive { ip saddr . tcp sport }
                    tcp dport 18550 ip saddr . tcp sport @alive \
                      update @alive { ip saddr . tcp sport } accept
                    tcp dport 18550 drop
                  }
                }""")
            done = pair(bed, *BRIEF, "--workload", "bandwidth", "--size", "64K", "--direction",
                        "forward", "--precision", "0.0001", budget="9s")
        row = only_row(done.document)
        self.assertEqual(row["status"], "ok")
        self.assertGreater(row["rounds"][0]["duration_ns"], 5e9)


if __name__ == "__main__":
    unittest.main()
