"""Recorded hosts: the faults of hardware, as trees of files below tests/unit/facts/trees that
`netbench doctor --root` looks at. A tree says in `expect.json` what is wrong with it:
{"wanted": ["P02"], "also": []}; nothing wanted is a healthy host."""

from __future__ import annotations

import json
import random
from pathlib import Path

from .case import Case, Setup

FOLDER = Path(__file__).resolve().parents[2] / "tests/unit/facts/trees"


def _case(tree: Path) -> Case:
    expected = json.loads((tree / "expect.json").read_text())
    wanted = tuple(expected["wanted"])

    def recorded(_: random.Random) -> Setup:
        return Setup(tree=str(tree), agent=None, shown={"tree": tree.name})

    return Case(f"tree-{tree.name}", wanted, recorded, also=tuple(expected.get("also", ())),
                kind="single" if wanted else "healthy", ci=True)


def cases(folder: Path = FOLDER) -> tuple[Case, ...]:
    return tuple(_case(path.parent) for path in sorted(folder.glob("*/expect.json")))
