"""The directions in which the parts of the package may know each other, and what may be imported at all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import flake8_jax

PACKAGE = Path(flake8_jax.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Every part may import itself and what is listed; a module at the top of the package is a part of its own.
_ENGINE = {
    "core", "knowledge", "syntax", "semantics", "rules", "fixers", "cache", "config", "selection", "discovery",
    "import_graph", "lowering", "backend", "diagnosis", "engine", "files", "repairs", "requirements", "notebooks",
    "patterns", "reading",
}  # fmt: skip
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "knowledge": {"core"},
    "syntax": {"core"},
    "semantics": {"core", "knowledge", "syntax"},
    "rules": {"core", "knowledge", "syntax", "semantics"},
    "fixers": {"core", "knowledge", "syntax", "semantics"},
    "reporters": {"core"},
    "runtime_checks": {"core", "knowledge", "reading"},
    "selection": {"core"},
    "reading": set(),
    "patterns": set(),
    "requirements": {"knowledge", "reading"},
    "config": {"core", "selection", "requirements", "reading"},
    "discovery": {"core", "config", "patterns", "reading"},
    "import_graph": {"config"},
    "cache": {"core", "reading"},
    "notebooks": {"core"},
    "lowering": {"core", "syntax", "cache", "notebooks", "reading"},
    "backend": {"core", "cache", "knowledge", "rules", "fixers", "semantics"},
    "files": {"core", "syntax", "notebooks", "reading"},
    "diagnosis": {"core", "syntax", "config", "selection", "discovery", "lowering", "backend", "patterns"},
    "engine": _ENGINE - {"files", "repairs"},
    "repairs": _ENGINE - {"files"},
    "flake8_plugin": _ENGINE,
    "cli": _ENGINE | {"reporters", "runtime_checks", "server", "files", "repairs", "new_work", "baseline"},
    "server": _ENGINE | {"reporters", "runtime_checks"},
    "git": set(),
    "row_diff": set(),
    "new_work": {"core", "notebooks", "git", "row_diff"},
    "baseline": {"core", "cache", "config", "selection", "reading"},
    "__main__": {"cli"},
    "__init__": set(),
}
ONLY_IN = {"libcst": {"syntax"}, "jax": {"runtime_checks"}, "pygls": {"server"}, "flake8": {"flake8_plugin"}}


def part(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports anywhere, also those only needed for annotations."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            assert node.module is not None
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names if node.module == "flake8_jax")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = part(path)
    assert own in ALLOWED, f"say in this test what {own} may import"
    parts = {part(file) for file in FILES}
    for name in imported(path):
        top, _, rest = name.partition(".")
        if top == "flake8_jax":
            target = rest.partition(".")[0]
            if target in parts:
                assert target == own or target in ALLOWED[own], f"{own} must not import {name}"
        elif top in ONLY_IN:
            assert own in ONLY_IN[top], f"only {ONLY_IN[top]} may import {top}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 900
    assert not text or ast.get_docstring(ast.parse(text)), "a module opens with a docstring"
