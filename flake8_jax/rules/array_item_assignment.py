"""JAX505: see the page of ``array_item_assignment``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.masks import holds_traced_mask
from flake8_jax.semantics.domain.values import REF, Array, External, UnionValue, Value
from flake8_jax.semantics.events.events import Context, Store
from flake8_jax.semantics.events.facts import TAKES_ITEMS

_REFS = frozenset({REF, "jax.new_ref", "jax.freeze", "jax.ref"})
_UPDATES = {"": "set", "+": "add", "-": "add", "*": "multiply", "/": "divide", "**": "power"}


@rule("JAX505", "error", fixable="sometimes", raises="another error")
def array_item_assignment(event: Store) -> Report | None:
    """`x[i] = v`, `x[i] += v` or `del x[i]` modifies a JAX array.

    ## Why is this bad?

    JAX arrays are immutable, traced or not, so an assignment such as `x[i] = v` raises
    `TypeError: JAX arrays are immutable`. The call `x.at[i].set(v)` returns a new array with the changed item. Under
    `jit`, XLA writes this item into the memory of `x`, without a copy, if the program does not need the old `x`
    afterwards.

    ## Example

    ```python
    import jax.numpy as jnp


    def one_hot(index, n):
        x = jnp.zeros(n)
        x[index] = 1.0  # expect: array-item-assignment
        return x


    def demonstrate():
        one_hot(1, 3)  # raises: TypeError
    ```

    ## Use instead

    ```python
    import jax.numpy as jnp


    def one_hot(index, n):
        x = jnp.zeros(n)
        x = x.at[index].set(1.0)
        return x
    ```

    ## Not reported

    jaxlint does not report an assignment to an item of a NumPy array, a list or a dict, because Python can change
    these objects. It does not report a mutable reference that `jax.new_ref` makes, because its items can be assigned.

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def collect(batches):
        rows = np.zeros((len(batches), 2))
        parts = [None] * len(batches)
        best = {}
        total = jax.new_ref(jnp.zeros(()))
        for i, batch in enumerate(batches):
            rows[i] = np.asarray(batch)
            parts[i] = jnp.sum(batch)
            best["last"] = parts[i]
            total[...] += parts[i]
        return rows, jnp.stack(parts), best, total[...]
    ```

    ## Limitations

    If jaxlint knows only from an annotation (`x: jax.Array`) that the object is a JAX array, the rule reports the
    assignment only with `--preview`. The rule misses an assignment to an array inside a pytree (`params["w"][0] = 1`)
    if jaxlint does not know the structure of the pytree.

    ## Fix safety

    The fix turns `x[i] = v` into `x = x.at[i].set(v)`, and `x[i] += v` into `x = x.at[i].add(v)`. It is safe if the
    function makes the array `x` itself, and no other name, container or view refers to this array. Otherwise it is
    unsafe: other references keep the old values, and a caller may pass a NumPy array.

    The fix of `x[i] += v` is also unsafe if the index may select an item twice, as in `x[jnp.array([0, 0])] += 1`,
    because `add` then changes this item twice.

    If the index is a traced array of booleans, the fix turns `x[x < 0] = 0` into `x = jnp.where(x < 0, 0, x)`. This
    fix is unsafe, because `jnp.where` of an integer array and a float gives a float array.

    jaxlint offers no fix in five cases:

    - The statement is `del x[i]`: the new array would have another shape.
    - No code reads `x` after the assignment: `x.at[i].set(v)` would not change what the caller sees.
    - The function returns the array, and a caller assigns to items of the result as well. Such code was written for
      NumPy arrays.
    - The assignment is in a Pallas kernel: `x` may be a reference there, and code can assign items of a reference.
    - The code cannot assign a new array there: `x` is a transpose (`y.T[0] = 1`), a property, or a field of a
      NamedTuple or of a frozen class.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the statement raises `TypeError`, or
    `AttributeError` for `del x[i]`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX506 (`discarded-update`), JAX509 (`discarded-result`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#in-place-updates>
    """
    context = event.context
    if not event.how.startswith("item") or context.presumed or context.caught or not _is_array(event.base):
        return None
    if _uses_refs(context) and _takes_slice_of_ref(event.at):
        return None
    if _is_used_as_dict(context, event.at):
        return None
    subject = quote(context, event.at)
    if event.how == "item-delete":
        return Report(event.at, f"This deletes {subject} of a JAX array, which is immutable; use jnp.delete")
    update = _UPDATES.get(event.op, "set")
    is_mask = event.index is not None and holds_traced_mask(event.index)
    advice = "jnp.where(mask, …)" if is_mask else f".at[…].{update}(…)"
    base = quote(context, event.at.value) if isinstance(event.at, ir.Subscript) else "it"
    is_declared, item = _is_declared(event.base), f"an item of {base}" if "…" in subject else subject
    owner = f"{'it' if '…' in subject else base} is {'annotated as ' * is_declared}a JAX array"
    message = f"This assigns to {item}, but {owner}, which is immutable; use {advice}"
    if not is_declared:
        return Report(event.at, message)
    return None if _uses_refs(context) else Report(event.at, message, "warning", preview=True, unless=TAKES_ITEMS)


def _is_declared(value: Value | None) -> bool:
    """Only an annotation says that the value is an array of JAX."""
    if isinstance(value, UnionValue):
        return any(_is_declared(member) for member in value.members)
    return isinstance(value, Array) and value.declared


def _uses_refs(context: Context) -> bool:
    """The file mentions Pallas or Refs: what it annotates as an array may be a Ref, whose items are assigned to."""
    named = [value.name for value in context.scope.slots.values() if isinstance(value, External)]
    return any(name.startswith("jax.experimental.pallas") or name in _REFS for name in named)


def _is_used_as_dict(context: Context, target: ir.Node) -> bool:
    """``for key, leaf in data.items(): data[key] = …``: a caller may annotate it as an array, but no array has items."""
    if context.inner is None or not isinstance(target, ir.Subscript) or not isinstance(target.value, ir.Name):
        return False
    return any(
        isinstance(node, ir.Attribute)
        and node.attr in ("items", "keys", "values")
        and isinstance(node.value, ir.Name)
        and node.value.id == target.value.id
        for statement in context.inner.body
        for node in walk(statement)
    )


def _takes_slice_of_ref(target: ir.Node) -> bool:
    """``x[pl.ds(start, size)]``: such an index selects of Refs alone."""
    calls = [node for node in walk(target) if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute)]
    return any(isinstance(call.func, ir.Attribute) and call.func.attr in ("ds", "dslice") for call in calls)


def _is_array(value: Value | None) -> bool:
    if isinstance(value, UnionValue):
        return all(_is_array(member) for member in value.members)
    return isinstance(value, Array)
