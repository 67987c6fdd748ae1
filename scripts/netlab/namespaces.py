"""Namespaces of this machine: made, entered, emptied and removed. Needs root."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

STATE_ROOT = Path("/run/netbench-testbed")
NETNS_ROOT = Path("/run/netns")

# setns(2), CLONE_NEW* of linux/sched.h
_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWNET = 0x00020000, 0x04000000, 0x40000000

# Own /sys (the network devices of this namespace), keeping the control groups; own /run and
# /etc/hosts. Mounts made elsewhere later are still seen and released here ("slave").
_HOST_SETUP = """
echo "$2" > /proc/sys/kernel/hostname
if mount --rbind /sys/fs/cgroup "$1/cgroup" 2>/dev/null; then cgroup=1; else cgroup=; fi
mount -t sysfs sysfs /sys
if [ -n "$cgroup" ]; then mount --rbind "$1/cgroup" /sys/fs/cgroup; umount -l "$1/cgroup"; fi
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/run" /run
"""


class LabError(RuntimeError):
    """What was tried, what happened, what to do."""


def run(argv: list[str] | tuple[str, ...], stdin: str = "") -> str:
    """Output of a command, or LabError with its whole error text."""
    try:
        done = subprocess.run(argv, input=stdin, text=True, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise LabError(f"'{argv[0]}' is not installed: run scripts/packages test"
                       ) from error
    if done.returncode != 0:
        message = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
        raise LabError(f"'{' '.join(argv)}' failed: {message}" + (f"\n{stdin}" if stdin else ""))
    return done.stdout


def run_in(netns: str, argv: list[str] | tuple[str, ...], stdin: str = "") -> str:
    return run(["nsenter", f"--net={NETNS_ROOT / netns}", "--", *argv], stdin)


def make_host(state: Path, netns: str, name: str, hosts_text: str) -> None:
    """UTS and mount namespaces beside an existing network namespace, kept by bind mounts."""
    for folder in ("cgroup", "run/home"):
        (state / folder).mkdir(parents=True)
    (state / "hosts").write_text(hosts_text)
    for kind in ("uts", "mnt"):
        (state / kind).touch()
    run_in(netns, ["unshare", f"--uts={state / 'uts'}", f"--mount={state / 'mnt'}",
                   "--propagation", "slave", "sh", "-euc", _HOST_SETUP, "sh", str(state), name])


def make_state(folder: Path) -> None:
    """The folder of one testbed, private: mount namespaces may be kept only below such a mount."""
    folder.mkdir(parents=True)
    run(["mount", "--bind", str(folder), str(folder)])
    run(["mount", "--make-private", str(folder)])


def enter(netns: str, state: Path | None) -> None:
    """Moves this process into a network namespace, and into the rest of a made host."""
    wanted = [(NETNS_ROOT / netns, _CLONE_NEWNET)]
    if state:
        wanted += [(state / "uts", _CLONE_NEWUTS), (state / "mnt", _CLONE_NEWNS)]
    libc = ctypes.CDLL(None, use_errno=True)
    cwd = os.getcwd()  # setns(2) into a mount namespace moves to its root
    for descriptor, kind in [(os.open(path, os.O_RDONLY), kind) for path, kind in wanted]:
        if libc.setns(descriptor, kind) != 0:
            raise LabError(f"setns: {os.strerror(ctypes.get_errno())}")
    os.chdir(cwd if os.path.isdir(cwd) else "/")


def processes_in(netns: list[str]) -> list[int]:
    """Processes whose network namespace is one of these (zombies have none any more)."""
    wanted = {(NETNS_ROOT / name).stat().st_ino for name in netns if (NETNS_ROOT / name).exists()}
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "ns/net").stat().st_ino in wanted:
                found.append(int(entry.name))
        except OSError:
            continue  # it ended meanwhile
    return found


def kill_processes(netns: list[str], timeout_s: float = 5) -> None:
    """Kills until none is left, those forked meanwhile too."""
    deadline = time.monotonic() + timeout_s
    while pids := processes_in(netns):
        if time.monotonic() > deadline:
            raise LabError(f"processes {pids} do not end: they hang in the kernel (ps -o wchan)")
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.005)


def _mounts_at_or_below(folder: Path) -> list[str]:
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point == str(folder) or point.startswith(f"{folder}/")]


def remove(folder: Path, netns: list[str]) -> None:
    """Everything that make_state, make_host and `ip netns add` left; parts may be missing."""
    present = [name for name in netns if (NETNS_ROOT / name).exists()]
    kill_processes(present)
    for name in present:
        subprocess.run(["ip", "-n", name, "link", "del", "eth0"], capture_output=True, check=False)
        run(["ip", "netns", "del", name])
    for mount in reversed(_mounts_at_or_below(folder)):
        run(["umount", "-l", mount])
    if folder.exists():
        shutil.rmtree(folder)
