"""Assertions, and code that is expected to raise.

Vocabulary
----------
asserting   an ``assert``, or a call of something named so: ``np.testing.assert_allclose``, ``self.assertEqual``. Who asserts
            something in every iteration of a loop wants to wait for it.
expecting   a ``with`` whose block is to raise: ``self.assertRaises(…)``.

This looks at names: which class of test cases it is does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flake8_jax.core import ir
from flake8_jax.semantics.machine.core import Machine


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


def expects_error(manager: ir.Expr) -> bool:
    """The context manager of an expecting ``with``."""
    func = manager.func if isinstance(manager, ir.Call) else None
    return isinstance(func, ir.Attribute) and func.attr in ("assertRaises", "assertRaisesRegex")
