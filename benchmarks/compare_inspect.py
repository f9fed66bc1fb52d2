"""How much of the truth ``jaxlint inspect`` sees: its kinds of parameters against a record of real test runs.

    python benchmarks/compare_inspect.py record.json SRC TESTS
    python benchmarks/compare_inspect.py record.json --inspect inspect.json -v

Vocabulary
----------
record     what ``record_tracers.py`` wrote: of every function that ran, what each parameter was.
inspected  what ``jaxlint inspect --output-format json`` says of the same functions.
seen       a parameter that was an abstract tracer, or a pytree with one in it, in at least one recorded call.
found      the share of the parameters seen of which inspect says ``traced``, ``pytree`` or ``key``.
claimed    a parameter that inspect calls ``traced`` or ``pytree``, in a function that was recorded staged.
borne out  the share of those claimed that were tracers (of either tracing) in at least one recorded call.

Functions are matched by file and by the line of their first decorator; where two share it (lambdas), by qualified
name, then by the names of their parameters; of twins that even these do not tell apart, the kinds are united.

What it does not model: a claim about a function that no test ran staged is neither right nor wrong here, and a
parameter that the tests happen never to pass a tracer counts as wrongly claimed although another caller may.

Exit code: 0; 1 where a share is below ``--min-found`` or ``--min-borne-out``; inspect's own where it fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FINDS = frozenset({"traced", "pytree", "key"})
CLAIMS = frozenset({"traced", "pytree"})
_TEST_PATH = re.compile(r"(^|/)(tests?|testing)/|_test\.py$|(^|/)(test_[^/]*|conftest)\.py$")


@dataclass(frozen=True)
class Param:
    """One parameter of one recorded function beside what inspect says of it. ``kinds`` is None if it says nothing."""

    filename: str
    line: int
    qualname: str
    name: str
    counts: dict[str, int]
    staged_calls: int
    kinds: frozenset[str] | None

    @property
    def seen(self) -> bool:
        return bool(self.counts.get("traced") or self.counts.get("tree"))

    @property
    def seen_concrete(self) -> bool:
        return bool(self.counts.get("concrete")) and not self.seen

    @property
    def found(self) -> bool:
        return self.kinds is not None and bool(self.kinds & FINDS)

    @property
    def claimed(self) -> bool:
        return self.staged_calls > 0 and self.kinds is not None and bool(self.kinds & CLAIMS)

    @property
    def borne_out(self) -> bool:
        return self.seen or self.seen_concrete

    @property
    def is_test(self) -> bool:
        return is_test_path(self.filename)


def is_test_path(path: str) -> bool:
    return _TEST_PATH.search(path) is not None


def inspect_paths(paths: list[str]) -> list[Row]:
    """Run inspect in a child process. Raises SystemExit with its exit code where it fails."""
    command = [sys.executable, "-m", "flake8_jax", "inspect", *paths, "--output-format", "json"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    rows: list[Row] = json.loads(done.stdout)
    return rows


def by_line(rows: Iterable[Row]) -> dict[tuple[str, int], list[Row]]:
    table: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        filename = os.path.realpath(row["filename"])
        for line in {row["line"], row["first_line"]}:
            table[filename, line].append(row)
    return table


def names_of(row: Row) -> set[str]:
    return {param["name"].lstrip("*") for param in row["params"]}


def pick(recorded: Row, candidates: list[Row]) -> list[Row]:
    """The inspected functions that a recorded one may be: mostly one; several twins where nothing tells them apart."""
    last = recorded["qualname"].rsplit(".", 1)[-1]
    names = set(recorded["params"])
    narrowings = (
        lambda row: row["qualname"] == recorded["qualname"],
        lambda row: row["qualname"].rsplit(".", 1)[-1] == last,
        lambda row: row["first_line"] == recorded["line"],
        lambda row: names_of(row) == names,
    )
    for keep in narrowings:
        candidates = [row for row in candidates if keep(row)] or candidates
    return candidates


def kinds_by_name(rows: Iterable[Row]) -> dict[str, frozenset[str]]:
    kinds: dict[str, frozenset[str]] = {}
    for row in rows:
        for param in row["params"]:
            name = param["name"].lstrip("*")
            kinds[name] = kinds.get(name, frozenset()) | frozenset(param["kinds"])
    return kinds


def joined(record: Iterable[Row], inspected: Iterable[Row]) -> Iterator[Param]:
    table = by_line(inspected)
    for row in record:
        filename = os.path.realpath(row["filename"])
        kinds = kinds_by_name(pick(row, table.get((filename, row["line"]), [])))
        for name, counts in row["params"].items():
            if counts:
                said = kinds.get(name)
                yield Param(filename, row["line"], row["qualname"], name, counts, row["staged_calls"], said)


def percent(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.1f} %)" if whole else "0/0"


def share(part: list[Param], whole: list[Param]) -> float:
    return len(part) / len(whole) if whole else 1.0


def show(params: list[Param], note: str, root: str) -> None:
    """Print parameters grouped by file, the files with most of them first."""
    groups: dict[str, list[Param]] = defaultdict(list)
    for param in params:
        groups[param.filename].append(param)
    for filename, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{os.path.relpath(filename, root)}: {len(group)} {note}")
        for p in sorted(group, key=lambda p: (p.line, p.name)):
            said = "not inspected" if p.kinds is None else ",".join(sorted(p.kinds)) or "nothing"
            was = " ".join(f"{kind}={count}" for kind, count in sorted(p.counts.items()))
            print(f"  {p.line}: {p.qualname}({p.name}) was {was}; inspect says {said}")


def report(title: str, params: list[Param]) -> tuple[float, float]:
    """Print the shares of one group; returns found and borne out."""
    seen = [p for p in params if p.seen]
    found = [p for p in seen if p.found]
    claimed = [p for p in params if p.claimed]
    right = [p for p in claimed if p.borne_out]
    direct = [p for p in seen if p.counts.get("traced")]
    concrete = [p for p in params if p.seen_concrete]
    print(f"{title}: found {percent(len(found), len(seen))}, borne out {percent(len(right), len(claimed))}")
    print(f"  of the seen, {len(direct)} were arrays: found {percent(sum(p.found for p in direct), len(direct))}")
    said = percent(sum(p.found for p in concrete), len(concrete))
    print(f"  only concretely traced (not counted above): found {said}")
    misses = Counter("function not inspected" if p.kinds is None else
                     ",".join(sorted(p.kinds)) or "nothing" for p in seen if not p.found)  # fmt: skip
    print("  inspect says of the missed: " + "; ".join(f"{said} {n}" for said, n in misses.most_common()))
    return share(found, seen), share(right, claimed)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("paths", nargs="*", help="what inspect is run on")
    parser.add_argument("--inspect", type=Path, help="the saved output of inspect, instead of running it")
    parser.add_argument("--save-inspect", type=Path, help="keep the output of inspect here")
    parser.add_argument("--root", default=".", help="show paths relative to this folder")
    parser.add_argument("--with-tests", action="store_true", help="-v lists functions of test files too")
    parser.add_argument("--min-found", type=float, default=0.0)
    parser.add_argument("--min-borne-out", type=float, default=0.0)
    parser.add_argument("-v", "--verbose", action="store_true", help="list the missed and the wrong ones by file")
    return parser


def main(argv: list[str]) -> int:
    parser = options()
    args = parser.parse_args(argv)
    if args.inspect is None and not args.paths:
        parser.error("give the paths to inspect, or --inspect FILE")
    inspected: list[Row] = json.loads(args.inspect.read_text()) if args.inspect else inspect_paths(args.paths)
    if args.save_inspect:
        args.save_inspect.write_text(json.dumps(inspected))
    params = list(joined(json.loads(args.record.read_text()), inspected))
    listed = [p for p in params if args.with_tests or not p.is_test]
    if args.verbose:
        show([p for p in listed if p.seen and not p.found], "missed", args.root)
        show([p for p in listed if p.claimed and not p.borne_out], "wrongly claimed", args.root)
    found, borne_out = report("library", [p for p in params if not p.is_test])
    report("tests", [p for p in params if p.is_test])
    return int(found < args.min_found or borne_out < args.min_borne_out)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
