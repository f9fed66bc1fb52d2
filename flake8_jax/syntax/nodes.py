"""LibCST's tree of one file with offsets, for rules on nodes: walking it, and turning a replacement into an edit.

Vocabulary
----------
span        the offsets of a node as CPython's ``ast`` has them: no parentheses around it, and for an expression those of the
            node of the intermediate representation that it was lowered to.
listener    a function that is called with each node of some class.

Only rules on nodes need this: the analysis never reads the tree. A file is parsed once more for it, with LibCST's metadata,
which takes several times as long as lowering it.

Limitations: an expression with more than 2,000 links is refused (``SyntaxProblem``), because LibCST needs too long for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import libcst as cst
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from flake8_jax.core.findings import Edit
from flake8_jax.syntax.lower import line_starts, parse_tree

Listener = Callable[[Any], None]

_OWN_PARENS = (cst.Tuple, cst.GeneratorExp)
"""Expressions whose innermost parentheses are part of their span."""
_LOOSE = (
    cst.Await, cst.BinaryOperation, cst.BooleanOperation, cst.Comparison, cst.GeneratorExp, cst.IfExp, cst.Lambda,
    cst.NamedExpr, cst.Tuple, cst.UnaryOperation, cst.Yield,
)  # fmt: skip
"""Expressions that may fall apart where they stand beside an operator."""
_ROOMY = (cst.Arg, cst.Assign, cst.AnnAssign, cst.Return, cst.Expr, cst.Index, cst.Element)
"""Nodes that take any expression but those of ``_CLOSED`` without parentheses."""
_CLOSED = (cst.GeneratorExp, cst.NamedExpr, cst.Tuple, cst.Yield)


class NodeTree:
    """The tree of a text that has been lowered. Raises SyntaxProblem where LibCST cannot read it in time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = line_starts(text)
        wrapper = MetadataWrapper(parse_tree(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._ranges: Mapping[cst.CSTNode, CodeRange] = wrapper.resolve(PositionProvider)
        self._parents: Mapping[cst.CSTNode, Any] = wrapper.resolve(ParentNodeProvider)

    def walk(self, listeners: Mapping[type, tuple[Listener, ...]]) -> None:
        """Call the listeners of each node's class and of its bases, in the order of the text."""
        self.module.visit(_Walker(listeners))

    def parent(self, node: Any) -> Any:
        """The node around a node; None for the module, and for a node that is not of this tree."""
        return self._parents.get(node)

    def span(self, node: Any) -> tuple[int, int]:
        """Start and end of a node of this tree. Raises LookupError for one that is not."""
        if isinstance(node, _OWN_PARENS) and node.lpar:
            return self._range(node.lpar[-1])[0], self._range(node.rpar[0])[1]
        if isinstance(node, cst.GeneratorExp):
            argument = self.parent(node)
            call = self.parent(argument)
            if isinstance(call, cst.Call) and len(call.args) == 1:
                return self._range(call.whitespace_before_args)[0] - 1, self._range(call)[1]
        return self._range(node)

    def _whole(self, node: Any) -> tuple[int, int]:
        """The span with all parentheses around the node."""
        if getattr(node, "lpar", ()):
            return self._range(node.lpar[0])[0], self._range(node.rpar[-1])[1]
        return self._range(node)

    def _range(self, node: cst.CSTNode) -> tuple[int, int]:
        if node not in self._ranges:
            raise LookupError(f"this {type(node).__name__} is not a node of the file that is linted")
        found = self._ranges[node]
        return self._offset(found.start), self._offset(found.end)

    def _offset(self, position: CodePosition) -> int:
        """A line from 1 and a column from 0 as an offset; the end of the text lies on no line where that ends in a newline."""
        if position.line > len(self._starts):
            return len(self.text)
        return self._starts[position.line - 1] + position.column

    def replaced(self, old: Any, new: Any) -> Edit:
        """The edit that puts ``new`` in the place of ``old``, in parentheses where it needs them. ``cst.RemoveFromParent()``
        removes ``old``.

        Raises LookupError if ``old`` is not of this tree, TypeError if ``new`` is no node.
        """
        if new is cst.RemovalSentinel.REMOVE:
            self._range(old)
            removed = self.module.deep_remove(old)
            assert isinstance(removed, cst.Module)
            return _difference(self.text, removed.code)
        if not isinstance(new, cst.CSTNode):
            raise TypeError(f"a replacement is a node of LibCST, not {type(new).__name__}")
        if isinstance(old, cst.BaseExpression) and isinstance(new, cst.BaseExpression):
            start, end = self._whole(old)
            code = self.module.code_for_node(new)
            return Edit(start, end, f"({code})" if self._needs_parentheses(old, new, code) else code)
        self._range(old)
        changed = self.module.deep_replace(old, new)
        assert isinstance(changed, cst.Module)
        return _difference(self.text, changed.code)

    def _needs_parentheses(self, old: cst.BaseExpression, new: cst.BaseExpression, code: str) -> bool:
        if new.lpar or not isinstance(new, _LOOSE):
            return False
        if isinstance(new, _CLOSED) or "\n" in code or "\r" in code:
            return True
        return not (isinstance(self.parent(old), _ROOMY) or (type(old) is type(new) and not old.lpar))


class _Walker(cst.CSTVisitor):
    def __init__(self, listeners: Mapping[type, tuple[Listener, ...]]) -> None:
        super().__init__()
        self._listeners = listeners
        self._by_class: dict[type, tuple[Listener, ...]] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        kind = type(node)
        if kind not in self._by_class:
            self._by_class[kind] = tuple(one for base in kind.__mro__ for one in self._listeners.get(base, ()))
        for listener in self._by_class[kind]:
            listener(node)
        return True


def _difference(before: str, after: str) -> Edit:
    """The smallest edit that makes one text of the other."""
    least = min(len(before), len(after))
    start = next((i for i in range(least) if before[i] != after[i]), least)
    end = next((i for i in range(least - start) if before[-1 - i] != after[-1 - i]), least - start)
    return Edit(start, len(before) - end, after[start : len(after) - end])
