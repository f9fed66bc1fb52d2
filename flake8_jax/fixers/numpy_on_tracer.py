"""JAX203: ``np.f(x)`` becomes ``jnp.f(x)``. Limitations: functions without an equivalent, calls that the equivalent refuses.

The fix is safe where every run of the call gives it a tracer (it raised) and the equivalent surely takes the arguments, arrays
without elements included.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._announced import ARRAYS_ONLY, BY_ZERO, JAX_DTYPES, NO_EMPTY, decided
from flake8_jax.fixers._conditions import holds_surely_a_tracer, is_called_by_name, never_divides_by_zero
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._equivalents import equivalent_call
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.knowledge import load
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

_WIDE = frozenset({"int64", "uint64", "float64", "complex128", "double", "int_", "uint"})
"""Those that JAX makes half as wide by default."""


@fixer("numpy-on-tracer")
def fix(event: LibraryCall, source: FixSource) -> Fix | None:
    call = event.at
    equivalent = _equivalent(event)
    if equivalent is None or not is_called_by_name(event, source) or _is_for_a_debugger(event, source):
        return None
    imports = Imports(source, call)
    values = {id(node): value for node, value in zip(event.nodes, event.args) if node is not None}
    values |= {id(node): event.kwargs[name] for name, node in event.keyword_nodes.items() if name in event.kwargs}
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


def _is_for_a_debugger(event: LibraryCall, source: FixSource) -> bool:
    """``if debug: seen = np.asarray(x)``: a NumPy array is wanted there, and the branch is run without jit."""
    if event.name not in ("numpy.array", "numpy.asarray"):
        return False
    branches = [above for above in source.ancestors(event.at) if isinstance(above, ir.If)]
    return any("debug" in source.slice(branch.test).lower() for branch in branches)


def _equivalent(event: LibraryCall) -> str | None:
    if event.fact is not None and event.fact.equivalent:
        return event.fact.equivalent
    root, _, rest = event.name.partition(".")
    return f"jax.numpy.{rest}" if root == "numpy" and rest in _DTYPES else None
