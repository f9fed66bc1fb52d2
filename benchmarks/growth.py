"""How the cost of a lint grows with the length or depth of one program, for every way in which a program can grow.

    python benchmarks/growth.py [NAMES] [--limit 2] [--max-exponent 1.3] [--memory 4096]

Each generator of ``tests/growth`` makes a program of a quarter, of half and of the whole of its size. A child
process with a limit on CPU time and memory runs ``check --no-cache`` on each.

Vocabulary
----------
size      how many terms, elements, links or levels the program has; ``--scale`` multiplies it.
seconds   CPU time of the child, less that of a lint of an empty file: starting and importing.
exponent  log2 of the seconds of one size over those of half of it; 1 is linear growth. The larger of the two
          exponents counts, of those whose smaller program takes longer than the noise.

What is over a limit is measured again, and the smallest values count, of the start too: a busy machine adds to them.

Limitations: a cost that sets in behind the largest size is not seen.

Exit code: 0; 1 where an exponent is too large or a largest program takes too long; 2 where jaxlint itself fails.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from growth.generators import GENERATORS, SIZES
from measure import Cost, run_child

NOISE = 0.15
"""Seconds: the exponent between two programs says nothing where the smaller one takes less."""
MIB = 1 << 20
SUCCESS = (0, 1)
"""Exit codes of a lint that ran to its end."""


@dataclass(frozen=True)
class Run:
    """The lint of one program: CPU seconds (less the start), peak memory in bytes, and how it ended."""

    size: int
    seconds: float
    peak: int
    exit_code: int
    output: bytes


@dataclass(frozen=True)
class Growth:
    """The lints of one generator's programs, the smallest first."""

    name: str
    runs: tuple[Run, ...]

    @property
    def exponent(self) -> float | None:
        """The largest exponent that is above the noise."""
        pairs = [(a, b) for a, b in zip(self.runs, self.runs[1:]) if a.seconds > NOISE]
        return max((math.log(max(b.seconds, NOISE) / a.seconds, b.size / a.size) for a, b in pairs), default=None)

    def failures(self, limit: float, max_exponent: float) -> list[str]:
        """What is wrong with this growth, in words."""
        last, exponent = self.runs[-1], self.exponent
        found = [] if last.exit_code in SUCCESS else [f"exit code {last.exit_code}"]
        if last.seconds > limit:
            found.append(f"over {limit:g} s")
        if exponent is not None and exponent > max_exponent:
            found.append(f"exponent over {max_exponent:g}")
        return found


def sizes_of(largest: int) -> tuple[int, ...]:
    """A quarter, half and the whole of a size."""
    return tuple(dict.fromkeys(max(largest // part, 1) for part in (4, 2, 1)))


def limited(cpu: int, memory: int) -> Callable[[], None]:
    """Set the limits of a child: CPU seconds and bytes of memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return limit


def lint(python: str, path: Path, limit: Callable[[], None]) -> Cost:
    """Lint one file on its own."""
    command = [python, "-m", "flake8_jax", "check", "--isolated", "--no-cache", "-j", "1", "-q", str(path)]
    return run_child(command, before=limit)


def measure(python: str, name: str, folder: Path, start: float, limit: Callable[[], None], scale: float) -> Growth:
    """Lint the programs of one generator once, and stop at the first that does not end well."""
    runs: list[Run] = []
    for size in sizes_of(max(int(SIZES[name] * scale), 1)):
        path = folder / f"{name}_{size}.py"
        path.write_text(GENERATORS[name](size), encoding="utf-8")
        cost = lint(python, path, limit)
        runs.append(Run(size, max(cost.cpu - start, 0.0), cost.peak, cost.exit_code, cost.output))
        if cost.exit_code not in SUCCESS:
            break
    return Growth(name, tuple(runs))


def least(first: Growth, second: Growth) -> Growth:
    """Of two measurements of the same programs, the smaller ones: other programs can only add to a cost."""
    return Growth(first.name, tuple(min(pair, key=lambda run: run.seconds) for pair in zip(first.runs, second.runs)))


def row(growth: Growth, failures: list[str]) -> str:
    """One line of the table."""
    last, exponent = growth.runs[-1], growth.exponent
    seconds = "".join(f"{run.seconds:8.2f}" for run in growth.runs).ljust(24)
    shown = "    –" if exponent is None else f"{exponent:5.2f}"
    return f"{growth.name:34}{last.size:6}{seconds}{last.peak / MIB:7.0f}  {shown}  {', '.join(failures)}".rstrip()


def start_cost(python: str, folder: Path, limit: Callable[[], None]) -> float:
    """CPU seconds of a lint of a file that only uses JAX."""
    path = folder / "empty.py"
    path.write_text("import jax\n\n\n@jax.jit\ndef f(x):\n    return x\n", encoding="utf-8")
    costs = [lint(python, path, limit) for _ in range(4)]
    if any(cost.exit_code != 0 for cost in costs):
        print(f"jaxlint ended with exit code {costs[0].exit_code} on an empty file", file=sys.stderr)
        raise SystemExit(2)
    return min(cost.cpu for cost in costs[1:])


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="generators (or parts of their names); default: all")
    parser.add_argument("--limit", type=float, default=2.0, help="CPU seconds that the largest program may take")
    parser.add_argument("--max-exponent", type=float, default=1.3)
    parser.add_argument("--retries", type=int, default=3, help="measure again so often what is over a limit")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all sizes")
    parser.add_argument("--cpu", type=int, default=30, help="CPU seconds after which a child is ended")
    parser.add_argument("--memory", type=int, default=4096, help="MiB of address space that a child may have")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has jaxlint")
    parser.add_argument("--failures", action="store_true", help="print the rows that fail alone")
    args = parser.parse_args(argv)
    names = [name for name in GENERATORS if not args.names or any(part in name for part in args.names)]
    if not names:
        parser.error("no generator has such a name")
    limit = limited(args.cpu, args.memory * MIB)
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start = start_cost(args.python, folder, limit)
        print(f"start: {start:.2f} s")
        print(f"{'program':34}{'size':>6}{'n/4':>8}{'n/2':>8}{'n':>8}{'MiB':>7}  {'exp.':>5}")
        for name in names:
            growth = measure(args.python, name, folder, start, limit, args.scale)
            failures = growth.failures(args.limit, args.max_exponent)
            for _ in range(args.retries):
                if failures and growth.runs[-1].exit_code in SUCCESS:
                    growth = least(growth, measure(args.python, name, folder, start, limit, args.scale))
                    failures = growth.failures(args.limit, args.max_exponent)
            failed += bool(failures)
            if failures or not args.failures:
                print(row(growth, failures), flush=True)
    print(f"{len(names)} programs, {failed} grow too fast or take too long")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
