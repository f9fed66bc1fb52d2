"""JAX512: see the page of ``lost_training_result``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._lost_states import lost_states
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import FileRead, LostResult


@rule("JAX512", "warning")
def lost_training_result(event: LostResult | FileRead) -> Report | list[Report] | None:
    """A loop computes new parameters or states, but the code continues with the old ones.

    The rule is on only with `--preview`: it reports nothing in 214 public repositories, so it is not tested on real
    mistakes.

    ## Why is this bad?

    JAX functions do not change their arguments; they return new values. If the loop drops the new state, every
    iteration starts from the same state. If the code after the loop reads a variable that holds the state from before
    the loop, the training has no effect. If the loop does not pass the new optimizer state to the next step, an
    optimizer such as adam uses its initial moments in each step. If a function updates its parameter `params` and
    returns nothing, its caller keeps the old parameters. JAX raises no error in these cases.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x):
        return jnp.mean((x @ params["w"] - 1.0) ** 2)


    @jax.jit
    def train_step(state, x):
        grads = jax.grad(loss)(state["params"], x)
        return {"params": jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)}, loss(state["params"], x)


    def train(params, batches):
        state = {"params": params}
        for x in batches:
            state, _ = train_step(state, x)
        return params  # expect: lost-training-result


    def losses(state, batches):
        found = []
        for x in batches:
            _, value = train_step(state, x)  # expect: lost-training-result
            found.append(value)
        return state, found


    def demonstrate():
        start, batches = {"w": jnp.zeros(3)}, [jnp.ones((2, 3))] * 4
        assert train(start, batches) is start
        found = losses({"params": start}, batches)[1]
        assert found[0] == found[-1]
    ```

    A step that drops the new state of the optimizer:

    ```python
    import jax
    import jax.numpy as jnp
    import optax

    optimizer = optax.adam(0.1)


    @jax.jit
    def train_step(params, opt_state, x):
        grads = jax.grad(lambda params: jnp.sum((params - x) ** 2))(params)
        updates, _ = optimizer.update(grads, opt_state)  # expect: lost-training-result
        return optax.apply_updates(params, updates)


    def demonstrate():
        params = jnp.zeros(3)
        state = optimizer.init(params)
        for _ in range(3):
            params = train_step(params, state, jnp.ones(3))
        assert state[0].count == 0
    ```

    A function that trains its argument and returns nothing:

    ```python
    import jax.numpy as jnp


    def step(params, x):
        return params - 0.1 * (params - x)


    def train(params, batches):
        for x in batches:
            params = step(params, x)  # expect: lost-training-result


    def demonstrate():
        start = jnp.zeros(3)
        assert train(start, [jnp.ones(3)] * 4) is None
        assert jnp.all(start == 0)
    ```

    A statement that drops the new parameters:

    ```python
    import jax.numpy as jnp
    import optax


    def descend(params, updates):
        optax.apply_updates(params, updates)  # expect: lost-training-result
        return params


    def demonstrate():
        assert jnp.all(descend(jnp.zeros(3), jnp.ones(3)) == 0)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x):
        return jnp.mean((x @ params["w"] - 1.0) ** 2)


    @jax.jit
    def train_step(state, x):
        grads = jax.grad(loss)(state["params"], x)
        return {"params": jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)}, loss(state["params"], x)


    def train(params, batches):
        state, found = {"params": params}, []
        for x in batches:
            state, value = train_step(state, x)
            found.append(value)
        return state["params"], found
    ```

    ## Not reported

    jaxlint does not report code that compares the values from before and after the loop, because such code needs both.
    It does not report a loop that only evaluates a model, because the model does not change.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(params, x):
        return params - 0.1 * jax.grad(lambda p: jnp.mean((x @ p - 1.0) ** 2))(params), jnp.mean(x @ params)


    def drift(initial, batches):
        params = initial
        for x in batches:
            params, _ = step(params, x)
        return jnp.linalg.norm(params - initial)


    def outputs(params, batches):
        return [step(params, x)[1] for x in batches]
    ```

    ## Limitations

    The rule trusts names where jaxlint does not know the objects: `opt.update(grads, state)` is an optimizer, and
    `params` or `opt_state` is a state. It misses states with other names, and a loop that drops a new value that it
    computes with operators, as in `new = params - 0.1 * grads`.

    The rule does not report a function that saves its state to a file, or whose name says that it measures or tests
    something.

    ## Fix safety

    No fix. Only the author knows which of the old and new values the code should use.

    ## How it is verified

    jaxlint cannot confirm the finding: the program runs without an error, and only the author knows that it should
    use the values that the loop computed instead of the initial ones.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX509 (`discarded-result`), JAX514 (`flax-collections`).

    ## Further reading

    <https://optax.readthedocs.io/en/latest/getting_started.html>
    """
    if isinstance(event, FileRead):
        return lost_states(event)
    context = event.context
    if context.presumed or is_test(context):
        return None
    name = f"`{event.name}`"
    if event.how == "initial":
        message = (
            f"`{event.initial}` keeps its value from before the loop, and nothing reads the updated {name}; use {name}"
        )
    elif event.how == "dropped":
        message = (
            f"{quote(context, event.at, 'This call')} returns the new {name}, but the loop drops it, "
            f"so every iteration starts from the same {name}; assign it to {name}"
        )
    else:
        message = (
            f"{quote(context, event.at, 'This call')} returns a new optimizer state, but nothing reads it, "
            f"so every step uses the same {name}; pass it to the next step"
        )
    return Report(event.at, message, preview=True)
