"""A small run of scripts/bench-peers: every row is there, and what it printed is what it wrote."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from testbed import REPOSITORY, netbench_binary, require_root

SCRIPT = REPOSITORY / "scripts/bench-peers"
sys.path.insert(0, str(SCRIPT.parent))
from benchlib import about, paired  # noqa: E402


def setUpModule() -> None:
    require_root()
    if missing := about.missing_tools():
        reason = f"integration test skipped: {', '.join(missing)} not installed"
        print(reason, file=sys.stderr)
        raise unittest.SkipTest(reason)


def bench_peers(*words: str) -> subprocess.CompletedProcess[str]:
    build = Path(netbench_binary()).parents[1]
    return subprocess.run([sys.executable, "-B", str(SCRIPT), "--build", str(build), *words],
                          text=True, capture_output=True, check=False, timeout=200)


class BenchPeers(unittest.TestCase):
    def test_prints_and_writes_a_ratio_for_every_comparison(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = bench_peers("--quick", "--pairs", "1", "--rows", "b,c,d,e", "--seconds", "0.2",
                               "--output", f"{folder}/peers")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, Path(folder, "peers.md").read_text())
            document = json.loads(Path(folder, "peers.json").read_text())
        self.assertEqual([cell["key"] for cell in document["cells"]],
                         ["fast-128K", "fast-1024K", "streams-4", "spin-64"])
        for cell in document["cells"]:
            self.assertEqual(cell["failures"], [], cell["key"])
            self.assertIn("itself (A/A)", [one["label"] for one in cell["comparisons"]])
            for one in cell["comparisons"]:
                self.assertEqual(one["ratio"]["n"], 1)
                self.assertGreater(one["ratio"]["median"], 0)
                self.assertIn(f"| {cell['title']} | {one['label']}", done.stdout)
        for row in document["accuracy"]:
            if row["tool"] == "netbench":
                self.assertTrue(row["met"], row)

    def test_refuses_rows_that_do_not_exist(self) -> None:
        done = bench_peers("--rows", "a,z")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no row ['z']", done.stderr)


class Ratios(unittest.TestCase):
    def test_of_pairs_have_the_median_inside_their_interval(self) -> None:
        ratio = paired.ratio_of([(1.1 * value, value) for value in (1.0, 2.0, 5.0)]
                                + [(2.0, 1.0), (1.0, 1.0)])
        self.assertAlmostEqual(ratio.median, 1.1)
        self.assertLessEqual(ratio.low, ratio.median)
        self.assertLessEqual(ratio.median, ratio.high)
        self.assertEqual(ratio.n, 5)

    def test_of_equal_runs_are_one_without_width(self) -> None:
        self.assertEqual(paired.ratio_of([(3.0, 3.0)] * 15), paired.Ratio(1, 1, 1, 15))


if __name__ == "__main__":
    unittest.main()
