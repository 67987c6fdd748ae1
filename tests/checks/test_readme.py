"""The README tells the truth: its tables are the program's, and its commands exist."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
README = REPOSITORY / "README.md"
BINARY = os.environ.get("NETBENCH_BIN", "")
BEGIN = "<!-- transports: begin -->\n"
END = "<!-- transports: end -->"


def output_of(*words: str) -> str:
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout


class Readme(unittest.TestCase):
    def test_tables_of_the_transports_are_the_programs(self) -> None:
        """With NETBENCH_UPDATE_GOLDEN=1 the README is brought up to date instead."""
        text = README.read_text()
        before, rest = text.split(BEGIN)
        table, after = rest.split(END)
        now = output_of("transports", "tcp", "udp", "verbs", "--markdown")
        if os.environ.get("NETBENCH_UPDATE_GOLDEN") == "1":
            README.write_text(before + BEGIN + now + END + after)
            return
        self.assertEqual(table, now)

    def test_every_command_is_listed_with_an_example(self) -> None:
        text = README.read_text()
        commands = re.findall(r"^  (\w+) +\w", output_of("--help").split("Commands:")[1], re.M)
        for command in commands:
            if command == "netbench":
                continue
            self.assertIn(f"| `netbench {command}` |", text, command)

    def test_every_option_of_its_examples_exists(self) -> None:
        text = README.read_text()
        examples = re.findall(r"netbench (pair|doctor|diagnose|agent|keygen|transports)\b([^\n`#|]*)", text)
        self.assertGreater(len(examples), 8)
        helps = {name: output_of(name, "--help") for name in {command for command, _ in examples}}
        for command, words in examples:
            for option in re.findall(r"--[\w.-]+", words):
                self.assertRegex(helps[command], rf"(?m){re.escape(option)}\b", f"{command} {option}")

    def test_every_link_to_a_file_leads_somewhere(self) -> None:
        for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
            self.assertTrue((REPOSITORY / target).exists(), target)


class Install(unittest.TestCase):
    def test_an_installed_program_finds_its_transports(self) -> None:
        build = os.environ["NETBENCH_BUILD_DIR"]
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                           capture_output=True, timeout=60)
            done = subprocess.run([f"{prefix}/bin/netbench", "transports"], capture_output=True,
                                  text=True, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("tcp", "udp", "sim"):
                self.assertRegex(done.stdout, rf"(?m)^{name} .*\n  available")


if __name__ == "__main__":
    unittest.main()
