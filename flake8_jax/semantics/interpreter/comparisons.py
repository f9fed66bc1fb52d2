"""Comparisons that ask which class a value has or which array library runs, and the comparison of an answer with a literal.

Vocabulary
----------
answer      see ``domain.tracer_tests``.
library     a module with the functions of NumPy, which code takes as a parameter: ``xp``.

Limitations: aliases of libraries that the program makes itself, such as ``backend.numpy``.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.tracer_tests import negated_answer
from flake8_jax.semantics.domain.values import Const, External, Unknown, Value, known_elements
from flake8_jax.semantics.interpreter.operators import compare, negated
from flake8_jax.semantics.interpreter.types import instance_test
from flake8_jax.semantics.machine.core import Machine

_EQUALITIES = {"is": True, "==": True, "is not": False, "!=": False}
_MEMBERSHIPS = {"in": True, "not in": False}
_OF_JAX = frozenset({"jax", "jnp", "jax.numpy"})
_OTHERS = frozenset({"numpy", "np", "scipy", "torch", "tf", "tensorflow", "cupy", "mlx", "math", "autograd.numpy"})
_LIBRARIES = _OF_JAX | _OTHERS
_NEITHER: frozenset[bool] = frozenset()


def compare_values(m: Machine, frame: Frame, node: Any, left: Value, op: str, right: Value) -> Value:
    """One comparison of a (chain of) comparison(s)."""
    if op in _EQUALITIES:
        for a, b in ((left, right), (right, left)):
            result = _equal_type(m, a, b) or _equal_library(a, b) or _equal_answer(a, b)
            if result is not None:
                return result if _EQUALITIES[op] else negated(result)
    if op in _MEMBERSHIPS:
        result = _is_member(m, left, right)
        if result is not None:
            return result if _MEMBERSHIPS[op] else negated(result)
    return compare(m, frame, node, left, op, right)


def _equal_type(m: Machine, left: Value, right: Value) -> Value | None:
    """``type(x) is np.ndarray``: False for what is no instance of the class, else only Python knows."""
    if not isinstance(left, Unknown) or left.type_of is None:
        return None
    return Const(False) if instance_test(m, left.type_of, right) is False else Unknown("type", host_test=True)


def _equal_library(left: Value, right: Value) -> Value | None:
    """``xp is np``."""
    if not isinstance(left, External) or not isinstance(right, External):
        return None
    return Const(left.name == right.name) if left.name in _LIBRARIES and right.name in _LIBRARIES else None


def _equal_answer(left: Value, right: Value) -> Value | None:
    """``isinstance(x, Tracer) is False``."""
    if not isinstance(left, Unknown) or not isinstance(right, Const) or type(right.value) is not bool:
        return None
    if not left.host_test and left.doubt is None:
        return None
    return left if right.value else negated_answer(left)


def _is_member(m: Machine, item: Value, container: Value) -> Value | None:
    """``type(x) in (int, np.ndarray)``, ``xp in (np, cupy)``."""
    elements = known_elements(container)
    if not elements:
        return None
    answers = [_equal_type(m, item, element) or _equal_library(item, element) for element in elements]
    known = [answer for answer in answers if answer is not None]
    if len(known) < len(elements):
        return None
    held = next((a for a in known if isinstance(a, Const) and a.value is True), None)
    return held if held is not None else joining.join_all(known)


def other_library(left: Value, op: str, right: Value) -> frozenset[bool]:
    """The outcome of ``library == "jax"`` and of ``xp is np`` that chooses another array library: no tracer comes to its
    functions."""
    if op in _MEMBERSHIPS:
        names = [_library_name(element) for element in known_elements(right) or ()]
        if not names or _library_name(left):
            return _NEITHER
        if all(name in _OTHERS for name in names):
            return frozenset({op == "in"})
        return frozenset({op == "not in"}) if all(name in _OF_JAX for name in names) else _NEITHER
    if op not in _EQUALITIES:
        return _NEITHER
    for value, other in ((left, right), (right, left)):
        name = _library_name(value)
        if name and not isinstance(other, (Const, External)):
            return frozenset({_EQUALITIES[op] is (name in _OTHERS)})
    return _NEITHER


def _library_name(value: Value) -> str:
    """The name of the library that a value is, or names."""
    name = value.name if isinstance(value, External) else value.value if isinstance(value, Const) else ""
    return name if isinstance(name, str) and name in _LIBRARIES else ""
