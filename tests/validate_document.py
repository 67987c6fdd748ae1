#!/usr/bin/env python3
"""Validate netbench result documents against the JSON Schema.

Usage: validate_document.py FILE...   ("-" is standard input)

Beyond the schema: one JSON value a file, no duplicate keys, no NaN or Infinity, unique
measurement ids, lists of a series and of a histogram equally long, intervals the right way round,
evidence pointers that lead somewhere. Exit status 0 where all are valid, 1 where one is not, 77 where
python3-jsonschema is missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Iterator

SCHEMA = (
    Path(__file__).resolve().parent.parent
    / "report/document/schema/netbench-result-1.schema.json"
)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    repeated = {key for key in keys if keys.count(key) > 1} if len(set(keys)) < len(keys) else None
    if repeated:
        raise ValueError(f"duplicate keys {sorted(repeated)}")
    return dict(pairs)


def no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def load(name: str) -> Any:
    text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    return json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_constant)


def resolves(document: Any, pointer: str) -> bool:
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        try:
            document = document[int(token)] if isinstance(document, list) else document[token]
        except (KeyError, IndexError, ValueError, TypeError):
            return False
    return True


def round_problems(round_: dict[str, Any]) -> Iterator[str]:
    for end in ("forward", "reverse"):
        series = round_.get(end, {}).get("series", {})
        if len({len(column) for column in series.values()}) > 1:
            yield f"{end}: columns of the series differ in length"
    histogram = round_.get("latency", {}).get("histogram")
    if histogram:
        if len(histogram["lowest_ns"]) != len(histogram["counts"]):
            yield "latency: columns of the histogram differ in length"
        if sum(histogram["counts"]) != histogram["count"]:
            yield "latency: the counts do not add up to count"


def interval_problems(summary: dict[str, Any]) -> Iterator[str]:
    rtt = summary.get("rtt_ns", {})
    for low, high in (
        tuple(summary.get(f"goodput{part}_bps") for part in ("_low", "_high")),
        tuple(summary.get(f"messages{part}_per_s") for part in ("_low", "_high")),
        tuple(rtt.get(f"p50{part}") for part in ("_low", "_high")),
    ):
        if None not in (low, high) and low > high:
            yield f"the interval {low} to {high} is upside down"


def problems(document: dict[str, Any]) -> Iterator[str]:
    ids = [row["id"] for row in document["measurements"]]
    if len(set(ids)) < len(ids):
        yield "measurement ids are not unique"
    for row in document["measurements"]:
        for problem in interval_problems(row["summary"]):
            yield f"{row['id']}: {problem}"
        for round_ in row["rounds"]:
            for problem in round_problems(round_):
                yield f"{row['id']}, round {round_['index']}: {problem}"
    for finding in document["findings"]:
        for pointer in finding["evidence"]:
            if not resolves(document, pointer):
                yield f"{finding['id']}: evidence {pointer} leads nowhere"


def check(name: str, validator: Any) -> list[str]:
    try:
        document = load(name)
    except (OSError, ValueError) as failure:
        return [str(failure)]
    found = [
        f"/{'/'.join(str(part) for part in error.absolute_path)}: {error.message[:300]}"
        for error in validator.iter_errors(document)
    ]
    return found or list(problems(document))


def main() -> int:
    try:
        import jsonschema
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return 77
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    status = 0
    for name in sys.argv[1:]:
        for problem in check(name, validator):
            print(f"{name}: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
