"""The virtual machines of scripts/rdma-lab for a test: its packages, and its command.

    def setUpModule() -> None:
        set_up_machines()
    ...
    done = lab("run", "--hosts", "1", "--", "ibv_devices")
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from testbed import REPOSITORY

SCRIPT = REPOSITORY / "scripts/rdma-lab"
SETUP_S = 250  # a first time fetches the packages


def lab(*words: object, timeout: float = 120,
        env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`scripts/rdma-lab` to its end, whatever its exit code."""
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, words)], text=True,
                          capture_output=True, check=False, timeout=timeout,
                          stdin=subprocess.DEVNULL, env=os.environ | (env or {}))


def set_up_machines(*flags: str) -> None:
    """Fetches what is not there yet; RuntimeError, not a skip, where that cannot be done."""
    done = lab("setup", *flags, timeout=SETUP_S)
    if done.returncode != 0:
        raise RuntimeError(f"scripts/rdma-lab setup: {done.stderr}")
