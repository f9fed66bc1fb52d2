"""JAX506: the result of ``x.at[i].set(v)`` is not used. Not modelled: results bound to names that nobody reads."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import Discarded

UPDATES = frozenset({"set", "add", "subtract", "mul", "multiply", "div", "divide", "power", "min", "max", "apply"})


@rule("JAX506", "error", fixable="sometimes", only=Subscription(names=frozenset(f".at.{name}" for name in UPDATES)))
def discarded_update(event: Discarded) -> Report | None:
    """`x.at[i].set(v)` stands as a statement of its own.

    Why it bites: the `at` property does not change the array, it gives a new one. Without an assignment the statement
    does nothing, silently.

    Bad:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def reset(x, i):
        x.at[i].set(0.0)  # expect: discarded-update
        return x


    def demonstrate():
        assert jnp.array_equal(reset(jnp.ones(3), 1), jnp.ones(3))
    ```

    Good:

    ```python
    import jax


    @jax.jit
    def reset(x, i):
        x = x.at[i].set(0.0)
        return x
    ```

    Also good: a class of one's own whose `at` does change it.

    ```python
    class Cell:
        def __init__(self, rows, key):
            self.rows, self.key = rows, key

        def set(self, value):
            self.rows[self.key] = value


    class Rows(dict):
        @property
        def at(self):
            return self

        def __getitem__(self, key):
            return Cell(self, key)


    def fill(rows):
        rows = Rows()
        rows.at["a"].set(1.0)
        return rows
    ```

    Fix: unsafe. `x = x.at[i].set(v)`. The program then does what it says, so its results change.

    Proof: the array has its old value afterwards.
    """
    if not event.call_name.startswith(".at.") or event.context.presumed:
        return None
    method = event.call_name.rpartition(".")[2]
    if method not in UPDATES:
        return None
    array = quote(event.context, _updated(event.at), "the array")
    return Report(event.at, f".at[…].{method}(…) returns a new array and does not modify {array}; assign its result")


def _updated(node: ir.Node) -> ir.Expr | None:
    """``x`` of ``x.at[i].set(v)``."""
    indexed = node.func.value if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else None
    at = indexed.value if isinstance(indexed, ir.Subscript) else None
    return at.value if isinstance(at, ir.Attribute) else None
