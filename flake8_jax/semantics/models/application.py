"""A library function with its arguments, by the names of its parameters.

Vocabulary
----------
application  the call of a library function of which a fact is known. Of a transform it is a *transformation*, of any other
             function a *described call*.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from flake8_jax.core import ir
from flake8_jax.knowledge.model import FunctionFact, TransformFact
from flake8_jax.semantics.domain.arguments import Call, bind_parameters
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import Value

Fact = TypeVar("Fact", FunctionFact, TransformFact)


class Application(msgspec.Struct, Generic[Fact], frozen=True, eq=False):
    """name: canonical. bound, nodes: the arguments by the function's parameters, and their IR."""

    at: Call
    name: str
    fact: Fact
    bound: dict[str, Value]
    nodes: dict[str, ir.Expr] = {}

    @property
    def frame(self) -> Frame:
        return self.at.frame

    @property
    def node(self) -> Any:
        return self.at.node

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


Transformation = Application[TransformFact]
DescribedCall = Application[FunctionFact]


def described(name: str, fact: FunctionFact, at: Call) -> DescribedCall:
    """The call of a function with a fact."""
    bound, nodes = bind_parameters(fact.params, at.args)
    return Application(at, name, fact, bound, nodes)
