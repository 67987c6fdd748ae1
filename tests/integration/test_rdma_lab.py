"""scripts/rdma-lab itself: what it boots, runs, brings back and leaves behind."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

from machines import lab, set_up_machines
from testbed import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))
from rdmalab import image  # noqa: E402


class Image(unittest.TestCase):
    def test_loads_modules_after_those_they_need_and_each_once(self) -> None:
        text = "k/a-b.ko: k/c.ko.xz k/d.ko\nk/c.ko.xz: k/d.ko\nk/d.ko:\nk/e.ko: k/d.ko\n"
        self.assertEqual(image.load_order(("a_b", "e"), text),
                         ["k/d.ko", "k/c.ko.xz", "k/a-b.ko", "k/e.ko"])

    def test_archives_end_in_their_trailer_on_a_border_of_four(self) -> None:
        packed = image.archive({"bin": None, "bin/x": b"12345"})
        self.assertEqual(len(packed) % 4, 0)
        self.assertEqual(packed.count(b"070701"), 3)
        self.assertIn(b"TRAILER!!!\0", packed[-16:])
        self.assertEqual(int(packed[packed.index(b"bin/x") - 110 + 54:][:8], 16), 5)


class CommandLine(unittest.TestCase):
    def test_refuses_what_it_cannot_do_with_the_code_of_usage(self) -> None:
        for words in ((), ("run",), ("run", "--", "a", "b", "c"), ("run", "--nics", "9", "--", "a"),
                      ("up", "--rdma", "verbs"), ("up", "--modules", "a b")):
            done = lab(*words)
            self.assertEqual(done.returncode, 2, f"{words}: {done.stderr}")
            self.assertTrue(done.stderr, words)

    def test_says_that_there_is_no_lab(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = lab("exec", "--dir", folder, "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("scripts/rdma-lab up", done.stderr)


def words_of(pid: str) -> bytes:
    """The command line of a process; nothing once it has ended."""
    path = Path("/proc", pid, "cmdline")
    return path.read_bytes() if path.exists() else b""


class TwoMachines(unittest.TestCase):
    """One lab for all of these."""

    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        set_up_machines()
        done = lab("up", "--nics", 2, "--modules", "bonding,8021q")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.folder = Path(done.stdout.strip())

    @classmethod
    def tearDownClass(cls) -> None:
        pids = [(cls.folder / host / "pid").read_text() for host in "ab"]
        done = lab("down", "--dir", cls.folder)
        left = [pid for pid in pids if words_of(pid)]
        if done.returncode != 0 or left or cls.folder.exists():
            raise AssertionError(f"down left {left} {cls.folder}: {done.stderr}")

    def run_on(self, a: str, b: str = "", *flags: object, code: int = 0) -> str:
        done = lab("exec", "--dir", self.folder, *flags, "--", a, b)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_carry_rdma_devices_on_every_card(self) -> None:
        told = self.run_on("ibv_devices", "ibv_devices; echo $LAB_DEV")
        self.assertEqual((told.count("rxe0"), told.count("rxe1")), (3, 2), told)

    def test_reach_each_other_on_every_card_and_wait_for_each_other(self) -> None:
        self.run_on("lab-sync go; ping -qc1 -W5 $LAB_PEER_IP; ping -qc1 -W5 fd77:1::2",
                    "sleep 0.5; lab-sync go; ping -qc1 -W5 10.77.1.1")

    def test_have_the_modules_that_were_asked_for(self) -> None:
        told = self.run_on("ls -d /sys/module/bonding /sys/module/8021q; modprobe sch_netem")
        self.assertIn("/sys/module/8021q", told)

    def test_give_the_first_exit_code_that_is_not_zero_and_both_outputs(self) -> None:
        told = self.run_on("echo on a; exit 0", "echo on b; echo bad >&2; exit 7", code=7)
        self.assertEqual(told, "=== a: exit 0\non a\n=== b: exit 7\non b\n! bad\n")

    def test_end_a_command_at_its_time_limit_with_124(self) -> None:
        told = self.run_on("echo begun; sleep 60", "trap '' TERM; exec sleep 61", "--timeout", 2,
                           code=124)
        self.assertIn("=== a: exit 124\nbegun", told)
        self.assertIn("=== b: exit 124", told)

    def test_bring_files_back(self) -> None:
        with tempfile.TemporaryDirectory() as target:
            self.run_on("echo kept >$LAB_DIR/out/$LAB_HOST", "", "--out", target)
            self.assertEqual(Path(target, "a").read_text(), "kept\n")

    def test_see_this_machines_files_and_cannot_change_them(self) -> None:
        name = Path(__file__)
        self.run_on(f"cmp {name} {name} && echo x >/etc/written-in-a-guest")
        self.assertFalse(Path("/etc/written-in-a-guest").exists())


class OneMachine(unittest.TestCase):
    def test_that_dies_is_told_by_125_and_its_last_words(self) -> None:
        set_up_machines()
        done = lab("run", "--hosts", 1, "--rdma", "none", "--", "echo c >/proc/sysrq-trigger")
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        self.assertIn("sysrq triggered crash", done.stdout)

    def test_that_does_not_boot_is_told_by_125_and_its_last_words(self) -> None:
        set_up_machines()
        done = lab("run", "--hosts", 1, "--modules", "nothing_of_the_sort", "--", "true")
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        self.assertIn("cannot load the module nothing_of_the_sort", done.stderr)


if __name__ == "__main__":
    unittest.main()
