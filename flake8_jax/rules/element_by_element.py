"""JAX419: see the page of ``element_by_element``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._elements import first_read, is_brief, read_of_row
from flake8_jax.rules._facts import host_behaviour, is_test
from flake8_jax.rules._tracers import is_array_or_number, quote
from flake8_jax.semantics.domain.values import GRAD, Array, Value, holds_tracer, is_traced_array
from flake8_jax.semantics.events.events import ElementAccess, Iteration, LibraryCall

_FEW = 16
"""So many elements are not worth a thought."""
_INSTEAD = {
    "builtins.all": "jnp.all",
    "builtins.any": "jnp.any",
    "builtins.list": ".tolist()",
    "builtins.max": "jnp.max",
    "builtins.min": "jnp.min",
    "builtins.sorted": "jnp.sort",
    "builtins.sum": "jnp.sum",
}
_OF_SEVERAL = {"builtins.max": "jnp.maximum", "builtins.min": "jnp.minimum"}


@rule("JAX419", "info", only=Subscription(where=frozenset({"eager", "loop", "staged"}), arrays=True))
def element_by_element(event: LibraryCall | Iteration | ElementAccess) -> Report | None:
    """Python goes through the elements of a JAX array one by one: a builtin function such as `max` or `sum`, or a loop.

    The rule reports these calls and loops:

    - Outside tracing, `max`, `sum` or another builtin function goes through the elements of an array.
    - In traced code, `sum` goes through the elements of an array, and JAX compiles an addition for each element.
    - In a function, `max` or `min` compares several values of which one is an array (`max(h, 0.0)`), or a function of `math`
      gets an array. This waits for the device, and raises an error once the function is jitted.

    The rule also reports a loop or comprehension over a one-dimensional array of integers, such as
    `[rows[i] for i in permutation]`, and loops that bring one element after the other to the host: `int(x[i])`,
    `x[i].item()` or `if x[i] == 3:` in a loop that changes `i`, and the same of `e` in `for e in x`. The rule is on
    only with `--preview`, because the code gives the right result and only takes more time. Of 5 such loops in public
    repositories, all were short or ran once, so none was worth a change.

    ## Why is this bad?

    Python makes a JAX array of each element, and compares or adds these arrays one by one. Each comparison is an
    operation on the device of its own, and Python waits for its result. For 1,000 elements on a CPU with JAX 0.10.2,
    `max(x)` took 15 ms, `sum(x)` 27 ms and `sorted(x)` 410 ms, and `jnp.max(x)` took 0.1 ms.

    An element that serves as an index of a list is copied to the host first: `[rows[i] for i in permutation]` took
    29 ms for 1,000 elements, and 0.05 ms with `np.asarray(permutation)`. `[int(x[i]) for i in range(1000)]`
    took more than 100 ms, and 0.1 ms with `x = np.asarray(x)` before it.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def condition(matrix):
        values = jnp.linalg.eigvalsh(matrix)
        return max(values)  # expect: element-by-element


    def shuffled(key, rows):
        permutation = jax.random.permutation(key, len(rows))
        return [rows[index] for index in permutation]  # expect: element-by-element


    def degrees(senders, count):
        found = [0] * count
        ordered = jnp.sort(senders)
        for i in range(len(senders)):
            found[int(ordered[i])] += 1  # expect: element-by-element
        return found


    def demonstrate():
        assert condition(jnp.eye(40)) == 1
        assert sorted(shuffled(jax.random.key(0), list(range(40)))) == list(range(40))
        assert degrees(jnp.arange(40) % 2, 2) == [20, 20]
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def condition(matrix):
        return jnp.max(jnp.linalg.eigvalsh(matrix))


    def shuffled(key, rows):
        permutation = np.asarray(jax.random.permutation(key, len(rows)))
        return [rows[index] for index in permutation]


    def degrees(senders, count):
        found = [0] * count
        ordered = np.asarray(jnp.sort(senders))
        for i in range(len(senders)):
            found[int(ordered[i])] += 1
        return found
    ```

    ## Not reported

    jaxlint does not report an array that is known to have at most 16 elements, a loop of at most 16 iterations, an array
    of keys, and a loop that computes with the rows of an array or with numbers that are no integers. Of
    traced arrays, see JAX104 (`traced-iteration`).

    ```python
    import jax
    import jax.numpy as jnp


    def draw(key, row):
        return [jax.random.normal(k) for k in jax.random.split(key, 100)], max(row.shape), sum([1.0, row[0]])


    def smallest():
        return min(jnp.ones(3))
    ```

    ## Limitations

    The rule does not know how many elements most arrays have. So it also reports short ones, which cost little.

    ## Fix safety

    No fix. `sum` of an array with several axes adds up its rows, as `jnp.sum(x, axis=0)` does, and the rank of the array
    is not always known.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that it takes depends on the machine and on the length of the
    array.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX104 (`traced-iteration`), JAX206 (`sync-in-loop`), JAX417 (`list-of-arrays`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/async_dispatch.html>
    """
    context = event.context
    if context.presumed or is_test(context):
        return None
    if context.staged:
        return _unrolled(event) if isinstance(event, LibraryCall) else None
    if isinstance(event, Iteration):
        return _iterated(event)
    if isinstance(event, ElementAccess):
        return _accessed(event)
    if context.loop == 0 and not context.loop_ids and context.inner is not None:
        found = _compared(event) or _converted(event)
        if found is not None:
            return found
    instead = _INSTEAD.get(event.name)
    if instead is None or len(event.args) != 1 or event.kwargs or not event.nodes or not _is_long(event.args[0]):
        return None
    is_flat = isinstance(event.args[0], Array) and event.args[0].ndim == 1
    if event.name == "builtins.list" and not is_flat:
        return None  # of rows
    instead += " with axis=0" if event.name == "builtins.sum" and not is_flat else ""
    function, subject = event.name.rpartition(".")[2], quote(context, event.nodes[0], "the array")
    problem = f"`{function}` goes through the elements of the JAX array {subject} one by one, which is slow"
    return Report(event.at, f"{problem}; use {instead}", preview=True)


def _unrolled(event: LibraryCall) -> Report | None:
    """``sum(errors**2)`` in traced code: one addition for each element."""
    if event.name != "builtins.sum" or len(event.args) != 1 or event.kwargs or None in event.nodes:
        return None
    value = event.args[0]
    if not is_traced_array(value) and not holds_tracer(value, GRAD):
        return None
    if type(value) is not Array or value.declared or value.dtype == "key" or value.ndim == 0:
        return None
    if value.length is not None and value.length <= _FEW:
        return None
    instead = "jnp.sum" if value.ndim == 1 else "jnp.sum with axis=0"
    subject = quote(event.context, event.nodes[0], "the array")
    problem = f"`sum` adds the elements of the traced array {subject} one by one, so JAX compiles an addition for each"
    return Report(event.at, f"{problem}; use {instead}", preview=True)


def _compared(event: LibraryCall) -> Report | None:
    """``max(h, 0.0)`` in a function; in loops, JAX206 knows whether the result is a new one in each iteration."""
    instead = _OF_SEVERAL.get(event.name)
    if instead is None or len(event.args) == 1 or event.kwargs or None in event.nodes:
        return None
    if not any(is_array_or_number(value) and not holds_tracer(value, GRAD) for value in event.args):
        return None
    function = event.name.rpartition(".")[2]
    problem = f"`{function}` compares JAX arrays in Python, so it waits for the device, and raises an error under jit"
    return Report(event.at, f"{problem}; use {instead}", preview=True)


def _converted(event: LibraryCall) -> Report | None:
    """``math.sqrt(x)``."""
    equivalent = event.fact.equivalent if event.fact is not None else None
    if not event.name.startswith("math.") or not equivalent or host_behaviour(event) != "converts":
        return None
    if not any(is_array_or_number(value) and not holds_tracer(value, GRAD) for value in event.args):
        return None
    problem = f"`{event.name}` needs a Python number, so it waits for the device, and raises an error under jit"
    return Report(event.at, f"{problem}; use {equivalent.replace('jax.numpy', 'jnp')}", preview=True)


def _is_untraced(value: Value) -> bool:
    return type(value) is Array and value.level < GRAD and not value.declared and value.dtype != "key"


def _iterated(event: Iteration) -> Report | None:
    """``for index in permutation``."""
    value = event.value
    if event.how not in _LOOPING or not _is_long(value) or not isinstance(value, Array):
        return None
    subject = quote(event.context, event.at, "the array")
    if not _is_short(event) and (read := read_of_row(event.context.scope, event.at)) is not None:
        return _report_read(event, read, subject)
    if event.how == "zip" or value.dtype != "int" or value.ndim != 1:
        return None
    problem = f"Python makes a JAX array of each element of {subject}, which is slow"
    return Report(event.at, f"{problem}; convert the whole array with np.asarray first", preview=True)


_LOOPING = frozenset({"for", "comprehension", "zip", "enumerate"})


def _accessed(event: ElementAccess) -> Report | None:
    """``int(x[i])``, ``if x[i] == 3`` in a loop that binds ``i``."""
    is_long = _is_long(event.base) and not _is_short(event) and not is_brief(event.loop, _FEW)
    read = first_read(event.context.scope, event.at, event.loop) if is_long else None
    return None if read is None else _report_read(event, read, quote(event.context, event.at.value, "the array"))


def _is_short(event: Iteration | ElementAccess) -> bool:
    """The loop has few iterations."""
    return 0 < event.context.iterations <= _FEW


def _report_read(event: Iteration | ElementAccess, read: ir.Node, subject: str) -> Report:
    what = quote(event.context, read, "the code")
    problem = f"{what} brings one element of the JAX array {subject} to the host in each iteration, which is slow"
    return Report(read, f"{problem}; convert the whole array with np.asarray before the loop", preview=True)


def _is_long(value: Value) -> bool:
    """An array of the device for sure, not known to be short."""
    if not isinstance(value, Array) or not _is_untraced(value) or value.ndim == 0:
        return False
    return value.length is None or value.length > _FEW
