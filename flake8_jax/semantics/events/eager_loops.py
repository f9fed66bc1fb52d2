"""Events about Python loops that no transform traces, and what each of their iterations pays for again."""

from __future__ import annotations

from typing import Literal

import msgspec

from flake8_jax.core import ir
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import Site, Value
from flake8_jax.semantics.domain.varying import Variation
from flake8_jax.semantics.events.context import Context

RepetitionKind = Literal["compiled", "body", "traced", "differentiated", "looked up"]
"""``at`` applies ``jit`` to a function object that is new in every iteration; it stages a new one, as ``scan`` does; or it
calls what ``grad`` or ``vmap`` returned, so that Python runs the function again; or what ``grad`` returned for a function
that is compiled; or it applies ``jit`` to a function that is the same each time."""


class Repetition(msgspec.Struct, frozen=True, eq=False):
    """In every iteration of an eager loop something is done that need be done once (see ``freshness``).

    name: canonical name of the transform; operand: the function. loop: the IR of the loop; own: it is one of the running
    function, else of a caller. given, unless: the facts on which a report hangs. slight: it costs little, or a test of the
    iteration's number stands before it, or the function cannot be jitted as it is. made: where ``grad`` was applied. draws:
    the function draws numbers on the host, which would be the same ones in each call of compiled code. presumed: the
    loop has at most 100 iterations, or nothing but a model of NNX goes from one iteration to the next, or a test in a loop
    around decides whether it runs."""

    context: Context
    at: ir.Node
    how: RepetitionKind
    name: str
    operand: Value
    loop: ir.Node
    own: bool
    given: str
    unless: str
    called: Site | None
    """The call in the loop that leads here, where that is a caller's."""
    slight: bool = False
    made: Site | None = None
    draws: bool = False
    presumed: bool = False


CopyKind = Literal["joined", "listed", "updated"]
"""``append`` and ``concatenate`` make a longer copy, an array is made of a list that got longer, ``x.at[i].set(v)`` copies
all of ``x``."""


class MaskedIndex(msgspec.Struct, frozen=True, eq=False):
    """An eager loop indexes an array of JAX with a mask (its IR) that selects another number of elements each time."""

    context: Context
    at: ir.Node
    mask: ir.Expr
    variation: Variation


class LoopCopy(msgspec.Struct, frozen=True, eq=False):
    """An eager loop copies an array in every iteration, to hand it on to the next (see ``growth``). loop: its IR, in the
    file of ``loop_scope``. unless: a fact that withdraws the report. fed: a model gets what the loop copies."""

    context: Context
    at: ir.Node
    how: CopyKind
    loop: ir.Node
    loop_scope: ModuleScope
    unless: str = ""
    fed: bool = False


class EagerStep(msgspec.Struct, frozen=True, eq=False):
    """Every iteration of an eager loop runs a model or an optimizer, and nothing on the way is staged (see ``eager_steps``).

    ``at``: the first expression in the loop's body that does. loop: its IR, in the file of ``loop_scope``. optimizes: an
    optimizer is among what runs. kind: of what ``at`` runs. work: the call of the model or optimizer itself, None for other
    operations. count: of the operations. unless: a fact that withdraws the report. called: the expression in the loop's body,
    where ``at`` stands in a function that the loop calls. presumed: only names say what ``at`` is, or it is a further one.
    """

    context: Context
    at: ir.Node
    loop: ir.Node
    loop_scope: ModuleScope
    optimizes: bool
    kind: str
    work: Site | None = None
    count: int = 0
    unless: str = ""
    called: Site | None = None
    presumed: bool = False


class ElementAccess(msgspec.Struct, frozen=True, eq=False):
    """An eager loop of a function indexes an array of the device by a number that differs between its iterations. The loop
    does not bind the array. loop: its IR."""

    context: Context
    at: ir.Subscript
    base: Value
    loop: ir.For | ir.While | ir.Comprehension
