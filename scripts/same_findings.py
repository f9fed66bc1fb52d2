#!/usr/bin/env python3
"""Compare what jaxlint says of whole projects with what it said before a change that must not change it.

    python scripts/same_findings.py RECORDINGS PROJECT... --record     before the change
    python scripts/same_findings.py RECORDINGS PROJECT...              after every step of it

Every question below is asked of every project, under two hash seeds. The answer is what the command prints, on
standard output and on standard error, and its exit status. Not one byte may differ. A failure of a rule is part
of the answer as its rule, path, type and message; its traceback is not, because lines of code move.

Recordings hold the text of the projects' findings: keep them outside the repository.

Vocabulary
----------
project   a folder that jaxlint analyzes as a whole. Its name is that of the folder; copy a project that the change
          itself edits (examples, tests) before you record it.
question  one command, with its options.
answer    what one command printed for one project.

Exit code: 0; 1 where an answer differs; 2 where a recording is missing.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMON = ("--no-cache", "--isolated", "--jobs", "1", ".")
RULES = ("--select", "ALL", "--preview")
QUESTIONS: dict[str, tuple[str, ...]] = {
    "findings": ("check", *RULES, "--output-format", "json", *COMMON),
    "inspect": ("inspect", "--output-format", "json", *COMMON),
    "fixes": ("check", *RULES, "--diff", *COMMON),
    "unsafe-fixes": ("check", *RULES, "--diff", "--unsafe-fixes", *COMMON),
}
SHOWN_LINES = 12


@dataclass(frozen=True)
class Task:
    """One question to one project. seed: of Python's string hashes."""

    project: Path
    question: str
    seed: int

    @property
    def recording(self) -> str:
        return f"{self.project.name}.{self.question}"

    def __str__(self) -> str:
        return f"{self.recording} (seed {self.seed})"


def answer(task: Task) -> str:
    """What the command prints. Raises OSError where Python cannot be started in the project."""
    child = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", "-m", "flake8_jax", *QUESTIONS[task.question]],
        cwd=task.project,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(task.seed)},
        capture_output=True,
        check=False,
    )
    parts = (child.stdout, b"--- standard error", child.stderr, b"--- exit status %d\n" % child.returncode)
    return b"\n".join(parts).decode("utf-8", "surrogateescape")


def difference(recorded: str, now: str) -> str:
    """The first lines that differ, empty where none does."""
    if recorded == now:
        return ""
    lines = difflib.unified_diff(recorded.splitlines(), now.splitlines(), "recorded", "now", lineterm="", n=0)
    return "\n".join(f"    {line[:300]}" for line in itertools.islice(lines, SHOWN_LINES))


def record(folder: Path, tasks: Sequence[Task], answers: Sequence[str]) -> int:
    """Keep the answers; tell where two seeds do not agree."""
    kept: dict[str, str] = {}
    for task, text in zip(tasks, answers):
        if difference(kept.setdefault(task.recording, text), text):
            print(f"{task}: not the same under another seed")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in kept.items():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return 0


def compare(folder: Path, task: Task, now: str) -> int:
    """Print how one answer differs from its recording; the exit code that this means."""
    file = folder / task.recording
    if not file.is_file():
        print(f"{task}: there is no recording {file}; make one with --record")
        return 2
    found = difference(file.read_text(encoding="utf-8", errors="surrogateescape"), now)
    if found:
        print(f"{task}: differs\n{found}", flush=True)
    return 1 if found else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recordings", type=Path, metavar="RECORDINGS", help="the folder that holds them")
    parser.add_argument("projects", type=Path, nargs="+", metavar="PROJECT")
    parser.add_argument("--record", action="store_true", help="replace the recordings by what jaxlint says now")
    parser.add_argument("--questions", default=",".join(QUESTIONS), help="some of these, with commas (default: all)")
    parser.add_argument("--seeds", default="0,1", help="hash seeds, with commas (default: 0,1)")
    parser.add_argument("--jobs", type=int, default=2, help="commands at a time (default: 2)")
    args = parser.parse_args()
    args.questions = args.questions.split(",")
    unknown = [q for q in args.questions if q not in QUESTIONS] + [str(p) for p in args.projects if not p.is_dir()]
    if unknown:
        parser.error(f"neither a question nor a folder: {', '.join(unknown)}")
    return args


def main() -> int:
    args = arguments()
    seeds = [int(seed) for seed in args.seeds.split(",")]
    projects = [project.resolve() for project in args.projects]
    tasks = [Task(p, question, seed) for p in projects for question in args.questions for seed in seeds]
    with ThreadPoolExecutor(args.jobs) as pool:
        answers = pool.map(answer, tasks)
        if args.record:
            return record(args.recordings, tasks, list(answers))
        codes = [compare(args.recordings, task, now) for task, now in zip(tasks, answers)]
    print(f"{codes.count(0)} of {len(codes)} answers are as recorded")
    return max(codes)


if __name__ == "__main__":
    raise SystemExit(main())
