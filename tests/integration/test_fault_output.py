"""Outputs that cannot be written, and files that are not overwritten."""

from __future__ import annotations

import signal
import unittest
from pathlib import Path

from faults import (LONG, ROW, SHORT, FaultCase, Outcome, RunningPair, pair, parse_document,
                    rounds_of, wait_until)
from netbench import agent
from testbed import netbench_binary, require_root


def setUpModule() -> None:
    require_root()


class Output(FaultCase):
    def assert_refused(self, outcome: Outcome, slug: str, target: str | Path) -> None:
        """Before anything was measured, or any host was asked: there is no agent."""
        self.assertEqual((outcome.slug, outcome.code), (slug, 2), outcome.stderr)
        self.assertIn(str(target), outcome.stderr)
        self.assertEqual(outcome.stdout, "")
        self.assertLess(outcome.seconds, 5)

    def test_that_exists_is_not_overwritten(self) -> None:
        target = self.bed.scratch / "exists.json"
        target.write_text("mine")
        for output in ("--json", "--csv", "--markdown"):
            with self.subTest(output):
                argv = [netbench_binary(), "pair", "--peer", "nb-b", "--insecure", *SHORT, output,
                        target]
                done = self.bed.run("a", argv, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("error[output-exists]", done.stderr)
                self.assertEqual(target.read_text(), "mine")

    def test_whose_unfinished_part_exists_is_not_overwritten(self) -> None:
        target = self.bed.scratch / "unfinished.json"
        partial = target.with_name("unfinished.json.partial")
        partial.write_text("mine")
        outcome = pair(self.bed, "--insecure", *SHORT, json_to=str(target))
        self.assert_refused(outcome, "output-exists", partial)
        self.assertIn("--resume", outcome.stderr)
        self.assertEqual(partial.read_text(), "mine")
        self.assertFalse(target.exists())

    def test_in_a_missing_folder_is_refused(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, json_to="/no/such/folder/r.json")
        self.assert_refused(outcome, "output-unwritable", "/no/such/folder/r.json")

    def test_that_is_a_folder_is_refused(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, json_to=str(self.bed.scratch))
        self.assert_refused(outcome, "output-unwritable", self.bed.scratch)

    def test_on_a_read_only_file_system_is_refused(self) -> None:
        self.mount("/run/read-only", "ro,size=1M")
        outcome = pair(self.bed, "--insecure", *SHORT, json_to="/run/read-only/r.json")
        self.assert_refused(outcome, "output-unwritable", "/run/read-only/r.json")

    def test_of_csv_in_a_missing_folder_is_refused_before_measuring(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, "--csv", "/no/such/folder/r.csv")
        self.assert_failed(outcome, "output-unwritable", 2)
        self.assertIn("/no/such/folder/r.csv", outcome.stderr)

    def test_of_a_usage_error_is_a_document_too(self) -> None:
        target = self.bed.scratch / "usage.json"
        outcome = pair(self.bed, "--no-such-option", json_to=str(target))
        self.assertEqual((outcome.slug, outcome.code, outcome.stdout), ("usage", 2, ""))
        document = parse_document(target.read_text())
        self.assertEqual((document["status"], document["error"]["code"]), ("failed", "usage"))

    def test_of_a_failed_run_is_a_document_too(self) -> None:
        target = self.bed.scratch / "refused.json"
        outcome = pair(self.bed, "--insecure", *SHORT, json_to=str(target))
        self.assertEqual((outcome.slug, outcome.code), ("peer-refused", 4))
        document = parse_document(target.read_text())
        self.assertEqual((document["status"], document["error"]["code"]),
                         ("failed", "peer-refused"))

    def test_of_a_killed_run_is_an_unfinished_document(self) -> None:
        agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *LONG)
        running.wait_for_round()
        running.signal(signal.SIGKILL)
        running.process.wait()
        saved = parse_document(running.partial.read_text())
        self.assertEqual((saved["status"], saved["error"]["code"]), ("partial", "unfinished"))
        self.assertGreaterEqual(rounds_of(saved), 1)
        outcome = pair(self.bed, "--insecure", *ROW, json_to=str(running.path))
        self.assert_refused(outcome, "output-exists", running.partial)

    def test_on_a_disk_that_is_full_fails_but_shows_the_tables(self) -> None:
        agent(self.bed)
        disk = self.mount("/run/full", "size=64k,nr_inodes=8")
        self.bed.run("a", ["sh", "-c", f"head -c 57344 /dev/zero > {disk}/filler"])
        outcome = pair(self.bed, "--insecure", *SHORT, json_to=f"{disk}/r.json")
        self.assertEqual((outcome.slug, outcome.code), ("output-full", 1), outcome.stderr)
        self.assertIn("tcp latency", outcome.stdout)
        self.assertEqual(self.bed.run("a", ["ls", disk]).stdout.split(), ["filler"])

    def test_on_a_disk_that_fills_up_keeps_what_was_saved(self) -> None:
        agent(self.bed)
        disk = self.mount("/run/filling", "size=512k,nr_inodes=8")
        running = self.bed.start("a", [netbench_binary(), "pair", "--peer", "nb-b", "--insecure",
                                       *ROW, "--budget", "8s", "--rounds", "20", "--json",
                                       f"{disk}/r.json"])
        partial = ["sh", "-c", f"test -s {disk}/r.json.partial"]
        wait_until(lambda: self.bed.run("a", partial, check=False).returncode == 0, "a round", 30)
        self.bed.run("a", ["sh", "-c", f"cat /dev/zero > {disk}/filler || true"])
        self.assertEqual(running.wait(60), 1, running.output())
        self.assertIn("error[output-full]", running.output())
        saved = parse_document(self.bed.run("a", ["cat", f"{disk}/r.json.partial"]).stdout)
        self.assertEqual((saved["status"], saved["error"]["code"]), ("partial", "unfinished"))
        self.assertGreaterEqual(rounds_of(saved), 1)
        self.assertIn("tcp latency", running.output())

    def test_on_a_full_standard_output_fails(self) -> None:
        agent(self.bed)
        argv = [netbench_binary(), "pair", "--peer", "nb-b", "--insecure", *SHORT]
        for words, code in (("--json -", 1), ("", 1), ("--csv -", 1), ("--stream", 130)):
            with self.subTest(words):
                done = self.bed.run("a", ["sh", "-c", f'exec "$@" {words} > /dev/full', "sh",
                                          *argv], check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, r"error\[output-(full|failed)\]: ")

    def mount(self, folder: str, options: str) -> str:
        """A small file system on host a, which alone sees it."""
        self.bed.run("a", ["mkdir", "-p", folder])
        self.bed.run("a", ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder])
        self.addCleanup(self.bed.run, "a", ["umount", "-l", folder])
        return folder


if __name__ == "__main__":
    unittest.main()
