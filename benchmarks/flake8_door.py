"""What the plugin adds to flake8 on a project that was linted before.

    python benchmarks/flake8_door.py PATHS [--rounds 3] [--max-ratio 2]

Runs flake8 over the paths with the plugin's codes selected and without, alternately, after one run that fills the cache.
The plugin has to be installed beside flake8.

Vocabulary
----------
ratio  wall time of flake8 with the plugin over flake8's own, the median of the rounds. 2 means that the plugin costs as much
       as all the rest.

Exit code: 0; 1 where the ratio is above ``--max-ratio``; 2 where flake8 fails or does not know the plugin.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median


def seconds(codes: str, paths: Sequence[str], jobs: int) -> float:
    """One run of flake8 with these codes. Raises SystemExit(2) where it fails."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "flake8", "--isolated", "-q", "-j", str(jobs), "--select", codes, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        print(done.stderr, file=sys.stderr)
        raise SystemExit(2)
    return time.perf_counter() - started


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-ratio", type=float, default=float("inf"))
    args = parser.parse_args(argv)
    listed = subprocess.run([sys.executable, "-m", "flake8", "--version"], capture_output=True, text=True, check=False)
    if "jax" not in listed.stdout.lower():
        print("this flake8 does not know the plugin", file=sys.stderr)
        return 2
    seconds("JAX,E,W,F", args.paths, args.jobs)
    rounds = [
        (seconds("JAX,E,W,F", args.paths, args.jobs), seconds("E,W,F", args.paths, args.jobs))
        for _ in range(args.rounds)
    ]
    for number, (both, alone) in enumerate(rounds, 1):
        print(f"round {number}: with the plugin {both:.2f} s, without {alone:.2f} s, ratio {both / alone:.2f}")
    ratio = median(both / alone for both, alone in rounds)
    print(f"ratio {ratio:.2f}")
    return int(ratio > args.max_ratio)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
