"""What a fix has to bring along: where a call raised, and now gives a tracer, the code after it is reached.

``norm = np.linalg.norm(g)`` becomes ``jnp.linalg.norm(g)``; ``np.exp(norm)`` and ``if norm > 1`` below it would now be
mistakes of their own. Its edits and their consequences are one atomic fix: first the calls that the value passes, then, on
the text that results, the tests that depend on it.

Limitations: see ``_flow``. What cannot be converted is left; the user sees that the fix brings a finding.
"""

from __future__ import annotations

from collections.abc import Sequence

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._announced import PASSED_ON, extended, sentences_of
from flake8_jax.fixers._branches import convert_if, convert_ternary
from flake8_jax.fixers._callers import binders
from flake8_jax.fixers._flow import Dependent, follow
from flake8_jax.fixers._host_calls import edits_for
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._loops import convert_for_range, convert_while
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.syntax.edits import apply_edits, compose
from flake8_jax.syntax.lower import lower


def with_consequences(source: FixSource, node: ir.Expr, fix: Fix) -> Fix:
    """The fix of an expression, and with it what its new value forces.

    Raises:
        Refused: the program inspects the new value, and would find a tracer, or needs a number, and would raise there.
    """
    flow = follow(source, node)
    if flow.inspected or flow.needed:
        raise Refused
    edits = list(fix.edits)
    sentences: list[str] = []
    for call, names in flow.passed:
        more, fits = _passed(source, call)
        if more and not any(_overlap(a, b) for a in more for b in edits):
            edits += [e for e in more if e not in edits]
            if not fits or not all(_is_bound_once(source, call, name) for name in names):
                sentences.append(PASSED_ON.sentence)
    if flow.dependents:
        selected, of_tests = _with_selections(source, edits, flow.dependents)
        if of_tests:
            return extended(fix, "and select instead of testing the result", [*sentences, *of_tests], selected)
    if len(edits) == len(fix.edits):
        return fix
    return extended(fix, "and change the code that uses the result", sentences, sorted(edits))


def _passed(source: FixSource, call: ir.Call) -> tuple[list[Edit], bool]:
    imports = Imports(source, call)
    try:
        edits, fits = edits_for(source, call, imports)
        return [*edits, *imports.edits], fits
    except Refused:
        return [], False


def _is_bound_once(source: FixSource, node: ir.Node, name: str) -> bool:
    """A variable has the value that was followed, on whatever path the node is reached."""
    around = source.functions(node)
    return bool(around) and len(binders(source, around[0], name)) == 1


def _overlap(one: Edit, other: Edit) -> bool:
    return one != other and one.start < other.end and other.start < one.end


# --- tests -----------------------------------------------------------------------------------------


def _with_selections(source: FixSource, edits: list[Edit], dependents: list[Dependent]) -> tuple[list[Edit], list[str]]:
    """The edits, and on top of them the conversion of each dependent that can be converted; and what those may change."""
    merged, sentences = edits, list[str]()
    for dependent in dependents:
        text = apply_edits(source.text, merged)
        now = FixSource(source.path, text, lower(text))
        start = _moved(dependent.start, merged)
        node = None if start is None else _node_at(now, start, type(dependent))
        conversion = None if node is None else _converted(now, node)
        if conversion is not None:
            merged = compose(source.text, merged, conversion.edits)
            sentences += sentences_of(conversion)
    return merged, sentences


def _node_at(source: FixSource, start: int, kind: type) -> Dependent | None:
    """The construct of that class that begins at an offset; the outermost where several do."""
    found = [n for n in source.nodes_at(start) if isinstance(n, kind)]
    node = max(found, key=lambda n: n.end, default=None)
    return node if isinstance(node, (ir.If, ir.IfExp, ir.While, ir.For)) else None


def _converted(source: FixSource, node: Dependent) -> Fix | None:
    try:
        if isinstance(node, ir.If):
            return convert_if(source, node)
        if isinstance(node, ir.IfExp):
            return convert_ternary(source, node)
        return convert_while(source, node) if isinstance(node, ir.While) else convert_for_range(source, node)
    except Refused:
        return None


# --- edits on top of edits -------------------------------------------------------------------------


def _moved(offset: int, edits: Sequence[Edit]) -> int | None:
    """Where an offset of the old text is in the new one; None inside an edit."""
    shift = 0
    for edit in sorted(edits):
        if edit.start < offset < edit.end:
            return None
        if edit.end <= offset:
            shift += len(edit.content) - (edit.end - edit.start)
    return offset + shift
