"""What other linters cost on the same files: flake8 with TorchFix, and the unrelated ``jaxlint`` of PyPI.

    python benchmarks/peers.py PATHS [--rounds 3] [--cache DIR]

Each peer is installed into a virtual environment of its own, once, under ``--cache``; the peer named jaxlint installs a
script and a package of that name, so it must never share an environment with this project.  All run on one process,
without caches and configuration, alternately, as child processes.

Vocabulary
----------
peer   a linter with the command that runs it over paths. ours: ``check --isolated --no-cache -j 1``.

What it does not model: what the peers find; only what looking costs.

Exit code: 0; 1 where ours is slower than a peer that ``--beat`` names; 2 where ours fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measure import Cost, count_lines, python_files, run_child
from speed import MIB, lint_command


@dataclass(frozen=True)
class Peer:
    """``command`` takes the interpreter of the peer's environment and the paths."""

    name: str
    requirements: tuple[str, ...]
    command: Callable[[str, Sequence[str]], list[str]]


def torchfix_command(python: str, paths: Sequence[str]) -> list[str]:
    return [python, "-m", "flake8", "--isolated", "--exit-zero", "-q", "-j", "1", *paths]


def pypi_jaxlint_command(python: str, paths: Sequence[str]) -> list[str]:
    return [python, "-m", "jaxlint", "check", "--jobs", "1", *paths]


PEERS = (
    Peer("flake8 + TorchFix", ("flake8==7.3.0", "torchfix==0.7.0"), torchfix_command),
    Peer("PyPI's jaxlint 0.1.0a1", ("jaxlint==0.1.0a1",), pypi_jaxlint_command),
)


def interpreter(cache: Path, peer: Peer) -> str:
    """The interpreter of the peer's environment, made if need be. Raises CalledProcessError where pip fails."""
    slug = "-".join(requirement.replace("==", "-") for requirement in peer.requirements)
    home = cache / slug
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = home / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *peer.requirements], check=True)
        ready.touch()
    return str(python)


def line_of(name: str, costs: Sequence[Cost], lines: int) -> str:
    cpu, peak = median(cost.cpu for cost in costs), max(cost.peak for cost in costs)
    return f"{name:24} {cpu:8.2f} CPU seconds {lines / cpu:10,.0f} lines/s {peak / MIB:6.0f} MiB"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has this jaxlint")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "flake8-jax-peers")
    parser.add_argument("--beat", action="append", default=[], help="fail unless ours is faster than this peer")
    args = parser.parse_args(argv)
    files = python_files(args.paths)
    if not files:
        parser.error("no Python files there")
    lines = count_lines(files)
    commands = {"ours": lint_command(args.python, args.paths)}
    for peer in PEERS:
        commands[peer.name] = peer.command(interpreter(args.cache, peer), args.paths)
    print(f"{len(files)} files, {lines} lines, {args.rounds} rounds")
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, command in commands.items():
            costs[name].append(run_child(command))
    for name, group in costs.items():
        codes = sorted({cost.exit_code for cost in group})
        print(line_of(name, group, lines) + f"  exit {codes}")
    if any(cost.exit_code != 0 for cost in costs["ours"]):
        return 2
    ours = median(cost.cpu for cost in costs["ours"])
    slower = [name for name in args.beat if ours >= median(cost.cpu for cost in costs[name])]
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
