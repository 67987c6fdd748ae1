"""Reads a document as the lab needs it: what was claimed, and whether the machine was quiet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def claims(findings: Iterable[Mapping[str, Any]]) -> list[Claim]:
    """In the document's order: the first is the verdict. Excluded hypotheses are no claims."""
    return [Claim(one.get("class_id") or one.get("class") or one["id"], one["confidence"],
                  one["severity"], one.get("cause", ""))
            for one in findings
            if one["severity"] != "info" and one["confidence"] != "excluded"]


def wait_share(document: Mapping[str, Any], direction: str = "") -> float | None:
    """The largest share of their time that the sending or the receiving threads of one end waited
    for a CPU in one row, of this direction if one is given; None where the document does not tell.
    """
    shares = [share for row in document.get("measurements", ())
              if direction in ("", row.get("direction")) for share in _row_shares(row)]
    return max(shares, default=None)


def _row_shares(row: Mapping[str, Any]) -> Iterable[float]:
    for end in ("initiator", "responder"):
        for role in ("send", "recv"):
            counters = [one["counters"].get(end, {}) for one in row.get("rounds", ())]
            elapsed = sum(one.get(f"{role}.elapsed_s", 0) for one in counters)
            if elapsed > 0:
                yield sum(one.get(f"{role}.wait_s", 0) for one in counters) / elapsed


def is_void(share: float | None) -> bool:
    """Whether other work on this machine was in the way. What cannot be told is not void."""
    return share is not None and share > MAX_WAIT_SHARE
