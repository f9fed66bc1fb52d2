"""JAX502: see the page of ``captured_mutation``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._changes import ONCE, counts, leak, leaks, level_of_count, may_leak
from flake8_jax.rules._reads import reach
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import DictValue, ListValue, Static, UnionValue, Value
from flake8_jax.semantics.events.events import Mutation
from flake8_jax.semantics.events.facts import UNDONE


@rule("JAX502", "error")
def captured_mutation(event: Mutation) -> Report | None:
    """Traced code stores a tracer, or counts its calls, in a list, dict or set that exists before the trace begins.

    The finding is a warning if no code in the same file reads the list, dict or set, but code in other files could
    read it. The finding is a note in two cases:

    - The traced code passes the list, dict or set to a function that changes it: jaxlint does not know whether other
      code reads it after the trace.
    - The code adds a number to an item (`stats["traces"] += 1`): programs count their traces like this on purpose.

    With `--preview`, the rule also reports a change that stores a tracer only if a condition has a certain outcome, such as
    `self.heights.append(self.height)` in the second example.

    ## Why is this bad?

    Python runs a traced function only while JAX traces it. If the function appends to a list that exists before the
    trace, it appends a tracer, which is invalid after tracing (`UnexpectedTracerError`). Later calls append nothing. A
    body of `scan` and a loss under `grad` have the same problem if they write to a container of the enclosing
    function. Return the values (`has_aux=True`, or the second result of a `scan` body) or report them with
    `jax.debug.callback`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp

    history = []
    stats = {"calls": 0}


    @jax.jit
    def update(w, x):
        loss = jnp.mean((x @ w) ** 2)
        history.append(loss)  # expect: captured-mutation
        stats["calls"] += 1  # expect: captured-mutation
        return w - 0.1 * loss


    def demonstrate():
        w = jnp.ones(2)
        for _ in range(5):
            w = update(w, jnp.ones((3, 2)))
        assert len(history) == 1 and stats["calls"] == 1
        try:
            jnp.stack(history)
        except jax.errors.UnexpectedTracerError:
            return
        raise AssertionError
    ```

    ```python
    import jax


    class Tank:
        def __init__(self):
            self.height = 1.0
            self.heights = []

        def fill(self, inflow):
            self.height = self.height + inflow
            if self.height <= 0.0:
                self.height = 0.0
            self.heights.append(self.height)  # expect: captured-mutation
            return self.height


    def slope(inflow):
        tank = Tank()
        return jax.grad(lambda inflow: tank.fill(inflow) ** 2)(inflow), tank.heights[0]


    def demonstrate():
        try:
            jax.grad(slope(1.0)[1].__add__)(1.0)
        except jax.errors.UnexpectedTracerError:
            return
        raise AssertionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def update(w, x):
        loss = jnp.mean((x @ w) ** 2)
        return w - 0.1 * loss, loss


    def fit(w, batches):
        history = []
        for x in batches:
            w, loss = update(w, x)
            history.append(loss)
        return w, jnp.stack(history)
    ```

    ## Not reported

    jaxlint does not report a list, dict or set that the traced function makes itself, or that JAX passes to it as an
    argument, because this container exists only during the trace. It does not report a list that no code reads after
    the trace. It does not report a list used as a stack, if the function removes each new element before the trace
    ends.

    jaxlint does not report a dict to which the function adds only static values, which stay valid after tracing. It
    also does not report a mutable reference (`jax.new_ref`), because the compiled program changes the reference in
    every call.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np

    scopes = []
    windows = {}


    def window(n):
        if n not in windows:
            windows[n] = np.hanning(n)
        return windows[n]


    @jax.jit
    def forward(params, x):
        scopes.append("forward")
        outputs = []
        params["scale"] = x.std()
        for w in params["layers"]:
            x = jnp.tanh(x @ w)
            outputs.append(x)
        scopes.pop()
        return sum(outputs) * window(x.shape[-1]) / params["scale"]


    def accumulate(xs):
        total = jax.new_ref(jnp.zeros(()))

        @jax.jit
        def add(x):
            total[...] += x

        for x in xs:
            add(x)
        return total[...]
    ```

    ## Limitations

    The rule misses changes of NumPy arrays, of queues, and of objects whose class comes from a library.

    ## Fix safety

    No fix. The function has to return the value, so the author has to change the function and its callers.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line that changes the list, dict or
    set runs while JAX traces.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX501 (`global-write`), JAX503 (`self-write`), JAX508 (`cached-tracer`), JAX511 (`stale-static-self`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions>
    """
    if event.how not in ("item", "item-augmented", "method") or not _is_container(event.target):
        return None
    container = _container_node(event.at)
    surely, counted = leaks(event), counts(event)
    found = reach(event, container) if surely or counted or may_leak(event) else "gone"
    if found == "gone":
        return None
    kept = quote(event.context, container, "the container")
    subject = f"This change of {kept}"
    level: Level | None = None if found == "read" else "info" if found == "passed" else "warning"
    count_level = level_of_count(event) or level
    if surely or not counted:
        message = f"{subject} {leak(event.context, kept, surely=surely)}"
        return Report(event.at, message, level, unless=UNDONE, preview=not surely)
    return Report(event.at, f"{subject} {ONCE}", count_level, unless=UNDONE)


def _is_container(value: Value | None) -> bool:
    if isinstance(value, UnionValue):
        return all(_is_container(member) for member in value.members)
    return isinstance(value, (ListValue, DictValue, Static))


def _container_node(node: ir.Node) -> ir.Node:
    """The expression that is the container, in ``x[i] = v`` and ``x.append(v)``."""
    if isinstance(node, ir.Subscript):
        return node.value
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        return node.func.value
    return node
