"""The whole table of the lab, and the choice of rows."""

from __future__ import annotations

from collections.abc import Sequence

from . import (cases_application, cases_connect, cases_cpu, cases_healthy, cases_link, cases_mixes,
               cases_mtu, cases_path, cases_trees, cases_windows)
from .case import Case

FAMILIES = (cases_windows, cases_application, cases_link, cases_path, cases_mtu, cases_cpu,
            cases_connect)


def all_cases(seed: int) -> tuple[Case, ...]:
    """Single faults first, then recorded hosts, mixes and healthy runs."""
    singles = tuple(case for family in FAMILIES for case in family.CASES)
    return (*singles, *cases_trees.CASES, *cases_mixes.cases(seed), *cases_healthy.CASES)


def chosen(seed: int, subset: str, only: Sequence[str]) -> list[Case]:
    """only: beginnings of names, as W01 or mix. ValueError where one names nothing."""
    table = all_cases(seed)
    if unknown := [word for word in only if not any(case.name.startswith(word) for case in table)]:
        raise ValueError(f"no case begins with {', '.join(unknown)}; --list shows them")
    return [case for case in table
            if (subset == "all" or case.ci)
            and (not only or case.name.startswith(tuple(only)))]
