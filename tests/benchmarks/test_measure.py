"""Costs of children, and which files a benchmark reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="wait4 is POSIX")


MEASURED = """
import sys
from measure import run_child

busy = "import time\\nend = time.process_time() + 0.5\\nwhile time.process_time() < end: pass"
heavy = run_child([sys.executable, "-c", busy + "\\nb = bytearray(200 << 20)\\nprint('done')"])
light = run_child([sys.executable, "-c", "import sys; sys.exit(3)"])
assert heavy.cpu >= 0.5 and heavy.output == b"done\\n" and heavy.exit_code == 0, heavy
assert heavy.peak >= 200 << 20, heavy
assert light.cpu < heavy.cpu and light.peak < heavy.peak and light.exit_code == 3, (light, heavy)
"""


def test_a_child_costs_what_it_used_and_not_what_others_used() -> None:
    # Linux shows for a child at least the peak of the process that forked it, so that has to be a small one.
    benchmarks = Path(__file__).parents[2] / "benchmarks"
    subprocess.run([sys.executable, "-c", MEASURED], env={**os.environ, "PYTHONPATH": str(benchmarks)}, check=True)


def test_stdin_reaches_the_child() -> None:
    from measure import run_child

    done = run_child([sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"], stdin=b"x" * 200_000)
    assert done.output == b"200000\n"


def test_hidden_and_built_folders_are_left_out(tmp_path: Path) -> None:
    from measure import count_lines, python_files

    for name in ("a.py", "pkg/b.py", ".git/c.py", "pkg/__pycache__/d.py", "e.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\ny = 2\n")
    files = python_files([str(tmp_path), str(tmp_path / "a.py")])
    assert [file.name for file in files] == ["a.py", "b.py"]
    assert count_lines(files) == 4


def test_the_floor_parses_and_outlives_a_syntax_error(tmp_path: Path) -> None:
    pytest.importorskip("libcst")
    from measure import run_child
    from speed import FLOOR

    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("x = 1\n")
    bad.write_text("def (:\n")
    done = run_child([sys.executable, "-c", FLOOR], stdin=f"{good}\0{bad}".encode())
    assert done.exit_code == 0 and float(done.output) >= 0
