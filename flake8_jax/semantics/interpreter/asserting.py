"""Assertions, and code that is expected to raise.

Vocabulary
----------
asserting   an ``assert``, or a call of something named so: ``np.testing.assert_allclose``, ``self.assertEqual``. Who asserts
            something in every iteration of a loop wants to wait for it.
expecting   a call of ``self.assertRaises(…)``, ``pytest.raises(…)`` and the like: its function, or the block of its ``with``,
            is to raise.

This looks at names: which class of test cases it is does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import External
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import evaluate


@contextmanager
def waited_for(m: Machine) -> Iterator[None]:
    """What is read meanwhile is meant to be read in every iteration."""
    loop = m.path.loops[-1] if m.path.loops else None
    if loop is not None:
        loop.guards += 1
    yield
    if loop is not None:
        loop.guards -= 1


def asserts(func: ir.Expr) -> bool:
    """The callee of an asserting call."""
    name = func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
    return name.startswith("assert")


_EXPECTING = frozenset(
    {"assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assert_raises", "assert_raises_regex"}
)


def expects_error(m: Machine, frame: Frame, call: ir.Expr) -> bool:
    """The call says that an error is expected: of the block below it, or of the function that it is given."""
    func = call.func if isinstance(call, ir.Call) else None
    name = func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
    if name in _EXPECTING:
        return True
    if func is None or not name.endswith("raises"):
        return False
    value = evaluate(m, frame, func)
    return isinstance(value, External) and value.name == "pytest.raises"


def rewrites_source(decorator: ir.Expr) -> bool:
    """``@qjit(autograph=True)``: what runs is no longer the Python that stands there (Catalyst turns ``y[i] = v`` and ``if`` on
    traced values into operations; https://docs.pennylane.ai/projects/catalyst/en/stable/dev/autograph.html)."""
    return isinstance(decorator, ir.Call) and any(
        argument.keyword == "autograph" and not _is_false(argument.value) for argument in decorator.args
    )


def _is_false(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.value is False


def expects_failure(decorator: ir.Expr) -> bool:
    """A decorator of a test that is to fail: ``@unittest.expectedFailure``, ``@pytest.mark.xfail(…)``."""
    func = decorator.func if isinstance(decorator, ir.Call) else decorator
    return isinstance(func, ir.Attribute) and func.attr in ("expectedFailure", "xfail")
