"""How often jaxlint calls something an error in code that people rely on, where most such calls would be false.

    python benchmarks/error_rate.py PATHS [--max-rate 1]

Prints the errors per 20 000 lines outside tests, the findings per rule, and every error, so that each can be judged.

Vocabulary
----------
rate   error-level findings per 20 000 lines of the Python files under the paths, tests left out.
tests  files under ``test``, ``tests`` or ``testing``, and files named ``test_*``, ``*_test`` or ``conftest``.

What it does not model: whether an error is true. It says how many a reader has to look at.

Exit code: 0; 1 where the rate is above ``--max-rate``; 2 where jaxlint itself fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compare_inspect import is_test_path
from measure import count_lines, python_files, run_child

Finding = dict[str, Any]
PER_LINES = 20_000


def findings_of(python: str, paths: Sequence[str], extra: Sequence[str]) -> list[Finding]:
    """All findings. Raises SystemExit(2) where jaxlint ends with another code than 0 or 1, or without its report."""
    command = [python, "-m", "flake8_jax", "check", "--isolated", "--no-cache", "--output-format", "json"]
    done = run_child([*command, *extra, *paths])
    # An interpreter that dies of an exception ends with 1 as well, but prints nothing to stdout.
    if done.exit_code not in (0, 1) or not done.output:
        print(f"jaxlint ended with exit code {done.exit_code}", file=sys.stderr)
        raise SystemExit(2)
    found: list[Finding] = json.loads(done.output)
    return found


def place(finding: Finding) -> str:
    where = finding["location"]
    return f"{finding['filename']}:{where['row']}:{where['column']}"


def show_error(finding: Finding) -> None:
    print(f"{place(finding)}: {finding['code']} {finding['name']}: {finding['message']}")
    for step in finding.get("evidence") or ():
        print(f"    {step['filename']}:{step['row']}: {step['message']}")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has jaxlint")
    parser.add_argument("--max-rate", type=float, default=float("inf"))
    parser.add_argument("--preview", action="store_true", help="with the rules in preview")
    parser.add_argument("--with-tests", action="store_true", help="count test files too")
    args = parser.parse_args(argv)
    files = [f for f in python_files(args.paths) if args.with_tests or not is_test_path(str(f))]
    if not files:
        parser.error("no Python files there")
    counted = {str(file.resolve()) for file in files}
    found = findings_of(args.python, args.paths, ["--preview"] if args.preview else [])
    found = [finding for finding in found if str(Path(finding["filename"]).resolve()) in counted]
    errors = [finding for finding in found if finding["severity"] == "error"]
    for finding in sorted(errors, key=lambda f: (f["filename"], f["location"]["row"], f["location"]["column"])):
        show_error(finding)
    for (severity, code, name), number in sorted(Counter((f["severity"], f["code"], f["name"]) for f in found).items()):
        print(f"{number:6} {code} {name} ({severity})")
    lines = count_lines(files)
    rate = PER_LINES * len(errors) / lines
    print(f"{len(errors)} errors in {lines} lines of {len(files)} files: {rate:.2f} per {PER_LINES} lines")
    return int(rate > args.max_rate)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
