"""Results against what was wanted: the confusion matrix, the rates, the bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .case import Case, Setup
from .verdict import NOTHING, Claim


@dataclass(frozen=True)
class Result:
    """One case as it came out. problem: why it could not be judged, which counts as a miss."""

    case: Case
    setup: Setup
    claims: tuple[Claim, ...] = ()
    noted: frozenset[str] = frozenset()
    problem: str = ""
    seconds: float = 0
    tries: int = 1
    waits: tuple[float, ...] = field(default=())  # of the void tries, shares
    wait: float | None = None                     # of the one that counts
    earlier: tuple[Result, ...] = ()              # wrong ones, after which the case was run afresh

    @property
    def void(self) -> bool:
        """No try was quiet, or there was no time for one."""
        return len(self.waits) == self.tries

    @property
    def first(self) -> str:
        notes = sorted(self.noted & set(self.case.wanted)) if self.case.note else []
        return self.claims[0].class_id if self.claims else (notes or [NOTHING])[0]

    @property
    def wrongly_confirmed(self) -> tuple[str, ...]:
        return tuple(claim.class_id for result in (*self.earlier, self) for claim in result.claims
                     if claim.confidence == "confirmed"
                     and claim.class_id not in self.case.true_classes)

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Claimed although the case rules them out."""
        return tuple(claim.class_id for claim in self.claims if claim.class_id in self.case.never)

    @property
    def passed(self) -> bool:
        if self.problem:
            return False
        if self.case.kind == "healthy":
            return not self.claims
        if self.case.kind == "mix":
            named = {claim.class_id for claim in self.claims}
            return all(named & set(part) for part in self.case.parts)
        return self.first in self.case.wanted and not self.forbidden


@dataclass(frozen=True)
class Bar:
    """A rate and what it must reach."""

    name: str
    reached: int
    of: int
    wanted: float

    @property
    def rate(self) -> float:
        return self.reached / self.of if self.of else 1.0

    @property
    def met(self) -> bool:
        return self.rate >= self.wanted

    def __str__(self) -> str:
        return f"{self.name}: {self.reached} of {self.of} ({self.rate:.0%}, bar {self.wanted:.0%})"


WANTED = {"single": ("single faults, right class first", 0.95),
          "mix": ("mixes, both named", 0.85),
          "healthy": ("healthy runs, nothing above level info", 1.0)}


def bars(results: Sequence[Result], second_look: bool = False) -> list[Bar]:
    """Of the kinds that were run. Void results are left out: they say nothing of the diagnosis.
    second_look: what was wrong has been run afresh, so that each case must come out right, while
    half of the runs may have been disturbed."""
    judged = [result for result in results if not result.void]
    found = []
    for kind, (name, wanted) in WANTED.items():
        those = [result for result in judged if result.case.kind == kind]
        if those:
            found.append(Bar(name, sum(result.passed for result in those), len(those),
                             1.0 if second_look else wanted))
    clean = sum(not result.wrongly_confirmed for result in judged)
    found.append(Bar("no wrong class confirmed", clean, len(judged), 1.0))
    void = sum(result.void for result in results)
    found.append(Bar("runs that were quiet enough to judge", len(results) - void, len(results),
                     0.5 if second_look else 0.95))
    return found


Matrix = dict[str, Counter[str]]


def confusion(results: Sequence[Result]) -> Matrix:
    """Wanted class × class claimed first, of single faults and healthy runs. A claim that the case
    accepts instead counts under the wanted class."""
    matrix: Matrix = {}
    for result in results:
        if result.case.kind == "mix" or result.void:
            continue
        wanted = result.case.wanted[0] if result.case.wanted else NOTHING
        claimed = wanted if result.first in result.case.wanted else result.first
        matrix.setdefault(wanted, Counter())["not run" if result.problem else claimed] += 1
    return matrix
