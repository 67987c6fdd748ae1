"""What a virtual machine boots: the kernel as a plain ELF file, and the initramfs."""

from __future__ import annotations

import lzma
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from .host import LabError

BOOT_MODULES = ("virtio_pci", "virtio_net", "virtio_console", "9p", "9pnet_virtio", "overlay")
RXE_MODULES = ("rdma_rxe", "ib_uverbs", "rdma_ucm", "ib_umad", "crc32_generic")
GUEST = Path(__file__).resolve().parent / "guest"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_FILE, _FOLDER = stat.S_IFREG | 0o755, stat.S_IFDIR | 0o755


def unpack_kernel(vmlinuz: Path, target: Path) -> None:
    """QEMU enters an ELF kernel directly (PVH), which saves the machine from unpacking itself under
    emulation. Debian's is compressed with xz."""
    packed = vmlinuz.read_bytes()
    begin = packed.find(_XZ_MAGIC)
    if begin < 0:
        raise LabError(f"no xz payload in {vmlinuz}")
    target.write_bytes(lzma.LZMADecompressor().decompress(packed[begin:]))


def load_order(modules: Iterable[str], dependencies: str) -> list[str]:
    """Paths of these modules and of those they need, in the order in which they load.
    dependencies: the text of modules.dep, which names them in reverse (depmod(8))."""
    needed = {}
    for line in dependencies.splitlines():
        path, _, rest = line.partition(":")
        needed[os.path.basename(path).partition(".")[0].replace("-", "_")] = (path, rest.split())
    order: dict[str, None] = {}
    for module in modules:
        path, before = needed[module.replace("-", "_")]
        order |= dict.fromkeys([*reversed(before), path])
    return list(order)


def write_base(sysroot: Path, kernel: str, target: Path) -> None:
    """The part of the initramfs that depends on the packages alone."""
    folder = sysroot / "usr/lib/modules" / kernel
    dependencies = (folder / "modules.dep").read_text()
    entries: dict[str, bytes | None] = dict.fromkeys(("bin", "dev", "proc", "sys", "modules"))
    entries["bin/busybox"] = (sysroot / "usr/bin/busybox").read_bytes()
    for name, modules in (("boot", BOOT_MODULES), ("rxe", RXE_MODULES)):
        paths = load_order(modules, dependencies)
        entries[f"modules/{name}"] = "".join(f"{os.path.basename(path)}\n"
                                             for path in paths).encode()
        entries |= {f"modules/{os.path.basename(path)}": (folder / path).read_bytes()
                    for path in paths}
    target.write_bytes(archive(entries))


def write_whole(base: Path, target: Path) -> None:
    """That part, and the guest's scripts as they are now."""
    scripts = {path.name: path.read_bytes() for path in GUEST.iterdir()}
    target.write_bytes(base.read_bytes() + archive(scripts))


def archive(entries: Mapping[str, bytes | None]) -> bytes:
    """A cpio archive in the "newc" format (kernel: driver-api/early-userspace/buffer-format).
    None: a folder."""
    records = [_record(name, _FOLDER if data is None else _FILE, data or b"", number)
               for number, (name, data) in enumerate(entries.items(), 1)]
    return b"".join([*records, _record("TRAILER!!!", 0, b"", 0)])


def _record(name: str, mode: int, data: bytes, inode: int) -> bytes:
    encoded = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    head = b"070701" + b"".join(b"%08x" % value for value in fields) + encoded
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
