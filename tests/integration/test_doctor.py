"""netbench doctor: facts and what is wrong with them, of live hosts and of recorded ones."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from netbench import Document, agent, parse_document, read_document
from testbed import ADDRESSES, REPOSITORY, Testbed, netbench_binary, require_root

TREES = REPOSITORY / "tests/unit/facts/trees"
README = REPOSITORY / "README.md"
ESCAPE = "\x1b"

FAULTS = {
    "acs": "P05", "bad-pair": "L02", "bond-member-down": "B02", "bond-no-partner": "B04",
    "bond-two-aggregators": "B03", "dark-optics": "L05", "far-node": "K03", "firewall": "C08",
    "half-duplex": "L03", "lldp": "M03", "narrow-bridge": "P02", "narrow-slot": "P02",
    "one-irq-core": "K03", "overlay": "M05", "slow-link": "L02",
}
HEALTHY = ("server", "peer", "bond", "steered", "virtual", "container", "nfs")


def setUpModule() -> None:
    require_root()


def doctor(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([netbench_binary(), "doctor", *words], text=True, capture_output=True,
                          timeout=20, check=False)


def classes(document: Document) -> list[str]:
    """Of the findings that are no mere notes, the verdict first."""
    return [one["class_id"] for one in document["findings"] if one["severity"] != "info"]


def facts(document: Document, host: str) -> dict[str, object]:
    return {fact["key"]: fact["value"] for fact in document["hosts"][host]["facts"]}


class TwoHosts(unittest.TestCase):
    def test_with_different_mtus_are_told_so_before_any_traffic(self) -> None:
        with Testbed(mtu_a=9000, mtu_b=1500) as bed:
            agent(bed)
            target = bed.scratch / "facts.json"
            began = time.monotonic()
            done = bed.run("a", [netbench_binary(), "doctor", "--peer", "nb-b", "--insecure",
                                 "--json", str(target)])
            seconds = time.monotonic() - began
            document = read_document(target)
        self.assertLess(seconds, 3)
        self.assertRegex(done.stdout, r"(?m)^MTU +9000 B .*1500 B")
        self.assertIn("M04 mtu.ends-differ", done.stdout)
        self.assertNotIn(ESCAPE, done.stdout)
        self.assertEqual(document["status"], "ok")
        self.assertEqual(document["measurements"], [])
        self.assertIn("M04", classes(document))
        for host, name, other in (("h0", "nb-a", "b"), ("h1", "nb-b", "a")):
            known = facts(document, host)
            self.assertEqual(known["host.name"], name)
            self.assertEqual(known["path.same_subnet"], True)
            self.assertEqual(known["path.prefix_length"], 24)
            self.assertEqual(known["name.peer_resolves_to"], ADDRESSES[other])
            self.assertEqual(known["name.peer_is_tested_address"], True)
            self.assertIn(known["neighbour.state"], ("reachable", "delay", "stale", "probe"))

    def test_send_nothing_but_the_control_channel(self) -> None:
        with Testbed() as bed:
            agent(bed)
            words = [netbench_binary(), "doctor", "--peer", "nb-b", "--insecure"]
            bed.run("a", words)
            before = bed.counters("a")
            bed.run("a", words)
            after = bed.counters("a")
        sent = after["tx"]["bytes"] - before["tx"]["bytes"]
        received = after["rx"]["bytes"] - before["rx"]["bytes"]
        print(f"sent {sent} B, received {received} B", flush=True)
        self.assertLess(sent, 20_000)
        self.assertLess(received, 200_000)

    def test_alike_have_nothing_wrong(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = bed.run("a", [netbench_binary(), "doctor", "--peer", "nb-b", "--insecure",
                                 "--json", "-"])
        self.assertEqual(classes(parse_document(done.stdout)), [])

    def test_of_which_one_is_shaped_are_told_so_before_any_traffic(self) -> None:
        with Testbed(rate="100mbit", rate_at="host") as bed:
            agent(bed)
            target = bed.scratch / "facts.json"
            done = bed.run("a", [netbench_binary(), "doctor", "--peer", "nb-b", "--insecure",
                                 "--json", str(target)])
            self.assertIn("L16", classes(read_document(target)), done.stdout)
        self.assertIn("shaped to 0.1 Gb/s", done.stdout)
        self.assertRegex(done.stdout, r"on nb-[ab]: tc qdisc del dev \S+ root")

    def test_of_which_one_does_not_answer_give_the_reason_and_a_document(self) -> None:
        with Testbed() as bed:
            target = bed.scratch / "facts.json"
            done = bed.run("a", [netbench_binary(), "doctor", "--peer", "nb-b", "--insecure",
                                 "--json", str(target)], check=False)
            document = read_document(target)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("error[peer-refused]: ", done.stderr)
        self.assertIn("C01", done.stdout)
        self.assertEqual(document["status"], "failed")
        self.assertEqual(document["error"]["code"], "peer-refused")
        self.assertGreater(len(document["hosts"]["h0"]["facts"]), 100)

    def test_hear_the_name_of_the_switch_between_them(self) -> None:
        frame = ("0180c200000e02000000000188cc020704020000aabb00040d0545746865726e6574312f3137"
                 "060200780a076c6561662d34610000")
        send = ("import socket, time; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); "
                f"s.bind(('eth0', 0))\nwhile True: s.send(bytes.fromhex('{frame}')); "
                "time.sleep(0.1)")
        with Testbed() as bed:
            bed.start("b", [sys.executable, "-c", send])
            done = bed.run("a", [netbench_binary(), "doctor", "--interface", "eth0", "--lldp",
                                 "10s"])
        self.assertRegex(done.stdout, r"(?m)^switch +leaf-4a, port Ethernet1/17$")


class OneHost(unittest.TestCase):
    def test_shows_itself_at_once_and_sends_nothing(self) -> None:
        with Testbed() as bed:
            before = bed.counters("a")["tx"]["packets"]
            began = time.monotonic()
            done = bed.run("a", [netbench_binary(), "doctor"])
            self.assertLess(time.monotonic() - began, 3)
            self.assertEqual(bed.counters("a")["tx"]["packets"], before)
        self.assertRegex(done.stdout, r"(?m)^ +nb-a$")
        self.assertLess(len(done.stdout.splitlines()), 45)

    def test_shows_every_fact_with_its_source_or_why_it_is_unknown(self) -> None:
        done = doctor("--all", "--peer", "self")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.splitlines() if re.match(r"  [a-z0-9]+\.", line)]
        self.assertGreater(len(lines), 200)
        for line in lines:
            self.assertRegex(line, r"^  \S+ +\S.*  \[\S.*\]$")
        self.assertTrue(any("unknown: " in line for line in lines))

    def test_keeps_its_name_to_itself_when_asked(self) -> None:
        with Testbed() as bed:
            agent(bed)
            done = bed.run("a", [netbench_binary(), "doctor", "--peer", "nb-b", "--insecure",
                                 "--redact", "--all"])
        for secret in ("nb-a", "nb-b", *ADDRESSES.values()):
            self.assertNotRegex(done.stdout, rf"\b{re.escape(secret)}\b")

    def test_spares_the_cable_that_leads_to_the_peer(self) -> None:
        with Testbed() as bed:
            done = bed.run("a", [netbench_binary(), "doctor", "--cable-test", "eth0",
                                 "--towards", "192.168.1.101"], check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("eth0 leads to 192.168.1.101: its cable is not tested", done.stderr)
        self.assertNotIn("goes down", done.stderr)

    def test_says_that_a_virtual_cable_cannot_be_tested(self) -> None:
        with Testbed() as bed:
            done = bed.run("a", [netbench_binary(), "doctor", "--cable-test", "eth0"], check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("error[no-cable-test]", done.stderr)

    def test_refuses_what_makes_no_sense(self) -> None:
        for words in (("--root", "/nowhere"), ("--peer", "self", "--root", "/"),
                      ("--towards", "gpu02"), ("--towards", "10.0.0.1", "10.0.0.2"),
                      ("--lldp", "soon"), ("--peer",), ("--json", "/nowhere/facts.json"),
                      ("--cable-test", "eth0", "--peer", "self"), ("--cable-test", ""),
                      ("--peer", ""), ("--peer", "127.0.0.1:99999"), ("--interface", "")):
            done = doctor(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "", words)
            self.assertRegex(done.stderr, r"^error\[[a-z-]+\]: ", words)

    def test_names_the_interfaces_there_are_where_the_asked_one_is_not(self) -> None:
        with Testbed() as bed:
            for name in ("nosuch", "eth0; id"):
                done = bed.run("a", [netbench_binary(), "doctor", "--interface", name],
                               check=False)
                self.assertEqual(done.returncode, 2, name)
                self.assertIn(f'error[no-such-interface]: this host has no interface "{name}"',
                              done.stderr)
                self.assertRegex(done.stderr, r"It has: .*\beth0\b")

    def test_never_writes_over_a_file(self) -> None:
        with tempfile.NamedTemporaryFile() as there:
            done = doctor("--json", there.name)
        self.assertEqual(done.returncode, 2)
        self.assertIn("output-exists", done.stderr)


class RecordedHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls._folder = tempfile.TemporaryDirectory(prefix="netbench-trees-")
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = Path(cls._folder.name)
        subprocess.run([sys.executable, "-B", TREES / "unpack.py", cls.folder], check=True)

    def recorded(self, *words: str) -> Document:
        done = doctor(*words, "--json", "-")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        document = parse_document(done.stdout)
        problem = any(one["severity"] == "problem" for one in document["findings"])
        self.assertEqual(done.returncode, 3 if problem else 0)
        return document

    def test_with_a_fault_have_it_first(self) -> None:
        for tree, wanted in FAULTS.items():
            with self.subTest(tree):
                found = classes(self.recorded("--root", str(self.folder / tree)))
                self.assertEqual(found[:1], [wanted], found)

    def test_in_good_health_have_nothing_above_a_note(self) -> None:
        for tree in HEALTHY:
            with self.subTest(tree):
                self.assertEqual(classes(self.recorded("--root", str(self.folder / tree))), [])

    def test_are_judged_in_pairs(self) -> None:
        for tree, wanted in (("small-mtu", ["M04"]), ("server", []), ("dark-optics", ["L05"])):
            with self.subTest(tree):
                document = self.recorded(
                    "--root", str(self.folder / tree), "--towards", "192.168.1.101",
                    "--root", str(self.folder / "peer"), "--towards", "192.168.1.100")
                self.assertEqual(classes(document), wanted)
                self.assertEqual(facts(document, "h1")["host.name"], "gpu02")


    def test_of_which_nothing_can_be_read_are_not_called_healthy(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            kernel = Path(root, "proc/sys/kernel")
            kernel.mkdir(parents=True)
            (kernel / "hostname").symlink_to("/dev/zero")
            os.mkfifo(kernel / "osrelease")
            done = doctor("--root", root)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("Cannot tell", done.stdout)
        self.assertNotIn("othing is wrong", done.stdout)


class Examples(unittest.TestCase):
    def test_of_the_readme_shows_what_it_says(self) -> None:
        """Between the hosts of a testbed: what the text shows of the MTU and the verdict."""
        section = README.read_text().split("## What is wrong already")[1].split("\n## ")[0]
        shown = section.split("<!-- doctor: begin -->")[1].split("<!-- doctor: end -->")[0]
        command, *lines = [line for line in shown.splitlines() if line and line != "```"]
        with Testbed(mtu_a=9000, mtu_b=1500) as bed:
            agent(bed)
            words = shlex.split(command.removeprefix("$ "))
            done = bed.run("a", [netbench_binary(), *words[1:], "--insecure"])
        fixed = [line for line in lines if re.match(r"(interface|address|MTU|Verdict|Fix) ", line)]
        self.assertEqual(len(fixed), 5)
        for line in fixed:
            self.assertIn(line, done.stdout)

    def test_of_the_help_are_understood(self) -> None:
        text = doctor("--help").stdout.split("Examples:")[1]
        found = [shlex.split(line) for line in text.splitlines() if "netbench doctor" in line]
        self.assertEqual(len(found), 6)
        for words in found:
            options = words[words.index("doctor") + 1:]
            done = doctor(*options, "--help")
            self.assertEqual(done.returncode, 0, options)


if __name__ == "__main__":
    unittest.main()
