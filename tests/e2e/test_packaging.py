"""What is built from the checkout: the wheel holds what the package needs, and what it says of itself is true."""

from __future__ import annotations

import ast
import email
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

import flake8_jax
from tests.e2e.projects import ROOT

PACKAGE = ROOT / "flake8_jax"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix in (".py", ".toml", ".typed") and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert "flake8_jax/py.typed" in names and "flake8_jax/knowledge/jax.toml" in names


def test_the_metadata_name_the_doors(wheel: zipfile.ZipFile) -> None:
    info = f"flake8_jax-{flake8_jax.__version__}.dist-info"
    metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert metadata["Version"] == flake8_jax.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    points = wheel.read(f"{info}/entry_points.txt").decode()
    assert "jaxlint = flake8_jax.cli:script" in points and "JAX = flake8_jax.flake8_plugin:JaxChecker" in points
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert not any(line.startswith(("jax", "numpy")) for line in needed), "linting needs no JAX"


def test_version_and_changelog_are_in_step() -> None:
    assert Version(flake8_jax.__version__) >= Version("0.1.6"), "ruff-lsp asks for this much"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d\S*)$", changelog, re.MULTILINE)  # without (unreleased)
    assert released[0] == flake8_jax.__version__


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_oldest_python_reads_every_file(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
