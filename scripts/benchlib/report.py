"""The tables of a comparison as Markdown, and everything behind them as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields

from . import paired
from .accuracy import CEILING_BPS, LIMIT, RATE, Accuracy
from .cells import OURS
from .harness import Timing
from .rounds import FEWEST_CLEAN, FOREIGN_LIMIT_CPUS, CellRuns, Verdict, compare


@dataclass
class Results:
    """What was measured; rows that were not asked for are empty."""

    about: dict[str, object]
    cells: list[CellRuns] = field(default_factory=list)
    instructions: dict[str, list[dict]] = field(default_factory=dict)
    accuracy: list[Accuracy] = field(default_factory=list)
    micro: list[dict] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _target(limit: float | None, met: bool | None, sign: str) -> str:
    if met is None:
        return "–"
    return f"{sign} {limit:.2f}: {'met' if met else '**missed**'}"


def _verdict_row(runs: CellRuns, verdict: Verdict) -> list[str]:
    ratio, cell = verdict.ratio, runs.cell
    which = "" if verdict.against == verdict.comparison.label else f" ({verdict.against})"
    if verdict.comparison.others == (verdict.against,) and verdict.comparison.limit is None:
        which = ""
    sign = "≥" if cell.higher_is_better else "≤"
    target = _target(verdict.comparison.limit, verdict.met,
                     f"{verdict.comparison.judged} {sign}")
    pairs = f"{ratio.n}" + (", void ones used" if verdict.uses_void else "")
    return [cell.title, verdict.comparison.label + which,
            f"{runs.median(OURS):.4g} {cell.unit}", f"{runs.median(verdict.against):.4g}",
            f"{ratio.median:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]", pairs,
            str(verdict.void_pairs), target]


def verdicts(runs: CellRuns) -> list[Verdict]:
    found = (compare(runs, OURS, comparison) for comparison in runs.cell.comparisons)
    return [verdict for verdict in found if verdict]


def _pairs(results: Results) -> Iterator[str]:
    rows = [_verdict_row(runs, verdict) for runs in results.cells for verdict in verdicts(runs)]
    if not rows:
        return
    yield ("## netbench against others\n\n"
           f"Ratio of netbench to the other: {paired.METHOD}. A pair is void where either run had "
           f"over {FOREIGN_LIMIT_CPUS} CPUs of foreign load; void pairs are left out where "
           f"{FEWEST_CLEAN} or more others remain. CPU-s/GB: CPU time of the tool's processes on "
           "both hosts (their CPU clocks) over the bytes that the receiving interface counted, "
           "in one window inside the stream, so that starting up is in no tool's number. The best "
           "of several is the one with the best median here. `interval`: the worse end of the "
           "interval must keep to the target; `median`: the median; `not above`: some of the "
           "interval must.\n")
    yield from _table(["row", "against", "netbench", "other", "ratio [95 %]", "pairs", "void",
                       "target"], rows)


def gaps(cells: Sequence[dict]) -> Iterator[str]:
    """Of the cells of a document(): what was missed, beside what the same program twice gave."""
    lines = []
    for cell in cells:
        same = [one["ratio"] for one in cell["comparisons"] if one["limit"] is None]
        for one in cell["comparisons"]:
            if one["met"] is False and same:
                ratio, noise = one["ratio"], same[0]
                lines.append(f"- {cell['title']} against {one['against']}: ratio "
                             f"{ratio['median']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}], "
                             f"target {one['limit']:.2f}; the same program twice gave "
                             f"[{noise['low']:.3f}, {noise['high']:.3f}] in these rounds")
    if lines:
        yield "## Gaps\n"
        yield from lines
        yield ""


def _gaps(results: Results) -> Iterator[str]:
    return gaps([_cell_facts(runs) for runs in results.cells])


def _every_tool(results: Results) -> Iterator[str]:
    rows = []
    for runs in results.cells:
        for name, each in sorted(runs.runs.items(), key=lambda item: runs.median(item[0])):
            values = sorted(run.value for run in each)
            foreign = [run.foreign_cpus for run in each]
            rows.append([runs.cell.title, name, f"{statistics.median(values):.4g}",
                         f"{values[0]:.4g}–{values[-1]:.4g}", runs.cell.unit, str(len(values)),
                         f"{statistics.median(foreign):.2f} / {max(foreign):.2f}"])
    if rows:
        yield "## Every tool\n"
        yield from _table(["row", "tool", "median", "range", "unit", "runs",
                           "foreign CPUs, median / max"], rows)
    for runs in results.cells:
        if runs.repeated or runs.failures:
            yield (f"- {runs.cell.title}: {runs.repeated} tries were void or failed"
                   + "".join(f"; {failure.splitlines()[0]}" for failure in runs.failures[:3]))


def _instructions(results: Results) -> Iterator[str]:
    if not results.instructions:
        return
    yield ("## (a) User instructions per message (callgrind, difference of two run lengths)\n\n"
           "Loop: the threads that run the measuring loops. Whole processes: sampling, statistics "
           "and the result document too, which cost by time and not by message; callgrind slows "
           "the messages, so this is more than in a real run.\n")
    rows = []
    for size, programs in results.instructions.items():
        best = min(row["loops"] for row in programs if row["tool"] != OURS)
        for row in programs:
            met = row["loops"] <= 1.05 * best if row["tool"] == OURS else None
            rows.append([size, row["tool"], f"{row['sender_loop']:.1f}",
                         f"{row['receiver_loop']:.1f}", f"{row['loops']:.1f}",
                         f"{row['whole_processes']:.1f}",
                         _target(row["loops"] / best, met, "ratio to the best C loop")])
    yield from _table(["size", "program", "sender's loop", "receiver's loop", "both loops",
                       "whole processes", "target ≤ 1.05"], rows)


def _accuracy(results: Results) -> Iterator[str]:
    if not results.accuracy:
        return
    yield (f"## (e) Accuracy on a token bucket of {RATE}\n\nThe bucket passes at most "
           f"{CEILING_BPS * 1e-6:.4f} Mbit/s of payload (1448 of 1514 B a frame). Error: payload "
           "against the bytes of the receiver's interface less 66 B of headers a packet. Target: "
           f"within {LIMIT:.1%}, and at most one segment a window over the ceiling (the bucket "
           "holds 1600 B, one frame and 86 B).\n")
    rows = [[one.tool, f"{one.size_bytes // 1024} KiB", f"{one.reported_bps * 1e-6:.4f}",
             f"{one.reported_bps / CEILING_BPS:.5f}", f"{one.over_ceiling_segments:+.1f}",
             f"{one.error:+.5%}", ("met" if one.met else "**missed**")
             if one.tool == OURS else "–"] for one in results.accuracy]
    yield from _table(["tool", "size", "reported Mbit/s", "of the ceiling", "segments over",
                       "error", "target"], rows)


def _costs(results: Results) -> Iterator[str]:
    if results.micro:
        yield "## (f) Cost of the harness (bench/micro)\n"
        yield from _table(["piece", "ns per item"],
                          [[row["name"], f"{row['ns']:.2f}"] for row in results.micro])
    if results.timings:
        yield "## (g) Whole commands\n"
        yield from _table(["command", "wall time", "runs", "target"],
                          [[f"`{row.command}`", f"{row.seconds:.4g} s", str(row.n),
                            f"< {row.limit_s:g} s: {'met' if row.met else '**missed**'}"]
                           for row in results.timings])


def _about(results: Results) -> Iterator[str]:
    yield "# netbench beside other tools\n"
    for key, value in results.about.items():
        text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        yield f"- {key.replace('_', ' ')}: {text}"
    yield from (f"- {note}" for note in results.notes)
    yield ""


def markdown(results: Results) -> str:
    parts = (_about, _pairs, _gaps, _instructions, _accuracy, _costs, _every_tool)
    return "\n".join(line for part in parts for line in part(results)).rstrip() + "\n"


def take_over(results: Results, earlier: dict) -> None:
    """Rows of an earlier document() that these results lack, with a note of when they were run."""
    taken = []
    if not results.instructions and earlier["instructions_per_message"]:
        results.instructions = earlier["instructions_per_message"]
        taken.append("instructions")
    if not results.accuracy and earlier["accuracy"]:
        names = [one.name for one in fields(Accuracy)]
        results.accuracy = [Accuracy(**{name: row[name] for name in names})
                            for row in earlier["accuracy"]]
        taken.append("(e)")
    if not results.micro and earlier["micro"]:
        results.micro = earlier["micro"]
        taken.append("(f)")
    if not results.timings and earlier["timings"]:
        names = [one.name for one in fields(Timing)]
        results.timings = [Timing(**{name: row[name] for name in names})
                           for row in earlier["timings"]]
        taken.append("(g)")
    if taken:
        about = earlier["about"]
        results.notes.append(f"{', '.join(taken)}: run on {about['date_utc']} at commit "
                             f"{about['commit']} by `{about['command']}`, load average "
                             f"{about['load_average_at_start']:.1f}")


def _cell_facts(runs: CellRuns) -> dict:
    return {
        "key": runs.cell.key, "title": runs.cell.title, "unit": runs.cell.unit,
        "commands": {tool.name: {"server": list(tool.server), "client": list(tool.client)}
                     for tool in runs.cell.measured + runs.cell.now_and_then},
        "void_or_failed_tries": runs.repeated, "failures": runs.failures,
        "comparisons": [{"against": verdict.against, "label": verdict.comparison.label,
                         "limit": verdict.comparison.limit, "ratio": asdict(verdict.ratio),
                         "void_pairs": verdict.void_pairs, "uses_void": verdict.uses_void,
                         "met": verdict.met} for verdict in verdicts(runs)],
        "runs": {name: [{"round": run.round, "value": run.value, **run.outcome.facts()}
                        for run in each] for name, each in runs.runs.items()},
    }


def document(results: Results) -> dict:
    return {"about": results.about, "notes": results.notes, "method": paired.METHOD,
            "cells": [_cell_facts(runs) for runs in results.cells],
            "instructions_per_message": results.instructions,
            "accuracy": [one.facts() for one in results.accuracy], "micro": results.micro,
            "timings": [row.facts() for row in results.timings]}
