"""Fixes in contexts drawn at random: does a program show anything else after its fix?

    python benchmarks/fix_contexts.py 2000 [--unsafe] [--seed 1] [--rule JAX201] [--keep FOLDER]

Programs are those of ``tests/fixers/contexts.py``: a line with a finding, the callers of its function, and their inputs.
Each is run on JAX before and after ``jaxlint --fix``, and everything that it shows is compared (``comparing.py`` says how).
Prints what differs, with the fixed file, and how many programs a fix changed, by rule. With ``--unsafe``, programs are
fixed with ``--unsafe-fixes`` and may differ in what the messages of the fixes announce, and in nothing else.

Exit code: 0; 1 where a program differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support"), str(ROOT)]

from fixers.comparing import differences, lost_comments, unannounced  # noqa: E402
from fixers.contexts import EIGHT_DEVICES, Made, announced, drawn, fixed  # noqa: E402
from fixers.sites import SAFE, UNSAFE  # noqa: E402
from support.jax_programs import Program, run_all  # noqa: E402

from flake8_jax.fixers._announced import May  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many programs to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unsafe", action="store_true", help="unsafe fixes, of the rules that have them")
    parser.add_argument("--rule", action="append", help="programs of this rule alone; may be repeated")
    parser.add_argument("--keep", type=Path, help="folder for the repaired programs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        sites, options = (UNSAFE, ["--unsafe-fixes"]) if args.unsafe else (SAFE, [])
        if args.rule:
            sites = tuple(site for site in (*SAFE, *UNSAFE) if site.rule in args.rule)
        made = {one.name: one for one in drawn(sites, args.count, args.seed)}
        said = {name: announced(one, folder / name) if args.unsafe else May.NOTHING for name, one in made.items()}
        after = {
            name: fixed(one, folder / name, *options) if may is not None else one.files
            for (name, one), may in zip(made.items(), said.values(), strict=True)
        }
        changed = {name: one for name, one in made.items() if after[name] != one.files}
        shown = run_all(programs(changed, after), Path(scratch), XLA_FLAGS=EIGHT_DEVICES)
    wrong: Counter[str] = Counter()
    for name, one in changed.items():
        pair = shown[f"{name}/before"], shown[f"{name}/after"]
        may = said[name]
        if isinstance(pair[0], str) or isinstance(pair[1], str):  # what the process said that did not end as it should
            trouble = [f"before: {str(pair[0])[-300:]}", f"after: {str(pair[1])[-300:]}"]
        else:
            trouble = unannounced(*pair, may or May.NOTHING) if args.unsafe else differences(*pair)
        trouble += [line for file, text in one.files.items() for line in lost_comments(text, after[name][file])]
        if trouble:
            wrong[one.rule] += 1
            print(f"{one.rule} {name}", after[name]["main.py"], *trouble, sep="\n")
    print(f"{args.count} programs, {len(changed)} changed, {wrong.total()} wrong")
    drawn_of, changed_of = (Counter(one.rule for one in some.values()) for some in (made, changed))
    for rule, count in sorted(drawn_of.items()):
        print(f"{rule}: {changed_of[rule]} of {count} changed, {wrong[rule]} wrong")
    return int(wrong.total() > 0)


def programs(changed: dict[str, Made], after: dict[str, dict[str, str]]) -> list[Program]:
    """Each changed program, or its reference, and what the fix made of it."""
    observing = ROOT / "tests" / "fixers" / "observing.py"
    return [
        Program(f"{name}/{when}", observing, "fixes", files=files)
        for name, one in changed.items()
        for when, files in (("before", one.before), ("after", one.run_with(after[name])))
    ]


if __name__ == "__main__":
    sys.exit(main())
