#!/usr/bin/env python3
"""Draw which packages of jaxlint import which: docs/architecture.svg.

    python scripts/architecture_drawing.py            write the drawing
    python scripts/architecture_drawing.py --check    exit 1 if the drawing is not what the imports say

Vocabulary
----------
package     a folder of ``flake8_jax``, and each floor of ``semantics``; a module at the top is one of its own.
floor       packages from which the same number of imports leads down, counted along the longest way.
arrow       from a package to one that it imports. What follows from other arrows is left out: a package that imports
            ``models`` and, through it, ``interpreter``, has an arrow to ``models`` alone.

The drawing says nothing of single modules; ``tests/test_architecture.py`` does.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "flake8_jax"
DRAWING = ROOT / "docs" / "architecture.svg"
WIDTH, BOX, HEIGHT, GAP, MARGIN = 1040, 176, 52, 46, 24
SPLIT = "semantics"
"""Its folders are packages of their own."""


def package_of(module: str) -> str:
    """The package that a module of ``flake8_jax`` belongs to; empty for the top of all."""
    parts = module.split(".")[1:]
    if parts[:1] == [SPLIT]:
        return ".".join(parts[:2]) if len(parts) > 1 else ""
    return parts[0] if parts else ""


def imports() -> dict[str, set[str]]:
    """The packages, each with those that a module of it imports anywhere."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    found: dict[str, set[str]] = {package_of(name): set() for name in files if package_of(name) not in ("", "__main__")}
    for name, path in files.items():
        own = package_of(name)
        if own not in found:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & files.keys()
                found[own] |= {package_of(module) for module in inner or {node.module} & files.keys()}
            elif isinstance(node, ast.Import):
                found[own] |= {package_of(alias.name) for alias in node.names if alias.name in files}
    return {own: (taken & found.keys()) - {own} for own, taken in found.items()}


def floors(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """The floor of each package, from 0. Raises ValueError where packages import each other."""
    found: dict[str, int] = {}
    while len(found) < len(graph):
        ready = [name for name, below in graph.items() if name not in found and below <= found.keys()]
        if not ready:
            raise ValueError(f"these packages import each other: {sorted(graph.keys() - found.keys())}")
        found |= {name: max((found[below] + 1 for below in graph[name]), default=0) for name in ready}
    return found


def arrows(graph: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The imports that do not follow from others."""
    reached: dict[str, set[str]] = {}
    for name in sorted(graph, key=floors(graph).__getitem__):
        reached[name] = graph[name].union(*(reached[below] for below in graph[name]))
    return sorted(
        (name, below)
        for name, directly in graph.items()
        for below in directly
        if not any(below in reached[other] for other in directly - {below})
    )


def purpose(package: str) -> str:
    """The first sentence of a package's docstring, up to a colon."""
    path = PACKAGE.joinpath(*package.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def modules_in(package: str) -> int:
    path = PACKAGE.joinpath(*package.split("."))
    return len([file for file in path.rglob("*.py") if file.name != "__init__.py"]) if path.is_dir() else 1


def places(graph: Mapping[str, set[str]]) -> dict[str, tuple[float, float]]:
    """The upper left corner of each box, the highest floor on top."""
    level = floors(graph)
    top = max(level.values())
    found: dict[str, tuple[float, float]] = {}
    for floor in range(top + 1):
        row = sorted(name for name in graph if level[name] == floor)
        free = (WIDTH - 2 * MARGIN - len(row) * BOX) / (len(row) + 1)
        for i, name in enumerate(row):
            found[name] = (MARGIN + free * (i + 1) + BOX * i, MARGIN + (top - floor) * (HEIGHT + GAP))
    return found


def drawn() -> str:
    """The drawing, as SVG."""
    graph = imports()
    at = places(graph)
    height = max(y for _, y in at.values()) + HEIGHT + MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" font-family="sans-serif">',
        "<title>The packages of jaxlint, and which imports which</title>",
        "<style>rect{fill:#f6f8fa;stroke:#57606a}.heart rect{fill:#ddf4ff}text{fill:#1f2328;text-anchor:middle}"
        ".name{font-size:14px;font-weight:600}.count{font-size:11px;fill:#57606a}"
        "path{fill:none;stroke:#8c959f;stroke-width:1.2}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0L8,4L0,8z" style="fill:#8c959f;stroke:none"/></marker></defs>',
    ]
    for name, below in arrows(graph):
        (x1, y1), (x2, y2) = at[name], at[below]
        start, end, middle = (x1 + BOX / 2, y1 + HEIGHT), (x2 + BOX / 2, y2 - 2), (y1 + HEIGHT + y2) / 2
        curve = f"M{start[0]:.0f},{start[1]:.0f}C{start[0]:.0f},{middle:.0f} {end[0]:.0f},{middle:.0f} "
        out.append(f'<path d="{curve}{end[0]:.0f},{end[1]:.0f}" marker-end="url(#tip)"/>')
    for name, (x, y) in sorted(at.items()):
        heart, count = ' class="heart"' if name.startswith(f"{SPLIT}.") else "", modules_in(name)
        out += [
            f"<g{heart}><title>{escape(purpose(name))}</title>",
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX}" height="{HEIGHT}" rx="6"/>',
            f'<text class="name" x="{x + BOX / 2:.0f}" y="{y + 22:.0f}">{escape(name.removeprefix(f"{SPLIT}."))}</text>',
            f'<text class="count" x="{x + BOX / 2:.0f}" y="{y + 40:.0f}">'
            f"{count} module{'s' if count > 1 else ''}</text></g>",
        ]
    return "\n".join([*out, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the drawing is out of date")
    if not parser.parse_args().check:
        DRAWING.write_text(drawn(), encoding="utf-8")
        return 0
    if DRAWING.read_text(encoding="utf-8") == drawn():
        return 0
    print(f"{DRAWING.relative_to(ROOT)} is not what the imports say: run python scripts/architecture_drawing.py")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
