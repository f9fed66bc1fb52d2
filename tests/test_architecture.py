"""The directions in which the parts of the package may know each other, and what may be imported at all."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flake8_jax
from scripts.consoles import GENERATED

pytestmark = pytest.mark.xdist_group("architecture")

PACKAGE = Path(flake8_jax.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
ROOM = "flake8_jax.semantics."

# Every part may import itself and what is listed; a module at the top of the package is a part of its own.
_ANALYSIS = {"core", "knowledge", "syntax", "semantics"}
_PIPELINE = _ANALYSIS | {"rules", "fixers", "settings", "pipeline"}
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "knowledge": {"core"},
    "syntax": {"core"},
    "semantics": {"core", "knowledge", "syntax"},
    "rules": _ANALYSIS,
    "fixers": _ANALYSIS,
    "reporters": {"core"},
    "mcp_server": {"core"},
    "templates": set(),
    "runtime_checks": {"core", "knowledge"},
    "settings": {"core", "knowledge"},
    "pipeline": _PIPELINE,
    "fixing": _PIPELINE,
    "history": {"core", "settings", "pipeline"},
    "authoring": {"core", "semantics", "rules", "fixers"},
    "pytest_plugin": _PIPELINE,
    "flake8_plugin": _PIPELINE,
    "cli": _PIPELINE | {"reporters", "runtime_checks", "server", "fixing", "history", "mcp_server", "templates"},
    "server": _PIPELINE | {"reporters", "runtime_checks", "fixing"},
    "__main__": {"cli"},
    "__init__": set(),
}
# Packages of rules import LibCST themselves; all of ours but `syntax` treats its nodes as opaque objects.
ONLY_IN = {
    "libcst": {"syntax"},
    "jax": {"runtime_checks", "templates"},
    "mcp": {"mcp_server"},
    "pygls": {"server"},
    "flake8": {"flake8_plugin"},
}

FLOORS = ("domain", "events", "machine", "trackers", "interpreter", "models", "analysis")
"""The packages of the analysis, lowest first: each imports itself and those before it."""
UPWARD: tuple[str, ...] = ()
"""Imports that do not keep to the floors yet. No line is added here."""
CIRCLE = 4
"""So many modules of ``domain`` may import each other: values hold scopes, scopes hold values."""


def part(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The imports anywhere in a file, also those only needed for annotations."""
    return [node for node in ast.walk(parsed(path)) if isinstance(node, (ast.Import, ast.ImportFrom))]


@functools.cache
def imported(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports."""
    found: set[str] = set()
    for node in imports(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: write imports in full"
            assert node.module is not None
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names if node.module == "flake8_jax")
    return found


@functools.cache
def modules() -> dict[str, set[str]]:
    """The modules of the package, each with those that it imports anywhere. That of a package itself counts where
    something is taken from it that is no module."""
    names = {".".join(("flake8_jax", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in FILES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    found: dict[str, set[str]] = {}
    for name, path in names.items():
        taken: set[str] = set()
        for node in imports(path):
            if isinstance(node, ast.Import):
                taken.update(alias.name for alias in node.names)
            else:
                assert node.module is not None
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                taken |= (inner & names.keys()) or {node.module}
        found[name] = (taken & names.keys()) - {name}
    return found


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The largest sets of modules each of which leads to each other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        todo, seen = [start], set[str]()
        while todo:
            for target in graph[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        reached[start] = seen
    rings = {frozenset(other for other in seen if name in reached[other]) for name, seen in reached.items()}
    return [set(ring) for ring in rings if len(ring) > 1]


def _floor(module: str) -> int:
    """The number of the floor that a module stands on; -1 outside of the analysis."""
    name = module.removeprefix(ROOM).partition(".")[0] if module.startswith(ROOM) else ""
    return FLOORS.index(name) if name in FLOORS else -1


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


def test_floors_of_the_analysis() -> None:
    assert {path.parent.name for path in FILES if path.parent.parent == PACKAGE / "semantics"} == set(FLOORS)
    upward = {
        (own, name)
        for own, names in modules().items()
        for name in names
        if _floor(own) >= 0 and (_floor(name) > _floor(own) or name == "flake8_jax.semantics")
    }
    found = "\n".join(f"{own.removeprefix(ROOM)} imports {name.removeprefix(ROOM)}" for own, name in sorted(upward))
    assert found == "\n".join(sorted(UPWARD)), "keep to the floors; what is mended leaves the list"


def test_rules_and_fixers_know_values_and_events_alone() -> None:
    wrong = [
        f"{own} must not import {name}"
        for own, names in modules().items()
        for name in sorted(names)
        if own.split(".")[1:2] in (["rules"], ["fixers"]) and _floor(name) > FLOORS.index("events")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_drawing_shows_the_imports() -> None:
    command = [sys.executable, PACKAGE.parent / "scripts" / "architecture_drawing.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_links_of_the_documentation_lead_somewhere() -> None:
    docs = [
        page for page in PACKAGE.parent.glob("docs/**/*.md") if page not in GENERATED and page.parent not in GENERATED
    ]
    pages = [*PACKAGE.parent.glob("*.md"), *docs]
    assert docs
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))]
    wrong = [f"{page.name}: {link}" for page, link in links if "://" not in link and not (page.parent / link).exists()]
    assert not wrong, "\n".join(wrong)


def test_only_values_and_scopes_import_each_other() -> None:
    for circle in circles(modules()):
        inside = {name.removeprefix(ROOM).partition(".")[0] for name in circle}
        assert inside == {"domain"}, f"these import each other: {sorted(circle)}"
        assert len(circle) <= CIRCLE, f"these import each other: {sorted(circle)}"


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
    undocumented = [str(path) for path in FILES if parsed(path).body and not ast.get_docstring(parsed(path))]
    assert not undocumented, "a module opens with a docstring"
