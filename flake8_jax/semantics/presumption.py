"""What a library's functions would see if their users staged them.

Library code often has no root of its own: somebody else jits it. ``inspect`` therefore runs every function once more,
staged, and takes for traced what the code itself uses as an array: what it hands to ``jax.numpy``, asks for its
``shape``, maps over as a tree, passes across a staging boundary. Such a run is *presumed*: no rule reports on it
(but previews that say so), and records tell it apart.

Vocabulary
----------
array-like   a parameter that was seen, holding an unknown value, where JAX takes arrays.
driver       a function that compiles others (``jit``, ``pmap``).

Not modelled: arithmetic between two unknown values says nothing of either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.lattice import canonical_key
from flake8_jax.semantics.values import ABSTRACT, Array, Tree, Unknown, Value

if TYPE_CHECKING:
    from flake8_jax.core import ir
    from flake8_jax.semantics.values import FunctionValue

ARRAY_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "at", "T", "mT", "astype", "reshape", "ravel", "squeeze",
                              "transpose", "swapaxes"})  # fmt: skip


class Presumption:
    """Collects, in the ordinary runs, which parameters are array-like; applies it in the presumed ones."""

    def __init__(self) -> None:
        self.marked: set[Value] = set()
        self.bindings: list[tuple[int, str, Value]] = []
        self.array_like: set[tuple[int, str]] = set()
        self.contracts: set[tuple[int, str]] = set()
        self.drivers: set[int] = set()

    def mark(self, value: Value) -> None:
        """JAX takes ``value`` for an array."""
        if isinstance(value, Unknown):
            self.marked.add(canonical_key(value))

    def is_marked(self, value: Value) -> bool:
        """JAX took ``value`` for an array at some point."""
        return isinstance(value, Unknown) and canonical_key(value) in self.marked

    def applies_to(self, path: str, fn: ir.Function) -> bool:
        """Tests and drivers run eagerly: whoever compiles functions is not compiled itself."""
        name = path.replace("\\", "/").rpartition("/")[2]
        is_test = (
            name.startswith(("test_", "conftest")) or name.endswith("_test.py") or "/tests/" in path or "/test/" in path
        )
        return not is_test and id(fn) not in self.drivers

    def contract(self, fn: ir.Function, names: list[str]) -> None:
        """A library passes pytrees of arrays for these parameters; claimed of those that the code looks into."""
        self.contracts |= {(id(fn), n) for n in names}

    def bind(self, fn: ir.Function, bound: dict[str, Value]) -> None:
        """A function runs with these arguments."""
        for name, value in bound.items():
            if isinstance(value, Unknown):
                self.bindings.append((id(fn), name, value))

    def settle(self) -> None:
        """All ordinary runs are over."""
        for fn, name, value in self.bindings:
            by_contract = (fn, name) in self.contracts and isinstance(value, Unknown) and value.parts
            if by_contract or canonical_key(value) in self.marked:
                self.array_like.add((fn, name))
        self.bindings.clear()

    def presumed(self, func: FunctionValue, bound: dict[str, Value]) -> dict[str, Value]:
        """The arguments of a presumed run: array-like unknowns are pytrees of tracers."""
        found = dict(bound)
        for name, value in bound.items():
            if isinstance(value, Unknown) and (id(func.fn), name) in self.array_like:
                default = func.defaults.get(name)
                if default is not None:
                    continue  # what a user leaves out keeps its default
                tree = Tree(ABSTRACT)
                tree.origin = value
                found[name] = tree
            elif isinstance(value, Array) and value.level == 1 and value.dtype != "key":
                array = Array(ABSTRACT, value.dtype, value.ndim)
                array.origin = value
                found[name] = array
        return found
