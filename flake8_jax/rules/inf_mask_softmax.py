"""JAX710: see the page of ``inf_mask_softmax``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.facts import GUARDED
from flake8_jax.semantics.events.masks import NORMALIZERS, emptied_by, makes_nan_where_kept


@rule("JAX710", "error")
def inf_mask_softmax(event: Computation) -> Report | None:
    """A mask makes zero times infinity, or masks every element of a row before `softmax`, so the result is NaN.

    The rule is on only with `--preview`, because there were no findings to judge: none of 17 public repositories with
    attention models makes the mistake.

    ## Why is this bad?

    Zero times infinity is NaN. If `mask` contains floats, the expression `(1 - mask) * -jnp.inf` is therefore NaN at
    every place where the mask is 1. In a row that holds only `-inf`, `softmax` and `log_softmax` compute
    `-inf - (-inf)`, so their result is NaN, too. A causal mask without its diagonal has such a row, because nothing
    comes before the first position.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def attend(scores, mask):
        scores = scores + (1.0 - mask) * -jnp.inf  # expect: inf-mask-softmax
        return jax.nn.softmax(scores, axis=-1)


    def demonstrate():
        assert jnp.isnan(attend(jnp.ones((2, 3)), jnp.array([1.0, 1.0, 0.0]))).all()
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def causal(scores):
        n = scores.shape[0]
        before = jnp.tril(jnp.ones((n, n), bool), k=-1)
        return jax.nn.softmax(jnp.where(before, scores, -jnp.inf), axis=-1)  # expect: inf-mask-softmax


    def ordered(scores):
        i = jnp.arange(scores.shape[0])
        masked = jnp.where(i[:, None] > i[None, :], scores, -jnp.inf)
        return jax.nn.log_softmax(masked)  # expect: inf-mask-softmax


    def demonstrate():
        assert jnp.isnan(causal(jnp.ones((3, 3)))[0]).all()
        assert jnp.isnan(ordered(jnp.ones((3, 3)))[0]).all()
    ```

    ## Use instead

    - Instead of `(1 - mask) * -jnp.inf`, choose between score and `-inf` with `jnp.where`.
    - In a causal mask, keep the diagonal.
    - If a mask may mask a whole row, write the smallest finite number (`jnp.finfo(scores.dtype).min`) instead of `-inf`.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def attend(scores, mask):
        return jax.nn.softmax(jnp.where(mask > 0, scores, jnp.finfo(scores.dtype).min), axis=-1)


    def causal(scores):
        n = scores.shape[0]
        until = jnp.tril(jnp.ones((n, n), bool))
        return jax.nn.softmax(jnp.where(until, scores, -jnp.inf), axis=-1)
    ```

    ## Not reported

    jaxlint does not report a boolean mask times infinity (`~mask * -jnp.inf`): XLA compiles it like
    `jnp.where(~mask, -jnp.inf, 0)`, so the result contains no NaN. It does not report an array of ones times infinity,
    because such an array contains no zero.

    jaxlint does not report a mask that the code passes as `jax.nn.softmax(x, where=mask)`, because `softmax` then
    ignores the masked elements. It does not report `jnp.where(mask, scores, -jnp.inf)` if `mask` is an argument,
    because jaxlint does not know whether the mask masks a whole row.

    jaxlint does not report a result whose NaN the code replaces with `nan_to_num` or `where`. It also does not report
    `-inf` as a result of its own, as in `log_density` below: the logarithm of a density may be `-inf`.

    ```python
    import jax
    import jax.numpy as jnp


    def padded(scores, mask):
        return jax.nn.softmax(scores, where=mask) + jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))


    def log_density(x):
        return jnp.where(x > 0, -x, -jnp.inf)


    def bounds(params):
        return jnp.ones_like(params) * jnp.inf


    def later(scores):
        i = jnp.arange(scores.shape[0])
        return jax.nn.softmax(jnp.where(i[:, None] >= i[None, :], scores, -jnp.inf))
    ```

    ## Limitations

    The rule misses a fully masked row if the code computes the mask from data, such as the lengths of sequences. It
    also misses such a row in a mask that `jax.lax.broadcasted_iota` makes, and in a comparison of two ranges whose
    lengths are different variables (`jnp.arange(n)` and `jnp.arange(m)`).

    ## Fix safety

    No fix. If every element of a row is masked, only the author knows whether `softmax` should return zeros or equal
    weights.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the function that contains the mask
    returns NaN or infinity.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX702 (`where-nan-grad`), JAX703 (`unstable-expression`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.nn.softmax.html>
    """
    if event.context.presumed or event.context.scope.is_test:
        return None
    subject = quote(event.context, event.at)
    if makes_nan_where_kept(event):
        wrong = f"{subject} is NaN where a factor is zero, because 0 * inf is NaN; use `jnp.where`"
        return Report(event.at, wrong, preview=True, unless=GUARDED)
    if event.name in NORMALIZERS and emptied_by(event) is not None:
        wrong = (
            f"{subject} is NaN in the row in which the mask keeps no element; keep the diagonal, or use a finite number"
        )
        return Report(event.at, wrong, preview=True, unless=GUARDED)
    return None
