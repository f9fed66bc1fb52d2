"""The fuzz script from outside: kinds, numbers, files that exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the children have limits of POSIX"),
]


def fuzz(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], cwd=folder, capture_output=True, text=True)


def test_counts_are_printed_kind_by_kind(tmp_path: Path) -> None:
    done = fuzz(tmp_path, "--kind", "programs,broke", "--count", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")] == [
        "programs",
        "broke",
    ]
    assert list(tmp_path.iterdir()) == []


def test_files_below_a_folder_are_linted_whatever_they_are(tmp_path: Path) -> None:
    for name, data in {"a.py": b"import jax\n", "b.py": b"a = = 1\n", "c/d.py": b"\xff", "e.txt": b"="}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    done = fuzz(tmp_path, "--files", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {line.strip() for line in done.stdout.splitlines()[1:]} == {"1 clean", "1 not Python", "1 undecodable"}


def test_a_number_of_cases_or_seconds_is_needed(tmp_path: Path) -> None:
    assert fuzz(tmp_path).returncode == 2
