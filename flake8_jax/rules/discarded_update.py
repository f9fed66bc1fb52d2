"""JAX506: see the page of ``discarded_update``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._units import imports_jax, units_of
from flake8_jax.semantics.events.events import Context, Discarded, FileRead

UPDATES = frozenset({"set", "add", "subtract", "mul", "multiply", "div", "divide", "power", "min", "max", "apply"})


@rule("JAX506", "error", fixable="sometimes", only=Subscription(names=frozenset(f".at.{name}" for name in UPDATES)))
def discarded_update(event: Discarded | FileRead) -> Report | list[Report] | None:
    """The code does not use the result of `x.at[i].set(v)`, so `x` does not change.

    ## Why is this bad?

    `x.at[i].set(v)` does not modify `x`; it returns a new array. If the code does not assign the result, the
    statement silently does nothing.

    ## Example

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

    With `--preview`, jaxlint also reports the statement if it does not know what `x` is:

    ```python
    import jax.numpy as jnp


    def fill(found, values):
        for i in range(len(values)):
            found.at[i].set(values[i])  # expect: discarded-update
        return found


    def demonstrate():
        assert jnp.all(fill(jnp.zeros(2), [1.0, 2.0]) == 0)
    ```

    ## Use instead

    ```python
    import jax


    @jax.jit
    def reset(x, i):
        x = x.at[i].set(0.0)
        return x
    ```

    ## Not reported

    jaxlint does not report `x.at[i].set(v)` if the class of `x` is a class of the project that defines its own `at`,
    because this `at` may modify the object.

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

    ## Limitations

    The rule misses an updated array that the code assigns to a name but never reads (`y = x.at[i].set(v)`).

    ## Fix safety

    Unsafe. The statement becomes `x = x.at[i].set(v)`. The update then takes effect, so the results of the program
    change.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the statement runs, because
    the source code shows that the program drops the updated array.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX505 (`array-item-assignment`), JAX509 (`discarded-result`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html>
    """
    if isinstance(event, FileRead):
        return _of_unknown(event)
    if not event.call_name.startswith(".at.") or event.context.presumed:
        return None
    method = event.call_name.rpartition(".")[2]
    if method not in UPDATES:
        return None
    return Report(event.at, _message(event.context, event.at, method))


def _message(context: Context, at: ir.Node, method: str) -> str:
    array = quote(context, _updated(at), "the array")
    return f".at[…].{method}(…) returns a new array and does not modify {array}; assign its result"


def _of_unknown(event: FileRead) -> list[Report]:
    """``x.at[i].set(v)`` where nothing says what ``x`` is: nothing but an array of JAX has this form."""
    scope = event.context.scope
    if not imports_jax(scope) or "def at(" in scope.text:
        return []
    found: list[Report] = []
    for unit in units_of(scope):
        for statement in unit.statements:
            call = statement.value if isinstance(statement, ir.ExprStmt) else None
            method = call.func.attr if isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute) else ""
            shown = bool(scope.cells) and unit.function is None and not unit.loops_around(statement)
            if call is not None and method in UPDATES and _updated(call) is not None and not shown:
                found.append(Report(call, _message(event.context, call, method), "warning", preview=True))
    return found


def _updated(node: ir.Node) -> ir.Expr | None:
    """``x`` of ``x.at[i].set(v)``."""
    indexed = node.func.value if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else None
    at = indexed.value if isinstance(indexed, ir.Subscript) else None
    return at.value if isinstance(at, ir.Attribute) and at.attr == "at" else None
