"""Where and with what a comparison ran."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

from .lab import CONGESTION
from .tools import Programs

PEERS = ("iperf3", "nuttcp", "qperf", "sockperf", "valgrind")


def _package_version(name: str) -> str:
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], capture_output=True,
                          text=True, check=False)
    return done.stdout if done.returncode == 0 else "not installed"


def _cpu() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def _first_line(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()[0] if done.returncode == 0 else "unknown"


def missing_tools() -> list[str]:
    return [name for name in PEERS if _package_version(name) == "not installed"]


def facts(programs: Programs, command: str) -> dict[str, object]:
    now = datetime.datetime.now(datetime.timezone.utc)
    repository = str(Path(__file__).resolve().parents[2])
    return {
        "date_utc": now.isoformat(timespec="seconds"),
        "command": command,
        "kernel": platform.release(),
        "cpu": _cpu(),
        "cpus": len(os.sched_getaffinity(0)),
        "clocksource": Path("/sys/devices/system/clocksource/clocksource0/current_clocksource"
                            ).read_text().strip(),
        "congestion_control": CONGESTION,
        "netbench": _first_line([programs.netbench, "--version"]),
        "commit": _first_line(["git", "-C", repository, "rev-parse", "--short=12", "HEAD"]),
        "load_average_at_start": os.getloadavg()[0],
        "versions": {name: _package_version(name) for name in PEERS},
    }
