"""How a project lays out its code, read from the files of its formatters."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_jax.core.style import CodeStyle
from flake8_jax.settings.code_style import StyleReader


def style(folder: Path, files: dict[str, str], within: str = "") -> CodeStyle:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / within).mkdir(parents=True, exist_ok=True)
    return StyleReader().style_in(str(folder / within) if within else str(folder), str(folder))


@pytest.mark.parametrize(
    ("files", "length"),
    [
        ({}, 88),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 100\n"}, 100),
        ({"pyproject.toml": "[tool.ruff]\nfix = true\n", ".editorconfig": "[*.py]\nmax_line_length = 70\n"}, 88),
        ({"ruff.toml": "line-length = 99\n", "pyproject.toml": "[tool.ruff]\nline-length = 100\n"}, 99),
        ({"ruff.toml": 'extend = "base/ruff.toml"\n', "base/ruff.toml": "line-length = 79\n"}, 79),
        ({"pyproject.toml": "[tool.black]\nline-length = 79\n"}, 79),
        ({"pyproject.toml": "[tool.black]\nline-length = 79\n", ".flake8": "[flake8]\nmax-line-length = 120\n"}, 79),
        ({"setup.cfg": "[flake8]\nmax-line-length = 101\n"}, 101),
        ({"tox.ini": "[flake8]\nmax_line_length = 102\n"}, 102),
        ({".pylintrc": "[FORMAT]\nmax-line-length=80\n"}, 80),
        ({".editorconfig": "root = true\n\n[*]\nmax_line_length = 60\n[*.{py,pyi}]\nmax_line_length = 90\n"}, 90),
        ({".editorconfig": "[*.md]\nmax_line_length = 60\n"}, 88),
        ({".editorconfig": "[*.py]\nmax_line_length = off\n"}, 88),
        ({"pyproject.toml": "[tool.ruff\n", "setup.cfg": "no section\n", ".flake8": "\x00"}, 88),
        ({"pyproject.toml": "[tool.ruff]\nline-length = true\n"}, 88),
    ],
)
def test_length(tmp_path: Path, files: dict[str, str], length: int) -> None:
    assert style(tmp_path, files).line_length == length


def test_the_nearest_folder_decides(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[tool.black]\nline-length = 100\n", "inner/.flake8": "[flake8]\nmax-line-length = 79\n"}
    assert style(tmp_path, files, "inner/deeper").line_length == 79
    assert style(tmp_path, files, "other").line_length == 100


def test_a_section_of_editorconfig_for_a_folder(tmp_path: Path) -> None:
    files = {".editorconfig": "[lib/**.py]\nmax_line_length = 72\n"}
    assert style(tmp_path, files, "lib/inner").line_length == 72
    assert style(tmp_path, files, "other").line_length == 88


@pytest.mark.parametrize(
    "files",
    [
        {
            "pyproject.toml": "[tool.ruff.lint.isort]\nforce-sort-within-sections = true\nknown-first-party = ['a', 'b']\n"
        },
        {"pyproject.toml": "[tool.isort]\nforce_sort_within_sections = true\nknown_first_party = ['a', 'b']\n"},
        {".isort.cfg": "[settings]\nforce_sort_within_sections = True\nknown_first_party = a,b\n"},
    ],
)
def test_imports(tmp_path: Path, files: dict[str, str]) -> None:
    found = style(tmp_path, files)
    assert found.mixed_imports
    assert found.first_party == ("a", "b")
