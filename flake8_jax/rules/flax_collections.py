"""JAX514: see the page of ``flax_collections``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._variables import variables_of_file
from flake8_jax.rules._wording import callee
from flake8_jax.semantics.domain.code import blocks, last_name, spelled
from flake8_jax.semantics.domain.values import Const, DictValue, Value, known_elements
from flake8_jax.semantics.events.events import Context, FileRead, LibraryCall
from flake8_jax.semantics.events.facts import STATISTICS_COMPUTED, STATISTICS_FROZEN
from flake8_jax.semantics.events.pools import POOLS, sliding_window


@rule("JAX514", "warning", fixable="sometimes")
def flax_collections(event: LibraryCall | FileRead) -> Report | list[Report] | None:
    """Flax code drops or trains batch statistics, gives them a low momentum, hides PRNG keys, or pools without strides.

    The rule is on only with `--preview`: it reports one line in 282 public repositories (PRNG keys in the variables),
    so it is hardly tested on real mistakes.

    ## Why is this bad?

    `model.apply(variables, x, mutable=["batch_stats"])` returns the output and the updated batch statistics. If the
    code does not pass the updated statistics to the next step, the statistics keep their initial values 0 and 1, and
    the model normalizes with these values at evaluation.

    The statistics do not change either if the model is in evaluation mode in the training step, for example because its
    argument `train` is False by default. Then `nn.BatchNorm` normalizes with the initial values.

    The `momentum` of `nn.BatchNorm` is the weight of the old running statistics: each step computes
    `momentum * old + (1 - momentum) * new`. In PyTorch it is the weight of the new statistics. So `momentum=0.1` of
    PyTorch is `momentum=0.9` in Flax. With `momentum=0.1` in Flax, the running statistics are nearly those of the last
    batch, and the model normalizes with these noisy statistics at evaluation.

    `apply` takes its PRNG keys from the argument `rngs`. If the keys are in the dictionary of the variables instead
    (`{"params": params, "rngs": {"dropout": key}}`), Flax takes `rngs` for a collection of variables that no module
    uses, and ignores the keys. If the call passes no other keys, a module that needs a key raises `InvalidRngError`.

    `init` returns all collections of variables, such as `batch_stats`, and not only the parameters. If the code passes
    all of them to an optimizer, the optimizer also changes the statistics. They have zero gradients, so weight decay
    moves them towards 0, and nothing else updates them.

    The functions `max_pool` and `avg_pool` of Flax and the pooling layers of Equinox move their window by 1 unless
    the call passes strides: `max_pool(x, (2, 2))` turns an 8 × 8 array into a 7 × 7 array. jaxlint does not report
    pooling with `padding="SAME"` and without strides, because the array then keeps its size, which is probably
    intended.

    ## Example

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            x = nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))
            return nn.Dense(1)(nn.relu(x))


    net = Net()


    @jax.jit
    def train_step(variables, x, y):
        def loss_fn(params):
            held = {**variables, "params": params}
            out, _ = net.apply(held, x, train=True, mutable=["batch_stats"])  # expect: flax-collections
            return jnp.mean((out[:, 0] - y) ** 2)

        grads = jax.grad(loss_fn)(variables["params"])
        params = jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], grads)
        return {**variables, "params": params}


    def demonstrate():
        x = jnp.arange(12.0).reshape(4, 3)
        variables = train_step(net.init(jax.random.key(0), x, train=False), x, jnp.ones(4))
        assert (variables["batch_stats"]["BatchNorm_0"]["mean"] == 0).all()
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Dropped(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dropout(0.5, deterministic=False)(x)


    def forward(params, x, key):
        return Dropped().apply({"params": params, "rngs": {"dropout": key}}, x)  # expect: flax-collections


    def demonstrate():
        forward({}, jnp.ones(3), jax.random.key(0))  # raises: InvalidRngError
    ```

    ```python
    import flax.linen as nn
    import jax.numpy as jnp


    def shrink(images):
        return nn.max_pool(images, window_shape=(2, 2))  # expect: flax-collections


    def demonstrate():
        assert shrink(jnp.ones((1, 8, 8, 3))).shape == (1, 7, 7, 3)
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Normalized(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.BatchNorm(use_running_average=False, momentum=0.1)(x)  # expect: flax-collections


    def demonstrate():
        x = jnp.full((2, 1), 10.0)
        model = Normalized()
        variables = model.init(jax.random.key(0), x)
        _, updates = model.apply(variables, x, mutable=["batch_stats"])
        assert updates["batch_stats"]["BatchNorm_0"]["mean"][0] == 9.0
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train=False):
            return nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))


    net = Net()


    @jax.jit
    def train_step(variables, x):
        def loss_fn(params):
            variables_now = {**variables, "params": params}
            out, updates = net.apply(variables_now, x, mutable=["batch_stats"])  # expect: flax-collections
            return jnp.mean(out**2), updates

        return jax.grad(loss_fn, has_aux=True)(variables["params"])


    def demonstrate():
        x = jnp.full((2, 1), 10.0)
        variables = net.init(jax.random.key(0), x)
        _, updates = train_step(variables, x)
        assert jnp.all(updates["batch_stats"]["BatchNorm_0"]["mean"] == 0)
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax


    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.BatchNorm(use_running_average=True)(nn.Dense(8)(x))


    def start(key, x):
        params = Net().init(key, x)  # expect: flax-collections
        return params, optax.adamw(1e-3).init(params)


    def demonstrate():
        params, state = start(jax.random.key(0), jnp.ones((2, 3)))
        assert "batch_stats" in state[0].mu
    ```

    ## Use instead

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            x = nn.Dropout(0.1, deterministic=not train)(nn.Conv(8, (3, 3))(x))
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
            x = nn.avg_pool(x, (3, 3), padding="SAME")
            return nn.Dense(1)(x.reshape(x.shape[0], -1))


    net = Net()


    @jax.jit
    def train_step(variables, x, y, key):
        def loss_fn(params):
            variables_now, keys = {**variables, "params": params}, {"dropout": key}
            out, updates = net.apply(variables_now, x, train=True, mutable=["batch_stats"], rngs=keys)
            return jnp.mean((out[:, 0] - y) ** 2), updates

        grads, updates = jax.grad(loss_fn, has_aux=True)(variables["params"])
        params = jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], grads)
        return {**variables, **updates, "params": params}
    ```

    ## Limitations

    The rule reports a momentum of at most 0.2, if jaxlint knows its value.

    The rule misses a model in evaluation mode if jaxlint does not know the model, or the value of
    `use_running_average`. It reports nothing if the call itself passes `train=False`.

    The rule misses batch statistics that a loss function returns if the caller of the loss function drops them.

    The rule reports dropped statistics once for each model of a file, and nothing if another call of this model keeps them.
    It reports nothing for values that a Flax module stores with `sow`. It reports an optimizer of all variables only if the
    code that makes the model is in the same file and jaxlint finds the class of the model.

    ## Fix safety

    Unsafe. jaxlint fixes only pooling calls: it passes the window shape as strides, too. `max_pool(x, (2, 2))` becomes
    `max_pool(x, (2, 2), strides=(2, 2))`. The windows no longer overlap, so the result is smaller.

    The other mistakes have no fix. For dropped batch statistics, the author has to change the training step and
    its callers.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the reported call runs. It
    checks no value, because the source code already shows the mistake.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX512 (`lost-training-result`).

    ## Further reading

    <https://flax-linen.readthedocs.io/en/latest/guides/training_techniques/batch_norm.html>
    """
    if isinstance(event, FileRead):
        return variables_of_file(event)
    context = event.context
    if context.presumed or context.caught or is_test(context):
        return None
    if event.name in POOLS:
        window = sliding_window(event)
        if window is None:
            return None
        return Report(
            event.at,
            f"{callee(context, event.at)} moves its {window} window by 1, because `{POOLS[event.name][1]}` is missing; "
            f"pass the window as `{POOLS[event.name][1]}`",
            preview=True,
        )
    if event.name in _NORMS:
        return _low_momentum(event)
    if event.name == "flax.linen.Module.apply" and _has_keys_among(event.bound.get("variables")):
        return Report(
            event.at,
            f"{callee(context, event.at)} takes `rngs` in the variables for a collection and ignores its keys; pass them as "
            "the argument `rngs`",
            preview=True,
        )
    if event.name != "flax.linen.Module.apply" or not context.differentiated or not _updates_statistics(event):
        return None
    body = context.inner.body if context.inner is not None else context.scope.tree.body
    if _drops_second(body, event.at) and not _is_kept_elsewhere(context, event.at):
        return Report(
            event.at,
            f"This training step drops the `batch_stats` from {callee(context, event.at)}, so they keep their initial values; "
            "return them and pass them to the next step",
            preview=True,
        )
    return Report(
        event.at,
        f"{callee(context, event.at)} asks for new `batch_stats`, but each `nn.BatchNorm` of the model uses the stored "
        "statistics here, so none of them change; switch the training mode on",
        preview=True,
        given=STATISTICS_FROZEN,
        unless=STATISTICS_COMPUTED,
    )


_NORMS = {"flax.linen.BatchNorm": 2, "flax.nnx.BatchNorm": -1}
"""Layers with running statistics, and the position of their momentum."""
_LOW = 0.2
"""PyTorch's default is 0.1; nobody wants to forget four fifths of the statistics in each step."""


def _low_momentum(event: LibraryCall) -> Report | None:
    """The weight of the old statistics is as low as that of the new ones is in PyTorch."""
    place = _NORMS[event.name]
    by_position = event.args[place] if 0 <= place < len(event.args) else None
    momentum = event.kwargs.get("momentum", by_position)
    if not isinstance(momentum, Const) or not isinstance(momentum.value, float) or not 0 < momentum.value <= _LOW:
        return None
    return Report(
        event.at,
        f"{callee(event.context, event.at)} gets `momentum={momentum.value:g}`, which in Flax is the weight of the old "
        f"statistics (in PyTorch of the new ones); use `momentum={1 - momentum.value:g}`",
        preview=True,
    )


def _has_keys_among(variables: Value | None) -> bool:
    """One of the collections has the name of the argument that takes the keys."""
    return isinstance(variables, DictValue) and any(name == "rngs" for name, _ in variables.items())


# --- batch statistics -------------------------------------------------------------------------------------------


def _updates_statistics(event: LibraryCall) -> bool:
    mutable = event.bound.get("mutable", event.kwargs.get("mutable"))
    names = known_elements(mutable) if mutable is not None else None
    named = names if names is not None else (mutable,)
    if not any(isinstance(name, Const) and name.value == "batch_stats" for name in named):
        return False
    switches = {"train": False, "training": False, "is_training": False, "use_running_average": True}
    return not any(
        isinstance(value, Const) and value.value is off
        for name, off in switches.items()
        if (value := event.kwargs.get(name)) is not None
    )


def _drops_second(body: list[ir.Stmt], call: ir.Node) -> bool:
    """Nothing reads the second result of a call."""
    for statement in _statements(body):
        if statement.start <= call.start and call.end <= statement.end and not blocks(statement):
            taken = next((n for n in walk(statement) if isinstance(n, ir.Subscript) and n.value is call), None)
            if taken is not None:
                return _is_zero(taken.index)
            if isinstance(statement, ir.Assign) and statement.value is call:
                return _forgets_second(body, statement.targets[0])
    return False


def _forgets_second(body: list[ir.Stmt], target: ir.Expr) -> bool:
    """Of a pair that is bound to this target nothing reads the second element."""
    if isinstance(target, ir.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ir.Name):
        return target.elts[1].id == "_" or not _is_read(body, target.elts[1])
    if not isinstance(target, ir.Name):
        return False
    nodes = [node for statement in body for node in walk(statement)]
    reads = [node for node in nodes if isinstance(node, ir.Name) and node.id == target.id and node is not target]
    firsts = {id(node.value) for node in nodes if isinstance(node, ir.Subscript) and _is_zero(node.index)}
    return bool(reads) and all(id(read) in firsts for read in reads)


def _statements(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    for statement in body:
        yield statement
        yield from _statements(blocks(statement))


def _is_zero(index: ir.Expr) -> bool:
    return isinstance(index, ir.Constant) and index.value == 0 and index.kind == "int"


def _is_read(body: list[ir.Stmt], name: ir.Name) -> bool:
    targets = {
        id(part)
        for s in body
        for n in walk(s)
        if isinstance(n, ir.Assign)
        for t in n.targets
        for part in walk(t)
        if isinstance(part, ir.Name)
    }
    return any(isinstance(n, ir.Name) and n.id == name.id and id(n) not in targets for s in body for n in walk(s))


def _is_kept_elsewhere(context: Context, call: Any) -> bool:
    """Another pass through the same module keeps its statistics: the other step of a pair of adversaries."""
    tree, text = context.scope.tree, context.scope.text
    receiver = spelled(call.func, text)
    for statement in tree.body:
        for node in walk(statement):
            if not isinstance(node, ir.Call) or node is call or spelled(node.func, text) != receiver:
                continue
            if last_name(node.func) and any(a.keyword == "mutable" for a in node.args):
                function = _body_around(tree, node)
                if not _drops_second(function, node):
                    return True
    return False


def _body_around(tree: ir.Module, node: ir.Node) -> list[ir.Stmt]:
    """The body of the innermost function around a node."""
    body = tree.body
    for statement in tree.body:
        for part in walk(statement):
            if isinstance(part, ir.FunctionDef) and part.start <= node.start < part.end:
                inner = part.function.body
                if not body or body is tree.body or (inner and inner[0].start >= body[0].start):
                    body = inner
    return body
