"""Inputs as Python code that a reader can take over: ``step(jnp.ones((8, 128), jnp.float32), jax.random.key(0))``.

The code uses the names ``jax``, ``jnp`` and ``np``, and classes of the user's by their own names. What the arrays hold is
one of FILLS: ones, and normal numbers where ones do not show what is to be shown, and zeros. No key is spelled twice in a
call, and the numbers are drawn from keys of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from flake8_jax.runtime_checks.child.grammar import (
    Array,
    Case,
    Items,
    Key,
    Literal,
    Spec,
    default_dims,
    shape_of,
)

FILLS = ("ones", "normal", "zeros")
_FIRST_SEED = 100


def call_code(function: str, case: Case, fill: str) -> str:
    """A call of a function with the inputs of a case."""
    speller = _Speller(fill, default_dims(case.specs(), case.bindings()))
    parts = [speller.value(spec) for spec in case.args]
    parts += [f"{name}={speller.value(spec)}" for name, spec in case.kwargs.items()]
    return f"{function}({', '.join(parts)})"


class _Speller:
    def __init__(self, fill: str, sizes: Mapping[str, int]) -> None:
        self._fill = fill
        self._sizes = sizes
        self._keys = 0
        self._drawn = _FIRST_SEED

    def value(self, spec: Spec) -> str:
        if isinstance(spec, Literal):
            return _literal(spec.value)
        if isinstance(spec, Items):
            parts = [self.value(item) for item in spec.items]
            if spec.kind == "dict":
                return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(spec.keys, parts)) + "}"
            inner = ", ".join(parts)
            return f"({inner}{',' * (len(parts) == 1)})" if spec.kind == "tuple" else f"[{inner}]"
        if isinstance(spec, Key):
            return self._key(spec)
        if isinstance(spec, Array):
            return self._array(spec)
        fields = ", ".join(f"{name}={self.value(part)}" for name, part in spec.fields)
        return f"{spec.cls.__qualname__}({fields})"

    def _key(self, spec: Key) -> str:
        shape = shape_of(spec.dims, self._sizes)
        implementation = f', impl="{spec.implementation}"' if spec.implementation else ""
        one = f"jax.random.PRNGKey({self._keys})" if spec.legacy else f"jax.random.key({self._keys}{implementation})"
        self._keys += 1
        return f"jax.random.split({one}, {shape})" if shape else one

    def _array(self, spec: Array) -> str:
        shape = shape_of(spec.dims, self._sizes)
        module = "np" if spec.host else "jnp"
        dtype = "bool_" if spec.dtype == "bool" else spec.dtype
        number = "0" if self._fill == "zeros" else "1"
        if spec.weak:
            scalar = f"jnp.asarray({number}{'.0' * ('float' in spec.dtype)})"
            return f"jnp.broadcast_to({scalar}, {shape})" if shape else scalar
        if self._fill == "normal" and dtype.startswith("float") and not spec.host:
            self._drawn += 1
            return f"jax.random.normal(jax.random.key({self._drawn}), {shape}, jnp.{dtype})"
        if shape:
            return f"{module}.{'zeros' if number == '0' else 'ones'}({shape}, {module}.{dtype})"
        return f"{module}.{dtype}({number}{'.0' * dtype.startswith(('float', 'bfloat'))})"


def _literal(value: object) -> str:
    """Python code for a plain value; functions and classes by their names."""
    name = getattr(value, "__qualname__", None)
    return name if isinstance(name, str) and callable(value) else repr(value)
