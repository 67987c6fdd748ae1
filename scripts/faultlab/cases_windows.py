"""Windows and buffers of both ends: W01 to W05, W13."""

from __future__ import annotations

import random

from .build import (RECEIVER, SENDER, delay, kib, log_uniform, lost, percent, stream, sysctl)
from .case import Case, Setup


def receive_buffer(rng: random.Random, direction: str, **options: str) -> Setup:
    """SO_RCVBUF asked for; the kernel doubles it, and half of that is window at first."""
    size, wait = kib(rng, 32, 96), delay(rng, 3, 8)
    return Setup({"delay": wait}, (), stream(direction, **{"tcp__rcvbuf": size} | options),
                 {"rcvbuf": size, "delay": wait})


def receive_buffer_near(rng: random.Random) -> Setup:
    size, wait = kib(rng, 8, 16), delay(rng, 0.5, 1)
    return Setup({"delay": wait}, (), stream(tcp__rcvbuf=size), {"rcvbuf": size, "delay": wait})


def autotuning_ceiling(rng: random.Random, direction: str, **options: str) -> Setup:
    ceiling, wait = round(log_uniform(rng, 128, 400)) * 1024, delay(rng, 4, 10)
    limit = sysctl(RECEIVER[direction], tcp_rmem=f"4096 65536 {ceiling}")
    return Setup({"delay": wait}, (limit,), stream(direction, **options),
                 {"tcp_rmem[2]": str(ceiling), "delay": wait})


def autotuning_off(rng: random.Random, direction: str) -> Setup:
    """With a low-water mark of one byte: a larger one raises the buffer by itself."""
    start, wait = round(log_uniform(rng, 48, 128)) * 1024, delay(rng, 4, 10)
    off = sysctl(RECEIVER[direction], tcp_moderate_rcvbuf=0, tcp_rmem=f"4096 {start} 33554432")
    return Setup({"delay": wait}, (off,), stream(direction, tcp__lowat="1"),
                 {"tcp_rmem[1]": str(start), "delay": wait})


def scaling_off(rng: random.Random, host: str, direction: str, **options: str) -> Setup:
    wait = delay(rng, 4, 12)
    return Setup({"delay": wait}, (sysctl(host, tcp_window_scaling=0),),
                 stream(direction, **options), {"delay": wait, "scaling off at": host})


def send_buffer(rng: random.Random, direction: str, **options: str) -> Setup:
    size, wait = kib(rng, 16, 64), delay(rng, 3, 8)
    return Setup({"delay": wait}, (), stream(direction, **{"tcp__sndbuf": size} | options),
                 {"sndbuf": size, "delay": wait})


def send_ceiling(rng: random.Random, direction: str) -> Setup:
    ceiling, wait = round(log_uniform(rng, 64, 160)) * 1024, delay(rng, 4, 8)
    limit = sysctl(SENDER[direction], tcp_wmem=f"4096 16384 {ceiling}")
    return Setup({"delay": wait}, (limit,), stream(direction),
                 {"tcp_wmem[2]": str(ceiling), "delay": wait})


def without_sack(rng: random.Random) -> Setup:
    share, wait = percent(rng, 0.5, 1.5), delay(rng, 3, 6)
    return Setup({"delay": wait}, (sysctl("b", tcp_sack=0), lost("forward", share)), stream(),
                 {"loss": f"{share} %", "delay": wait})


CASES = (
    Case("W01-forward", ("W01",), lambda rng: receive_buffer(rng, "forward"), ci=True),
    Case("W01-reverse", ("W01",), lambda rng: receive_buffer(rng, "reverse")),
    Case("W01-reno", ("W01",), lambda rng: receive_buffer(rng, "forward", tcp__congestion="reno")),
    Case("W01-bbr", ("W01",), lambda rng: receive_buffer(rng, "forward", tcp__congestion="bbr")),
    Case("W01-4-streams", ("W01",), lambda rng: receive_buffer(rng, "forward", tcp__streams="4")),
    Case("W01-short-path", ("W01",), receive_buffer_near),
    Case("W02-forward", ("W02",), lambda rng: autotuning_ceiling(rng, "forward"), ci=True),
    Case("W02-reverse", ("W02",), lambda rng: autotuning_ceiling(rng, "reverse")),
    Case("W02-bbr", ("W02",),
         lambda rng: autotuning_ceiling(rng, "forward", tcp__congestion="bbr")),
    Case("W03-forward", ("W03",), lambda rng: autotuning_off(rng, "forward"), ci=True),
    Case("W03-reverse", ("W03",), lambda rng: autotuning_off(rng, "reverse")),
    Case("W04-receiver", ("W04",), lambda rng: scaling_off(rng, "b", "forward"), ci=True),
    Case("W04-sender", ("W04",), lambda rng: scaling_off(rng, "a", "forward")),
    Case("W04-reverse", ("W04",),
         lambda rng: scaling_off(rng, "a", "reverse", tcp__congestion="bbr")),
    Case("W05-forward", ("W05",), lambda rng: send_buffer(rng, "forward"), ci=True),
    Case("W05-reverse", ("W05",), lambda rng: send_buffer(rng, "reverse")),
    Case("W05-bbr", ("W05",), lambda rng: send_buffer(rng, "forward", tcp__congestion="bbr")),
    Case("W05-ceiling", ("W05",), lambda rng: send_ceiling(rng, "forward")),
    Case("W13-loss-without-sack", ("Q04", "W13"), without_sack, also=("Q04", "W13")),
)
