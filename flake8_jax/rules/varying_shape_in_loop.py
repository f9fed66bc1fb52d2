"""JAX407: see the page of ``varying_shape_in_loop``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Positions
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.rules._variation import arguments, compiles, report_compilations, varying_part
from flake8_jax.semantics.domain.code import nodes_around
from flake8_jax.semantics.domain.varying import FEW, Variation
from flake8_jax.semantics.events.events import Context, MaskedIndex, TransformCall
from flake8_jax.semantics.events.facts import iterates


@rule("JAX407", "warning", settle=report_compilations)
def varying_shape_in_loop(event: TransformCall | MaskedIndex) -> Report | None:
    """A loop calls a jitted function with shapes that depend on the iteration.

    With `--preview`, the rule also reports the three cases below. Of the first two cases, public repositories showed
    only three findings. In two of them, the author's code was worth a change.

    - With `--preview`, the rule reports batches of PyTorch's `DataLoader` without `drop_last`, because the last batch
      may be smaller.
    - With `--preview`, the rule reports an index by a boolean mask outside compiled code (`x[mask]`), because JAX
      compiles the operation again for each number of selected elements.
    - With `--preview`, the rule reports a list that an inner loop fills, such as the rewards of an episode in the third
      example. Because the data decide when the inner loop ends, the list may have another length in each iteration. The
      same is true of a list that the loop empties when the data say so, as in the fourth example.

    ## Why is this bad?

    JAX compiles a program for one set of shapes. If a loop calls `f(x[:i])`, or passes an array or a list that grows
    in each iteration, the shape differs each time. JAX then traces and compiles `f` again, which takes far longer than
    running it. JAX also compiles again if the jitted function returns a longer array for the next call
    (`cache = step(cache, x)`).

    If only the last batch is smaller, as with `range(0, 100, 32)`, JAX compiles the function twice. jaxlint reports
    this only if it knows the length of the sliced array.

    Pad to a fixed size and mask the rest, write into an array of fixed size with `x.at[i].set(…)`, or round the sizes
    up to multiples of a fixed number, so that JAX compiles only for these multiples.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def spread(x):
        return x.max() - x.min()


    def expanding(x):
        out = []
        for end in range(1, x.shape[0] + 1):
            out.append(spread(x[:end]))  # expect: varying-shape-in-loop
        return jnp.stack(out)


    def demonstrate():
        expanding(jnp.arange(7.0))
        assert spread._cache_size() == 7  # one compilation for every length
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def extended(cache, x):
        return jnp.concatenate([cache, x[None]])


    def collect(rows):
        cache = jnp.zeros((0, 3))
        for row in rows:
            cache = extended(cache, row)  # expect: varying-shape-in-loop
        return cache


    def demonstrate():
        collect(jnp.ones((6, 3)))
        assert extended._cache_size() == 6
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def mean_return(rewards):
        return jnp.cumsum(rewards[::-1]).mean()


    def evaluate(env, episodes):
        returns = []
        for _ in range(episodes):
            done, rewards = False, []
            while not done:
                reward, done = env.step()
                rewards.append(reward)
            returns.append(mean_return(jnp.array(rewards)))  # expect: varying-shape-in-loop
        return returns


    class Countdown:
        left = length = 1

        def step(self):
            self.left -= 1
            if self.left >= 0:
                return 1.0, False
            self.length = self.left = self.length + 1
            return 0.0, True


    def demonstrate():
        evaluate(Countdown(), 6)
        assert mean_return._cache_size() == 6
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def update(weights, rewards):
        return weights + jnp.cumsum(rewards[::-1]).mean()


    def train(env, weights, steps):
        rewards = []
        for _ in range(steps):
            reward, done = env.step()
            rewards.append(reward)
            if done:
                weights = update(weights, jnp.array(rewards))  # expect: varying-shape-in-loop
                rewards = []
        return weights


    class Growing:
        left = length = 1

        def step(self):
            self.left -= 1
            if self.left:
                return 1.0, False
            self.length = self.left = self.length + 1
            return 0.0, True


    def demonstrate():
        train(Growing(), jnp.zeros(2), 21)
        assert update._cache_size() == 6
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def spread(x, end):
        seen = jnp.arange(x.shape[0]) < end
        return jnp.max(x, where=seen, initial=-jnp.inf) - jnp.min(x, where=seen, initial=jnp.inf)


    def expanding(x):
        return jnp.stack([spread(x, end) for end in range(1, x.shape[0] + 1)])
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def written(cache, i, x):
        return cache.at[i].set(x)


    def collect(rows):
        cache = jnp.zeros((len(rows), 3))
        for i, row in enumerate(rows):
            cache = written(cache, i, row)
        return cache
    ```

    ```python
    import jax
    import jax.numpy as jnp
    import numpy as np


    @jax.jit
    def mean_return(rewards, length):
        returns = jnp.cumsum(rewards[::-1])[::-1]
        return jnp.sum(returns, where=jnp.arange(rewards.shape[0]) < length) / length


    def evaluate(env, episodes, longest):
        returns = []
        for _ in range(episodes):
            done, length, rewards = False, 0, np.zeros(longest)
            while not done:
                rewards[length], done = env.step()
                length += 1
            returns.append(mean_return(rewards, length))
        return returns
    ```

    ## Not reported

    jaxlint does not report slices that all have the same length (`x[i : i + 3]`), because JAX compiles the function
    once. It does not report lengths that the code rounds up, for example to a multiple of 8, because JAX then
    compiles the function only for these multiples. It does not report a loop that is known to have at most 4
    iterations.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def spread(x):
        return x.max() - x.min()


    def rolling(x, width=3):
        return [spread(x[i : i + width]) for i in range(x.shape[0] - width + 1)]


    def bucketed(x, bucket=8):
        out = []
        for end in range(1, x.shape[0] + 1):
            size = -(-end // bucket) * bucket
            out.append(spread(jnp.pad(x[:end], (0, size - end), mode="edge")))
        return out
    ```

    jaxlint does not report a list that gets the same number of elements each time, because the test counts them:

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def update(weights, rewards):
        return weights + jnp.cumsum(rewards[::-1]).mean()


    def train(env, weights, steps, horizon=100):
        rewards, batch = [], []
        for step in range(steps):
            reward, value = env.step()
            rewards.append(reward)
            batch.append(value)
            done = (step + 1) % horizon == 0
            if done:
                weights = update(weights, jnp.array(rewards))
                rewards = []
            if len(batch) == 32:
                weights = update(weights, jnp.array(batch))
                batch.clear()
        return weights


    def padded(env, weights, steps, longest):
        rewards = []
        for _ in range(steps):
            reward, done = env.step()
            rewards.append(reward)
            if done:
                rewards += [0.0] * (longest - len(rewards))
                weights = update(weights, jnp.array(rewards))
                rewards = []
        return weights
    ```

    ## Limitations

    The rule misses arrays whose number of dimensions changes, and batches of data loaders other than PyTorch's. It also
    misses a slice with a start and an end that both vary (`x[i : 2 * i]`), except in a loop such as
    `for i in range(10)`, where jaxlint can compute their values.

    ## Fix safety

    No fix. Only the author knows which fixed size and which padding suit the program.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if JAX compiles the same function again
    for another shape.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX415 (`growing-array-in-loop`), JAX106 (`data-dependent-shape`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jit-compilation.html>
    """
    context = event.context
    if isinstance(event, MaskedIndex):
        return _masked(event)
    if not compiles(event) or context.staged or context.presumed or is_test(context):
        return None
    for _where, value, node in arguments(event):
        variation = varying_part(event, value, of_shape=True)
        if variation is None or variation.masked or _is_meant(variation, context):
            continue
        subject = quote(context, node, "an argument")
        if variation.open:
            message = f"{subject} may have another length in each iteration, so JAX recompiles; pad it to one length"
        elif variation.batch:
            message = f"{subject} may be smaller in the last iteration, so JAX compiles the call twice; set drop_last or pad it"
        elif variation.ragged:
            message = f"{subject} is smaller in the last iteration, so JAX compiles the call twice; pad it or skip it"
        else:
            message = f"The shape of {subject} changes {_how_often(event, variation)}; pad it to one shape"
        return Report(event.at, message, given=iterates(variation.loop), preview=variation.batch or variation.open)
    return None


def _how_often(event: TransformCall, variation: Variation) -> str:
    """In which loop the shape changes: not in the innermost one around the call, if another one repeats the call with one
    shape."""
    loop, scope, at = variation.loop.node, event.context.scope, event.at
    around = [node for node in nodes_around(scope.tree.body, at.start, at.end) if isinstance(node, (ir.For, ir.While))]
    if not isinstance(loop, (ir.For, ir.While)) or variation.loop.scope is not scope or loop not in around[:-1]:
        return "in every iteration, so each call recompiles"
    row = Positions(scope.tree.line_starts).row(loop.start)
    return f"in every iteration of the loop on line {row}, so JAX recompiles in each"


def _masked(event: MaskedIndex) -> Report | None:
    """An index by a mask, which compiles for each number of elements."""
    context, loop = event.context, event.variation.loop
    if context.presumed or is_test(context) or _is_meant(event.variation, context):
        return None
    mask = quote(context, event.mask, "the mask")
    message = (
        f"{mask} selects a different number of elements in every iteration, so JAX recompiles each time; use jnp.where"
    )
    return Report(event.at, message, given=iterates(loop), preview=True)


def _is_meant(variation: Variation, context: Context) -> bool:
    """The loop is over after a few shapes, or a test looks at what is left over."""
    if variation.ragged:
        return variation.loop.tested or context.guarded
    return 0 < variation.loop.trip_count <= FEW
