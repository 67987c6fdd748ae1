"""What the tunables of TCP do to the sockets, the threads and the packets of a run."""

from __future__ import annotations

import os
import re
import time
import unittest
from pathlib import Path

from netbench import (BRIEF, Row, agent, counter, effective, notes, only_row, pair, pair_words,
                      requested, rows, unwrapped)
from testbed import ADDRESSES6, Testbed, require_root

FORWARD = ("--workload", "bandwidth", "--direction", "forward", "--size", "128K")


def setUpModule() -> None:
    require_root()


def limit(name: str) -> int:
    """A sysctl of net.core, in bytes: of the machine, not of a namespace."""
    return int(Path("/proc/sys/net/core", name).read_text())


class OnTwoHosts(unittest.TestCase):
    """One testbed and one agent for the class."""

    bed: Testbed

    @classmethod
    def setUpClass(cls) -> None:
        cls.bed = Testbed(ipv6=True).__enter__()
        cls.addClassCleanup(cls.bed.__exit__)
        agent(cls.bed)


class Buffers(OnTwoHosts):
    def check_capped(self, end: str, name: str, sysctl: str) -> None:
        largest = limit(sysctl)
        sizes = ["64K", "256K", str(largest * 4)]
        done = pair(self.bed, *BRIEF, *FORWARD, f"--{name}", ",".join(sizes),
                    budget="4s")
        found = {requested(row, name): row for row in rows(done.document)}
        self.assertEqual(sorted(found), sorted([65536, 262144, largest * 4]))
        for asked, row in found.items():
            with self.subTest(asked):
                self.assertEqual(row["status"], "ok")
                self.assertEqual(effective(row, name, end), 2 * min(asked, largest))
                self.assertEqual("capped" in row["flags"], asked > largest)
                if asked > largest:
                    self.assertRegex(notes(row), rf"asked for {asked} B .*limited by "
                                     rf"net\.core\.{sysctl}={largest}; raise it: sysctl -w "
                                     rf"net\.core\.{sysctl}={asked}")
        self.assertIn(f"sysctl -w net.core.{sysctl}", unwrapped(done.stdout))

    def test_of_the_sender_over_the_limit_are_marked_and_the_sweep_goes_on(self) -> None:
        self.check_capped("initiator", "tcp.sndbuf", "wmem_max")

    def test_of_the_receiver_over_the_limit_are_marked_and_the_sweep_goes_on(self) -> None:
        self.check_capped("responder", "tcp.rcvbuf", "rmem_max")

    def test_of_the_receiver_are_in_force_before_the_connection_is_made(self) -> None:
        """The window scale follows the buffer only when it is set on the listener."""
        done = pair(self.bed, *BRIEF, *FORWARD, "--tcp.rcvbuf", "auto,16K", budget="4s")
        found = {requested(row, "tcp.rcvbuf"): row for row in rows(done.document)}
        small = counter(found[16384], "initiator", "tcp_info.snd_wscale")
        self.assertLess(small, counter(found["auto"], "initiator", "tcp_info.snd_wscale"))
        self.assertLessEqual(counter(found[16384], "initiator", "tcp_info.snd_wnd"), 32768)


class LongPath(unittest.TestCase):
    def test_opens_its_window_as_far_as_the_kernel_allows(self) -> None:
        """12 bandwidth-delay products of the first window: nothing of ours may keep it small."""
        with Testbed(rate="300mbit", delay="20ms", queue="4mb") as bed:
            for host in "ab":
                bed.run(host, ["sysctl", "-qw", "net.ipv4.tcp_rmem=4096 131072 16777216",
                               "net.ipv4.tcp_wmem=4096 65536 16777216"])
            agent(bed)
            row = only_row(pair(bed, *BRIEF, *FORWARD, budget="5s").document)
            self.assertGreater(row["summary"]["goodput_bps"], 200e6)
            self.assertGreater(counter(row, "responder", "sock_max.rcvbuf_bytes"), 3e6)


class Directions(OnTwoHosts):
    def test_send_from_the_end_they_name(self) -> None:
        done = pair(self.bed, *BRIEF, "--workload", "bandwidth", "--size", "128K",
                       "--direction", "forward,reverse,both", budget="4s")
        senders = {"forward": ["initiator"], "reverse": ["responder"],
                   "both": ["initiator", "responder"]}
        for direction, sending in senders.items():
            row = only_row(done.document, direction=direction)
            with self.subTest(direction):
                for end in ("initiator", "responder"):
                    sent = counter(row, end, "payload.sent_bytes")
                    self.assertEqual(sent > 1e6, end in sending, f"{end} sent {sent} B")
        both = only_row(done.document, direction="both")["summary"]
        self.assertAlmostEqual(both["goodput_bps"], both["forward_bps"] + both["reverse_bps"],
                               delta=both["goodput_bps"] * 1e-9)

    def test_connect_from_the_client_in_reverse_too(self) -> None:
        """As a NAT or a firewall in front of the client needs it."""
        done = pair(self.bed, *BRIEF, "--workload", "bandwidth", "--size", "128K",
                       "--direction", "reverse")
        row = only_row(done.document)
        self.assertEqual(counter(row, "initiator", "snmp.Tcp.PassiveOpens"), 0)
        self.assertGreaterEqual(counter(row, "responder", "snmp.Tcp.PassiveOpens"), 0)
        self.assertTrue(effective(row, "tcp.bind", "responder").endswith(":18550"))


class Streams(OnTwoHosts):
    def test_are_as_many_threads_and_connections_as_asked(self) -> None:
        done = pair(self.bed, *BRIEF, *FORWARD, "--tcp.streams", "1,4", budget="4s")
        for count in (1, 4):
            row = next(row for row in rows(done.document)
                       if requested(row, "tcp.streams") == count)
            for end in ("initiator", "responder"):
                names = row["rounds"][0]["counters"][end]
                threads = [name for name in names if re.fullmatch(r"thread\.\d+\.cpu_s", name)]
                self.assertEqual(len(threads), count, end)
                self.assertEqual(effective(row, "tcp.streams", end), count)


class CongestionControl(OnTwoHosts):
    def test_of_one_client_does_not_leak_to_the_next(self) -> None:
        default = self.bed.run("b", ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]).stdout
        other = "reno" if default.strip() != "reno" else "cubic"
        asked = pair(self.bed, *BRIEF, *FORWARD, "--tcp.congestion", other)
        next_one = pair(self.bed, *BRIEF, *FORWARD)
        for end in ("initiator", "responder"):
            self.assertEqual(effective(only_row(asked.document), "tcp.congestion", end), other)
            self.assertEqual(effective(only_row(next_one.document), "tcp.congestion", end),
                             default.strip())

    def test_that_the_kernel_does_not_know_costs_its_rows_alone(self) -> None:
        done = pair(self.bed, *BRIEF, *FORWARD, "--tcp.congestion", "reno,nonsense", code=5)
        found = {requested(row, "tcp.congestion"): row for row in rows(done.document)}
        self.assertEqual(found["reno"]["status"], "ok")
        self.assertEqual(found["nonsense"]["status"], "failed")
        self.assertIn("nonsense", found["nonsense"]["error"]["message"])


class Ipv6(OnTwoHosts):
    def test_carries_control_and_data(self) -> None:
        done = pair(self.bed, *BRIEF, *FORWARD, peer=f"[{ADDRESSES6['b']}]:18550")
        row = only_row(done.document)
        self.assertEqual(effective(row, "tcp.mss"), 1428)
        self.assertTrue(effective(row, "tcp.bind").startswith(f"[{ADDRESSES6['a']}]:"))
        self.assertEqual(done.document["hosts"]["h1"]["addresses"][0], ADDRESSES6["b"])

    def test_is_left_alone_with_family_4(self) -> None:
        done = pair(self.bed, *BRIEF, *FORWARD, "--family", "4")
        self.assertEqual(effective(only_row(done.document), "tcp.mss"), 1448)


class Modes(OnTwoHosts):
    def check(self, row: Row, mode: str, receive: str) -> None:
        with self.subTest(row["id"]):
            self.assertEqual(row["status"], "ok", row.get("error"))
            self.assertEqual(effective(row, "tcp.mode"), mode)
            self.assertEqual(effective(row, "tcp.receive", "responder"), receive)
            received = counter(row, "responder", "payload.received_bytes")
            sent = counter(row, "initiator", "payload.sent_bytes")
            self.assertGreater(received, 1e6)
            self.assertEqual(sent, received, "what was sent arrived")

    def test_of_sending_and_receiving_all_move_the_bytes(self) -> None:
        done = pair(self.bed, *BRIEF, *FORWARD, "--tcp.mode", "copy,sendfile,vmsplice,zerocopy",
                    "--tcp.receive", "copy,discard", budget="8s")
        found = rows(done.document)
        self.assertEqual(len(found), 8)
        for row in found:
            self.check(row, requested(row, "tcp.mode"), requested(row, "tcp.receive"))

    def test_zerocopy_tells_its_silent_copies(self) -> None:
        """On a veth pair the kernel copies every one of them (msg_zerocopy.rst, Notification
        Latency and Loopback)."""
        done = pair(self.bed, *BRIEF, *FORWARD, "--tcp.mode", "zerocopy")
        row = only_row(done.document)
        completions = counter(row, "initiator", "zerocopy.completions")
        self.assertGreater(completions, 10)
        self.assertEqual(counter(row, "initiator", "zerocopy.copied"), completions)
        self.assertIn(f"the kernel copied 100 % of the sends all the same ({completions:.0f} of "
                      f"{completions:.0f})", unwrapped(done.stdout))


class CpuPlacement(unittest.TestCase):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core")
    def test_holds_each_thread_on_its_core(self) -> None:
        """Read from /proc/PID/task/*/status while it runs: a data thread on each of the cores."""
        first, second = sorted(os.sched_getaffinity(0))[:2]
        with Testbed(cpus_a="all", cpus_b="all") as bed:
            serving = agent(bed)
            running = bed.start("a", pair_words(
                *BRIEF, *FORWARD, "--budget", "2s", "--tcp.streams", "2", "--tcp.cpu",
                f"{first}+{second}", "--json", str(bed.scratch / "cpu.json")))
            seen = {serving.pid: set(), running.pid: set()}
            while running.alive():
                for pid, masks in seen.items():
                    masks |= allowed_lists(pid)
                time.sleep(0.02)
            self.assertEqual(running.wait(), 0, running.output())
        for masks in seen.values():
            self.assertLessEqual({str(first), str(second)}, masks)


def allowed_lists(pid: int) -> set[str]:
    """Cpus_allowed_list of every thread of a process, of those that still run."""
    masks = set()
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            masks.add(re.search(r"Cpus_allowed_list:\s*(\S+)", status.read_text())[1])
        except (OSError, TypeError):
            continue
    return masks


if __name__ == "__main__":
    unittest.main()
