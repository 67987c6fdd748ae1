"""The rule checkers find what they are for, and only that."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load(name: str) -> ModuleType:
    """A script as a module, whatever its suffix."""
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


layers = load("check_layers.py")
style = load("check_style")


class Layers(unittest.TestCase):
    def test_allow_what_points_down(self) -> None:
        for path, target in (("bench/measure/a.cpp", "bench/core/result.hpp"),
                             ("bench/cli/main.cpp", "report/render/render.hpp"),
                             ("report/bounds/a.cpp", "bench/model/facts.hpp"),
                             ("transports/tcp/a.cpp", "transports/sdk/loops.hpp"),
                             ("transports/verbs/a.cpp", "transports/rdma/queue_pair.hpp")):
            self.assertEqual(layers.violation(path, True, target), "", path)

    def test_refuse_what_points_up_or_across(self) -> None:
        for path, target in (("bench/core/a.cpp", "bench/model/value.hpp"),
                             ("bench/measure/a.cpp", "report/diagnose/rules.hpp"),
                             ("transports/tcp/a.cpp", "bench/core/result.hpp"),
                             ("transports/sim/a.cpp", "transports/tcp/socket.hpp"),
                             ("transports/sim/a.cpp", "report/document/writer.hpp"),
                             ("report/render/a.cpp", "bench/session/client.hpp")):
            self.assertIn("must not depend", layers.violation(path, True, target), path)

    def test_confine_the_slow_headers(self) -> None:
        self.assertEqual(layers.violation("bench/cli/a.cpp", False, "CLI/CLI.hpp"), "")
        self.assertEqual(
            layers.violation("bench/session/messages_codec.cpp", False, "nlohmann/json.hpp"), "")
        for path, target in (("bench/plan/a.cpp", "CLI/CLI.hpp"),
                             ("bench/session/client.cpp", "nlohmann/json.hpp"),
                             ("bench/session/messages_codec.hpp", "nlohmann/json.hpp")):
            self.assertIn("alone", layers.violation(path, False, target))

    def test_want_paths_from_the_root(self) -> None:
        self.assertIn("from the repository root",
                      layers.violation("bench/core/a.cpp", True, "result.hpp"))

    def test_let_the_peer_programs_include_their_neighbours_alone(self) -> None:
        self.assertEqual(layers.violation("bench/peers/a.c", True, "floor.h"), "")
        self.assertIn("must not depend",
                      layers.violation("bench/peers/a.c", True, "bench/core/clock.hpp"))

    def test_name_file_and_line(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            file = Path(root, "bench/core/a.cpp")
            file.parent.mkdir(parents=True)
            file.write_text('#include <vector>\n#  include "bench/cli/main.hpp"\n')
            self.assertEqual(layers.check(Path(root)),
                             ["bench/core/a.cpp:2: bench/core must not depend on bench/cli"])


class Style(unittest.TestCase):
    def findings(self, text: str) -> list[str]:
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
            file.write(text)
            file.flush()
            return style.too_new(Path(file.name))

    def test_finds_what_the_oldest_distribution_lacks(self) -> None:
        for line in ("#include <format>", "auto a = std::format(x);", "std::expected<int, int> e;",
                     "auto v = a | std::ranges::to<std::vector>();", "fmt::println(x);"):
            self.assertEqual(len(self.findings(f"int a;\n{line}\n")), 1, line)

    def test_accepts_what_it_has(self) -> None:
        self.assertEqual(self.findings("#include <fmt/format.h>\n// not std::format\n"
                                       "tl::expected<int, int> e = tl::unexpected(1);\n"), [])

    def test_finds_long_files(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
            file.write("\n" * 11)
            file.flush()
            self.assertEqual(style.too_long(Path(file.name), 11), [])
            self.assertEqual(len(style.too_long(Path(file.name), 10)), 1)


class Headers(unittest.TestCase):
    def test_must_include_what_they_use(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            header = Path(root, "bench/core/a.hpp")
            header.parent.mkdir(parents=True)
            header.write_text("#pragma once\nstd::string name();\n")
            command = [sys.executable, str(SCRIPTS / "check_headers"), root]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("bench/core/a.hpp does not compile alone", done.stdout)
            header.write_text("#pragma once\n#include <string>\nstd::string name();\n")
            done = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
