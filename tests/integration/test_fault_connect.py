"""Connections that come to nothing: each names its cause and its remedy, in time."""

from __future__ import annotations

import textwrap
import time
import unittest

from faults import SHORT, FaultCase, keygen, pair
from netbench import agent
from testbed import netbench_binary, require_root

PORT = 18550

FAKE_END = textwrap.dedent("""
    import json, socket, struct, sys
    role, hello = sys.argv[1], json.loads(sys.argv[2])

    def frame(kind, body):
        payload = bytes([len(kind)]) + kind.encode() + json.dumps(body).encode()
        return struct.pack(">I", len(payload)) + payload

    def read_frame(stream):
        size = struct.unpack(">I", stream.read(4))[0]
        payload = stream.read(size)
        return payload[1:1 + payload[0]].decode(), json.loads(payload[1 + payload[0]:])

    if role == "agent":
        server = socket.create_server(("", 18550))
        print("ready", flush=True)
        while True:
            connection, _ = server.accept()
            stream = connection.makefile("rb")
            stream.read(4)
            read_frame(stream)
            connection.sendall(b"NBC1" + frame("hello", hello))
            stream.read()
    connection = socket.create_connection(("nb-b", 18550))
    connection.sendall(b"NBC1" + frame("hello", hello))
    stream = connection.makefile("rb")
    assert stream.read(4) == b"NBC1"
    print(json.dumps(read_frame(stream)))
""")

HTTP_SERVER = ["python3", "-u", "-m", "http.server", str(PORT)]
SILENT_SERVER = ["python3", "-c", textwrap.dedent(f"""
    import socket, time
    server = socket.create_server(("", {PORT}))
    print("ready", flush=True)
    time.sleep(300)
""")]
CLOSING_SERVER = ["python3", "-c", textwrap.dedent(f"""
    import socket
    server = socket.create_server(("", {PORT}))
    print("ready", flush=True)
    while True:
        server.accept()[0].close()
""")]


def setUpModule() -> None:
    require_root()


class Address(FaultCase):
    def test_of_an_unknown_host_is_named(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, peer="no-such-host.invalid")
        self.assert_failed(outcome, "unknown-host")
        self.assertIn("no-such-host.invalid", outcome.stderr)
        self.assertLess(outcome.seconds, 10)

    def test_that_is_none_is_a_usage_error(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, peer="nb-b:99999")
        self.assert_failed(outcome, "bad-peer", 2)

    def test_that_nobody_has_is_unreachable(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, peer="192.168.1.77")
        self.assert_failed(outcome, "peer-unreachable")
        self.assertLess(outcome.seconds, 10)

    def test_beyond_all_routes_has_no_route(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT, peer="203.0.113.1")
        self.assert_failed(outcome, "no-route")


class Port(FaultCase):
    def test_without_an_agent_is_refused(self) -> None:
        outcome = pair(self.bed, "--insecure", *SHORT)
        self.assert_failed(outcome, "peer-refused")
        self.assertIn(f"192.168.1.101:{PORT}", outcome.stderr)
        self.assertIn("netbench agent", outcome.stderr)
        self.assertLess(outcome.seconds, 5)

    def test_behind_a_firewall_that_drops_is_dropped(self) -> None:
        agent(self.bed)
        self.firewall("b", f"tcp dport {PORT} drop")
        outcome = pair(self.bed, "--insecure", *SHORT)
        self.assert_failed(outcome, "peer-dropped")
        self.assertLess(outcome.seconds, 10)

    def test_behind_a_firewall_that_rejects_is_rejected(self) -> None:
        agent(self.bed)
        self.firewall("b", f"tcp dport {PORT} reject")
        outcome = pair(self.bed, "--insecure", *SHORT)
        self.assert_failed(outcome, "peer-rejected")
        self.assertLess(outcome.seconds, 10)

    def test_forbidden_by_this_hosts_firewall_is_denied(self) -> None:
        self.firewall("a", f"tcp dport {PORT} reject", hook="output")
        self.bed.start("b", SILENT_SERVER).wait_for("ready")
        outcome = pair(self.bed, "--insecure", *SHORT)
        self.assert_failed(outcome, "connect-denied")


class Witness(FaultCase):
    """The same agent answers at a second address, and says what it saw at the first."""

    def setUp(self) -> None:
        super().setUp()
        second = ["192.168.1.201/24", "dev", "eth0"]
        self.bed.run("b", ["ip", "addr", "add", *second])
        self.addCleanup(self.bed.run, "b", ["ip", "addr", "del", *second])

    def first_finding(self, slug: str) -> tuple[str, str]:
        outcome = pair(self.bed, "--insecure", "--witness", "192.168.1.201", *SHORT)
        self.assert_failed(outcome, slug)
        finding = outcome.document["findings"][0]
        return finding["class_id"], finding["confidence"]

    def test_tells_a_reset_of_the_firewall_from_a_closed_port(self) -> None:
        agent(self.bed)
        self.firewall("b", f"ip daddr 192.168.1.101 tcp dport {PORT} reject with tcp reset")
        self.assertEqual(self.first_finding("peer-refused"), ("C03c", "confirmed"))

    def test_tells_an_agent_bound_elsewhere_from_none(self) -> None:
        agent(self.bed, "--bind", "192.168.1.201")
        self.assertEqual(self.first_finding("peer-refused"), ("C07", "confirmed"))

    def test_confirms_that_packets_are_dropped_before_the_peers_tcp(self) -> None:
        agent(self.bed)
        self.firewall("b", f"ip daddr 192.168.1.101 tcp dport {PORT} drop")
        self.assertEqual(self.first_finding("peer-dropped"), ("C02", "confirmed"))


class Key(FaultCase):
    def test_that_the_agent_does_not_have_is_unknown(self) -> None:
        keys = [self.bed.scratch / name for name in ("unknown-a.key", "unknown-b.key")]
        for host, key in zip("ab", keys):
            keygen(self.bed, host, key)
        agent(self.bed, "--key-file", str(keys[1]), insecure=False)
        outcome = pair(self.bed, "--key-file", str(keys[0]), *SHORT)
        self.assert_failed(outcome, "key-unknown")
        self.assertLess(outcome.seconds, 5)

    def test_file_that_others_may_read_is_refused(self) -> None:
        key = self.bed.scratch / "open.key"
        keygen(self.bed, "a", key)
        key.chmod(0o644)
        outcome = pair(self.bed, "--key-file", str(key), *SHORT)
        self.assert_failed(outcome, "key-file-open", 1)
        self.assertIn(f"chmod 600 {key}", outcome.stderr)
        refused = self.bed.run("b", [netbench_binary(), "agent", "--key-file", key], check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("error[key-file-open]", refused.stderr)

    def test_file_that_is_missing_is_named(self) -> None:
        outcome = pair(self.bed, "--key-file", "/no/such.key", *SHORT)
        self.assertEqual((outcome.slug, outcome.code), ("key-file-unreadable", 1))
        self.assertIn("/no/such.key", outcome.stderr)

    def test_that_is_missing_names_the_three_sources(self) -> None:
        outcome = pair(self.bed, *SHORT)
        self.assert_failed(outcome, "key-missing", 1)
        for source in ("--key-file", "$NETBENCH_KEY", ".config/netbench/key"):
            self.assertIn(source, outcome.stderr)

    def test_is_nowhere_in_the_document(self) -> None:
        key = self.bed.scratch / "shared.key"
        keygen(self.bed, "a", key)
        agent(self.bed, "--key-file", str(key), insecure=False)
        outcome = pair(self.bed, *SHORT, env={"NETBENCH_KEY": key.read_text().strip()})
        self.assertEqual(outcome.code, 0, outcome.stderr)
        self.assertNotIn(key.read_text().strip().rstrip("="), outcome.stdout + outcome.stderr)
        self.assertTrue(outcome.document["run"]["authenticated"])

    def test_of_the_client_is_refused_by_an_agent_without(self) -> None:
        key = self.bed.scratch / "lonely.key"
        keygen(self.bed, "a", key)
        agent(self.bed)
        outcome = pair(self.bed, "--key-file", str(key), *SHORT)
        self.assert_failed(outcome, "agent-insecure")
        self.assertIn("--insecure", outcome.stderr)

    def test_of_the_agent_refuses_a_client_without(self) -> None:
        key = self.bed.scratch / "agent.key"
        keygen(self.bed, "b", key)
        agent(self.bed, "--key-file", str(key), insecure=False)
        outcome = pair(self.bed, "--insecure", *SHORT)
        self.assert_failed(outcome, "agent-wants-key")


class Version(FaultCase):
    def test_of_another_agent_is_named_beside_the_own(self) -> None:
        hello = '{"protocol": 9, "version": "7.8.9", "host_name": "later"}'
        self.bed.start("b", ["python3", "-c", FAKE_END, "agent", hello]).wait_for("ready")
        outcome = pair(self.bed, "--insecure", *SHORT)
        self.assert_failed(outcome, "version-mismatch")
        self.assertIn("7.8.9", outcome.stderr)
        self.assertIn(outcome.document["run"]["netbench_version"], outcome.stderr)

    def test_of_another_client_is_refused_naming_both(self) -> None:
        server = agent(self.bed)
        hello = '{"protocol": 9, "version": "7.8.9", "host_name": "later"}'
        answer = self.bed.run("a", ["python3", "-c", FAKE_END, "client", hello]).stdout
        self.assertIn("version-mismatch", answer)
        self.assertIn("7.8.9", answer)
        own = self.bed.run("a", [netbench_binary(), "--version"]).stdout.split()[-1]
        self.assertIn(own, answer)
        server.wait_for("was refused: it is netbench 7.8.9")
        self.assertEqual(pair(self.bed, "--insecure", *SHORT).code, 0)


class Stranger(FaultCase):
    """Within about 2 s of the answer's deadline; the rest is a loaded machine's process start."""

    def assert_no_agent(self, words: tuple[str, ...], what: str) -> None:
        begin = time.monotonic()
        outcome = pair(self.bed, *words, *SHORT)
        self.assert_failed(outcome, "not-an-agent")
        self.assertIn(what, outcome.stderr)
        self.assertLess(time.monotonic() - begin, 4)

    def assert_no_agent_either_way(self, what: str) -> None:
        key = self.bed.scratch / "stranger.key"
        if not key.exists():
            keygen(self.bed, "a", key)
        self.assert_no_agent(("--insecure",), what)
        self.assert_no_agent(("--key-file", str(key)), what)

    def test_that_speaks_http_is_no_agent(self) -> None:
        self.bed.start("b", HTTP_SERVER).wait_for("Serving")
        self.assert_no_agent_either_way("is not a netbench agent")

    def test_that_is_an_iperf3_server_is_no_agent(self) -> None:
        server = self.bed.start("b", ["iperf3", "-s", "--forceflush", "-p", str(PORT)])
        server.wait_for("listening")
        self.assert_no_agent(("--insecure",), "is not a netbench agent")

    def test_that_says_nothing_is_no_agent(self) -> None:
        self.bed.start("b", SILENT_SERVER).wait_for("ready")
        self.assert_no_agent_either_way("said nothing")

    def test_that_closes_at_once_is_no_agent(self) -> None:
        self.bed.start("b", CLOSING_SERVER).wait_for("ready")
        self.assert_no_agent_either_way("is not a netbench agent")


if __name__ == "__main__":
    unittest.main()
