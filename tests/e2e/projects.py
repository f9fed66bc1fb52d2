"""A small project whose mistake needs three files to be one, and ways to run things in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FILES: Mapping[str, str] = {
    "train.py": "import jax\nfrom pkg.body import scan_body\n\n"
    "run = jax.jit(lambda x: jax.lax.scan(scan_body, x, None, 3))\n\n\ndef main(x):\n    return run(x)\n",
    "pkg/__init__.py": "",
    "pkg/body.py": "from pkg.clip import clip\n\n\ndef scan_body(carry, _):\n    return clip(carry, 1.0), None\n",
    "pkg/clip.py": "def clip(x, limit):\n    if x.ndim > 1:\n        x = x[0]\n"
    "    if x > limit:\n        return limit\n    return x\n",
}
FINDING = ("pkg/clip.py", 4, 8, "JAX101")
"""Path, row, column (from 1) and code of the one finding."""


def write_project(directory: Path, files: Mapping[str, str] = FILES) -> Path:
    """Write the files; returns the directory."""
    (directory / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory


def run(
    command: Sequence[str], cwd: Path, *, stdin: str | None = None, paths: Sequence[Path] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command with the package from this checkout, and ``paths`` before it."""
    search = os.pathsep.join(map(str, (*paths, ROOT)))
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, "PYTHONPATH": search, **environment}, input=stdin,
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]
