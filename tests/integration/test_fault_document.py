"""Documents that are none, or cannot be: refused with file and place, never a crash or a verdict."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from testbed import netbench_binary

SCHEMA = {"name": "netbench.result", "major": 1, "minor": 1}


def small() -> dict[str, Any]:
    return {"schema": SCHEMA, "measurements": [{
        "transport": "tcp", "workload": "bandwidth", "direction": "forward",
        "summary": {"goodput_bps": 4.1e8},
        "rounds": [{"counters": {"initiator": {"tcp_info.rtt_us": 10200}, "responder": {}}}]}]}


class DocumentCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="netbench-document-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "bad.json")

    def diagnose(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([netbench_binary(), "diagnose", *words], text=True, timeout=60,
                              capture_output=True, check=False, **options)


class BadDocument(DocumentCase):
    def assert_refused(self, content: str | bytes | dict[str, Any], slug: str,
                       *texts: str) -> None:
        """By file and by pipe: an error that names the place, and nothing on standard output."""
        content = json.dumps(content) if isinstance(content, dict) else content
        data = content.encode() if isinstance(content, str) else content
        self.path.write_bytes(data)
        with self.path.open("rb") as pipe:
            outcomes = [(str(self.path), self.diagnose(str(self.path))),
                        ("standard input", self.diagnose("-", stdin=pipe))]
        for name, done in outcomes:
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertTrue(done.stderr.startswith(f"error[{slug}]: "), done.stderr)
            for text in (name, *texts):
                self.assertIn(text, done.stderr)

    def test_that_is_not_json_names_line_and_column(self) -> None:
        self.assert_refused("Gbit/s 9.41\n", "document-not-json", "line 1, column 1")
        self.assert_refused(b"\x7fELF\x02\x01\x01\x00" * 100, "document-not-json")
        self.assert_refused(os.urandom(4096), "document-not-json")

    def test_that_is_empty_or_cut_is_truncated(self) -> None:
        self.assert_refused("", "document-truncated")
        text = json.dumps(small())
        self.assert_refused(text[:len(text) // 2], "document-truncated", str(len(text) // 2))

    def test_of_another_schema_names_it(self) -> None:
        self.assert_refused({**small(), "schema": {"name": "other.tool", "major": 1, "minor": 0}},
                            "document-other-schema", "other.tool")
        self.assert_refused({"start": {}, "intervals": []}, "document-other-schema", "intervals")
        self.assert_refused("[1, 2]", "document-other-schema")

    def test_of_a_newer_major_version_names_both(self) -> None:
        self.assert_refused({**small(), "schema": {**SCHEMA, "major": 2}}, "document-newer",
                            "2.1", "1.x")

    def test_of_a_newer_minor_version_is_read(self) -> None:
        self.path.write_text(json.dumps({**small(), "schema": {**SCHEMA, "minor": 99}, "new": 1}))
        self.assertIn(self.diagnose(str(self.path)).returncode, (0, 3))

    def test_with_a_value_of_a_wrong_type_names_its_pointer(self) -> None:
        wrong: list[tuple[str, Any]] = [
            ("/measurements", {}), ("/measurements/0", 7), ("/measurements/0/size_bytes", "64K"),
            ("/measurements/0/direction", "sideways"), ("/measurements/0/summary/goodput_bps", "1"),
            ("/measurements/0/rounds/0/counters/initiator/x", [1]), ("/hosts/h0/facts", {}),
            ("/status", "fine"), ("/findings", "none")]
        for pointer, value in wrong:
            with self.subTest(pointer):
                document: Any = small()
                document["hosts"] = {"h0": {}}
                *way, last = pointer.split("/")[1:]
                place = document
                for key in way:
                    place = place[int(key) if isinstance(place, list) else key]
                place[int(last) if isinstance(place, list) else last] = value
                self.assert_refused(document, "document-invalid", f": {pointer}: expected")

    def test_with_nan_or_infinity_is_not_json(self) -> None:
        for number in ("NaN", "Infinity", "-Infinity", "1e999"):
            text = json.dumps(small()).replace("410000000.0", number)
            self.assertIn(number, text)
            self.assert_refused(text, "document-not-json")

    def test_with_a_counter_that_went_backwards_names_it(self) -> None:
        document = small()
        counters = document["measurements"][0]["rounds"][0]["counters"]
        counters["responder"]["if.eth0.rx_bytes"] = -4096
        self.assert_refused(document, "document-implausible",
                            "/measurements/0/rounds/0/counters/responder/if.eth0.rx_bytes",
                            "-4096")

    def test_with_a_key_twice_names_it_and_the_place(self) -> None:
        text = json.dumps(small())
        self.assert_refused(text.replace('"summary": {', '"summary": {"goodput_bps": 1, '),
                            "document-duplicate-key", "/measurements/0/summary",
                            '"goodput_bps" stands there twice')
        self.assert_refused(text[:-1] + ', "measurements": []}', "document-duplicate-key",
                            "at the top")

    def test_with_a_negative_tunable_or_a_turned_interval_names_it(self) -> None:
        row = small()["measurements"][0]
        negative = row | {"tunables": {"requested": {"tcp.rcvbuf": -1}}}
        turned = row | {"summary": {"goodput_bps": 4e8, "goodput_low_bps": 5e8,
                                    "goodput_high_bps": 3e8}}
        for bad, place in ((negative, "/measurements/0/tunables/requested/tcp.rcvbuf"),
                           (turned, "/measurements/0/summary/goodput_low_bps")):
            self.assert_refused(small() | {"measurements": [bad]}, "document-implausible", place)

    def test_with_an_interface_that_is_a_command_is_refused(self) -> None:
        for name in ("eth0;reboot", "$(reboot)", "eth0`id`", "a\nb"):
            fact = {"key": f"if.{name}.mtu_bytes", "value": 1500, "source": "x"}
            self.assert_refused(small() | {"hosts": {"h0": {"facts": [fact]}}},
                                "document-implausible", "/hosts/h0/facts/0/key")

    def test_with_texts_that_drive_a_terminal_or_a_shell_shows_neither(self) -> None:
        evil = "nb\u202e\x1b[2J\u200b$(reboot);`id`" + "x" * 5000
        content = small() | {
            "hosts": {"h0": {"name": evil, "facts": []}},
            "config": {"peer": evil, "transport": "tcp"},
            "error": {"code": "peer-refused", "message": evil, "remedy": evil}}
        self.path.write_text(json.dumps(content))
        done = self.diagnose(str(self.path), "--explain")
        self.assertIn(done.returncode, (0, 3, 4), done.stderr)
        for hidden in "\x1b\u202e\u200b":
            self.assertNotIn(hidden, done.stdout)
        self.assertNotRegex(done.stdout, "x{1001}")
        # A command that repeats such a text holds it in quotes.
        self.assertNotRegex(done.stdout, r"--peer [^'\s]*\$\(")

    def test_with_a_negative_rate_names_it(self) -> None:
        document = small()
        document["measurements"][0]["summary"]["goodput_bps"] = -1
        self.assert_refused(document, "document-implausible",
                            "/measurements/0/summary/goodput_bps")

    def test_that_is_nested_deep_is_too_large(self) -> None:
        self.assert_refused('{"a":' + "[" * 100_000, "document-too-large", "nested levels")
        self.assert_refused('{"a":' * 100_000, "document-too-large", "nested levels")

    def test_that_cannot_be_opened_says_why(self) -> None:
        done = self.diagnose(str(self.path))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("No such file", done.stderr)
        done = self.diagnose(str(self.path.parent))
        self.assertEqual(done.returncode, 1)
        self.assertIn("directory", done.stderr)

    def test_beside_a_good_one_costs_that_one_nothing(self) -> None:
        good = self.path.with_name("good.json")
        good.write_text(json.dumps(small()))
        self.path.write_text("{")
        done = self.diagnose(str(self.path), str(good))
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[document-truncated]", done.stderr)
        self.assertIn(f"{good}:\nVerdict", done.stdout)


class Nonsense(DocumentCase):
    """200 MB: ends soon, in little memory."""

    SIZE = 200 << 20
    MEMORY = 200 << 20

    def assert_ends_soon(self, slug: str) -> None:
        limit = (self.MEMORY, self.MEMORY)
        began = time.monotonic()
        done = self.diagnose(str(self.path),
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(f"error[{slug}]: {self.path}", done.stderr)

    def test_of_zero_bytes(self) -> None:
        with self.path.open("wb") as file:
            file.truncate(self.SIZE)
        self.assert_ends_soon("document-not-json")

    def test_of_brackets(self) -> None:
        self.path.write_bytes(b'{"a":' + b"[" * self.SIZE)
        self.assert_ends_soon("document-too-large")

    def test_of_json_that_is_no_document(self) -> None:
        line = b'"key":{"a":[1,2,3]},\n'
        self.path.write_bytes(b"{" + line * (self.SIZE // len(line)) + b'"end":0}')
        self.assert_ends_soon("document-other-schema")


if __name__ == "__main__":
    unittest.main()
