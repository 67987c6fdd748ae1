"""One run of a setup: testbed up, faults in, netbench on both hosts, everything away again."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netlab import bed, namespaces, options, plan
from netlab.namespaces import LabError

from . import cgroups
from .case import Do, Quota, Setup, Stay, Step

Document = dict[str, Any]

UNPACK = Path(__file__).resolve().parents[2] / "tests/unit/facts/trees/unpack.py"
AGENT_SAYS = "agent on port"
STARTED_S, RUN_S = 15.0, 90.0


@dataclass(frozen=True)
class Programs:
    """What a build holds, and what its command line offers."""

    netbench: Path

    @classmethod
    def of_build(cls, build: Path) -> Programs:
        netbench = build.resolve() / "bin/netbench"
        if not os.access(netbench, os.X_OK):
            raise LabError(f"no {netbench}: build the target netbench, or name a build by --build")
        os.environ.setdefault("NETBENCH_RELAY", str(build.resolve() / "bin/testbed-relay"))
        return cls(netbench)

    def diagnose(self, path: Path) -> list[Mapping[str, Any]]:
        """Findings of a saved document, judged again."""
        done = subprocess.run([self.netbench, "diagnose", path, "--json", "-"], text=True,
                              check=False, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        try:
            told = json.loads(done.stdout)
        except ValueError as error:
            raise LabError(f"netbench diagnose {path}: {done.stderr.strip() or error}") from error
        return findings_of(told["documents"][0])


def findings_of(told: Any) -> list[Mapping[str, Any]]:
    """The findings in a document, or in what `diagnose --json` writes of one."""
    return list(told.get("findings", []))


@dataclass(frozen=True)
class Outcome:
    """What came out: the document (empty where none was written) and the program's own words."""

    document: Document
    code: int = 0
    stderr: str = ""
    seconds: float = 0
    problem: str = ""  # why it could not be run at all
    wait: float | None = None  # how much others disturbed it, where the document does not tell


@dataclass
class _Stage:
    """What is up during a run."""

    options: options.Options
    scratch: Path
    stack: contextlib.ExitStack
    groups: dict[str, Path] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)


def remove_stale() -> None:
    """Takes down what a killed lab left behind: its process id is in the name."""
    for name in bed.names():
        match = re.fullmatch(r"lab([0-9]+)-[0-9]+", name)
        if match and not Path("/proc", match[1]).exists():
            bed.down(name)


class Slot:
    """A place for one run at a time: a name, and one core for each host where there are two."""

    def __init__(self, number: int, scratch: Path) -> None:
        cpus = sorted(os.sched_getaffinity(0))
        self.name = f"lab{os.getpid()}-{number}"
        pair = cpus[2 * number:2 * number + 2] if len(cpus) >= 2 else []
        self._cpus = {"a": tuple(pair[:1]), "b": tuple(pair[1:])}
        self._scratch = scratch

    def run(self, programs: Programs, setup: Setup) -> Outcome:
        """Outcome with a problem where the lab itself, or the build, cannot do this."""
        began = time.monotonic()
        try:
            with contextlib.ExitStack() as stack:
                stage = self._stage(setup, stack)
                return self._measure(programs, setup, stage, began)
        except (LabError, ValueError, OSError, subprocess.SubprocessError) as error:
            return Outcome({}, 1, "", time.monotonic() - began, str(error))

    def _stage(self, setup: Setup, stack: contextlib.ExitStack) -> _Stage:
        stage = _Stage(self._options(setup), self._scratch, stack)
        for quota in (step for step in setup.steps if isinstance(step, Quota)):
            group = stack.enter_context(cgroups.limited(f"{self.name}-{quota.host}", quota.share))
            stage.groups[quota.host] = group
        stack.callback(_reap, stage)
        stack.callback(bed.down, self.name)
        bed.up(stage.options)
        for step in setup.steps:
            self._take(stage, step)
        return stage

    def _options(self, setup: Setup) -> options.Options:
        parser = argparse.ArgumentParser(exit_on_error=False)
        options.add_up_arguments(parser)
        words = [word for key, value in setup.bed.items()
                 for word in (f"--{key}", *([] if value is True else [str(value)]))]
        args = parser.parse_args(words)
        args.name, args.cpus_a, args.cpus_b = self.name, self._cpus["a"], self._cpus["b"]
        return options.from_arguments(args)

    def _take(self, stage: _Stage, step: Step) -> None:
        if isinstance(step, Do) and step.host == "":
            names = {host: plan.namespace(stage.options, host) for host in "abm"}
            namespaces.run([word.format(**names) for word in step.argv], step.stdin)
        elif isinstance(step, Do):
            namespaces.run(self._words(stage, step.host, step.argv), step.stdin)
        elif isinstance(step, Stay):
            log = stage.scratch / f"{self.name}-{len(stage.processes)}.log"
            _await(self._start(stage, step.host, step.argv, log), log, step.says)

    def _words(self, stage: _Stage, host: str, argv: Sequence[str]) -> list[str]:
        """The command that runs `argv` on a host, on the host's core, as the same process."""
        enter = [f"--net={namespaces.NETNS_ROOT / plan.namespace(stage.options, host)}"]
        if host != "m":
            state = bed.state_folder(self.name) / host
            enter += [f"--uts={state / 'uts'}", f"--mount={state / 'mnt'}"]
        cpus = self._cpus.get(host, ())
        pin = ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
        return ["nsenter", *enter, "--", *pin, *argv]

    def _start(self, stage: _Stage, host: str, argv: Sequence[str],
               log: Path) -> subprocess.Popen[bytes]:
        words = self._limited(stage, host, self._words(stage, host, argv))
        with open(log, "wb") as output:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT)
        stage.processes.append(process)
        return process

    def _measure(self, programs: Programs, setup: Setup, stage: _Stage, began: float) -> Outcome:
        if setup.agent is not None:
            log = stage.scratch / f"{self.name}-agent.log"
            agent = [str(programs.netbench), "agent", *setup.agent]
            _await(self._start(stage, "b", agent, log), log, AGENT_SAYS)
        words = self._limited(stage, "a", self._words(
            stage, "a", [str(programs.netbench), *pair_words(setup)]))
        done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True, capture_output=True,
                              check=False, timeout=RUN_S)
        return outcome_of(done.returncode, done.stdout, done.stderr, began)

    @staticmethod
    def _limited(stage: _Stage, host: str, words: list[str]) -> list[str]:
        group = stage.groups.get(host)
        return cgroups.words_inside(group, words) if group else words


def outcome_of(code: int, stdout: str, stderr: str, began: float,
               wait: float | None = None) -> Outcome:
    """Of a command that writes its document to standard output."""
    seconds = time.monotonic() - began
    try:
        return Outcome(json.loads(stdout), code, stderr, seconds, wait=wait)
    except ValueError:
        return Outcome({}, code, stderr, seconds, f"no document: {stderr.strip()[:300]}", wait)


def _await(process: subprocess.Popen[bytes], log: Path, says: str) -> None:
    """Until the process has said this; LabError with its output when it does not."""
    deadline = time.monotonic() + STARTED_S
    while says not in log.read_text(errors="replace"):
        if process.poll() is not None or time.monotonic() > deadline:
            raise LabError(f"{process.args!r} does not say '{says}', but: "
                           f"{log.read_text(errors='replace')}")
        time.sleep(0.02)


def _reap(stage: _Stage) -> None:
    """Waits for what bed.down has ended."""
    for process in stage.processes:
        process.kill()
        process.wait()


def pair_words(setup: Setup) -> list[str]:
    """The command that measures, after the program's name."""
    options_ = [word for key, value in setup.pair.items() for word in (f"--{key}", value)]
    return ["pair", "--peer", setup.peer, "--insecure", "--quiet", *options_, "--json", "-"]


def look_at_tree(programs: Programs, setup: Setup, scratch: Path) -> Outcome:
    """`netbench doctor` on a recorded machine, and on its peer."""
    began = time.monotonic()
    namespaces.run([sys.executable, str(UNPACK), str(scratch), *setup.trees])
    ends = [word for tree, towards in zip(setup.trees, (setup.peer, plan.ADDRESSES["a"]))
            for word in ("--root", str(scratch / tree), "--towards", towards)]
    done = subprocess.run([programs.netbench, "doctor", *ends, "--json", "-"], text=True,
                          capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
    return outcome_of(done.returncode, done.stdout, done.stderr, began)
