"""The iWARP driver siw, which Debian's kernel is built without: this one module is compiled from
the same kernel's source and headers."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from .host import LabError, run
from .sysroot import DOWNLOAD_S, Sysroot, download

DRIVER = "drivers/infiniband/sw/siw"


def build(sysroot: Sysroot) -> None:
    """Nothing to do is fine. Needs gcc and make."""
    with sysroot.locked():
        if sysroot.has_siw:
            return
        if not shutil.which("gcc") or not shutil.which("make"):
            raise LabError("siw is compiled here, which needs gcc and make: run scripts/packages "
                           "build")
        with tempfile.TemporaryDirectory(prefix="rdma-lab-siw-") as scratch:
            _install(sysroot, _compile(sysroot, Path(scratch)))


def _compile(sysroot: Sysroot, work: Path) -> Path:
    version = ".".join(sysroot.kernel.split(".")[:2])
    packages = [f"linux-source-{version}", f"linux-kbuild-{version}",
                f"linux-headers-{sysroot.kernel}",
                f"linux-headers-{sysroot.kernel.removesuffix('-amd64')}-common"]
    download(packages, work)
    for package in sorted(work.glob("*.deb")):
        run(["dpkg-deb", "-x", package, work])
    source = work / f"usr/src/linux-source-{version}.tar.xz"
    run(["tar", "-xJf", source, "-C", work, "--strip-components=1",
         f"linux-source-{version}/{DRIVER}"], timeout_s=300)
    headers = work / f"usr/src/linux-headers-{sysroot.kernel}"
    makefile = headers / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src/", f"{work}/usr/src/"))
    run(["make", f"-j{os.cpu_count() or 1}", "-C", headers, f"M={work / DRIVER}", "CC=gcc",
         "CONFIG_RDMA_SIW=m", "modules"], timeout_s=DOWNLOAD_S)
    return work / DRIVER / "siw.ko"


def _install(sysroot: Sysroot, module: Path) -> None:
    folder = sysroot.root / "usr/lib/modules" / sysroot.kernel / "extra"
    folder.mkdir(exist_ok=True)
    run(["strip", "-g", "-o", folder / "siw.ko.new", module])
    (folder / "siw.ko.new").rename(folder / "siw.ko")
    sysroot.depmod()
