"""JAX309: see the page of ``same_constant_key``."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._equal_seeds import equal_seeds
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._keys import OUTCOMES, place
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.code import last_name, nodes_around
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Site
from flake8_jax.semantics.events.events import EqualKeys, FileRead


@rule("JAX309", "warning")
def same_constant_key(event: EqualKeys | FileRead) -> Report | list[Report] | None:
    """Two PRNG keys come from one constant seed, and one result uses both.

    The rule is on only with `--preview`: of the 13 findings in 282 public repositories, 8 were worth a change.

    The rule also reports two variables that are drawn from one seed in a function, or in nearby cells of a notebook, if a
    statement of the file reads both. It also reports a call that gets a key of the seed of an earlier call, if its arguments
    depend on the result of that call (the second example).

    ## Why is this bad?

    `jax.random.key(0)` is the same key everywhere. If two layers use this key, they start with equal weights; if noise
    and signal use it, the noise copies the signal. A shorter draw equals the start of a longer one, and `normal` and
    `uniform` use the same random bits of the key. JAX's own check for reused keys (`jax_debug_key_reuse`) reports
    nothing, because the code makes two keys and uses each of them once. Make one key, split it, and use each new key
    once.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def init(width):
        return {
            "hidden": jax.random.normal(jax.random.key(0), (width, width)),
            "output": jax.random.normal(jax.random.key(0), (width, width)),  # expect: same-constant-key
        }


    def demonstrate():
        params = init(4)
        assert jnp.array_equal(params["hidden"], params["output"])
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def predict(loc, scale):
        samples = loc + scale * jax.random.normal(jax.random.key(0), (1000,))
        return samples + jax.random.normal(jax.random.key(0), samples.shape)  # expect: same-constant-key


    def demonstrate():
        assert predict(0.0, 1.0).std() > 1.9  # independent draws give 1.41
    ```

    ## Use instead

    ```python
    import jax


    def init(width):
        hidden_key, output_key = jax.random.split(jax.random.key(0))
        return {
            "hidden": jax.random.normal(hidden_key, (width, width)),
            "output": jax.random.normal(output_key, (width, width)),
        }
    ```

    ## Not reported

    jaxlint does not report keys with different seeds, or the results of `fold_in` with different data, because these
    keys differ. It does not report two keys in the two branches of an `if`, because only one of them is made.

    jaxlint does not report two draws that the code compares (`jnp.array_equal(first, second)`), because they should be
    equal. It does not report draws that the code never combines in one result, or draws of which the code reads only
    the shape, because equal numbers do no harm there.

    ```python
    import jax
    import jax.numpy as jnp


    def init(width, small):
        w = jax.random.normal(jax.random.fold_in(jax.random.key(0), 0), (width,))
        v = jax.random.normal(jax.random.fold_in(jax.random.key(0), 1), (width,))
        if small:
            scale = jax.random.uniform(jax.random.key(7))
        else:
            scale = 10.0 * jax.random.uniform(jax.random.key(7))
        return w, v, scale * jax.random.normal(jax.random.key(1), (width,))


    def is_reproducible(width):
        first = jax.random.normal(jax.random.key(0), (width,))
        second = jax.random.normal(jax.random.key(0), (width,))
        return jnp.array_equal(first, second)


    def shapes(width):
        abstract = jax.eval_shape(lambda: jax.random.normal(jax.random.key(1), (width,)))
        return jnp.zeros(abstract.shape), jax.random.normal(jax.random.key(1), (width,))


    def show(width):
        print(jax.random.normal(jax.random.key(3), (width,)))
        print(jax.random.uniform(jax.random.key(3), (width,)))
    ```

    ## Limitations

    The rule misses seeds that the code computes (`jax.random.key(2 * n)`), and two calls of `fold_in` with equal data.
    If two functions each make a key from the same seed, the rule reports this only if one statement uses the results
    of both functions.

    ## Fix safety

    No fix. Only the author knows which of the two seeds may change.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding as soon as the line that makes the second
    key runs, because the source code shows that the seeds are equal.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX301 (`key-reuse`), JAX302 (`key-reuse-in-loop`), JAX303 (`key-used-after-split`), JAX307 (`discarded-split`), JAX304
    (`constant-key`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/random-numbers.html>
    """
    if isinstance(event, FileRead):
        return equal_seeds(event)
    context = event.context
    if context.presumed or context.caught or is_test(context) or context.scope.is_test:
        return None
    if any(part.startswith("test") for part in event.function.split(".")):
        return None
    if _shuffles(context.scope, event.at) and _shuffles(event.earlier.scope, event.earlier):
        return None  # the rows of both arrays stay together
    return Report(
        event.at,
        f"{quote(context, event.at, 'This key')} equals the key from {place(event.earlier, context)}, because both have seed "
        f"{event.seed}{OUTCOMES[event.shares]}; make one key and split it",
        preview=True,
    )


def _shuffles(scope: ModuleScope, at: ir.Node | Site) -> bool:
    """The key is for ``jax.random.permutation``."""
    around = nodes_around(scope.tree.body, at.start, at.end)
    return any(isinstance(node, ir.Call) and last_name(node.func) == "permutation" for node in around)
