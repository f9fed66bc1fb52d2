"""Hostile inputs by the thousand: what jaxlint makes of mutated programs, odd bytes, settings, caches, notebooks and kills.

    python benchmarks/fuzz.py --for 600 [--seed 1] [--kind programs,texts] [--jobs 2] [--found FOLDER]
    python benchmarks/fuzz.py --kind programs --count 50000
    python benchmarks/fuzz.py --files ~/.pyenv/versions/3.12.1/lib/python3.12

Prints what came out, kind by kind, and keeps every failing input, made small, in a folder of its own. The kinds are the
modules of ``tests/fuzz``, and what counts as broken is said there. A case is made from kind, seed and number alone, so a
failure that was printed can be had again with ``--first NUMBER --count 1``.

Vocabulary
----------
class  failures with the same exception in the same function, or of the same sentence; three of each are kept.

Exit code: 0; 1 where something was broken.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from fuzz import files, running  # noqa: E402
from fuzz.case import Failure, Tally  # noqa: E402
from fuzz.shrinking import shrunk  # noqa: E402

KINDS = {
    "programs": 10, "texts": 2, "configurations": 2, "ignore_files": 2, "caches": 2, "notebooks": 2, "generated": 2, "kills": 1,
    "lsp_messages": 2,
}  # fmt: skip
"""And what share of the time each gets."""
KEPT = 3
_SLICE = 500
"""LSP messages between two looks at the clock."""


class Hunt:
    """One kind, for some time or some number of cases. ``jobs`` children, each with every so many-th case."""

    def __init__(self, kind: str, args: argparse.Namespace, end: float | None) -> None:
        self.kind, self.args, self.end = kind, args, end
        self.tallies: list[Tally] = []
        self.kept: Counter[str] = Counter()
        self.lock = threading.Lock()

    def is_over(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end

    def run(self) -> None:
        last = 10**9 if self.args.count is None else self.args.first + self.args.count
        threads = []
        for job in range(self.args.jobs):
            numbers = range(self.args.first + job, last, self.args.jobs)
            threads.append(threading.Thread(target=self._some, args=(numbers,)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _some(self, numbers: range) -> None:
        tally = Tally()
        with self.lock:
            self.tallies.append(tally)
        for failure in running.cases(self.kind, self.args.seed, numbers, tally, self.is_over):
            with self.lock:
                self.kept[failure.label] += 1
                known = self.kept[failure.label] > KEPT
            if not known:
                print(f"{self.kind} {failure.number}: {failure.reason.splitlines()[0][:300]}", flush=True)
                small = failure if self.args.no_shrink else shrunk(self.kind, failure, self.args.shrink_seconds)
                self._keep(small)

    def _keep(self, failure: Failure) -> None:
        name = re.sub(r"\W+", "-", failure.label).strip("-")[:80] or "unnamed"
        folder = Path(self.args.found) / self.kind / f"{name}-{failure.number}"
        failure.case.write(folder / "files")
        (folder / "reason.txt").write_text(
            f"{self.kind}, seed {self.args.seed}, number {failure.number}\n{failure.case.note}\n{failure.reason}\n",
            encoding="utf-8", errors="backslashreplace",
        )  # fmt: skip

    def counts(self) -> Counter[str]:
        return sum((tally.counts for tally in self.tallies), Counter())


def show(kind: str, counts: Counter[str], classes: Counter[str], seconds: float) -> None:
    print(f"{kind}: {seconds:.0f} s")
    for name, count in sorted(counts.items(), key=lambda item: (item[0] == "BROKEN", -item[1])):
        print(f"{count:8} {name}")
    for name, count in classes.most_common():
        print(f"{'':8} {count:6} {name}")


def messages(args: argparse.Namespace, end: float | None) -> bool:
    """LSP messages, by the module that sends them; whether something was broken."""
    start = time.monotonic()
    run = importlib.import_module("fuzz.lsp_messages").run
    counts: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    seed = args.seed
    while (end is None and seed == args.seed) or (end is not None and time.monotonic() < end):
        try:
            counts.update(run(seed, args.count or _SLICE))
        except AssertionError as error:
            counts["BROKEN"] += 1
            classes[str(error).partition("\n")[0][:100]] += 1
            print(f"lsp_messages, seed {seed}: {error}")
        seed += 1
    show("lsp_messages", counts, classes, time.monotonic() - start)
    return bool(counts["BROKEN"])


def hunt(kind: str, args: argparse.Namespace, end: float | None) -> bool:
    start = time.monotonic()
    found = Hunt(kind, args, end)
    found.run()
    counts = found.counts()
    show(kind, counts, found.kept, time.monotonic() - start)
    return bool(counts["BROKEN"])


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--for", dest="seconds", type=float, metavar="SECONDS", help="in all; else --count of each kind"
    )
    parser.add_argument("--count", type=int, help="cases of each kind; without it, as many as fit into the time")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="", help=f"some of {', '.join(KINDS)}, with commas; default: all")
    parser.add_argument("--files", nargs="+", metavar="FOLDER", help="lint every Python file below these instead")
    parser.add_argument("--found", default="fuzz-found", metavar="FOLDER", help="where failing inputs go")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-shrink", action="store_true", help="keep failing inputs as they are")
    parser.add_argument("--shrink-seconds", type=float, default=60.0, help="for one failing input")
    args = parser.parse_args(argv)
    if args.seconds is None and args.count is None and not args.files:
        parser.error("say how long (--for) or how many (--count)")
    with contextlib.ExitStack() as stack:
        if args.files:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            args.count = files.listed(args.files, folder / "files.json")
            kinds = ["files"]
        else:
            kinds = [kind for kind in args.kind.split(",") if kind] or list(KINDS)
        broken = [one_kind(kind, kinds, args) for kind in kinds]
    return int(any(broken))


def one_kind(kind: str, kinds: list[str], args: argparse.Namespace) -> bool:
    share = KINDS.get(kind, 1) / sum(KINDS.get(other, 1) for other in kinds)
    end = None if args.seconds is None else time.monotonic() + args.seconds * share
    if kind == "lsp_messages":
        if importlib.util.find_spec("fuzz.lsp_messages") is None:
            return False
        return messages(args, end)
    return hunt(kind, args, end)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
