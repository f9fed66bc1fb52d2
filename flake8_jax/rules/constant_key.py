"""JAX304: see the page of ``constant_key``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import COMPILED_BY, TRACED_BY, Report, Subscription, rule
from flake8_jax.rules._constant_seeds import (
    fallback,
    first_default_of_each_file,
    function_with_default,
    is_called_again,
    is_sampler,
    is_shown,
    keeps_global,
    stream_of_module,
    unused_seed,
)
from flake8_jax.rules._counted_seeds import (
    STREAMS,
    counter_of,
    ignored_seed,
    ignored_stream,
    makes_constant_mask,
    reachable_seed,
)
from flake8_jax.rules._facts import RANDOM, effect, is_test
from flake8_jax.rules._host_seeds import ignored_key, narrow_range
from flake8_jax.rules._keys import place
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.boundary import NOT_TRAINING, SEED
from flake8_jax.semantics.domain.code import all_statements, last_name, names_read, statement_at
from flake8_jax.semantics.domain.equal_draws import mentions_equal_draws
from flake8_jax.semantics.domain.values import Array, Const, External
from flake8_jax.semantics.events.events import Context, LibraryCall, RepeatedSeed
from flake8_jax.semantics.events.facts import DRAWN


@rule(
    "JAX304",
    "warning",
    settle=first_default_of_each_file,
    only=Subscription(effects=frozenset({"make", "consume", "split", RANDOM})),
)
def constant_key(event: LibraryCall | RepeatedSeed) -> Report | None:
    """A PRNG key comes from a constant seed, but each call or iteration needs its own numbers.

    The rule reports such a key in these cases:

    - A traced function or a loop makes the key, or traced code reads it from a variable of the module.
    - A function that gets a seed or a key does not use it, and makes the key from a constant instead.
    - A loop calls a function that makes the key, and passes the result to the next iteration.

    With `--preview`, the rule also reports:

    - A key that is the default of a parameter (one finding for each file).
    - A draw from a key that the module makes once, in a function that the file calls more than once or in a loop, or that
      only other files call. The same holds for the constructor of a class.
    - A key that a constructor makes from a constant, although the constructor gets a key.
    - A key that a function makes, if a loop calls the function but passes no result to the next iteration.
    - A key that a function without a parameter for a seed makes, if the name of the function says that it samples,
      generates or adds noise (`sample_noise`).
    - A key that a loop makes from a random number of Python or NumPy, if this number is one of fewer than 2**24.
    - A key that traced code makes if its argument for a key is None (`if key is None: key = jax.random.key(0)`), and from
      which it draws a mask, or if no caller passes a key.
    - A function that gets a key and does not use it, but draws from the global generator of NumPy or Python.
    - A key that a loop makes from its counter alone (`jax.random.key(step)`), if the function has a seed.
    - Streams of Flax (`nnx.Rngs(0)`) that a constructor makes although it gets some, or that traced code makes for a
      dropout layer.
    - A key or streams that a function makes from a constant, although the function, or another method of its class, reads
      a seed from a configuration (`config.seed`).
    - A key that traced code or a loop makes, if only a function `main` runs this code.

    The finding is a warning if the code draws a dropout mask, a permutation or a choice of categories with the key,
    because these should usually differ in each call. It is also a warning if the function ignores a seed or a key that
    it gets, and in constructors. Other findings are notes, such as those for the noise of an experiment
    or a start vector.

    The finding is also a note if a comment on the line that makes the key says that equal numbers are intended. It is
    a note if the compiled function has no arguments, because such a function returns the same result anyway.

    ## Why is this bad?

    A key from a constant seed is equal in every call and every iteration, so all draws repeat: dropout removes the
    same units each time, and augmentation never varies. Make the key once, outside the traced function or the loop,
    and pass it in.

    Traced code that reads a key from a variable of the module has the same problem, because the key does not change
    between calls. A function that makes its own key (`def noise(x): key = jax.random.key(0) …`) has this problem if a
    loop calls the function.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def dropout(x):
        key = jax.random.key(0)  # expect: constant-key
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0.0)


    def demonstrate():
        assert jnp.array_equal(dropout(jnp.ones(64)), dropout(jnp.ones(64)))
    ```

    ```python
    import jax
    import jax.numpy as jnp

    key = jax.random.key(0)


    @jax.jit
    def jitter(x):
        return x + jax.random.normal(key, x.shape)  # expect: constant-key


    def demonstrate():
        assert jnp.array_equal(jitter(jnp.ones(8)), jitter(jnp.ones(8)))
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def act(state):
        key = jax.random.key(0)  # expect: constant-key
        return state + jax.random.normal(key, state.shape)


    def run(steps):
        state = jnp.zeros(2)
        for _ in range(steps):
            state = act(state)
        return state


    def demonstrate():
        assert jnp.allclose(run(10), 10 * run(1))


    if __name__ == "__main__":
        print(run(1000))
    ```

    A function has a parameter `seed` or `key` and does not use it, because it makes its own key: callers choose a seed,
    but all of them get the same numbers.

    ```python
    import jax


    def train(steps, seed=0):
        key = jax.random.key(42)  # expect: constant-key
        return jax.random.normal(key, (steps,))


    def demonstrate():
        assert (train(3, seed=1) == train(3, seed=2)).all()
    ```

    A sampler makes its own key and has no parameter for a seed, so each call gives the same samples (`--preview`).

    ```python
    import jax


    def sample_noise(n):
        return jax.random.normal(jax.random.key(0), (n,))  # expect: constant-key


    def demonstrate():
        first = sample_noise(3)
        second = sample_noise(3)
        assert (first == second).all()
    ```

    A loop makes each key from one of 1000 seeds. After 40 iterations, two keys are probably equal (`--preview`).

    ```python
    import jax
    import numpy as np


    def draws(steps):
        found = []
        for _ in range(steps):
            key = jax.random.key(np.random.randint(1000))  # expect: constant-key
            found.append(float(jax.random.normal(key)))
        return found


    def demonstrate():
        assert len(set(draws(300))) < 300
    ```

    A function gets a key but draws with NumPy, so the seed of the program does not choose the batches (`--preview`).

    ```python
    import jax
    import numpy as np


    def batch(key, data, size):
        rows = np.random.randint(0, len(data), size)  # expect: constant-key
        return data[rows]


    def demonstrate():
        data = np.arange(10_000)
        first = batch(jax.random.key(0), data, 100)
        second = batch(jax.random.key(0), data, 100)
        assert (first != second).any()
    ```

    A loop makes each key from its counter, so the seed of the program chooses nothing (`--preview`).

    ```python
    import jax
    import jax.numpy as jnp


    def walk(steps, seed):
        x = jax.random.normal(jax.random.key(seed), (2,))
        path = []
        for step in range(steps):
            path.append(x + jax.random.normal(jax.random.key(step), (2,)))  # expect: constant-key
        return jnp.stack(path) - x


    def demonstrate():
        assert jnp.allclose(walk(5, 10), walk(5, 11), atol=1e-5)
    ```

    Traced code makes the streams of a dropout layer, so each call drops the same elements (`--preview`).

    ```python
    import jax
    import jax.numpy as jnp
    from flax import nnx


    @jax.jit
    def block(x):
        return nnx.Dropout(0.5, rngs=nnx.Rngs(0))(x)  # expect: constant-key


    def demonstrate():
        assert jnp.array_equal(block(jnp.ones(64)), block(jnp.ones(64)))
    ```

    A key in the default of a parameter is created once, when Python imports the module. All calls without this argument
    draw the same numbers, and the import starts JAX's backend (`--preview`).

    ```python
    import jax
    import jax.numpy as jnp


    def corrupt(x, key=jax.random.key(0)):  # expect: constant-key
        return x + jax.random.normal(key, x.shape)


    def demonstrate():
        first = corrupt(jnp.zeros(3))
        second = corrupt(jnp.zeros(3))
        assert jnp.array_equal(first, second)
    ```

    A function draws from a key of its module, so each layer starts with the same numbers (`--preview`).

    ```python
    import jax
    import jax.numpy as jnp

    KEY = jax.random.key(0)


    class Linear:
        def __init__(self, rows, columns):
            self.w = jax.random.normal(KEY, (rows, columns))  # expect: constant-key


    def demonstrate():
        assert jnp.array_equal(Linear(3, 3).w, Linear(3, 3).w)
    ```

    ## Use instead

    ```python
    import jax


    def train(steps, seed=0):
        return jax.random.normal(jax.random.key(seed), (steps,))


    def corrupt(x, key):
        return x + jax.random.normal(key, x.shape)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def dropout(key, x):
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0.0)


    def main():
        key = jax.random.key(0)
        steps = [dropout(jax.random.fold_in(key, step), jnp.ones(4)) for step in range(3)]
        print(jnp.stack(steps))


    if __name__ == "__main__":
        main()
    ```

    ## Not reported

    jaxlint does not report a key that a test makes. Apart from the cases above, it does not report a key that the code
    makes once, outside traced functions and loops.

    jaxlint does not report a key whose seed is an argument of the function, because the caller can pass another seed.
    For the same reason, without `--preview`, it does not report a key that replaces a missing argument
    (`if key is None: key = jax.random.key(0)`). It does not report a key whose seed is a named constant
    (`jax.random.key(SEED)`) or comes from the command line, because the author probably wants the same numbers in
    every call.

    jaxlint does not report a key whose numbers do not matter:

    - The code uses only the shape of the result (`jax.eval_shape`).
    - The key is for a dropout layer that is switched off (`deterministic=True`).
    - The function only returns the key.
    - A loop draws from the key, but no code uses the result.

    ```python
    import sys

    import jax
    import jax.numpy as jnp
    from flax import nnx

    REFERENCE = jax.random.normal(jax.random.key(2024), (4,))
    CHOSEN = jax.random.key(len(sys.argv))


    @jax.jit
    def features(x):
        return x @ jax.random.normal(CHOSEN, (4, 2))


    def init(width):
        return jax.random.normal(jax.random.key(0), (width,))


    def shapes():
        return jax.eval_shape(lambda: jax.random.normal(jax.random.key(0), (8,)))


    @jax.jit
    def reset(n):
        return jax.random.key(0), jnp.zeros(3) + n


    def batches(steps):
        found = []
        for step in range(steps):
            found.append(jax.random.normal(jax.random.key(step), (2,)))
        return found


    class Block:
        def __init__(self, width, rngs=None):
            rngs = rngs or nnx.Rngs(0)
            self.linear = nnx.Linear(width, width, rngs=rngs)


    def sample(seed, n):
        return jax.vmap(lambda s: jax.random.normal(jax.random.key(s), (n,)))(jnp.arange(3) + seed)


    def warm_up(n):
        for attempt in range(n):
            jax.random.normal(jax.random.key(0), ()).block_until_ready()


    def test_reference():
        for n in (1, 2):
            assert jax.random.normal(jax.random.key(1), (n,)).shape == (n,)
    ```

    ## Limitations

    The rule misses a key whose seed is a setting of the program (`jax.random.key(config.seed)`), and a draw in a
    function whose code jaxlint does not see. It misses a random seed that another function draws, or whose limits are
    not numbers in the source. It takes a parameter for a seed or a key only if the name of the parameter contains
    `seed`, `key` or `rng`, so it misses a function that ignores a seed with another name.

    ## Fix safety

    No fix. The traced function needs a key as an argument, and every caller has to pass one.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the line that makes the key runs,
    because a constant seed gives an equal key each time.

    ## Since

    0.2.0.

    ## Related rules

    JAX302 (`key-reuse-in-loop`), JAX309 (`same-constant-key`), JAX305 (`host-rng-in-staged`), JAX504 (`impure-call`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/random-numbers.html>
    """
    if isinstance(event, RepeatedSeed):
        return _made_by_each_call(event)
    context = event.context
    fact = event.fact
    if effect(event) == RANDOM:
        return _drawn_by_host(event)
    if event.name == STREAMS:
        return _made_in_streams(event)
    if fact is None or not event.args or context.presumed:
        return None
    if fact.key_effect != "make":
        return _drawn_from_global(event)
    if context.loop_ids and not context.staged and (narrow := narrow_range(event)):
        return _of_few_seeds(event, narrow)
    if context.loop_ids and not context.staged and (counter := counter_of(event)):
        return _of_counter(event, counter)
    if not (context.staged or context.loop):
        return _made_once(event)
    if context.shapes_only or context.inner is None or is_test(context):
        return None
    if not isinstance(event.args[0], Const) or not event.nodes or not _is_literal(event.nodes[0], context):
        return None
    if context.staged and (found := fallback(event.at, context.inner)):
        return _made_in_place_of(event, found)
    if _is_idle(event.at, context.inner) or (not context.staged and _leaves_loop(event.at, context.inner)):
        return None
    each, advice = "iteration", "make the key before the loop and split it in each iteration"
    if context.staged:
        each, advice = f"call of the traced code{TRACED_BY}", "pass the key as an argument"
    return Report(
        event.at,
        f"The seed of {quote(context, event.at)} is constant, so every {each} draws the same numbers; {advice}",
        None if _counts(event, context.inner) else "info",
        preview=context.in_main,
        given=DRAWN,
    )


def _made_once(event: LibraryCall) -> Report | None:
    """A constant seed outside of traced code and loops: beside a seed that the caller gives, or as a default."""
    context, fn = event.context, event.context.inner
    if context.shapes_only or is_test(context) or not _is_constant(event):
        return None
    given = function_with_default(event.at, context.scope)
    if given is not None:
        function, parameter = given
        return Report(
            event.at,
            f"The default of `{parameter.name}` is created once, at import, so all calls of `{function.name}` without "
            f"`{parameter.name}` use the same key; make `{parameter.name}` a required argument",
            "info",
            preview=True,
        )
    if fn is None or _is_idle(event.at, fn) or is_shown(event.at, fn) or _is_said(event):
        return None
    if unused := unused_seed(fn, event.at):
        return Report(
            event.at,
            f"The seed of {quote(context, event.at)} is constant and `{fn.name}` does not use its argument `{unused}`, so "
            f"every call draws the same numbers; use `{unused}` instead",
        )
    if stream := stream_of_module(fn):
        return Report(
            event.at,
            f"The seed of {quote(context, event.at)} is constant, so these numbers do not depend on `{stream}`; "
            f"take the key from `{stream}`",
            preview=True,
        )
    if is_sampler(fn):
        return Report(
            event.at,
            f"The seed of {quote(context, event.at)} is constant, so every call of `{fn.name}` draws the same numbers; "
            "take a key or a seed as an argument",
            "info",
            preview=True,
            given=DRAWN,
        )
    if seed := ignored_seed(event):
        made = quote(context, event.at)
        message = f"The seed of {made} is constant, so these numbers do not depend on `{seed}`; use `{seed}`"
        return Report(event.at, message, "info", preview=True, given=DRAWN)
    return None


def _made_in_place_of(event: LibraryCall, parameter: str) -> Report | None:
    """Traced code makes a key where its caller passes none."""
    context = event.context
    assert context.inner is not None
    chooses = _chooses(event.at, context.inner, context)
    if (context.undecided and not chooses) or _is_said(event):
        return None
    return Report(
        event.at,
        f"The seed of {quote(context, event.at)} is constant, so every call without `{parameter}` draws the same numbers; "
        f"raise an error if `{parameter}` is None",
        None if chooses else "info",
        preview=True,
        given="" if chooses else DRAWN,
    )


def _drawn_by_host(event: LibraryCall) -> Report | None:
    """Eager code draws numbers of the host in a function that gets a key for them."""
    context = event.context
    if (
        context.staged
        or context.presumed
        or is_test(context)
        or not (ignored := ignored_key(event))
        or context.inner is None
    ):
        return None
    generator = "NumPy" if event.name.startswith("numpy") else "Python"
    return Report(
        event.at,
        f"`{context.inner.name}` ignores its argument `{ignored}` and draws from the global generator of {generator}, so the "
        f"numbers do not depend on `{ignored}`; draw with jax.random and `{ignored}`",
        preview=True,
    )


def _of_few_seeds(event: LibraryCall, narrow: int) -> Report | None:
    """Each iteration makes a key of a seed that the host draws from few numbers."""
    if is_test(event.context) or event.context.shapes_only:
        return None
    return Report(
        event.at,
        f"The seed of {quote(event.context, event.at)} is one of {narrow:,} numbers, so iterations of the loop get equal keys "
        "by chance; make one key before the loop and split it",
        preview=True,
    )


def _of_counter(event: LibraryCall, counter: str) -> Report | None:
    """Each iteration makes a key of the counter of its loop, in a program that has a seed."""
    seed = "" if is_test(event.context) or event.context.shapes_only else reachable_seed(event)
    if not seed or _is_said(event):
        return None
    return Report(
        event.at,
        f"The key in {quote(event.context, event.at)} depends only on `{counter}`, so its numbers do not depend on `{seed}`; "
        f"make one key from `{seed}` before the loop and fold `{counter}` into it",
        "info",
        preview=True,
    )


def _made_in_streams(event: LibraryCall) -> Report | None:
    """Flax's streams of keys, of constant seeds."""
    context, fn = event.context, event.context.inner
    if fn is None or context.presumed or context.shapes_only or is_test(context):
        return None
    if _is_idle(event.at, fn) or is_shown(event.at, fn) or _is_said(event):
        return None
    made = quote(context, event.at)
    if makes_constant_mask(event):
        message = (
            f"The seed of {made} is fixed when JAX traces the code{COMPILED_BY}, so every call of the compiled code drops the "
            "same elements; pass the streams or a key as an argument"
        )
        return Report(event.at, message, preview=True)
    if stream := ignored_stream(event):
        message = f"{made} makes its streams without `{stream}`, so these numbers do not depend on `{stream}`; pass `{stream}`"
        return Report(event.at, message, preview=True)
    if seed := ignored_seed(event):
        message = f"The seed of {made} is constant, so these numbers do not depend on `{seed}`; use `{seed}`"
        return Report(event.at, message, "info", preview=True)
    return None


def _is_constant(event: LibraryCall) -> bool:
    """The seed is a number that stands there."""
    return isinstance(event.args[0], Const) and bool(event.nodes) and isinstance(event.nodes[0], ir.Constant)


def _is_said(event: LibraryCall) -> bool:
    """The line says that equal numbers are meant."""
    text, start = event.context.scope.text, event.at.start
    line = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return mentions_equal_draws(line.partition("#")[2])


def _leaves_loop(node: ir.Node, fn: ir.Function) -> bool:
    """The statement returns from the function in the first iteration that it runs in."""
    if not isinstance(statement_at(fn.body, node), ir.Return):
        return False
    loops = [one for one in all_statements(fn.body) if isinstance(one, (ir.For, ir.While))]
    return any(loop.start <= node.start < loop.end for loop in loops)


def _counts(event: LibraryCall, fn: ir.Function) -> bool:
    """The key chooses here, or stands for one that the function gets, and the author does not say that this is meant.

    Readers of unseen repositories found 13 of 17 constant masks and permutations worth a minute, and 4 of 23 others: those
    start an iteration, compare two results under the same noise, or make the inputs of a benchmark.
    """
    if not (_chooses(event.at, fn, event.context) or _ignores_a_seed(fn)):
        return False
    # Compiled code without arguments gives the same result each time, whatever it draws from.
    shown = event.context.staged and not fn.params and "<locals>" not in fn.qualname
    return not shown and not _is_said(event)


def _made_by_each_call(event: RepeatedSeed) -> Report | None:
    """A function that a loop calls makes a key of a constant seed, and draws of it."""
    nodes = (node for statement in event.maker.body for node in walk(statement))
    at = next(
        (n for n in nodes if isinstance(n, ir.Call) and (n.start, n.end) == (event.seed.start, event.seed.end)), None
    )
    if at is None or is_test(event.context) or _is_idle(at, event.maker):
        return None
    caller = f" from {place(event.called, event.context)}, in a loop," if event.called is not None else " from a loop"
    return Report(
        at,
        f"The seed of {quote(event.context, at)} is constant, so every call{caller} draws the same numbers; "
        "pass a new key to each call",
        None if _chooses(at, event.maker, event.context) else "info",
        preview=not event.handed_on,
    )


def _drawn_from_global(event: LibraryCall) -> Report | None:
    """Traced code whose trace is kept draws from a key that its module made, of a constant seed, once and for all."""
    context, key = event.context, event.args[0]
    if context.shapes_only or is_test(context) or context.presumed:
        return None
    if not context.staged:
        return _drawn_in_each_call(event)
    if not context.once:
        return None
    node, inner = event.nodes[0] if event.nodes else None, context.inner
    if not isinstance(node, ir.Name) or inner is None or node.id in inner.local_names or "<locals>" in inner.qualname:
        return None  # a function around this one may have been given the key
    if node.id in context.scope.tree.rebound_names:
        return None  # that the code keeps the first of several keys is stale-global's
    made = key.recipe if isinstance(key, Array) else None
    if made is None or made.name != SEED or made.function is not None:
        return None
    seed = made.operands[0] if made.operands else None
    if not isinstance(seed, Const):
        return None  # one from the command line, say, is chosen for each run
    return Report(
        event.at,
        f"`{node.id}` is created once, at import ({place(made.node, context)}), "
        "so every call of the traced code draws the same numbers; pass in a new key",
        None if event.name.rpartition(".")[2] in _CHOOSING else "info",
    )


def _drawn_in_each_call(event: LibraryCall) -> Report | None:
    """A function that is called several times draws from a key that its module made of a constant seed."""
    context, key = event.context, event.args[0]
    node, fn = event.bound_nodes.get("key") or (event.nodes[0] if event.nodes else None), context.inner
    made = key.recipe if isinstance(key, Array) else None
    if not isinstance(node, ir.Name) or fn is None or made is None or made.name != SEED or made.function is not None:
        return None
    if not is_called_again(fn, context.scope) or keeps_global(node.id, fn, context.scope) or _is_said(event):
        return None
    maker = fn.qualname.rpartition(".")[0] if fn.name == "__init__" else fn.name
    once = f"`{node.id}` is created once, at import ({place(made.node, context)})"
    return Report(
        event.at,
        f"{once}, so every call of `{maker}` draws the same numbers; take a key as an argument",
        "info",
        preview=True,
    )


def _chooses(made: ir.Call, fn: ir.Function, context: Context) -> bool:
    """The function draws a mask, a permutation or a category from the key that this call makes, or from keys split from it."""
    nodes = [node for statement in fn.body for node in walk(statement)]
    keys: set[str] = set()
    for node in sorted((n for n in nodes if isinstance(n, ir.Assign)), key=lambda assign: assign.start):
        value = node.value
        if value is made or (_is_random(value, context, _DERIVING) and _holds(value, made, keys)):
            keys |= {part.id for target in node.targets for part in walk(target) if isinstance(part, ir.Name)}
    return any(_holds(key, made, keys) for node in nodes for key in _keys_that_choose(node, context))


def _holds(node: ir.Expr, made: ir.Call, keys: set[str]) -> bool:
    """The call, or the name of a key that comes from it, stands in the expression."""
    return any(part is made or (isinstance(part, ir.Name) and part.id in keys) for part in walk(node))


def _keys_that_choose(node: object, context: Context) -> list[ir.Expr]:
    """Where the node draws a mask, a permutation or a category: what it may draw from."""
    if isinstance(node, ir.Call) and (_is_random(node, context, _CHOOSING) or _DROPOUT in last_name(node.func).lower()):
        return [argument.value for argument in node.args]
    if isinstance(node, ir.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [value for key, value in pairs if isinstance(key, ir.Constant) and key.value == _DROPOUT]
    return []


def _is_random(node: ir.Expr, context: Context, names: frozenset[str]) -> bool:
    """``jax.random.split(…)``, ``jr.split(…)``, ``split(…)`` of one of these functions of ``jax.random``."""
    path: list[str] = []
    called = node.func if isinstance(node, ir.Call) else node
    while isinstance(called, ir.Attribute):
        path.append(called.attr)
        called = called.value
    if not isinstance(called, ir.Name):
        return False
    value = context.scope.slots.get(called.id)
    first = value.name if isinstance(value, External) else called.id
    module, _, name = ".".join((first, *reversed(path))).rpartition(".")
    return name in names and module in _MODULES


_CHOOSING = frozenset({"bernoulli", "categorical", "choice", "permutation", "shuffle"})
_DERIVING = frozenset({"split", "fold_in"})
_MODULES = frozenset({"jax.random", "random", "jrandom", "jr"})
_DROPOUT = "dropout"


def _ignores_a_seed(fn: ir.Function) -> bool:
    """The function is given a seed or a key, and does not look at it."""
    read = {node.id for statement in fn.body for node in walk(statement) if isinstance(node, ir.Name)}
    return any(p.name not in read and p.name.lower().endswith(("seed", "key", "rng", "seeds")) for p in fn.params)


def _is_literal(node: ir.Expr | None, context: Context) -> bool:
    """A number, or a name of the module level that is none of a constant: those, and settings, are seeds that were chosen."""
    if isinstance(node, ir.Name):
        return context.inner is not None and node.id not in context.inner.local_names and not node.id.isupper()
    return isinstance(node, ir.Constant)


def _is_idle(call: ir.Call, fn: ir.Function) -> bool:
    """Nothing random comes of the key: it stands in for a missing argument, goes to a layer that is set not to train, is
    drawn from to wait for the device, or the function only returns shapes."""
    nodes = [node for statement in fn.body for node in walk(statement)]
    returned = [node.value for node in nodes if isinstance(node, ir.Return) and node.value is not None]
    if returned and all(map(_is_shape, returned)):
        return True
    if any(_switches_training_off(node, call) or _is_default(node, call) or _is_wait(node, call) for node in nodes):
        return True
    holding = [node for node in nodes if isinstance(node, ir.Assign) and _is_inside(call, node)]
    names = {target.id for node in holding for target in node.targets if isinstance(target, ir.Name)}
    takers = [
        (node, argument.value)
        for node in nodes
        if isinstance(node, ir.Call)
        for argument in node.args
        if not names.isdisjoint(names_read(argument.value))
    ]
    return bool(takers) and all(_switches_training_off(node, value) for node, value in takers)


def _is_shape(node: ir.Node | ir.Expr) -> bool:
    """``x.shape``, and what is taken of it."""
    if isinstance(node, ir.Call):
        return len(node.args) == 1 and isinstance(node.func, ir.Name) and _is_shape(node.args[0].value)
    if isinstance(node, ir.Subscript):
        return _is_shape(node.value)
    return isinstance(node, ir.Attribute) and node.attr in _SHAPES


def _is_wait(node: object, call: ir.Call) -> bool:
    """A statement that waits for the result and throws it away."""
    if not isinstance(node, ir.ExprStmt) or not isinstance(node.value, ir.Call) or not _is_inside(call, node):
        return False
    return isinstance(node.value.func, ir.Attribute) and node.value.func.attr == "block_until_ready"


def _switches_training_off(node: object, argument: ir.Expr) -> bool:
    """A layer, or a network, gets the key in this argument, and an argument that says that it does not train."""
    if not isinstance(node, ir.Call) or not _is_inside(argument, node):
        return False
    return any(
        other.keyword in NOT_TRAINING
        and isinstance(other.value, ir.Constant)
        and other.value.value is NOT_TRAINING[other.keyword]
        for other in node.args
        if other.keyword is not None
    )


def _is_default(node: object, call: ir.Call) -> bool:
    """``if key is None: key = …``, or ``… if key is None else key``."""
    if not isinstance(node, (ir.If, ir.IfExp)) or not isinstance(node.test, ir.Compare):
        return False
    nothing = any(isinstance(n, ir.Constant) and n.kind == "none" for n in node.test.comparators)
    return nothing and _is_inside(call, node)


def _is_inside(call: ir.Node, node: ir.Node) -> bool:
    return node is not call and node.start <= call.start and call.end <= node.end


_SHAPES = frozenset({"shape", "ndim", "dtype", "size"})
