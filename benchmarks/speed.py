"""How much a cold lint costs beside the floor under it: LibCST's bare parse of the same files.

    python benchmarks/speed.py PATHS [--rounds 5] [--max-ratio 2]

Both run in child processes, alternately, so that they share the machine's moods.  The floor parses every file with
``libcst.parse_module``, the garbage collector off; the lint is ``check --isolated --no-cache -j 1``.

Vocabulary
----------
ratio         CPU time of the lint over CPU time of the floor, whole processes (start and imports in both).
strict ratio  the same, but of the floor only the time spent parsing.

What it does not model: the disk (files are read once before the first round) and more than one process.

Exit code: 0; 1 where the median ratio is above ``--max-ratio``; 2 where jaxlint itself fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measure import Cost, count_lines, python_files, run_child

FLOOR = """
import gc, sys, time
import libcst
paths = sys.stdin.read().split("\\0")
sources = [open(path, "rb").read() for path in paths]
gc.disable()
start = time.process_time()
for source in sources:
    try:
        libcst.parse_module(source)
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
print(time.process_time() - start)
"""
MIB = 1 << 20


@dataclass(frozen=True)
class Round:
    lint: Cost
    floor: Cost
    parsing: float

    @property
    def ratio(self) -> float:
        return self.lint.cpu / self.floor.cpu

    @property
    def strict_ratio(self) -> float:
        return self.lint.cpu / self.parsing


def lint_command(python: str, paths: Sequence[str]) -> list[str]:
    return [python, "-m", "flake8_jax", "check", "--isolated", "--no-cache", "--exit-zero", "-j", "1", "-q", *paths]


def measure_round(python: str, paths: Sequence[str], files: Sequence[Path]) -> Round:
    """One lint and one floor. Raises SystemExit(2) where either fails."""
    lint = run_child(lint_command(python, paths))
    floor = run_child([python, "-c", FLOOR], stdin="\0".join(map(str, files)).encode())
    for name, cost in (("jaxlint", lint), ("the floor", floor)):
        if cost.exit_code != 0:
            print(f"{name} ended with exit code {cost.exit_code}", file=sys.stderr)
            raise SystemExit(2)
    return Round(lint, floor, float(floor.output))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has jaxlint and LibCST")
    parser.add_argument("--max-ratio", type=float, default=float("inf"))
    args = parser.parse_args(argv)
    files = python_files(args.paths)
    if not files:
        parser.error("no Python files there")
    lines = count_lines(files)
    print(f"{len(files)} files, {lines} lines")
    # As an installation does: else a checkout that nothing has been run from would be compiled in each round.
    run_child(
        [args.python, "-c", "import compileall, flake8_jax; compileall.compile_dir(flake8_jax.__path__[0], quiet=1)"]
    )
    rounds = []
    for number in range(args.rounds):
        rounds.append(one := measure_round(args.python, args.paths, files))
        print(f"round {number + 1}: lint {one.lint.cpu:.2f} s, floor {one.floor.cpu:.2f} s, ratio {one.ratio:.2f}")
    ratio = median(one.ratio for one in rounds)
    lint = median(one.lint.cpu for one in rounds)
    print(f"ratio {ratio:.2f} (median; strict {median(one.strict_ratio for one in rounds):.2f})")
    print(f"lint  {lint:.2f} CPU seconds, {lines / lint:,.0f} lines/s")
    print(f"floor {median(one.floor.cpu for one in rounds):.2f} CPU seconds, of them "
          f"{median(one.parsing for one in rounds):.2f} parsing")  # fmt: skip
    peak_lint, peak_floor = max(one.lint.peak for one in rounds), max(one.floor.peak for one in rounds)
    print(f"peak memory {peak_lint / MIB:.0f} MiB, floor {peak_floor / MIB:.0f} MiB")
    return int(ratio > args.max_ratio)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
