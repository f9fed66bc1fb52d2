"""JAX203: ``np.f(x)`` becomes ``jnp.f(x)``. Limitations: functions without an equivalent, calls that the equivalent refuses.

The fix is safe where every run of the call gives it a tracer (it raised) and the equivalent surely takes the arguments, arrays
without elements included.
"""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import ARRAYS_ONLY, BY_ZERO, JAX_DTYPES, NO_EMPTY, decided
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._conditions import holds_surely_a_tracer, is_called_by_name, never_divides_by_zero
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._equivalents import equivalent_call
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import target_names
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.knowledge import load
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.events import LibraryCall

_DTYPES = frozenset(
    [
        "bool_",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "single",
        "double",
        "int_",
        "uint",
    ]
)

_OF_NUMPY = frozenset({"flat", "tobytes", "tofile", "setflags", "ctypes", "fill", "resize", "partition"})
"""Attributes that JAX arrays do not have."""
_HOST_NAME = re.compile(r"(?:^|_)(?:np|numpy|host)(?:_|\Z)", re.IGNORECASE)
"""A variable of such a name is meant to hold a NumPy array."""
_HOST_LIBRARIES = frozenset({"scipy", "pandas", "sklearn", "cv2", "PIL", "matplotlib"})

_WIDE = frozenset({"int64", "uint64", "float64", "complex128", "double", "int_", "uint"})
"""Those that JAX makes half as wide by default."""


@fixer("numpy-on-tracer")
def fix(event: LibraryCall, source: FixSource) -> Fix | None:
    call = event.at
    equivalent = _equivalent(event)
    if (
        equivalent is None
        or not is_called_by_name(event, source)
        or _is_for_a_debugger(event, source)
        or _stays_numpy(event, source)
    ):
        return None
    imports = Imports(source, call)
    values = {id(node): value for node, value in zip(event.nodes, event.args) if node is not None}
    values |= {id(node): event.kwargs[name] for name, node in event.keyword_nodes.items() if name in event.kwargs}
    plain = _converted(event, imports)
    if plain is not None:
        edits = (Edit(call.start, plain.start, ""), Edit(plain.end, call.end, ""))
        fix = Fix("Remove the conversion", "safe", edits)
        if source.comments(call.start, plain.start) or source.comments(plain.end, call.end):
            return None
        return decided(fix, safe=holds_surely_a_tracer(source, call), otherwise=JAX_DTYPES)
    made = equivalent_call(source, call, imports, load().canonical(event.name), equivalent, values)
    short = equivalent.replace("jax.numpy.", "jnp.", 1)
    fix = Fix(f"Use `{short}`", "safe", (*made.edits, *imports.edits))
    if not made.fits:
        fix = decided(fix, safe=False, otherwise=ARRAYS_ONLY)
    elif event.name.rpartition(".")[2] in _WIDE or not holds_surely_a_tracer(source, call):
        fix = decided(fix, safe=False, otherwise=JAX_DTYPES)
    fix = decided(fix, safe=made.takes_empty, otherwise=NO_EMPTY)
    fix = decided(fix, safe=never_divides_by_zero(event), otherwise=BY_ZERO)
    return with_consequences(source, call, fix)


def _converted(event: LibraryCall, imports: Imports) -> ir.Call | None:
    """``jnp.f(x)`` of ``np.asarray(jnp.f(x))``: the array as it is."""
    only = event.at.args[0].value if len(event.at.args) == 1 else None
    if event.name not in ("numpy.array", "numpy.asarray") or not isinstance(only, ir.Call) or event.at.args[0].keyword:
        return None
    is_array = len(event.args) == 1 and isinstance(event.args[0], Array)
    return only if is_array and (imports.resolve(only.func) or "").startswith("jax.numpy.") else None


def _is_for_a_debugger(event: LibraryCall, source: FixSource) -> bool:
    """``if debug: seen = np.asarray(x)``: a NumPy array is wanted there, and the branch is run without jit."""
    if event.name not in ("numpy.array", "numpy.asarray"):
        return False
    branches = [above for above in source.ancestors(event.at) if isinstance(above, ir.If)]
    return any("debug" in source.slice(branch.test).lower() for branch in branches)


def _stays_numpy(event: LibraryCall, source: FixSource) -> bool:
    """``a = np.asarray(x)``, and then ``a.flat`` or ``scipy.f(a)``: a NumPy array is wanted there."""
    statement = source.statement(event.at)
    if event.name not in ("numpy.array", "numpy.asarray") or not isinstance(statement, ir.Assign):
        return False
    names = {name for target in statement.targets for name in target_names(target)}
    if any(_HOST_NAME.search(name) for name in names) or _is_said_to_be_numpy(source, statement):
        return True
    around = source.functions(event.at)
    inside = around[0].body if around else source.module.body
    for node in (part for s in inside for part in walk(s)):
        if isinstance(node, ir.Attribute) and node.attr in _OF_NUMPY:
            if isinstance(node.value, ir.Name) and node.value.id in names:
                return True
        if isinstance(node, ir.Call) and node.start >= statement.end:
            given = {a.value.id for a in node.args if isinstance(a.value, ir.Name)}
            root = (Imports(source, node).resolve(node.func) or "").partition(".")[0]
            if given & names and root in _HOST_LIBRARIES:
                return True
    return False


def _is_said_to_be_numpy(source: FixSource, statement: ir.Stmt) -> bool:
    """The comments directly above a statement, or after it, name NumPy."""
    if not source.starts_line(statement):
        return False
    start = comments_above(source, statement.start, next_to=True)
    comments = source.comments(start, source.line_end(statement.end))
    return any("numpy" in comment.text.lower() for comment in comments)


def _equivalent(event: LibraryCall) -> str | None:
    if event.fact is not None and event.fact.equivalent:
        return event.fact.equivalent
    root, _, rest = event.name.partition(".")
    return f"jax.numpy.{rest}" if root == "numpy" and rest in _DTYPES else None
