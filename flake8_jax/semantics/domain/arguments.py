"""The arguments of a call, before and after they are bound to parameters of a library function.

Vocabulary
----------
call        what stands in the program: a node with evaluated arguments, in a frame.
bound       arguments by the names of the parameters that take them.
context     how a function comes to run: called, staged, by contract, as an entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.values import TupleValue, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.domain.stack import LinkKind, Mode


class Arguments(msgspec.Struct, eq=False):
    """Evaluated arguments. nodes/keyword_nodes: their IR (None if there is none).

    unknown_rest: it is not known what else is passed: parameters without an argument are unknown, not their defaults.
    """

    values: list[Value]
    kwargs: dict[str, Value] = {}
    nodes: list[ir.Expr | None] = []
    keyword_nodes: dict[str, ir.Expr] = {}
    star: Value | None = None
    double_star: Value | None = None
    unknown_rest: bool = False

    def prepended(self, *first: Value) -> Arguments:
        """The same with more arguments in front."""
        return Arguments(
            [*first, *self.values],
            self.kwargs,
            [*[None for _ in first], *self.nodes],
            self.keyword_nodes,
            self.star,
            self.double_star,
            self.unknown_rest,
        )


class Call(msgspec.Struct, frozen=True, eq=False):
    """A call of something that is known: where it stands, and with what arguments.

    used: its result is. decorating: it stands as a decorator.
    """

    frame: Frame
    node: Any
    args: Arguments
    used: bool = True
    decorating: bool = False

    def to(self, args: Arguments) -> Call:
        """The same call with other arguments."""
        return Call(self.frame, self.node, args, self.used, self.decorating)


class CallingContext(msgspec.Struct, frozen=True, eq=False):
    """How a function comes to run. kind: of the link on the call stack. text: the sentence for evidence, empty for the
    usual one. mode: how its code runs, None: as the caller's. serial: the number of an earlier run that it is part of."""

    kind: LinkKind = "call"
    text: str = ""
    mode: Mode | None = None
    serial: int | None = None


CALLED = CallingContext()


def is_written(node: Any, args: Arguments) -> bool:
    """The arguments are those that stand in a call, rather than what a library passes on."""
    return isinstance(node, ir.Call) and (not node.args or any(args.nodes) or bool(args.keyword_nodes))


def bind_parameters(params: list[str], args: Arguments) -> tuple[dict[str, Value], dict[str, ir.Expr]]:
    """Arguments by the parameter names of a library function. ``*args`` parameters get a tuple."""
    bound: dict[str, Value] = {}
    nodes: dict[str, ir.Expr] = {}
    i = 0
    positional = True
    for p in params:
        if p == "*":
            positional = False
        elif p.startswith("**"):
            continue
        elif p.startswith("*"):
            bound[p[1:]] = TupleValue(tuple(args.values[i:]))
            if i < len(args.nodes) and args.nodes[i] is not None:
                nodes[p[1:]] = args.nodes[i]  # type: ignore[assignment]
            i = len(args.values)
            positional = False
        elif positional and i < len(args.values):
            bound[p] = args.values[i]
            if i < len(args.nodes) and args.nodes[i] is not None:
                nodes[p] = args.nodes[i]  # type: ignore[assignment]
            i += 1
    bound.update(args.kwargs)
    nodes.update(args.keyword_nodes)
    return bound, nodes
