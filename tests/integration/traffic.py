"""Small senders and receivers, run on the hosts of a testbed. Each prints one JSON object."""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from collections.abc import Callable

PORT = 7000
IDLE_S = 0.7  # a receiver ends after this time without a datagram
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2  # ip(7)


def _datagram_socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    return made


def echo() -> None:
    """Returns every datagram."""
    server = _datagram_socket()
    server.bind(("", PORT))
    print("ready", flush=True)
    while True:
        data, sender = server.recvfrom(65535)
        server.sendto(data, sender)


def ping(host: str, size_text: str, count_text: str) -> dict[str, object]:
    """Round trips of datagrams that must not be fragmented."""
    client = _datagram_socket()
    client.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    client.settimeout(0.5)
    client.connect((host, PORT))
    round_trips_ms, errors = [], []
    for _ in range(int(count_text)):
        start = time.monotonic()
        try:
            client.send(bytes(int(size_text)))
            client.recv(65535)
            round_trips_ms.append((time.monotonic() - start) * 1e3)
        except OSError as error:
            errors.append(error.errno)
    return {"round_trips_ms": round_trips_ms, "errors": errors}


def collect() -> dict[str, object]:
    """Sequence numbers of datagrams, in the order of arrival."""
    server = _datagram_socket()
    server.bind(("", PORT))
    print("ready", flush=True)
    server.settimeout(15)
    numbers = []
    while True:
        try:
            numbers.append(struct.unpack("!I", server.recv(65535)[:4])[0])
            server.settimeout(IDLE_S)
        except TimeoutError:
            return {"numbers": numbers}


def number(host: str, size_text: str, count_text: str) -> dict[str, object]:
    """Sends numbered datagrams, about 5000 a second."""
    client = _datagram_socket()
    client.connect((host, PORT))
    padding = bytes(int(size_text) - 4)
    for sequence in range(int(count_text)):
        client.send(struct.pack("!I", sequence) + padding)
        time.sleep(0.0002)
    return {"sent": int(count_text)}


def sink() -> dict[str, object]:
    """Receives one TCP stream; its rate leaves out the first half second."""
    server = socket.create_server(("", PORT))
    print("ready", flush=True)
    stream, _ = server.accept()
    start = time.monotonic()
    while time.monotonic() - start < 0.5:
        stream.recv(1 << 20)
    start, received = time.monotonic(), 0
    while data := stream.recv(1 << 20):
        received += len(data)
        end = time.monotonic()
    return {"bits_per_second": received * 8 / (end - start)}


def flood(host: str, seconds_text: str) -> dict[str, object]:
    """Sends one TCP stream as fast as it goes."""
    stream = socket.create_connection((host, PORT))
    deadline, sent = time.monotonic() + float(seconds_text), 0
    while time.monotonic() < deadline:
        sent += stream.send(bytes(1 << 16))
    return {"sent": sent}


ROLES: dict[str, Callable[..., dict[str, object] | None]] = {
    role.__name__: role for role in (echo, ping, collect, number, sink, flood)}

if __name__ == "__main__":
    print(json.dumps(ROLES[sys.argv[1]](*sys.argv[2:])))
