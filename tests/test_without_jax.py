"""The guard around all tests that are not marked ``jax``, and so around ``-m "not slow"``: JAX cannot be imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.jax_guard import Guard

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")

TESTS = Path(__file__).parent
CHILD = [sys.executable, "-c", "import jax"]
GRANDCHILD = [sys.executable, "-c", f"import subprocess; raise SystemExit(subprocess.run({CHILD}).returncode)"]


def test_not_in_this_process(no_jax: Guard) -> None:
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "jax"}
    try:
        with pytest.raises(ImportError, match="not marked `jax`"):
            importlib.import_module("jax")
    finally:
        sys.modules.update(before)
    assert "test_not_in_this_process" in no_jax.take()


@pytest.mark.parametrize("command", [CHILD, GRANDCHILD])
@pytest.mark.parametrize("environment", [None, {}, {"PYTHONPATH": os.curdir}])
def test_not_in_a_child(no_jax: Guard, command: list[str], environment: dict[str, str] | None, tmp_path: Path) -> None:
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "not marked `jax`" in done.stderr
    assert "['-c']" in no_jax.take()


def test_not_in_the_collection(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import contextlib\nwith contextlib.suppress(ImportError):\n    import jax\n")
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "conftest", "--collect-only", "test_it.py"]
    path = os.pathsep.join(str(folder) for folder in (TESTS, TESTS.parent))
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert "collecting the tests runs JAX" in done.stderr


def test_jax_is_still_known_to_be_installed() -> None:
    assert importlib.util.find_spec("jax") is not None
    ask = "import importlib.util; raise SystemExit(importlib.util.find_spec('jax') is None)"
    assert subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0


def test_a_child_still_runs_its_own_customization(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    done = subprocess.run(
        [sys.executable, "-c", ""], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "mine\n"


@pytest.mark.jax
def test_what_is_marked_may_import_it(tmp_path: Path) -> None:
    assert subprocess.run(CHILD, cwd=tmp_path, check=False).returncode == 0
