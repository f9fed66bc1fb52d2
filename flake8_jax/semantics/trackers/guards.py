"""Is a place guarded against names that a release of JAX lacks? Asked of the few places that use such a name.

Vocabulary
----------
probe     an expression that asks which release this is: a version, ``hasattr``, ``TYPE_CHECKING``, ``sys.modules``, or a flag.
flag      a variable that a probe decided, or that an import which may fail left behind.
guarded   behind a probe, in or below a ``try`` for names that may be missing, where a test expects the failure, or in a
          function or module that is used in such places only because of them.

This looks at syntax and at names, and errs towards guarded: a missed finding is better than a wrong one. Limitations:
probes in another project's code.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope

_PROBES = frozenset({"hasattr", "getattr", "TYPE_CHECKING", "find_spec", "import_module", "importlib", "signature"})
_FAILURES = frozenset(
    {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "TypeError", "NameError"}
)
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"})
_EXPECTING = ("raises", "suppress", "deprecated_call", "warns", "catch_warnings", "Raises", "Warns")
_LEAVES = (ir.Return, ir.Raise, ir.Continue, ir.Break)


_BLOCKS = frozenset({"body", "orelse", "finalbody"})
_start = attrgetter("start")


class Guards:
    """What the files of the project say of releases. Answers are remembered; nothing else changes."""

    def __init__(self, scopes: Iterable[ModuleScope]) -> None:
        self.scopes = [scope for scope in scopes if scope.path]
        self._flags: frozenset[str] | None = None
        self._assigned: set[str] = set()
        self._modules: dict[str, bool] = {}
        self._names: dict[str, dict[str, list[ir.Name]]] = {}
        self._behind: dict[int, bool] = {}
        self._local: dict[int, frozenset[str]] = {}
        self._leaving: dict[tuple[int, frozenset[str]], float] = {}

    @property
    def flags(self) -> frozenset[str]:
        """Names of module-level variables and functions, anywhere in the project, that tell releases apart."""
        if self._flags is None:
            found: set[str] = set()
            self._flags = frozenset()
            for scope in self.scopes:
                for statement in _shallow(scope.tree.body):
                    found.update(self._flags_of(statement))
                    self._assigned.update(_patched(statement))
            self._flags = frozenset(found) - {"jax", "np", "jnp", "numpy"}
        return self._flags

    def _flags_of(self, statement: ir.Stmt) -> Iterator[str]:
        if isinstance(statement, ir.Assign) and self.probes(statement.value):
            yield from _targets(statement.targets)
        elif isinstance(statement, ir.Try) and _expects_missing(statement):
            for inner in _shallow([statement]):
                if isinstance(inner, ir.Assign):
                    yield from _targets(inner.targets)
                elif isinstance(inner, (ir.Import, ir.ImportFrom)):
                    yield from [name.alias or name.name for name in inner.names]
        elif isinstance(statement, ir.If) and self.probes(statement.test):
            for inner in _shallow([statement]):
                if isinstance(inner, ir.Assign):
                    yield from _targets(inner.targets)

    def probes(self, node: Any, extra: frozenset[str] = frozenset()) -> bool:
        """The expression asks which release this is."""
        for part in walk(node):
            name = part.id if isinstance(part, ir.Name) else part.attr if isinstance(part, ir.Attribute) else ""
            if name and ("version" in name.lower() or name in _PROBES or name in self.flags or name in extra):
                return True
            if name == "modules" and isinstance(part, ir.Attribute) and last_name(part.value) == "sys":
                return True
        return False

    def is_patched(self, attribute: str) -> bool:
        """The project itself sets such an attribute of a module."""
        return bool(self.flags is not None) and attribute in self._assigned

    def guard(self, scope: ModuleScope, start: int, end: int) -> bool:
        """Whether what stands at these offsets is guarded."""
        return self._is_guarded(scope, start, end) or self._module_is_guarded(scope)

    def _is_guarded(self, scope: ModuleScope, start: int, end: int) -> bool:
        path = list(_path(scope.tree, start, end))
        local = frozenset(self._local_flags(path))
        for i, node in enumerate(path):
            below = path[i + 1] if i + 1 < len(path) else None
            if self._guards(node, below, local) or self._left_before(node, start, local):
                return True
            if isinstance(node, ir.FunctionDef) and self._used_behind_probe(scope, node):
                return True
        return False

    def _local_flags(self, path: list[Any]) -> Iterator[str]:
        for node in path:
            if isinstance(node, ir.Function) and not node.is_lambda:
                known = self._local.get(id(node))
                if known is None:
                    known = frozenset(flag for statement in _shallow(node.body) for flag in self._flags_of(statement))
                    self._local[id(node)] = known
                yield from known

    def _guards(self, node: Any, below: Any, local: frozenset[str], failures: frozenset[str] = _FAILURES) -> bool:
        """``node`` guards what is in its part ``below``; with ``failures`` among what its handlers catch."""
        if isinstance(node, (ir.If, ir.IfExp, ir.While)):
            return below is not node.test and self.probes(node.test, local)
        if isinstance(node, ir.BoolOp):
            before = node.values[: next((i for i, v in enumerate(node.values) if v is below), 0)]
            return any(self.probes(value, local) for value in before)
        if isinstance(node, ir.Try):
            return _expects_missing(node, failures)
        if isinstance(node, ir.With):
            return failures is _FAILURES and any(_expects_failure(item.context) for item in node.items)
        if isinstance(node, ir.Match):
            return self.probes(node.subject, local)
        if isinstance(node, (ir.FunctionDef, ir.ClassDef)):
            return any(self.probes(d, local) or _expects_failure(d) for d in node.decorators)
        return False

    def _left_before(self, node: Any, start: int, local: frozenset[str]) -> bool:
        """``if jax.__version__ < …: return …`` stands before it in the same block."""
        for block in _blocks(node):
            if block and block[0].start <= start < block[-1].end and self._first_end(block, local) <= start:
                return True
        return False

    def _first_end(self, block: list[ir.Stmt], local: frozenset[str]) -> float:
        """Where the first statement of a block ends that leaves the block on some releases."""
        known = self._leaving.get((id(block), local))
        if known is None:
            known = next((float(s.end) for s in block if self._leaves(s, local)), math.inf)
            self._leaving[id(block), local] = known
        return known

    def _leaves(self, statement: ir.Stmt, local: frozenset[str]) -> bool:
        if isinstance(statement, ir.Assert):
            return self.probes(statement.test, local)
        if not isinstance(statement, ir.If) or not self.probes(statement.test, local):
            return False
        branches = (statement.body, statement.orelse)
        return any(branch and (isinstance(branch[-1], _LEAVES) or _skips(branch[-1])) for branch in branches)

    def _used_behind_probe(self, scope: ModuleScope, node: ir.FunctionDef) -> bool:
        """The function is named in a guarded place: it is one of several implementations."""
        known = self._behind.get(id(node))
        if known is None:
            known = self._behind[id(node)] = self._named_behind_probe(scope, node)
        return known

    def _uses(self, scope: ModuleScope, name: str) -> list[ir.Name]:
        """Where a module uses a name."""
        names = self._names.get(scope.path)
        if names is None:
            names = self._names[scope.path] = {}
            for part in walk(scope.tree):
                if isinstance(part, ir.Name):
                    names.setdefault(part.id, []).append(part)
        return names.get(name, [])

    def _named_behind_probe(self, scope: ModuleScope, node: ir.FunctionDef) -> bool:
        for part in self._uses(scope, node.function.name):
            if not node.start <= part.start < node.end:
                path = list(_path(scope.tree, part.start, part.end))
                local = frozenset(self._local_flags(path))
                for i, above in enumerate(path[:-1]):
                    if self._guards(above, path[i + 1], local, _MISSING) or self._left_before(above, part.start, local):
                        return True
        return False

    def _module_is_guarded(self, scope: ModuleScope) -> bool:
        """The module is imported in a guarded place."""
        known = self._modules.get(scope.path)
        if known is None:
            self._modules[scope.path] = False
            known = self._modules[scope.path] = any(self._imports_guarded(other, scope) for other in self.scopes)
        return known

    def _imports_guarded(self, other: ModuleScope, wanted: ModuleScope) -> bool:
        last = wanted.name.rpartition(".")[2]
        if other is wanted or last not in other.text:
            return False
        for statement in _shallow(other.tree.body):
            if isinstance(statement, ir.ImportFrom):
                named = statement.module.rpartition(".")[2] == last or any(n.name == last for n in statement.names)
            elif isinstance(statement, ir.Import):
                named = any(n.name == wanted.name for n in statement.names)
            else:
                continue
            if named and self._is_guarded(other, statement.start, statement.end):
                return True
        return False


def _expects_missing(node: ir.Try, failures: frozenset[str] = _FAILURES) -> bool:
    """A handler catches what a missing name raises."""
    for handler in node.handlers:
        if handler.type is None:
            return failures is _FAILURES
        for part in walk(handler.type):
            name = part.id if isinstance(part, ir.Name) else part.attr if isinstance(part, ir.Attribute) else ""
            if name in failures:
                return True
    return False


def _expects_failure(node: ir.Expr) -> bool:
    """``pytest.raises(…)`` and similar functions."""
    for part in walk(node):
        name = part.id if isinstance(part, ir.Name) else part.attr if isinstance(part, ir.Attribute) else ""
        if name and any(word in name for word in _EXPECTING):
            return True
    return False


def _skips(node: ir.Stmt) -> bool:
    """``pytest.skip(…)``, ``sys.exit(…)``."""
    if not isinstance(node, ir.ExprStmt) or not isinstance(node.value, ir.Call):
        return False
    func = node.value.func
    return (func.attr if isinstance(func, ir.Attribute) else getattr(func, "id", "")) in ("skip", "exit", "skipTest")


def _patched(statement: ir.Stmt) -> Iterator[str]:
    if isinstance(statement, ir.Assign):
        yield from [target.attr for target in statement.targets if isinstance(target, ir.Attribute)]


def _targets(targets: Iterable[ir.Expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ir.Name):
            yield target.id
        elif isinstance(target, ir.Attribute):
            yield target.attr
        elif isinstance(target, (ir.Tuple, ir.List)):
            yield from _targets(target.elts)


def _shallow(body: list[ir.Stmt]) -> Iterator[ir.Stmt]:
    """Statements outside of functions, those inside of ``if``, ``try`` and ``with`` and of classes included."""
    for statement in body:
        yield statement
        for block in _blocks(statement):
            yield from _shallow(block)


def _blocks(node: Any) -> Iterator[list[ir.Stmt]]:
    """The blocks of statements directly in a node."""
    if isinstance(node, ir.Try):
        yield from [node.body, *[handler.body for handler in node.handlers], node.orelse, node.finalbody]
    elif isinstance(node, (ir.If, ir.For, ir.While)):
        yield from [node.body, node.orelse]
    elif isinstance(node, (ir.With, ir.ClassDef, ir.Module, ir.Function)):
        yield node.body


def _path(tree: ir.Module, start: int, end: int) -> Iterator[Any]:
    """The nodes around these offsets, from the module inwards."""
    node: Any = tree
    while node is not None:
        yield node
        node = next((part for part in _near(node, start) if _covers(part, start, end)), None)


def _near(node: msgspec.Struct, start: int) -> Iterator[msgspec.Struct]:
    """The parts of a node, of a block only the statement that begins last before this offset."""
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, msgspec.Struct):
            yield value
        elif type(value) is list:
            if name in _BLOCKS:
                i = bisect_right(value, start, key=_start)
                yield from value[max(i - 1, 0) : i]
            else:
                yield from [item for item in value if isinstance(item, msgspec.Struct)]


def _covers(part: Any, start: int, end: int) -> bool:
    own = getattr(part, "start", None)
    if own is not None:
        return bool(own <= start and end <= part.end)
    return any(_covers(inner, start, end) for inner in _near(part, start))  # a function, a handler, a match case
