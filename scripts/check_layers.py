#!/usr/bin/env python3
"""Checks who includes whom: dependencies point down, CLI11 and nlohmann/json stay confined.

  scripts/check_layers.py [repository]        0: clean, 1: each violation on its own line
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

# Direct dependencies of each module; what they include in turn is allowed too.
DEPENDS: dict[str, tuple[str, ...]] = {
    "bench/core": (),
    "bench/stats": ("bench/core",),
    "bench/model": ("bench/core", "bench/stats"),
    "bench/plan": ("bench/core", "bench/model"),
    "bench/plugin": ("bench/plan", "transports/abi"),
    "bench/session": ("bench/plan", "transports/abi"),
    "bench/facts": ("bench/model",),
    "bench/measure": ("bench/stats", "bench/plan", "bench/plugin", "bench/session", "bench/facts"),
    "bench/launch": ("bench/session",),
    "bench/cli": ("bench/measure", "bench/launch", "report/document", "report/diagnose",
                  "report/compare", "report/accept", "report/import", "report/render"),
    "bench/micro": ("bench/measure", "transports/verbs", "report/document"),
    "transports/abi": (),
    "transports/sdk": ("transports/abi",),
    "transports/rdma": ("transports/sdk",),
    "transports/verbs": ("transports/rdma",),
    "transports/gpudirect": ("transports/rdma",),
    "report/document": ("bench/model",),
    "report/bounds": ("bench/model",),
    "report/diagnose": ("report/bounds",),
    "report/compare": ("bench/model",),
    "report/accept": ("bench/model",),
    "report/import": ("bench/model",),
    "report/render": ("bench/model",),
}
STANDALONE = ("bench/peers",)  # plain C programs, compiled alone: neighbours only
TRANSPORT = ("transports/sdk",)  # every transport without a row of its own

# Slow headers, and the files (globs over repository paths) that may include them.
CONFINED: dict[str, tuple[str, ...]] = {
    "CLI/": ("bench/cli/*",),
    "nlohmann/json.hpp": ("*codec*.cpp", "bench/model/coder.*", "report/document/*"),
}
SUFFIXES = (".cpp", ".hpp", ".c", ".h", ".cu")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def module_of(path: str) -> str:
    """'bench/core' of 'bench/core/result.hpp'; '' outside the three trees or at their top."""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and parts[0] in TREES else ""


TREES = ("bench", "transports", "report")


def allowed(module: str) -> set[str]:
    """The module itself and everything below it."""
    seen, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += DEPENDS.get(name, TRANSPORT if name.startswith("transports/") else ())
    return seen


def includes(text: str) -> Iterator[tuple[int, bool, str]]:
    """(line, written with quotes, path) of each include."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1] == '"', match[2]


def violation(path: str, quoted: bool, target: str) -> str:
    """Why this include is wrong, or ''."""
    for prefix, places in CONFINED.items():
        if target.startswith(prefix) and not any(fnmatch(path, place) for place in places):
            return f"<{target}> belongs to {' and '.join(places)} alone"
    module, wanted = module_of(path), module_of(target)
    if quoted and not wanted and module not in STANDALONE:
        return f'"{target}": write the path from the repository root'
    if wanted and wanted not in allowed(module):
        return f"{module} must not depend on {wanted}"
    return ""


def check(root: Path) -> list[str]:
    """'path:line: reason' of every violation below this repository."""
    found = []
    for tree in TREES:
        for file in sorted((root / tree).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            path = file.relative_to(root).as_posix()
            if path.startswith("bench/") and module_of(path) not in (*DEPENDS, *STANDALONE):
                found.append(f"{path}:1: no row for its module in {Path(__file__).name}")
                continue
            for line, quoted, target in includes(file.read_text()):
                if why := violation(path, quoted, target):
                    found.append(f"{path}:{line}: {why}")
    return found


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    found = check(root)
    print("\n".join(found) if found else "layers: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
