"""JAX509: see the page of ``discarded_result``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._keys import row_of
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import blocks, last_name, nodes_around
from flake8_jax.semantics.domain.values import Array, Site, Tree, UnionValue, Value
from flake8_jax.semantics.events.events import ARITHMETIC, Context, Discarded, MethodCall, RootMet

_MODULES = frozenset(
    {
        *(
            "jax.numpy",
            "jax.numpy.fft",
            "jax.numpy.linalg",
            "jax.lax",
            "jax.lax.linalg",
            "jax.nn",
            "jax.nn.initializers",
        ),
        *("jax.image", "jax.ops"),
    }
)
_SCIPY = "jax.scipy."


@rule("JAX509", "warning")
def discarded_result(event: Discarded | MethodCall | RootMet) -> Report | None:
    """A statement calls a function without side effects, or computes a value, and does not use the result.

    The finding is a note in tests, where a call may only have to run without an error. It is also a note
    for a reduction such as `x.max()`, and for a statement outside functions, because the author may have looked at the
    value in a notebook or debugger.

    With `--preview`, the rule also reports statements such as `jax.device_put(x, device)` and `jax.jit(step)`: they return a
    new array or function, and leave `x` and `step` as they are.

    ## Why is this bad?

    Functions of `jax.numpy` and `jax.lax` and methods of JAX arrays change nothing in place, unlike NumPy's `x.sort()`
    or PyTorch's `x.clamp_()`. A statement that drops their result does nothing. Likewise, `fast = jax.jit(f)` does not
    change `f`: code that then calls `f` instead of `fast` runs without jit. Functions such as `jax.debug_nans(True)` and
    `jax.disable_jit()` return a context manager, which has no effect until a `with` statement enters it. To change an
    option of JAX for the whole program, call `jax.config.update`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def project(w):
        jnp.clip(w, -1.0, 1.0)  # expect: discarded-result
        w.sort()  # expect: discarded-result
        jnp.dot(w, w) + 1.0  # expect: discarded-result
        return w


    def relu(x):
        return jnp.maximum(x, 0.0)


    def measure(x):
        relu_jit = jax.jit(relu)  # expect: discarded-result
        return relu(x)


    def draw(seed):
        jax.threefry_partitionable(False)  # expect: discarded-result
        return jax.random.normal(jax.random.key(seed), (4,))


    def demonstrate():
        w = jnp.array([5.0, -5.0])
        assert jnp.array_equal(project(w), w)
        measure(w)
        with jax.threefry_partitionable(False):
            wanted = jax.random.normal(jax.random.key(0), (4,))
        assert not jnp.array_equal(draw(0), wanted)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def project(w):
        return jnp.sort(jnp.clip(w, -1.0, 1.0))


    def draw(seed):
        with jax.threefry_partitionable(False):
            return jax.random.normal(jax.random.key(seed), (4,))
    ```

    ## Not reported

    jaxlint does not report a statement that calls a function with side effects, or a method of a list or of a NumPy
    array (`items.sort()`), because these change something. It does not report a call in `try … except` or in
    `with pytest.raises(…)`, because the code only needs to know whether the call raises an error.

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

    ## Limitations

    The rule misses a result that the code assigns to a name but never reads, with one exception: it reports a jitted
    function (`fast = jax.jit(f)`) whose name no code reads, if the code calls `f` afterwards.

    ## Fix safety

    No fix. Only the author knows whether to assign the result or to remove the statement.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the statement runs, because
    the source code shows that the program drops the result.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX505 (`array-item-assignment`), JAX506 (`discarded-update`), JAX512 (`lost-training-result`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#in-place-updates>
    """
    context = event.context
    if context.presumed or context.caught:
        return None
    if isinstance(event, RootMet):
        return _unused_jit(event)
    if isinstance(event, MethodCall):
        return _of_method(event)
    return _of_manager(event) if event.manager else _of_operation(event)


def _of_method(event: MethodCall) -> Report | None:
    """``x.sort()``."""
    if event.used or event.fact is None or not event.fact.pure or not _is_array(event.value, event.method):
        return None
    owner = event.at.func.value if isinstance(event.at.func, ir.Attribute) else None
    array = quote(event.context, owner, "the array")
    message = (
        f"Nothing uses the result of .{event.method}(), which does not modify {array}; assign it or remove this line"
    )
    return Report(event.at, message, "info" if _looks(event.method, event.context) else None)


def _of_manager(event: Discarded) -> Report | None:
    """``jax.debug_nans(True)``."""
    if not event.call_name.startswith(_LAZY) or event.call_name in _SETTERS:
        return None
    subject = quote(event.context, event.at, event.call_name)
    is_option = event.call_name.count(".") == 1 and event.call_name.startswith("jax.")
    other = ", or set the option with jax.config.update" if is_option and event.call_name not in _NO_OPTIONS else ""
    message = (
        f"{subject} has no effect, because it only creates a context manager and nothing enters it; use `with`{other}"
    )
    return Report(event.at, message, "info" if is_test(event.context) else None)


_LAZY = ("jax.", "flax.", "haiku.")
"""Libraries whose context managers do nothing before the code enters them (run on JAX 0.4.28 and 0.10.2, Flax 0.12.8 and Haiku
0.0.17). ``chex.fake_jit()`` replaces ``jax.jit`` at once."""
_SETTERS = frozenset({"jax.set_mesh", "jax.sharding.set_mesh"})
"""They change the mesh even if no code enters them."""
_NO_OPTIONS = frozenset({"jax.named_scope", "jax.ensure_compile_time_eval"})


def _of_operation(event: Discarded) -> Report | None:
    """``jnp.clip(x, 0, 1)``, ``x - y``."""
    context, name = event.context, event.call_name.rpartition(".")[2]
    if event.call_name in _PLACING | _TRANSFORMING:
        return _without_effect(event)
    if not _is_pure(event) or name in _CHECKING or _is_shown(event):
        return None
    subject = quote(context, event.at, event.call_name)
    if not context.staged and _is_timed(event):
        waited = "JAX is asynchronous and nothing waits for it"
        message = f"The timer measures only the start of {subject}, because {waited}; pass the result to jax.block_until_ready"
        return Report(event.at, message, "info" if is_test(context) else None)
    keep = "assert that it is true" if name in _TESTING or isinstance(event.at, ir.Compare) else "assign it"
    message = f"{subject} returns a result and changes nothing, but nothing uses the result; {keep} or remove this line"
    return Report(event.at, message, "info" if is_test(context) or _looks(name, context) else None)


_PLACING = frozenset(
    {"jax.device_put", "jax.device_put_replicated", "jax.device_put_sharded", "jax.lax.with_sharding_constraint"}
)
_TRANSFORMING = frozenset({"jax.jit", "jax.pmap", "jax.vmap", "jax.grad", "jax.value_and_grad", "jax.checkpoint"})


def _without_effect(event: Discarded) -> Report | None:
    """``jax.device_put(x, device)``, ``jax.jit(step)``: what was given stays as it is."""
    call = event.at
    if not isinstance(call, ir.Call) or not call.args or call.args[0].star or is_test(event.context):
        return None
    if any(argument.keyword == "donate" for argument in call.args) or _is_shown(event) or _is_timed(event):
        return None
    given = call.args[0].value
    if not isinstance(given, (ir.Name, ir.Attribute)):
        return None
    made = "a new function" if event.call_name in _TRANSFORMING else "a new array"
    subject, first = quote(event.context, call, event.call_name), quote(event.context, given, "its argument")
    problem = f"{subject} returns {made} and does not change {first}, but nothing uses the result"
    return Report(call, f"{problem}; assign it or remove this line", preview=True)


def _is_pure(event: Discarded) -> bool:
    """Arithmetic on an array, or a function of JAX without side effects."""
    if event.call_name == ARITHMETIC:
        return isinstance(event.value, Array) and not event.value.declared
    is_of_jax = event.call_name.rpartition(".")[0] in _MODULES or event.call_name.startswith(_SCIPY)
    return event.pure and is_of_jax


def _is_shown(event: Discarded) -> bool:
    """A call on literals outside of functions, or in a cell: shown for what it does, or does not, with such numbers; or the
    first computation, which starts JAX."""
    context = event.context
    literal = isinstance(event.at, ir.Call) and all(_is_literal(a.value) for a in event.at.args)
    return literal and (bool(context.scope.cells) or context.inner is None)


def _looks(name: str, context: Context) -> bool:
    """The line shows a value to someone, rather than being meant to change one.

    Readers of unseen repositories found 11 of 12 statements that look like an update in place worth a minute, and none of 11
    reductions and lines of scripts and cells.
    """
    if name in _IN_PLACE:
        return False
    return name in _REDUCTIONS or context.inner is None


def _is_timed(event: Discarded) -> bool:
    """A block of the function around the call reads a clock before and after it."""
    scope, at = event.context.scope, event.at
    around = list(nodes_around(scope.tree.body, at.start, at.end))
    own = next((node for node in reversed(around) if isinstance(node, ir.FunctionDef)), None)
    body = own.function.body if own is not None else scope.tree.body
    calls = [node for statement in body for node in walk(statement) if isinstance(node, ir.Call)]
    clocks = [call.start for call in calls if last_name(call.func) in _CLOCKS]
    return bool(clocks) and min(clocks) < at.start < max(clocks)


_CLOCKS = frozenset({"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"})


def _unused_jit(event: RootMet) -> Report | None:
    """``fast = jax.jit(f)``, where nothing reads ``fast``, but ``f`` itself is called after it."""
    scope, call = event.context.scope, event.at
    if event.name not in _JITS or scope.cells or not isinstance(call, ir.Call) or not call.args:
        return None
    operand = call.args[0].value
    inner = event.context.inner
    body = scope.tree.body if inner is None else inner.body
    statement = next((s for s in _statements(body) if isinstance(s, ir.Assign) and s.value is call), None)
    target = statement.targets[0] if statement is not None and len(statement.targets) == 1 else None
    if not isinstance(target, ir.Name) or not isinstance(operand, ir.Name):
        return None
    if len(re.findall(rf"\b{re.escape(target.id)}\b", scope.text)) > 1:
        return None
    plain = next((c for c in _calls_behind(body, call.end) if _is_named(c.func, operand.id)), None)
    if plain is None:
        return None
    row = row_of(Site(scope, plain.start, plain.end))
    message = f"`{target.id}` is never used, so line {row} calls `{operand.id}` without jit; call `{target.id}` there"
    return Report(call, message)


def _statements(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a function or module, without those of functions in it."""
    for statement in body:
        yield statement
        yield from _statements(blocks(statement))


def _calls_behind(body: list[ir.Stmt], end: int) -> Iterator[ir.Call]:
    own = (s for s in _statements(body) if s.start > end and isinstance(s, (ir.Assign, ir.ExprStmt, ir.Return)))
    nodes = (node for s in own if s.value is not None for node in walk(s.value))
    return iter(sorted((n for n in nodes if isinstance(n, ir.Call)), key=lambda node: node.start))


def _is_named(node: ir.Expr, name: str) -> bool:
    return isinstance(node, ir.Name) and node.id == name


_JITS = frozenset({"jax.jit", "equinox.filter_jit"})
_IN_PLACE = frozenset({"sort", "fill", "index_update", "index_add", "fill_diagonal", "put", "place"})
"""Functions and methods that NumPy or an old JAX has under this name to change an array."""
_REDUCTIONS = frozenset(
    {
        *("all", "any", "argmax", "argmin", "average", "max", "mean", "median", "min", "norm", "prod", "ptp", "std"),
        *("sum", "trace", "var"),
    }
)
_TESTING = frozenset({"all", "allclose", "any", "array_equal", "array_equiv", "isclose", "isfinite"})
_CHECKING = frozenset({"broadcast_shapes", "result_type", "promote_types"})
"""They raise where shapes or dtypes do not fit, which may be what they are called for."""


def _is_array(value: Value, method: str) -> bool:
    """An array for sure, or a traced argument of which a method is called that arrays have and dicts have not."""
    if isinstance(value, UnionValue):
        return all(_is_array(member, method) for member in value.members)
    return isinstance(value, Array) or (isinstance(value, Tree) and method != "copy")


def _is_literal(node: ir.Expr) -> bool:
    return all(isinstance(part, (ir.Constant, ir.Tuple, ir.List, ir.UnaryOp)) for part in walk(node))
