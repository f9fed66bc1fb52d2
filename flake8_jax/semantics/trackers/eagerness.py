"""Whether a loop surely runs outside of tracing, also where nobody knows the caller of its function.

Vocabulary
----------
unknown caller   the run began with a function that jaxlint entered by itself: users of a library may stage it.
data loop        a loop over what its function was given, or a ``while``: staged code loops over counts and layers.
model code       a method of a module: its loops go over layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import path_of
from flake8_jax.semantics.domain.values import ExternalInstance, Instance

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.stack import Link, LoopState
    from flake8_jax.semantics.machine.core import Machine

_MODULES = ("flax.", "equinox.", "haiku.")


def is_model_code(link: Link | None) -> bool:
    """The function that runs is a method of a module of Flax, Haiku or Equinox."""
    receiver = link.receiver if link is not None else None
    if isinstance(receiver, Instance):
        return any(base.startswith(_MODULES) for base in receiver.cls.external_bases)
    return isinstance(receiver, ExternalInstance)


def has_known_caller(m: Machine) -> bool:
    """The top level of a module, or ``main``, leads here."""
    stack = m.path.stack
    return not stack or stack[0].kind != "entry" or any(link.function == "main" for link in stack)


def may_be_library(m: Machine, loop: LoopState) -> bool:
    """Users of a library may stage the function of the loop: it makes or is model code, or others override it."""
    around = m.path.stack[: loop.links]
    return "<locals>" in m.path.stack[0].function or any(is_model_code(link) or _is_family(m, link) for link in around)


def _is_family(m: Machine, link: Link) -> bool:
    """A method of an object of which only a base, or a project class between others, is known."""
    receiver = link.receiver
    if not isinstance(receiver, Instance) or receiver.exact:
        return False
    return bool(m.program.subclasses(receiver.cls)) or bool(receiver.cls.bases)


def is_surely_eager(m: Machine, loop: LoopState) -> bool:
    """Nobody stages the loop."""
    if m.path.mode.staged or m.path.mode.presumed:
        return False
    if has_known_caller(m):
        return True
    if may_be_library(m, loop):
        return False
    return loop.carries or loop.coarse or _goes_over_data(m, loop)


def _goes_over_data(m: Machine, loop: LoopState) -> bool:
    if not isinstance(loop.node, ir.For):
        return True
    link = m.path.stack[loop.links - 1] if loop.links else None
    own = link is not None and link.receiver is not None and "." in path_of(loop.node.iter)
    return not loop.counting and not own
