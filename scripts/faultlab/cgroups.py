"""A control group with a CPU quota for one program, version 1 or 2 (cgroups(7))."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


def _parent() -> Path:
    """Where a group may be made: version 1, below our own one, whose weight it keeps; version 2,
    the root, the only group that may hold both processes and controlled children."""
    if not (ROOT / "cpu").is_dir():
        return ROOT
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return ROOT / "cpu" / path.lstrip("/")
    return ROOT / "cpu"


def _limit(group: Path, share: float) -> None:
    quota_us = round(share * PERIOD_US)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota_us))


@contextlib.contextmanager
def limited(name: str, share: float) -> Iterator[Path]:
    """A group with this share of one core, removed when its processes have ended."""
    group = _parent() / f"{name}-{os.getpid()}"
    group.mkdir()
    try:
        _limit(group, share)
        yield group
    finally:
        _remove(group)


def _remove(group: Path, timeout_s: float = 5) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def words_inside(group: Path, argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` in the group, as the same process."""
    return ["sh", "-euc", 'echo $$ > "$0"; exec "$@"', str(group / "cgroup.procs"), *argv]
