"""Modules of the project that are called like modules of Python or of our dependencies are never imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHADOWS = (
    "argparse", "collections", "concurrent", "contextlib", "flake8", "importlib", "json", "libcst", "logging", "msgspec",
    "multiprocessing", "packaging", "pathspec", "pickle", "pygls", "random", "re", "rich", "selectors", "signal", "socket",
    "struct", "tempfile", "threading", "tomllib", "typing",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')\n")
    (tmp_path / "a.py").write_text("import jax\n")
    (tmp_path / "jaxlint.toml").write_text("")
    return tmp_path


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=project,
        env={**environment, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_module(project: Path) -> None:
    """``python -m`` itself imports some modules before it comes to ours."""
    for path in project.glob("*.py"):
        if path.stem not in ("a", "argparse", "json", "libcst", "msgspec", "pathspec", "rich", "signal"):
            path.unlink()
    done = run(project, "-m", "flake8_jax", "check", "-n", "a.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "All checks passed!\n", "")
    assert not (project / "ran").exists()


def test_the_language_server(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("pygls")
    script = tmp_path_factory.mktemp("elsewhere") / "server.py"
    script.write_text(
        "import time\nfrom flake8_jax.server.background import Background\n"
        "if __name__ == '__main__':\n"
        "    background = Background()\n    background.start()\n    time.sleep(1.5)\n    background.stop()\n"
    )
    assert run(project, str(script)).stderr == ""
    assert not (project / "ran").exists()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers(project: Path, method: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Processes start in these ways on macOS, Windows, and from Python 3.14 on."""
    if os.name != "posix" and method == "forkserver":
        pytest.skip("there is none")
    script = tmp_path_factory.mktemp("elsewhere") / "lower.py"
    script.write_text(
        "import multiprocessing, os\nfrom flake8_jax.pipeline.cache import Cache\n"
        "from flake8_jax.pipeline.lowering import lower_all\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    texts = {str(n): f'# {n}' + 'x' * 200_000 + '\\n' for n in range(2)}\n"
        "    assert all(found.module for found in lower_all(texts, Cache(None), 2).values())\n"
        "    assert 'PYTHONSAFEPATH' not in os.environ\n"
    )
    done = run(project, str(script))
    assert (done.returncode, done.stderr) == (0, "")
    assert not (project / "ran").exists()
