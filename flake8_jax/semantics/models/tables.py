"""The tables of models, by name or by kind of value, and the decorators that fill them.

A new model is a decorated function in any module of this package: packages are walked when a machine is assembled.

Vocabulary
----------
handler     a function that models one function of Python or of a library.
method      a function that models the methods of one kind of value.
model       how a transform calls its operand, by the word for it in ``knowledge.model.TransformFact.model``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import Value
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.machine.dispatch import SPECIAL
from flake8_jax.semantics.models.application import Transformation

Handler = Callable[[Machine, Frame, Any, Arguments], Value]
Method = Callable[[Machine, Any, str, Call], Value]
Model = Callable[[Machine, Transformation], Value]

BUILTINS: dict[str, Handler] = {}
"""Python's builtins."""
METHODS: dict[type, Method] = {}
"""Methods of values that are no instances of a class of the project."""
MODELS: dict[str, Model] = {}
"""Transforms that call their operand at once."""

Key = TypeVar("Key")
Function = TypeVar("Function", bound=Callable[..., Any])


def _filling(table: dict[Key, Any], keys: tuple[Key, ...]) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        for key in keys:
            if key in table:
                raise ValueError(f"{key} has a model already: {table[key]}")
            table[key] = function
        return function

    return enter


def library(*names: str) -> Callable[[Handler], Handler]:
    """The function models library functions that no fact of the knowledge tables describes."""
    return _filling(SPECIAL, names)


def builtin(*names: str) -> Callable[[Handler], Handler]:
    """The function models builtins."""
    return _filling(BUILTINS, names)


def methods_of(*kinds: type) -> Callable[[Method], Method]:
    """The function models the methods of these kinds of values."""
    return _filling(METHODS, kinds)


def model(*words: str) -> Callable[[Model], Model]:
    """The function models transforms whose facts have one of these words."""
    return _filling(MODELS, words)
