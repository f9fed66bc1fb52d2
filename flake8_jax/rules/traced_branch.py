"""JAX101: see the page of ``traced_branch``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import is_reportable_in_method, quote
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.tracer_tests import is_known_tracer
from flake8_jax.semantics.domain.values import Array, Const, Static, Value, is_traced_array
from flake8_jax.semantics.events.events import TruthTest

_SELECT = "use jnp.where or jax.lax.cond"
_ADVICE = {
    "if": ("`if`", _SELECT),
    "elif": ("`elif`", _SELECT),
    "ternary": ("a conditional expression", _SELECT),
    "assert": ("`assert`", "use checkify.check of jax.experimental"),
    "and": ("`and`", "use jnp.logical_and or `&`"),
    "or": ("`or`", "use jnp.logical_or, `|` or jnp.where"),
    "not": ("`not`", "use jnp.logical_not or `~`"),
    "comprehension": ("a comprehension's `if`", "select with jnp.where"),
    "match": ("`match`", "use jax.lax.switch"),
    "case": ("a `case` guard", "use jax.lax.switch"),
    "in": ("`in`", "use jnp.isin or `(x == a) | (x == b)`"),
    "compare": ("a chained comparison", "join comparisons with `&`"),
    "filter": ("`filter`", "select with jnp.where"),
}
"""What asks for the truth, and what does the same on tracers."""


@rule("JAX101", "error", fixable="sometimes", raises="tracer error", only=Subscription(presumed=True))
def traced_branch(event: TruthTest) -> Report | None:
    """Python tests the truth value of a tracer.

    With `--preview`, the rule also reports functions that the project does not trace but its users probably will.
    These are losses, activations and densities that no code of the project calls, and methods of classes that are
    registered as pytrees and hold arrays. jaxlint recognizes losses, activations and densities by the name of the
    function (`mse_loss`, `gelu`, `log_prob`) or of its module (`losses.py`). In these functions and methods, it does
    not report a test that only checks an argument (`if n <= 0: raise …`).

    With `--preview`, the rule reports a test of a value that depends on the argument by which `jax.grad` differentiates,
    even if no `jit` compiles the code. This finding is a note: the test works, but it waits for the device each time,
    and it raises an error once the code is compiled.

    ## Why is this bad?

    While JAX traces a function, its arrays are tracers: they have a shape and a dtype, but no value. Python calls
    `bool()` on the condition of an `if`, a conditional expression, an `assert`, `and`, `or`, `not`, a chained
    comparison (`0 < x < 1`), a `match` or `x in (1, 2)`. If the condition is a tracer, `bool()` raises
    `TracerBoolConversionError`. This also happens in a function without a decorator, if JAX traces one of its callers.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def clip_norm(g, limit):
        norm = jnp.linalg.norm(g)
        if norm > limit:  # expect: traced-branch
            g = g * (limit / norm)
        return g


    @jax.jit
    def step(w, g):
        return w - 0.1 * clip_norm(g, 1.0)


    def demonstrate():
        step(jnp.ones(3), jnp.ones(3))  # raises: TracerBoolConversionError
    ```

    ```python
    import jax
    import jax.numpy as jnp

    LEFT, RIGHT = 0, 1


    @jax.jit
    def move(position, action):
        sideways = action in (LEFT, RIGHT)  # expect: traced-branch
        return position + jnp.where(sideways, 1, 0)


    def demonstrate():
        move(jnp.int32(3), 1)  # raises: TracerBoolConversionError
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def clip_norm(g, limit):
        norm = jnp.linalg.norm(g)
        return jnp.where(norm > limit, g * (limit / norm), g)


    @jax.jit
    def step(w, g):
        return w - 0.1 * clip_norm(g, 1.0)
    ```

    ## Not reported

    jaxlint does not report a test of a static value, such as a shape, a dtype, `len(x)`, `x is None`,
    `isinstance(x, tuple)` or a static argument, because Python knows it at trace time. It does not report a test of
    an array outside tracing. Without `--preview`, it does not report one under `jax.grad` without `jit` either, where the
    array has a value.

    ```python
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="training")
    def normalise(x, scale=None, training=False):
        if x.ndim == 1:
            x = x[None, :]
        if scale is not None and len(x) > 1:
            x = x * scale
        assert isinstance(x, jax.Array) and x.dtype != jnp.int32
        return x - x.mean(0) if training else x


    @jax.jit
    def total(batch):
        if "weight" in batch:
            return jnp.sum(batch["x"] * batch["weight"])
        return jnp.sum(batch["x"])
    ```

    ```python
    import jax.numpy as jnp


    def converge(x):
        while jnp.abs(jnp.cos(x)) > 1e-3:
            x = x - 0.5 * jnp.cos(x)
        if x > 0.5:
            raise ArithmeticError("did not converge")
        return x
    ```

    ## Limitations

    The rule misses a test of an object whose class defines `__bool__`.

    ## Fix safety

    Unsafe. A conditional expression, or an `if`/`else` that assigns values, becomes `jnp.where` if both values and
    their gradients are always finite, because `jnp.where` computes both values. Otherwise it becomes `jax.lax.cond`,
    which computes only the chosen value. For example, a value with a quotient, a root, a logarithm or a call of unknown
    code may not be finite. jaxlint offers no fix for values that are functions, that may be None, or that have
    different shapes.

    `and`, `or` and `not` become `jnp.logical_and`, `jnp.logical_or` and `jnp.logical_not`. These functions compute all
    operands, and their result is an array of booleans, although Python's `a or b` returns `a` or `b` itself.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the test raises
    `TracerBoolConversionError`.

    ## Since

    0.2.0.

    ## Related rules

    JAX102 (`traced-while`), JAX111 (`builtin-on-tracer`), JAX112 (`where-on-static`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError>
    """
    context = event.context
    if event.how == "while" or not is_reportable_in_method(context):
        return None
    if not is_traced_array(event.value):
        return _under_grad(event)
    if context.presumed and _refuses(event.whole):
        return None
    construct, advice = _ADVICE.get(event.how, ("Python", _SELECT))
    subject = quote(context, event.at)
    if event.how in ("and", "or") and (outer := _tested_by(event)):
        advice = f"use `{'&' if event.how == 'and' else '|'}`, and replace `{outer}` by jnp.where or jax.lax.cond"
    elif event.how == "not" and (outer := _tested_by(event)):
        advice = f"replace the `{outer}` by jnp.where or jax.lax.cond"
    elif _is_of_static(event.value):
        advice = "its inputs are static, so compute it with math or NumPy"
    elif advice == _SELECT and _is_parameter(event):
        advice = f"{advice}, or make {subject} a static argument"
    return Report(event.at, f"{subject} is traced, so {construct} cannot test its value; {advice}")


def _under_grad(event: TruthTest) -> Report | None:
    """``grad`` alone knows the value: the test works, but not once the code is compiled."""
    if event.how in ("assert", "comprehension") or not is_known_tracer(event.value) or event.context.scope.is_test:
        return None
    advice = _ADVICE.get(event.how, ("", _SELECT))[1]
    message = (
        f"{quote(event.context, event.at)} depends on what grad differentiates by, so this test waits for the device"
    )
    return Report(event.at, f"{message}, and raises under jit; {advice}", level="info", preview=True)


def _is_of_static(value: Value, depth: int = 6) -> bool:
    """``jnp.log2(x.shape[0])``: JAX traces what it computes, even if nothing that it computes with is traced."""
    recipe = value.recipe if isinstance(value, Array) else None
    if recipe is None or not depth:
        return False
    operands = [operand for operand in recipe.operands if not isinstance(operand, (Const, Static))]
    return all(_is_of_static(operand, depth - 1) for operand in operands)


def _is_parameter(event: TruthTest) -> bool:
    inner, at = event.context.inner, event.at
    return inner is not None and isinstance(at, ir.Name) and any(p.name == at.id for p in inner.params)


def _tested_by(event: TruthTest) -> str:
    """``if`` or another statement whose whole test is the ``and``, ``or`` or ``not``: it cannot test an array either."""
    around = list(nodes_around(event.context.scope.tree.body, event.at.start, event.at.end))
    for node in reversed(around):
        if isinstance(node, (ir.If, ir.IfExp)):
            return "if" if node.test.start <= event.at.start and event.at.end <= node.test.end else ""
        if not isinstance(node, (ir.BoolOp, ir.Compare, ir.UnaryOp)) and node is not event.at:
            return ""
    return ""


def _refuses(whole: ir.Node) -> bool:
    """Arguments are checked: eagerly, as the author knows."""
    if isinstance(whole, ir.If):
        return bool(whole.body) and isinstance(whole.body[-1], (ir.Raise, ir.ExprStmt))
    return isinstance(whole, ir.Assert)
