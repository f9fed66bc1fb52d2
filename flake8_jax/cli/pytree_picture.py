"""The picture of a pytree: an SVG with a row for each node, and a bar as long as its share of the bytes.

Limitations: a text is as wide as its number of characters says, because an SVG has no layout.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from flake8_jax.cli.running import size
from flake8_jax.runtime_checks.measurements import Tree, TreeNode

_ROW = 22
_CHARACTER = 7.3
_STEP = 18
_BAR = 160
_GAP = 24
_TOP = 46
_COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#e45756")
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}.dim{fill:#57606a}.head{font-weight:600}"
    ".line{stroke:#b1bac4;fill:none}.track{fill:#eef1f4}"
    "@media(prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.dim{fill:#9198a1}.track{fill:#21262d}}"
)


def picture(tree: Tree, limit: int) -> str:
    """Draw the first ``limit`` nodes."""
    nodes = tree.nodes[:limit]
    labels = [node.name or tree.name for node in nodes]
    texts = [facts(node) for node in nodes]
    first = _GAP + max(node.depth * _STEP + 14 + _width(label) for node, label in zip(nodes, labels)) + _GAP
    second = first + max(map(_width, texts)) + _GAP
    third = second + _BAR + 90
    width = third + max((_width(node.sharding) for node in nodes), default=0) + _GAP
    left_out = len(tree.nodes) - len(nodes)
    height = _TOP + _ROW * (len(nodes) + bool(left_out)) + _GAP
    dtypes = list(dict.fromkeys(node.dtype for node in tree.nodes if node.dtype))
    colors = {dtype: _COLORS[number % len(_COLORS)] for number, dtype in enumerate(dtypes)}
    head = f"{tree.name}: {size(tree.bytes)}, {sum(node.is_leaf for node in tree.nodes)} leaves; {tree.setting}"
    width = max(width, _width(head) + 2 * _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img">',
        f"<title>{escape(tree.name)}</title><style>{_STYLE}</style>",
        '<rect class="page" width="100%" height="100%" fill="#ffffff"/>',
        _text(_GAP, 26, head, "head"),
        *_lines(nodes),
    ]
    for number, (node, label, text) in enumerate(zip(nodes, labels, texts)):
        y = _TOP + _ROW * number + 15
        x = _GAP + node.depth * _STEP + 14
        parts.append(_text(x, y, label, "" if node.is_leaf else "head"))
        parts.append(_text(first, y, text, "" if node.is_leaf else "dim"))
        share = node.bytes / tree.bytes if tree.bytes else 0.0
        color = colors.get(node.dtype, "#8c959f")
        parts.append(f'<rect class="track" x="{second:.0f}" y="{y - 10}" width="{_BAR}" height="12" rx="2"/>')
        if node.bytes and not node.same_as:
            bar = max(1.0, _BAR * min(share, 1.0))
            parts.append(f'<rect x="{second:.0f}" y="{y - 10}" width="{bar:.1f}" height="12" rx="2" fill="{color}"/>')
        parts.append(_text(second + _BAR + 8, y, size(node.bytes), "dim"))
        if node.sharding:
            parts.append(_text(third, y, node.sharding, "dim"))
    if left_out:
        parts.append(_text(_GAP, height - _GAP, f"{left_out} more nodes", "dim"))
    return "\n".join([*parts, "</svg>", ""])


def facts(node: TreeNode) -> str:
    """What a node is: ``float32[3,4]``, the value of a leaf that is no array, or the type of a node with children."""
    if node.shape is not None:
        text = f"{node.dtype}[{','.join(map(str, node.shape))}]" + (f" {node.text}" if node.text else "")
    else:
        text = f"{node.text} ({node.type}, not an array)" if node.is_leaf and node.text != "None" else node.type
    return text + (f" = {node.same_as}" if node.same_as else "")


def _width(text: str) -> float:
    return len(text) * _CHARACTER


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" xml:space="preserve" class="{style}">{escape(text)}</text>'


def _lines(nodes: tuple[TreeNode, ...]) -> list[str]:
    """The lines from each node to its parent."""
    found = []
    last_at: dict[int, int] = {}
    for number, node in enumerate(nodes):
        last_at[node.depth] = number
        if not node.depth:
            continue
        x = _GAP + (node.depth - 1) * _STEP + 5
        top = _TOP + _ROW * last_at[node.depth - 1] + 20
        y = _TOP + _ROW * number + 11
        found.append(f'<path class="line" d="M{x} {top}V{y}H{x + _STEP + 5}"/>')
    return found
