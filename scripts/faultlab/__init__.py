"""Injects faults between two hosts on this machine and scores the verdicts: scripts/faults."""
