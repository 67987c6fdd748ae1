"""Commands of this machine, and how the lab fails."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


class LabError(RuntimeError):
    """What was tried, what happened, what to do."""


def run(argv: Sequence[str | Path], cwd: Path | None = None, timeout_s: float = 120) -> str:
    """Output of a command, or LabError with the end of what it said."""
    shown = " ".join(map(str, argv))
    try:
        done = subprocess.run(argv, text=True, capture_output=True, check=False, cwd=cwd,
                              stdin=subprocess.DEVNULL, timeout=timeout_s)
    except FileNotFoundError as error:
        raise LabError(f"'{argv[0]}' is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"'{shown}' did not end in {timeout_s:.0f} s") from error
    if done.returncode != 0:
        told = (done.stderr.strip() or done.stdout.strip()).splitlines()[-20:]
        raise LabError(f"'{shown}' failed: " + "\n".join(told))
    return done.stdout
