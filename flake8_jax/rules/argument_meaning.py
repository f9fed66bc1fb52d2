"""JAX807: see the page of ``argument_meaning``."""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.knowledge.meanings import Meaning, load_meanings
from flake8_jax.rules._crossed_fields import crossed_fields
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._wording import spelled as spelled_function
from flake8_jax.semantics.domain.code import last_name, path_of, spelled
from flake8_jax.semantics.domain.dtypes import dtype_class
from flake8_jax.semantics.domain.host_tests import written_as
from flake8_jax.semantics.domain.values import Const, UnionValue, Value
from flake8_jax.semantics.events.events import LibraryCall
from flake8_jax.semantics.events.files import FileRead


@rule("JAX807", "warning", only=Subscription(names=frozenset(load_meanings())))
def argument_meaning(event: LibraryCall | FileRead) -> Report | list[Report] | None:
    """A function of Flax, optax, Haiku or Equinox takes an argument for something else than its author did.

    The rule is on only with `--preview`, because too few public repositories have such code to judge the rule.

    The finding is a note in three cases: `alpha` of `optax.cosine_decay_schedule` is a small number, the scale of
    `jax.nn.initializers.uniform` is negative, or `eqx.nn.BatchNorm` gets no `mode`.

    ## Why is this bad?

    Functions of these libraries look like those of PyTorch, but some arguments have another meaning. The call raises
    no error, and the model only learns worse. These are the mistakes that the rule finds:

    - The first argument of a layer is not the number of features. `nn.LayerNorm(768)` of Flax adds 768 to the
      variance, and `nn.Dense(784, 128)` has 784 output features.
    - The weight of an average belongs to the other side. `momentum=0.1` of PyTorch's batch normalization is
      `decay_rate=0.9` in Haiku. `optax.incremental_update` takes the weight of the new tensors.
    - Dropout gets the fraction that it should keep, or `deterministic=train`.
    - The second argument of `optax.adam` is `b1`, and not the weight decay.
    - `decay_steps` of `optax.warmup_cosine_decay_schedule` is the number of all steps, with the warmup.
    - `alpha` of `optax.cosine_decay_schedule` is a fraction of the initial learning rate.
    - The `dtype` of a Flax layer is the dtype of what it computes, not of its input. `nn.Embed` with an integer dtype
      truncates the embeddings to whole numbers, and their gradient is 0.
    - A layer gets one field of the module for another: `nn.Conv(…, param_dtype=self.dtype)`, although the module has a
      field `param_dtype`, which it never reads. With a `dtype` of low precision, the optimizer then also stores and
      updates the weights in low precision.
    - `eqx.apply_updates(model, params)` adds the parameters to those of the model.
    - `opt_update(0, grads, state)` of adam in `jax.example_libraries` gets the same step each time.

    ## Example

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.LayerNorm(768)(x)  # expect: argument-meaning


    def demonstrate():
        x = jax.random.normal(jax.random.key(0), (4, 768))
        y, _ = Block().init_with_output(jax.random.key(0), x)
        assert jnp.std(y) < 0.1  # and not 1
    ```

    ```python
    import optax


    def schedule(peak, warmup, total):
        return optax.warmup_cosine_decay_schedule(
            init_value=0.0,
            peak_value=peak,
            warmup_steps=warmup,
            decay_steps=total - warmup,  # expect: argument-meaning
        )


    def demonstrate():
        assert schedule(1.0, 100, 1000)(900) == 0.0  # 100 steps too early
    ```

    ```python
    import optax


    def average(params, ema_params, momentum):
        return optax.incremental_update(params, ema_params, momentum)  # expect: argument-meaning


    def demonstrate():
        assert average(1.0, 0.0, 0.999) == 0.999  # nearly the new value
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Tokens(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            return nn.Embed(100, 16, dtype=jnp.int32)(tokens)  # expect: argument-meaning


    def demonstrate():
        vectors, _ = Tokens().init_with_output(jax.random.key(0), jnp.arange(100))
        assert vectors.dtype == jnp.int32
    ```

    ```python
    import flax.linen as nn
    import jax
    import jax.numpy as jnp


    class Down(nn.Module):
        dtype: jnp.dtype = jnp.float32
        param_dtype: jnp.dtype = jnp.float32

        @nn.compact
        def __call__(self, x):
            return nn.Dense(8, dtype=self.dtype, param_dtype=self.dtype)(x)  # expect: argument-meaning


    def demonstrate():
        variables = Down(dtype=jnp.bfloat16).init(jax.random.key(0), jnp.ones((1, 4)))
        assert jax.tree.leaves(variables)[0].dtype == jnp.bfloat16  # and not float32
    ```

    ## Use instead

    ```python
    import flax.linen as nn
    import optax


    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.LayerNorm()(x)


    def schedule(peak, warmup, total):
        return optax.warmup_cosine_decay_schedule(0.0, peak, warmup_steps=warmup, decay_steps=total)


    def average(params, ema_params, momentum):
        return optax.incremental_update(params, ema_params, 1 - momentum)
    ```

    ## Not reported

    jaxlint does not report an argument whose value it does not know, unless the name of the argument says what it
    stands for. It reports nothing in tests.

    ```python
    import flax.linen as nn
    import optax


    class Block(nn.Module):
        epsilon: float

        @nn.compact
        def __call__(self, x):
            return nn.LayerNorm(self.epsilon)(x)


    def average(params, target_params, tau):
        return optax.incremental_update(params, target_params, tau)


    def schedule(rate, final_rate, steps):
        return optax.cosine_decay_schedule(rate, steps, alpha=final_rate / rate)
    ```

    ## Limitations

    The rule knows only the functions and arguments of a table in jaxlint. It understands English names of arguments,
    such as `momentum`, `keep_prob` or `hidden_dim`. It misses a value that the code computes, such as `2 * dim`, if it
    does not know the result. A wrong name, such as `momentum` for the weight of the new tensors, leads to a wrong
    finding.

    ## Fix safety

    No fix. Only the author knows which value was meant.

    ## How it is verified

    jaxlint cannot confirm the finding, because the call runs without an error.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX711 (`probabilities-as-logits`), JAX804 (`library-call-mismatch`).

    ## JAX documentation

    <https://optax.readthedocs.io/en/latest/api/optimizer_schedules.html>
    """
    if isinstance(event, FileRead):
        return crossed_fields(event)
    if is_test(event.context):
        return None
    for meaning in load_meanings().get(event.name, ()):
        node, value = _argument(event, meaning, meaning.argument)
        if meaning.missing:
            if node is None and value is None and _passes_all(event):
                return _report(event, meaning, event.at)
        elif node is not None and value is not None and _shows(event, meaning, node, value):
            return _report(event, meaning, node)
    return None


def _argument(event: LibraryCall, meaning: Meaning, name: str) -> tuple[ir.Expr | None, Value | None]:
    """The expression and the value that the call passes for a parameter."""
    if name in event.kwargs:
        return event.keyword_nodes.get(name), event.kwargs[name]
    at = meaning.parameters.index(name) if name in meaning.parameters else len(event.args)
    if at < len(event.args) and at < len(event.nodes) and None not in event.nodes[: at + 1]:
        return event.nodes[at], event.args[at]
    return None, None


def _passes_all(event: LibraryCall) -> bool:
    """No ``*`` and no ``**`` passes arguments that are not written in the call."""
    return (
        len(event.nodes) == len(event.args)
        and None not in event.nodes
        and len(event.keyword_nodes) == len(event.kwargs)
    )


def _shows(event: LibraryCall, meaning: Meaning, node: ir.Expr, value: Value) -> bool:
    """The argument shows that its author took it for something else."""
    if any(_number(_argument(event, meaning, name)[1]) == one for name, one in meaning.unless.items()):
        return False
    if meaning.less:
        return _leaves_out(event, node, _argument(event, meaning, meaning.less)[0])
    if meaning.literal:
        return event.context.inner is not None and isinstance(node, ir.Constant) and _number(value) is not None
    classes = {dtype_class(member) for member in _members(value)} if meaning.integer else set()
    if classes - {""}:
        return classes <= {"int", "bool"}
    known = [member.value for member in _members(value) if isinstance(member, Const)]
    if known and len(known) == len(_members(value)):
        return all(_is_wrong(meaning, one) for one in known)
    name = _name(node)
    return bool(name) and meaning.is_named(name)


def _members(value: Value) -> tuple[Value, ...]:
    return tuple(value.members) if isinstance(value, UnionValue) else (value,)


def _is_wrong(meaning: Meaning, value: Any) -> bool:
    if isinstance(value, str):
        return meaning.text
    return type(value) in (int, float) and meaning.shows(value)


def _number(value: Value | None) -> float | None:
    return value.value if isinstance(value, Const) and type(value.value) in (int, float) else None


def _name(node: ir.Expr) -> str:
    """The last part of a variable, an attribute, or an item of a dictionary."""
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Constant) and isinstance(node.index.value, str):
        return node.index.value
    return path_of(node).rpartition(".")[2]


def _leaves_out(event: LibraryCall, node: ir.Expr, other: ir.Expr | None) -> bool:
    """The argument is a difference that takes away the other argument, or what the other one is computed from."""
    if other is None or _joins(event):
        return False
    function, text = event.context.inner, event.context.scope.text
    parts = {spelled(part, text) for one in (other, written_as(other, function)) for part in _terms(one)}
    return any(
        isinstance(part, ir.BinOp)
        and part.op == "-"
        and not parts.isdisjoint(spelled(t, text) for t in _terms(part.right))
        for written in _written_with_arguments(node, function)
        for part in walk(written)
    )


def _joins(event: LibraryCall) -> bool:
    """The schedule is one part of several, so that it may end before the others do."""
    body = event.context.inner.body if event.context.inner is not None else []
    calls = (node for statement in body for node in walk(statement) if isinstance(node, ir.Call))
    return any(last_name(call.func) == "join_schedules" for call in calls)


def _written_with_arguments(node: ir.Expr, function: ir.Function | None) -> list[ir.Expr]:
    """The expression that a variable stands for, and those that calls in it get as their arguments: ``int(decay_steps)``."""
    found = [written_as(node, function)]
    for one in found:
        passed = [argument.value for argument in one.args] if isinstance(one, ir.Call) else []
        written = [written_as(part, function) for part in passed]
        found += [part for part in written if all(part is not other for other in found)]
    return found


def _terms(node: ir.Expr) -> list[ir.Expr]:
    """The expression, and the variables and attributes that it is a product of."""
    found = [node]
    for one in found:
        if isinstance(one, ir.BinOp) and one.op == "*":
            found += [one.left, one.right]
        elif isinstance(one, ir.Call) and len(one.args) == 1:
            found.append(one.args[0].value)
    return [one for one in found if not isinstance(one, ir.Constant)]


def _report(event: LibraryCall, meaning: Meaning, node: ir.Expr) -> Report:
    shown = quote(event.context, node, "the argument")
    function = f"`{spelled_function(event.context, event.at, event.name)}`"
    if event.name.endswith(".__call__"):
        function = quote(event.context, event.at.func, function)
    value = shown.strip("`")
    rest = f"1 - {value}" if _name(node) else "1 minus it"
    if isinstance(node, ir.Constant) and isinstance(node.value, (int, float)):
        rest = f"{1 - node.value:g}"
    said = f"{meaning.says}; {meaning.instead}".replace("{x}", value).replace("{rest}", rest)
    subject = f"{shown} is passed as `{meaning.argument}` of {function}"
    if meaning.missing:
        subject = f"{function} gets no `{meaning.argument}`"
    return Report(node, f"{subject}, {said}", level=meaning.level, preview=True)
