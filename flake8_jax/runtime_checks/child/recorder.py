"""Which parameters of the user's functions are tracers, arrays, keys or plain values, call by call.

Vocabulary
----------
traced       the argument is an abstract tracer: it has a shape and a dtype, no value.
tree         the argument is a pytree with at least one abstract tracer among its leaves.
concrete     the argument is (or holds) tracers, all of which carry a value: ``jax.grad`` alone.
array        the argument is (or holds) JAX arrays, no tracer; looked for in the upper part of large pytrees only.
key          the argument is a typed PRNG key; counted in addition to ``traced``, ``concrete`` or ``array``.
other        anything else. unflattenable: a pytree that refuses (a half-built instance, keys that do not sort).
aval         shape and dtype, as ``f32[8,128]``; of plain values, their type; of flags, ``True`` or ``False``.
static       the value of an argument that is a number, a flag or None. Of others (texts), no contents are kept; nor of
             arguments that are called like secrets.

Not recorded: values captured by closures, attributes of objects that are not pytrees, raw ``uint32`` keys (arrays like any
other), code built by ``exec`` under a made-up file name.
"""

from __future__ import annotations

import dis
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from flake8_jax.runtime_checks.child.places import Places
from flake8_jax.runtime_checks.child.tracing import EAGER, is_abstract_tracer, is_ambient, trace_state

OBSERVATIONS = 200  # of a function, for its eager and for its staged calls each
NODES = 400  # of an argument, as a pytree
DEPTH = 12
AVALS = 4  # different ones kept of a parameter

_PLAIN = frozenset(
    {type(None), bool, int, float, complex, str, bytes, slice, range}
    | {type, FunctionType, BuiltinFunctionType, ModuleType}
)
_NUMBERS = frozenset({bool, int, float, type(None)})
_SECRET = re.compile(r"key|token|secret|passw|pwd|credential|auth|pin\b", re.IGNORECASE)
_LONGEST = 24  # of the values of numbers
_ARRAYS = frozenset({"jax", "jaxlib", "numpy", "torch", "tensorflow", "ml_dtypes"})  # packages whose arrays have both
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# Flattening runs foreign code: a half-built instance, keys that do not sort, a property that is not implemented.
_UNFLATTENABLE = (TypeError, ValueError, AttributeError, LookupError, RuntimeError, AssertionError, ArithmeticError)
_SHORT = {
    "float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int32": "i32", "int64": "i64",
    "int8": "i8", "int16": "i16", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "complex64": "c64",
    "complex128": "c128",
}  # fmt: skip


@dataclass
class Arguments:
    """What parameters were: how often of which kind, and up to so many different avals."""

    kinds: dict[str, dict[str, int]] = field(default_factory=dict)
    avals: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, name: str, kinds: tuple[str, ...], aval: str) -> None:
        counts = self.kinds.setdefault(name, {})
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
        seen = self.avals.setdefault(name, {})
        if len(seen) < AVALS:
            seen[aval] = 1

    def row(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "params": {name: self.kinds.get(name, {}) for name in names},
            "avals": {name: list(self.avals[name]) for name in names if name in self.avals},
        }


@dataclass
class Recorded:
    """What was seen of one code object. last_entry: the last offset at which a suspended body can begin."""

    code: CodeType
    path: str
    params: tuple[str, ...]
    last_entry: int | None
    calls: int = 0
    staged_calls: int = 0
    ambient_calls: int = 0
    observed_eager: int = 0
    observed_staged: int = 0
    observed_ambient: int = 0
    statics: dict[str, dict[str, int]] = field(default_factory=dict)
    every: Arguments = field(default_factory=lambda: Arguments())
    ambient: Arguments = field(default_factory=lambda: Arguments())

    def record_static(self, name: str, value: str) -> None:
        known = self.statics.setdefault(name, {})
        if len(known) < AVALS and len(value) <= _LONGEST:
            known[value] = 1

    def row(self) -> dict[str, Any]:
        return {
            "filename": self.path,
            "qualname": getattr(self.code, "co_qualname", self.code.co_name),  # Python 3.11
            "line": self.code.co_firstlineno,
            "last": last_line(self.code),
            "calls": self.calls,
            "staged_calls": self.staged_calls,
            "ambient_calls": self.ambient_calls,
            "observed": self.observed_eager + self.observed_staged,
            **self.every.row(self.params),
            "statics": {name: list(values) for name, values in self.statics.items()},
            "ambient": (
                {"observed": self.observed_ambient, **self.ambient.row(self.params)}
                if 0 < self.ambient_calls < self.calls
                else None
            ),
        }


class Recorder:
    """Called for every call of a function of the user's."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self._seen: dict[int, tuple[CodeType, Recorded | None]] = {}

    def called(self, frame: FrameType) -> None:
        code = frame.f_code
        known = self._seen.get(id(code))
        if known is None:
            known = self._seen[id(code)] = (code, self._admit(code))
        if known[1] is not None:
            self._observe(known[1], frame)

    def rows(self) -> list[dict[str, Any]]:
        found = [seen.row() for _, seen in self._seen.values() if seen is not None and seen.calls]
        return sorted(found, key=lambda row: (row["filename"], row["line"], row["qualname"]))

    def _admit(self, code: CodeType) -> Recorded | None:
        path = self.places.path_of(code)
        if (
            path is None
            or not self.places.is_root(path)
            or not code.co_flags & inspect.CO_OPTIMIZED
            or code.co_name in _COMPREHENSIONS
        ):
            return None
        return Recorded(code, path, parameter_names(code), _last_entry_offset(code))

    def _observe(self, seen: Recorded, frame: FrameType) -> None:
        if seen.last_entry is not None and frame.f_lasti > seen.last_entry:
            return
        seen.calls += 1
        state = trace_state()
        ambient = False
        if state == EAGER:
            if seen.observed_eager >= OBSERVATIONS:
                return
            seen.observed_eager += 1
        else:
            seen.staged_calls += 1
            ambient = is_ambient()
            seen.ambient_calls += ambient
            if seen.observed_staged >= OBSERVATIONS:
                return
            seen.observed_staged += 1
            seen.observed_ambient += ambient
        values = frame.f_locals
        for name in seen.params:
            if name in values:  # else deleted, or not bound yet
                value = values[name]
                kinds, aval = kinds_of(value), str(value) if isinstance(value, bool) else aval_of(value)
                seen.every.add(name, kinds, aval)
                if ambient:
                    seen.ambient.add(name, kinds, aval)
                if type(value) in _NUMBERS and not _SECRET.search(name):
                    seen.record_static(name, repr(value))


def parameter_names(code: CodeType) -> tuple[str, ...]:
    """All parameters of a code object, ``*args`` and ``**kwargs`` last; nothing for hidden ones."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return tuple(name for name in code.co_varnames[:count] if not name.startswith("."))


def last_line(code: CodeType) -> int:
    """The last line of a function, the functions in it among them."""
    inner = [last_line(one) for one in code.co_consts if isinstance(one, CodeType)]
    return max([code.co_firstlineno, *(row for _, _, row in code.co_lines() if row is not None), *inner])


def _last_entry_offset(code: CodeType) -> int | None:
    """For generators and coroutines, the offset past which a call is a resumption; None for functions."""
    if not code.co_flags & _SUSPENDS:
        return None
    resumes = (i.offset for i in dis.get_instructions(code) if i.opname == "RESUME")
    return next(resumes, -1)


def _is_key(value: Any) -> bool:
    import jax

    return bool(jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key))


def kinds_of(value: Any) -> tuple[str, ...]:
    """The kinds an argument counts for; see the vocabulary above."""
    jax = sys.modules.get("jax")
    if type(value) in _PLAIN or jax is None:
        return ("other",)
    if isinstance(value, jax.core.Tracer):
        kind = "traced" if is_abstract_tracer(value) else "concrete"
        return (kind, "key") if _is_key(value) else (kind,)
    if isinstance(value, jax.Array):
        return ("array", "key") if _is_key(value) else ("array",)
    found = "other"
    try:
        for leaf in _leaves_of(value):
            if isinstance(leaf, jax.core.Tracer):
                if is_abstract_tracer(leaf):
                    return ("tree",)
                found = "concrete"
            elif found == "other" and isinstance(leaf, jax.Array):
                found = "array"
    except _UNFLATTENABLE:
        return ("unflattenable",)
    return (found,)


def _leaves_of(tree: Any) -> Iterator[Any]:
    """The leaves of a pytree, level by level, down to ``DEPTH`` and among the first ``NODES`` nodes.

    Bounded by hand, because a list may hold itself. Raises what a node's own flattening raises.
    """
    from jax._src.tree_util import default_registry

    level, seen = [tree], 0
    for _ in range(DEPTH):
        below: list[Any] = []
        for node in level[: NODES - seen]:
            opened = None if type(node) in _PLAIN else default_registry.flatten_one_level(node)
            if opened is None:
                yield node
            else:
                below.extend(opened[0])
        seen += len(level)
        if not below or seen >= NODES:
            return
        level = below


def _dtype_and_shape(value: Any) -> tuple[Any, Any]:
    """Those of an array or an abstract value. Any other object is not asked: its attributes may be code of the user's."""
    package = type(value).__module__.partition(".")[0]
    if package not in _ARRAYS:
        return None, None
    return getattr(value, "dtype", None), getattr(value, "shape", None)


def aval_of(value: Any, depth: int = 3) -> str:
    """``f32[8,128]``; of containers, what they hold; of other values, their type."""
    dtype, shape = _dtype_and_shape(value)
    if dtype is not None and isinstance(shape, tuple):
        name = str(dtype)
        if name.startswith("key<"):
            return f"key[{','.join(map(str, shape))}]" if shape else "key"
        return f"{_SHORT.get(name, name)}[{','.join(map(str, shape))}]"
    kind = type(value)
    if depth and kind in (tuple, list) and len(value) <= 16:
        inner = ", ".join(aval_of(v, depth - 1) for v in value)
        return f"({inner}{',' if len(value) == 1 else ''})" if kind is tuple else f"[{inner}]"
    if depth and kind is dict and len(value) <= 16 and all(isinstance(k, str) for k in value):
        return "{" + ", ".join(f"{k!r}: {aval_of(v, depth - 1)}" for k, v in value.items()) + "}"
    if kind in (bool, int, float, complex, str, type(None)):
        return kind.__name__
    return f"{kind.__module__}.{kind.__qualname__}"
