"""With ``-n`` of xdist, tests of one group share a worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PROGRAM = """\
import os
import pytest

@pytest.mark.parametrize("number", range(12))
@pytest.mark.xdist_group("one")
def test_group(number):
    print(file=open(os.environ["PYTEST_XDIST_WORKER"], "a"))

@pytest.mark.parametrize("number", range(12))
def test_alone(number):
    pass
"""


def test_a_group_stays_together(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_it.py").write_text(PROGRAM)
    path = os.pathsep.join(str(folder) for folder in (TESTS, TESTS.parent))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "conftest", "-n", "2", "test_it.py"],
        cwd=tmp_path, env={**environment, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("gw*"))) == 1
