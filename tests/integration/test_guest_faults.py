"""The fault lab's cases in virtual machines: that their scripts are sound, and some for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

from machines import set_up_machines
from netbench import read_document
from testbed import REPOSITORY, netbench_binary, require_root

sys.path.insert(0, str(REPOSITORY / "scripts"))
from faultlab import guest, table, verdict  # noqa: E402
from faultlab.case import drawn  # noqa: E402

FEW = ("B01-lacp-layer2", "B02-backup-down", "netem-corrupt", "vlan-other-id",
       "vlan-trunk-without-room", "conntrack-full-here", "backlog-tiny")


def setUpModule() -> None:
    require_root()


def faults(*words: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, REPOSITORY / "scripts/faults", "--subset", "guest",
               "--build", Path(netbench_binary()).parents[1], *map(str, words)]
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=280,
                          stdin=subprocess.DEVNULL, env=os.environ | (env or {}))


class Scripts(unittest.TestCase):
    def test_are_bash_whatever_is_drawn(self) -> None:
        for case in table.chosen(1, "guest", []):
            for seed in range(4):
                setup = drawn(case, seed)
                for script in (guest.initiator_script, guest.responder_script):
                    text = script(Path("/bin/netbench"), setup)
                    done = subprocess.run(["bash", "-n"], input=text, text=True, check=False,
                                          capture_output=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), text)

    def test_leave_no_host_out(self) -> None:
        for case in table.chosen(1, "guest", []):
            for step in drawn(case, 1).steps:
                self.assertIn(step.host, ("a", "b"), case.name)


class Reading(unittest.TestCase):
    def test_does_not_look_at_what_is_true_of_the_machines_themselves(self) -> None:
        found = [{"id": name, "class_id": name, "severity": "warning", "confidence": "likely"}
                 for name in ("K11", "B01")]
        self.assertEqual([claim.class_id for claim in verdict.claims(found, ("K11", "L11"))],
                         ["B01"])


class Lab(unittest.TestCase):
    def test_says_how_to_get_the_machines_packages(self) -> None:
        with tempfile.TemporaryDirectory() as nothing:
            done = faults("--only", FEW[0], "--output", Path(nothing, "faults"),
                          env={"RDMA_LAB_CACHE": nothing})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("scripts/rdma-lab setup", done.stderr)

    def test_names_faults_that_need_a_guest_kernel(self) -> None:
        set_up_machines()
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "faults")
            done = faults("--only", ",".join(FEW), "--output", output, "--keep-documents", folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            told = json.loads(output.with_suffix(".json").read_text())
            for name in FEW:
                read_document(Path(folder, f"{name}.json"))
        self.check(told["cases"], done.stderr)

    def check(self, cases: Sequence[dict[str, object]], progress: str) -> None:
        named = {str(case["name"]): case for case in cases}
        self.assertEqual(set(named), set(FEW))
        for name, case in named.items():
            self.assertEqual(case["problem"], "", f"{name}\n{progress}")
            self.assertTrue(case["passed"] or case["void"], f"{name}: {case['claims']}")


if __name__ == "__main__":
    unittest.main()
