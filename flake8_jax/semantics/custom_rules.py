"""Derivative rules of a user: what ``custom_vjp`` and ``custom_jvp`` functions run when they are differentiated.

Vocabulary
----------
rule        ``fwd`` and ``bwd`` of ``f.defvjp(fwd, bwd)``, or the function of ``f.defjvp(rule)``.
residuals   what ``fwd`` hands to ``bwd``. cotangent: the derivative that ``bwd`` receives, shaped as the output.

Rules run only under differentiation, outside of it: under ``jax.grad`` alone ``fwd`` sees the plain values, inside
``jit`` or ``vmap`` the tracers of those. ``bwd`` receives the arguments of ``nondiff_argnums`` first.

Not modelled: ``defjvps``, ``symbolic_zeros``, ``optimize_remat``, which arguments of a differentiated function really
depend on its parameters.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics import lattice
from flake8_jax.semantics.calls import Arguments, call
from flake8_jax.semantics.iteration import known_elements
from flake8_jax.semantics.library import relevelled
from flake8_jax.semantics.machine import Machine
from flake8_jax.semantics.operators import result_level
from flake8_jax.semantics.scopes import Frame
from flake8_jax.semantics.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    Array,
    BoundMethod,
    Const,
    FunctionValue,
    PartialValue,
    TransformedValue,
    Tree,
    TupleValue,
    Unknown,
    Value,
    level_of,
)

DEFINING = {"defvjp": 2, "defjvp": 1}
"""Methods that set rules, and how many."""


def define(tv: TransformedValue, name: str, args: Arguments) -> Value:
    """``f.defvjp(fwd, bwd)`` or ``f.defjvp(rule)``; the latter is also a decorator and gives back its argument."""
    count = DEFINING[name]
    given = [*args.values, *args.kwargs.values()][:count]
    if len(given) == count and all(isinstance(v, (FunctionValue, BoundMethod, PartialValue)) for v in given):
        tv.rules = tuple(given)
    return args.values[0] if name == "defjvp" and args.values else Const(None)


def run_rules(m: Machine, frame: Frame, node: Any, tv: TransformedValue, args: Arguments, result: Value) -> None:
    """Run the rules of a function that was just called with ``args`` and gave ``result``, if JAX would."""
    if not tv.rules or not m.mode.differentiated or result_level(m, args.values) < GRAD:
        return
    given = _by_position(tv, args)
    if given is None:
        return
    values = [_plain(v) for v in given]
    if len(tv.rules) == 1:
        _run_jvp(m, frame, node, tv, values)
    else:
        _run_vjp(m, frame, node, tv, Arguments(values, {}, args.nodes), result)


def _by_position(tv: TransformedValue, args: Arguments) -> list[Value] | None:
    """All arguments in the order of the parameters, as JAX hands them to the rules; None where that is not known."""
    if args.star is not None or args.double_star is not None:
        return None
    function: Value = tv.operand
    while isinstance(function, TransformedValue):  # ``custom_jvp`` of a jitted function
        function = function.operand
    if not isinstance(function, FunctionValue):
        return None
    values = list(args.values)
    for parameter in function.fn.params[len(values) :]:
        value = args.kwargs.get(parameter.name) or function.defaults.get(parameter.name)
        if value is None or (args.unknown_rest and parameter.name not in args.kwargs):
            return None if args.kwargs or args.unknown_rest else values
        values.append(value)
    return values


def _run_vjp(m: Machine, frame: Frame, node: Any, tv: TransformedValue, args: Arguments, result: Value) -> None:
    forward, backward = tv.rules
    pair = known_elements(call(m, frame, node, forward, args))
    residuals = pair[1] if pair is not None and len(pair) == 2 else Unknown("residuals")
    output = pair[0] if pair is not None and len(pair) == 2 else result
    fixed = _fixed_positions(tv)
    if fixed is None:
        return
    level = ABSTRACT if m.mode.ambient or level_of(output) == ABSTRACT else CONCRETE
    leading = [args.values[i] for i in fixed if i < len(args.values)]
    call(m, frame, node, backward, Arguments([*leading, residuals, relevelled(_plain(output), level)]))


def _run_jvp(m: Machine, frame: Frame, node: Any, tv: TransformedValue, values: list[Value]) -> None:
    fixed = _fixed_positions(tv)
    if fixed is None:
        return
    primals = TupleValue(tuple(v for i, v in enumerate(values) if i not in fixed))
    tangents = relevelled(primals, ABSTRACT) if m.mode.ambient else Unknown("tangents")
    leading = [values[i] for i in fixed if i < len(values)]
    call(m, frame, node, tv.rules[0], Arguments([*leading, primals, tangents]))


def _fixed_positions(tv: TransformedValue) -> list[int] | None:
    """``nondiff_argnums``; None where they are not known."""
    option = tv.options.get("nondiff_argnums")
    if option is None:
        return []
    elements = known_elements(option)
    found: list[int] = []
    for element in (option,) if elements is None else elements:
        if not isinstance(element, Const) or type(element.value) is not int:
            return None
        found.append(element.value)
    return found


def _plain(value: Value, depth: int = 8) -> Value:
    """The value without the tracer of the differentiation around it."""
    if isinstance(value, (Array, Tree)):
        if value.level != GRAD:
            return value
        if isinstance(value, Tree):
            return Tree(CONCRETE)
        return Array(CONCRETE, value.dtype, value.ndim, value.length)
    return lattice.map_leaves(value, lambda v: _plain(v, depth - 1)) if depth else value
