"""JAX421: see the page of ``unjitted_function``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._fresh import stores
from flake8_jax.rules._keys import place
from flake8_jax.rules._steps import report_gradients_first
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import nodes_around, path_of
from flake8_jax.semantics.events.unjitted import UnjittedFunction


@rule("JAX421", "info", settle=report_gradients_first)
def unjitted_function(event: UnjittedFunction) -> Report | None:
    """A function that a program calls again and again is not jitted.

    The rule is on only with `--preview`, because the code gives the right result and only takes more time.

    jaxlint reports these functions:

    - A loop outside tracing calls the function, and the function does six or more array operations, runs a model or an
      optimizer, or computes a gradient. Evaluations once an epoch and losses that are computed again for a log count, too.
    - No code of the project calls the function, but its name says that programs call it often, such as `train_step`,
      `update`, `accuracy`, `select_action` or `predict`. It runs a model or an optimizer, computes a gradient, calls what
      `vmap` returned, or updates parameters one by one.
    - No code of the project calls the function, its name is of this kind, and each call of it compiles a `scan` or a
      similar loop again, because the function defines the loop's body.
    - No code of the project calls the method, and the method calls what `grad`, `hessian` or `vmap` returned
      (`-jax.grad(self.energy)(x)`), or does six or more array operations and has a name such as `predict`.
    - The method chooses an action (`select_action`, `act`) with two or more array operations. A loop that steps an
      environment calls the method, or no code of the project does.

    ## Why is this bad?

    Outside `jit`, JAX sends each operation to the device by itself, and keeps each intermediate array. For an evaluation of
    a whole data set, these arrays are large. For a small step, the time for sending the operations is longer than the
    operations take: see JAX414 (`eager-step`) for measurements.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def forward(params, x):
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
        w, b = params[-1]
        return x @ w + b


    batched_forward = jax.vmap(forward, in_axes=(None, 0))


    def accuracy(params, images, labels):
        predicted = jnp.argmax(batched_forward(params, images), axis=1)  # expect: unjitted-function
        return jnp.mean(predicted == labels)


    def demonstrate():
        params = [(jnp.ones((5, 3)), jnp.ones(3)), (jnp.ones((3, 2)), jnp.ones(2))]
        images, labels = jnp.ones((4, 5)), jnp.zeros(4)
        assert len(jax.make_jaxpr(batched_forward)(params, images).eqns) >= 5
        for _ in range(30):
            accuracy(params, images, labels)
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def forward(params, x):
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
        w, b = params[-1]
        return x @ w + b


    @jax.jit
    def accuracy(params, images, labels):
        predicted = jnp.argmax(jax.vmap(forward, in_axes=(None, 0))(params, images), axis=1)
        return jnp.mean(predicted == labels)


    @jax.jit
    def updated(params, x, y):
        grads = jax.grad(lambda p: jnp.mean((forward(p, x) - y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


    class Agent:
        def __init__(self, params):
            self.params = params

        def update(self, x, y):
            self.params = updated(self.params, x, y)
    ```

    ## Not reported

    jaxlint does not report a function that some code of the project traces for `jit`, or that a decorator may jit. It does
    not report methods of a network, functions that run once by their names (`init_params`, `load_model`), or a function if
    JAX414 (`eager-step`) or JAX410 (`transform-in-loop`) reports the loop around it.

    ```python
    import jax
    import jax.numpy as jnp


    def loss(params, x):
        return jnp.mean(jnp.tanh(x @ params) ** 2)


    def update(params, x):
        return params - 0.1 * jax.grad(loss)(params, x)


    step = jax.jit(update)


    def initial_loss(params, x):
        return jax.jit(loss)(params, x)
    ```

    ## Limitations

    If users of a library jit the function, the finding is wrong. The rule does not know how large the arrays are, and how
    often a program calls the function.

    ## Fix safety

    No fix. The author has to decide which statements belong to the jitted function.

    ## How it is verified

    jaxlint cannot confirm the finding, because the time that the operations take depends on the machine and on the arrays.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX414 (`eager-step`), JAX410 (`transform-in-loop`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html>
    """
    context = event.context
    if is_test(context) or context.presumed or context.staged or _cannot_be_jitted(event):
        return None
    name = f"`{event.function.name}`"
    step = f"a function that returns what {name} stores" if stores(event.function) else name
    subject = quote(context, event.at, "this")
    if event.loop is not None and event.called is None:
        work = f"The loop calls {subject} without jit, so JAX runs the operations of {name} one by one"
        return Report(event.at, f"{work}; call jax.jit of {step}", preview=True, unless=event.unless, given=event.given)
    caller = f" (called in a loop, {place(event.called, context)})" if event.called is not None else ""
    if event.kind == "body":
        problem = f"Each call of {name}{caller} compiles {subject} again, because {name} defines its function"
        return Report(event.at, f"{problem}; jit {step}", preview=True, unless=event.unless)
    problem = f"{subject} runs outside jit, because nothing jits {name}{caller}"
    advice = f"so JAX runs each operation separately; jit {step}"
    return Report(event.at, f"{problem}, {advice}", preview=True, unless=event.unless)


def _cannot_be_jitted(event: UnjittedFunction) -> bool:
    """The function is jitted where it stands, or calls functions of NumPy, of plots or of images, which need its values."""
    body = event.function.body
    around = nodes_around(event.home.tree.body, body[0].start, body[-1].end)
    own = [node for node in around if isinstance(node, ir.FunctionDef) and node.function is event.function]
    if any("jit" in event.home.text[one.start : one.end] for node in own for one in node.decorators):
        return True
    calls = (path_of(node.func) for statement in body for node in walk(statement) if isinstance(node, ir.Call))
    return any(path.partition(".")[0] in _ON_THE_HOST for path in calls)


_ON_THE_HOST = frozenset({"Image", "PIL", "ax", "cv2", "np", "numpy", "onp", "plt"})
