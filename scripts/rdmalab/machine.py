"""One virtual machine: QEMU with an emulated processor, seeing this machine's files read-only."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .host import LabError
from .sysroot import LIBRARIES, Sysroot

NUMBERS = {"a": 1, "b": 2}
SPEED_MBITS = 25000  # what the network cards report


@dataclass(frozen=True)
class Options:
    """What a lab is made of. memory in MiB, times in seconds. bound: the machines do not outlive
    the process that started them."""

    hosts: int = 2
    nics: int = 1
    rdma: str = "rxe"
    modules: tuple[str, ...] = ()
    mtu: int = 1500
    memory: int = 768
    cpus: int = 1
    boot_timeout: float = 90
    lifetime: int = 3600
    qemu: tuple[str, ...] = ()
    bound: bool = False


def _command_line(pid: int) -> bytes:
    """Of a process; OSError where there is none, b"" for one that has ended. In the middle of an
    execve(2) there is none either, for a moment."""
    folder = Path("/proc", str(pid))
    deadline = time.monotonic() + 1
    while not (words := (folder / "cmdline").read_bytes()):
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]  # proc_pid_stat(5)
        if state in "ZX" or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return words


class Machine:
    """Host `name` of the lab in a folder; its own folder below holds its control pipe, its console
    and its jobs."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = folder / name
        self._lab = folder

    @property
    def pid(self) -> int:
        """Of QEMU."""
        return int((self.folder / "pid").read_text())

    def start(self, sysroot: Sysroot, options: Options) -> None:
        (self.folder / "jobs").mkdir(parents=True)
        for end in ("in", "out"):
            os.mkfifo(self.folder / f"control.{end}")
        launcher = ["setpriv", "--pdeathsig", "KILL"] if options.bound else []
        words = [*launcher, *sysroot.words("qemu-system-x86_64",
                                           *self._arguments(sysroot, options), *options.qemu)]
        with open(self.folder / "qemu.log", "wb") as log:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=os.environ | {"QEMU_MODULE_DIR": str(sysroot.root / LIBRARIES / "qemu")})
        (self.folder / "pid").write_text(str(process.pid))

    def _arguments(self, sysroot: Sysroot, options: Options) -> list[str]:
        shared = {"host": ("/", True), "tools": (sysroot.root, True), "lab": (self._lab, False)}
        words = ["-name", f"rdma-lab-{self.name}", "-no-user-config", "-nodefaults", "-no-reboot",
                 "-display", "none", "-L", str(sysroot.root / "usr/share/qemu"),
                 "-L", str(sysroot.root / "usr/share/seabios"), "-machine", "q35",
                 "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(options.cpus),
                 "-m", str(options.memory), "-kernel", str(sysroot.vmlinux),
                 "-initrd", str(self._lab / "initramfs"), "-append", self._kernel_words(options),
                 "-serial", f"file:{self.folder / 'console'}", "-device", "virtio-serial-pci",
                 "-chardev", f"pipe,id=control,path={self.folder / 'control'}",
                 "-device", "virtserialport,chardev=control"]
        for tag, (path, read_only) in shared.items():
            words += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap"
                      + (",readonly=on" if read_only else ""),
                      "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        for number in range(options.nics):
            words += self._network_card(number, options.hosts)
        return words

    def _kernel_words(self, options: Options) -> str:
        lab = {"host": self.name, "hosts": options.hosts, "nics": options.nics,
               "rdma": options.rdma, "mtu": options.mtu, "lifetime": options.lifetime,
               "modules": ",".join(options.modules)}
        return " ".join(["console=ttyS0 panic=-1 nokaslr quiet mitigations=off tsc=reliable",
                         *(f"lab.{key}={value}" for key, value in lab.items())])

    def _network_card(self, number: int, hosts: int) -> list[str]:
        """Number n of a is joined to number n of b; in a lab of one host it leads nowhere."""
        if hosts == 2:
            other = "b" if self.name == "a" else "a"
            socket = self._lab / f"net{number}"
            wire = (f"dgram,id=net{number},local.type=unix,local.path={socket}.{self.name},"
                    f"remote.type=unix,remote.path={socket}.{other}")
        else:
            wire = f"hubport,id=net{number},hubid={number}"
        card = (f"virtio-net-pci,netdev=net{number},romfile=,speed={SPEED_MBITS},duplex=full,"
                f"mac=52:54:00:77:{number:02x}:{NUMBERS[self.name]:02x}")
        return ["-netdev", wire, "-device", card]

    def alive(self) -> bool:
        """Whether its process is there, and still the one that this lab started."""
        try:
            words = _command_line(self.pid).split(b"\0")
        except (OSError, ValueError):
            return False
        return f"pipe,id=control,path={self.folder / 'control'}".encode() in words

    def booted(self) -> bool:
        return (self.folder / "ready").exists()

    def failed(self) -> bool:
        """Whether it will never be booted."""
        return (self.folder / "failed").exists() or not self.alive()

    def tell(self, line: str) -> None:
        """To the guest's agent; LabError when the machine does not listen any more."""
        try:
            control = os.open(self.folder / "control.in", os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(control, f"{line}\n".encode())
            finally:
                os.close(control)
        except OSError as error:
            raise LabError(f"host {self.name} does not listen: {error.strerror}") from error

    def last_words(self) -> str:
        """Why it gave up, where it said so, and the ends of its console and of QEMU's messages."""
        text = ""
        for name in ("failed", "console", "qemu.log"):
            path = self.folder / name
            lines = path.read_text(errors="replace").splitlines()[-40:] if path.exists() else []
            text += "".join(f"{name}: {line}\n" for line in lines)
        return text

    def end(self, deadline: float) -> None:
        """By its process id; nothing running is fine."""
        wanted = signal.SIGTERM
        while self.alive():
            try:
                os.kill(self.pid, wanted)
                os.waitpid(self.pid, os.WNOHANG)  # where this process started it
            except (ProcessLookupError, ChildProcessError):
                pass
            wanted = signal.SIGKILL if time.monotonic() > deadline else signal.SIGTERM
            time.sleep(0.05)
