"""JAX305: see the page of ``host_rng_in_staged``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import COMPILED_BY, Report, Subscription, rule
from flake8_jax.rules._facts import RANDOM, effect
from flake8_jax.rules._wording import spelled
from flake8_jax.semantics.domain.code import called_name, nodes_around
from flake8_jax.semantics.domain.values import Const, ExternalInstance
from flake8_jax.semantics.events.events import Context, LibraryCall, MethodCall
from flake8_jax.semantics.events.facts import SEEDED


@rule("JAX305", "error", only=Subscription(where=frozenset({"staged"}), effects=frozenset({RANDOM})))
def host_rng_in_staged(event: LibraryCall | MethodCall) -> Report | None:
    """Traced code uses `numpy.random`, `random`, `secrets` or `os.urandom`.

    The finding is an error under `jit`. Under `vmap` without `jit`, it is a warning: JAX traces the function again in
    every call, but all batch elements get the same number.

    ## Why is this bad?

    In traced code, a call of a random function of Python or NumPy runs at trace time, once per compilation, and its
    result becomes a constant of the program. Every later call silently uses the same numbers. Use `jax.random` with
    a key that is passed in.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def add_noise(x):
        noise = np.random.normal(size=x.shape)  # expect: host-rng-in-staged
        return x + noise


    def demonstrate():
        assert jnp.array_equal(add_noise(jnp.zeros(8)), add_noise(jnp.zeros(8)))
    ```

    ## Use instead

    ```python
    import jax


    @jax.jit
    def add_noise(key, x):
        return x + jax.random.normal(key, x.shape)
    ```

    ## Not reported

    jaxlint does not report random numbers outside tracing, in a callback (a function that `jax.debug.callback` or a
    similar function calls on the host), or in a function under `jax.grad` without `jit`, because Python draws new
    numbers there each time.

    jaxlint does not report a generator with a seed (`np.random.default_rng(0)`), code after `np.random.seed(seed)` in
    the same traced function, or random numbers in a `with jax.ensure_compile_time_eval()` block, because equal numbers
    are intended there. It does not report `uuid.uuid4()` or `secrets.token_hex()`, because their text usually only
    names an object.

    ```python
    import random

    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def update(w, batch):
        jax.debug.callback(lambda: random.random())
        return w - 0.1 * batch.T @ (batch @ w)


    @jax.jit
    def start_vector(x):
        return x + np.random.RandomState(1729).uniform(-1.0, 1.0, x.shape)


    @jax.jit
    def random_features(x):
        with jax.ensure_compile_time_eval():
            projection = jnp.asarray(np.random.normal(size=(x.shape[-1], 4)))
        return x @ projection


    def fit(data, steps):
        rng = np.random.default_rng(0)
        w = jnp.asarray(rng.normal(size=data.shape[1]))
        for _ in range(steps):
            w = update(w, data[rng.permutation(len(data))[:4]])
            if random.random() < 0.01:
                break
        return w
    ```

    ## Limitations

    The rule misses random number generators that the project implements itself, such as a class that computes the
    next number itself.

    ## Fix safety

    No fix. The traced function needs a key as an argument, and every caller has to pass one.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the random function runs while JAX
    traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX504 (`impure-call`), JAX304 (`constant-key`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/random-numbers.html>
    """
    context = event.context
    if not context.staged or context.presumed or effect(event) != RANDOM or _is_seeded(event):
        return None
    if _is_for_tracing(context, event.at):
        return None
    name = spelled(context, event.at, event.name if isinstance(event, LibraryCall) else f".{event.method}")
    if not context.once:
        # JAX keeps no trace of this code: Python runs it at every call, and only the elements of a vmap share the result.
        if not context.mapped:
            return None
        message = f"{name}() runs once for all elements of the vmapped axis; use jax.random with one key per element"
        return Report(event.at, message, level="warning")
    who = "every later call reuses" if not context.mapped else "every later call and every mapped element reuse"
    return Report(
        event.at,
        f"{name}() runs once at trace time{COMPILED_BY}, so {who} its numbers; pass a key as an argument and use jax.random",
    )


def _is_for_tracing(context: Context, node: ir.Node) -> bool:
    """Under ``jax.ensure_compile_time_eval()``, which says that it runs while JAX traces."""
    around = nodes_around(context.inner.body, node.start, node.end) if context.inner is not None else ()
    items = [item.context for one in around if isinstance(one, ir.With) for item in one.items]
    return any(
        isinstance(item, ir.Call) and called_name(item.func, context.scope) == "ensure_compile_time_eval"
        for item in items
    )


def _is_seeded(event: LibraryCall | MethodCall) -> bool:
    """The call makes a generator with a seed, or draws from one that staged code gave one: its numbers are fixed anyway."""
    if not isinstance(event, LibraryCall):
        return False
    if event.fixed or event.name in _SAVING:
        return True
    seed, generator = event.bound.get(_SEED_OF.get(event.name, "")), event.bound.get("self")
    if seed is not None:
        return not (isinstance(seed, Const) and seed.value is None)
    return isinstance(generator, ExternalInstance) and SEEDED in generator.slots


_SEED_OF = {"numpy.random.default_rng": "seed", "numpy.random.RandomState": "seed", "random.Random": "x"}
_SAVING = frozenset({"random.getstate", "numpy.random.get_state"})
"""They draw nothing."""
