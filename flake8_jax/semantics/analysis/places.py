"""Where the cause of a finding stands, for its message, if that is not near (``TRACED_BY`` and the like in ``core.registry``).

Limitations: a function that a library traces by contract, such as ``__call__`` of a Flax module, has no such place.
"""

from __future__ import annotations

import posixpath
import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Positions
from flake8_jax.core.registry import COMPILED_BY, PASSED_AT, TRACED_BY
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Link

_NEAR = 3
"""A reader of a finding sees this many lines above it."""


def with_places(message: str, chain: tuple[Link, ...], scope: ModuleScope, start: int) -> str:
    """The message of a finding in ``scope`` with its placeholders filled in from the call chain."""
    if TRACED_BY in message:
        message = message.replace(TRACED_BY, _traced_by(_innermost(chain), scope, start), 1)
    if COMPILED_BY in message:
        message = message.replace(COMPILED_BY, _traced_by(_compiling(chain), scope, start), 1)
    if PASSED_AT in message:
        last = chain[-1] if chain else None
        where = _place(last, scope, start) if last is not None and last.kind == "call" else ""
        message = message.replace(PASSED_AT, f" (passed {where})" if where else "", 1)
    return message


def _innermost(chain: tuple[Link, ...]) -> Link | None:
    """The innermost transform call."""
    return next((link for link in reversed(chain) if link.kind in ("root", "contract")), None)


def _compiling(chain: tuple[Link, ...]) -> Link | None:
    """The innermost transform call that compiles, so that Python runs the code once. Around code that a library traces by
    contract there is none to name."""
    innermost = _innermost(chain)
    if innermost is None or innermost.kind == "contract":
        return innermost
    return next((link for link in reversed(chain) if link.kind == "root" and link.compiles), innermost)


def _traced_by(root: Link | None, scope: ModuleScope, start: int) -> str:
    """`` (`jax.jit` on line 12 traces `step`)``."""
    if root is None or root.kind != "root":
        return ""
    transform, _, function = root.text.partition(" traces ")
    function = _OUTER.sub("`", function)
    decorator = _decorator(scope, start, root.function, transform.strip("`").rpartition(".")[2])
    where = _at(scope, decorator, scope, start) if decorator is not None else _place(root, scope, start)
    return f" ({transform} {where} traces {function})" if where else ""


_OUTER = re.compile(r"`[^`]*<locals>\.")
"""The functions that a function stands in, in front of its own name."""


def _decorator(scope: ModuleScope, start: int, function: str, transform: str) -> int | None:
    """Where the decorator stands that applies the transform to the function around the finding."""
    for node in nodes_around(scope.tree.body, start, start):
        if isinstance(node, ir.FunctionDef) and node.function.qualname == function:
            texts = [(one.start, scope.text[one.start : one.end]) for one in node.decorators]
            return next((at for at, text in texts if transform in text), None)
    return None


def _place(link: Link | None, scope: ModuleScope, start: int) -> str:
    """Where the call of a link stands."""
    return "" if link is None or link.node is None else _at(link.scope, link.node.start, scope, start)


def _at(where: ModuleScope, offset: int, scope: ModuleScope, start: int) -> str:
    """``on line 12``, or ``at train.py:12`` in another file; empty where that is near the finding."""
    row = Positions(where.tree.line_starts).row(offset)
    if where.path != scope.path:
        return f"at {posixpath.basename(where.path)}:{row}"
    near = Positions(scope.tree.line_starts).row(start) - row
    return "" if 0 <= near <= _NEAR else f"on line {row}"
