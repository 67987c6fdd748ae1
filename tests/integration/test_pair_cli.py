"""The command line of a run between two hosts: keys, documented examples, outputs."""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import unittest
from pathlib import Path
from typing import Any

from netbench import (agent, only_row, pair, pair_words, parse_document, read_document, rows)
from testbed import Testbed, netbench_binary, require_root

ESCAPE = "\x1b"
SMALL = ("--transport", "tcp", "--workload", "latency", "--rounds", "1", "--budget", "1s")
LATENCY = (*SMALL, "--size", "64")


def setUpModule() -> None:
    require_root()


def program(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the program on this machine."""
    return subprocess.run([netbench_binary(), *words], text=True, capture_output=True, timeout=60,
                          check=False)


def examples(*command: str) -> list[list[str]]:
    """The lines below "Examples:" in a help text, without what explains them."""
    text = program(*command, "--help").stdout.split("Examples:")[1]
    lines = [re.split(r"\s{3,}", line.strip())[0] for line in text.splitlines()]
    return [shlex.split(line) for line in lines if re.match(r"(sudo |netbench )", line)]


def share_key(bed: Testbed) -> None:
    """Makes the key on host a and copies it to host b, as `netbench keygen --help` says."""
    bed.run("a", [netbench_binary(), "keygen"])
    target = bed.home("b") / ".config/netbench"
    target.mkdir(parents=True)
    source = bed.home("a") / ".config/netbench/key"
    (target / "key").write_bytes(source.read_bytes())
    (target / "key").chmod(0o600)


class KeyedRun(unittest.TestCase):
    def test_between_two_hosts_gives_tables_and_a_valid_document(self) -> None:
        with Testbed() as bed:
            share_key(bed)
            self.assertEqual((bed.home("a") / ".config/netbench/key").stat().st_mode & 0o777, 0o600)
            serving = agent(bed, insecure=False)
            done = pair(bed, "--quick", "--transport", "tcp", insecure=False, budget="")
            self.assertNotIn("paste it", serving.output())
        self.assertEqual(done.document["status"], "ok")
        self.assertTrue(done.document["run"]["authenticated"])
        self.assertEqual([done.document["hosts"][host]["name"] for host in ("h0", "h1")],
                         ["nb-a", "nb-b"])
        for workload in ("latency", "bandwidth", "message_rate", "loaded_latency", "connect"):
            self.assertIn(f"tcp {workload}\n", done.stdout)
            for row in rows(done.document, workload=workload):
                self.assertEqual(row["status"], "ok", row["id"])
                self.assertEqual(row["summary"]["n_rounds"], 3)
        self.assertRegex(done.stdout, r"\nSummary\n- .*192\.168\.1\.100 -> 192\.168\.1\.101, tcp: ")
        key = r"[A-Za-z0-9+/]{43}="
        self.assertNotRegex(json.dumps(done.document) + done.stdout + done.stderr, key)

    def test_with_the_key_that_the_agent_made_for_its_lifetime(self) -> None:
        with Testbed() as bed:
            serving = agent(bed, insecure=False)
            key = serving.wait_for(r"^  ([A-Za-z0-9+/]{43}=)$")[1]
            done = pair(bed, *LATENCY, insecure=False, budget="", env={"NETBENCH_KEY": key})
            self.assertEqual(only_row(done.document)["status"], "ok")


class Examples(unittest.TestCase):
    def test_of_pair_run_as_they_are_written(self) -> None:
        """With less time: the examples are about what is measured, not about how long."""
        found = examples("pair")
        self.assertGreaterEqual(len(found), 6)
        with Testbed(ipv6=True) as bed:
            share_key(bed)
            agent(bed, insecure=False)
            for words in found:
                with self.subTest(" ".join(words)):
                    if "--resume" in words:
                        (bed.scratch / "result.json").unlink()
                    command = [netbench_binary(), *words[1:], "--rounds", "1", "--budget", "2s"]
                    done = bed.run("a", ["sh", "-c", f"cd {bed.scratch}; {shlex.join(command)}"],
                                   timeout=90)
                    self.assertIn("Summary", done.stdout)
            read_document(bed.scratch / "result.json")

    def test_of_keygen_and_agent_run_as_they_are_written(self) -> None:
        with Testbed() as bed:
            for words in examples("keygen"):
                command = shlex.join([netbench_binary(), *words[1:]])
                bed.run("b", ["sh", "-c", f"cd {bed.scratch}; {command}"])
            self.assertGreaterEqual(len(examples("agent")), 3)
            for words in examples("agent"):
                words = words[1:] if words[0] == "sudo" else words
                with self.subTest(" ".join(words)):
                    serving = bed.start("b", [netbench_binary(), *words[1:]])
                    serving.wait_for("agent on port 18550")
                    self.assertEqual(serving.stop(), 0)

    def test_of_the_program_name_commands_that_exist(self) -> None:
        for words in examples():
            self.assertEqual(program(words[1], "--help").returncode, 0)


class Outputs(unittest.TestCase):
    bed: Testbed

    @classmethod
    def setUpClass(cls) -> None:
        cls.bed = Testbed().__enter__()
        cls.addClassCleanup(cls.bed.__exit__)
        agent(cls.bed)

    def run_pair(self, *flags: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.bed.run("a", pair_words(*flags), **options)

    def test_json_to_standard_output_is_one_document_and_nothing_else(self) -> None:
        done = self.run_pair(*LATENCY, "--json", "-")
        document = parse_document(done.stdout)
        self.assertEqual(document["status"], "ok")

    def test_json_to_standard_output_is_one_document_when_the_run_fails(self) -> None:
        done = self.bed.run("a", pair_words(*LATENCY, "--json", "-", peer="nb-b:1"), check=False)
        self.assertNotEqual(done.returncode, 0)
        document = parse_document(done.stdout)
        self.assertEqual((document["status"], document["error"]["code"]),
                         ("failed", "peer-refused"))
        self.assertIn("error[peer-refused]: ", done.stderr)

    def test_csv_has_one_line_a_point(self) -> None:
        target = self.bed.scratch / "rows.csv"
        self.run_pair(*SMALL, "--size", "64,1K,4K", "--csv", str(target))
        lines = list(csv.DictReader(target.read_text().splitlines()))
        self.assertEqual([line["size_bytes"] for line in lines], ["64", "1024", "4096"])
        self.assertTrue(all(float(line["rtt_p50_ns"]) > 0 for line in lines))
        self.assertEqual(list(csv.DictReader(self.run_pair(
            *LATENCY, "--csv", "-").stdout.splitlines()))[0]["workload"], "latency")

    def test_markdown_has_a_table(self) -> None:
        done = self.run_pair(*LATENCY, "--markdown", "-")
        self.assertRegex(done.stdout, r"(?m)^\|[ :|-]+\|$")
        self.assertRegex(done.stdout, r"(?m)^\| *64 B *\|")

    def test_results_are_never_overwritten(self) -> None:
        for flag, name in (("--json", "kept.json"), ("--csv", "kept.csv")):
            with self.subTest(flag):
                target = self.bed.scratch / name
                target.write_text("mine")
                done = self.run_pair(*LATENCY, flag, str(target), check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn("error[output-exists]", done.stderr)
                self.assertEqual(target.read_text(), "mine")

    def test_is_free_of_escape_codes_when_piped(self) -> None:
        done = self.run_pair(*LATENCY)
        self.assertNotIn(ESCAPE, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "", "a piped run is quiet")

    def test_on_a_terminal_is_free_of_colour_with_no_color(self) -> None:
        for variable, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(variable):
                command = shlex.join(pair_words(*LATENCY)) + " 2>/dev/null"
                done = self.bed.run("a", ["script", "-qec", command, "/dev/null"],
                                    env={"TERM": "xterm", **variable})
                self.assertIn("Summary", done.stdout)
                self.assertEqual(ESCAPE in done.stdout, coloured)

    def test_redacted_leaves_no_names_and_addresses(self) -> None:
        target = self.bed.scratch / "redacted.json"
        done = self.run_pair(*LATENCY, "--redact", "--json", str(target),
                             "--markdown", str(self.bed.scratch / "redacted.md"))
        text = "\n".join((done.stdout, target.read_text(),
                          (self.bed.scratch / "redacted.md").read_text()))
        read_document(target)
        secrets = ["nb-a", "nb-b", "192.168.", Path("/proc/sys/kernel/random/boot_id").read_text(),
                   *(json.loads(self.bed.ip(host, "-j", "link"))[1]["address"] for host in "ab")]
        for secret in secrets:
            self.assertNotIn(secret.strip(), text)


if __name__ == "__main__":
    unittest.main()
