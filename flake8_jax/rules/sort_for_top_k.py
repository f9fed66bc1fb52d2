"""JAX422: see the page of ``sort_for_top_k``."""

from __future__ import annotations

import re

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import last_name, nodes_around, path_of
from flake8_jax.semantics.domain.values import Array
from flake8_jax.semantics.events.events import Context, LibraryCall, MethodCall

_FEW = 128
"""Of so many elements nobody keeps half."""
_SORTS = frozenset({"sort", "argsort"})
_REVERSING = frozenset({"flip", "fliplr", "flipud"})
_SEVERAL = re.compile(r"^(k|n|topk|K)$|top|best|elite|neighbo|beam|nearest|k$", re.IGNORECASE)
"""Names of counts that are few of many."""


@rule("JAX422", "info")
def sort_for_top_k(event: LibraryCall | MethodCall) -> Report | None:
    """Code sorts a whole array to keep a few of its elements.

    The rule is on only with `--preview`, because the code gives the right result and only takes more time. Of seven
    findings in public repositories two were worth a change: jitted steps that sorted thousands of elements to keep a few.

    ## Why is this bad?

    A sort puts all elements in order. `jax.lax.top_k` only finds the `k` largest ones. On a CPU with JAX 0.10.2, the
    indices of the 5 smallest of 1000 numbers in each of 64 rows took at least 50 times as long with `argsort` as with
    `top_k`.

    `jax.lax.top_k(x, k)` returns the `k` largest elements along the last axis and their indices, the largest first. For
    the smallest elements, pass `-x`. The code has to know `k` while JAX traces it, as for a slice.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def nearest(points, x):
        distances = jnp.sum((points - x) ** 2, axis=-1)
        return jnp.argsort(distances)[:5]  # expect: sort-for-top-k


    def top_words(logits, k):
        order = jnp.argsort(logits, axis=-1)  # expect: sort-for-top-k
        return order[..., -k:]


    def demonstrate():
        points = jax.random.normal(jax.random.key(0), (100, 3))
        distances = jnp.sum(points**2, axis=-1)
        assert (nearest(points, jnp.zeros(3)) == jax.lax.top_k(-distances, 5)[1]).all()
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def nearest(points, x):
        distances = jnp.sum((points - x) ** 2, axis=-1)
        return jax.lax.top_k(-distances, 5)[1]


    def top_words(logits, k):
        return jax.lax.top_k(logits, k)[1]
    ```

    ## Not reported

    jaxlint does not report a sort whose whole result the code uses, or a slice that may keep most of the elements. It takes
    a slice for a short one if its bound is a number up to 128 or has a name such as `k`, `top_n` or `num_neighbors`.

    ```python
    import jax.numpy as jnp


    def split(x, order, n_train):
        ranks = jnp.argsort(x)
        return ranks[:n_train], ranks[n_train:], jnp.sort(x)[: len(x) // 2]
    ```

    ## Limitations

    `top_k` works along the last axis. If the sort goes along another axis, move this axis first. The order of the result
    may differ: `argsort` starts with the smallest element, and `top_k` with the largest.

    ## Fix safety

    No fix. The order of the elements may change, and the array may be small.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time of a sort depends on the machine and on the array.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX414 (`eager-step`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.lax.top_k.html>
    """
    if is_test(event.context) or not _sorts(event):
        return None
    array = event.args[0] if isinstance(event, LibraryCall) and event.args else None
    rank = array.ndim if isinstance(array, Array) else None
    found = _kept(event.context, event.at, rank)
    if found is None:
        return None
    kept, largest = found
    around = nodes_around(_body(event.context), kept.start, kept.end)
    if any(isinstance(node, ir.FormattedValue) for node in around):
        return None  # a few numbers to look at
    name = last_name(event.at.func)
    part = "[1]" if name == "argsort" else "[0]"
    operand = _operand(event.context, event.at, largest=largest)
    problem = f"`{name}` sorts all elements, but {quote(event.context, kept, 'the code')} keeps only a few of them"
    return Report(event.at, f"{problem}; use `jax.lax.top_k({operand}, k){part}`", preview=True)


def _sorts(event: LibraryCall | MethodCall) -> bool:
    if isinstance(event, LibraryCall):
        return event.name in ("jax.numpy.sort", "jax.numpy.argsort")
    return event.method in _SORTS and type(event.value) is Array


def _operand(context: Context, sort: ir.Call, *, largest: bool) -> str:
    """What to pass to ``top_k``, as code."""
    array = _sorted_array(sort)
    is_negated = isinstance(array, ir.UnaryOp) and array.op == "-"
    inner = array.operand if is_negated and isinstance(array, ir.UnaryOp) else array
    text = context.scope.text[inner.start : inner.end]
    if len(text) > _LONG or "\n" in text:
        text = "x"
    if largest:
        return text
    return f"-{text}" if re.fullmatch(r"[\w.\[\]]+", text) else f"-({text})"


_LONG = 40


def _sorted_array(sort: ir.Call) -> ir.Expr:
    """``x`` of ``jnp.sort(x)`` and of ``x.sort()``."""
    is_method = isinstance(sort.func, ir.Attribute) and path_of(sort.func.value) not in (
        "jnp",
        "jax.numpy",
        "np",
        "numpy",
    )
    first = next((a.value for a in sort.args if not a.keyword), None)
    if is_method and isinstance(sort.func, ir.Attribute) and not (isinstance(sort.func.value, ir.Name) and first):
        return sort.func.value
    return first if first is not None else sort.func


def _kept(context: Context, sort: ir.Call, rank: int | None) -> tuple[ir.Subscript | ir.Call, bool] | None:
    """The expression that keeps a few elements at one end of what a call sorts, and whether these are the largest."""
    node: ir.Expr = sort
    rising = _is_rising(sort)
    for _ in range(_STEPS):
        around = _parent(context, node)
        if isinstance(around, ir.Assign):
            read = _only_read(context, around)
            if read is None:
                return None
            node = read
        elif isinstance(around, ir.Subscript) and around.value is node:
            if _reverses(around.index):
                rising = not rising
                node = around
                continue
            kept = _last_index(around.index)
            ends = _ends(kept) if kept is not None and _is_along_last(sort, around.index, rank) else None
            return (around, (ends == "last") == rising) if ends is not None else None
        elif isinstance(around, ir.Call) and around.args and around.args[0].value is node:
            name = last_name(around.func)
            if name == "take" and len(around.args) > 1 and _is_short_range(around.args[1].value):
                return around, not rising
            if name not in _REVERSING:
                return None
            rising = not rising
            node = around
        else:
            return None
    return None


_STEPS = 5
"""So many expressions and variables may stand between the sort and the part that is kept."""


def _parent(context: Context, node: ir.Node) -> ir.Node | None:
    """The expression or the statement right around an expression."""
    around = [n for n in nodes_around(_body(context), node.start, node.end) if not isinstance(n, ir.Argument)]
    around = [n for n in around if n is not node and (n.end - n.start) >= (node.end - node.start)]
    return min(around, key=lambda n: n.end - n.start, default=None)


def _body(context: Context) -> list[ir.Stmt]:
    return context.inner.body if context.inner is not None else context.scope.tree.body


def _only_read(context: Context, assigned: ir.Assign) -> ir.Name | None:
    """Where the code reads the variable that is assigned, if that is one place."""
    target = assigned.targets[0] if len(assigned.targets) == 1 else None
    if not isinstance(target, ir.Name):
        return None
    nodes = [node for statement in _body(context) for node in walk(statement)]
    named = [node for node in nodes if isinstance(node, ir.Name) and node.id == target.id and node is not target]
    return named[0] if len(named) == 1 else None


def _is_rising(sort: ir.Call) -> bool:
    """The first elements of the result are the smallest ones of ``x``, of ``sort(x)`` or ``sort(-x)``."""
    first = next((a.value for a in sort.args if not a.keyword), None)
    descending = next((a.value for a in sort.args if a.keyword == "descending"), None)
    falls = isinstance(descending, ir.Constant) and descending.value is True
    negated = isinstance(first, ir.UnaryOp) and first.op == "-"
    return falls == negated


def _reverses(index: ir.Expr) -> bool:
    last = _last_index(index)
    if not isinstance(last, ir.Slice) or last.step is None or _number(last.step) != -1:
        return False
    return last.lower is None and last.upper is None


def _last_index(index: ir.Expr) -> ir.Expr | None:
    """The index of the last axis; the others keep all."""
    if not isinstance(index, ir.Tuple):
        return index
    *others, last = index.elts
    whole = all(_is_whole(part) for part in others)
    return last if whole else None


def _is_whole(part: ir.Expr) -> bool:
    if isinstance(part, ir.Constant):
        return part.kind == "ellipsis"
    return isinstance(part, ir.Slice) and part.lower is None and part.upper is None and part.step is None


def _ends(kept: ir.Expr) -> str | None:
    """Which end a slice keeps, ``first`` or ``last``, if these are few elements; or where a count from the end stands."""
    if isinstance(kept, ir.UnaryOp) and kept.op == "-" and isinstance(kept.operand, ir.Name) and _is_few(kept.operand):
        return "last"
    if not isinstance(kept, ir.Slice):
        return None
    if kept.step is not None and _number(kept.step) not in (1, -1):
        return None
    backwards = kept.step is not None and _number(kept.step) == -1
    if kept.lower is None and kept.upper is not None and _is_few(kept.upper):
        return "first" if not backwards else None
    if (
        kept.upper is None
        and isinstance(kept.lower, ir.UnaryOp)
        and kept.lower.op == "-"
        and _is_few(kept.lower.operand)
    ):
        return "last"
    if backwards and kept.lower is None and isinstance(kept.upper, ir.UnaryOp):
        upper = kept.upper.operand
        return "last" if _is_few(upper) or isinstance(upper, ir.BinOp) else None
    return None


def _number(node: ir.Expr) -> object:
    if isinstance(node, ir.UnaryOp) and node.op == "-" and isinstance(node.operand, ir.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    return node.value if isinstance(node, ir.Constant) else None


def _is_few(count: ir.Expr) -> bool:
    value = _number(count)
    if type(value) is int:
        return 0 < value <= _FEW
    return isinstance(count, (ir.Name, ir.Attribute)) and _SEVERAL.search(last_name(count)) is not None


def _is_short_range(node: ir.Expr) -> bool:
    """``jnp.arange(k)``."""
    return (
        isinstance(node, ir.Call)
        and last_name(node.func) == "arange"
        and len(node.args) == 1
        and _is_few(node.args[0].value)
    )


def _is_along_last(sort: ir.Call, index: ir.Expr, rank: int | None) -> bool:
    """The sort goes along the axis of which elements are kept."""
    given = [a for a in sort.args if not a.keyword]
    is_method = len(given) < 2 and isinstance(sort.func, ir.Attribute) and not given
    axis = next((a.value for a in sort.args if a.keyword == "axis"), None)
    axis = axis if axis is not None else given[1].value if len(given) > 1 and not is_method else None
    number = _number(axis) if axis is not None else -1
    parts = index.elts if isinstance(index, ir.Tuple) else [index]
    has_dots = any(isinstance(part, ir.Constant) for part in parts)
    if number == -1:
        return has_dots or rank in (None, len(parts))
    return type(number) is int and number == len(parts) - 1 and not has_dots
