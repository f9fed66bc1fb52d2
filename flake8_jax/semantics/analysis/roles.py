"""Which functions of a library its users surely stage, or differentiate: as far as names and classes tell.

Vocabulary
----------
role      what a function is there for: a loss, an activation, a density. It is rarely written to run eagerly only.
helper    a function whose name says that it prints, checks or stores such a thing.

Names tell little, so what hangs on a role is a preview.
"""

from __future__ import annotations

import re

from flake8_jax.semantics.domain.classes import find_in_class, says_array
from flake8_jax.semantics.domain.code import names_used
from flake8_jax.semantics.domain.values import External, FunctionValue

_ROLE = re.compile(
    r"(^|_)(loss|losses|nll|elbo|divergence|kl|kld|entropy|likelihood|log_?prob|log_?density|log_?pdf|log_?pmf|log_?cdf"
    r"|activation|penalty)(_fn|_fun|_func|_\d+d?)?$"
)
_ACTIVATIONS = frozenset({"relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "swish", "softplus", "mish",
                          "glu", "softmax", "sparsemax", "log_softmax", "sigmoid", "log_sigmoid", "softsign"})  # fmt: skip
_MODULES = frozenset({"loss", "losses", "activation", "activations", "distribution", "distributions", "bijector", "bijectors",
                      "divergence", "divergences", "likelihood", "likelihoods"})  # fmt: skip
_HELPERS = re.compile(
    r"(^|_)(print|plot|show|log_loss|log_losses|save|load|dump|write|read|check|validate|assert|test|eval|evaluate|train|fit"
    r"|report|parse|format|get|make|build|create|register|metrics?|accuracy|str|repr|callback|main|run)(_|$)"
)
_DENSITIES = ("log_prob", "logpdf", "log_pdf", "log_density")


def is_helper(func: FunctionValue) -> bool:
    """By its name or its file, the function is for the host."""
    return func.scope.is_test or _HELPERS.search(func.fn.name.lstrip("_")) is not None


def has_role(func: FunctionValue) -> bool:
    """By its name, its class or its module, the function is a loss, an activation, or part of a distribution."""
    name = func.fn.name.lstrip("_")
    if is_helper(func) or name.endswith("__"):
        return False
    if _ROLE.search(name) or name in _ACTIVATIONS:
        return True
    return not _places(func.scope.path).isdisjoint(_MODULES) or (
        func.owner is not None and any(find_in_class(func.owner, density) is not None for density in _DENSITIES)
    )


def mixes_numpy(func: FunctionValue) -> bool:
    """The function takes JAX arrays, as its annotations say, and names both NumPy and a module of JAX."""
    if not any(p.annotation is not None and says_array(func.scope, p.annotation) for p in func.fn.params):
        return False
    held = [func.scope.slots.get(name) for name in names_used(func.fn)]
    modules = {value.name.partition(".")[0] for value in held if isinstance(value, External)}
    return "numpy" in modules and "jax" in modules and not func.scope.is_test


def _places(path: str) -> set[str]:
    """The names of a module and of its innermost folder."""
    parts = path.replace("\\", "/").split("/")
    stem = parts[-1].removesuffix(".py").strip("_")
    return {stem, stem.rpartition("_")[2], *parts[-2:-1]}
