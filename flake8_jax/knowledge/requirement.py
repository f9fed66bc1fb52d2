"""Requirements of JAX and of the libraries around it, as packaging files and scripts (PEP 723) write them.

Not modelled: environment markers, direct references (``jax @ https://…``), several bounds on one library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LIBRARIES = {
    "jax": "jax", "flax": "flax", "optax": "optax", "orbax": "orbax-checkpoint", "chex": "chex", "haiku": "dm-haiku",
    "numpyro": "numpyro",
}  # fmt: skip
"""The libraries whose history is known, by import name, and their distributions."""

_IMPORT_NAMES = {distribution: name for name, distribution in LIBRARIES.items()} | {"jaxlib": "jaxlib"}
_NAME = "(" + "|".join(name.replace("-", "[-_.]") for name in _IMPORT_NAMES) + ")"
# No two runs of spaces stand next to each other, and all is on one line, so that matching takes linear time.
_SPACES = r"[^\S\n]*"
_CLAUSE = rf"(?:===|[<>=~!]=|[<>]){_SPACES}[\w.*+!]+"
_EXTRAS = rf"(?:\[[^\]\n]{{0,500}}\]{_SPACES})?"
_BOUND = rf"{_SPACES}{_EXTRAS}(?:\({_SPACES})?({_CLAUSE}(?:{_SPACES},{_SPACES}{_CLAUSE})*)"
_LITERAL = re.compile(rf"""["']{_SPACES}{_NAME}{_BOUND}""", re.IGNORECASE)
_LINE = re.compile(rf"^{_SPACES}{_NAME}{_BOUND}", re.MULTILINE | re.IGNORECASE)
_LONGEST = 200
"""Characters of a bound. Python does not even convert versions of thousands of digits."""


def library_of(distribution: str) -> str | None:
    """The import name of a distribution (``jaxlib`` stands for itself); None for one that nothing is known of."""
    return _IMPORT_NAMES.get(re.sub(r"[-_.]+", "-", distribution).lower())


def required(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every bound in lines such as ``jax[cpu] >= 0.4.30, < 0.8``."""
    return _found(_LINE, text)


def required_in_literals(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every bound that starts a string literal."""
    return _found(_LITERAL, text)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    for found in pattern.finditer(text):
        library = library_of(found[1])
        bound = re.sub(r"\s", "", found[2]).rstrip(",")
        if library is not None and len(bound) <= _LONGEST:
            yield library, bound
