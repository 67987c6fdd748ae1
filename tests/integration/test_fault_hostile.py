"""Strangers at the agent's port: it stays up, idle and ready for the next client."""

from __future__ import annotations

import json
import struct
import textwrap
import time
import unittest

from faults import ONE_ROUND, ROW, FaultCase, RunningPair, cpu_seconds, keygen, pair, wait_until
from netbench import agent
from testbed import Background, netbench_binary, require_root

SEND = textwrap.dedent("""
    import socket, sys
    for _ in range(int(sys.argv[2])):
        with socket.create_connection(("nb-b", 18550), timeout=5) as peer:
            try:
                peer.sendall(bytes.fromhex(sys.argv[1]))
                peer.settimeout(8)
                while peer.recv(65536):
                    pass
            except ConnectionError:
                pass
    print("closed")
""")

# A client as far as its hello; then the frames of its input, then the bytes of its argument.
ODD_CLIENT = textwrap.dedent("""
    import json, socket, struct, sys

    def frame(kind, body):
        payload = bytes([len(kind)]) + kind.encode() + body.encode()
        return struct.pack(">I", len(payload)) + payload

    peer = socket.create_connection(("nb-b", 18550), timeout=10)
    hello = {"protocol": 1, "version": sys.argv[1], "host_name": "odd"}
    peer.sendall(b"NBC1" + frame("hello", json.dumps(hello)))
    for kind, body in json.load(sys.stdin):
        peer.sendall(frame(kind, body))
    peer.sendall(bytes.fromhex(sys.argv[2]))
    answers = b""
    try:
        while chunk := peer.recv(65536):
            answers += chunk
    except (TimeoutError, ConnectionError):
        pass
    print(answers.decode(errors="replace"))
""")

REQUESTS = ("host_request", "path_probe_request", "mtu_request", "open", "connect", "start",
            "stop", "abort", "no_such_request")
BODIES = ("", "{}", "[]", "null", "{]", '{"point": 5, "blob": "zz", "mtu_bytes": -1}',
          '{"point": {"transport": "../../../../tmp/x"}, "seed": 1e400}', "[" * 20000)

HALF_OPEN = textwrap.dedent("""
    import resource, socket, sys, time
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    kept = []
    for _ in range(int(sys.argv[1])):
        peer = socket.socket()
        peer.setblocking(False)
        peer.connect_ex(("192.168.1.101", 18550))
        kept.append(peer)
    print("ready", flush=True)
    time.sleep(300)
""")


def setUpModule() -> None:
    require_root()


class Stranger(FaultCase):
    """First packets that no client sends; each to an agent with a key and to one without."""

    def serve(self, secure: bool) -> tuple[str, ...]:
        """Starts the agent; the flags with which a client reaches it."""
        if not secure:
            self.server = agent(self.bed)
            return ("--insecure",)
        key = self.bed.scratch / "hostile.key"
        if not key.exists():
            keygen(self.bed, "b", key)
        self.server = agent(self.bed, "--key-file", str(key), insecure=False)
        return ("--key-file", str(key))

    def assert_survived(self, packet: bytes, times: int = 1) -> None:
        for secure in (False, True):
            with self.subTest(secure=secure):
                words = self.serve(secure)
                answer = self.bed.run("a", ["python3", "-c", SEND, packet.hex(), str(times)])
                self.assertEqual(answer.stdout, "closed\n")
                self.assert_idle(self.server)
                self.assert_ok(pair(self.bed, *words, *ONE_ROUND))
                self.server.stop()

    def assert_idle(self, server: Background) -> None:
        """Less than 1 % of a core, and no memory for what was announced."""
        before = cpu_seconds(server.pid)
        time.sleep(2)
        self.assertLessEqual(cpu_seconds(server.pid) - before, 0.02)
        with open(f"/proc/{server.pid}/status", encoding="ascii") as status:
            resident = next(line for line in status if line.startswith("VmRSS"))
        self.assertLess(int(resident.split()[1]), 200 * 1024)

    def test_that_announces_two_gibibytes_is_sent_away(self) -> None:
        self.assert_survived(b"NBC1" + struct.pack(">I", 2**31) + b"\x05hello")

    def test_that_announces_two_gibibytes_without_magic_is_sent_away(self) -> None:
        self.assert_survived(struct.pack(">I", 2**31) * 16)

    def test_that_sends_noise_is_sent_away(self) -> None:
        noise = bytes((i * 2654435761 >> 13) & 255 for i in range(5000))
        self.assert_survived(noise, times=20)

    def test_that_speaks_http_is_sent_away(self) -> None:
        self.assert_survived(b"GET / HTTP/1.1\r\nHost: nb-b\r\n\r\n", times=5)

    def test_that_begins_tls_and_goes_on_otherwise_is_sent_away(self) -> None:
        self.assert_survived(b"\x16\x03\x01\xff\xff" + b"\x00" * 400)

    def test_that_shows_an_unknown_token_is_sent_away(self) -> None:
        self.assert_survived(b"NBD1" + b"\x00" * 16, times=5)


class OddClient(FaultCase):
    """One that is served, and then breaks the rules."""

    def run_odd_client(self, frames: list[tuple[str, str]], last: bytes = b"") -> str:
        self.server = agent(self.bed, "--allow-knobs")
        version = self.bed.run("a", [netbench_binary(), "--version"]).stdout.split()[-1]
        return self.bed.run("a", ["python3", "-c", ODD_CLIENT, version, last.hex()],
                            stdin=json.dumps(frames)).stdout

    def test_with_a_frame_of_two_gibibytes_is_let_go(self) -> None:
        self.run_odd_client([], struct.pack(">I", 2**31) + b"\x05hello")
        self.server.wait_for(r"\(odd\) was lost: .*2147483648")
        self.assert_ok(pair(self.bed, "--insecure", *ONE_ROUND))
        self.assert_restored()

    def test_with_odd_requests_gets_errors_for_answers(self) -> None:
        frames = [(kind, body) for kind in REQUESTS for body in BODIES]
        answers = self.run_odd_client(frames)
        self.assertIn("no_such_request", answers)
        self.assertGreater(answers.count("error"), len(REQUESTS))
        self.assertTrue(self.server.alive(), self.server.output())
        self.assert_ok(pair(self.bed, "--insecure", *ONE_ROUND))
        self.assert_restored()


class HalfOpen(FaultCase):
    CONNECTIONS = 1000

    def test_connections_do_not_keep_a_client_out(self) -> None:
        server = agent(self.bed)
        crowd = self.bed.start("a", ["python3", "-c", HALF_OPEN, str(self.CONNECTIONS)])
        crowd.wait_for("ready", 20)
        outcome = pair(self.bed, "--insecure", *ONE_ROUND)
        self.assert_ok(outcome)
        self.assertTrue(server.alive())
        self.assertTrue(crowd.alive())

    def test_connections_do_not_disturb_who_is_served(self) -> None:
        agent(self.bed)
        running = RunningPair(self.bed, "--insecure", *ROW, "--budget", "6s", "--rounds", "6")
        running.wait_for_round()
        self.bed.start("a", ["python3", "-c", HALF_OPEN, str(self.CONNECTIONS)])
        self.assert_ok(running.finish(60))

    def test_connections_are_dropped_after_a_time(self) -> None:
        server = agent(self.bed)
        self.bed.start("a", ["python3", "-c", HALF_OPEN, str(self.CONNECTIONS)]).wait_for("ready")

        def few_left() -> bool:
            return len(self.bed.run("b", ["ls", f"/proc/{server.pid}/fd"]).stdout.split()) < 40

        wait_until(few_left, "the half-open connections to be dropped", 15)
        self.assert_ok(pair(self.bed, "--insecure", *ONE_ROUND))


if __name__ == "__main__":
    unittest.main()
