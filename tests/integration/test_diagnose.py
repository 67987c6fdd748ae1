"""netbench diagnose on saved documents, and the verdict at the end of a run."""

from __future__ import annotations

import json
import re
import resource
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from netbench import Document, Outcome, agent, pair, validate_document
from testbed import Testbed, netbench_binary, require_root

ESCAPE = "\x1b"
STREAM = ("--transport", "tcp", "--workload", "bandwidth", "--direction", "forward", "--size",
          "128K", "--rounds", "2")


def program(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([netbench_binary(), *words], text=True, capture_output=True, timeout=60,
                          check=False, **options)


def window_limited() -> dict[str, Any]:
    """As from a ticket: 51 Mb/s, a receive buffer of 64 KiB, 10 ms."""
    sender = {"tcp_info.rtt_us": 10200, "tcp_info.min_rtt_us": 10100, "tcp_info.snd_mss": 1448,
              "tcp_info_max.snd_wnd": 65536, "tcp_info.snd_wnd": 65536,
              "tcp_info.busy_time_us": 5e6, "tcp_info.rwnd_limited_us": 4.9e6,
              "tcp_info.sndbuf_limited_us": 0, "tcp_info.bytes_acked": 32e6,
              "tcp_info.backoff": 0, "tcp_info.rcv_wscale": 7, "tcp_info.snd_wscale": 7}
    effective = {"tcp.rcvbuf": 65536, "tcp.streams": 1}
    return {
        "schema": {"name": "netbench.result", "major": 1},
        "hosts": {"h0": {"name": "gpu0", "interface": "eth0",
                         "facts": [{"key": "if.eth0.mtu_bytes", "value": 1500}]},
                  "h1": {"name": "gpu1", "interface": "eth0",
                         "facts": [{"key": "if.eth0.mtu_bytes", "value": 1500}]}},
        "measurements": [{
            "id": "ticket", "transport": "tcp", "workload": "bandwidth", "direction": "forward",
            "size_bytes": 131072,
            "tunables": {"requested": {"tcp.rcvbuf": 65536},
                         "effective": {"initiator": effective, "responder": effective}},
            "summary": {"goodput_bps": 51e6, "ceiling_bps": 9.4e9},
            "rounds": [{"duration_ns": 5_000_000_000,
                        "counters": {"initiator": sender, "responder": {}},
                        "elapsed_s": {"initiator": 5, "responder": 5}}]}]}


class SavedDocument(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="netbench-diagnose-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, document: dict[str, Any], name: str = "result.json") -> str:
        path = self.folder / name
        path.write_text(json.dumps(document))
        return str(path)

    def test_with_a_problem_has_a_verdict_of_one_screen(self) -> None:
        done = program("diagnose", self.write(window_limited()))
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertRegex(done.stdout, r"\AVerdict +\S.*receive buffer")
        for label in ("Evidence", "Ruled out", "Fix", "Retest"):
            self.assertRegex(done.stdout, rf"(?m)^{label} +\S")
        self.assertIn("W01 tcp.receive-buffer", done.stdout)
        self.assertLessEqual(len(done.stdout.splitlines()), 30)

    def test_comes_through_a_pipe_too(self) -> None:
        path = self.write(window_limited())
        with open(path, encoding="utf-8") as source:
            piped = program("diagnose", "-", stdin=source)
        self.assertEqual(piped.stdout, program("diagnose", path).stdout)

    def test_gives_the_same_verdict_each_time(self) -> None:
        path = self.write(window_limited())
        outputs = {program("diagnose", "--explain", path).stdout for _ in range(3)}
        self.assertEqual(len(outputs), 1)

    def test_among_several_has_its_name(self) -> None:
        first, second = (self.write(window_limited(), name) for name in ("a.json", "b.json"))
        done = program("diagnose", first, second)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(re.findall(r"(?m)^(\S+):\nVerdict", done.stdout), [first, second])

    def test_with_nothing_in_it_cannot_be_judged(self) -> None:
        path = self.write({"schema": {"name": "netbench.result", "major": 1}})
        done = program("diagnose", path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("Cannot tell", done.stdout)

    def test_explained_ranks_bounds_and_answers_every_rule(self) -> None:
        done = program("diagnose", "--explain", self.write(window_limited()))
        self.assertIn("\nBounds of ticket\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +[0-9.]+ % .*receive window over round trip .* x 8 / ")
        self.assertRegex(done.stdout, r"(?m)^  W01 +tcp.receive-buffer +fires, ")
        self.assertRegex(done.stdout, r"(?m)^  Q04 +path.loss +(no|unknown) +\S")

    def test_as_json_has_findings_bounds_trace_and_experiments(self) -> None:
        path = self.write(window_limited())
        target = self.folder / "diagnosis.json"
        done = program("diagnose", path, "--json", str(target))
        self.assertRegex(done.stdout, r"\AVerdict")
        (found,) = json.loads(target.read_text())["documents"]
        self.assertEqual(program("diagnose", path, "--json", "-").stdout, target.read_text())
        self.assertEqual(set(found), {"file", "findings", "bounds", "trace", "experiments"})
        self.assertEqual(found["findings"][0]["class_id"], "W01")
        self.assertGreater(len(found["trace"]), 40)
        self.assertTrue(all(one["why"] for one in found["trace"]))
        nearness = [one["nearness"] for one in found["bounds"][0]["bounds"] if one["limit_bps"]]
        self.assertEqual(nearness, sorted(nearness, reverse=True))
        for pointer in found["findings"][0]["evidence"]:
            self.assertTrue(validate_document.resolves(window_limited(), pointer), pointer)

    def test_of_several_files_as_json_is_one_object(self) -> None:
        path = self.write(window_limited())
        found = json.loads(program("diagnose", path, path, "--json", "-").stdout)
        self.assertEqual([one["file"] for one in found["documents"]], [path, path])

    def test_overwrites_nothing(self) -> None:
        path = self.write(window_limited())
        done = program("diagnose", path, "--json", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error[output-exists]", done.stderr)

    def test_is_in_bold_on_a_terminal_only(self) -> None:
        path = self.write(window_limited())
        self.assertNotIn(ESCAPE, program("diagnose", "--explain", path).stdout)
        for words, coloured in (((), True), (("--no-color",), False)):
            command = shlex.join([netbench_binary(), "diagnose", *words, path])
            done = subprocess.run(["script", "-qec", command, "/dev/null"], text=True,
                                  capture_output=True, timeout=30, check=False)
            self.assertEqual(ESCAPE in done.stdout, coloured)

    def test_without_a_file_is_a_usage_error(self) -> None:
        done = program("diagnose")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error[usage]", done.stderr)

    def test_with_a_flag_that_has_a_value_or_an_empty_file_name_is_a_usage_error(self) -> None:
        path = self.write(window_limited())
        for words in (("--explain=5",), ("--no-color=yes",), ("--json", ""), ("--json=",)):
            done = program("diagnose", path, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("error[usage]", done.stderr)

    def test_of_the_examples_runs_as_it_is_written(self) -> None:
        text = program("diagnose", "--help").stdout.split("Examples:")[1]
        for name in ("result.json", "before.json", "after.json"):
            self.write(window_limited(), name)
        for line in text.strip().splitlines():
            words = line.strip().split(" | ")[-1]
            command = f"{shlex.quote(netbench_binary())} {words.removeprefix('netbench ')}"
            with self.subTest(line), open(self.folder / "result.json", "rb") as source:
                done = subprocess.run(["sh", "-c", command], cwd=self.folder, text=True,
                                      stdin=source, capture_output=True, timeout=30, check=False)
                self.assertEqual((done.returncode, done.stderr), (3, ""))

    def test_of_ten_thousand_rows_takes_under_a_second(self) -> None:
        """Parsing included: processor time of the whole command."""
        libraries = subprocess.run(["ldd", netbench_binary()], text=True, capture_output=True,
                                   check=False).stdout
        if re.search(r"lib[a-z]+san\b", libraries):
            self.skipTest("an instrumented build")
        document = window_limited()
        row, = document["measurements"]
        document["measurements"] = [
            {**row, "id": f"row-{number}", "size_bytes": 64 << number % 12,
             "direction": ("forward", "reverse")[number % 2],
             "tunables": {**row["tunables"], "requested": {"tcp.rcvbuf": 4096 + number // 24}}}
            for number in range(10_000)]
        path = self.write(document)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = program("diagnose", path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1.0)


class Run(unittest.TestCase):
    """Over a testbed: the verdict is printed, and the document is valid, its pointers too."""

    @classmethod
    def setUpClass(cls) -> None:
        require_root()

    def run_over(self, *words: str, code: int = 0, **flags: Any) -> Outcome:
        with Testbed(**flags) as bed:
            agent(bed)
            done = pair(bed, *STREAM, *words, budget="6s", code=code)
        self.assertRegex(done.stdout, r"(?m)^Verdict +\S")
        assert done.document is not None
        self.assertGreater(len(done.document["findings"]), 0)
        return done

    def classes(self, document: Document | None) -> list[str]:
        assert document is not None
        return [finding["class_id"] for finding in document["findings"]
                if finding["severity"] != "info" and finding["confidence"] != "excluded"]

    def test_through_a_local_shaper_names_it(self) -> None:
        done = self.run_over("--diagnose-budget", "0", rate="100mbit")
        self.assertIn("L16", self.classes(done.document))
        self.assertEqual(done.document["interventions"], [])

    def test_with_a_small_window_names_it_and_tries_a_change(self) -> None:
        done = self.run_over("--tcp.rcvbuf", "64K", "--diagnose-budget", "10", delay="5ms")
        # Other work on this machine may hold the CPUs (K04); that does not hide the window.
        self.assertEqual([one for one in self.classes(done.document) if one != "K04"][0], "W01")
        self.assertRegex(done.stdout, r"(?m)^Tried +goodput x [0-9.]+ \[[0-9.]+-[0-9.]+, 95 %")
        tried = [one for one in done.document["interventions"] if one["n_pairs"] > 0]
        self.assertGreaterEqual(len(tried), 1)
        for one in tried:
            self.assertEqual(one["row"], done.document["measurements"][0]["id"])
            self.assertLessEqual(one["ratio_low"], one["ratio"])
            self.assertLessEqual(one["ratio"], one["ratio_high"])

    def test_diagnosed_again_gives_the_same_findings(self) -> None:
        done = self.run_over("--tcp.rcvbuf", "64K", "--diagnose-budget", "0", delay="5ms")
        text = json.dumps(done.document)
        again = program("diagnose", "-", "--json", "-", input=text)
        self.assertEqual(json.loads(again.stdout)["documents"][0]["findings"], done.document["findings"])

    def test_over_a_healthy_link_finds_nothing_above_info(self) -> None:
        """Save that other work on this machine holds the CPUs, where it does (K04)."""
        done = self.run_over()
        self.assertEqual(set(self.classes(done.document)) - {"K04"}, set(), done.stdout)

    def test_has_the_metrics_of_rfc_6349(self) -> None:
        done = self.run_over("--link-rate", "100M", "--link-overhead", "14", "--diagnose-budget",
                             "0", rate="100mbit")
        self.assertIn("\nMethod: RFC 6349\n", done.stdout)
        summary = done.document["measurements"][0]["summary"]
        self.assertGreater(summary["transfer_time_ratio"], 0.95)
        self.assertGreater(summary["tcp_efficiency"], 0.5)
        self.assertLessEqual(summary["tcp_efficiency"], 1)
        self.assertGreater(summary["buffer_delay"], 0)

    def test_that_does_not_connect_has_a_verdict_too(self) -> None:
        with Testbed() as bed:
            done = pair(bed, *STREAM, code=4)
        self.assertRegex(done.stdout, r"(?m)^Verdict +\S")
        self.assertEqual(done.document["error"]["code"], "peer-refused")
        self.assertTrue(done.document["findings"][0]["class_id"].startswith("C"))


if __name__ == "__main__":
    unittest.main()
