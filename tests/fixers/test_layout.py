"""Fixes come in the lines that the project's formatter would give them, and leave alone what others laid out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixers.fixtures import all_cases
from flake8_jax.cli import main


def fixed(folder: Path, program: str, **files: str) -> str:
    """The program after ``--fix --unsafe-fixes`` in a folder with these files."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    path = folder / "program.py"
    path.write_text(program)
    main(["check", "--no-cache", "--quiet", "--fix", "--unsafe-fixes", str(path)])
    return path.read_text()


HEAD = "import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef f(x, threshold, scale):\n"
BRANCH = HEAD + "    if x > threshold:  # far away\n        return x * scale\n    return threshold * scale\n"
FLAT = "    return jnp.where(x > threshold, x * scale, threshold * scale)"


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({}, f"{FLAT}  # far away"),
        ({"setup__cfg": "[flake8]\nmax-line-length = 70\n"}, f"    # far away\n{FLAT}"),
        (
            {"pyproject__toml": "[tool.ruff]\nline-length = 60\n"},
            "    # far away\n    return jnp.where(\n        x > threshold, x * scale, threshold * scale\n    )",
        ),
        (
            {"__editorconfig": "[*.py]\nmax_line_length = 50\n"},
            "    # far away\n    return jnp.where(\n        x > threshold,\n        x * scale,\n"
            "        threshold * scale,\n    )",
        ),
    ],
)
def test_the_length_of_the_projects_lines(tmp_path: Path, files: dict[str, str], lines: str) -> None:
    assert fixed(tmp_path, BRANCH, **files) == HEAD + lines + "\n"


def test_rows_under_a_bracket_move_with_it(tmp_path: Path) -> None:
    head = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x, y):\n"
    after = fixed(tmp_path, head + "    a = np.add(np.sin(x),\n               y)\n    return a\n")
    assert after.endswith("    a = jnp.add(jnp.sin(x),\n                y)\n    return a\n")


def test_continuation_lines_as_deep_as_the_others(tmp_path: Path) -> None:
    program = (
        "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x, other):\n"
        "  first = function(\n      x, other\n  )\n  return first, np.sin(x * 2 + 3)\n"
    )
    after = fixed(tmp_path, program, pyproject__toml="[tool.black]\nline-length = 33\n")
    assert after.endswith("  return first, jnp.sin(\n      x * 2 + 3\n  )\n")


def test_tabs(tmp_path: Path) -> None:
    program = (
        HEAD
        + "    if x > threshold:\n        # far away\n        y = x * scale\n    else:\n        y = x\n    return y\n"
    )
    after = fixed(tmp_path, program.replace("    ", "\t"))
    lines = ["x > threshold,", "# far away", "x * scale,", "x,"]
    assert after.endswith("\ty = jnp.where(\n" + "".join(f"\t\t{line}\n" for line in lines) + "\t)\n\treturn y\n")


def test_a_line_that_was_too_long_may_stay_so(tmp_path: Path) -> None:
    head = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n"
    program = head + "    y = np.sin(x)  + np.cos(x) * jnp.tanh(x) + jnp.exp(x)\n    return y\n"
    after = fixed(tmp_path, program, pyproject__toml="[tool.black]\nline-length = 50\n")
    assert "    y = jnp.sin(x)  + jnp.cos(x) * jnp.tanh(x) + jnp.exp(x)\n" in after


def test_a_file_of_long_lines_without_a_formatter(tmp_path: Path) -> None:
    long = "    total = jnp.sum(x * scale) + jnp.sum(x * threshold) + jnp.sum(scale * threshold) + jnp.mean(x)\n"
    program = (
        HEAD
        + 3 * long
        + "    return np.tanh(x * scale) + jnp.sum(x * threshold) + jnp.sum(scale * threshold) + np.sin(x)\n"
    )
    after = fixed(tmp_path, program.replace("import jax\n", "import jax\nimport numpy as np\n", 1))
    assert (
        "    return jnp.tanh(x * scale) + jnp.sum(x * threshold) + jnp.sum(scale * threshold) + jnp.sin(x)\n" in after
    )


def test_the_quotes_of_the_file(tmp_path: Path) -> None:
    program = "import jax\n\n\n@jax.jit\ndef f(x, n):\n    '''Sum.'''\n    y = {'a': x}\n    for _ in range(n):\n"
    program += "        y['a'] = y['a'] + 1\n    return y\n\n\nNAME = \"x\"\n"
    assert "static_argnames=('n',)" in fixed(tmp_path, program)


def test_what_is_not_laid_out_so_stays(tmp_path: Path) -> None:
    program = "import jax\n\n\ndef f(tree):\n    return g( jax.tree_map(h,\n      tree),\n        tree)\n"
    assert fixed(tmp_path, program) == program.replace("tree_map", "tree.map")


def test_a_moved_directive_stays_on_its_line(tmp_path: Path) -> None:
    program = "import jax\n\n\ndef f(tree):\n    return jax.tree_map(function_with_a_name, tree)  # type: ignore\n"
    after = fixed(tmp_path, program, pyproject__toml="[tool.black]\nline-length = 52\n")
    assert after.endswith("    return jax.tree.map(function_with_a_name, tree)  # type: ignore\n")


def test_what_a_type_checker_reads_stays_in_the_first_row(tmp_path: Path) -> None:
    program = "import jax\n\n\ndef f(tree):\n    return jax.pmap(function_with_a_name)  # type: ignore[no-any-return]\n"
    after = fixed(tmp_path, program)
    assert "    return jax.jit(  # type: ignore[no-any-return]\n        jax.shard_map(\n" in after
    assert after.endswith("        )\n    )\n")


def test_two_fixes_in_a_line_that_only_both_make_too_long(tmp_path: Path) -> None:
    head = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n"
    program = head + "@jax.jit\ndef f(x):\n    return np.sin(x) + np.cos(x)\n"
    after = fixed(tmp_path, program, pyproject__toml="[tool.black]\nline-length = 33\n")
    assert after.endswith("    return jnp.sin(x) + jnp.cos(\n        x\n    )\n")


NUMPY = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n    return np.sin(x)\n"


def test_an_import_over_several_rows_keeps_them(tmp_path: Path) -> None:
    program = "from jax import pmap, grad, \\\n    vmap\n\n\ndef main(f, x):\n    return pmap(f)(grad(vmap(f))(x))\n"
    assert "from jax import grad, \\\n    vmap\n" in fixed(tmp_path, program)


def test_an_import_that_nothing_needs_any_more_goes(tmp_path: Path) -> None:
    assert "numpy as np" not in fixed(tmp_path, NUMPY).replace("jax.numpy as jnp", "")


@pytest.mark.parametrize(
    ("program", "files"),
    [
        (NUMPY + "\n\ndef g(x):\n    return np.cos(x)\n", {}),
        (NUMPY.replace("as np\n", "as np  # noqa: F401\n"), {}),
        (NUMPY + '\n\n__all__ = ["f", "np"]\n', {}),
        (NUMPY + '\n\nx: "np.ndarray"\n', {}),
        (NUMPY, {"other__py": "import jax\nfrom program import np\n"}),
        (NUMPY, {"other__py": "import jax\nimport program\n\nprogram.np.cos(1)\n"}),
    ],
    ids=["used", "noqa", "exported", "in a string", "imported elsewhere", "read elsewhere"],
)
def test_an_import_that_something_may_need_stays(tmp_path: Path, program: str, files: dict[str, str]) -> None:
    (tmp_path / "setup.py").touch()
    after = fixed(tmp_path, program, **files)
    assert "jnp.sin(x)" in after
    assert "import numpy as np" in after


@pytest.mark.parametrize("width", [60, 88])
def test_ruff_leaves_the_fixtures_as_fixed(tmp_path: Path, width: int) -> None:
    """What ruff left alone before a fix, it leaves alone afterwards."""
    settings = f"[tool.ruff]\nline-length = {width}\n[tool.ruff.lint]\nselect = ['I']\n"
    rules = {case.rule for case in all_cases()}
    for rule in rules:  # each a project: the others need not be read with it
        (tmp_path / rule).mkdir()
        (tmp_path / rule / "pyproject.toml").write_text(settings)
    for case in all_cases():
        if not case.name.startswith("crlf"):
            folder = tmp_path / case.rule
            (folder / f"{case.module}.py").write_text(case.before)
    _ruff("format", tmp_path)
    _ruff("check", "--fix", "--exit-zero", tmp_path)
    _ruff("format", tmp_path)
    for rule in sorted(rules):
        options = ["--no-cache", "--preview", "--select", rule, "--fix", "--unsafe-fixes", "--quiet"]
        main(["check", *options, str(tmp_path / rule)])
    assert _ruff("format", "--diff", tmp_path) == ""
    assert "would be" not in _ruff("check", "--exit-zero", tmp_path)


def _ruff(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "ruff", *map(str, arguments), "--quiet", "--no-cache"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
