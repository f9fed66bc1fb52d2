"""What a loop over an environment of the host sends to the device, only to compute with it there.

Vocabulary
----------
acting      ``obs, reward, done, info = env.step(action)``: an environment of the host returns four or five values. One
            that is written in JAX gets its state and a key as well.
sent        a function of ``jax.numpy``, or ``x.at[i].set(v)``, gets what the environment returned, as it is.

Limitations: environments behind functions of the program, what is sent by way of another variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, last_name, path_of
from flake8_jax.semantics.domain.values import Array, External, Tree
from flake8_jax.semantics.machine.dispatch import lookup

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import Frame
    from flake8_jax.semantics.machine.core import Machine

_RESULTS = (4, 5)
"""So many values the ``step`` of an environment of the host returns."""
_UPDATING = frozenset({"set", "add", "multiply", "min", "max"})
_SENDING = frozenset({"array", "asarray", "save", "shape", "ndim", "size"})
"""What only brings a value to the device, where a model may need it."""


def sent_result(m: Machine, frame: Frame, loop: Any) -> ir.Call | None:
    """The first operation of a loop on what the environment of its iterations returns."""
    if not isinstance(loop, (ir.For, ir.While)):
        return None
    inner = [s for s in all_statements(loop.body) if isinstance(s, (ir.For, ir.While))]
    own = [s for s in all_statements(loop.body) if not any(i.start <= s.start < i.end for i in inner)]
    returned = {n for s in own for n in _returned(s) if type(lookup(m, frame, n)) not in (Array, Tree)}
    if not returned:
        return None
    calls = (n for s in own if not isinstance(s, _BLOCKS) for n in walk(s) if isinstance(n, ir.Call))
    return next((call for call in calls if _sends(m, frame, call, returned)), None)


_BLOCKS = (ir.If, ir.With, ir.Try, ir.FunctionDef, ir.ClassDef)


def _returned(statement: ir.Stmt) -> list[str]:
    """The names that take what an environment returns."""
    if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Call):
        return []
    call, target = statement.value, statement.targets[0]
    if not isinstance(target, ir.Tuple) or len(target.elts) not in _RESULTS or len(call.args) != 1:
        return []
    acts = isinstance(call.func, ir.Attribute) and call.func.attr == "step"
    return [n.id for n in target.elts if isinstance(n, ir.Name)] if acts else []


def _sends(m: Machine, frame: Frame, call: ir.Call, returned: set[str]) -> bool:
    given = [argument.value for argument in call.args]
    if not any(isinstance(value, ir.Name) and value.id in returned for value in given):
        return False
    if not isinstance(call.func, ir.Attribute):
        return False
    if call.func.attr in _UPDATING and isinstance(call.func.value, ir.Subscript):
        return last_name(call.func.value.value) == "at"
    owner = lookup(m, frame, path_of(call.func.value))
    computes = isinstance(owner, External) and owner.name == "jax.numpy" and call.func.attr not in _SENDING
    return computes and all(isinstance(value, (ir.Name, ir.Constant)) for value in given)
