"""What two draws with one key have in common.

Vocabulary
----------
stream      the random bits that a sampler computes its numbers from. Most samplers take ``bits(key, shape)``, so what two of
            them draw are two functions of the same bits. Others split the key inside: their streams are apart, as far as
            anyone can measure, but JAX promises that of two keys alone.
shares      ``numbers``: both calls give the same. ``bits``: the same bits, of which they make something else, or more.
            ``new-keys``: two splits. ``nothing``: no more than the key.

Measured on JAX 0.10 (``jax_threefry_partitionable``): rank correlations of two samplers with one key and shape.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain.stack import Place
from flake8_jax.semantics.domain.values import Const, Value
from flake8_jax.semantics.events.events import Shared

BITS: Final = "bits"
"""The stream of ``jax.random.bits``."""
_PREFIX: Final = "jax.random."
_OF_BITS = (
    "bits", "uniform", "normal", "truncated_normal", "bernoulli", "rademacher", "gumbel", "categorical", "exponential",
    "laplace", "logistic", "lognormal", "cauchy", "geometric", "rayleigh", "pareto", "weibull_min", "triangular",
    "multivariate_normal", "orthogonal",
)  # fmt: skip
_STREAMS = {
    **dict.fromkeys(_OF_BITS, BITS),
    "loggamma": "gamma",
    "chisquare": "gamma",
    "shuffle": "permutation",
}


class Drawing(NamedTuple):
    """A use of a key, as far as it says what comes out. last: where the key itself is used."""

    sampler: str
    stream: str
    is_split: bool
    draws: bool
    last: Place


def stream_of(sampler: str, bound: dict[str, Value]) -> str:
    """The stream of a sampler of ``jax.random``; empty for others, of which nothing is known."""
    if not sampler.startswith(_PREFIX):
        return ""
    name = sampler[len(_PREFIX) :]
    if name == "choice":
        return _stream_of_choice(bound.get("replace"), bound.get("p"))
    return _STREAMS.get(name, name)


def _stream_of_choice(replace: Value | None, weights: Value | None) -> str:
    if weights is not None and not isinstance(weights, Const):
        return BITS
    if replace is None or (isinstance(replace, Const) and replace.value is True):
        return "randint"
    return "permutation" if isinstance(replace, Const) and replace.value is False else ""


def shared_by(now: Drawing, then: Drawing) -> Shared:
    if now.is_split or then.is_split:
        return "new-keys" if now.is_split and then.is_split else "nothing" if now.draws or then.draws else ""
    if not (now.draws and then.draws and now.stream and then.stream):
        return ""
    if now.stream != then.stream:
        return "nothing"
    same = now.sampler == then.sampler and _words(now.last) == _words(then.last) is not None
    return "numbers" if same and now.last.serial == then.last.serial else "bits"


def _words(place: Place) -> list[str] | None:
    """The arguments beside the key, as the code spells them."""
    node: Any = place.node
    if not isinstance(node, ir.Call):
        return None
    given = [a for i, a in enumerate(node.args) if a.keyword != "key" and (a.keyword or i > 0)]
    return [" ".join(place.scope.text[a.start : a.end].split()) for a in given]
