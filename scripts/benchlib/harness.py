"""Rows (f) and (g): what the harness costs a message, and how long whole commands take."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .tools import Programs


@dataclass(frozen=True)
class Timing:
    """Wall time of a whole command: median of `n` runs."""

    command: str
    seconds: float
    n: int
    limit_s: float

    @property
    def met(self) -> bool:
        return self.seconds < self.limit_s

    def facts(self) -> dict[str, float | str | bool]:
        return asdict(self) | {"met": self.met}


def micro(programs: Programs, repetitions: int = 5) -> list[dict[str, float | str]]:
    """Medians of bench/micro: name, and time per item (per iteration where it has none)."""
    words = [programs.micro, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
             "--benchmark_min_time=0.05", "--benchmark_report_aggregates_only=true"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)
    rows: list[dict[str, float | str]] = []
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("aggregate_name") == "median":
            per_item = row.get("items_per_second")
            cost = 1e9 / per_item if per_item else row["real_time"]
            rows.append({"name": row["run_name"], "ns": cost})
    return rows


def _time(words: Sequence[str], n: int, limit_s: float, shown: str) -> Timing:
    taken = []
    for _ in range(n):
        began = time.perf_counter()
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=300)
        taken.append(time.perf_counter() - began)
        if done.returncode != 0:
            raise ValueError(f"{shown} returned {done.returncode}: {done.stderr[-500:]}")
    return Timing(shown, statistics.median(taken), n, limit_s)


def timings(programs: Programs, quick: bool) -> list[Timing]:
    netbench = programs.netbench
    rows = [_time([netbench, "--help"], 31, 0.010, "netbench --help"),
            _time([netbench, "pair", "--help"], 31, 0.010, "netbench pair --help")]
    if quick:
        return rows
    this_host = [netbench, "pair", "--peer", "self"]
    return [*rows, _time([*this_host, "--quick"], 1, 20, "netbench pair --peer self --quick"),
            _time(this_host, 1, 60, "netbench pair --peer self")]
