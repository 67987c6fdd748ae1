"""Rounds: every cell's tools once each, one after the other in random order."""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .cells import NOW_AND_THEN_ROUNDS, Cell, Comparison
from .lab import Lab
from .paired import Ratio, ratio_of
from .tools import Tool
from .trial import Outcome, Trial, TrialError

FOREIGN_LIMIT_CPUS = 0.3
FEWEST_CLEAN = 5  # pairs; with fewer, the pairs under foreign load are used too, and named so
FIRST_PORT, LAST_PORT = 20_000, 30_000


@dataclass(frozen=True)
class Run:
    """One accepted or void run: its number, and how many CPUs others used meanwhile."""

    round: int
    value: float
    outcome: Outcome

    @property
    def foreign_cpus(self) -> float:
        return self.outcome.window.foreign_cpus

    @property
    def clean(self) -> bool:
        return self.foreign_cpus <= FOREIGN_LIMIT_CPUS


@dataclass
class CellRuns:
    """What a cell gave: by tool, the last try of each round; `repeated` counts the void tries."""

    cell: Cell
    runs: dict[str, list[Run]] = field(default_factory=dict)
    repeated: int = 0
    failures: list[str] = field(default_factory=list)

    def pairs(self, first: str, second: str) -> list[tuple[Run, Run]]:
        others = {run.round: run for run in self.runs.get(second, [])}
        return [(run, others[run.round]) for run in self.runs.get(first, [])
                if run.round in others]

    def median(self, tool: str) -> float:
        return statistics.median(run.value for run in self.runs[tool])


@dataclass(frozen=True)
class Verdict:
    """One comparison: the ratio and what stands behind it."""

    comparison: Comparison
    against: str
    ratio: Ratio
    void_pairs: int
    uses_void: bool
    met: bool | None


def compare(cell_runs: CellRuns, ours: str, comparison: Comparison) -> Verdict | None:
    """None where a tool never ran. Best of several: by the median over all its runs."""
    cell = cell_runs.cell
    others = [name for name in comparison.others if cell_runs.runs.get(name)]
    if not others or not cell_runs.runs.get(ours):
        return None
    pick = max if cell.higher_is_better else min
    against = pick(others, key=cell_runs.median)
    pairs = cell_runs.pairs(ours, against)
    clean = [pair for pair in pairs if pair[0].clean and pair[1].clean]
    uses_void = len(clean) < FEWEST_CLEAN
    used = pairs if uses_void else clean
    if not used:
        return None
    ratio = ratio_of([(first.value, second.value) for first, second in used])
    return Verdict(comparison, against, ratio, len(pairs) - len(clean), uses_void,
                   _met(cell, comparison, ratio))


def _met(cell: Cell, comparison: Comparison, ratio: Ratio) -> bool | None:
    if comparison.limit is None:
        return None
    if cell.higher_is_better:
        number = {"interval": ratio.low, "median": ratio.median, "not above": ratio.high}
        return number[comparison.judged] >= comparison.limit
    number = {"interval": ratio.high, "median": ratio.median, "not above": ratio.low}
    return number[comparison.judged] <= comparison.limit


class Runner:
    """Runs rounds until there are enough or the time is up."""

    def __init__(self, lab: Lab, scratch: Path, seconds: float, repeats: int, seed: int) -> None:
        self._lab, self._scratch = lab, scratch
        self._seconds, self._repeats = seconds, repeats
        self._random = random.Random(seed)
        self._ports = self._next_ports()

    def run(self, cells: Sequence[Cell], rounds: int, until_s: float) -> list[CellRuns]:
        """until_s: of time.monotonic(); no round begins that would end later if it took as
        long as the last."""
        results = [CellRuns(cell) for cell in cells]
        last_s = 0.0
        for number in range(rounds):
            began = time.monotonic()
            if began + last_s > until_s:
                print(f"bench-peers: time is up after {number} rounds", file=sys.stderr)
                break
            due = [result for result in results if number < result.cell.most_rounds]
            for result in self._random.sample(due, len(due)):
                self._visit(result, number)
            last_s = time.monotonic() - began
            print(f"bench-peers: round {number + 1} of {rounds}, {last_s:.0f} s",
                  file=sys.stderr)
        return results

    def _visit(self, result: CellRuns, number: int) -> None:
        measured = list(result.cell.measured)
        if number % NOW_AND_THEN_ROUNDS == 0:
            measured += result.cell.now_and_then
        for tool in self._random.sample(measured, len(measured)):
            for _ in range(1 + self._repeats):
                run = self._try(result, tool, number)
                if run and run.clean:
                    break
                result.repeated += 1
            if run:
                result.runs.setdefault(tool.name, []).append(run)

    def _try(self, result: CellRuns, tool: Tool, number: int) -> Run | None:
        try:
            with Trial(self._lab, tool, next(self._ports), self._scratch) as trial:
                outcome = result.cell.run(trial, self._seconds)
            return Run(number, result.cell.value(tool, outcome), outcome)
        except (TrialError, ValueError, LookupError, OSError) as error:
            result.failures.append(f"{tool.name}: {error}"[:500])
            return None

    @staticmethod
    def _next_ports() -> Iterator[int]:
        """A fresh pair of ports for every run, so that none waits for an old connection's end."""
        while True:
            yield from range(FIRST_PORT, LAST_PORT, 2)
