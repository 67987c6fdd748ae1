"""The emulated wire does what it was told, seen by the traffic and in its own counters."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path
from typing import Any

from testbed import Testbed, require_root

TRAFFIC = Path(__file__).with_name("traffic.py")
MBIT = 10**6


def setUpModule() -> None:
    require_root()


def role(*words: object) -> list[str]:
    return [sys.executable, str(TRAFFIC), *(str(word) for word in words)]


def exchange(bed: Testbed, receiver: str, *sender: object) -> dict[str, Any]:
    """What the receiver on b saw of the sender on a."""
    background = bed.start("b", role(receiver))
    background.wait_for("ready")
    bed.run("a", role(*sender))
    background.wait()
    return json.loads(background.output().splitlines()[-1])


def udp_checksum_errors(bed: Testbed, host: str) -> int:
    table = [line.split() for line in bed.run(host, ["cat", "/proc/net/snmp"]).stdout.splitlines()]
    names, values = [line[1:] for line in table if line[0] == "Udp:"]
    return int(dict(zip(names, values))["InCsumErrors"])


class EmulatedWire(unittest.TestCase):
    """What the relay and netem have in common."""

    emulator = "relay"

    def test_delays_each_direction(self) -> None:
        with Testbed(delay="5ms", emulator=self.emulator) as bed:
            bed.start("b", role("echo")).wait_for("ready")
            seen = json.loads(bed.run("a", role("ping", "nb-b", 64, 30)).stdout)["round_trips_ms"]
        self.assertEqual(len(seen), 30)
        self.assertGreaterEqual(min(seen), 10)
        self.assertLess(min(seen), 13)

    def test_limits_the_rate_of_delayed_frames(self) -> None:
        with Testbed(delay="1ms", rate="50mbit", emulator=self.emulator) as bed:
            rate = exchange(bed, "sink", "flood", "nb-b", 2)["bits_per_second"]
        self.assertLess(rate, 50 * MBIT * 1448 / 1514 * 1.02)
        self.assertGreater(rate, 50 * MBIT * 0.5)

    def test_loses_duplicates_and_reorders(self) -> None:
        with Testbed(delay="2ms", reorder="2%", duplicate="3%", loss="10%", only="ab",
                     emulator=self.emulator) as bed:
            arrived = exchange(bed, "collect", "number", "nb-b", 200, 3000)["numbers"]
        first_seen = list(dict.fromkeys(arrived))
        late = sum(1 for left, right in zip(first_seen, first_seen[1:]) if right < left)
        self.assertAlmostEqual(len(first_seen) / 3000, 0.9, delta=0.03)  # 5 standard deviations
        self.assertAlmostEqual(len(arrived) / len(first_seen), 1.03, delta=0.016)
        self.assertGreater(late, 20)


class Netem(EmulatedWire):
    emulator = "netem"

    @classmethod
    def setUpClass(cls) -> None:
        try:
            with Testbed(delay="1ms", emulator="netem"):
                pass
        except RuntimeError as error:
            raise unittest.SkipTest(f"this kernel has no netem: {error}") from error


class Relay(unittest.TestCase):
    def test_loses_the_share_it_was_told_and_counts_it(self) -> None:
        with Testbed(loss="10%", only="ab", emulator="relay", seed=7) as bed:
            arrived = exchange(bed, "collect", "number", "nb-b", 200, 3000)["numbers"]
            stats = bed.relay_stats()
        self.assertEqual(len(arrived), len(set(arrived)))
        self.assertEqual(arrived, sorted(arrived))
        self.assertAlmostEqual(len(arrived) / 3000, 0.9, delta=0.03)  # 5 standard deviations
        self.assertAlmostEqual(stats["ab"]["lost"], 3000 - len(arrived), delta=5)  # and ARP
        self.assertEqual(stats["ba"]["lost"], 0)
        self.assertEqual(stats["ab"]["overrun"], 0)

    def test_counts_what_it_duplicates_and_reorders(self) -> None:
        with Testbed(delay="2ms", reorder="2%", duplicate="3%", emulator="relay") as bed:
            arrived = exchange(bed, "collect", "number", "nb-b", 200, 3000)["numbers"]
            stats = bed.relay_stats()["ab"]
        self.assertEqual(len(set(arrived)), 3000)
        self.assertAlmostEqual(stats["duplicated"], len(arrived) - 3000, delta=5)
        self.assertAlmostEqual(stats["reordered"] / 3000, 0.02, delta=0.013)

    def test_corrupts_so_that_checksums_find_it(self) -> None:
        with Testbed(corrupt="5%", only="ab", emulator="relay") as bed:
            arrived = exchange(bed, "collect", "number", "nb-b", 1000, 2000)["numbers"]
            found, done = udp_checksum_errors(bed, "b"), bed.relay_stats()["ab"]["corrupted"]
        self.assertAlmostEqual(done / 2000, 0.05, delta=0.025)
        # A bit in the UDP header's ports or length is not the checksum's to find.
        self.assertGreater(found, 0.9 * done)
        self.assertLessEqual(found, done)
        self.assertAlmostEqual(len(arrived), 2000 - done, delta=3)

    def test_repeats_its_choices_with_the_same_seed(self) -> None:
        lost = []
        for _ in range(2):
            with Testbed(loss="5%", only="ab", emulator="relay", seed=3) as bed:
                bed.ip("a", "neigh", "add", "192.168.1.101", "lladdr",
                       json.loads(bed.ip("b", "-j", "link", "show", "eth0"))[0]["address"],
                       "dev", "eth0")
                arrived = exchange(bed, "collect", "number", "nb-b", 100, 500)["numbers"]
                lost.append(set(range(500)) - set(arrived))
        self.assertEqual(lost[0], lost[1])


if __name__ == "__main__":
    unittest.main()
