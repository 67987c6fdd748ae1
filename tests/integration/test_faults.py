"""The fault lab itself: what it draws, how it reads and counts, and a few of its cases for real."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

from testbed import REPOSITORY, netbench_binary, require_root

sys.path.insert(0, str(REPOSITORY / "scripts"))
from faultlab import build, engine, report, score, table, verdict  # noqa: E402
from faultlab.case import Case, Setup, drawn  # noqa: E402
from faultlab.run import Outcome, pair_words  # noqa: E402

FEW = "C01,C13,tree-slow-link"  # one of each kind that needs no traffic: CI runs a subset besides


def setUpModule() -> None:
    require_root()


def finding(class_id: str, confidence: str = "likely", severity: str = "warning") -> dict[str, str]:
    return {"id": "family.slug", "class_id": class_id, "severity": severity,
            "confidence": confidence, "cause": "because"}


def result(wanted: str, *findings: dict[str, str], **changes: Any) -> score.Result:
    """A case that wants one class ("" for a healthy link), and what was found. also, never, parts
    and kind go to the case."""
    case = Case("case", (wanted,) if wanted else (), lambda _: Setup(),
                **{"kind": "single" if wanted else "healthy"}
                | {key: changes.pop(key) for key in ("also", "never", "parts", "kind", "note")
                   if key in changes})
    return score.Result(case, Setup(), tuple(verdict.claims(findings)), verdict.noted(findings),
                        **changes)


def row(wait_s: float, threads: int = 1, cpu_s: float = 1) -> dict[str, Any]:
    """Two rounds of five seconds, in which so many threads receive at the responder; wait_s and
    cpu_s are sums over threads and rounds."""
    receiving = {"recv.elapsed_s": 5.0 * threads, "recv.wait_s": wait_s / 2, "recv.cpu_s": cpu_s / 2,
                 "recv.threads": threads}
    return {"rounds": [{"counters": {"initiator": {}, "responder": receiving}}] * 2}


class Patience(unittest.TestCase):
    """An engine whose runs are scripted: the class that each names, in turn."""

    def run_cases(self, named: list[str], patience: engine.Patience) -> list[score.Result]:
        told = iter(named)

        class Scripted(engine.Engine):
            def _once(self, *_: Any) -> Outcome:
                return Outcome({"findings": [finding(next(told))]})

        case = Case("case", ("W01",), lambda _: Setup())
        with tempfile.TemporaryDirectory() as folder:
            lab = Scripted(None, 1, Path(folder), None, None, patience)  # type: ignore[arg-type]
            return lab.run([case, case], 1)

    def test_looks_again_at_the_end_at_what_came_out_wrong(self) -> None:
        results = self.run_cases(["Q04", "W01", "W01"], engine.Patience(second_look=True))
        self.assertEqual([one.passed for one in results], [True, True])
        self.assertEqual([len(one.earlier) for one in results], [1, 0])

    def test_looks_once_more_and_not_oftener(self) -> None:
        results = self.run_cases(["Q04", "W01", "Q01"], engine.Patience(second_look=True))
        self.assertEqual([one.passed for one in results], [False, True])

    def test_begins_nothing_when_the_time_is_up(self) -> None:
        results = self.run_cases([], engine.Patience(seconds=0))
        self.assertEqual([one.problem for one in results], ["not run: the time was up"] * 2)


class Drawing(unittest.TestCase):
    def test_gives_the_same_setups_for_a_seed_whatever_else_is_drawn(self) -> None:
        forward = [(case.name, drawn(case, 7)) for case in table.all_cases(7)]
        backward = [(case.name, drawn(case, 7)) for case in reversed(table.all_cases(7))]
        self.assertEqual(forward, backward[::-1])

    def test_gives_other_parameters_and_other_mixes_for_another_seed(self) -> None:
        case = table.chosen(1, "all", ["W01-forward"])[0]
        self.assertNotEqual(drawn(case, 1), drawn(case, 2))
        mixes = [[case.name for case in table.chosen(seed, "all", ["mix"])] for seed in (1, 2)]
        self.assertNotEqual(*mixes)

    def test_stays_in_its_ranges(self) -> None:
        case = table.chosen(1, "all", ["L16-forward"])[0]
        rates = [int(drawn(case, seed).shown["rate"].split()[0]) for seed in range(200)]
        self.assertTrue(all(40 <= rate <= 300 for rate in rates), rates)
        self.assertGreater(max(rates) / min(rates), 3)

    def test_makes_mixes_of_two_different_classes_on_one_path(self) -> None:
        for seed in range(20):
            for case in table.chosen(seed, "all", ["mix"]):
                self.assertEqual(len(case.parts), 2, case.name)
                self.assertFalse(set(case.parts[0]) & set(case.parts[1]), case.name)
                self.assertIn("--workload", pair_words(drawn(case, seed)), case.name)

    def test_refuses_to_merge_two_values_of_one_knob(self) -> None:
        with self.assertRaisesRegex(ValueError, "--delay"):
            build.merged(Setup({"delay": "1ms"}), Setup({"delay": "2ms"}))


class Table(unittest.TestCase):
    def test_has_the_faults_mixes_and_healthy_runs_that_were_promised(self) -> None:
        counts = {kind: sum(case.kind == kind for case in table.all_cases(1))
                  for kind in ("single", "mix", "healthy")}
        self.assertGreaterEqual(counts["single"], 60)
        self.assertEqual(counts["mix"], 40)
        self.assertGreaterEqual(counts["healthy"], 100)

    def test_names_each_case_once_and_never_wants_what_it_forbids(self) -> None:
        cases = table.all_cases(1)
        self.assertEqual(len({case.name for case in cases}), len(cases))
        for case in cases:
            self.assertFalse(case.true_classes & set(case.never), case.name)

    def test_says_which_beginning_fits_no_case(self) -> None:
        with self.assertRaisesRegex(ValueError, "X99"):
            table.chosen(1, "all", ["W01", "X99"])


    def test_has_every_family_of_faults_in_the_part_for_ci(self) -> None:
        chosen = table.chosen(1, "ci", [])
        for family in table.FAMILIES:
            named = {case.name for case in family.CASES}
            self.assertTrue(any(case.name in named for case in chosen), family.__name__)
        self.assertEqual({case.kind for case in chosen}, {"single", "mix", "healthy"})
        self.assertFalse(any(case.guest for case in chosen))


class Reading(unittest.TestCase):
    def test_takes_the_findings_above_level_info_in_their_order(self) -> None:
        found = verdict.claims([finding("K02", severity="info"), finding("W05", "excluded"),
                                finding("W01"), finding("Q04", "possible", "problem")])
        self.assertEqual([str(claim) for claim in found], ["W01 likely", "Q04 possible"])

    def test_takes_the_id_of_a_finding_without_a_class(self) -> None:
        found = verdict.claims([finding("") | {"id": "tls.key"}])
        self.assertEqual(found[0].class_id, "tls.key")

    def test_finds_the_longest_wait_of_any_row_and_end(self) -> None:
        share = verdict.wait_share({"measurements": [row(0.1), row(0.8), row(0)]})
        self.assertAlmostEqual(share or 0, 0.08)

    def test_does_not_count_what_threads_of_one_core_wait_for_each_other(self) -> None:
        share = verdict.wait_share({"measurements": [row(28, threads=4, cpu_s=10)]})
        self.assertEqual(share, 0)
        share = verdict.wait_share({"measurements": [row(34, threads=4, cpu_s=10)]})
        self.assertAlmostEqual(share or 0, 0.1)

    def test_calls_a_run_void_above_five_percent_only_and_never_where_nothing_is_told(self) -> None:
        self.assertIsNone(verdict.wait_share({"measurements": [{"rounds": []}]}))
        self.assertEqual([verdict.is_void(share) for share in (None, 0.05, 0.051)],
                         [False, False, True])


class Scoring(unittest.TestCase):
    def test_wants_the_right_class_first(self) -> None:
        self.assertTrue(result("W01", finding("W01"), finding("Q04")).passed)
        self.assertFalse(result("W01", finding("Q04"), finding("W01")).passed)
        self.assertFalse(result("W01").passed)
        self.assertFalse(result("W01", finding("W01"), finding("Q01"), never=("Q01",)).passed)
        self.assertFalse(result("W01", finding("W01"), problem="no agent").passed)

    def test_wants_both_classes_of_a_mix_at_any_place(self) -> None:
        parts = (("W02", "W01"), ("Q04",))
        both = [finding("K10"), finding("Q04"), finding("W01")]
        self.assertTrue(result("", *both, kind="mix", parts=parts).passed)
        self.assertFalse(result("", *both[:2], kind="mix", parts=parts).passed)

    def test_wants_nothing_above_level_info_of_a_healthy_link(self) -> None:
        self.assertTrue(result("", finding("L01", severity="info")).passed)
        self.assertFalse(result("", finding("L01", "possible")).passed)

    def test_wants_a_note_to_be_named_at_level_info_and_nothing_above(self) -> None:
        note = finding("P07", severity="info")
        self.assertTrue(result("P07", note, note=True).passed)
        self.assertFalse(result("P07", note).passed)
        self.assertFalse(result("P07", note, finding("Q04"), note=True).passed)

    def test_misses_its_bar_for_a_wrong_class_confirmed_though_the_first_is_right(self) -> None:
        bars = score.bars([result("W01", finding("W01"), finding("Q04", "confirmed"))])
        self.assertEqual([bar.met for bar in bars], [True, False, True])
        bars = score.bars([result("W01", finding("W01"), finding("Q04", "confirmed"),
                                  also=("Q04",))])
        self.assertTrue(all(bar.met for bar in bars))

    def test_leaves_void_runs_out_of_the_rates_and_counts_them(self) -> None:
        void = result("W01", finding("K04"), tries=3, waits=(0.2, 0.3, 0.1))
        late = result("W01", finding("W01"), tries=3, waits=(0.2, 0.3))
        single, _, quiet = score.bars([void, late])
        self.assertEqual((single.reached, single.of), (1, 1))
        self.assertEqual((quiet.reached, quiet.of, quiet.met), (1, 2, False))

    def test_forgives_what_was_right_at_the_second_look_but_nothing_wrongly_confirmed(self) -> None:
        right = [result("W01", finding("W01"))] * 20
        late = replace(right[0], earlier=(result("W01", finding("Q04")),))
        self.assertTrue(all(bar.met for bar in score.bars([*right, late], second_look=True)))
        wrong = replace(result("W01", finding("Q04")), earlier=(result("W01"),))
        self.assertFalse(score.bars([*right, wrong], second_look=True)[0].met)
        confirmed = replace(right[0], earlier=(result("W01", finding("Q04", "confirmed")),))
        self.assertFalse(score.bars([*right, confirmed], second_look=True)[1].met)

    def test_judges_nothing_where_there_was_no_time(self) -> None:
        left_out = score.Result(Case("case", ("W01",), lambda _: Setup()), Setup(), tries=0,
                                problem="not run: the time was up")
        self.assertTrue(left_out.void)
        bars = score.bars([result("W01", finding("W01")), left_out], second_look=True)
        self.assertTrue(all(bar.met for bar in bars))
        self.assertFalse(score.bars([left_out], second_look=True)[-1].met)

    def test_meets_a_bar_at_its_rate_exactly(self) -> None:
        self.assertTrue(score.Bar("", 19, 20, 0.95).met)
        self.assertFalse(score.Bar("", 18, 20, 0.95).met)

    def test_counts_wanted_against_claimed(self) -> None:
        equal = Case("case", ("C03c", "C01"), lambda _: Setup())
        results = [result("W01", finding("W01")), result("W01", finding("Q04")), result("W01"),
                   score.Result(equal, Setup(), tuple(verdict.claims([finding("C01")]))),
                   result("L16", problem="no agent"), result("Q01", waits=(0.2,)), result("")]
        matrix = score.confusion(results)
        self.assertEqual(matrix, {"W01": {"W01": 1, "Q04": 1, "nothing": 1}, "C03c": {"C03c": 1},
                                  "L16": {"not run": 1}, "nothing": {"nothing": 1}})
        self.assertIn("| W01 | 1 | 1 |  | 1 |", report.matrix_lines(matrix))


class Lab(unittest.TestCase):
    def test_runs_cases_and_writes_the_matrix(self) -> None:
        binary = Path(netbench_binary())
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "faults")
            lab = subprocess.Popen(
                [sys.executable, REPOSITORY / "scripts/faults", "--build", binary.parents[1],
                 "--only", FEW, "--output", output, "--keep-documents", folder], text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            _, told_while = lab.communicate(timeout=200)
            self.assertIn(lab.returncode, (0, 1), told_while)
            told = json.loads(output.with_suffix(".json").read_text())
            self.assertIn("## Confusion matrix", output.with_suffix(".md").read_text())
            kept = {path.stem for path in Path(folder).glob("*-*.json")}
        named = {case["name"]: case for case in told["cases"]}
        self.assertEqual(kept, set(named))
        for name, case in named.items():
            self.assertEqual(case["problem"], "", name)
            self.assertTrue(case["passed"] or case["void"], f"{name}: {case['claims']}")
        self.assertEqual(list(Path("/run/netns").glob(f"lab{lab.pid}-*")), [])


if __name__ == "__main__":
    unittest.main()
