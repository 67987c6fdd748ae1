"""What the path does to a run: MTU and its change, black holes, filters, the segment size."""

from __future__ import annotations

import json
import re
import unittest

from netbench import (BRIEF, agent, counter, effective, host_settings, notes, only_row, pair,
                      pair_words, rows)
from testbed import Testbed, require_root

STREAM = ("--workload", "bandwidth", "--direction", "forward", "--size", "64K")

IP_TCP_BYTES = 40


def setUpModule() -> None:
    require_root()


class InterfaceMtu(unittest.TestCase):
    def test_changes_on_both_ends_and_is_given_back(self) -> None:
        with Testbed(mtu=9000, ipv6=True) as bed:
            for host in "ab":  # a route that a lost address or a small MTU would take along
                bed.ip(host, "-6", "route", "add", "fd07::/64", "dev", "eth0", "mtu", "1400")
                bed.ip(host, "route", "add", "10.9.0.0/16", "dev", "eth0")
            before = {host: host_settings(bed, host) for host in "ab"}
            agent(bed, "--allow-knobs")
            target = bed.scratch / "mtu.json"
            running = bed.start("a", pair_words(
                *BRIEF, *STREAM, "--mtu", "1400,9000", "--budget", "4s",
                "--json", str(target)))
            seen = set()
            while running.alive():
                seen.add((bed.mtu("a"), bed.mtu("b")))
            self.assertEqual(running.wait(), 0, running.output())
            after = {host: host_settings(bed, host) for host in "ab"}
            document = json.loads(target.read_text())
        self.assertIn((1400, 1400), seen, "the interfaces never had the small MTU")
        self.assertIn((9000, 9000), seen)
        self.assertEqual(after, before)
        for mtu, ipv6_mss in ((1400, 1328), (9000, 8928)):
            row = only_row(document, mtu_bytes=mtu)
            self.assertEqual((row["status"], effective(row, "tcp.mss")), ("ok", ipv6_mss))
            self.assertEqual(effective(row, "tcp.mss", "responder"), ipv6_mss)
            self.assertNotIn("emulated_mtu", row["flags"])

    def test_of_a_larger_size_is_raised_where_both_ends_allow_it(self) -> None:
        with Testbed() as bed:
            before = {host: host_settings(bed, host) for host in "ab"}
            agent(bed, "--allow-knobs")
            done = pair(bed, *BRIEF, *STREAM, "--mtu", "9000")
            self.assertEqual({host: host_settings(bed, host) for host in "ab"}, before)
        self.assertEqual(effective(only_row(done.document), "tcp.mss"), 8948)

    def test_without_permission_is_emulated_downwards_and_says_so(self) -> None:
        with Testbed(mtu=9000) as bed:
            before = {host: host_settings(bed, host) for host in "ab"}
            agent(bed)
            done = pair(bed, *BRIEF, *STREAM, "--mtu", "1500,9000", budget="3s")
            self.assertEqual({host: host_settings(bed, host) for host in "ab"}, before)
        small, large = (only_row(done.document, mtu_bytes=mtu) for mtu in (1500, 9000))
        self.assertIn("emulated_mtu", small["flags"])
        self.assertRegex(notes(small), r"MTU 1500 emulated by the MSS.*--allow-knobs")
        self.assertEqual(effective(small, "tcp.mss"), 1448)
        self.assertNotIn("emulated_mtu", large["flags"])
        self.assertEqual(effective(large, "tcp.mss"), 8948)
        self.assertIn("emulated_mtu", done.stdout)

    def test_without_permission_is_not_varied_upwards_and_says_why(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = pair(bed, *BRIEF, *STREAM, "--mtu", "1500,9000", budget="3s")
        row = only_row(done.document, mtu_bytes=9000)
        self.assertEqual(row["status"], "skipped")
        self.assertRegex(row["error"]["message"], r"^not varied: .*--allow-knobs")
        self.assertEqual(only_row(done.document, mtu_bytes=1500)["status"], "ok")
        self.assertIn("not varied", done.stdout)


class BlackHole(unittest.TestCase):
    def test_ends_soon_and_names_the_largest_size_each_way(self) -> None:
        with Testbed(mtu=9000, middle_mtu=1500) as bed:
            agent(bed)
            done = pair(bed, *BRIEF, code=4)
            ignoring = pair(bed, *BRIEF, "--workload", "latency", "--size", "64",
                               "--ignore-path-mtu")
        self.assertLess(done.seconds, 10)
        self.assertEqual(done.slug, "mtu-blackhole")
        self.assertRegex(done.stderr, r"more than 1500 bytes towards nb-b and 1500 bytes back")
        path = done.document["run"]["path_mtu"]
        self.assertTrue(path["black_hole"])
        self.assertEqual((path["forward_bytes"], path["reverse_bytes"]), (1500, 1500))
        self.assertEqual(only_row(ignoring.document)["status"], "ok")

    def test_behind_a_udp_filter_is_found_too(self) -> None:
        with Testbed(mtu=9000, middle_mtu=1500) as bed:
            bed.firewall("b", "udp dport 18550 drop")
            agent(bed)
            done = pair(bed, *BRIEF, code=4)
        self.assertLess(done.seconds, 15)
        self.assertEqual(done.slug, "mtu-blackhole")
        path = done.document["run"]["path_mtu"]
        self.assertEqual((path["forward_bytes"], path["reverse_bytes"]), (1500, 1500))

    def test_is_none_where_the_router_says_too_big(self) -> None:
        with Testbed(mtu=9000, middle_mtu=1500, icmp="allow") as bed:
            agent(bed)
            done = pair(bed, *BRIEF, *STREAM)
        path = done.document["run"]["path_mtu"]
        self.assertFalse(path["black_hole"])
        self.assertEqual((path["forward_bytes"], path["reverse_bytes"]), (1500, 1500))
        self.assertEqual(effective(only_row(done.document), "tcp.mss"), 1448)


class Filters(unittest.TestCase):
    def test_of_udp_make_the_probe_fall_back_to_tcp_and_say_so(self) -> None:
        with Testbed() as bed:
            bed.firewall("b", "udp dport 18550 drop")
            agent(bed)
            done = pair(bed, *BRIEF, "--workload", "latency", "--size", "64")
        path = done.document["run"]["path_mtu"]
        self.assertEqual((path["forward_bytes"], path["reverse_bytes"]), (1500, 1500))
        self.assertIn("tcp", path["method"])
        self.assertIn("UDP", path["note"])
        self.assertRegex(done.stdout, re.escape(path["method"]))

    def test_of_udp_cost_the_rows_of_udp_alone_and_little_time(self) -> None:
        with Testbed() as bed:
            bed.firewall("b", "udp dport 18550 drop")
            agent(bed)
            done = pair(bed, "--transport", "tcp,udp", "--workload", "latency", "--size", "64,1K",
                        "--rounds", "3", budget="3s", code=5)
        self.assertLess(done.seconds, 25, "waited for UDP at each of 6 visits")
        for row in rows(done.document, transport="tcp"):
            self.assertEqual((row["status"], row["summary"]["n_rounds"]), ("ok", 3))
        for row in rows(done.document, transport="udp"):
            self.assertEqual((row["status"], row["error"]["code"]), ("failed", "udp-no-answer"))

    def test_that_open_one_tcp_port_let_every_tcp_workload_pass(self) -> None:
        rules = "policy drop; {} ct state established accept"
        with Testbed() as bed:
            bed.firewall("b", rules.format("tcp dport 18550 accept;"))
            bed.firewall("a", rules.format(""))
            agent(bed)
            done = pair(bed, *BRIEF, "--direction", "forward,reverse,both", budget="8s")
        self.assertEqual({row["workload"] for row in done.document["measurements"]},
                         {"latency", "bandwidth", "message_rate", "loaded_latency", "connect"})
        self.assertEqual({row["direction"] for row in rows(done.document, workload="bandwidth")},
                         {"forward", "reverse", "both"})
        self.assertEqual({row["status"] for row in done.document["measurements"]}, {"ok"})


class SegmentSize(unittest.TestCase):
    def test_over_the_mtu_is_capped_with_a_warning(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = pair(bed, *BRIEF, *STREAM, "--tcp.mss", "9000")
        row = only_row(done.document)
        self.assertEqual(row["tunables"]["requested"]["tcp.mss"], 9000)
        self.assertEqual(effective(row, "tcp.mss"), 1448)
        self.assertIn("capped", row["flags"])
        self.assertRegex(notes(row), "asked for 9000 B.*raise the MTU")
        self.assertRegex(done.stdout, "(?s)asked for 9000 B")

    def test_is_kept_to_on_the_wire(self) -> None:
        """Without segmentation offload each packet that the interface counts is a segment."""
        with Testbed(offload="off") as bed:
            agent(bed)
            done = pair(bed, *BRIEF, "--workload", "bandwidth", "--direction",
                           "forward,reverse", "--size", "64K", "--tcp.mss", "500", budget="4s")
        for row in rows(done.document):
            with self.subTest(row["id"]):
                receiver = "responder" if row["direction"] == "forward" else "initiator"
                payload = counter(row, receiver, "payload.received_bytes")
                packets = counter(row, receiver, "if.eth0.rx_packets")
                octets = counter(row, receiver, "if.eth0.rx_bytes")
                self.assertGreater(payload, 1e6)
                self.assertLessEqual(payload / packets, 500)
                self.assertLessEqual(octets / packets, 14 + IP_TCP_BYTES + 500)
                self.assertLessEqual(effective(row, "tcp.mss"), 500)
                self.assertGreater(payload / packets, 450, "the segments are needlessly small")


if __name__ == "__main__":
    unittest.main()
