"""Operands that a transform cannot call: reported as soon as they are passed.

Vocabulary
----------
operand     the function that a transform stages; ``parameter`` is that of the transform which holds it.
arity       see ``domain.signatures``.
"""

from __future__ import annotations

from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.signatures import arity, describe, is_no_function, kind_of, takes, underlying
from flake8_jax.semantics.domain.values import FunctionValue, Value
from flake8_jax.semantics.events.events import SignatureMismatch
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.application import Transformation


def emit_problem(m: Machine, app: Transformation, problem: str) -> None:
    """Emit that a function does not fit the transform."""
    if app.node is not None and m.bus.wants(SignatureMismatch):
        m.bus.emit(SignatureMismatch(m.path.context(app.frame.scope), app.node, app.name, problem))


def _with_parameters(count: int) -> str:
    return f"define it with {count} parameter{'s' * (count != 1)}"


_PARAMETERS = {
    "scan": "define it as {}(carry, x)",
    "fori_loop": "define it as {}(i, carry)",
    "while_loop": "define it with the carry as its only parameter",
}
"""What to do about a function that does not take what a loop passes to it. In braces: its name."""


def _name(function: Value, otherwise: str) -> str:
    """The name of a function of the project; that of the parameter that gets it, for a lambda and other functions."""
    name = describe(function).rpartition(".")[2]
    return name if isinstance(underlying(function), FunctionValue) and name.isidentifier() else otherwise


def check_operand(m: Machine, app: Transformation, parameter: str, count: int | None) -> bool:
    """An operand has to be a function of ``count`` arguments (None: not known). Whether it may be."""
    operand = app.bound.get(parameter)
    if operand is None:
        return True
    if is_no_function(operand):
        emit_problem(
            m,
            app,
            f"`{parameter}` of `{app.short}` must be a function, but this argument is {kind_of(operand) or 'not one'}; "
            "check the argument order",
        )
        return False
    for member in joining.members_of(operand):
        known = arity(member)
        if known is not None and count is not None and not takes(member, count):
            least, most = known
            says = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            name = _name(member, parameter)
            calls = f"`{app.short}` calls `{name}` with {count} argument{'s' * (count != 1)}, but it takes {says}"
            emit_problem(m, app, f"{calls}; {_PARAMETERS.get(app.short, _with_parameters(count)).format(name)}")
            return False
    return True
