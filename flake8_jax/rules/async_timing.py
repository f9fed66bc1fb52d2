"""JAX901: see the page of ``async_timing``."""

from __future__ import annotations

import re
from bisect import bisect_right

from flake8_jax.core import ir
from flake8_jax.core.cells import SUFFIX
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._timed_walk import unfinished, without_known
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import (
    all_statements,
    block_before,
    bound_paths,
    names_read,
    nodes_around,
    path_of,
    paths_read,
    statement_at,
)
from flake8_jax.semantics.events.events import FileRead, Timed
from flake8_jax.semantics.events.facts import NO_MEASURE


@rule("JAX901", "warning", fixable="sometimes", settle=without_known)
def async_timing(event: Timed | FileRead) -> Report | list[Report] | None:
    """A timer stops before the timed work is done.

    The finding is a note in four cases:

    - The code says that it times the compilation, the dispatch or a warm-up: the host does most of this work before
      the call returns. jaxlint looks for a word such as `compile` in the line that stops the timer and in the next
      three lines.
    - The code times a thousand JAX calls or more together: JAX queues only some tens of calls, so the error is small.
    - The timed function runs single operations in a loop, without `jit`: Python then takes most of the time.
    - The timed call is the first one of a jitted function: the compilation takes most of the time (JAX902).

    The rule also reports a context manager that reads the clock when its block starts and ends (`with timer(): …`), if
    the block ends before the work in it is done. And it reports a call of `jax.profiler.stop_trace` before the profiled
    work is done.

    With `--preview`, the rule also reports a timer around a training loop in which the host also waits for data
    (`for x in loader`). Only a small part of the device's work is unfinished when such a loop ends, so this finding is
    a note.

    With `--preview`, the rule also reports a timer that starts while a call for warming up is still running: `_ = step(x)`
    just before the timer starts, without a wait for its result, as in `measure` below. The timer then measures the rest of
    that call, too.

    With `--preview`, the rule also reports `%timeit f(x)` and `%time f(x)` in a notebook if nothing waits for the
    result, and cells that begin with `%%timeit` or `%%time`. For `%timeit`, the finding is a note, because `%timeit`
    calls the function many times.

    With `--preview`, the rule also reads each function by itself, without the values that it gets. As a note, it reports a
    timer that stops right after a call of a parameter (`fn(*args)`), of a step by its name (`train_step(state, batch)`),
    of a function whose result the code reads after the timer stops (`loss.item()`), or
    of a function of the file that computes with JAX, if nothing in the timed code reads a result. The timer can be an object
    with the methods `start` and `stop`, a `with` block (`with Timer():`), or `timeit.timeit(lambda: f(x))`.

    ## Why is this bad?

    A JAX call returns as soon as the work is queued on the device, and Python continues. If the code reads the clock
    then, it measures the dispatch, which takes microseconds for any amount of work. Call `jax.block_until_ready` on the
    result, or read the result on the host, before you stop the timer. `jax.effects_barrier()` does not wait for results,
    only for effects such as those of `jax.debug.print`.

    ## Example

    ```python
    import time

    import jax
    import jax.numpy as jnp


    @jax.jit
    def chain(x):
        for _ in range(6):
            x = x @ x
            x = x / jnp.max(jnp.abs(x))
        return x


    def benchmark(x):
        chain(x).block_until_ready()
        start = time.perf_counter()
        y = chain(x)
        elapsed = time.perf_counter() - start  # expect: async-timing
        return y, elapsed


    def demonstrate():
        x = jnp.eye(1000) + 0.01
        dispatched = []
        waited = []
        for _ in range(3):
            start = time.perf_counter()
            y, elapsed = benchmark(x)
            dispatched.append(elapsed)
            start = time.perf_counter()
            jax.block_until_ready(y)
            waited.append(time.perf_counter() - start)
        assert min(dispatched) < 0.5 * min(waited)
    ```

    ```python
    import time

    import jax
    import jax.numpy as jnp


    @jax.jit
    def chain(x):
        for _ in range(6):
            x = x @ x
            x = x / jnp.max(jnp.abs(x))
        return x


    def measure(x):
        _ = chain(x)
        start = time.perf_counter()  # expect: async-timing
        jax.block_until_ready(chain(x))
        return time.perf_counter() - start


    def demonstrate():
        x = jnp.eye(1000) + 0.01
        measure(x)
        alone = []
        for _ in range(3):
            start = time.perf_counter()
            jax.block_until_ready(chain(x))
            alone.append(time.perf_counter() - start)
        assert max(measure(x) for _ in range(3)) > 1.2 * min(alone)
    ```

    ## Use instead

    ```python
    import time

    import jax


    @jax.jit
    def chain(x):
        return x @ x @ x


    def benchmark(x):
        chain(x).block_until_ready()
        start = time.perf_counter()
        y = jax.block_until_ready(chain(x))
        elapsed = time.perf_counter() - start
        return y, elapsed
    ```

    ## Not reported

    jaxlint does not report a timer that stops after the code has read the result on the host (`float(loss)`), because
    the result is ready then. It does not report a time that no code reads.

    ```python
    import time

    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return w - 0.05 * x.T @ (x @ w), jnp.mean((x @ w) ** 2)


    def fit(w, batches):
        start = time.time()
        losses = []
        for x in batches:
            w, loss = train_step(w, x)
            losses.append(loss)
        mean = np.mean([float(loss) for loss in losses])
        print(f"loss {mean:.3f} in {time.time() - start:.1f} s")
        return w
    ```

    ## Limitations

    The rule does not know how long the timed work takes, so it also reports work that takes almost no time.
    It does not see cells that begin with `%%time` or `%%timeit`.

    ## Fix safety

    Unsafe. jaxlint adds `jax.block_until_ready` before the timer stops, or around a call whose result is not used. The
    measured time then includes the computation. If other timers of the same function stop too early as well, the fix
    adds the call for all of them, because such times are often compared. If it cannot, jaxlint offers no fix.

    jaxlint also offers no fix if a function of the project that the timed code calls already waits for results (its code
    contains `block_until_ready` or `device_get`). It also offers no fix if the code uses the time only under a
    condition (`if return_time:`), because runs in which this condition is False need not wait. There is no fix either
    if the name of the time or the text that shows it mentions compilation, which ends before the call returns.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX is still computing an array when
    the timer stops.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX902 (`timing-compile`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/async_dispatch.html>
    """
    if isinstance(event, FileRead):
        return unfinished(event)
    context = event.context
    if context.staged or context.presumed:
        return None
    if event.pending is None:
        return _of_warm_up(event)
    if event.magic:
        return _of_magic(event, event.pending)
    if _is_never_read(event):
        return None
    subject = quote(context, event.pending, f"`{event.what}`" if event.what else "the result")
    if event.pending.start < event.at.start:
        starts = context.scope.tree.line_starts
        row, at = bisect_right(starts, event.pending.start), bisect_right(starts, event.at.start)
        subject += f" (line {row})" if at - row > _NEAR else ""
    clock = quote(context, event.at)
    called = clock.partition("(")[0].rpartition(".")[2].strip("`").lower()
    clock += "" if _CLOCK.search(called) else ", which reads the clock,"
    # A block ends where it is left: the wait belongs into it.
    verb, when = ("end", "at its end") if _opens_block(event) else ("run", "first")
    advice = f"call jax.block_until_ready {when}"
    if _is_of_compiling(event):
        advice += ", or time only .lower(…).compile()"
    return Report(
        event.at,
        f"{clock} may {verb} before {subject} is ready, because JAX is asynchronous; {advice}",
        "info" if _is_shown(event) or _is_of_compiling(event) or _is_slight(event) else None,
        preview=event.fed,
        unless=NO_MEASURE,
    )


def _of_warm_up(event: Timed) -> Report | None:
    """``step(x)`` just before the timer starts, which then waits for it as well."""
    context, timed, started = event.context, event.settled, event.started
    if not isinstance(timed, ir.Call) or started is None or started.scope is not context.scope:
        return None
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    read: set[str] = set()
    for statement in reversed(block_before(body, started)):
        call = statement.value if isinstance(statement, (ir.Assign, ir.ExprStmt)) else None
        if isinstance(call, ir.Call) and path_of(call.func) == path_of(timed.func) != "":
            if bound_paths(statement) & read:
                return None
            quoted = quote(context, call)
            clock = context.scope.text[started.start : started.end]
            message = (
                f"`{clock}` starts the timer before {quoted}{_row_of(event, call)} is ready, because JAX is asynchronous, so "
                "it measures the rest of that call, too; call jax.block_until_ready first"
            )
            return Report(started, message, preview=True)
        if not isinstance(call, ir.Call) or path_of(call.func) != "print":
            return None
        read |= paths_read(statement)
    return None


def _row_of(event: Timed, node: ir.Node) -> str:
    return f" (line {bisect_right(event.context.scope.tree.line_starts, node.start)})"


_TRACING = re.compile(r"\b(?:make_jaxpr|eval_shape|lower|trace)\b")


def _of_magic(event: Timed, pending: ir.Node) -> Report | None:
    """``%timeit f(x)``, ``%time f(x)``."""
    if _is_of_compiling(event) or _TRACING.search(event.context.scope.text[pending.start : pending.end]):
        return None
    work = quote(event.context, pending, "the result")
    return Report(
        event.at,
        f"`{event.magic}` may stop before {work} is ready, because JAX is asynchronous; "
        "call jax.block_until_ready on the result",
        "info" if event.magic.endswith("timeit") or _is_shown(event) else None,
        preview=True,
    )


def _is_never_read(event: Timed) -> bool:
    """A function, or a notebook, does nothing with the time, nor with what it computes of it: ``elapsed = time.time() - start``
    whose print is commented out. Another file may import a variable of a module."""
    context = event.context
    if context.inner is None and not context.scope.path.endswith(SUFFIX):
        return False
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    if any(isinstance(n, ir.Call) and path_of(n.func) in _ALL for s in body for n in walk(s)):
        return False
    assigned = [statement for statement in all_statements(body) if isinstance(statement, ir.Assign)]
    plain = [(statement, targets) for statement in assigned if (targets := _plain_targets(statement))]
    names = _plain_targets(statement_at(body, event.at))
    carriers: list[ir.Assign] = []
    for statement, targets in plain:
        if statement.start > event.at.start and not names_read(statement.value).isdisjoint(names):
            carriers.append(statement)
            names |= targets
    bindings = sum(len(statement.targets) for statement, targets in plain if targets & names)
    carried = sum(_count(statement.value, names) for statement in carriers)
    return bool(names) and sum(_count(statement, names) for statement in body) == bindings + carried


_ALL = frozenset({"locals", "globals", "vars"})
"""Functions that read all variables."""


def _plain_targets(statement: ir.Stmt | None) -> set[str]:
    """The variables that a statement binds, if it binds nothing else."""
    if not isinstance(statement, ir.Assign):
        return set()
    names = {target.id for target in statement.targets if isinstance(target, ir.Name)}
    return names if len(names) == len(statement.targets) else set()


def _count(node: ir.Node, names: set[str]) -> int:
    """How often the variables occur in a subtree, functions and classes included."""
    found = 0
    for inner in walk(node):
        if isinstance(inner, ir.Name):
            found += inner.id in names
        elif isinstance(inner, (ir.Global, ir.Nonlocal)):
            found += not names.isdisjoint(inner.names)
    return found


_NEAR = 3
"""A reader of a finding sees this many lines above it."""
_CLOCK = re.compile(r"time|clock|counter|now|monotonic|elapsed|tic|toc|stop_trace")
"""What shows in the name of a function that it reads the clock."""


def _opens_block(event: Timed) -> bool:
    """``with timer():`` is where a block is timed that is left further below."""
    start, end = event.at.start, event.at.end
    around = nodes_around(event.context.scope.tree.body, start, end)
    items = (item.context for node in around if isinstance(node, ir.With) for item in node.items)
    return any(item.start <= start and end <= item.end for item in items)


def _is_slight(event: Timed) -> bool:
    """What is still running takes little of the time: the runtime lets some tens of computations queue up at most
    (``max_inflight_computations`` is 32 in XLA's ``LocalDeviceState``), and of a loop that dispatches one small operation
    after the other Python takes most of the time (measured in four unseen programs)."""
    return event.dispatches >= _MANY or event.stepwise or event.fed or _is_first_call(event)


def _is_first_call(event: Timed) -> bool:
    """What is still running is a call that compiles: the compilation, for which the call waits, takes most of the time."""
    if event.dispatches != 1 or event.pending is None:
        return False
    scope, pending = event.context.scope, event.pending
    return any(c.scope is scope and pending.start <= c.at.start and c.at.end <= pending.end for c in event.cold)


_MANY = 1000


def _is_shown(event: Timed) -> bool:
    """A notebook measures without waiting, and in one of the next cells with: to show the difference."""
    scope, start = event.context.scope, event.at.start
    if not scope.path.endswith(SUFFIX):
        return False
    cell, ends = scope.cell_of(start), [*scope.cells, len(scope.text)]
    following = scope.text[ends[min(cell, len(ends) - 1)] : ends[min(cell + _NEXT, len(ends) - 1)]]
    here = scope.text[ends[max(cell - 1, 0)] : ends[min(cell, len(ends) - 1)]]
    return "block_until_ready" in following and "block_until_ready" not in here


def _is_of_compiling(event: Timed) -> bool:
    """What is timed is said to be the compilation, the dispatch or a warm-up: the host does most of that itself before the
    call returns."""
    text, start = event.context.scope.text, event.at.start
    lines = text[text.rfind("\n", 0, start) + 1 :].split("\n", _LABELLED)[:_LABELLED]
    return any(_COMPILING.search(line) for line in lines)


_COMPILING = re.compile(r"compil|dispatch|warm(?:ed|ing|s)?[ _-]?up", re.IGNORECASE)
_LABELLED = 4
"""A time is given out within so many lines."""
_NEXT = 2
"""So many cells further on the difference is shown."""
