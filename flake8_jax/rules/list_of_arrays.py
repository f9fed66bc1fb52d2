"""JAX417: see the page of ``list_of_arrays``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.values import Array, ListValue, UnionValue, Value
from flake8_jax.semantics.events.arguments import JoinedKeys
from flake8_jax.semantics.events.events import LibraryCall

_CONVERTING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})


@rule("JAX417", "info", only=Subscription(where=frozenset({"eager", "loop"})))
def list_of_arrays(event: LibraryCall | JoinedKeys) -> Report | None:
    """`jnp.array` converts a list of JAX arrays that a loop has filled.

    The rule also reports `jnp.array(subkeys)` after `key, *subkeys = jax.random.split(key, n)`.

    The rule is on only with `--preview`, because `jnp.array` gives the right result and only takes more time.

    ## Why is this bad?

    Outside tracing, `jnp.array` converts the elements of a list one by one, with several operations for each element.
    For 2,048 scalars, it took 0.6 s on a CPU with JAX 0.10.2; `jnp.stack` took 0.07 s and gives the same array. If the
    list is long, compute the elements in `jax.lax.scan`, which returns one array.

    `key, *subkeys = jax.random.split(key, n + 1)` takes an array of keys apart, with one operation for each key. If the
    code then joins the keys to an array again, both steps are wasted. In compiled code, they also make the program
    longer, so it takes longer to compile. Split twice instead, and keep the array that the second split returns.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def loss(w, x):
        return jnp.mean((w - x) ** 2)


    def evaluate(w, batches):
        losses = []
        for x in batches:
            losses.append(loss(w, x))
        return jnp.mean(jnp.array(losses))  # expect: list-of-arrays


    def demonstrate():
        evaluate(jnp.ones(2), [jnp.ones(2)] * 40)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def walk(key, positions):
        key, *subkeys = jax.random.split(key, len(positions) + 1)
        steps = jax.vmap(jax.random.normal)(jnp.array(subkeys))  # expect: list-of-arrays
        return key, positions + steps


    def demonstrate():
        traced = str(jax.make_jaxpr(walk)(jax.random.key(0), jnp.ones(40)))
        assert traced.count(" = squeeze") == 41
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def loss(w, x):
        return jnp.mean((w - x) ** 2)


    def evaluate(w, batches):
        losses = []
        for x in batches:
            losses.append(loss(w, x))
        return jnp.mean(jnp.stack(losses))
    ```

    ```python
    import jax


    @jax.jit
    def walk(key, positions):
        key, subkey = jax.random.split(key)
        steps = jax.vmap(jax.random.normal)(jax.random.split(subkey, len(positions)))
        return key, positions + steps
    ```

    ## Not reported

    jaxlint does not report a list of Python numbers, which `jnp.array` converts fast, or a list that the code fills
    without a loop, because such a list is short. For the same reason, it does not report a list of at most 8 keys.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def loss(w, x):
        return jnp.mean((w - x) ** 2)


    def evaluate(w, batches):
        losses = [float(loss(w, x)) for x in batches]
        ends = jnp.array([loss(w, batches[0]), loss(w, batches[-1])])
        return jnp.array(losses), ends
    ```

    ## Limitations

    The rule does not check how many iterations the loop has, so it also reports short lists, which gain little.

    ## Fix safety

    No fix. If the list is empty, `jnp.array` returns an empty array, but `jnp.stack` raises an error.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that the conversion takes depends on the machine and on the
    length of the list.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX413 (`non-array-argument`), JAX415 (`growing-array-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.numpy.stack.html>
    """
    context = event.context
    if context.presumed or is_test(context):
        return None
    function = spelled(context, event.at, event.name)
    if isinstance(event, JoinedKeys):
        subject = quote(context, event.list, "a list")
        problem = (
            f"`{function}` joins the keys in {subject} to an array again, after `*` has taken them apart one by one"
        )
        return Report(event.at, f"{problem}; split a subkey into an array of keys", preview=True)
    if event.name not in _CONVERTING or not event.args or not event.nodes or event.nodes[0] is None:
        return None
    if context.staged or not _holds_arrays(event.args[0]):
        return None
    subject = quote(context, event.nodes[0], "a list")
    message = (
        f"`{function}` converts the arrays in {subject} one by one, which takes long for a long list; use jnp.stack"
    )
    return Report(event.at, message, preview=True)


def _holds_arrays(value: Value) -> bool:
    """A list whose length is not known, and whose elements are arrays for sure."""
    if not isinstance(value, ListValue) or value.known() is not None or value.slots.get("declared"):
        return False
    return _is_array(value.slots.get("*"))


def _is_array(value: Value | None) -> bool:
    if isinstance(value, UnionValue):
        return all(_is_array(member) for member in value.members)
    return isinstance(value, Array) and not value.declared and value.dtype != "key"
