"""Names of facts that are recorded of a place or of the whole program, and that reports may depend on.

A report made ``unless`` a fact holds is superseded as soon as some path records it.

Vocabulary
----------
fact        a sentence about a place (file and offset), or about the program as a whole.
recorded    some path has shown that the fact holds; it is never withdrawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.semantics.domain.values import Const, Value

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.stack import LoopState


UNDONE = "change undone"

CHANGED_HERE = "changed by traced code"
READ_LATER = "read when the trace is over"


def is_on(value: Value) -> bool:
    """A switch is given a value that surely turns it on."""
    if not isinstance(value, Const):
        return False
    if isinstance(value.value, str):
        return value.value.lower() in ("1", "t", "true", "y", "yes", "on")
    return value.value is True or value.value == 1


def bound_axis_fact(axis: str) -> str:
    """What is recorded of a collective where some path to it binds the axis."""
    return f"axis {axis} bound"


def hashed_fact(parameter: str) -> str:
    """The fact that a call passes a value with a hash for a static parameter, whatever the annotation says."""
    return f"{parameter} gets a value with a hash"


EXPORTED = "written into an exported program on purpose"
"""The fact that the function that captures parameters is exported: they have to be in the program."""

TAKES_ITEMS = "stored to no array of JAX"
"""The fact that on some path what an item is assigned to is a ``Ref``, an array of NumPy or another value that takes it."""

NO_MEASURE = "dispatch timed on purpose, or a deadline"
"""The fact that a clock that was stopped after a dispatch times the waiting from there on, or that the time since is only
compared with a limit."""

WARM = "called again once it is compiled"
"""The fact that a timed call is made a second time: the first one is the warm-up, or is compared with the others."""

DRAWN = "something is drawn of it"


STARTING = frozenset({"init", "init_with_output", "lazy_init"})
"""Methods of a network of Flax that make its first parameters."""


STATISTICS_FROZEN = "a batch normalization uses stored statistics"
STATISTICS_COMPUTED = "a batch normalization may compute new statistics"
"""Facts of a call of a model: what the layers do that run in it."""


def draws_from(collection: str) -> str:
    """The fact that some module draws from a collection of Flax's rngs; recorded everywhere."""
    return f"draws from {collection}"


SUPERSEDED = "setting of use"

OFF = "switched off again"

GUARDED = "guarded by where"

CHOSEN_BY_DATA = "chosen by an array"
"""The fact that the condition of a ``where`` is no Python bool on some path."""

STOPPED = "gradient stopped"
"""The fact that no gradient flows through the result of an expression."""

TEMPERED = "no gradient, or one that vanishes with the probability"
"""The fact that the logarithm of a probability is multiplied by this probability, only sampled from, or not differentiated."""

WRITTEN = "environment written"
"""The fact that the name of the environment stands there for a change to it, not for reading it."""

IN_NEST = "inside an unrolled loop"
IN_PREVIEWED_NEST = "inside an unrolled loop that a preview tells of"


def iterates(loop: LoopState) -> str:
    """The fact that a loop has a second iteration; recorded everywhere."""
    return f"iterates {id(loop)}"


SEEDED = "*seeded"
"""A slot of a generator of random numbers that staged code made with a seed."""

OTHER_START_METHOD = "other start method"
"""The program sets a start method of ``multiprocessing`` that does not fork, or one that is not known."""

MADE_AGAIN = "made again"
"""The compiled function that reads a variable is replaced after the variable was rebound."""


def is_called_again(function: object) -> str:
    """The fact that several calls of the project, or a loop, run a function, by its IR."""
    return f"function {id(function)} is called again"
