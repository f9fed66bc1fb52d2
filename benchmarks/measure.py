"""What the benchmarks share: running a command as a child and asking the kernel what it cost.

Vocabulary
----------
cost     CPU seconds (user and system) and peak resident memory of a child and of the children it waited for.
sources  the Python files of a benchmark, in a fixed order.

What it does not model: the noise of other programs; every benchmark alternates what it compares and takes medians.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "build", "dist", "venv"})


@dataclass(frozen=True)
class Cost:
    """``cpu`` in seconds, ``peak`` in bytes, ``exit_code`` of the child, ``output`` what it wrote to stdout."""

    cpu: float
    peak: int
    exit_code: int
    output: bytes


def run_child(
    command: Sequence[str],
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Cost:
    """Run a command to its end; its stderr is passed through. Raises OSError where it cannot be started.

    before: what the child runs before the command (POSIX only).

    On Linux the peak is never below that of this process, which the child is forked from.
    """
    read_out, write_out = os.pipe()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=write_out, env=env, preexec_fn=before)
    os.close(write_out)
    assert child.stdin is not None
    child.stdin.write(stdin)
    child.stdin.close()
    with open(read_out, "rb") as out:
        output = out.read()
    # Not child.wait(): only wait4 tells what this one child used, getrusage sums over all there ever were.
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, child.returncode, output)


def python_files(paths: Sequence[str]) -> list[Path]:
    """The ``.py`` files at or under the paths, without hidden and built folders."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        candidates = [path] if path.is_file() else sorted(path.rglob("*.py"))
        for file in candidates:
            folders = file.relative_to(path).parts[:-1]
            if not any(name.startswith(".") or name in _SKIPPED_FOLDERS for name in folders):
                found[file] = None
    return list(found)


def count_lines(files: Sequence[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files)
