"""Runs the cases, one or several at a time, and repeats those that others disturbed."""

from __future__ import annotations

import json
import queue
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from netlab.namespaces import LabError

from . import verdict
from .case import Case, Setup, drawn
from .guest import Guests
from .run import Outcome, Programs, Slot, findings_of, look_at_tree
from .score import Result

TRIES = 3


class Progress:
    """A line a case on standard error, with the time that is left by the mean so far."""

    def __init__(self, total: int, jobs: int) -> None:
        self._total, self._jobs = total, jobs
        self._began, self._done = time.monotonic(), 0

    def expect_again(self) -> None:
        self._total += 1

    def tell(self, result: Result) -> None:
        self._done += 1
        left_s = (time.monotonic() - self._began) / self._done * (self._total - self._done)
        mark = "void" if result.void else "ok" if result.passed else "MISS"
        told = ", ".join(map(str, result.claims)) or verdict.NOTHING
        print(f"[{self._done}/{self._total}] {mark:4} {result.case.name}: "
              f"{result.problem or told} ({result.seconds:.1f} s; {left_s / 60:.0f} min left)",
              file=sys.stderr, flush=True)

    @staticmethod
    def void(case: Case, share: float, number: int) -> None:
        print(f"  void: {case.name}, try {number}: its threads waited {share:.0%} of their time "
              "for a CPU", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Patience:
    """How often a run may be repeated. seconds: no case begins and nothing is repeated later than
    this; None: no end. second_look: a case that comes out wrong is run once more, afresh."""

    seconds: float | None = None
    second_look: bool = False


class Engine:
    """keep: a folder for the documents, or None."""

    def __init__(self, programs: Programs, seed: int, scratch: Path, keep: Path | None,
                 guests: Guests, patience: Patience = Patience()) -> None:
        self._programs, self._seed, self._scratch, self._keep = programs, seed, scratch, keep
        self._guests, self._patience, self._began = guests, patience, time.monotonic()

    def _in_time(self) -> bool:
        limit = self._patience.seconds
        return limit is None or time.monotonic() - self._began < limit

    def run(self, cases: Sequence[Case], jobs: int) -> list[Result]:
        progress = Progress(len(cases), jobs)
        slots: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for number in range(jobs):
            slots.put(Slot(number, self._scratch))

        def one(case: Case) -> Result:
            if not self._in_time():
                return Result(case, drawn(case, self._seed), problem="not run: the time was up",
                              tries=0)
            slot = slots.get()
            try:
                result = self._case(slot, case, progress)
            finally:
                slots.put(slot)
            progress.tell(result)
            return result

        def again(result: Result) -> Result:
            if result.void or result.passed or not self._patience.second_look:
                return result
            progress.expect_again()
            return replace(one(result.case), earlier=(result,))

        if jobs == 1:  # in this thread, which an interrupt reaches
            return [again(result) for result in [one(case) for case in cases]]
        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(again, list(pool.map(one, cases))))

    def _case(self, slot: Slot, case: Case, progress: Progress) -> Result:
        setup = drawn(case, self._seed)
        waits: list[float] = []
        for number in range(1, TRIES + 1):
            outcome = self._once(slot, case, setup)
            self._save(case, outcome)
            wait = _wait_of(outcome)
            if wait is None or case.any_load or not verdict.is_void(wait, case.wait_limit):
                break
            waits.append(wait)
            progress.void(case, wait, number)
            if not self._in_time():
                break
        return self._judged(case, setup, outcome, tuple(waits), number)

    def _once(self, slot: Slot, case: Case, setup: Setup) -> Outcome:
        if setup.trees:
            return look_at_tree(self._programs, setup, self._scratch)
        return (self._guests if case.guest else slot).run(self._programs, setup)

    def _judged(self, case: Case, setup: Setup, outcome: Outcome, waits: tuple[float, ...],
                tries: int) -> Result:
        findings = findings_of(outcome.document)
        return Result(case, setup, tuple(verdict.claims(findings, case.ambient)),
                      verdict.noted(findings), outcome.problem, outcome.seconds, tries, waits,
                      _wait_of(outcome))

    def _save(self, case: Case, outcome: Outcome) -> None:
        if self._keep and outcome.document:
            self._keep.mkdir(parents=True, exist_ok=True)
            (self._keep / f"{case.name}.json").write_text(json.dumps(outcome.document))


def _wait_of(outcome: Outcome) -> float | None:
    return verdict.wait_share(outcome.document) if outcome.wait is None else outcome.wait


def judge_again(programs: Programs, cases: Iterable[Case], seed: int,
                folder: Path) -> list[Result]:
    """Kept documents through `netbench diagnose`; cases without one are left out."""
    results = []
    for case in cases:
        path = folder / f"{case.name}.json"
        if not path.exists():
            continue
        document = json.loads(path.read_text())
        wait = None if case.guest else verdict.wait_share(document)  # a guest's load is not kept
        waits = (wait,) if wait is not None and verdict.is_void(wait) and not case.any_load else ()
        try:
            findings, problem = programs.diagnose(path), ""
        except LabError as error:
            findings, problem = [], str(error)
        claims = tuple(verdict.claims(findings, case.ambient))
        results.append(Result(case, drawn(case, seed), claims, verdict.noted(findings), problem,
                              waits=waits, wait=wait))
    return results
