"""The verbs transport over a real RDMA stack: two virtual machines with soft-RoCE (rxe).

Speeds mean nothing there; what counts is that every operation of every transport type moves whole
and right data, and that what cannot work is named.
"""

from __future__ import annotations

import unittest
from pathlib import Path

from machines import lab, set_up_machines
from netbench import Document, Row, read_document
from testbed import netbench_binary

AGENT = """rm -f $LAB_DIR/done; lab-sync go
{netbench} agent --insecure >$LAB_DIR/out/agent.log 2>&1 & agent=$!
for _ in $(seq {seconds}0); do sleep 0.1; test -e $LAB_DIR/done && break; done
kill $agent"""

PAIR = """lab-sync go; sleep 1
{netbench} pair --insecure --peer $LAB_PEER_IP --transport verbs --rounds 1 {words} \\
  --json $LAB_DIR/out/result.json >$LAB_DIR/out/pair.log 2>&1
code=$?; touch $LAB_DIR/done; exit $code"""


def counter(row: Row, end: str, name: str) -> float:
    return float(row["rounds"][0]["counters"][end].get(name, 0))


def build_folder() -> Path:
    return Path(netbench_binary()).resolve().parents[1]


class SoftRoce(unittest.TestCase):
    """One lab for all of these."""

    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        set_up_machines()
        done = lab("up")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.folder = Path(done.stdout.strip())

    @classmethod
    def tearDownClass(cls) -> None:
        lab("down", "--dir", cls.folder)

    def run_pair(self, words: str, seconds: int = 60, code: int = 0) -> tuple[Document, str]:
        """The document of one `netbench pair` from a to an agent on b, and what it printed."""
        netbench, out = netbench_binary(), self.folder / "out"
        (out / "result.json").unlink(missing_ok=True)
        done = lab("exec", "--dir", self.folder, "--timeout", seconds + 5, "--",
                   PAIR.format(netbench=netbench, words=words),
                   AGENT.format(netbench=netbench, seconds=seconds))
        log = out / "pair.log"
        text = log.read_text() if log.exists() else ""
        self.assertIn(f"=== a: exit {code}\n", done.stdout, done.stdout + done.stderr + text)
        return read_document(out / "result.json"), text

    def expect_whole(self, document: Document, rows: int) -> None:
        """Every row was measured, and all that was sent arrived, or is counted as lost."""
        self.assertEqual(len(document["measurements"]), rows)
        for row in document["measurements"]:
            with self.subTest(row["id"]):
                self.assertEqual(row["status"], "ok", row.get("error"))
                for sender, receiver in (("initiator", "responder"), ("responder", "initiator")):
                    lost = counter(row, receiver, "verbs.lost") * row["size_bytes"]
                    self.assertEqual(counter(row, sender, "payload.sent_bytes"),
                                     counter(row, receiver, "payload.received_bytes") + lost)
                    self.assertEqual(counter(row, sender, "verbs.check_failed"), 0)
                    self.assertEqual(counter(row, sender, "verbs.errors"), 0)

    def test_the_library_moves_bytes_between_two_hosts(self) -> None:
        program = build_folder() / "bin/rdma_lab_test"
        done = lab("exec", "--dir", self.folder, "--timeout", 100, "--", program, program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("[  PASSED  ]"), 2, done.stdout)

    def test_the_plug_in_conforms_on_a_real_device(self) -> None:
        """Where these tests are built there is no device, and its sessions are skipped."""
        program = build_folder() / "tests/conformance/conformance_test"
        done = lab("exec", "--dir", self.folder, "--timeout", 100, "--",
                   f"{program} --gtest_filter='*verbs*'")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\[  PASSED  \] \d\d tests")
        self.assertNotIn("SKIPPED", done.stdout)

    def test_streams_of_every_reliable_operation_arrive_whole(self) -> None:
        document, _ = self.run_pair("--workload bandwidth --direction forward --size 1,1M "
                                    "--verbs.op write,write_imm,send,read --budget 10")
        self.expect_whole(document, 8)

    def test_both_ways_at_once_on_every_transport_type(self) -> None:
        document, _ = self.run_pair("--workload bandwidth --direction both --size 1K "
                                    "--verbs.op send --verbs.qp rc,uc,ud --budget 4")
        self.expect_whole(document, 3)

    def test_atomics_count_at_the_peer(self) -> None:
        document, _ = self.run_pair("--workload message_rate --direction forward --size 8 "
                                    "--verbs.op fetch_add,compare_swap --budget 3")
        self.expect_whole(document, 2)

    def test_latency_says_how_it_was_measured(self) -> None:
        document, _ = self.run_pair("--workload latency --size 64 --verbs.op write,send,read "
                                    "--budget 4")
        self.expect_whole(document, 3)
        methods = {row["tunables"]["requested"]["verbs.op"]: row["method"]
                   for row in document["measurements"]}
        self.assertIn("memory is not polled", methods["write"])  # rxe promises no order
        self.assertIn("whole operation", methods["read"])
        effective = document["measurements"][0]["tunables"]["effective"]["initiator"]
        self.assertEqual(effective["verbs.device"], "rxe0")

    def test_a_path_mtu_above_the_interface_is_refused_by_name(self) -> None:
        _, text = self.run_pair("--workload bandwidth --direction forward --size 8K "
                                "--verbs.path_mtu 4096 --budget 3", code=4)
        self.assertIn("path_mtu", text)


if __name__ == "__main__":
    unittest.main()
