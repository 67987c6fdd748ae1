"""Reads a document as the lab needs it: what was claimed, and whether the machine was quiet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_WAIT_SHARE = 0.05  # of their time, the measured threads' wait for a CPU
NOTHING = "nothing"


@dataclass(frozen=True)
class Claim:
    """A finding above level info. class_id: of the catalogue, else the finding's own id."""

    class_id: str
    confidence: str
    severity: str
    cause: str

    def __str__(self) -> str:
        return f"{self.class_id} {self.confidence}"


def claims(findings: Iterable[Mapping[str, Any]], ambient: Sequence[str] = ()) -> list[Claim]:
    """In the document's order: the first is the verdict. Excluded hypotheses are no claims. Claims
    of the ambient classes are left out."""
    every = [Claim(one.get("class_id") or one.get("class") or one["id"], one["confidence"],
                  one["severity"], one.get("cause", ""))
            for one in findings
             if one["severity"] != "info" and one["confidence"] != "excluded"]
    return [claim for claim in every if claim.class_id not in ambient]


def noted(findings: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Classes that are worth knowing, at level info."""
    return frozenset(one["class_id"] for one in findings
                     if one["severity"] == "info" and one["confidence"] != "excluded")


def wait_share(document: Mapping[str, Any]) -> float | None:
    """The largest share of their time that the sending or the receiving threads of one end waited
    for a CPU in one row, other than for each other; None where the document does not tell."""
    shares = [share for row in document.get("measurements", ()) for share in _row_shares(row)]
    return max(shares, default=None)


def _row_shares(row: Mapping[str, Any]) -> Iterable[float]:
    for end in ("initiator", "responder"):
        rounds = [one["counters"].get(end, {}) for one in row.get("rounds", ())]
        for role in ("send", "recv"):
            elapsed, cpu, wait, threads = (sum(one.get(f"{role}.{name}", 0) for one in rounds)
                                           for name in ("elapsed_s", "cpu_s", "wait_s", "threads"))
            if elapsed > 0:
                yield max(0.0, (wait - _own_turns(cpu, threads / len(rounds))) / elapsed)


def _own_turns(cpu_s: float, threads: float) -> float:
    """How long threads on one core wait together while others of them run: one waits for the
    others' CPU time at most."""
    return cpu_s * max(0.0, threads - 1)


def is_void(share: float | None, limit: float = MAX_WAIT_SHARE) -> bool:
    """Whether other work on this machine was in the way. What cannot be told is not void."""
    return share is not None and share > limit
