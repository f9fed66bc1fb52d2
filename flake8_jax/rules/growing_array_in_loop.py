"""JAX415: see the page of ``growing_array_in_loop``."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._variation import report_compilations
from flake8_jax.semantics.domain.code import nodes_around, path_of
from flake8_jax.semantics.domain.values import Array, HostArray, ListValue
from flake8_jax.semantics.events.events import LibraryCall, LoopCopy


@rule("JAX415", "warning", settle=report_compilations)
def growing_array_in_loop(event: LoopCopy | LibraryCall) -> Report | None:
    """A loop outside tracing makes an array longer, or changes a few of its elements, in every iteration.

    The rule is on only with `--preview`: of 10 findings in public repositories, 5 were worth a change. The other
    findings were loops with few iterations, or small arrays that a program fills once.

    The rule also reports a cache that a model makes longer in each call, such as
    `jnp.concatenate([cache["k"], k], axis=1)`, even if jaxlint sees no loop. jaxlint knows such a cache by its name. It also
    reports `sum(errors)` beside `errors.append(error)`, which adds up all elements again for each new one, and a sum in traced
    code over a list that its name shows to be a history (`sum(state["error_history"])`).

    ## Why is this bad?

    JAX arrays are immutable, so outside `jit` each `jnp.append`, `jnp.concatenate` and `x.at[i].set(v)` copies the
    whole array. A growing array also has a new shape in every iteration, and JAX compiles each operation for each
    shape. In a measurement, 200 calls of `jnp.append` took 12.5 s in the first run, but 200 calls of `list.append`
    took 0.3 ms.

    Collect the parts in a list and stack the list once after the loop. To change elements of an array, use a NumPy
    array, or update the JAX array in a jitted function that donates it.

    ## Example

    ```python
    import jax.numpy as jnp


    def discounted(rewards, gamma=0.99):
        total, out = 0.0, jnp.zeros(0)
        for reward in reversed(rewards):
            total = reward + gamma * total
            out = jnp.append(out, total)  # expect: growing-array-in-loop
        return out[::-1]


    def mosaic(tiles, columns, side=28):
        canvas = jnp.zeros((len(tiles) // columns * side, columns * side))
        for k, tile in enumerate(tiles):
            y, x = divmod(k, columns)
            canvas = canvas.at[y * side : (y + 1) * side, x * side : (x + 1) * side].set(tile)  # expect: growing-array-in-loop
        return canvas


    def demonstrate():
        import jax

        compiled = []

        def listen(event, seconds, **details):
            if event.endswith("backend_compile_duration"):
                compiled.append(event)

        assert mosaic([jnp.ones((28, 28))] * 20, 5).sum() == 20 * 28 * 28
        discounted([1.0] * 3)
        jax.monitoring.register_event_duration_secs_listener(listen)
        discounted([1.0] * 23)
        assert len(compiled) >= 20
    ```

    ## Use instead

    ```python
    import jax.numpy as jnp
    import numpy as np


    def discounted(rewards, gamma=0.99):
        total, out = 0.0, []
        for reward in reversed(rewards):
            total = reward + gamma * total
            out.append(total)
        return jnp.array(out[::-1])


    def mosaic(tiles, columns, side=28):
        canvas = np.zeros((len(tiles) // columns * side, columns * side))
        for k, tile in enumerate(tiles):
            y, x = divmod(k, columns)
            canvas[y * side : (y + 1) * side, x * side : (x + 1) * side] = tile
        return jnp.asarray(canvas)
    ```

    ## Not reported

    jaxlint does not report an update in a jitted function that donates the array, because XLA then writes into the
    same memory. It does not report a loop that is known to have fewer than 16 iterations, because such a loop costs
    little. It does not report an array that each iteration makes from scratch, because this array does not grow from
    one iteration to the next.

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, donate_argnames="buffer")
    def store(buffer, i, row):
        return buffer.at[i].set(row)


    def fill(rows):
        buffer = jnp.zeros((len(rows), 3))
        for i, row in enumerate(rows):
            pair = jnp.concatenate([row, -row])
            buffer = store(buffer, i, pair[:3])
        return buffer


    def powers(x):
        features = x
        for power in range(2, 5):
            features = jnp.concatenate([features, x**power])
        return features
    ```

    ## Limitations

    If no code of the project calls the function with the loop, the users of a library may jit the function. The rule then
    reports the loop only if it goes over data, or if a model gets the growing array in each iteration, as in a loop that
    generates text. The rule does not know how large the array is. It also reports arrays that are cheap to copy because
    they are small.

    ## Fix safety

    No fix. The author has to decide which parts the loop collects, and where the code stacks them.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if JAX compiles the reported operation
    again for a new length, or if this operation runs at least 16 times outside tracing.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX407 (`varying-shape-in-loop`), JAX106 (`data-dependent-shape`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/buffer_donation.html>
    """
    if isinstance(event, LibraryCall):
        return _report_sum(event) if event.name == "builtins.sum" else _report_cache(event)
    context = event.context
    if context.staged or context.presumed or is_test(context):
        return None
    subject = quote(context, event.at, "this")
    if event.how == "updated":
        message = (
            f"{subject} copies the whole array in every iteration, because JAX arrays are immutable; fill a NumPy array, "
            "or jit the loop"
        )
    elif event.how == "listed":
        message = (
            f"{subject} converts a list that grows in every iteration, so JAX compiles for each length; "
            "convert it once after the loop"
        )
    else:
        advice = "collect the parts in a list and join them after the loop"
        if event.fed:
            advice = "pad the array to its final length before the loop"
        message = f"{subject} makes a longer array in every iteration, so JAX compiles for each length; {advice}"
    return Report(event.at, message, unless=event.unless, preview=True)


_JOINING = frozenset({"jax.numpy.concatenate", "jax.numpy.hstack", "jax.numpy.vstack"})
_CACHE = re.compile(r"(^|_)(kv|k|v|key|value|keys|values)?_?cache(d)?(_|$)|^past(_|$)")


def _report_cache(event: LibraryCall) -> Report | None:
    """``jnp.concatenate([cache["k"], k], axis=1)``: the cache of a model that generates text grows at each token."""
    if event.name not in _JOINING or not event.at.args or is_test(event.context):
        return None
    parts = event.at.args[0].value
    if not isinstance(parts, (ir.List, ir.Tuple)) or len(parts.elts) != _PAIR or not _is_cache(parts.elts[0]):
        return None
    problem = (
        f"{quote(event.context, event.at, 'this')} makes a cache longer in each call, so JAX compiles for each length"
    )
    advice = "allocate the whole cache and fill it with jax.lax.dynamic_update_slice"
    return Report(event.at, f"{problem}; {advice}", "info", preview=True)


_PAIR = 2
"""The cache, and what is new."""


def _is_cache(node: ir.Expr) -> bool:
    """``k_cache``, ``cache["k"]``, ``self.cache.k``, ``past_key``."""
    if not isinstance(node, (ir.Name, ir.Attribute, ir.Subscript)) or any(isinstance(n, ir.Slice) for n in walk(node)):
        return False  # ``cache[:, 1:]``: a window, which keeps its length
    names = [
        part.attr if isinstance(part, ir.Attribute) else part.id
        for part in walk(node)
        if isinstance(part, (ir.Attribute, ir.Name))
    ]
    return any(map(_CACHE.search, names))


def _report_sum(event: LibraryCall) -> Report | None:
    """``sum(self.errors)`` beside ``self.errors.append(error)``, in each step: the sum of all steps so far."""
    history = event.args[0] if event.args else None
    if is_test(event.context) or history is None or len(event.at.args) != 1:
        return None
    given = event.at.args[0].value
    path = _path_with_keys(given)
    if not path or isinstance(history, (Array, HostArray)):
        return None
    holds = isinstance(history, ListValue) and any(isinstance(value, Array) for value in history.slots.values())
    appends = _is_appended_to(event, path)
    if not (holds and appends) and not _is_presumed_history(event, given, appends=appends):
        return None
    name = quote(event.context, event.at.args[0].value, "the list")
    problem = f"`sum` adds up all of {name} again for each new element, one operation for each element so far"
    return Report(event.at, f"{problem}; keep a running sum in a variable", "info", preview=True)


def _is_appended_to(event: LibraryCall, path: str) -> bool:
    """The loop around appends to the list, or the function does, if the list is a field of an object."""
    context = event.context
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    around: list[ir.Stmt] = body if "." in path else []
    for node in nodes_around(body, event.at.start, event.at.end):
        if isinstance(node, (ir.For, ir.While)):
            around = node.body
    if any(_empties(node, path) for statement in around for node in walk(statement)):
        return False  # each iteration begins a new list
    calls = (node for statement in around for node in walk(statement) if isinstance(node, ir.Call))
    appending = (c.func.value for c in calls if isinstance(c.func, ir.Attribute) and c.func.attr == "append")
    return any(_path_with_keys(value) == path for value in appending)


def _path_with_keys(node: ir.Expr) -> str:
    """``state.errors`` also of ``state["errors"]``."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Constant) and isinstance(node.index.value, str):
        path = _path_with_keys(node.value)
        return f"{path}.{node.index.value}" if path else ""
    if isinstance(node, ir.Attribute):
        path = _path_with_keys(node.value)
        return f"{path}.{node.attr}" if path else ""
    return path_of(node)


_HISTORY = re.compile(r"history|(^|_)(errors|hist|past|trajectory)($|_)")


def _empties(node: object, path: str) -> bool:
    """``errors = []``, ``errors.clear()``."""
    if isinstance(node, ir.Assign):
        return isinstance(node.value, ir.List) and any(path_of(target) == path for target in node.targets)
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Attribute):
        return False
    return node.func.attr == "clear" and path_of(node.func.value) == path


def _is_presumed_history(event: LibraryCall, given: ir.Expr, *, appends: bool) -> bool:
    """What is appended is unknown, but the file computes with JAX; or traced code sums what its name says to be a history."""
    context, path = event.context, _path_with_keys(given)
    if context.inner is None or "." not in path or _is_averaged(event):
        return False
    uses_jax = re.search(r"\bjax\b", context.scope.text) is not None
    return (appends and uses_jax) or (context.staged and _HISTORY.search(path.rpartition(".")[2]) is not None)


def _is_averaged(event: LibraryCall) -> bool:
    """``sum(xs) / len(xs)``: most likely once, behind the loop."""
    around = nodes_around(event.context.scope.tree.body, event.at.start, event.at.end)
    return any(isinstance(node, ir.BinOp) and node.op == "/" and node.left is event.at for node in around)
