"""What a run says about its hosts: processor time, foreign load, the packets' marks and sources."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

from netbench import (BRIEF, agent, counter, effective, only_row, pair, requested, rows, unwrapped)
from testbed import ADDRESSES, Testbed, require_root

FORWARD = ("--workload", "bandwidth", "--direction", "forward", "--size", "128K")
TRAFFIC = Path(__file__).with_name("traffic.py")


def setUpModule() -> None:
    require_root()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, all threads (proc(5), /proc/pid/stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ProcessorTime(unittest.TestCase):
    def test_of_the_receiver_is_what_the_kernel_accounts_to_it(self) -> None:
        with Testbed() as bed:
            serving = agent(bed)
            before = cpu_seconds(serving.pid)
            done = pair(bed, *BRIEF, *FORWARD, "--precision", "0.0001", budget="5s")
            spent = cpu_seconds(serving.pid) - before
        row = only_row(done.document)
        told = sum(one["cpu_s"]["responder"] for one in row["rounds"])
        print(f"agent: {spent:.2f} s by /proc, {told:.2f} s in the row", flush=True)
        self.assertGreater(told, 0.02)
        # Beside the row: TLS, path probes, facts of the host; and the ticks of /proc.
        self.assertLessEqual(told, spent + 0.05)
        self.assertGreaterEqual(told, 0.9 * spent - 0.15)
        gigabytes = counter(row, "responder", "payload.received_bytes") / 1e9
        self.assertAlmostEqual(row["summary"]["cpu_s_per_gb"]["responder"], told / gigabytes,
                               delta=0.001 * told / gigabytes)
        self.assertIn("responder", row["summary"]["softirq_s_per_gb"])
        self.assertIn("responder", row["summary"]["steal_share"])


class ForeignLoad(unittest.TestCase):
    def test_on_the_interface_is_flagged_and_its_size_shown(self) -> None:
        with Testbed() as bed:
            agent(bed)
            bed.start("b", [sys.executable, TRAFFIC, "sink"]).wait_for("ready")
            flood = bed.start("a", [sys.executable, TRAFFIC, "flood", "nb-b", "20"])
            done = pair(bed, *BRIEF, *FORWARD)
            flood.stop()
        row = only_row(done.document)
        self.assertLessEqual({"foreign_load", "wire_disagreement"}, set(row["flags"]))
        self.assertGreater(row["summary"]["wire_disagreement"], 0.01)
        self.assertRegex(unwrapped(done.stdout), r"payload and interface counters disagree by \d")

    def test_on_the_processors_is_flagged(self) -> None:
        with Testbed() as bed:
            agent(bed)
            hog = bed.start("b", ["sh", "-c", "while :; do :; done"])
            done = pair(bed, *BRIEF, *FORWARD)
            hog.stop()
        self.assertIn("foreign_load", only_row(done.document)["flags"])

    def test_is_not_seen_on_an_interface_without_any(self) -> None:
        with Testbed(offload="off") as bed:
            agent(bed)
            done = pair(bed, *BRIEF, *FORWARD)
        row = only_row(done.document)
        self.assertNotIn("wire_disagreement", row["flags"])
        self.assertLess(row["summary"]["wire_disagreement"], 0.01)


class Packets(unittest.TestCase):
    def test_carry_the_code_point_that_was_asked_for(self) -> None:
        with Testbed() as bed:
            for host in "ab":
                bed.firewall(host, "ip dscp ef counter")
            agent(bed)
            done = pair(bed, *BRIEF, *FORWARD, "--tcp.dscp", "46")
            seen = {host: int(bed.run(host, ["nft", "list", "ruleset"]).stdout
                              .split("ip dscp ef counter packets ")[1].split()[0]) for host in "ab"}
        row = only_row(done.document)
        self.assertEqual([effective(row, "tcp.dscp", end) for end in ("initiator", "responder")],
                         [46, 46])
        self.assertGreater(seen["b"], 100, "data")
        self.assertGreater(seen["a"], 100, "acknowledgements")

    def test_come_from_the_source_address_that_was_asked_for(self) -> None:
        with Testbed() as bed:
            bed.ip("a", "address", "add", "192.168.1.77/24", "dev", "eth0")
            agent(bed)
            done = pair(bed, *BRIEF, *FORWARD, "--tcp.bind", "192.168.1.77,eth0", budget="3s")
        found = {requested(row, "tcp.bind"): row for row in rows(done.document)}
        self.assertTrue(effective(found["192.168.1.77"], "tcp.bind").startswith("192.168.1.77:"))
        self.assertTrue(effective(found["eth0"], "tcp.bind").startswith(f"{ADDRESSES['a']}:"))

    def test_are_paced_below_the_rate_that_was_asked_for(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = pair(bed, *BRIEF, "--workload", "bandwidth", "--direction", "forward,reverse",
                        "--size", "16K", "--tcp.pacing", "80M", budget="5s")
        for row in rows(done.document):
            with self.subTest(row["id"]):
                print(f"{row['id']}: {row['summary']['goodput_bps'] / 1e6:.1f} Mb/s", flush=True)
                self.assertLess(row["summary"]["goodput_bps"], 80e6 * 1.02)
                self.assertGreater(row["summary"]["goodput_bps"], 80e6 * 0.4)


if __name__ == "__main__":
    unittest.main()
