#!/usr/bin/env python3
"""Makes the folders of recorded machines: what netbench takes for the root of a host.

  unpack.py OUT [NAME …]       OUT/NAME for each NAME.tree beside this script (default: all)

A .tree file holds directives, one a line; "#" lines are comments:

  @include NAME                as if NAME.tree stood here; what follows overrides it
  @set PATH VALUE              a file of one line; * in PATH fits existing files and folders
  @file PATH                   the lines up to the next directive
  @fields PATH                 lines "key = value", written as key TAB value; keys already there
                               keep their place and get the new value, "key =" removes one
  @hex PATH SIZE               lines "OFFSET: BYTES", all in hexadecimal; zeroes elsewhere
  @link PATH TARGET            a symbolic link
  @sub PATH OLD NEW            replaces a word of a file wherever it stands
  @remove PATH                 a file, a link or a folder with all in it
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def blocks(name: str) -> list[tuple[list[str], list[str]]]:
    """Directives of a tree with the lines below each."""
    found: list[tuple[list[str], list[str]]] = []
    for line in (HERE / f"{name}.tree").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("@"):
            found.append((line.split(None, 2), []))
        elif found:
            found[-1][1].append(line)
    return found


def place(root: Path, path: str) -> Path:
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def set_line(root: Path, path: str, value: str) -> None:
    paths = sorted(root.glob(path.lstrip("/"))) if "*" in path else [place(root, path)]
    if not paths:
        raise ValueError(f"nothing fits {path}")
    for one in paths:
        one.write_text(value + "\n")


def set_fields(target: Path, lines: list[str]) -> None:
    old = target.read_text().splitlines() if target.exists() else []
    fields = dict(line.split("\t", 1) for line in old)
    for line in filter(str.strip, lines):
        key, _, value = (part.strip() for part in line.partition("="))
        if value:
            fields[key] = value
        else:
            del fields[key]
    target.write_text("".join(f"{key}\t{value}\n" for key, value in fields.items()))


def set_bytes(target: Path, size: str, lines: list[str]) -> None:
    content = bytearray(int(size))
    for line in filter(str.strip, lines):
        offset, _, hexadecimal = line.partition(":")
        data = bytes.fromhex(hexadecimal)
        start = int(offset, 16)
        content[start:start + len(data)] = data
    target.write_bytes(content)


def remove(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink()


def unpack(root: Path, name: str) -> None:
    for words, lines in blocks(name):
        match words:
            case ["@include", other]:
                unpack(root, other)
            case ["@set", path, value]:
                set_line(root, path, value)
            case ["@file", path]:
                place(root, path).write_text("\n".join(lines).strip("\n") + "\n")
            case ["@fields", path]:
                set_fields(place(root, path), lines)
            case ["@hex", path, size]:
                set_bytes(place(root, path), size, lines)
            case ["@sub", path, words]:
                old, new = words.split()
                target = place(root, path)
                target.write_text(target.read_text().replace(old, new))
            case ["@link", path, target]:
                place(root, path).symlink_to(target)
            case ["@remove", path]:
                remove(place(root, path))
            case _:
                raise ValueError(f"{name}.tree: {' '.join(words)}")


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    names = sys.argv[2:] or sorted(path.stem for path in HERE.glob("*.tree"))
    for name in names:
        root = Path(sys.argv[1], name)
        shutil.rmtree(root, ignore_errors=True)
        unpack(root, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
