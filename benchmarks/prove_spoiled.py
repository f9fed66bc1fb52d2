"""Fixes spoiled on purpose: how many of them does ``jaxlint prove`` accept, and does it accept the same fixes unspoiled?

    python benchmarks/prove_spoiled.py [--only NAME ...] [--jobs 2] [--verbose]

The programs and the spoiled fixes are those of ``tests/runtime/spoiled_fixes.py``. A program counts as accepted where
``prove`` ends with status 0: every fix is proved. Prints a line for each fix, and the counts.

Exit code: 0; 1 where a spoiled fix is accepted, or one that is as it should be is not, or ``prove`` judged no fix.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from runtime.spoiled.kinds import Spoil, Spoiled  # noqa: E402
from runtime.spoiled_fixes import PROGRAMS  # noqa: E402
from runtime.spoiling import Judged, NotJudged, judge  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of programs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="say the reasons of all")
    args = parser.parse_args()
    programs = [program for program in PROGRAMS if not args.only or program.name in args.only]
    tasks: list[tuple[Spoiled, Spoil | None]] = [
        (program, spoil) for program in programs for spoil in (None, *program.spoils)
    ]
    accepted, refused, spoiled, unjudged = 0, 0, 0, 0
    with ProcessPoolExecutor(args.jobs) as pool:
        for (program, spoil), judged in zip(tasks, pool.map(judged_in_folder, *zip(*tasks))):
            spoiled += spoil is not None
            what = "as it is" if spoil is None else spoil.what
            if isinstance(judged, str):
                unjudged += 1
                print(f"WRONG {program.name}, {what}: not judged", f"      {judged}", sep="\n", flush=True)
                continue
            wrong = judged.accepted == (spoil is not None) and (spoil is not None or program.is_decided)
            accepted += wrong and spoil is not None
            refused += wrong and spoil is None
            print(f"{'WRONG' if wrong else 'right'} {program.name}, {what}: {', '.join(judged.verdicts)}", flush=True)
            if wrong or args.verbose:
                print(*(f"      {reason}" for reason in judged.reasons), sep="\n", flush=True)
    print(
        f"{spoiled} spoiled fixes of {len(programs)} programs: {accepted} accepted; "
        f"{refused} programs refused whose fixes are as they should be; {unjudged} not judged"
    )
    return int(bool(accepted or refused or unjudged))


def judged_in_folder(program: Spoiled, spoil: Spoil | None) -> Judged | str:
    """The verdicts, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return judge(program, spoil, Path(folder))
        except NotJudged as error:
            return str(error)


if __name__ == "__main__":
    sys.exit(main())
