"""The results as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .score import Bar, Matrix, Result, bars, confusion
from .verdict import NOTHING


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def matrix_lines(matrix: Matrix) -> list[str]:
    """Rows: wanted; columns: claimed first. The diagonal is one column, and classes that were
    never claimed wrongly have none."""
    wrong = sorted({claimed for wanted, counts in matrix.items() for claimed in counts
                    if claimed != wanted})
    rows = [[wanted, str(counts[wanted] or ""),
             *("" if column == wanted else str(counts[column] or "") for column in wrong)]
            for wanted, counts in sorted(matrix.items())]
    return _table(["wanted", "claimed as wanted", *wrong], rows)


def _outcome(result: Result) -> str:
    if result.void:
        return "void"
    return "pass" if result.passed else "**miss**"


def _wanted(result: Result) -> str:
    case = result.case
    if case.parts:
        return " and ".join("/".join(part) for part in case.parts)
    return " or ".join(case.wanted) or NOTHING


def _case_line(result: Result) -> list[str]:
    claims = ", ".join(map(str, result.claims)) or NOTHING
    first = [f"wrong at first: {'; '.join(map(str, early.claims)) or early.problem or NOTHING}"
             for early in result.earlier]
    notes = [*first, *(f"wrongly confirmed: {name}" for name in result.wrongly_confirmed),
             *(f"must not be claimed: {name}" for name in result.forbidden)]
    parameters = ", ".join(f"{key} {value}" for key, value in result.setup.shown.items())
    return [result.case.name, _wanted(result), result.problem or "; ".join([claims, *notes]),
            _outcome(result), parameters, f"{result.seconds:.1f}", str(result.tries)]


HEAD = ["case", "wanted", "claimed", "outcome", "parameters", "s", "tries"]


def markdown(results: Sequence[Result], about: Mapping[str, str],
             second_look: bool = False) -> str:
    lines = ["# The fault lab", "", *(f"- {key}: {value}" for key, value in about.items()), "",
             "## Rates", "",
             *_table(["what", "reached", "of", "rate", "bar", ""],
                     [[bar.name, str(bar.reached), str(bar.of), f"{bar.rate:.1%}",
                       f"{bar.wanted:.0%}", "met" if bar.met else "**missed**"]
                      for bar in bars(results, second_look)]), "",
             "## Confusion matrix", "",
             "Rows: the class that was injected; columns: the class of the first finding above "
             "level info, where it is another one.", "", *matrix_lines(confusion(results)), ""]
    for kind, title in (("single", "Single faults"), ("mix", "Mixes of two"),
                        ("healthy", "Healthy links")):
        chosen = [_case_line(result) for result in results if result.case.kind == kind]
        if chosen:
            lines += [f"## {title}", "", *_table(HEAD, chosen), ""]
    return "\n".join([*lines, *_voids(results)])


def _voids(results: Sequence[Result]) -> list[str]:
    shares = [f"- {result.case.name}: " + ", ".join(f"{share:.0%}" for share in result.waits)
              for result in results if result.waits]
    return ["## Void tries", "", "Share of their time that the measured threads waited for a CPU:",
            "", *shares, ""] if shares else []


def _bar(bar: Bar) -> dict[str, Any]:
    return {"name": bar.name, "reached": bar.reached, "of": bar.of, "wanted": bar.wanted,
            "met": bar.met}


def _facts(result: Result) -> dict[str, Any]:
    return {"name": result.case.name, "kind": result.case.kind, "wanted": list(result.case.wanted),
            "parts": [list(part) for part in result.case.parts],
            "claims": [vars(claim) for claim in result.claims], "passed": result.passed,
            "void": result.void, "problem": result.problem, "seconds": round(result.seconds, 2),
            "tries": result.tries,
            "wrong_at_first": [[vars(claim) for claim in early.claims] for early in result.earlier],
            "void_wait_shares": list(result.waits),
            "wait_share": result.wait, "parameters": dict(result.setup.shown)}


def document(results: Sequence[Result], about: Mapping[str, str],
             second_look: bool = False) -> dict[str, Any]:
    matrix = confusion(results)
    return {"about": dict(about), "bars": [_bar(bar) for bar in bars(results, second_look)],
            "matrix": {wanted: dict(sorted(counts.items()))
                       for wanted, counts in sorted(matrix.items())},
            "cases": [_facts(result) for result in results]}
