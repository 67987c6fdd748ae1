"""What is compared with what, and how good it shall be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import tools
from .tools import KIB, Programs, Tool
from .trial import Outcome, Trial

OURS = "netbench"
AGAIN = "netbench again"


@dataclass(frozen=True)
class Comparison:
    """Ours against the best of these tools. limit: what the ratio may be at most (at least, where
    higher is better), None for information. judged: `interval`, its worse end must keep to the
    limit; `median`; `not above`, some of the interval must."""

    label: str
    others: tuple[str, ...]
    limit: float | None = None
    judged: str = "median"


@dataclass(frozen=True)
class Cell:
    """Tools that are run in turn within every round, and one number of each run."""

    key: str
    title: str
    unit: str
    measured: tuple[Tool, ...]
    comparisons: tuple[Comparison, ...]
    run: Callable[[Trial, float], Outcome]
    value: Callable[[Tool, Outcome], float]
    higher_is_better: bool = False
    now_and_then: tuple[Tool, ...] = ()
    """Run in every third round only: more tools to look at, no target."""
    most_rounds: int = 1000


NOW_AND_THEN_ROUNDS = 3
_AA = Comparison("itself (A/A)", (AGAIN,))


def _window(trial: Trial, seconds: float) -> Outcome:
    return trial.stream(seconds)


def _whole(trial: Trial, _: float) -> Outcome:
    return trial.whole(timeout_s=20)


def _cpu(_: Tool, outcome: Outcome) -> float:
    return outcome.window.cpu_s_per_gb


def _rate(_: Tool, outcome: Outcome) -> float:
    return outcome.window.bps * 1e-9


def _own_number_us(tool: Tool, outcome: Outcome) -> float:
    return tool.value(outcome.output) * 1e-3


def size_text(size: int) -> str:
    return f"{size // KIB} KiB" if size < KIB * KIB else f"{size // KIB // KIB} MiB"


def _copy_cell(programs: Programs, size: int) -> Cell:
    floors = tuple(tools.FLOOR_VARIANTS)
    extra: tuple[Tool, ...] = (tools.nuttcp_stream(size), tools.qperf_stream(size))
    if size == 128 * KIB:
        extra += (tools.sockperf_stream(),)
    return Cell(
        f"copy-{size // KIB}K", f"(a) stream, copy, {size_text(size)}", "CPU-s/GB",
        (tools.netbench_stream(programs, OURS, size), tools.netbench_stream(programs, AGAIN, size),
         *(tools.floor_stream(programs, variant, size) for variant in floors),
         tools.iperf3_stream("iperf3", size)),
        (Comparison("the best C loop", floors, 1.10, "interval"),
         Comparison("iperf3", ("iperf3",), 1.0, "interval"), _AA),
        _window, _cpu, now_and_then=extra)


def _calls(tool: Tool, outcome: Outcome) -> float:
    """Of both ends, per GB of payload, as the program itself counts them."""
    return tool.value(outcome.output + outcome.server_output)


def _calls_cell(programs: Programs, size: int) -> Cell:
    floors = tuple(tools.FLOOR_VARIANTS)
    return Cell(
        f"calls-{size // KIB}K", f"(a) system calls, copy, {size_text(size)}", "calls/GB",
        (tools.netbench_calls(programs, OURS, size), tools.netbench_calls(programs, AGAIN, size),
         *(tools.floor_stream(programs, variant, size, ("--seconds", "1"))
           for variant in floors)),
        (Comparison("the best C loop", floors, 1.0, "not above"), _AA),
        _whole, _calls, most_rounds=5)


def _fastest_cell(programs: Programs, size: int, limit: float) -> Cell:
    receiver = ("--tcp.receive", "discard", "--tcp.lowat", "4M")
    flags = ("--tcp.mode", "vmsplice", *receiver)
    return Cell(
        f"fast-{size // KIB}K", f"(b) stream, vmsplice and discard, {size_text(size)}", "CPU-s/GB",
        (tools.netbench_stream(programs, OURS, size, *flags),
         tools.netbench_stream(programs, AGAIN, size, *flags),
         tools.iperf3_stream("iperf3 -Z", size, "-Z")),
        (Comparison("iperf3 -Z", ("iperf3 -Z",), limit), _AA),
        _window, _cpu, now_and_then=(tools.netbench_stream(
            programs, "netbench, sendfile", size, "--tcp.mode", "sendfile", *receiver),))


def _streams_cell(programs: Programs) -> Cell:
    size = 128 * KIB
    flags = ("--tcp.streams", "4")
    return Cell(
        "streams-4", "(c) 4 streams on 2 cores, copy, 128 KiB", "Gb/s",
        (tools.netbench_stream(programs, OURS, size, *flags),
         tools.netbench_stream(programs, AGAIN, size, *flags),
         tools.iperf3_stream("iperf3 -P 4", size, "-P", "4"), tools.nuttcp_stream(size, "-N4")),
        (Comparison("the best peer", ("iperf3 -P 4", "nuttcp"), 1.0), _AA),
        _window, _rate, higher_is_better=True)


def _spin_cell(programs: Programs) -> Cell:
    return Cell(
        "spin-64", "(d) 64 B round trip, spinning, p50", "us",
        (tools.netbench_spin(programs, OURS), tools.netbench_spin(programs, AGAIN),
         tools.floor_spin(programs), tools.sockperf_spin()),
        (Comparison("C spin", ("C spin",), 1.02),
         Comparison("sockperf --nonblocked", ("sockperf --nonblocked",), 1.0), _AA),
        _whole, _own_number_us)


def all_cells(programs: Programs) -> dict[str, tuple[Cell, ...]]:
    """By the letter of the row."""
    return {"a": (_copy_cell(programs, 128 * KIB), _copy_cell(programs, 1024 * KIB),
                  _calls_cell(programs, 128 * KIB), _calls_cell(programs, 1024 * KIB)),
            "b": (_fastest_cell(programs, 128 * KIB, 0.7),
                  _fastest_cell(programs, 1024 * KIB, 0.6)),
            "c": (_streams_cell(programs),),
            "d": (_spin_cell(programs),)}
