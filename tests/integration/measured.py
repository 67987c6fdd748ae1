"""Runs of pair that are expected to measure, and the rows of their documents.

    with Testbed() as bed:
        start_agent(bed)
        done = measure(bed, "--workload", "latency", *BRIEF)
        row = only_row(done.document)
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netbench import Outcome, pair, read_document
from testbed import Testbed

Document = dict[str, Any]
Row = dict[str, Any]

BRIEF = ("--transport", "tcp", "--rounds", "1", "--budget", "2s")
"""One round, as short as a stream's window allows."""

_numbers = itertools.count()


def measure(bed: Testbed, *flags: str, peer: str = "nb-b", insecure: bool = True,
            host: str = "a", code: int = 0, timeout: float = 120, to: Path | None = None,
            env: Mapping[str, str] | None = None) -> Outcome:
    """Runs pair with --json FILE, so that the tables are on standard output. AssertionError unless
    it exits with `code`, and unless the document it wrote is valid."""
    target = to or bed.scratch / f"result-{next(_numbers)}.json"
    words = [*(["--insecure"] if insecure else []), *flags]
    done = pair(bed, *words, peer=peer, host=host, json_to=str(target), timeout=timeout, env=env)
    if done.exit_code != code:
        raise AssertionError(f"pair {' '.join(words)} returned {done.exit_code}, not {code}:\n"
                             f"{done.stdout}\n{done.stderr}")
    done.document = read_document(target) if target.exists() else None
    return done


def rows(document: Document | None, **wanted: Any) -> list[Row]:
    """Measurements whose keys have the wanted values: rows(d, workload="latency")."""
    assert document is not None, "no document"
    return [row for row in document["measurements"]
            if all(row[key] == value for key, value in wanted.items())]


def only_row(document: Document | None, **wanted: Any) -> Row:
    found = rows(document, **wanted)
    assert len(found) == 1, f"{len(found)} rows have {wanted}: {[row['id'] for row in found]}"
    return found[0]


def requested(row: Row, name: str) -> Any:
    return row["tunables"]["requested"].get(name)


def effective(row: Row, name: str, end: str = "initiator") -> Any:
    return row["tunables"]["effective"][end].get(name)


def counter(row: Row, end: str, name: str) -> float:
    """Sum over the rounds; a counter that did not move is left out of the document: 0."""
    return sum(one["counters"][end].get(name, 0) for one in row["rounds"])


def notes(row: Row) -> str:
    return "\n".join(row["tunables"]["notes"])
