"""The directions in which the parts of the package may know each other, and what may be imported at all."""

from __future__ import annotations

import ast
from pathlib import Path

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


def test_imports_go_one_way() -> None:
    owners = {part(path) for path in FILES}
    assert owners <= ALLOWED.keys(), f"say in this test what {owners - ALLOWED.keys()} may import"
    wrong = [
        f"{path.relative_to(PACKAGE)}: {part(path)} must not import {name}"
        for path in FILES
        for name in sorted(imported(path))
        if name.startswith("flake8_jax.")
        for target in [name.split(".")[1]]
        if target in owners - ALLOWED[part(path)] - {part(path)}
    ]
    assert not wrong, "\n".join(wrong)


def test_libraries_have_one_place() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}: only {ONLY_IN[library]} may import {library}"
        for path in FILES
        for library in sorted({name.partition(".")[0] for name in imported(path)} & ONLY_IN.keys())
        if part(path) not in ONLY_IN[library]
    ]
    assert not wrong, "\n".join(wrong)


def test_files_stay_readable() -> None:
    texts = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in FILES}
    long = [name for name, text in texts.items() if len(text.splitlines()) >= 900]
    assert not long, "a file has fewer than 900 lines"
    undocumented = [name for name, text in texts.items() if text and not ast.get_docstring(ast.parse(text))]
    assert not undocumented, "a module opens with a docstring"
