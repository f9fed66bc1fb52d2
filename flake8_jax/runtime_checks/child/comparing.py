"""A formula of the user's and the stable one that a fix would put in its place, computed on the same values.

They are evaluated where the line stands, just before it runs, from the values that its variables have there, and followed to
what the program goes on with (see ``flows``).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from flake8_jax.runtime_checks.child.flows import Flow, Unknown
from flake8_jax.runtime_checks.child.formulas import Formula, is_pure

MOST = 20  # comparisons of one formula
LOST = 1e-4
"""Relative difference from which on digits count as lost: those of float32 are worth 1e-7."""
_NOT_FINITE = float("inf")
_UNDIFFERENTIABLE = (Unknown, TypeError, ValueError, ArithmeticError, RuntimeError)
"""What JAX raises where it has no gradient: for integers, loops of unknown length, NaN with ``jax_debug_nans``, operations
without a derivative."""


@dataclass(frozen=True)
class Difference:
    """How far the two lie from each other, relatively to the stable one; infinity where only one is finite. alone: the formulas
    by themselves. value: of that what reaches a value that the program uses; slope: that reaches the gradient, where JAX
    differentiates the frame."""

    alone: float
    value: float
    slope: float


def difference(pair: tuple[Formula, Formula], flow: Flow | None, frame: FrameType) -> Difference | None:
    """The difference in this frame; None where the formulas cannot be computed."""
    import jax

    read = {name for formula in pair for name in formula.code.co_names}
    given = {**frame.f_globals, **frame.f_locals}
    known = {"jax": jax, "jnp": jax.numpy, **{name: _primal(value) for name, value in given.items()}}
    try:
        alone = _relative(*(_evaluate(formula, known) for formula in pair))
    except Unknown:
        return None
    if alone is None:
        return None
    derived = {name: known[name] for name in read & given.keys() if known[name] is not given[name]}
    around = derivative_around(frame) if derived else Derivative()
    slope = _slope(pair, flow, known, derived, around.has_aux) if derived else 0.0
    value = min(alone, _used_difference(pair, flow, known, around)) if alone >= LOST else alone
    return Difference(alone, value, slope)


def _used_difference(
    pair: tuple[Formula, Formula], flow: Flow | None, names: Mapping[str, Any], around: Derivative
) -> float:
    """How far the values lie from each other that the program goes on with."""
    (first, is_returned), (second, _) = (_outcome(number, pair, flow, names) for number in (0, 1))
    if is_returned and not around.value:
        first, second = (_aux(outcome, around) for outcome in (first, second))
    return _worst(first, second)


def _aux(outcome: Any, around: Derivative) -> Any:
    """What the program gets of what a function returns whose value it drops."""
    return outcome[1:] if around.has_aux and isinstance(outcome, tuple) else ()


def _evaluate(formula: Formula, names: Mapping[str, Any]) -> Any:
    """The value of a formula. Raises Unknown."""
    if not is_pure(formula, names):
        raise Unknown
    try:
        return eval(formula.code, {}, dict(names))
    except Exception as error:  # the formula may raise whatever the program would: then it shows nothing
        raise Unknown from error


def _outcome(
    number: int, pair: tuple[Formula, Formula], flow: Flow | None, names: Mapping[str, Any]
) -> tuple[Any, bool]:
    """What the program goes on with, with one of the two, and whether the function returns it. Raises Unknown."""
    if flow is not None:
        with contextlib.suppress(Unknown):
            return flow.outcome(number, names, _evaluate)
    return _evaluate(pair[number], names), False


def _slope(
    pair: tuple[Formula, Formula],
    flow: Flow | None,
    names: Mapping[str, Any],
    derived: Mapping[str, Any],
    has_aux: bool,
) -> float:
    """How far the gradients lie from each other. has_aux: see ``Derivative``."""
    import jax
    import numpy

    def total(number: int, given: Mapping[str, Any]) -> Any:
        outcome, is_returned = _outcome(number, pair, flow, {**names, **given})
        if is_returned and has_aux and isinstance(outcome, tuple):
            outcome = outcome[0]
        leaves = [leaf for leaf in jax.tree_util.tree_leaves(outcome) if _is_float(leaf)]
        return sum(jax.numpy.sum(leaf) for leaf in leaves)

    try:
        first, second = (jax.grad(lambda given, n=n: total(n, given))(dict(derived)) for n in (0, 1))
    except _UNDIFFERENTIABLE:
        return 0.0
    if not all(bool(numpy.isfinite(leaf).all()) for leaf in jax.tree_util.tree_leaves(second)):
        return 0.0
    return _worst(first, second, by_element=False)


def _worst(first: Any, second: Any, *, by_element: bool = True) -> float:
    """The largest difference between two trees; infinity where they have other forms."""
    import jax

    ones, others = jax.tree_util.tree_leaves(first), jax.tree_util.tree_leaves(second)
    if len(ones) != len(others):
        return _NOT_FINITE
    found = [_relative(one, other, by_element=by_element) for one, other in zip(ones, others) if _is_float(other)]
    return max((_NOT_FINITE if apart is None else apart for apart in found), default=0.0)


def _is_float(leaf: Any) -> bool:
    import jax.numpy

    return isinstance(leaf, float) or (
        hasattr(leaf, "dtype") and bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact))
    )


def _relative(first: Any, second: Any, *, by_element: bool = True) -> float | None:
    import jax
    import numpy

    if any(isinstance(leaf, jax.core.Tracer) for leaf in (first, second)):
        return None
    one, other = numpy.asarray(first, dtype=float), numpy.asarray(second, dtype=float)
    if one.shape != other.shape or not one.size:
        return None
    if not numpy.array_equal(numpy.isfinite(one), numpy.isfinite(other)):
        return _NOT_FINITE
    finite = numpy.isfinite(other) & (other != 0)
    distance, size = numpy.abs(one - other)[finite], numpy.abs(other)[finite]
    if not by_element:
        return float(numpy.max(distance, initial=0.0) / max(numpy.max(size, initial=0.0), numpy.finfo(float).tiny))
    return float(numpy.max(distance / size, initial=0.0))


def _primal(value: Any) -> Any:
    """The value of an array that JAX differentiates by, outside of jit."""
    import jax

    while isinstance(value, jax.core.Tracer) and hasattr(value, "primal"):
        value = value.primal
    return value


_API = os.path.join("jax", "_src", "api.py")
_WRAPPERS = os.path.join("jax", "_src", "traceback_util.py")


@dataclass(frozen=True)
class Derivative:
    """What the program gets of the derivative that JAX takes around a frame. value: of the function, too. has_aux: the second
    part of what the function returns is not differentiated."""

    value: bool = True
    has_aux: bool = False


def derivative_around(frame: FrameType) -> Derivative:
    """The innermost one: ``grad`` drops the value, and ``value_and_grad`` gives it back."""
    current: FrameType | None = frame
    while current is not None:
        caller = current.f_back
        while caller is not None and caller.f_code.co_filename.endswith(_WRAPPERS):
            caller = caller.f_back
        if current.f_code.co_filename.endswith(_API):
            name, of_caller = current.f_code.co_name, "" if caller is None else caller.f_code.co_name
            has_aux = bool(current.f_locals.get("has_aux"))
            if name in ("value_and_grad_f", "jacfun"):
                return Derivative(name != "jacfun" and of_caller not in ("grad_f", "grad_f_aux"), has_aux)
            is_own = caller is not None and caller.f_code.co_filename.endswith(_API)
            if name in ("vjp", "jvp", "linearize") and not is_own:
                return Derivative(True, has_aux)
        current = caller
    return Derivative()
