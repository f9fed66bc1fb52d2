"""Checkpoints that are saved to, or restored from, a relative path, which Orbax refuses.

Vocabulary
----------
lead        the text that a path starts with, as far as the program writes it: ``./runs/`` of ``f"./runs/{name}"``.
saver       a function or method that gives Orbax a path, with the position and the name of that argument.

Flax saves with Orbax since 0.7, unless ``flax_use_orbax_checkpointing`` is switched off. Orbax raises ValueError where it reads
or writes the first array (0.5.0 to 0.12.8, by running 0.12.8 and reading the others).

Limitations: options without a default that the program writes; paths of other forms than strings, f-strings, ``os.path.join``
and ``pathlib.Path``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import all_statements, bound_paths, last_name
from flake8_jax.semantics.domain.host_tests import written_as
from flake8_jax.semantics.domain.option_defaults import default_of_option, option_name
from flake8_jax.semantics.domain.values import Const, Value
from flake8_jax.semantics.events.refused import RelativePath
from flake8_jax.semantics.machine.tracker import Tracker
from flake8_jax.semantics.trackers.versions import ApiUses, Versions

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.machine.core import Machine


class _Saver(NamedTuple):
    """certain: the call itself raises; else only if it finds, or later writes, a checkpoint of arrays."""

    parameter: str
    certain: bool


_FLAX = "flax.training.checkpoints."
_ORBAX = "orbax.checkpoint."
_CHECKPOINTERS = ("PyTreeCheckpointer", "StandardCheckpointer")
SAVERS = {
    f"{_FLAX}save_checkpoint": _Saver("ckpt_dir", certain=True),
    f"{_FLAX}save_checkpoint_multiprocess": _Saver("ckpt_dir", certain=True),
    f"{_FLAX}restore_checkpoint": _Saver("ckpt_dir", certain=False),
    f"{_ORBAX}CheckpointManager": _Saver("directory", certain=False),
    **{
        f"{_ORBAX}{cls}.{method}": _Saver("directory", certain=True)
        for cls in _CHECKPOINTERS
        for method in ("save", "restore")
    },
}
"""The path is the first argument of each."""
_SINCE = {"flax": (0, 8, 5), "orbax": (0, 5, 0)}
_ANY = (99, 0, 0)
_SWITCH = "use_orbax_checkpointing"
_ABSOLUTE = re.compile(r"[/~$\\%]|\w+:")
"""Starts of paths that are absolute, are expanded first, or name a drive or a bucket."""
_DEPTH = 4
_JOINS = ("join", "Path", "PosixPath", "str", "fspath")


class CheckpointPaths(Tracker):
    """leads: what strings start with that are not known in full; None unless a rule listens."""

    def __init__(self, m: Machine) -> None:
        self.leads: dict[Value, str] | None = None
        self._switched: bool | None = None

    def track_text(self, node: ir.JoinedStr, text: Value) -> None:
        """An f-string has been made."""
        if self.leads is not None and (lead := _written_lead(node)):
            self.leads[text] = lead

    def check(self, m: Machine, name: str, at: Call) -> None:
        """A function or method of ``SAVERS`` is called."""
        node, saver, versions = at.node, SAVERS[name], m.trackers[ApiUses].versions
        if self.leads is None or versions is None or not isinstance(node, ir.Call) or at.args.star is not None:
            return
        scope = at.frame.scope
        value = at.args.values[0] if at.args.values else at.args.kwargs.get(saver.parameter)
        given = at.args.nodes[0] if at.args.nodes else at.args.keyword_nodes.get(saver.parameter)
        lead, default = self._lead(m, scope, value, given), ""
        if not lead and not isinstance(value, Const):
            lead = default = _default_lead(m, scope, versions, given)
        if not lead or _ABSOLUTE.match(lead) or self._is_switched(versions) or m.program.is_library_name_set(name):
            return
        library = name.partition(".")[0]
        if not versions.is_wanted(scope) or not versions.supports_some(scope, library, _SINCE[library], _ANY):
            return
        if not versions.guards.guard(scope, node.start, node.end):
            context = m.path.context(scope)
            m.bus.emit(RelativePath(context, given or node, name, saver.certain, default))

    def _lead(self, m: Machine, scope: ModuleScope, value: Value | None, given: ir.Expr | None) -> str:
        if isinstance(value, Const):
            return value.value if isinstance(value.value, str) else ""
        if value is not None and self.leads is not None and value in self.leads:
            return self.leads[value]
        inner = m.path.stack[-1].fn if m.path.stack else None
        return _lead_of(given, inner, scope, _DEPTH)

    def _is_switched(self, versions: Versions) -> bool:
        if self._switched is None:
            self._switched = any(_SWITCH in scope.text.lower() for scope in versions.guards.scopes)
        return self._switched


def _default_lead(m: Machine, scope: ModuleScope, versions: Versions, given: ir.Expr | None) -> str:
    """The default of the option that a path starts with."""
    function = m.path.stack[-1].fn if m.path.stack else None
    node = _first_part(given, function, _DEPTH)
    if isinstance(node, ir.Name):
        return _written_lead(_default_of_parameter(node.id, function)) if function is not None else ""
    name = option_name(node)
    return default_of_option(name, scope, versions.guards.scopes) if name else ""


def _default_of_parameter(name: str, function: ir.Function) -> ir.Expr | None:
    """The default of a parameter that the function does not assign to, as in ``path = os.path.abspath(path)``."""
    if any(name in bound_paths(statement) for statement in all_statements(function.body)):
        return None
    return next((p.default for p in function.params if p.name == name), None)


def _first_part(node: Any, function: ir.Function | None, depth: int) -> Any:
    """The expression that the start of a path comes from."""
    if depth == 0:
        return None
    if isinstance(node, ir.Name):
        found = written_as(node, function)
        return node if found is node else _first_part(found, function, depth - 1)
    if isinstance(node, ir.JoinedStr) and node.values and isinstance(node.values[0], ir.FormattedValue):
        return _first_part(node.values[0].value, function, depth - 1)
    if isinstance(node, ir.BinOp) and node.op in ("+", "/"):
        return _first_part(node.left, function, depth - 1)
    if isinstance(node, ir.Call) and last_name(node.func) in _JOINS and node.args and not node.args[0].star:
        return _first_part(node.args[0].value, function, depth - 1)
    return node


def _written_lead(node: Any) -> str:
    """What a string literal or an f-string starts with; empty if that is not written."""
    if isinstance(node, ir.JoinedStr):
        node = node.values[0] if node.values else None
    return node.value if isinstance(node, ir.Constant) and isinstance(node.value, str) else ""


def _lead_of(node: Any, function: ir.Function | None, scope: ModuleScope, depth: int) -> str:
    """What a path starts with that an expression makes."""
    if depth == 0:
        return ""
    if isinstance(node, ir.Name):
        found = written_as(node, function)
        found = found if found is not node else _bound_at_top(node, function, scope)
        return _lead_of(found, function, scope, depth - 1) if found is not None else ""
    if isinstance(node, ir.BinOp) and node.op in ("+", "/"):
        return _lead_of(node.left, function, scope, depth - 1)
    if isinstance(node, ir.Call):
        joins = last_name(node.func) in _JOINS and node.args
        first = node.args[0] if joins else None
        is_text = isinstance(node.func, ir.Attribute) and isinstance(node.func.value, ir.Constant)  # "/".join(parts)
        if first is None or first.star or first.keyword is not None or is_text:
            return ""
        return _lead_of(first.value, function, scope, depth - 1)
    return _written_lead(node)


def _bound_at_top(node: ir.Name, function: ir.Function | None, scope: ModuleScope) -> Any:
    """What the only assignment to a variable of the module binds to it, if it is no parameter of the function."""
    if function is not None and any(p.name == node.id for p in function.params):
        return None
    bound = [
        n.value
        for statement in scope.tree.body
        for n in walk(statement)
        if isinstance(n, ir.Assign) and any(isinstance(t, ir.Name) and t.id == node.id for t in n.targets)
    ]
    return bound[0] if len(bound) == 1 else None
