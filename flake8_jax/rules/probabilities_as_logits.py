"""JAX711: see the page of ``probabilities_as_logits``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.domain.values import SHAPED, Array, Const, UnionValue, Value
from flake8_jax.semantics.events.events import LibraryCall

_SOFTMAX, _SIGMOID = "softmax", "sigmoid"
_TAKES = {
    "jax.random.categorical": ("logits", _SOFTMAX),
    "jax.nn.softmax": ("x", _SOFTMAX),
    "jax.nn.log_softmax": ("x", _SOFTMAX),
    "optax.softmax_cross_entropy": ("logits", _SOFTMAX),
    "optax.safe_softmax_cross_entropy": ("logits", _SOFTMAX),
    "optax.softmax_cross_entropy_with_integer_labels": ("logits", _SOFTMAX),
    "optax.sigmoid_binary_cross_entropy": ("logits", _SIGMOID),
    "distrax.Categorical": ("logits", _SOFTMAX),
    "distrax.OneHotCategorical": ("logits", _SOFTMAX),
    "numpyro.distributions.Categorical": ("logits", _SOFTMAX),
    "numpyro.distributions.CategoricalLogits": ("logits", _SOFTMAX),
}
"""Functions that take logits: their parameter, and what makes probabilities of such logits."""
_MADE_BY = {"softmax": _SOFTMAX, "sigmoid": _SIGMOID, "logistic": _SIGMOID, "expit": _SIGMOID}
_DEEPEST = 8


@rule("JAX711", "warning")
def probabilities_as_logits(event: LibraryCall) -> Report | None:
    """Probabilities are passed to a function that takes logits.

    The rule is on only with `--preview`, because too few public repositories have such code to judge the rule.

    ## Why is this bad?

    Logits are the logarithms of probabilities, up to a constant. All probabilities lie between 0 and 1, so as logits
    they differ by at most 1. If the code passes probabilities to `jax.random.categorical`, the function draws almost
    uniformly, and draws even an element of probability 0. A loss that applies `softmax` to the result of `softmax`
    cannot become small, and its gradients are small from the first step on. JAX raises no error.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    def sample(key, logits):
        probs = jax.nn.softmax(logits)
        return jax.random.categorical(key, probs)  # expect: probabilities-as-logits


    def demonstrate():
        logits = jnp.array([0.0, 100.0])
        drawn = jax.vmap(sample, (0, None))(jax.random.split(jax.random.key(0), 1000), logits)
        assert (drawn == 0).sum() > 200  # though its probability is exp(-100)
    ```

    ```python
    import jax
    import jax.numpy as jnp


    def classify(params, x):
        return jax.nn.softmax(x @ params)


    def loss(params, x, labels):
        log_probs = jax.nn.log_softmax(classify(params, x))  # expect: probabilities-as-logits
        return -jnp.mean(jnp.sum(log_probs * labels, axis=-1))


    def demonstrate():
        perfect = loss(1000.0 * jnp.eye(4), jnp.eye(4), jnp.eye(4))
        assert perfect > 0.7
    ```

    ## Use instead

    Pass the logits to the function, or the logarithm of the probabilities.

    ```python
    import jax
    import jax.numpy as jnp


    def sample(key, logits):
        return jax.random.categorical(key, logits)


    def sample_from(key, probs):
        return jax.random.categorical(key, jnp.log(probs))
    ```

    ## Not reported

    jaxlint does not report logarithms of probabilities, because these are logits. It does not report probabilities
    that the code scales, as in `softmax(p / temperature)`, because the author then chooses on purpose how random the
    draws are.

    ```python
    import jax
    import jax.numpy as jnp


    def sample(key, logits):
        log_probs = jax.nn.log_softmax(logits)
        return jax.random.categorical(key, log_probs)


    def nucleus(key, logits, k):
        probs = jax.nn.softmax(logits)
        kept = jnp.where(probs >= jnp.sort(probs)[-k], probs, 0.0)
        return jax.random.categorical(key, jnp.log(kept))


    def sharpen(logits, temperature):
        return jax.nn.softmax(jax.nn.softmax(logits) / temperature)
    ```

    ## Limitations

    The rule misses probabilities that the code computes without `softmax` (`exp(x) / exp(x).sum()`), probabilities
    that a loop carries from one iteration to the next, and probabilities that a model returns whose code jaxlint does
    not see.

    ## Fix safety

    No fix. Only the author knows whether the code should remove the `softmax` or call another function.

    ## How it is verified

    jaxlint cannot confirm the finding, because logits may lie between 0 and 1, too: the values do not show whether
    they are probabilities.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX703 (`unstable-expression`), JAX710 (`inf-mask-softmax`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/_autosummary/jax.random.categorical.html>
    """
    taken = _TAKES.get(event.name)
    if taken is None or event.context.presumed or is_test(event.context):
        return None
    parameter, kind = taken
    value, node = event.bound.get(parameter), event.bound_nodes.get(parameter)
    if value is None or node is None or not _is_made_by(value, kind):
        return None
    short = event.name.rpartition(".")[2]
    subject = quote(event.context, node, "the argument")
    advice = f"pass the values from before the {kind}" if short != "categorical" else "pass jnp.log of them"
    message = f"{subject} holds probabilities (it comes from {kind}), but {short} takes logits; {advice}"
    return Report(node, message, preview=True)


def _is_made_by(value: Value, kind: str, depth: int = _DEEPEST) -> bool:
    """Every alternative of the value is what a softmax, or a sigmoid, gives, perhaps masked or of another shape."""
    if isinstance(value, UnionValue):
        return all(_is_made_by(member, kind, depth) for member in value.members)
    recipe = value.recipe if isinstance(value, Array) else None
    if recipe is None or not depth or not recipe.operands:
        return False
    if recipe.name in _MADE_BY:
        return _MADE_BY[recipe.name] == kind
    first, *rest = recipe.operands
    if recipe.name == SHAPED or (recipe.name in ("/", "divide") and _is_sum(rest[0])):
        return _is_made_by(first, kind, depth - 1)
    if recipe.name == "where" and len(rest) == 2:
        chosen = [one for one in rest if not isinstance(one, Const)]
        return bool(chosen) and all(_is_made_by(one, kind, depth - 1) for one in chosen)
    return False


def _is_sum(value: Value) -> bool:
    return isinstance(value, Array) and value.recipe is not None and value.recipe.name == "sum"
