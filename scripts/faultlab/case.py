"""What the table of the lab is made of: a case, and the setup that is drawn for one of its runs."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Do:
    """A command on a host ('a', 'b', 'm' the middle) that must succeed before anything runs."""

    host: str
    argv: tuple[str, ...]
    stdin: str = ""


@dataclass(frozen=True)
class Stay:
    """A process that stays on a host until the end of the run, which begins when it has said so
    where it says something."""

    host: str
    argv: tuple[str, ...]
    says: str = ""


@dataclass(frozen=True)
class Quota:
    """The share of one core that this host's netbench may use (control group, version 1 or 2)."""

    host: str
    share: float


Step = Do | Stay | Quota


@dataclass(frozen=True)
class Setup:
    """One run. bed: flags of scripts/testbed; pair: options of `netbench pair`; shown: the drawn
    parameters in words. agent: options of the agent, None for no agent at all. trees: one or two
    recorded machines that are looked at, the first towards the address `peer`, instead of a run.
    """

    bed: Mapping[str, str | bool] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    pair: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    peer: str = "nb-b"
    agent: tuple[str, ...] | None = ("--insecure",)
    trees: tuple[str, ...] = ()


Draw = Callable[[random.Random], Setup]


@dataclass(frozen=True)
class Case:
    """A row of the table.

    wanted: the classes that may come first; more than one only where physics makes them equal.
    also: true besides. never: must not be claimed at all. parts: a mix, one class of each group
    must be named. kind: single, mix, healthy. any_load: judged however busy the machine is: starved
    on purpose, or wrong at rest. note: the class is named at level info, and nothing above that.
    guest: runs in virtual machines. ambient: true of the lab's hosts themselves; such a claim is
    not looked at.
    """

    name: str
    wanted: tuple[str, ...]
    draw: Draw
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    kind: str = "single"
    any_load: bool = False
    note: bool = False
    ci: bool = False
    guest: bool = False
    ambient: tuple[str, ...] = ()

    @property
    def wait_limit(self) -> float:
        """Share of the time that others may keep the measured threads from a CPU: 5 %; emulated
        processors are slow anyway, and what is judged of them are counters and ratios."""
        return 0.4 if self.guest else 0.05

    @property
    def true_classes(self) -> frozenset[str]:
        """Whatever of these is claimed is no error."""
        named = {name for part in self.parts for name in part}
        return frozenset({*self.wanted, *self.also} | named)


def drawn(case: Case, seed: int) -> Setup:
    """The setup of a case under a seed: the same always, whatever else is run."""
    digest = hashlib.sha256(f"{seed}/{case.name}".encode()).digest()
    return case.draw(random.Random(digest))
