"""How much of the truth ``jaxlint inspect`` sees: its kinds of parameters against a record of real test runs.

    python benchmarks/compare_inspect.py record.json SRC TESTS
    python benchmarks/compare_inspect.py record.json --inspect inspect.json -v

The record is a profile of ``jaxlint record`` or of its pytest plugin; what counts as found and as borne out, and how
functions are matched, is said in ``flake8_jax.runtime_checks.comparison``.

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
from pathlib import Path

import msgspec

from flake8_jax.runtime_checks.comparison import Param, Row, joined
from flake8_jax.runtime_checks.profile import Function, load

_TEST_PATH = re.compile(r"(^|/)(tests?|testing)/|_test\.py$|(^|/)(test_[^/]*|conftest)\.py$")


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


def recorded_in(path: Path) -> list[Function]:
    """The functions of a record, or of a profile made by ``jaxlint record``."""
    data = json.loads(path.read_text())
    rows = data if isinstance(data, list) else load(str(path)).functions
    return [row if isinstance(row, Function) else msgspec.convert(row, Function) for row in rows]


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
    params = list(joined(recorded_in(args.record), inspected))
    listed = [p for p in params if args.with_tests or not is_test_path(p.filename)]
    if args.verbose:
        show([p for p in listed if p.seen and not p.found], "missed", args.root)
        show([p for p in listed if p.claimed and not p.borne_out], "wrongly claimed", args.root)
    found, borne_out = report("library", [p for p in params if not is_test_path(p.filename)])
    report("tests", [p for p in params if is_test_path(p.filename)])
    return int(found < args.min_found or borne_out < args.min_borne_out)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
