"""The program under test on the hosts of a testbed: agent, pair, and the document it writes.

    with Testbed() as bed:
        agent(bed)
        done = pair(bed, "--workload", "latency", "--rounds", "1")
        row = only_row(done.document)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed import REPOSITORY, Background, Testbed, netbench_binary

sys.path.insert(0, str(REPOSITORY / "tests"))
import validate_document  # noqa: E402

Document = dict[str, Any]
Row = dict[str, Any]

SHORT = ("--transport", "tcp", "--rounds", "1", "--budget", "4s")
"""Flags of a run that only has to work: one round, as short as a stream's window allows."""


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str
    seconds: float
    document: Document | None


def validator() -> Any:
    import jsonschema

    return jsonschema.Draft7Validator(json.loads(validate_document.SCHEMA.read_text()))


def valid_document(path: str | Path) -> Document:
    """Parses a document; AssertionError unless it keeps to the schema and its further rules."""
    problems = validate_document.check(str(path), validator())
    assert not problems, f"{path}: {problems}"
    return validate_document.load(str(path))


def agent(bed: Testbed, *flags: str, host: str = "b", insecure: bool = True,
          env: Mapping[str, str] | None = None) -> Background:
    """Starts an agent and waits until it listens."""
    words = [netbench_binary(), "agent", *(["--insecure"] if insecure else []), *flags]
    started = bed.start(host, words, env=env)
    started.wait_for("agent on port", timeout=20)
    return started


def pair_words(*flags: str, peer: str = "nb-b", insecure: bool = True) -> list[str]:
    return [netbench_binary(), "pair", "--peer", peer, *(["--insecure"] if insecure else []),
            *flags]


_documents = iter(range(10**6))


def pair(bed: Testbed, *flags: str, peer: str = "nb-b", insecure: bool = True, host: str = "a",
         code: int | None = 0, timeout: float = 120, json_file: Path | None = None,
         env: Mapping[str, str] | None = None) -> Outcome:
    """Runs pair with --json to its end. AssertionError unless it exits with `code` (None: any) and
    the document, if it wrote one, is valid."""
    target = json_file or bed.scratch / f"result-{next(_documents)}.json"
    words = pair_words(*flags, "--json", str(target), peer=peer, insecure=insecure)
    began = os.times().elapsed
    done = bed.run(host, words, timeout=timeout, check=False, env=env)
    seconds = os.times().elapsed - began
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(words)} returned {done.returncode}, not {code}:\n"
                             f"{done.stdout}\n{done.stderr}")
    document = valid_document(target) if target.exists() else None
    return Outcome(done.returncode, done.stdout, done.stderr, seconds, document)


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


def counter(row: Row, end: str, name: str, index: int = 0) -> float:
    """Of one round; counters that did not move are left out of the document: 0."""
    return row["rounds"][index]["counters"][end].get(name, 0)


def notes(row: Row) -> str:
    return "\n".join(row["tunables"]["notes"])


def program(*words: str, timeout: float = 60, stdin: str = "",
            env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program on this host, outside any testbed."""
    return subprocess.run([netbench_binary(), *words], text=True, capture_output=True, input=stdin,
                          timeout=timeout, check=False, env={**os.environ, **(env or {})})
