"""Debian packages, fetched and unpacked into a folder of their own: nothing is installed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import image
from .host import LabError, run

PACKAGES = ("qemu-system-x86", "busybox-static", "kmod", "iproute2", "iputils-ping", "ethtool",
            "procps", "nftables", "ibverbs-providers", "ibverbs-utils", "rdmacm-utils", "perftest")
KERNEL = "linux-image-amd64"  # depends on the newest kernel
DOWNLOAD_S = 600
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def cache_folder() -> Path:
    """$RDMA_LAB_CACHE, else below $XDG_CACHE_HOME or ~/.cache."""
    if named := os.environ.get("RDMA_LAB_CACHE"):
        return Path(named).resolve()
    root = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/root"), ".cache")
    return Path(root, "netbench/rdma-lab").resolve()


class Sysroot:
    """The unpacked packages and what is made of them, in the cache folder."""

    def __init__(self, cache: Path | None = None) -> None:
        self.cache = cache or cache_folder()
        self.root = self.cache / "sysroot"
        self.vmlinux = self.cache / "vmlinux"
        self.initramfs = self.cache / "initramfs"
        self._complete = self.cache / "complete"

    @property
    def kernel(self) -> str:
        """Release of the machines' kernel."""
        return next((self.root / "usr/lib/modules").iterdir()).name

    @property
    def has_siw(self) -> bool:
        return self.complete and (self.root / "usr/lib/modules" / self.kernel
                                  / "extra/siw.ko").exists()

    @property
    def complete(self) -> bool:
        return self._complete.exists() and self._complete.read_text() == _contents()

    def need(self) -> None:
        """LabError, with the remedy, where setup has not been run."""
        if not self.complete:
            raise LabError(f"the virtual machines' packages are not in {self.cache}: run "
                           "scripts/rdma-lab setup (about 140 MB to fetch, 650 MB of disk)")

    def words(self, program: str, *arguments: str, name: str = "") -> list[str]:
        """The command that runs a program of the packages with the packages' libraries. name: what
        it is called by, for programs that are several."""
        called = ["--argv0", name] if name else []
        return [str(self.root / LIBRARIES / "ld-linux-x86-64.so.2"), *called, "--library-path",
                str(self.root / LIBRARIES), str(self.root / "usr/bin" / program), *arguments]

    def setup(self) -> None:
        """Fetches and unpacks what is not there yet; nothing to do is fine."""
        with self.locked():
            if self.complete:
                return
            _need_host()
            self._complete.unlink(missing_ok=True)
            for folder in ("sysroot", "packages"):
                shutil.rmtree(self.cache / folder, ignore_errors=True)
            for package in self._download():
                _unpack(package, self.root)
            shutil.rmtree(self.cache / "packages")
            self.depmod()
            image.unpack_kernel(self.root / f"boot/vmlinuz-{self.kernel}", self.vmlinux)
            image.write_base(self.root, self.kernel, self.initramfs)
            self._complete.write_text(_contents())

    def depmod(self) -> None:
        run(self.words("kmod", "-b", str(self.root), self.kernel, name="depmod"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One setup at a time; another waits."""
        self.cache.mkdir(parents=True, exist_ok=True)
        with open(self.cache / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _download(self) -> list[Path]:
        """The packages with all that they depend on, whatever this machine has installed, without
        a lock that another apt-get may hold."""
        folder = self.cache / "packages"
        (folder / "partial").mkdir(parents=True)
        nothing = self.cache / "nothing-installed"
        nothing.touch()
        words = ["apt-get", "install", "-y", "-q", "--download-only", "--no-install-recommends",
                 "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User=root",
                 "-o", "Acquire::Retries=3", "-o", f"Dir::State::status={nothing}",
                 "-o", f"Dir::Cache::archives={folder}", *PACKAGES]
        try:
            run(words, timeout_s=DOWNLOAD_S)
            download([_newest_kernel()], folder)
        except LabError:  # the lists may be missing, or older than the archive
            run(["apt-get", "update", "-q"], timeout_s=DOWNLOAD_S)
            run(words, timeout_s=DOWNLOAD_S)
            download([_newest_kernel()], folder)
        return sorted(folder.glob("*.deb"))


def download(packages: Sequence[str], folder: Path) -> None:
    """These alone, without what they depend on."""
    run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3",
         *packages], cwd=folder, timeout_s=DOWNLOAD_S)


def _contents() -> str:
    """Changes when a cache of an earlier version lacks something."""
    text = " ".join([*PACKAGES, KERNEL, *image.BOOT_MODULES, *image.RXE_MODULES])
    return hashlib.sha256(text.encode()).hexdigest() + "\n"


def _need_host() -> None:
    if platform.machine() != "x86_64":
        raise LabError(f"the virtual machines are x86-64, this machine is {platform.machine()}")
    missing = [tool for tool in ("apt-get", "apt-cache", "dpkg-deb", "tar")
               if not shutil.which(tool)]
    if missing:
        raise LabError(f"no {' and no '.join(missing)}: the packages of the virtual machines come "
                       "from Debian 12 or later")


def _newest_kernel() -> str:
    told = run(["apt-cache", "depends", KERNEL])
    found = re.search(r"Depends: (linux-image-\S+)", told)
    if not found:
        raise LabError(f"no package {KERNEL}: the packages of the virtual machines come from "
                       "Debian 12 or later")
    return found[1]


def _unpack(package: Path, tree: Path) -> None:
    """Below usr/ alone, so that the tree can lie beneath a host's own / in an overlay."""
    for entry in ("bin", "sbin", "lib", "lib64"):
        (tree / "usr" / entry).mkdir(parents=True, exist_ok=True)
        if not (tree / entry).exists():
            (tree / entry).symlink_to(f"usr/{entry}")
    left_out = [f"--exclude=./usr/share/{name}" for name in ("doc", "man", "locale")]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package],
                          stdout=subprocess.PIPE) as contents:
        done = subprocess.run(["tar", "-x", "--no-same-owner", "--keep-directory-symlink", "-C",
                               tree, *left_out], stdin=contents.stdout, check=False)
    if contents.returncode or done.returncode:
        raise LabError(f"cannot unpack {package}")
