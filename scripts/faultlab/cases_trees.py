"""Recorded machines: the faults of hardware that namespaces have not, as the trees of files below
tests/unit/facts/trees. `netbench doctor` looks at one of them, and at its healthy peer where that
is on the same network."""

from __future__ import annotations

from dataclasses import dataclass

from .case import Case, Setup

FAST, MANAGEMENT, OVERLAY = "192.168.1.101", "10.0.0.101", "172.16.7.2"


@dataclass(frozen=True)
class Tree:
    """name: of the tree; wanted: the class of its fault, "" for none; towards: the peer's address.
    note: known at rest, but no fault as long as nothing is slow, so level info. alone: the peer
    that is recorded is on another network."""

    name: str
    wanted: str
    towards: str = FAST
    note: bool = False
    alone: bool = False


TREES = (
    Tree("narrow-slot", "P02"), Tree("narrow-bridge", "P02"), Tree("acs", "P05"),
    Tree("slow-link", "L02"), Tree("dark-optics", "L05"),
    Tree("bad-pair", "L02", MANAGEMENT, alone=True),
    Tree("half-duplex", "L03", MANAGEMENT, alone=True), Tree("one-irq-core", "K03"),
    Tree("bond-member-down", "B02"), Tree("bond-two-aggregators", "B03"),
    Tree("bond-no-partner", "B04"), Tree("overlay", "M05", OVERLAY, alone=True),
    Tree("small-mtu", "M04"),
    Tree("wrong-mask", "C14"), Tree("wrong-name", "V06", note=True),
    Tree("aspm", "P07", note=True), Tree("eee", "L10", MANAGEMENT, note=True, alone=True),
    Tree("flapping", "L06", note=True), Tree("older", "V01", note=True),
    Tree("small-payload", "P03", note=True), Tree("container", "K12", note=True, alone=True),
    Tree("server", ""), Tree("steered", ""),
)


def _case(tree: Tree) -> Case:
    trees = (tree.name,) if tree.alone else (tree.name, "peer")
    setup = Setup(trees=trees, peer=tree.towards, agent=None, shown={"tree": tree.name})
    return Case(f"tree-{tree.name}", (tree.wanted,) if tree.wanted else (), lambda _: setup,
                kind="single" if tree.wanted else "healthy", note=tree.note, ci=True)


CASES = tuple(_case(tree) for tree in TREES)
