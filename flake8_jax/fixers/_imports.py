"""How a library function is spelled in this file, and the import to add where it cannot be spelled yet.

Vocabulary
----------
binding     a name that an import binds, and the qualified name that it stands for.
visible     the name means that import at a given node: nothing else in the module's or the functions' scopes takes it.

An import inside a function counts for what follows it in that function.

Not modelled: star imports, imports inside ``try`` or ``if`` (they neither help nor are trusted), ``__getattr__``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.fixers._names import identifiers, imported_name, uses
from flake8_jax.fixers._source import FixSource, Refused

# The import that makes a qualified name available where nothing does: (prefix, statement, name it binds). Elsewhere it
# is the plain import of the library.
_ADDITIONS = (("jax.numpy", "import jax.numpy as jnp", "jnp"), ("numpy", "import numpy as np", "np"))


def _bindings(statements: Iterable[ir.Stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in statements:
        if isinstance(statement, ir.Import):
            for name in statement.names:
                head = name.name.partition(".")[0]
                found[name.alias or head] = name.name if name.alias else head
        elif isinstance(statement, ir.ImportFrom) and statement.level == 0:
            for name in statement.names:
                if name.name != "*":
                    found[name.alias or name.name] = f"{statement.module}.{name.name}"
    return found


def _import_statements(function: ir.Function) -> list[ir.Stmt]:
    return [s for s in function.body if isinstance(s, (ir.Import, ir.ImportFrom))]


def _rebound(statements: list[ir.Stmt]) -> set[str]:
    """Names that something other than one import binds, or that imports bind to different things."""
    taken: set[str] = set()
    meaning: dict[str, str] = {}
    for statement in statements:
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            for name, qualified in _bindings([statement]).items():
                if meaning.setdefault(name, qualified) != qualified:
                    taken.add(name)
            if isinstance(statement, ir.ImportFrom) and statement.level:
                taken.update(imported_name(n, from_import=True) for n in statement.names)
        else:
            taken.update(uses(statement).binds)
    return taken


def _of_module(module: ir.Module) -> dict[str, str]:
    taken = _rebound(module.body) | set(module.rebound_names)
    return {n: q for n, q in _bindings(module.body).items() if n not in taken}


class Imports:
    """The imports as seen from one node. ``edits`` grows by what ``spell`` has to add."""

    def __init__(self, source: FixSource, at: msgspec.Struct) -> None:
        self.source = source
        self.edits: list[Edit] = []
        self._visible = source.remember("imports", source.module, lambda: _of_module(source.module))
        for function in reversed(source.functions(at)):
            imported = source.remember("import statements", function, functools.partial(_import_statements, function))
            own = [s for s in imported if s.end <= at.start]  # type: ignore[attr-defined]
            taken = source.remember("rebound", function, functools.partial(_rebound, function.body))
            here = {n: q for n, q in _bindings(own).items() if n not in taken and not function.is_lambda}
            hidden = {*function.local_names, *(p.name for p in function.params)} - set(function.global_names)
            self._visible = {**{n: q for n, q in self._visible.items() if n not in hidden}, **here}
        for above in source.ancestors(at):
            if isinstance(above, ir.Comprehension):
                hidden = set(uses(*(g.target for g in above.generators)).reads)
                self._visible = {n: q for n, q in self._visible.items() if n not in hidden}

    def resolve(self, node: msgspec.Struct) -> str | None:
        """The qualified name of ``np.linalg.norm``, as far as imports tell."""
        attributes: list[str] = []
        while isinstance(node, ir.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ir.Name) or node.id not in self._visible:
            return None
        return ".".join([self._visible[node.id], *reversed(attributes)])

    def spell(self, qualified: str) -> str:
        """How to write the name here; an import is added to ``edits`` where it must be.

        Raises:
            Refused: every spelling is shadowed.
        """
        known = self._spelled(qualified)
        head = qualified.partition(".")[0]
        additions = (*_ADDITIONS, (head, f"import {head}", head))
        prefix, statement, bound = next(a for a in additions if qualified == a[0] or qualified.startswith(a[0] + "."))
        module = self.source.module
        free = bound not in self.source.remember("identifiers", module, lambda: identifiers(module))
        if known is not None and not (prefix == "jax.numpy" and known.startswith("jax.numpy.") and free):
            return known
        if not free:
            raise Refused
        self.edits.append(add_import(self.source, statement))
        self._visible = {**self._visible, bound: prefix}
        return bound + qualified[len(prefix) :]

    def _spelled(self, qualified: str) -> str | None:
        """The shortest spelling that the visible imports allow."""
        found = [
            name + qualified[len(meaning) :]
            for name, meaning in self._visible.items()
            if qualified == meaning or qualified.startswith(meaning + ".")
        ]
        return min(found, key=lambda s: (s.count("."), len(s))) if found else None


def add_import(source: FixSource, statement: str) -> Edit:
    """Insert an import statement among the others of its kind at the top of the file.

    Raises:
        Refused: no line of its own can be found for it.
    """
    body = source.module.body
    docstring = body[:1] if body and isinstance(body[0], ir.ExprStmt) and _is_string(body[0].value) else []
    block = _leading_imports(body[len(docstring) :])
    futures = [s for s in block if isinstance(s, ir.ImportFrom) and s.module == "__future__"]
    others = [s for s in block if s not in futures]
    if others:
        return _among(source, others, statement)
    if futures or docstring:
        return _after(source, (futures or docstring)[-1], source.newline + statement)
    first = _first_offset(body[0]) if body else 0
    return _checked(source, source.line_start(first), statement + source.newline * 2, None)


def _leading_imports(body: list[ir.Stmt]) -> list[ir.Import | ir.ImportFrom]:
    block: list[ir.Import | ir.ImportFrom] = []
    for item in body:
        if not isinstance(item, (ir.Import, ir.ImportFrom)):
            break
        block.append(item)
    return block


def _among(source: FixSource, others: list[ir.Import | ir.ImportFrom], statement: str) -> Edit:
    """Insert an import where it sorts among others, with an empty line to another section."""
    module, newline = statement.split()[1], source.newline
    order = (_group(module), 0, module)
    following = next((s for s in others if _order(s) > order), None)
    if following is not None and _group_of(following) == _group(module):
        return _checked(source, source.line_start(following.start), statement + newline, following)
    previous = next((s for s in reversed(others) if _order(s) < order), None)
    if previous is not None:
        gap = "" if _group_of(previous) == _group(module) else newline
        return _after(source, previous, gap + statement)
    assert following is not None
    return _checked(source, source.line_start(following.start), statement + newline * 2, following)


def _after(source: FixSource, statement: ir.Stmt, text: str) -> Edit:
    at = source.next_line(statement.end)
    if at == len(source.text) and not source.text.endswith(("\n", "\r")):
        return _checked(source, at, source.newline + text, None)
    return _checked(source, at, text + source.newline, None)


def _checked(source: FixSource, offset: int, text: str, following: ir.Stmt | None) -> Edit:
    """An insertion at a line's start that falls into no statement."""
    if following is not None and not source.starts_line(following):
        raise Refused
    if any(_first_offset(s) < offset < s.end for s in source.module.body):
        raise Refused
    return Edit(offset, offset, text)


def _first_offset(statement: ir.Stmt) -> int:
    """Where a statement begins, decorators and their ``@`` included."""
    decorators = getattr(statement, "decorators", None)
    return decorators[0].start - 1 if decorators else statement.start


def _is_string(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "str"


def _group(module: str) -> int:
    """isort's sections: standard library, then third party."""
    return 1 if module.partition(".")[0] in sys.stdlib_module_names else 2


def _group_of(statement: ir.Import | ir.ImportFrom) -> int:
    if isinstance(statement, ir.ImportFrom):
        return 3 if statement.level else _group(statement.module)
    return _group(statement.names[0].name)


def _order(statement: ir.Import | ir.ImportFrom) -> tuple[int, int, str]:
    """Where a statement sorts: by section, plain imports before ``from`` ones, then by name."""
    if isinstance(statement, ir.ImportFrom):
        return _group_of(statement), 1, statement.module
    return _group_of(statement), 0, statement.names[0].name
