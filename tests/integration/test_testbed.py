"""The testbed itself: two real hosts while it is up, nothing left when it is down."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import testbed
from test_relay import MBIT, exchange, role
from testbed import INTERFACE, SCRIPT, Testbed, require_root

sys.path.insert(0, str(SCRIPT.parent))
from netlab import bed as netlab_bed, options, plan  # noqa: E402


def setUpModule() -> None:
    require_root()


def ping(bed: Testbed, size: int, count: int = 2) -> dict[str, list[float]]:
    return json.loads(bed.run("a", role("ping", "nb-b", size, count)).stdout)


def script(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *words], text=True, capture_output=True,
                          check=False)


class Hosts(unittest.TestCase):
    def test_have_own_names_networks_homes_and_resolve_each_other(self) -> None:
        with Testbed(ipv6=True) as bed:
            self.assertEqual(bed.run("a", ["uname", "-n"]).stdout, "nb-a\n")
            self.assertEqual(bed.run("b", ["uname", "-n"]).stdout, "nb-b\n")
            self.assertEqual(bed.run("a", ["ls", "/sys/class/net"]).stdout.split(), ["eth0", "lo"])
            resolved = bed.run("a", ["getent", "ahosts", "nb-b"]).stdout
            self.assertIn(testbed.ADDRESSES["b"], resolved)
            self.assertIn(testbed.ADDRESSES6["b"], resolved)
            bed.run("a", ["sh", "-c", "echo here > ~/note; echo here > /run/note"])
            self.assertEqual((bed.home("a") / "note").read_text(), "here\n")
            bed.run("b", ["sh", "-c", "test ! -e ~/note -a ! -e /run/note"])

    def test_have_one_core_each_where_there_are_two(self) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        with Testbed() as bed:
            seen = {bed.run(host, ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"]).stdout
                    for host in "ab"}
        self.assertEqual(len(seen), 2)

    def test_take_their_own_mtu(self) -> None:
        with Testbed(mtu=9000, mtu_b=1500) as bed:
            self.assertEqual((bed.mtu("a"), bed.mtu("b")), (9000, 1500))

    def test_lose_sight_of_each_other_when_a_link_goes_down(self) -> None:
        with Testbed() as bed:
            bed.start("b", role("echo")).wait_for("ready")
            self.assertEqual(len(ping(bed, 64)["round_trips_ms"]), 2)
            bed.link_down("b")
            self.assertEqual(ping(bed, 64)["round_trips_ms"], [])
            bed.link_up("b")
            self.assertGreater(len(ping(bed, 64, 5)["round_trips_ms"]), 0)

    def test_have_firewalls(self) -> None:
        with Testbed() as bed:
            bed.start("b", role("echo")).wait_for("ready")
            bed.firewall("b", "udp dport 7000 drop")
            self.assertEqual(ping(bed, 64)["round_trips_ms"], [])
            bed.clear_firewall("b")
            self.assertEqual(len(ping(bed, 64)["round_trips_ms"]), 2)

    def test_count_what_passes_their_interface(self) -> None:
        with Testbed() as bed:
            before = bed.counters("a")["tx"]["bytes"]
            exchange(bed, "collect", "number", "nb-b", 1000, 100)
            sent = bed.counters("a")["tx"]["bytes"] - before
        self.assertAlmostEqual(sent, 100 * (1000 + 8 + 20 + 14), delta=2000)


class Cable(unittest.TestCase):
    def test_is_limited_by_a_token_bucket(self) -> None:
        with Testbed(rate="100mbit") as bed:
            rate = exchange(bed, "sink", "flood", "nb-b", 2)["bits_per_second"]
        self.assertLess(rate, 100 * MBIT * 1448 / 1514 * 1.02)
        self.assertGreater(rate, 100 * MBIT * 0.8)

    def test_has_a_black_hole_behind_a_silent_router(self) -> None:
        with Testbed(mtu=9000, middle_mtu=1500) as bed:
            bed.start("b", role("echo")).wait_for("ready")
            self.assertEqual(len(ping(bed, 1472)["round_trips_ms"]), 2)
            self.assertEqual(ping(bed, 1473)["round_trips_ms"], [])
            self.assertNotIn(errno.EMSGSIZE, ping(bed, 1473)["errors"])

    def test_tells_its_mtu_when_the_router_may_speak(self) -> None:
        with Testbed(mtu=9000, middle_mtu=1500, icmp="allow") as bed:
            bed.start("b", role("echo")).wait_for("ready")
            self.assertIn(errno.EMSGSIZE, ping(bed, 8000)["errors"])

    def test_has_a_black_hole_in_a_bridge(self) -> None:
        with Testbed(mtu=9000, third="bridge", middle_mtu=1500, offload="off") as bed:
            bed.start("b", role("echo")).wait_for("ready")
            self.assertEqual(len(ping(bed, 1472)["round_trips_ms"]), 2)
            self.assertEqual(ping(bed, 4000)["round_trips_ms"], [])


class Cleaning(unittest.TestCase):
    def assert_gone(self, bed: Testbed) -> None:
        self.assertNotIn(bed.name, subprocess.check_output(["ip", "netns"], text=True))
        self.assertNotIn(bed.name, Path("/proc/self/mountinfo").read_text())
        self.assertFalse(Path("/run/netbench-testbed", bed.name).exists())

    def test_leaves_no_namespace_mount_or_process(self) -> None:
        with Testbed(delay="1ms", emulator="relay") as bed:
            deaf = bed.start("b", ["sh", "-c", "trap '' TERM; echo up; sleep 300 & sleep 300"])
            deaf.wait_for("up")
            relay_pid = int(Path("/run/netbench-testbed", bed.name, "relay.pid").read_text())
        self.assert_gone(bed)
        self.assertEqual(deaf.process.returncode, -signal.SIGKILL)
        self.assertFalse(Path("/proc", str(relay_pid), "exe").exists())

    def test_happens_when_the_test_fails(self) -> None:
        with self.assertRaises(ZeroDivisionError), Testbed() as bed:
            bed.start("a", ["sleep", "300"])
            raise ZeroDivisionError
        self.assert_gone(bed)

    def test_leaves_out_no_process_that_is_on_its_way(self) -> None:
        """Started, but not yet in the namespaces that are emptied."""
        for number in range(20):
            with Testbed() as bed:
                late = bed.start("a", ["sleep", "300"])
                time.sleep(0.01 * number)
                self.assertEqual(script("down", "--name", bed.name).returncode, 0)
                self.assertNotEqual(late.wait(), 0)

    def test_can_be_repeated(self) -> None:
        self.assertEqual(script("down", "--name", "never-up").returncode, 0)

    def test_precedes_a_second_up(self) -> None:
        with Testbed() as bed:
            sleeper = bed.start("a", ["sh", "-c", "echo here; exec sleep 300"])
            sleeper.wait_for("here")
            self.assertEqual(script("up", "--name", bed.name, "--mtu", "4000").returncode, 0)
            self.assertEqual(sleeper.wait(), -signal.SIGKILL)
            self.assertEqual(bed.mtu("a"), 4000)

    def test_spares_another_testbed(self) -> None:
        with Testbed() as outer:
            with Testbed(mtu=9000) as inner:
                self.assertEqual(inner.mtu("a"), 9000)
            self.assertEqual(outer.mtu("a"), 1500)


class Background(unittest.TestCase):
    def test_is_the_command_itself_to_signals(self) -> None:
        with Testbed() as bed:
            sleeper = bed.start("a", ["sh", "-c", "echo $$; exec sleep 300"])
            self.assertEqual(int(sleeper.wait_for("^[0-9]+$")[0]), sleeper.pid)
            sleeper.signal(signal.SIGKILL)
            self.assertEqual(sleeper.wait(), -signal.SIGKILL)

    def test_shows_its_output_when_the_expected_line_does_not_come(self) -> None:
        with Testbed() as bed, self.assertRaisesRegex(AssertionError, "something else"):
            bed.start("a", ["echo", "something else"]).wait_for("ready")


class Commandline(unittest.TestCase):
    def test_says_what_needs_root(self) -> None:
        with mock.patch("os.geteuid", return_value=1000):
            with self.assertRaisesRegex(RuntimeError, "needs root: it makes network.*sudo"):
                netlab_bed.need_root()

    def test_refuses_what_makes_no_network(self) -> None:
        wrong = {("--reorder", "2%"): "--delay", ("--rate", "100"): "mbit", ("--loss", "5"): "1%",
                 ("--rate-at", "middle"): "--third bridge"}
        for flags, remedy in wrong.items():
            with self.subTest(flags=flags):
                done = script("up", *flags)
                self.assertEqual(done.returncode, 2)
                self.assertIn(remedy, done.stderr)

    def test_names_the_testbeds_that_are_up(self) -> None:
        done = script("run", "--name", "never-up", "a", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no testbed 'never-up'", done.stderr)


class Plan(unittest.TestCase):
    def test_uses_netem_on_both_ports_of_a_bridge_where_the_kernel_has_it(self) -> None:
        bad = options.Options(delay=5000, loss=0.01, rate=100 * MBIT, third="bridge")
        lines = [" ".join(command.argv) for command in plan.commands(bad, "netem")]
        for port in ("a0", "b0"):
            self.assertIn(f"tc qdisc add dev {port} root handle 1: netem limit 100000 "
                          "delay 5000us loss 1.000000%", lines)
            self.assertIn(f"tc qdisc add dev {port} parent 1:1 handle 2: tbf rate 100000000bit "
                          "burst 32768 limit 625000", lines)

    def test_impairs_one_direction_at_the_port_where_it_leaves(self) -> None:
        bad = options.Options(loss=0.01, only="ba")
        ports = [command.argv[4] for command in plan.netem_queues(bad)]
        self.assertEqual(ports, ["a0"])

    def test_shapes_at_the_hosts_on_a_direct_cable(self) -> None:
        where = [(command.where, command.argv[4])
                 for command in plan.token_buckets(options.Options(rate=MBIT), "")]
        self.assertEqual(where, [("a", INTERFACE), ("b", INTERFACE)])


if __name__ == "__main__":
    unittest.main()
