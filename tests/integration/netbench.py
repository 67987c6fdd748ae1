"""The program under test on the hosts of a testbed: agent, pair, and the document it writes.

    with Testbed() as bed:
        agent(bed)
        done = pair(bed, "--workload", "latency", *BRIEF)
        row = only_row(done.document)
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed import INTERFACE, REPOSITORY, Background, Testbed, netbench_binary

sys.path.insert(0, str(REPOSITORY / "tests"))
import validate_document  # noqa: E402

Document = dict[str, Any]
Row = dict[str, Any]

BRIEF = ("--transport", "tcp", "--rounds", "1")
"""Flags of a run that only has to work; pair() adds a budget that a stream's window just fits."""

_numbers = itertools.count()


@functools.cache
def validator() -> Any:
    import jsonschema

    return jsonschema.Draft7Validator(json.loads(validate_document.SCHEMA.read_text()))


def parse_document(text: str) -> Document:
    """The one document that `text` is; AssertionError unless it keeps to the schema and its
    further rules, with nothing before or after it."""
    document = json.loads(text, object_pairs_hook=validate_document.unique_keys,
                          parse_constant=validate_document.no_constant)
    problems = [f"{error.json_path}: {error.message[:200]}"
                for error in validator().iter_errors(document)]
    problems = problems or list(validate_document.problems(document))
    assert not problems, problems
    return document


def read_document(path: Path) -> Document:
    return parse_document(path.read_text())


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str
    seconds: float
    document: Document | None

    @property
    def slug(self) -> str:
        """Of the last error on standard error, "" where there is none."""
        return ([""] + re.findall(r"^error\[([a-z0-9-]+)\]: \S", self.stderr, re.MULTILINE))[-1]


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


def pair(bed: Testbed, *flags: str, peer: str = "nb-b", insecure: bool = True, host: str = "a",
         code: int = 0, timeout: float = 120, to: Path | None = None, budget: str = "2s",
         env: Mapping[str, str] | None = None) -> Outcome:
    """Runs pair with --json FILE to its end, so that its tables are on standard output. budget: ""
    for the profile's. AssertionError unless it exits with `code`, and unless the document it
    wrote is valid."""
    target = to or bed.scratch / f"result-{next(_numbers)}.json"
    words = pair_words(*flags, *(["--budget", budget] if budget else []), "--json", str(target),
                       peer=peer, insecure=insecure)
    began = time.monotonic()
    done = bed.run(host, words, timeout=timeout, check=False, env=env)
    seconds = time.monotonic() - began
    if done.returncode != code:
        raise AssertionError(f"{' '.join(words)} returned {done.returncode}, not {code}:\n"
                             f"{done.stdout}\n{done.stderr}")
    document = read_document(target) if target.exists() else None
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


def counter(row: Row, end: str, name: str) -> float:
    """Sum over the rounds; a counter that did not move is left out of the document: 0."""
    return sum(one["counters"][end].get(name, 0) for one in row["rounds"])


def notes(row: Row) -> str:
    return "\n".join(row["tunables"]["notes"])


def unwrapped(text: str) -> str:
    """A report with its wrapped lines joined again."""
    return re.sub(r"\n +", " ", text)


def host_settings(bed: Testbed, host: str) -> str:
    """What a run may change and has to give back: MTU, addresses, routes."""
    link = json.loads(bed.ip(host, "-j", "address", "show", "dev", INTERFACE))[0]
    addresses = sorted((entry["local"], entry["prefixlen"], entry["scope"])
                       for entry in link["addr_info"])
    routes = [line.strip() for family in ("-4", "-6")
              for line in bed.ip(host, family, "route", "show", "table", "all").splitlines()]
    return "\n".join([f"mtu {link['mtu']}", *map(str, addresses), *sorted(routes)])
