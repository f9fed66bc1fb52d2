"""A flame graph as one SVG file: what ran within what, each box as wide as the time it took.

It needs no script and no other file. Pointing at a box shows its line, its seconds and share; lines with findings of the
linter have a red edge and name the rules. Boxes under one thousandth of the width are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from html import escape

from flake8_jax.runtime_checks.hotspots import Node

WIDTH, ROW, FONT, HEAD = 1200, 19, 11, 46
_LEAST = WIDTH / 1000
_CHARACTER = 6.8  # width of one of the font, about
_ACTIVITY = "#9aa7b8"
_COLORS = ("#f4a261", "#e9b872", "#f0c987", "#eb9f6d", "#e8aa5c", "#f2b98a")


def svg(root: Node, title: str, marks: Mapping[tuple[str, int], str], cwd: str) -> str:
    """Draw a flame graph as the text of an SVG file. marks: the rules by path and row."""
    depth = _depth(root)
    height = HEAD + (depth + 1) * ROW + 8
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="{FONT}">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="8" y="18" font-size="14">{escape(title)}</text>',
        '<text x="8" y="36" fill="#555">Callers above, callees below; grey: what was done there; '
        "red edge: the linter has a finding on this line</text>",
    ]
    whole = root.seconds or 1.0
    for node, left, width, level in _boxes(root, 0.0, 0, whole):
        label, tip, mark = _texts(node, marks, cwd)
        tip += f": {node.seconds:.3f} s, {100 * node.seconds / whole:.1f} %" + (f"; {mark}" if mark else "")
        drawn = _box(node, left, width, level, bool(mark)) + _said(label, left, width, level)
        out.append(f"<g><title>{escape(tip)}</title>{drawn}</g>")
    return "\n".join([*out, "</svg>"]) + "\n"


def _depth(node: Node) -> int:
    return 1 + max((_depth(child) for child in node.children.values()), default=-1)


def _boxes(node: Node, left: float, level: int, whole: float) -> Iterator[tuple[Node, float, float, int]]:
    width = WIDTH * node.seconds / whole
    if width < _LEAST:
        return
    yield node, left, width, level
    for child in sorted(node.children.values(), key=lambda n: -n.seconds):
        yield from _boxes(child, left, level + 1, whole)
        left += WIDTH * child.seconds / whole


def _texts(node: Node, marks: Mapping[tuple[str, int], str], cwd: str) -> tuple[str, str, str]:
    """The label of a box, what pointing at it shows, and the rules of its line."""
    if node.line is None:
        return node.name, node.name, ""
    path, function, row = node.line
    mark = marks.get((path, row), "")
    shown = os.path.relpath(path, cwd) if path.startswith(os.path.join(cwd, "")) else path
    label = f"{function.rpartition('.')[2]} {os.path.basename(path)}:{row}" + (f" {mark}" if mark else "")
    return label, f"{function} ({shown}:{row})", mark


def _box(node: Node, left: float, width: float, level: int, marked: bool) -> str:
    color = _ACTIVITY if node.line is None else _COLORS[sum(map(ord, node.line[1])) % len(_COLORS)]
    edge = ' stroke="#c1121f" stroke-width="2"' if marked else ' stroke="white" stroke-width="0.5"'
    size = f'width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}"'
    return f'<rect x="{left:.1f}" y="{HEAD + level * ROW}" {size} rx="2" fill="{color}"{edge}/>'


def _said(label: str, left: float, width: float, level: int) -> str:
    most = int((width - 6) / _CHARACTER)
    text = label if len(label) <= most else label[: most - 1] + "…" if most > 3 else ""
    return f'<text x="{left + 4:.1f}" y="{HEAD + level * ROW + 13}">{escape(text)}</text>' if text else ""
