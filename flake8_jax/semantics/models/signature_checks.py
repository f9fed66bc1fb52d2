"""Operands that a transform cannot call: told as soon as they are passed."""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.signatures import arity, is_no_function, takes
from flake8_jax.semantics.domain.values import Value
from flake8_jax.semantics.events.events import SignatureMismatch
from flake8_jax.semantics.machine.core import Machine


def tell(m: Machine, frame: Frame, node: Any, name: str, problem: str) -> None:
    """Tell the rules that a function does not fit the transform ``name``."""
    if node is not None and m.bus.wants(SignatureMismatch):
        m.bus.emit(SignatureMismatch(m.path.context(frame.scope), node, name, problem))


def check_operand(m: Machine, frame: Frame, node: Any, name: str, what: str, operand: Value, count: int | None) -> bool:
    """An operand has to be a function of ``count`` arguments (None: not known). Whether it may be."""
    short = name.rpartition(".")[2]
    if is_no_function(operand):
        tell(m, frame, node, name, f"`{short}` takes a function for `{what}`, and this is none")
        return False
    for member in joining.members_of(operand):
        if count is not None and not takes(member, count):
            known = arity(member)
            assert known is not None
            least, most = known
            says = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            tell(m, frame, node, name, f"`{short}` calls `{what}` with {count} arguments, and it takes {says}")
            return False
    return True
