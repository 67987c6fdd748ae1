"""Puts a testbed up, runs commands on its hosts, takes it down."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

from . import namespaces, plan, relay
from .namespaces import LabError
from .options import Options

_OPTIONS = "options.json"


def state_folder(name: str) -> Path:
    return namespaces.STATE_ROOT / name


def need_root() -> None:
    if os.geteuid() != 0:
        raise LabError("needs root: it makes network, UTS and mount namespaces and their "
                       "interfaces; run it with sudo")


def _set_up(options: Options, folder: Path) -> None:
    namespaces.make_state(folder)
    emulator = relay.choose_emulator(options)
    facts = dataclasses.asdict(options) | {"emulator": emulator}
    (folder / _OPTIONS).write_text(json.dumps(facts))
    for command in plan.commands(options, emulator):
        if command.where:
            netns = plan.namespace(options, command.where)
            namespaces.run_in(netns, command.argv, command.stdin)
        else:
            namespaces.run(command.argv, command.stdin)
    for host in "ab":
        namespaces.make_host(folder / host, plan.namespace(options, host), plan.HOST_NAMES[host],
                             plan.hosts_file(options))
    if emulator == "relay":
        relay.start(options, folder)


def up(options: Options) -> None:
    """A fresh testbed of this name: an older one is taken down first, a failed one afterwards."""
    down(options.name)
    try:
        _set_up(options, state_folder(options.name))
    except BaseException:
        down(options.name)
        raise


def down(name: str) -> None:
    """Ends every process on the hosts and removes them; nothing to do is fine."""
    # First of all: a process on its way onto a host looks for this file once it is there.
    (state_folder(name) / _OPTIONS).unlink(missing_ok=True)
    namespaces.remove(state_folder(name), [f"{name}-{host}" for host in "abm"])


def names() -> list[str]:
    if not namespaces.STATE_ROOT.exists():
        return []
    return sorted(entry.name for entry in namespaces.STATE_ROOT.iterdir() if entry.is_dir())


def options_of(name: str) -> dict[str, object]:
    try:
        return json.loads((state_folder(name) / _OPTIONS).read_text())
    except FileNotFoundError as error:
        known = ", ".join(names()) or "none is up"
        raise LabError(f"no testbed '{name}' ({known}): run scripts/testbed up --name {name}"
                       ) from error


def become(name: str, host: str) -> None:
    """Moves this process onto a host: its namespaces, its cores, its home folder. LabError when the
    testbed goes down meanwhile: whoever takes it down cannot see this process before it is there.
    """
    options = options_of(name)
    folder = os.open(state_folder(name), os.O_PATH | os.O_DIRECTORY)
    namespaces.enter(f"{name}-{host}", None if host == "m" else state_folder(name) / host)
    try:
        os.stat(_OPTIONS, dir_fd=folder)
    except FileNotFoundError as error:
        raise LabError(f"testbed '{name}' was taken down meanwhile") from error
    finally:
        os.close(folder)
    if host == "m":
        return
    if cpus := options[f"cpus_{host}"]:
        os.sched_setaffinity(0, cpus)
    for key in [key for key in os.environ if key.startswith(("XDG_", "SSH_"))]:
        del os.environ[key]
    os.environ |= {"HOME": "/run/home", "HOSTNAME": plan.HOST_NAMES[host]}
