"""JAX712: see the page of ``tree_map_result``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import all_statements, nodes_around
from flake8_jax.semantics.domain.values import Array, FunctionValue, ListValue, TupleValue
from flake8_jax.semantics.events.events import RootMet

_MAP = "jax.tree.map"


@rule("JAX712", "warning")
def tree_map_result(event: RootMet) -> Report | None:
    """The code uses the tree that `jax.tree.map` returns as if it were one truth value, or a tuple of trees.

    The rule is on only with `--preview`, because few public repositories with such code have been read so far.

    ## Why is this bad?

    `jax.tree.map(f, tree)` returns a tree like `tree`, with a result of `f` in the place of each leaf.

    - A condition such as `assert jax.tree.map(is_float, tree)` tests this tree itself. A dict, a list or a tuple is true
      unless it is empty, even if all leaves are false. `jax.tree.all` tests the leaves.
    - If `f` returns a pair, the result is a tree of pairs and not a pair of trees. `low, high = jax.tree.map(f, tree)`
      takes the tree apart: of a dict with two entries, `low` and `high` are the keys. It does what it looks like only if
      the tree is a single leaf. `jax.tree.transpose` makes a pair of trees, and so do two calls of `jax.tree.map`.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def check(tree):
        assert jax.tree.map(lambda x: jnp.issubdtype(x.dtype, jnp.floating), tree)  # expect: tree-map-result


    def bounds(tree):
        low, high = jax.tree.map(lambda x: (x.min(), x.max()), tree)  # expect: tree-map-result
        return low, high


    def demonstrate():
        tree = {"a": jnp.arange(3), "b": jnp.arange(4)}
        check(tree)
        assert bounds(tree) == ("a", "b")
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def check(tree):
        assert jax.tree.all(jax.tree.map(lambda x: jnp.issubdtype(x.dtype, jnp.floating), tree))


    def bounds(tree):
        low = jax.tree.map(lambda x: x.min(), tree)
        high = jax.tree.map(lambda x: x.max(), tree)
        return low, high
    ```

    ## Not reported

    jaxlint does not report a result that the code takes apart if the tree is known to be a tuple, a list or a single
    array, because the result then has the parts that the code asks for.

    ```python
    import jax
    import jax.numpy as jnp


    def halves(x, y):
        first, second = jax.tree.map(lambda v: (v[:2], v[2:]), (x, y))
        left, right = jax.tree.map(lambda v: v / 2, {"left": x, "right": y}).values()
        return first, second, left, right


    def moments(x):
        mean, deviation = jax.tree.map(lambda v: (v.mean(), v.std()), jnp.asarray(x))
        return mean, deviation
    ```

    ## Limitations

    The rule misses a result that the code keeps in a variable before it tests it or takes it apart.

    ## Fix safety

    No fix. Only the author knows whether all leaves or any of them should pass the test.

    ## How it is verified

    jaxlint cannot confirm the finding: the program runs without an error, and only the author knows what the code is to
    do with the leaves.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX104 (`traced-iteration`), JAX509 (`discarded-result`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.tree.map.html>
    """
    call, context = event.at, event.context
    if event.name != _MAP or context.presumed or not isinstance(call, ir.Call):
        return None
    around = _outer(event)
    shown = quote(context, call, "the result of `jax.tree.map`")
    if _is_tested(around, call):
        message = f"This condition tests the tree {shown} itself and not its leaves; wrap it in jax.tree.all"
        return Report(call, message, preview=True)
    number = _unpacked(around, call)
    if number and _is_of_tuples(event, number):
        message = (
            f"{shown} is a tree of tuples and not a tuple of trees, so this unpacks the tree itself, unless it is a "
            f"single leaf; use jax.tree.transpose or {number} calls"
        )
        return Report(call, message, preview=True)
    return None


def _outer(event: RootMet) -> ir.Node | None:
    """The statement or expression that the call is a part of."""
    at = event.at
    nodes = [n for n in nodes_around(event.context.scope.tree.body, at.start, at.end) if n is not at]
    outer = [n for n in nodes if not (n.start == at.start and n.end == at.end)]
    return outer[-1] if outer else None


def _is_tested(around: ir.Node | None, call: ir.Call) -> bool:
    if isinstance(around, (ir.Assert, ir.If, ir.While, ir.IfExp)):
        return around.test is call
    return isinstance(around, ir.UnaryOp) and around.op == "not"


def _unpacked(around: ir.Node | None, call: ir.Call) -> int:
    """Into how many names the call is taken apart, 0 if it is not."""
    if not isinstance(around, ir.Assign) or around.value is not call or len(around.targets) != 1:
        return 0
    target = around.targets[0]
    names = target.elts if isinstance(target, (ir.Tuple, ir.List)) else []
    return 0 if any(isinstance(name, ir.Starred) for name in names) else len(names)


def _is_of_tuples(event: RootMet, number: int) -> bool:
    """The function gives tuples of so many parts, and the tree is nothing that has so many itself."""
    mapped, tree = event.operand, event.options.get("tree")
    if not isinstance(mapped, FunctionValue) or isinstance(tree, (TupleValue, ListValue, Array)):
        return False
    returned = [s.value for s in all_statements(mapped.fn.body) if isinstance(s, ir.Return)]
    return bool(returned) and all(isinstance(v, ir.Tuple) and len(v.elts) == number for v in returned)
