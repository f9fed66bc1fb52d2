"""What an iteration of a loop leaves to the next one.

Vocabulary
----------
carried     a variable that an iteration reads before it binds it, or changes what it holds: the loop's state.
changed     by a statement: what it binds, the object whose method it calls, and what a function of the project changes of the
            objects that it gets, as a step does that updates a module of NNX in place.
step        what a loop computes goes into its state.

The statements are followed in the order of the text. Limitations: what a method, or a function further in, changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, last_name, names_read, statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.signatures import underlying
from flake8_jax.semantics.domain.values import FunctionValue
from flake8_jax.semantics.trackers.key_meetings import is_reporting
from flake8_jax.semantics.trackers.key_names import parts_of_target

LONG_LOOP = 100
"""A loop of more statements than that computes something of its own."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """The simple statements of the outermost loop around a node, in the order of the text."""

    statements: list[ir.Stmt]
    scope: ModuleScope

    @property
    def is_long(self) -> bool:
        return len(self.statements) > LONG_LOOP

    def carried(self) -> set[str]:
        """The variables that an iteration reads before it binds them, and changes."""
        carried: set[str] = set()
        bound: set[str] = set()
        for one in self.statements:
            carried |= _read_by(one) - bound
            bound |= self.changed_by(one)
        return carried & bound

    def reached_from(self, statement: ir.Stmt) -> set[str]:
        """The variables that what a statement computes goes into, up to the end of the iteration."""
        following = [one for one in self.statements if one.start > statement.start]
        return self.reached_by(self.changed_by(statement), following)

    def reached_by(self, names: set[str], statements: list[ir.Stmt] | None = None) -> set[str]:
        """These variables, and those that statements, or all of the iteration, compute of them."""
        reached = set(names)
        for statement in self.statements if statements is None else statements:
            if reached & _read_by(statement):
                reached |= self.changed_by(statement)
        return reached

    def changed_by(self, statement: ir.Stmt) -> set[str]:
        """The names that a statement binds, or changes what they hold."""
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.Assign):
            targets = [t for target in statement.targets for t in parts_of_target(target)]
        elif isinstance(statement, (ir.AnnAssign, ir.AugAssign)):
            targets = [statement.target]
        elif isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute):
            targets = [value.func.value]
        else:
            targets = []
        names = {target.id for target in targets if isinstance(target, ir.Name)}
        return names | (_changed_arguments(value, self.scope) if isinstance(value, ir.Call) else set())


def iteration_around(body: list[ir.Stmt], node: Any, scope: ModuleScope) -> Iteration | None:
    """None where no loop is around the node, in the body of its function."""
    statements = list(all_statements(body))
    loop = next((s for s in statements if isinstance(s, (ir.For, ir.While)) and s.start <= node.start < s.end), None)
    if loop is None or statement_at(body, node) is None:
        return None
    simple = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.ExprStmt)
    return Iteration([s for s in all_statements(loop.body) if isinstance(s, simple)], scope)


def is_step(body: list[ir.Stmt], node: Any, scope: ModuleScope) -> bool:
    """What a loop draws at ``node`` goes into what its next iteration starts from."""
    iteration, statement = iteration_around(body, node, scope), statement_at(body, node)
    if iteration is None or statement is None or not iteration.statements:
        return False
    return iteration.is_long or bool(iteration.reached_from(statement) & iteration.carried())


def is_update(body: list[ir.Stmt], node: Any, scope: ModuleScope) -> bool:
    """What a loop computes at ``node`` goes into what the next iteration computes it of: ``state = step(state, batch, key)``.
    An evaluation, whose results are only gathered, is none."""
    iteration, statement = iteration_around(body, node, scope), statement_at(body, node)
    if iteration is None or statement is None or iteration.is_long or not isinstance(node, ir.Call):
        return False
    read = {name for argument in node.args for name in names_read(argument.value)}
    return bool(iteration.reached_from(statement) & read)


def _changed_arguments(call: ir.Call, scope: ModuleScope) -> set[str]:
    """The variables in a call of a function of the project that changes what they hold."""
    called = scope.slots.get(call.func.id) if isinstance(call.func, ir.Name) else None
    inner = underlying(called) if called is not None else None
    function = inner.fn if isinstance(inner, FunctionValue) else None
    if function is None or any(argument.star for argument in call.args):
        return set()
    parameters = [parameter.name for parameter in function.params]
    changed = set(_changed_parameters(function))
    given = zip(parameters, (a for a in call.args if not a.keyword), strict=False)
    named = [*given, *((a.keyword, a) for a in call.args if a.keyword)]
    return {a.value.id for name, a in named if name in changed and isinstance(a.value, ir.Name)}


def _changed_parameters(function: ir.Function) -> Iterator[str]:
    """The names whose objects a function changes: it stores an attribute, or calls a method for its effect."""
    for statement in all_statements(function.body):
        if isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Call):
            func = statement.value.func
            if isinstance(func, ir.Attribute) and isinstance(func.value, ir.Name) and not is_reporting(last_name(func)):
                yield func.value.id
        elif isinstance(statement, (ir.Assign, ir.AugAssign)):
            for target in statement.targets if isinstance(statement, ir.Assign) else [statement.target]:
                stored = (part for part in walk(target) if isinstance(part, ir.Attribute))
                yield from (part.value.id for part in stored if isinstance(part.value, ir.Name))


def _read_by(statement: ir.Stmt) -> set[str]:
    if isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.Call):
        call = statement.value
        return {name for argument in call.args for name in names_read(argument.value)}
    if isinstance(statement, ir.AugAssign):
        return names_read(statement.value) | names_read(statement.target)
    return (
        names_read(statement.value) if isinstance(statement, (ir.Assign, ir.AnnAssign)) and statement.value else set()
    )
