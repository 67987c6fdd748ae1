"""What a run says about its bytes and packets, against what the wire and the kernel counted."""

from __future__ import annotations

import unittest

from netbench import (BRIEF, Row, agent, counter, notes, only_row, pair, requested, rows,
                      unwrapped)
from testbed import Testbed, require_root

LINK_BPS = 100_000_000
HEADER_BYTES = 14 + 20 + 20 + 12  # Ethernet, IPv4, TCP, timestamps
MSS_BYTES = 1448
BURST_BYTES = 1600  # one packet: no window can catch up what an earlier one missed
WINDOW_S = 0.5  # the least measured time of a stream


def setUpModule() -> None:
    require_root()


class TokenBucket(unittest.TestCase):
    """100 Mbit/s with Ethernet headers, no offload: every packet counts one segment."""

    rows: list[Row]

    @classmethod
    def setUpClass(cls) -> None:
        with Testbed(rate="100mbit", burst=BURST_BYTES, offload="off") as bed:
            agent(bed)
            cls.report = pair(bed, "--transport", "tcp", "--workload", "bandwidth", "--rounds", "2",
                              "--size", "64K,1M", "--direction", "forward,reverse,both",
                              "--link-rate", "100M", "--link-overhead", "14", budget="16s")
        cls.rows = rows(cls.report.document)

    def test_rows_account_for_the_bytes_of_the_wire(self) -> None:
        """Payload that arrived, and the headers of its packets, are what the interface counted."""
        self.assertEqual(len(self.rows), 6)
        for row in self.rows:
            ends = {"forward": ["responder"], "reverse": ["initiator"],
                    "both": ["initiator", "responder"]}[row["direction"]]
            for end in ends:
                with self.subTest(row["id"], end=end):
                    payload = counter(row, end, "payload.received_bytes")
                    octets = counter(row, end, "if.eth0.rx_bytes")
                    packets = counter(row, end, "if.eth0.rx_packets")
                    again = counter(row, "initiator" if end == "responder" else "responder",
                                    "tcp_info.bytes_retrans")
                    on_wire = octets - HEADER_BYTES * packets
                    print(f"{row['id']}: payload {payload:.0f} B, wire {on_wire:.0f} B, "
                          f"retransmitted {again:.0f} B", flush=True)
                    self.assertGreater(payload, 5e6)
                    self.assertLessEqual(payload, on_wire, "more than the wire carried")
                    self.assertAlmostEqual(payload + again, on_wire, delta=0.001 * on_wire)

    def test_rates_are_never_above_the_analytic_ceiling(self) -> None:
        """By more than one packet, which the bucket holds, a window."""
        one_way = LINK_BPS * MSS_BYTES / (MSS_BYTES + HEADER_BYTES)
        for row in self.rows:
            both = 2 if row["direction"] == "both" else 1
            summary = row["summary"]
            self.assertAlmostEqual(summary["ceiling_bps"], one_way * both, delta=1)
            for one in row["rounds"]:
                for record in filter(None, (one.get("forward"), one.get("reverse"))):
                    with self.subTest(row["id"], round=one["index"]):
                        slack = BURST_BYTES * 8 / (record["measured_ns"] / 1e9)
                        print(f"{row['id']}: {record['goodput_bps'] / one_way * 100:.3f} % of the "
                              f"ceiling", flush=True)
                        self.assertLessEqual(record["goodput_bps"], one_way + slack)
                        self.assertGreaterEqual(record["measured_ns"], WINDOW_S * 1e9)

    def test_rates_are_the_ceiling_with_a_bucket_that_catches_up(self) -> None:
        """32 KiB bridge what the kernel's timers are late. A window may have them on top, and those
        that had passed the bucket before it, but waited for a CPU on their way in."""
        with Testbed(rate="100mbit", offload="off") as bed:
            agent(bed)
            done = pair(bed, "--transport", "tcp", "--workload", "bandwidth", "--rounds", "2",
                        "--size", "64K", "--direction", "forward,reverse", "--link-rate", "100M",
                        "--link-overhead", "14", budget="6s")
        ceiling = LINK_BPS * MSS_BYTES / (MSS_BYTES + HEADER_BYTES)
        for row in rows(done.document):
            for one in row["rounds"]:
                with self.subTest(row["id"], round=one["index"]):
                    record = one.get("forward") or one.get("reverse")
                    slack = 2 * 32768 * 8 / (record["measured_ns"] / 1e9)
                    print(f"{row['id']}: {record['goodput_bps'] / ceiling * 100:.3f} % of the "
                          f"ceiling", flush=True)
                    self.assertLessEqual(record["goodput_bps"], ceiling + slack)
                    self.assertGreater(record["goodput_bps"], 0.5 * ceiling)

    def test_the_measured_bytes_are_those_of_the_kept_windows(self) -> None:
        for row in self.rows:
            for one in row["rounds"]:
                for record in filter(None, (one.get("forward"), one.get("reverse"))):
                    series = record["series"]
                    kept = [index for index, end in enumerate(series["end_ns"])
                            if end > record["warmup_cut_ns"]]
                    self.assertEqual(sum(series["bytes"][index] for index in kept),
                                     record["measured_bytes"])
                    self.assertEqual(sum(series["duration_ns"][index] for index in kept),
                                     record["measured_ns"])


class Loss(unittest.TestCase):
    def test_of_one_percent_gives_the_retransmits_that_the_kernel_counts(self) -> None:
        with Testbed(loss="1%", delay="1ms") as bed:
            agent(bed)
            done = pair(bed, *BRIEF, "--workload", "bandwidth", "--size", "64K", "--direction",
                        "forward,reverse", budget="8s")
        for row in rows(done.document):
            sender = "initiator" if row["direction"] == "forward" else "responder"
            with self.subTest(row["id"]):
                summary = row["summary"]
                told = summary["retransmitted_segments"] + summary["spurious_retransmits"]
                kernel = counter(row, sender, "snmp.Tcp.RetransSegs")
                print(f"{row['id']}: {told:.0f} retransmits, RetransSegs {kernel:.0f}, of them "
                      f"spurious {summary['spurious_retransmits']:.0f}", flush=True)
                self.assertGreater(kernel, 20)
                self.assertAlmostEqual(told, kernel, delta=0.05 * kernel)
                self.assertGreaterEqual(summary["retransmitted_segments"], 0)
                self.assertLess(summary["spurious_retransmits"], 0.2 * told)


class Udp(unittest.TestCase):
    FLOOD = ("--transport", "udp", "--workload", "bandwidth", "--direction", "forward", "--rounds",
             "1")

    def test_lost_in_the_network_is_not_blamed_on_the_receiver(self) -> None:
        with Testbed(loss="2%", only="ab") as bed:
            agent(bed)
            done = pair(bed, *self.FLOOD, "--udp.rate", "10M")
        row = only_row(done.document)
        summary = row["summary"]
        expected = counter(row, "responder", "udp.expected")
        self.assertGreater(expected, 500)
        self.assertGreater(summary["lost_datagrams"], 0.01 * expected)
        self.assertLess(summary["lost_datagrams"], 0.04 * expected)
        # A receiver that did not get its core in time drops some; those are told apart.
        self.assertEqual(summary["socket_drops"],
                         counter(row, "responder", "snmp.Udp.RcvbufErrors"))

    def test_dropped_at_the_receivers_socket_is_not_blamed_on_the_network(self) -> None:
        """A receive buffer that holds only a few datagrams, on a wire that loses none."""
        with Testbed() as bed:
            agent(bed)
            done = pair(bed, *self.FLOOD, "--udp.rate", "auto", "--udp.rcvbuf", "4K", "--size",
                        "1448")
        row = only_row(done.document)
        summary = row["summary"]
        self.assertGreater(summary["socket_drops"], 100)
        self.assertEqual(summary["lost_datagrams"], 0)
        self.assertAlmostEqual(summary["socket_drops"],
                               counter(row, "responder", "snmp.Udp.RcvbufErrors"),
                               delta=0.05 * summary["socket_drops"])
        self.assertNotIn("wire_disagreement", row["flags"], "drops are no foreign traffic")
        self.assertRegex(unwrapped(done.stdout), "0 lost in the network, [0-9]+ dropped by the "
                         "receiver's own socket")

    def test_datagrams_fit_the_mtu_unless_a_larger_size_is_asked_for(self) -> None:
        with Testbed(ipv6=True) as bed:
            agent(bed)
            fitting = pair(bed, *self.FLOOD, "--udp.rate", "20M")
            larger = pair(bed, *self.FLOOD, "--udp.rate", "20M", "--size", "4000")
        row = only_row(fitting.document)
        self.assertLessEqual(row["size_bytes"], 1500 - 40 - 8)
        self.assertEqual(counter(row, "initiator", "udp.fragments_per_datagram"), 1)
        row = only_row(larger.document)
        self.assertEqual(counter(row, "initiator", "udp.fragments_per_datagram"), 3)
        self.assertRegex(unwrapped(larger.stdout), "fragment")

    def test_paces_at_the_rate_that_was_asked_for(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = pair(bed, *self.FLOOD, "--udp.rate", "1M,20M", budget="4s")
        for row in rows(done.document):
            rate = requested(row, "udp.rate")
            with self.subTest(rate):
                # A sender that did not get its core skips what was due, and tells for how long.
                skipped = counter(row, "initiator", "udp.pacing_lost_ns")
                share = skipped / row["rounds"][0]["duration_ns"]
                goodput = row["summary"]["goodput_bps"]
                print(f"asked for {rate} bit/s, {goodput:.0f} arrived, {share:.1%} skipped",
                      flush=True)
                self.assertLessEqual(goodput, 1.02 * rate)
                self.assertEqual("fell behind its rate" in notes(row), share >= 0.01)
                self.assertGreaterEqual(goodput, (0.97 - 1.5 * share) * rate)


if __name__ == "__main__":
    unittest.main()
