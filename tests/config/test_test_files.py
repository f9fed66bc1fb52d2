"""Test files: where rules on keys, timing and waiting are off."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax.cli import main

TWICE = """
import jax


def draw(key):
    a = jax.random.normal(key)
    return a + jax.random.normal(key)


@jax.jit
def positive(x):
    return 1 if x > 0 else 0
"""
TESTED = """

def test_draw():
    assert draw(jax.random.key(0)) != 0
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checks").mkdir()
    for name in ("model.py", "test_model.py", "model_test.py", "conftest.py", "tests.py", "checks/draws.py"):
        (tmp_path / name).write_text(TWICE + TESTED)
    return tmp_path


def files_with(capsys: pytest.CaptureFixture[str], code: str, *arguments: str) -> set[str]:
    capsys.readouterr()
    main(["check", "--no-cache", "--output-format", "json", *arguments])
    found = json.loads(capsys.readouterr().out)
    return {Path(item["filename"]).name for item in found if item["code"] == code}


EVERYWHERE = {"model.py", "test_model.py", "model_test.py", "conftest.py", "tests.py", "draws.py"}


@pytest.mark.parametrize(
    "arguments", [(), ("--select", "ALL"), ("--select", "JAX3,JAX1"), ("--extend-select", "JAX30")]
)
def test_rules_on_keys_are_off_in_tests(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert files_with(capsys, "JAX301", *arguments) == {"model.py", "draws.py"}
    if "JAX30" not in arguments:
        assert files_with(capsys, "JAX101", *arguments) == EVERYWHERE


@pytest.mark.parametrize("selector", ["JAX301", "key-reuse", "jax301"])
def test_a_code_or_a_name_turns_them_on(capsys: pytest.CaptureFixture[str], selector: str) -> None:
    assert files_with(capsys, "JAX301", "--select", selector) == EVERYWHERE
    assert files_with(capsys, "JAX301", "--extend-select", selector) == EVERYWHERE
    assert files_with(capsys, "JAX301", "--config", f"extend-select = ['{selector}']") == EVERYWHERE
    over = ("--config", f"extend-select = ['{selector}']", "--select", "ALL")
    assert files_with(capsys, "JAX301", *over) == {"model.py", "draws.py"}


@pytest.mark.parametrize(
    ("added", "is_test"),
    [
        ("", False),
        ("\n\ndef test(model):\n    return model.apply({})\n", False),
        ("\n\ndef test_draws(capsys):\n    draw(0)\n", True),
        ("\n\nclass DrawTest:\n    def test_draw(self):\n        draw(0)\n", True),
        ("\nimport pytest\n", True),
        ("\nnp.testing.assert_allclose(draw(0), 1)\n", True),
    ],
)
def test_a_script_with_the_name_of_a_test_is_none(
    project: Path, capsys: pytest.CaptureFixture[str], added: str, is_test: bool
) -> None:
    (project / "tests").mkdir()
    for name in ("test_model.py", "tests/model.py"):
        (project / name).write_text(TWICE + added)
    found = files_with(capsys, "JAX301", "test_model.py", "tests/model.py")
    assert found == (set() if is_test else {"test_model.py"})
    assert "test_model.py" not in files_with(capsys, "JAX301", "--test-files", "test_*.py", "test_model.py")


def test_other_patterns(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert files_with(capsys, "JAX301", "--test-files", "checks/**,tests.py") == EVERYWHERE - {"draws.py", "tests.py"}
    (project / "jaxlint.toml").write_text("test-files = []\n")
    assert files_with(capsys, "JAX301") == EVERYWHERE


def test_comments_for_rules_that_are_off_are_not_unused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("model.py", "test_model.py"):
        (project / name).write_text("import jax\n\nx = jax.random.key(0)  # noqa: JAX301\nassert x.ndim == 0\n")
    assert files_with(capsys, "JAX002", "--extend-select", "JAX002", "model.py", "test_model.py") == {"model.py"}


def test_a_wrong_pattern_names_its_place(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "jaxlint.toml").write_text('preview = true\ntest-files = ["!"]\n')
    assert main(["check", "--no-cache", "."]) == 2
    assert "jaxlint.toml:2: the pattern `!`" in capsys.readouterr().err


def test_fixes_leave_tests_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--no-cache", "--fix", "--unsafe-fixes", "."])
    assert "split" in (project / "model.py").read_text()
    assert "split" not in (project / "test_model.py").read_text()


@pytest.mark.parametrize(("selected", "shown"), [("JAX", False), ("JAX301", True)])
def test_flake8_selects_by_code(project: Path, selected: str, shown: bool) -> None:
    command = [sys.executable, "-m", "flake8", "--jax-no-cache", "-j", "1", "--select", selected, "test_model.py"]
    out = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False).stdout
    assert ("JAX301" in out) is shown, out
