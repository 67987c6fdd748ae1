"""User instructions per message by callgrind: two run lengths, so that starting up cancels."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import lab as labs
from . import tools
from .lab import Lab
from .tools import Programs, Tool

# The thread that runs a measuring loop of the tcp plug-in, by its entry in the profile.
_LOOP_THREAD = re.compile(r"(?:sender|receiver)_job<[^\n]*#2\}>::_M_invoke")
_SERVER_STARTS_S = 30.0


@dataclass(frozen=True)
class Profile:
    """Instructions of one run, of its loop threads and of everything, and its messages."""

    loop: tuple[int, int]
    everything: tuple[int, int]
    messages: float


def _callgrind(out: Path) -> tuple[str, ...]:
    """keep-debuginfo: the plug-in is unloaded before the profile is written."""
    return ("valgrind", "-q", "--tool=callgrind", "--separate-threads=yes",
            "--keep-debuginfo=yes", f"--callgrind-out-file={out}")


def _totals(out: Path) -> tuple[int, int]:
    """Instructions of the loop threads (all of them in a program of one thread), and in all."""
    loop, everything = 0, 0
    files = sorted(out.parent.glob(f"{out.name}-[0-9]*"))
    for path in files:
        text = path.read_text()
        found = re.search(r"^(?:totals|summary): ([0-9]+)", text, re.MULTILINE)
        if not found:
            raise ValueError(f"no total in the profile {path.name}")
        everything += int(found[1])
        if len(files) == 1 or _LOOP_THREAD.search(text):
            loop += int(found[1])
    if not loop:
        raise ValueError(f"no measuring thread in {len(files)} profiles of {out.name}")
    return loop, everything


def _start(lab: Lab, host: str, argv: Sequence[str], port: int) -> subprocess.Popen[str]:
    words = [word.format(port=port, data_port=port + 1, peer=labs.ADDRESS_B) for word in argv]
    return subprocess.Popen(lab.words(host, words), stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _profile(lab: Lab, tool: Tool, port: int, scratch: Path) -> tuple[Profile, str]:
    """Both ends under callgrind; the output of the client too."""
    folder = scratch / "profiles"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    server = _start(lab, "b", (*_callgrind(folder / "b"), *tool.server), port)
    deadline = time.monotonic() + _SERVER_STARTS_S
    while not labs.listens(server.pid, port) and time.monotonic() < deadline:
        time.sleep(0.05)
    client = _start(lab, "a", (*_callgrind(folder / "a"), *tool.client), port)
    output, _ = client.communicate(timeout=120)
    if not tool.server_ends:
        server.send_signal(signal.SIGTERM)
    server.communicate(timeout=60)
    if client.returncode != 0:
        raise ValueError(f"{tool.name} under callgrind failed: {output[-500:]}")
    ends = [_totals(folder / host) for host in "ab"]
    return Profile((ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]), 0), output


def _between(short: Profile, long: Profile) -> dict[str, float]:
    messages = long.messages - short.messages
    if messages <= 0:
        raise ValueError("the longer run had no more messages")
    loop = [(late - early) / messages for early, late in zip(short.loop, long.loop)]
    all_ = [(late - early) / messages
            for early, late in zip(short.everything, long.everything)]
    return {"sender_loop": loop[0], "receiver_loop": loop[1], "loops": sum(loop),
            "whole_processes": sum(all_), "messages": messages}


def of_netbench(lab: Lab, programs: Programs, size: int, scratch: Path, port: int
                ) -> dict[str, float]:
    """Per message sent. The loops' threads apart: sampling and reporting cost by time, not by
    message, and run slower here than they do without callgrind."""
    profiles = []
    for index, budget in enumerate(("2s", "5s")):
        tool = tools.netbench_stream(programs, "netbench", size, budget=budget)
        profile, output = _profile(lab, tool, port + 2 * index, scratch)
        counters = tools.only_row(output)["rounds"][0]["counters"]
        profiles.append(Profile(profile.loop, profile.everything,
                                counters["initiator"]["calls.send"]))
    return _between(*profiles)


def of_floor(lab: Lab, programs: Programs, variant: str, size: int, scratch: Path, port: int
             ) -> dict[str, float]:
    profiles = []
    for index, messages in enumerate((2_000, 12_000)):
        tool = tools.floor_stream(programs, variant, size, ("--bytes", str(messages * size)))
        profile, _ = _profile(lab, tool, port + 2 * index, scratch)
        profiles.append(Profile(profile.loop, profile.everything, messages))
    return _between(*profiles)
