"""JAX703: see the page of ``unstable_expression``."""

from __future__ import annotations

import re
from collections.abc import Hashable

from flake8_jax.core.findings import Level
from flake8_jax.core.registry import Candidate, Report, Subscription, rule
from flake8_jax.rules._facts import level_in_notebook
from flake8_jax.rules._merging import first_of_each, place_of
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.events import Computation
from flake8_jax.semantics.events.facts import GUARDED, TEMPERED
from flake8_jax.semantics.events.instabilities import (
    CLIPPED,
    CLIPPED_INSIDE,
    EXPM1,
    LOG1MEXP,
    LOG1P,
    LOG_2COSH,
    LOG_COSH,
    LOG_SOFTMAX,
    REL_ENTR,
    SIGMOID,
    SOFTMAX,
    SOFTPLUS,
    SUM_OF_LOGS,
    SUM_OF_SQUARES,
    TANH,
    VAR,
    XLOGX,
    instability,
)
from flake8_jax.semantics.events.presumed_instabilities import presumed_instability

_PREVIEW = frozenset(
    {SUM_OF_LOGS, SUM_OF_SQUARES, VAR, REL_ENTR, XLOGX, SIGMOID, TANH, CLIPPED_INSIDE, LOG1MEXP, LOG_COSH, LOG_2COSH}
)
"""Forms that too few repositories have to judge them."""

_SLIGHT = frozenset({EXPM1, LOG1P, CLIPPED})
"""Digits of a small x, and cosines of 1: readers of unseen repositories found 8 of 19 of these worth a minute."""

_OF_GRADIENTS = frozenset({LOG_SOFTMAX, SOFTMAX})
"""Probabilities: outside of a loss they are of what was drawn, or of a few bounded numbers, and readers found 2 of 10 worth
a minute. In a derivative an overflow is NaN for all parameters."""


def report_first(candidates: list[Candidate]) -> list[Candidate]:
    """One report of each formula in a function."""

    def cause(candidate: Candidate) -> tuple[Hashable, Hashable]:
        event = candidate.event
        presumed = presumed_instability(event)
        found = instability(event) or (presumed.wrong.partition(",")[0] if presumed is not None else "")
        return place_of(event.context, candidate.start), found

    return first_of_each(candidates, cause)


@rule("JAX703", "warning", fixable="sometimes", settle=report_first, only=Subscription(presumed=True))
def unstable_expression(event: Computation) -> Report | None:
    """A formula overflows or loses digits for extreme values, and a stable function for it exists.

    The finding is a note in three cases:

    - The finding is a note for `exp(x) - 1`, `log(1 + x)` and the `arccos` of a computed cosine
      (`dot(a, b) / (norm(a) * norm(b))`), because only 4 of 10 such findings in public repositories were worth a
      change.
    - The finding is a note for a formula with an `exp` whose exponent is never positive, because `exp` cannot
      overflow there.
    - The finding is a note for a softmax written by hand, or the logarithm of a softmax, if jaxlint finds no code that
      differentiates the formula: only 2 of 10 such findings in public repositories were worth a change.

    With `--preview`, the rule also reports these formulas, which few public repositories contain:

    - With `--preview`, the rule reports `log(prod(x))`, `log(prod(x)**2)`, `exp(x) / (1 + exp(x))`, `mean(x**2) - mean(x)**2`,
      `log(1 - exp(x))`, `log(cosh(x))`, `x * (log(x) - log(y))` and `x * (log(x) - y)`. For some values, they
      overflow, lose digits or are NaN.
    - With `--preview`, the rule reports `1 / (1 + exp(-x))` in code that the project differentiates, because the
      gradient is NaN for an `x` below -88.
    - With `--preview`, the rule reports the `arccos` of a computed cosine in code that the project differentiates, even
      if the code clips the cosine to the range from -1 to 1, because the gradient is infinite for parallel vectors.
    - With `--preview`, the rule reports a distance that is computed as `sqrt(sum(a**2) + sum(b**2) - 2 * a @ b.T)`,
      because rounding can make the sum negative for nearly equal points, and the square root is then NaN.
    - With `--preview`, the rule reports `v / (norm(v) + eps)` if the project differentiates with respect to `v`,
      because the gradient is NaN at zero.
    - With `--preview`, the rule reports `1 / (1 + exp(-x))` and `x / (1 + exp(-x))` also in a function that no code of
      the project calls, because a caller may differentiate it.
    - With `--preview`, the rule reports the logarithm of what labels or actions pick, such as `-log(out[label])` or
      `log(out) * one_hot`, because only probabilities make sense there.
    - With `--preview`, the rule reports `log(y_pred)` and `log(1 - y_pred)` in a loss if the name of the variable says
      that it holds probabilities, or if the function computes both `log(p)` and `log(1 - p)`. Probabilities of a network
      round to 0 or 1.
    - With `--preview`, the rule reports `log(mean(exp(-beta * e)))`, `log(sum(w * exp(x)))` and `log(c * exp(x))`, which
      are infinite if the exponential underflows.
    - With `--preview`, the rule reports `log(uniform(key))`, because `jax.random.uniform` can draw 0.
    - With `--preview`, the rule reports a loss that keeps a probability above a small number `eps`, such as
      `log(softmax(x) + eps)` or `log(clip(sigmoid(x), eps, 1 - eps))`. The loss is finite, but its gradient becomes
      zero if the probability is far below `eps`, so training does not correct the worst predictions.

    ## Why is this bad?

    In `float32`, the formulas in the first column of this table fail for some values. The functions in the last column
    compute the same, and their results and gradients stay exact:

    | formula | where it fails | stable function |
    |---|---|---|
    | `log(softmax(x))` | `-inf` if a logit is about 100 below the largest | `jax.nn.log_softmax` |
    | `log(sum(exp(x)))` | overflows if an `x` is above 88 | `jax.scipy.special.logsumexp` |
    | `exp(x) / sum(exp(x))` | NaN if an `x` is above 88 | `jax.nn.softmax` |
    | `log(1 + x)`, `exp(x) - 1` | zero for every `x` between -3e-8 and 6e-8 | `jnp.log1p`, `jnp.expm1` |
    | `x * log(x)` | NaN at zero | `jax.scipy.special.xlogy` |
    | `log(1 - sigmoid(x))` | `-inf` for an `x` above 17 | `jax.nn.log_sigmoid(-x)` |
    | `1 / (1 + exp(-x))` | the gradient is NaN for an `x` below -89 | `jax.nn.sigmoid` |
    | `(exp(x) - exp(-x)) / (exp(x) + exp(-x))` | NaN for an `x` above 89 or below -89 | `jnp.tanh` |
    | `log(2 * cosh(x))` | infinite for an `x` above 89 or below -89 | `jnp.logaddexp(x, -x)` |

    These formulas fail, too:

    - `log(1 - tanh(x)**2)` is `-inf` for an `x` above 9. Write `2 * (log(2) - x - jax.nn.softplus(-2 * x))`.
    - `log(prod(p))` is `-inf` if the product is below 1e-45. Write `sum(log(p))`.
    - `arccos` of a computed cosine is NaN for some parallel vectors, because rounding makes the cosine 1.0000001. Clip
      the cosine to the range from -1 to 1.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def nll(logits, label):
        return -jnp.log(jax.nn.softmax(logits))[label]  # expect: unstable-expression


    def demonstrate():
        assert jnp.isinf(nll(jnp.array([0.0, 200.0]), 0))
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def boltzmann(energy, temperature):
        p = jnp.exp(energy / temperature)
        return p / p.sum()  # expect: unstable-expression


    def squashed(x, log_density):
        return log_density - jnp.log(1 - jnp.tanh(x) ** 2)  # expect: unstable-expression


    def angle(a, b):
        cosine = jnp.dot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b))
        return jnp.arccos(cosine)  # expect: unstable-expression


    def demonstrate():
        assert jnp.isnan(boltzmann(jnp.array([0.0, 200.0]), 1.0)).any()
        assert jnp.isinf(squashed(jnp.array(20.0), 0.0))
        same = jnp.array([1.0, 1.0, 4.0])
        assert jnp.isnan(angle(same, same))
    ```

    ```python
    import jax.numpy as jnp


    def binary_cross_entropy(y, y_pred):
        return -jnp.mean(y * jnp.log(y_pred) + (1 - y) * jnp.log(1 - y_pred))  # expect: unstable-expression


    def demonstrate():
        assert jnp.isnan(binary_cross_entropy(jnp.array([1.0]), jnp.array([1.0])))
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    def binary_cross_entropy(y, logits):
        return -jnp.mean(y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits))
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def nll(logits, label):
        return -jax.nn.log_softmax(logits)[label]


    def boltzmann(energy, temperature):
        return jax.nn.softmax(energy / temperature, axis=None)


    def squashed(x, log_density):
        return log_density - 2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))


    def angle(a, b):
        cosine = jnp.dot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b))
        return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))


    def stable_total(x):
        m = jax.lax.stop_gradient(jnp.max(x))
        return m + jnp.log(jnp.sum(jnp.exp(x - m)))
    ```

    ## Not reported

    jaxlint does not report an entropy with a small number in the logarithm (`p * log(p + eps)`), because it is finite
    at zero and rarely needs its gradient there. It does not report a formula whose argument is known to stay away from
    the values at which the formula fails, for example because it is a constant or an integer. It does not report
    a formula if a comment on the same line or on the line above names the stable function, because the author has then
    decided against this function.

    ```python
    import jax
    import jax.numpy as jnp


    def entropy(p, eps=1e-8):
        return -jnp.sum(p * jnp.log(jnp.clip(p, eps, 1.0)))


    def entropy_of(counts, eps=1e-8):
        p = (counts + eps) / jnp.sum(counts + eps)
        return -jnp.sum(p * jnp.log(p))


    def entropy_of_eigenvalues(matrix, eps=1e-12):
        eigenvalues = jnp.linalg.eigvalsh(matrix)
        nonzero = eigenvalues[eigenvalues > eps]
        return -jnp.sum(nonzero * jnp.log(nonzero))


    def log_signal_to_noise(betas):
        remaining = jnp.cumprod(1 - betas)
        return jnp.log(remaining) - jnp.log(1 - remaining)


    def log_volume(box):
        return jnp.log(jnp.prod(box[:3])) + jnp.log(jnp.prod(jnp.array([1.0, 2.0, 3.0])))


    def log_odd_numbers(n):
        return jnp.cumsum(jnp.log(2 * jnp.arange(n) + 1))


    def cross_entropy(logits, label):
        shifted = logits - logits.max(axis=-1, keepdims=True)
        return jnp.log(jnp.sum(jnp.exp(shifted), axis=-1)) - shifted[label]
    ```

    ## Limitations

    The rule does not know which values the argument of a formula takes. It also reports formulas whose arguments are
    never extreme.

    ## Fix safety

    Unsafe. jaxlint writes the stable function and passes the arguments `axis`, `keepdims`, `where` and `dtype` by
    name. It rewrites all logarithms of the form `log(1 + x)` in one function together, and `log(1 - x)` beside
    `log(1 + x)` in one statement. jaxlint offers no fix for `log(1 + x)` if the function also computes a power of
    `1 + x`, or for `exp(x) - 1` in one of several coefficients that neighboring lines compute by formulas with the same
    beginning. The last digits of the result may change. The stable function may also reject an argument that the formula
    accepts: `jax.nn.softmax`, for example, rejects an array of booleans.

    ## How it is verified

    `jaxlint verify` runs the program that you name. It confirms the finding if the formula and the stable function
    give different results for the values in this run, or if the function that contains the formula returns infinity or
    NaN.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX702 (`where-nan-grad`), JAX704 (`nan-comparison`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/jax.nn.html>
    """
    if not _is_meant(event) or event.context.scope.is_test:
        return None
    found, presumed = instability(event), False
    if found is None:
        found, presumed = presumed_instability(event), True
    if found is None or (found.minor and event.context.presumed) or _is_known(event, found.better):
        return None
    slight = found.better in _SLIGHT or (found.better in _OF_GRADIENTS and not event.differentiated)
    level: Level | None = "info" if found.minor or slight else None
    if found.better == SOFTPLUS:
        level = level_in_notebook(event.context)
    unless = GUARDED if event.name in "*/" else TEMPERED if found.gradient else ""
    preview = presumed or found.gradient or found.preview or found.better in _PREVIEW
    if presumed:
        level = "info"
    return Report(
        event.at, f"{quote(event.context, event.at)} {found.wrong}; use `{found.better}`", level, preview, unless
    )


def _is_known(event: Computation, better: str) -> bool:
    """A comment in the line, or in the line above, names the stable function: the author has decided against it."""
    text, start = event.context.scope.text, event.at.start
    line = text.rfind("\n", 0, start) + 1
    above = text.rfind("\n", 0, max(line - 1, 0)) + 1
    ends = text.find("\n", event.at.end)
    comments = re.findall(r"#.*", text[above : ends if ends >= 0 else len(text)])
    names = {name for name in re.findall(r"\w+", better) if len(name) > len("jax")}
    return any(names & set(re.findall(r"\w+", comment)) for comment in comments)


def _is_meant(event: Computation) -> bool:
    """Code that runs on numbers, or that is there to be differentiated."""
    return event.differentiated or not event.context.presumed
