"""JAX203: ``np.f(x)`` becomes ``jnp.f(x)``. Not modelled: functions without a twin, ``out=``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._consequences import with_consequences
from flake8_jax.fixers._host_calls import HOST_ONLY_KEYWORDS, TAKES_SEQUENCES
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._source import FixSource, repair
from flake8_jax.semantics.events import LibraryCall
from flake8_jax.semantics.values import GeneratorValue, ListValue, TupleValue

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


@repair("numpy-on-tracer")
def fix(event: LibraryCall, source: FixSource) -> Fix | None:
    call = event.at
    twin = _twin(event)
    if twin is None or any(a.star == 2 or a.keyword in HOST_ONLY_KEYWORDS for a in call.args):
        return None
    if not isinstance(call.func, (ir.Name, ir.Attribute)) or source.comments(call.func.start, call.func.end):
        return None
    imports = Imports(source, call)
    edits = [Edit(call.func.start, call.func.end, imports.spell(twin))]
    first = call.args[0] if call.args else None
    sequence = bool(event.args) and isinstance(event.args[0], (TupleValue, ListValue, GeneratorValue))
    if first is not None and sequence and twin.rpartition(".")[2] not in TAKES_SEQUENCES:
        # jax.numpy takes arrays only, where NumPy takes lists of numbers as well.
        if first.star or isinstance(event.args[0], GeneratorValue):
            return None
        value = first.value
        opening = f"{imports.spell('jax.numpy.asarray')}("
        edits += [Edit(value.start, value.start, opening), Edit(value.end, value.end, ")")]
    short = twin.replace("jax.numpy.", "jnp.", 1)
    return with_consequences(source, call, Fix(f"Use `{short}`", "safe", (*edits, *imports.edits)))


def _twin(event: LibraryCall) -> str | None:
    if event.fact is not None and event.fact.twin:
        return event.fact.twin
    root, _, rest = event.name.partition(".")
    return f"jax.numpy.{rest}" if root == "numpy" and rest in _DTYPES else None
