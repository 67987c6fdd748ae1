"""A lab: one or two virtual machines, put up, given commands, taken down.

    with Lab.up(Options(nics=2, rdma="none", bound=True), Sysroot()) as lab:
        done = lab.run({"a": "ping -c 1 $LAB_PEER_IP", "b": ""}, timeout_s=20)
        assert done["a"].code == 0
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import image
from .host import LabError
from .machine import NUMBERS, Machine, Options
from .sysroot import Sysroot

TIMED_OUT, DIED = 124, 125
PATH_LIMIT = 90  # of 108 bytes that a socket's path may have, unix(7)
BOOT_TRIES = 2   # on a machine with a load of 15, two of eight boots stopped in the guest's kernel
GRACE_S = 30     # a command that is ended at its time limit may take so much longer to say so


@dataclass(frozen=True)
class Done:
    """How a command ended. code 124: after its time limit; 125: its machine is dead or silent, and
    stderr holds the last words of its console."""

    code: int
    stdout: str
    stderr: str


class Lab:
    """The lab in `folder`, which both machines see as $LAB_DIR."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "hosts").exists():
            raise LabError(f"no lab in {folder}: scripts/rdma-lab up prints the folder of one")
        self.folder = folder
        self.machines = {name: Machine(folder, name)
                         for name in (folder / "hosts").read_text().split()}

    @classmethod
    def up(cls, options: Options, sysroot: Sysroot) -> Lab:
        """Boots the machines, once more where that fails, or LabError with the end of a console,
        and nothing left behind."""
        sysroot.need()
        if options.rdma == "siw" and not sysroot.has_siw:
            raise LabError("no siw driver: run scripts/rdma-lab setup --siw")
        for tries_left in reversed(range(BOOT_TRIES)):
            folder = Path(tempfile.mkdtemp(prefix="rdma-lab."))
            (folder / "hosts").write_text("\n".join(list(NUMBERS)[:options.hosts]))
            lab = cls(folder)
            try:
                lab._boot(options, sysroot)
                return lab
            except BaseException as error:
                lab.down()
                if not isinstance(error, LabError) or tries_left == 0:
                    raise
        raise AssertionError("unreachable")

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    def _boot(self, options: Options, sysroot: Sysroot) -> None:
        if len(str(self.folder)) > PATH_LIMIT:
            raise LabError(f"{self.folder} is too long for the path of a socket: set TMPDIR")
        (self.folder / "out").mkdir()
        image.write_whole(sysroot.initramfs, self.folder / "initramfs")
        for machine in self.machines.values():
            machine.start(sysroot, options)
        deadline = time.monotonic() + options.boot_timeout
        for machine in self.machines.values():
            while not machine.booted():
                if machine.failed() or time.monotonic() > deadline:
                    raise LabError(f"host {machine.name} did not boot:\n{machine.last_words()}")
                time.sleep(0.05)

    def run(self, commands: Mapping[str, str], timeout_s: float = 120) -> dict[str, Done]:
        """Runs a bash script on each host that has one, all at once, in the current directory."""
        unknown = commands.keys() - self.machines.keys()
        if unknown:
            raise LabError(f"this lab has no host {', '.join(sorted(unknown))}")
        shutil.rmtree(self.folder / "sync", ignore_errors=True)
        (self.folder / "sync").mkdir()
        number = str(time.time_ns())
        chosen = [self.machines[name] for name, text in commands.items() if text]
        silent = {machine.name: str(error) for machine in chosen
                  if (error := _begin(machine, number, commands[machine.name], timeout_s))}
        deadline = time.monotonic() + timeout_s + GRACE_S
        return {machine.name: _result(machine, number, deadline, silent.get(machine.name, ""))
                for machine in chosen}

    def collect(self, target: Path) -> None:
        """Copies what the commands left in $LAB_DIR/out."""
        shutil.copytree(self.folder / "out", target, dirs_exist_ok=True)

    def down(self) -> None:
        deadline = time.monotonic() + 5
        for machine in self.machines.values():
            machine.end(deadline)
        shutil.rmtree(self.folder)


def _begin(machine: Machine, number: str, text: str, timeout_s: float) -> LabError | None:
    job = machine.folder / "jobs" / number
    job.mkdir()
    (job / "command").write_text(text + "\n")
    (job / "cwd").write_text(os.getcwd())
    (job / "seconds").write_text(f"{timeout_s:g}" if timeout_s < 1 else f"{timeout_s:.0f}")
    try:
        machine.tell(number)
    except LabError as error:
        return error
    return None


def _result(machine: Machine, number: str, deadline: float, silent: str) -> Done:
    job = machine.folder / "jobs" / number
    code = job / "code"
    while not silent and not code.exists():
        if not machine.alive() or time.monotonic() > deadline:
            silent = f"host {machine.name} is dead or silent"
        time.sleep(0.02)
    stdout, stderr = (path.read_text(errors="replace") if path.exists() else ""
                      for path in (job / "stdout", job / "stderr"))
    if silent:
        return Done(DIED, stdout, f"{stderr}{silent}\n{machine.last_words()}")
    return Done(int(code.read_text()), stdout, stderr)
