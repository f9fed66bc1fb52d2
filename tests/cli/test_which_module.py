"""Absolute imports of files whose names are not theirs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_jax.cli import main

STEP = "\n\n@jax.jit\ndef step(x):\n    return {}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], files: dict[str, str]) -> set[str]:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    capsys.readouterr()
    main(["check", "--no-cache", "--isolated", "--output-format", "concise", "."])
    lines = capsys.readouterr().out.replace("\\", "/").splitlines()
    return {" ".join((line.split(":")[0], line.split()[1])) for line in lines if ": JAX" in line}


def test_a_script_finds_what_lies_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    importer = "import jax\nfrom helper import prepare" + STEP.format("prepare(x)")
    files = {
        "first/helper.py": "def prepare(x):\n    return x\n",
        "first/main.py": importer,
        "second/helper.py": "def prepare(x):\n    return float(x)\n",
        "second/deeper/main.py": "import jax\nimport helper" + STEP.format("helper.prepare(x)"),
        "third/helper.py": "def prepare(x):\n    return int(x)\n",
        "fourth/main.py": importer,
    }
    assert found(capsys, files) == {"second/helper.py JAX201"}


def test_copies_of_a_package_import_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    importer = "import jax\nimport net.layers" + STEP.format("net.layers.prepare(x)")
    files = {f"{root}/net/__init__.py": "" for root in ("old", "new")}
    files |= {f"{root}/net/model.py": importer for root in ("old", "new")}
    files |= {"new/net/layers.py": "def prepare(x):\n    return x\n"}
    files |= {"old/net/layers.py": "def prepare(x):\n    return float(x)\n"}
    assert found(capsys, files) == {"old/net/layers.py JAX201"}


def test_a_file_called_like_a_library_does_not_hide_it(capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "tools/jax.py": "def jit(function):\n    return function\n",
        "tools/numpy.py": "def asarray(x):\n    return x\n",
        "tools/random.py": "def uniform():\n    return 0.5\n",
        "tools/main.py": "import random\nimport jax\nimport numpy as np"
        + STEP.format("np.asarray(x) + random.uniform()"),
        "main.py": "import random\nimport jax" + STEP.format("x + random.random()"),
    }
    assert found(capsys, files) == {"tools/main.py JAX203", "main.py JAX305"}
