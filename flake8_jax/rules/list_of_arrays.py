"""JAX417: see the page of ``list_of_arrays``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._listed import holds_arrays, holds_scalars, report_copies, report_rows, report_scalars
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.code import bound_paths, nodes_around, path_of
from flake8_jax.semantics.domain.values import DictValue, Value
from flake8_jax.semantics.events.arguments import JoinedKeys
from flake8_jax.semantics.events.events import Context, LibraryCall

_CONVERTING = frozenset({"jax.numpy.array", "jax.numpy.asarray"})
_STACKING = frozenset({"jax.numpy.stack", "jax.numpy.hstack"})
_PRINTING = "builtins.print"


@rule("JAX417", "info")
def list_of_arrays(event: LibraryCall | JoinedKeys) -> Report | None:
    """`jnp.array` converts a list of JAX arrays that a loop has filled.

    The rule also reports `jnp.array(subkeys)` after `key, *subkeys = jax.random.split(key, n)`.

    The rule also reports `print` of a list of scalars that a loop has filled, and `jnp.stack` of such a list that a loop
    in another loop has filled, with one scalar for each step of all epochs. It reports plots of a list of JAX scalars
    (`plt.plot(losses)`), `np.mean` and similar functions, if the loop around them goes on to fill the list.

    The rule also reports `jnp.stack`, `jnp.concatenate` and similar functions that get many rows one by one:

    - A list of NumPy arrays: `jnp.stack([np.load(path) for path in paths])`.
    - A comprehension that makes an array of each element: `jnp.stack([jnp.asarray(row) for row in rows])`.
    - One field of many samples: `images, labels = zip(*batch)` and then `jnp.stack(images)`.
    - The samples of a batch in `jax.tree.map(lambda *leaves: jnp.stack(leaves), *batch)`.
    - The parts that `jnp.split` returns: `jnp.stack(jnp.split(x, n))`.
    - Copies of one array, also in compiled code: `jnp.array([x] * n)`, `jnp.stack([x for _ in range(n)])`.

    The rule is on only with `--preview`, because the code gives the right result and only takes more time.

    ## Why is this bad?

    Outside tracing, `jnp.array` converts the elements of a list one by one, with several operations for each element.
    `jnp.stack` compiles a program with one operand for each element, which takes long for a long list. For a list of
    scalars, such as the losses of a training, convert the list with `np.array`. For 3,000 scalars on a CPU with JAX
    0.10.2, `jnp.stack` took 8.5 s, `jnp.array` took 1.1 s, and `jnp.asarray(np.array(losses))` took 0.24 s. `print`
    copies each scalar from the device and formats it as a JAX array, which took 1.2 s.

    `np.mean(losses)` and `plt.plot(losses)` copy each scalar from the device by itself, and wait for each copy. In the
    training loop, they copy the whole history again each time.

    `jnp.stack` of NumPy arrays copies each array to the device by itself, and compiles a program with one operand for each.
    For 1,000 rows on two busy cores with JAX 0.10.2, the first call took 44 s and each later call 3 s.
    `jnp.asarray(np.stack(rows))` joins the rows on the host and copies them once, which took 0.05 s.

    Copies of one array become one operand each. In compiled code, 1,000 copies of a scalar took 1.2 s to compile with
    `jnp.array([x] * 1000)` and 0.05 s with `jnp.full(1000, x)`, on two busy cores with JAX 0.10.2. With `jnp.stack`, 1,000
    copies of a vector took 3.5 s, and 0.12 s with `jnp.broadcast_to`.

    For a list of larger JAX arrays, use `jnp.stack`. If the list is long, compute the elements in `jax.lax.scan`, which
    returns one array.

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


    def train(w, batches, epochs):
        losses = []
        for _ in range(epochs):
            for x in batches:
                losses.append(loss(w, x))
                w = 0.9 * w + 0.1 * x
        return w, jnp.stack(losses)  # expect: list-of-arrays


    def differences(w, batches):
        rows = []
        for x in batches:
            rows.append(w - x)
        return jnp.array(rows)  # expect: list-of-arrays


    def demonstrate():
        evaluate(jnp.ones(2), [jnp.ones(2)] * 40)
        train(jnp.ones(2), [jnp.ones(2)] * 4, 10)
        differences(jnp.ones(2), [jnp.ones(2)] * 40)
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

    ```python
    import jax.numpy as jnp
    import numpy as np


    def collate(batch):
        images, labels = zip(*batch)
        return jnp.stack(images), jnp.asarray(labels)  # expect: list-of-arrays


    def load(paths):
        return jnp.concatenate([np.load(path) for path in paths])  # expect: list-of-arrays


    def demonstrate():
        images, labels = collate([(np.ones((2, 2)), 1)] * 8)
        assert images.shape == (8, 2, 2) and labels.shape == (8,)
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def train_step(w, x):
        return 0.9 * w + 0.1 * x, jnp.mean((w - x) ** 2)


    def train(w, batches):
        losses = []
        for x in batches:
            w, loss = train_step(w, x)
            losses.append(loss)
            print(np.mean(losses))  # expect: list-of-arrays
        return w


    def demonstrate():
        train(jnp.ones(2), [jnp.ones(2)] * 40)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def steps(duration):
        return jnp.array([duration / 100] * 100)  # expect: list-of-arrays


    @jax.jit
    def repeated(state):
        return jnp.stack([state for _ in range(64)])  # expect: list-of-arrays


    def demonstrate():
        assert str(jax.make_jaxpr(steps)(1.0)).count("broadcast_in_dim") >= 100
        assert repeated(jnp.ones(2)).shape == (64, 2)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def steps(duration):
        return jnp.full(100, duration / 100)


    @jax.jit
    def repeated(state):
        return jnp.broadcast_to(state, (64, *state.shape))
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    def collate(batch):
        images, labels = zip(*batch)
        return jnp.asarray(np.stack(images)), jnp.asarray(labels)


    @jax.jit
    def train_step(w, x):
        return 0.9 * w + 0.1 * x, jnp.mean((w - x) ** 2)


    def train(w, batches):
        losses = []
        for x in batches:
            w, loss = train_step(w, x)
            losses.append(jax.device_get(loss))
            print(np.mean(losses))
        return w
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def loss(w, x):
        return jnp.mean((w - x) ** 2)


    def evaluate(w, batches):
        losses = []
        for x in batches:
            losses.append(loss(w, x))
        return np.array(losses).mean()


    def differences(w, batches):
        rows = []
        for x in batches:
            rows.append(w - x)
        return jnp.stack(rows)
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

    jaxlint does not report `np.mean(losses)` behind the loop: it converts the list once, and of nine such places in public
    repositories none was worth a change. It does not report a list of Python numbers, which `jnp.array` converts fast, or
    a list that the code fills without a loop, because such a list is short. For the same reason, it does not report a
    list of at most 8 keys or copies.

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


    @jax.jit
    def colored(gray):
        return jnp.stack([gray for _ in range(3)])
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
    if not event.args or not event.nodes or event.nodes[0] is None:
        return None
    copied = report_copies(event)
    if copied is not None or context.staged:
        return copied
    joined = report_rows(event) or report_scalars(event)
    if joined is not None:
        return joined
    if event.name == _PRINTING:
        pairs = zip(event.args, event.nodes, strict=False)
        shown = next((node for value, node in pairs if any(map(holds_scalars, _shown_parts(value)))), None)
        return _report_printed(event, shown) if shown is not None else None
    if event.name not in _CONVERTING | _STACKING or not holds_arrays(event.args[0]):
        return None
    subject = quote(context, event.nodes[0], "a list")
    scalars = holds_scalars(event.args[0])
    if event.name in _STACKING:
        if not scalars or not _is_filled_in_loops(context, event.nodes[0]):
            return None
        problem = f"`{function}` compiles a program with one operand for each scalar in {subject}"
        return Report(event.at, f"{problem}, which takes long for a long list; use np.array", preview=True)
    if scalars:
        problem = f"`{function}` converts the scalars in {subject} one by one"
        return Report(event.at, f"{problem}, which takes long for a long list; use np.array", preview=True)
    message = (
        f"`{function}` converts the arrays in {subject} one by one, which takes long for a long list; use jnp.stack"
    )
    return Report(event.at, message, preview=True)


def _report_printed(event: LibraryCall, shown: ir.Expr) -> Report:
    """``print(losses)``."""
    problem = f"`print` copies the scalars in {quote(event.context, shown, 'a list')} from the device one by one"
    return Report(event.at, f"{problem}, which takes long for a long list; print np.array of the list", preview=True)


def _shown_parts(value: Value) -> list[Value]:
    """The value, or the values of a dict: ``print(history)``."""
    return [part for _, part in value.items()] if isinstance(value, DictValue) and value.is_closed() else [value]


def _is_filled_in_loops(context: Context, subject: ir.Expr) -> bool:
    """The function appends to the list in a loop inside of another one: once for each step, not for each epoch."""
    name, body = path_of(subject), context.inner.body if context.inner is not None else context.scope.tree.body
    appends = [
        node.func
        for statement in body
        for node in walk(statement)
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == "append"
    ]
    for func in appends:
        if name and path_of(func.value) == name:
            around = list(nodes_around(body, func.start, func.end))
            loops = [node for node in around if isinstance(node, (ir.For, ir.While))]
            if len(loops) > 1 and not any(name in _bound_in(loop) for loop in loops):
                return True
    return False


def _bound_in(loop: ir.For | ir.While) -> set[str]:
    return set().union(*[bound_paths(statement) for statement in loop.body])
