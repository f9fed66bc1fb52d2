"""The split behind the first use of a key goes in front of it, and makes the key of that use too.

``x = draw(key)``, then ``key, a = split(key)``: the split becomes ``key, a, draw_key = split(key, 3)`` in front of the draw. If
nothing reads one of its keys, the draw gets that one and the split makes no more.

Limitations: splits into arrays of keys, or in another block than the use.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._keys import half, without_line
from flake8_jax.fixers._names import fresh, is_target
from flake8_jax.fixers._source import FixSource
from flake8_jax.fixers._spare_keys import another_name, extended_split, is_spare, is_split, one_more, split_names

_NEAR = 12
"""At most so many lines are between the use and the split that goes in front of it."""
_OF_KEYS = re.compile(r"key|rng|split|random|seed", re.IGNORECASE)
"""A comment of that kind above a split goes with it."""
_PLAIN = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt)


def split_moved_up(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit] | None:
    """The edits; None where no split of the key stands behind its use in the same block, code in between reads or binds what
    the split binds, a comment above the split may be on more than it, or the split that made the key can make one more."""
    using, split = source.statement(first), source.statement(second)
    if not isinstance(first, ir.Name) or not isinstance(second, ir.Name) or not isinstance(split, ir.Assign):
        return None
    names = _names_of(source, split, second) if extended_split(source, first, second) is None else None
    block = source.place(split).block
    if names is None or not isinstance(using, _PLAIN) or not any(one is using for one in block):
        return None
    is_near = source.text.count("\n", using.start, split.start) <= _NEAR
    if using.start >= split.start or not is_near or _is_met_between(source, first, split, names):
        return None
    remarks = _remarks(source, split)
    if remarks is None or not source.starts_line(split) or not source.ends_line(split):
        return None
    moved = _moved(source, first, split, names)
    if moved is None:
        return None
    line, key = moved
    return [
        _in_front(source, using, [*remarks, line]),
        Edit(first.start, first.end, key),
        *_without(source, split, len(remarks)),
    ]


def attribute_split_earlier(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit] | None:
    """``x = draw(self.key)``, then ``self.key, _ = split(self.key)`` or ``_, self.key = …`` in the same block: the split goes
    in front, and its other half, which nothing reads, to the draw. None where the code is another, or mentions the key between.
    """
    using, split = source.statement(first), source.statement(second)
    if not isinstance(second, ir.Attribute) or not isinstance(split, ir.Assign) or first.start > split.start:
        return None
    spare = _half_beside(source, split, second)
    alone = source.starts_line(split) and source.ends_line(split)
    block = source.place(split).block
    if spare is None or not alone or not isinstance(using, _PLAIN) or not any(one is using for one in block):
        return None
    if source.slice(second) in source.text[first.end : split.start] or source.comments(split.start, split.end):
        return None
    key = fresh(source, first, "subkey")[0] if spare.id == "_" else spare.id
    text, at = source.slice(split), spare.start - split.start
    line = text[:at] + key + text[at + len(spare.id) :]
    remark = source.text[split.end : source.line_end(split.end)].strip()
    return [
        source.insert_before(using, [f"{line}  {remark}" if remark else line]),
        Edit(first.start, first.end, key),
        without_line(source, split),
    ]


def _half_beside(source: FixSource, split: ir.Assign, key: ir.Attribute) -> ir.Name | None:
    """The name beside the attribute in a split of it that binds both, if nothing reads its value and no code in front of the
    split has the name; ``_`` is such a name."""
    if not is_split(split, Imports(source, split)) or "\n" in source.slice(split):
        return None
    value, target = split.value, split.targets[0]
    given = value.args[0].value if isinstance(value, ir.Call) and value.args else None
    elements = target.elts if isinstance(target, (ir.Tuple, ir.List)) else []
    others = [element for element in elements if source.slice(element) != source.slice(key)]
    spare = others[0] if len(others) == 1 and len(elements) == 2 else None
    if given is not key or not isinstance(spare, ir.Name) or not is_spare(source, spare):
        return None
    around = source.functions(split)
    named = (n for n in walk(around[0] if around else source.module) if isinstance(n, ir.Name) and n.id == spare.id)
    return spare if spare.id == "_" or not any(node.start < spare.start for node in named) else None


def advanced_instead(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit] | None:
    """A split line in front of the first use, whose other half stands for ``split(key)[0]``: the second use, in an expression
    behind. None where that is no such item, code in between or behind reads the key, or it runs another number of times."""
    item = source.parent(source.parent(source.parent(second)))
    using, around = source.statement(first), source.functions(second)
    if not isinstance(first, ir.Name) or not isinstance(second, ir.Name) or not isinstance(item, ir.Subscript):
        return None
    split = half(item, Imports(source, item))
    block = source.place(source.statement(second)).block
    if split is None or not around or not isinstance(using, _PLAIN) or not any(one is using for one in block):
        return None
    if any(
        isinstance(above, (ir.For, ir.While, ir.Comprehension, ir.Lambda)) for above in source.between(item, around[0])
    ):
        return None
    behind = [n for n in walk(around[0]) if isinstance(n, ir.Name) and n.id == second.id and n.start >= using.start]
    if any(node is not first and node is not second for node in behind) or first.start > second.start:
        return None
    [key] = fresh(source, first, "subkey")
    line = f"{second.id}, {key} = {source.slice(split.func)}({second.id})"
    return [
        source.insert_before(using, [line]),
        Edit(first.start, first.end, key),
        Edit(item.start, item.end, second.id),
    ]


def _names_of(source: FixSource, split: ir.Assign, key: ir.Name) -> list[ir.Name] | None:
    """The names of ``a, b = split(key)`` that does nothing else."""
    if not is_split(split, Imports(source, split)) or source.comments(split.start, split.end):
        return None
    value, names = split.value, split_names(split)
    if not isinstance(value, ir.Call) or not value.args or value.args[0].value is not key or not names:
        return None
    different = {name.id for name in names}
    return names if len(different) == len(names) and "\n" not in source.slice(split) else None


def _is_met_between(source: FixSource, first: ir.Name, split: ir.Assign, names: list[ir.Name]) -> bool:
    """Code from the use to the split reads or binds the key, or a name that the split binds."""
    met = {first.id, *[name.id for name in names]}
    start = source.statement(first).start
    around = source.functions(split)
    return any(
        isinstance(node, ir.Name) and node.id in met and node is not first and start <= node.start < split.start
        for node in walk(around[0] if around else source.module)
    )


def _moved(source: FixSource, first: ir.Name, split: ir.Assign, names: list[ir.Name]) -> tuple[str, str] | None:
    """The line of the split, and the name of the key for the use in front of which it goes."""
    text = source.slice(split)
    spare = next((name for name in names if name.id == "_"), None)
    if spare is not None:
        key = another_name(source, first, [name.id for name in names])
        return text[: spare.start - split.start] + key + text[spare.end - split.start :], key
    unread = [name.id for name in names if _is_unread_behind(source, split, name.id)]
    if len(unread) == 1:
        return text, unread[0]
    count = one_more(split, len(names))
    if unread or count is None:
        return None
    key = another_name(source, first, [name.id for name in names])
    comma = source.text[names[-2].end : names[-1].start]
    at = names[-1].end - split.start
    number = (count.start - split.start, count.end - split.start)
    return text[:at] + comma + key + text[at : number[0]] + count.content + text[number[1] :], key


def _is_unread_behind(source: FixSource, split: ir.Assign, name: str) -> bool:
    """Nothing reads what the split binds to a name: it is local, no code behind reads it, and no loop comes back to code."""
    around = source.functions(split)
    if not around or name in (*around[0].global_names, *around[0].nonlocal_names):
        return False
    if any(isinstance(above, (ir.For, ir.While)) for above in source.between(split, around[0])):
        return False
    nodes = [node for node in walk(around[0]) if isinstance(node, ir.Name) and node.id == name]
    reads = [node for node in nodes if not is_target(source, node)]
    inner = any(source.functions(node) != around for node in reads)
    return not inner and all(node.start < split.end for node in reads)


def _remarks(source: FixSource, split: ir.Assign) -> list[str] | None:
    """The comment lines directly above a split, which go with it, and the one at its end; None where they may be on the code
    below as well."""
    start = source.line_start(split.start)
    above: list[str] = []
    while start and (line := source.text[source.line_start(start - 1) : start].strip()).startswith("#"):
        above.insert(0, line)
        start = source.line_start(start - 1)
    if source.text[split.end : source.line_end(split.end)].strip() or any(not _OF_KEYS.search(line) for line in above):
        return None
    return above


def _in_front(source: FixSource, statement: ir.Stmt, lines: list[str]) -> Edit:
    """Insert lines above a statement, and above its comment if they have one themselves."""
    edit = source.insert_before(statement, lines)
    at = source.line_start(statement.start)
    while len(lines) > 1 and at and source.text[source.line_start(at - 1) : at].strip().startswith("#"):
        at = source.line_start(at - 1)
    indent = source.indentation(statement)
    above = "".join(f"{indent}{line}{source.newline}" for line in lines)
    return edit if at == source.line_start(statement.start) else Edit(at, at, above)


def _without(source: FixSource, split: ir.Assign, remarks: int) -> list[Edit]:
    """The line of the split goes, with the comments above it."""
    gone = without_line(source, split)
    start = gone.start
    for _ in range(remarks):
        start = source.line_start(start - 1)
    return [Edit(start, gone.end, "")]
