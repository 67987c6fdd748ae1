"""The emulated wire: which emulator this kernel allows, and the relay's program and process."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from . import namespaces, plan
from .namespaces import LabError
from .options import Options

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "tests/tools/relay/relay.c"


def choose_emulator(options: Options) -> str:
    """'' where nothing is to be emulated, else 'netem' or 'relay'."""
    if not options.impaired:
        return ""
    wanted = options.emulator
    if wanted == "auto":
        wanted = "netem" if _kernel_has_netem(options) else "relay"
    if wanted == "relay" and options.third == "router":
        raise LabError("a router with delay or loss needs netem, and this kernel has none: "
                       "use --third bridge, or load the module sch_netem")
    return wanted


def _kernel_has_netem(options: Options) -> bool:
    """Asks the kernel itself, in a namespace for this: that loads the module if there is one."""
    probe = f"{options.name}-probe"
    namespaces.run(["ip", "netns", "add", probe])
    try:
        namespaces.run_in(probe, "tc qdisc add dev lo root netem delay 1ms".split())
        return True
    except LabError:
        return False
    finally:
        namespaces.run(["ip", "netns", "del", probe])


def program() -> Path:
    """$NETBENCH_RELAY, or the relay compiled from its source with cc into build/tools once."""
    if chosen := os.environ.get("NETBENCH_RELAY"):
        return Path(chosen)
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    target = REPOSITORY / "build/tools" / f"testbed-relay-{digest}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(f".{os.getpid()}")
        namespaces.run(["cc", "-std=c11", "-O2", "-o", str(unfinished), str(SOURCE)])
        unfinished.rename(target)
    return target


def start(options: Options, folder: Path) -> None:
    """Starts the relay in the middle and waits until it forwards."""
    netns = plan.namespace(options, "m")
    argv = ["nsenter", f"--net={namespaces.NETNS_ROOT / netns}", "--", str(program()),
            *plan.relay_arguments(options)]
    with open(folder / "relay.log", "w") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True, cwd="/")
    (folder / "relay.pid").write_text(str(process.pid))
    _wait_for_line(folder / "relay.log", lines=1)


def stats(folder: Path) -> dict[str, dict[str, int]]:
    """Counters of both directions since the start: {'ab': {'received': …}, 'ba': …}."""
    log = folder / "relay.log"
    if not log.exists():
        raise LabError("this testbed has no relay (netem counts in: testbed run m -- tc -s qdisc)")
    lines = len(log.read_text().splitlines())
    os.kill(int((folder / "relay.pid").read_text()), signal.SIGUSR1)
    return json.loads(_wait_for_line(log, lines + 1))


def _wait_for_line(log: Path, lines: int, timeout_s: float = 3) -> str:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        text = log.read_text()
        if text.endswith("\n") and text.count("\n") >= lines:
            line = text.splitlines()[lines - 1]
            if not line.startswith("{"):
                break
            return line
        time.sleep(0.002)
    raise LabError(f"the relay does not answer: {log.read_text().strip() or 'no output'}")
