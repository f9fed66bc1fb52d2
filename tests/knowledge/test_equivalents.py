"""The table of what the equivalents of NumPy's functions take: complete, well-formed, and what JAX does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from flake8_jax.knowledge import load
from flake8_jax.knowledge.equivalents import equivalent_signature

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "flake8_jax" / "knowledge" / "equivalents" / "numpy.toml"
NO_SAMPLE = 20
"""For at most so many equivalents the script knows no arguments."""


def test_nearly_every_equivalent_has_a_line() -> None:
    names = [n for lib in ("numpy", "scipy") for n, fact in load().table(lib).functions.items() if fact.equivalent]
    assert sum(equivalent_signature(name) is None for name in names) <= NO_SAMPLE


def test_every_line_is_read_whole() -> None:
    kinds = {"", "array", "sequence", "nested", "number", "?"}
    table, _, refused = TABLE.read_text(encoding="utf-8").partition("\n[refused]\n")
    for name, line in re.findall(r'^"([^"]+)" = "([^"]*)"$', refused, re.MULTILINE):
        fact = load().function(name)
        assert fact is not None and set(line.split(", ")) <= set(fact.params), line
    for name, line in re.findall(r'^"([^"]+)" = "([^"]*)"$', table, re.MULTILINE):
        equivalent = equivalent_signature(name)
        assert equivalent is not None
        for parameter in equivalent.parameters or ():
            assert parameter.name.isidentifier() and parameter.kind in kinds, line
            assert all(re.fullmatch(r"'[^'|]*'|None|True|False|number", choice) for choice in parameter.choices), line


@pytest.mark.jax
def test_the_table_is_what_jax_does(compiled: dict[str, str]) -> None:
    pytest.importorskip("scipy")
    versions = re.search(r"JAX (\S+), NumPy (\S+) and", TABLE.read_text(encoding="utf-8"))
    if versions is None or versions.groups() != (metadata.version("jax"), metadata.version("numpy")):
        pytest.skip("the table was made with other versions")
    command = [sys.executable, "scripts/numpy_equivalents.py", "--check"]
    environment = {**os.environ, **compiled}
    assert subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode == 0
