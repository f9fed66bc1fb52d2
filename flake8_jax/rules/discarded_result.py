"""JAX509: a pure call stands as a statement. Not modelled: results bound to names that nobody reads."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import Array, Tree, UnionValue, Value
from flake8_jax.semantics.events.events import Discarded, MethodCall

_LIBRARIES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.image.", "jax.ops.")


@rule("JAX509", "warning")
def discarded_result(event: Discarded | MethodCall) -> Report | None:
    """A call that has no effect but its result stands as a statement of its own.

    Why it bites: functions of `jax.numpy` and `jax.lax` and methods of JAX arrays change nothing in place. A statement
    that drops their result does nothing; NumPy's `x.sort()` and torch's `x.clamp_()` do.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def project(w):
        jnp.clip(w, -1.0, 1.0)  # expect: discarded-result
        w.sort()  # expect: discarded-result
        return w


    def demonstrate():
        w = jnp.array([5.0, -5.0])
        assert jnp.array_equal(project(w), w)
    ```

    Good:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def project(w):
        return jnp.sort(jnp.clip(w, -1.0, 1.0))
    ```

    Also good: calls for their effect, lists and NumPy arrays, and a call that is expected to raise.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def check(x):
        try:
            jnp.reshape(x, (2, -1))
        except TypeError:
            return False
        return True


    def run(x):
        rows = np.asarray([3, 1, 2])
        rows.sort()
        names = ["b", "a"]
        names.sort()
        jax.debug.print("{}", x)
        jax.lax.fori_loop(0, 3, lambda i, _: jax.debug.print("{}", i), None)
        (x @ x).block_until_ready()
        return rows, names
    ```

    Fix: none. Assigning the result and removing the statement both make sense.

    Proof: the program does the same without the statement.
    """
    context = event.context
    if context.presumed or context.caught:
        return None
    if isinstance(event, MethodCall):
        if event.used or event.fact is None or not event.fact.pure or not _is_array(event.value, event.method):
            return None
        return Report(event.at, f".{event.method}() gives a new array and changes nothing; use its result")
    if not event.pure or not event.call_name.startswith(_LIBRARIES):
        return None
    if event.call_name.rpartition(".")[2] in _CHECKING:
        return None
    if context.scope.cells and isinstance(event.at, ir.Call) and all(_is_literal(a.value) for a in event.at.args):
        return None  # shown for what it does, or does not, with such numbers
    subject = quote(context, event.at, event.call_name)
    return Report(event.at, f"{subject} has no effect but its result, which is not used")


_CHECKING = frozenset({"broadcast_shapes", "result_type", "promote_types"})
"""They raise where shapes or dtypes do not fit, which may be what they are called for."""


def _is_array(value: Value, method: str) -> bool:
    """An array for sure, or a traced argument of which a method is called that arrays have and dicts have not."""
    if isinstance(value, UnionValue):
        return all(_is_array(member, method) for member in value.members)
    return isinstance(value, Array) or (isinstance(value, Tree) and method != "copy")


def _is_literal(node: ir.Expr) -> bool:
    return all(isinstance(part, (ir.Constant, ir.Tuple, ir.List, ir.UnaryOp)) for part in walk(node))
