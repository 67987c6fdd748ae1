"""The whole table of the lab, and the choice of rows."""

from __future__ import annotations

from collections.abc import Sequence

from . import (cases_application, cases_connect, cases_cpu, cases_guest_bond, cases_guest_host,
               cases_guest_path, cases_healthy, cases_link, cases_mixes, cases_mtu, cases_path,
               cases_trees, cases_windows)
from .case import Case

FAMILIES = (cases_windows, cases_application, cases_link, cases_path, cases_mtu, cases_cpu,
            cases_connect)
GUESTS = (cases_guest_bond, cases_guest_path, cases_guest_host)
SUBSETS = ("ci", "guest", "all")


def all_cases(seed: int) -> tuple[Case, ...]:
    """Single faults first, then those in virtual machines, recorded hosts, mixes, healthy runs."""
    singles, guests = (tuple(case for family in families for case in family.CASES)
                       for families in (FAMILIES, GUESTS))
    return (*singles, *guests, *cases_trees.CASES, *cases_mixes.cases(seed), *cases_healthy.CASES)


def chosen(seed: int, subset: str, only: Sequence[str]) -> list[Case]:
    """only: beginnings of names, as W01 or mix. ValueError where one names nothing."""
    table = all_cases(seed)
    if unknown := [word for word in only if not any(case.name.startswith(word) for case in table)]:
        raise ValueError(f"no case begins with {', '.join(unknown)}; --list shows them")
    return [case for case in table
            if (subset == "all" or (case.guest if subset == "guest" else case.ci))
            and (not only or case.name.startswith(tuple(only)))]
