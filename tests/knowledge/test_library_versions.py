"""The script that checks the tables of the libraries against their releases."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "library_versions.py"
OLD = "from chex._src import assert_tree_all_close, assert_trees_all_close\nDevice = object\n"
GETATTR = "def __getattr__(name):\n    if name == 'TpuDevice':\n        return Device\n"


def wheel(folder: Path, version: str, text: str, metadata: str = "") -> None:
    with zipfile.ZipFile(folder / f"chex-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("chex/__init__.py", text)
        archive.writestr("chex/_src.py", "")
        archive.writestr(f"chex-{version}.dist-info/METADATA", metadata)


def check(folder: Path) -> tuple[int, str]:
    command = [sys.executable, str(SCRIPT), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_disagreements(tmp_path: Path) -> None:
    wheel(tmp_path, "0.1.82", OLD)
    wheel(tmp_path, "0.1.92", "from chex._src import assert_tree_all_close\n" + GETATTR)
    status, said = check(tmp_path)
    assert status == 1
    assert "chex.TpuDevice: removed in 0.1.3, but 0.1.92 has it" in said
    assert "chex.assert_tree_all_close: removed in 0.1.83, but 0.1.92 has it" in said
    assert "chex.assert_tree_all_close: 0.1.92 has no chex.assert_trees_all_close" in said
    assert "chex.assert_tree_all_equal_structs: removed in 0.1.83, but 0.1.82 does not have it either" in said


def test_the_newest_release_ends_the_table(tmp_path: Path) -> None:
    wheel(tmp_path, "0.1.99", "")
    assert "chex: the table ends with 0.1.92, not 0.1.99" in check(tmp_path)[1]


def test_the_jax_that_a_release_requires(tmp_path: Path) -> None:
    wheel(tmp_path, "0.1.3", "", "Requires-Dist: jaxlib (>=0.1.37)\nRequires-Dist: jax (>=0.1.55)\n")
    wheel(tmp_path, "0.1.83", "", "Requires-Dist: jax >=0.4.25\n")
    wheel(tmp_path, "0.1.92", "", "Requires-Dist: jax>=0.7.0\n")
    said = check(tmp_path)[1]
    assert "chex: 0.1.83 requires JAX 0.4.25, but the table has 0.4.16" in said
    assert said.count("requires JAX") == 1
    wheel(tmp_path, "0.1.83", "", 'Requires-Dist: jax>=0.4.16; extra == "jax"\n')
    assert "chex: 0.1.83 requires JAX any, but the table has 0.4.16" in check(tmp_path)[1]
