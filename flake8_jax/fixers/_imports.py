"""How a library function is spelled in this file, and the import to add where it cannot be spelled yet.

Vocabulary
----------
binding     a name that an import binds, and the qualified name that it stands for.
visible     the name means that import at a given node: nothing else in the module's or the functions' scopes takes it.

An import inside a function, ``if`` or ``try`` counts for what follows it in the same block and in blocks below, if nothing
else binds the name. A new name is spelled by imports above it alone: a notebook may import the other names in a later cell.

Limitations: imports in a block that the node is not in, ``__getattr__``; star imports, but for a module of keys
(``_from_star``).
"""

from __future__ import annotations

import builtins
import functools
import re
from collections.abc import Iterable

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._comments import CELL_HEADING
from flake8_jax.fixers._import_order import ImportOrder, Line, parsed_line
from flake8_jax.fixers._logical_lines import logical_lines, logical_spans
from flake8_jax.fixers._names import header_of, identifiers, imported_name, own_statements, uses
from flake8_jax.fixers._source import FixSource, Refused
from flake8_jax.syntax.edits import apply_edits

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


def _first_ends(module: ir.Module) -> dict[str, int]:
    """Where the first import at the top level ends that binds a name."""
    found: dict[str, int] = {}
    for statement in module.body:
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            for name in _bindings([statement]):
                found.setdefault(name, statement.end)
    return found


def _in_blocks(source: FixSource, at: msgspec.Struct) -> dict[str, str]:
    """What the imports bind that run before a node in the blocks around it, those of ``if`` and the like."""
    found: dict[str, str] = {}
    below: msgspec.Struct = at
    for above in source.ancestors(at):
        if isinstance(above, (ir.Function, ir.Module)):
            known = source.remember("bindings below", above, functools.partial(_bindings_below, above))
            return {name: meaning for name, meaning in found.items() if known.get(name) == {meaning}}
        if isinstance(below, ir.Node) and isinstance(above, (ir.If, ir.Try, ir.With, ir.For, ir.While)):
            block = _block_of(above, below)
            imports = [s for s in block if isinstance(s, (ir.Import, ir.ImportFrom)) and s.end <= below.start]
            found = {**_bindings(imports), **found}
        below = above
    return {}


def _block_of(owner: ir.If | ir.Try | ir.With | ir.For | ir.While, statement: ir.Node) -> list[ir.Stmt]:
    """The block of a compound statement that a statement is in."""
    blocks = [value for name in owner.__struct_fields__ if type(value := getattr(owner, name)) is list]
    return next((block for block in blocks if any(one is statement for one in block)), [])


def _bindings_below(owner: ir.Function | ir.Module) -> dict[str, set[str]]:
    """What the imports of a function or module mean, wherever they stand; for a name that something else binds, the empty
    string as well."""
    found: dict[str, set[str]] = {}
    for statement in own_statements(owner):
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            for name, meaning in _bindings([statement]).items():
                found.setdefault(name, set()).add(meaning)
        else:
            header = header_of(statement)
            for name in uses(*header).binds if header is not None else uses(statement).binds:
                found.setdefault(name, set()).add("")
    for name in owner.rebound_names if isinstance(owner, ir.Module) else [p.name for p in owner.params]:
        found.setdefault(name, set()).add("")
    return found


class Imports:
    """The imports as seen from one node. ``edits`` grows by what ``spell`` has to add."""

    def __init__(self, source: FixSource, at: msgspec.Struct) -> None:
        self.source = source
        self._at: int = at.start if isinstance(at, ir.Node) else len(source.text)
        self.edits: list[Edit] = []
        self._visible = source.remember("imports", source.module, lambda: _of_module(source.module))
        ends = source.remember("first ends of imports", source.module, lambda: _first_ends(source.module))
        self._below = {name for name in self._visible if ends[name] > self._at}
        for function in reversed(source.functions(at)):
            imported = source.remember("import statements", function, functools.partial(_import_statements, function))
            own = [s for s in imported if s.end <= at.start]  # type: ignore[attr-defined]
            taken = source.remember("rebound", function, functools.partial(_rebound, function.body))
            here = {n: q for n, q in _bindings(own).items() if n not in taken and not function.is_lambda}
            hidden = {*function.local_names, *(p.name for p in function.params)} - set(function.global_names)
            self._visible = {**{n: q for n, q in self._visible.items() if n not in hidden}, **here}
            self._below -= here.keys()
        in_blocks = _in_blocks(source, at)
        self._visible = {**self._visible, **in_blocks}
        self._below -= in_blocks.keys()
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

    def means(self, name: str, qualified: str) -> bool:
        """Whether a name stands for this here."""
        return self._visible.get(name) == qualified

    def spell(self, qualified: str) -> str:
        """How to write the name here; an import is added to ``edits`` where it must be.

        Raises:
            Refused: every spelling is shadowed.
        """
        known = self._spelled(qualified) or self._from_star(qualified)
        if known is None and self._joins_siblings(qualified):
            return qualified.rpartition(".")[2]
        head = qualified.partition(".")[0]
        additions = (*_ADDITIONS, (head, f"import {head}", head))
        prefix, statement, bound = next(a for a in additions if qualified == a[0] or qualified.startswith(a[0] + "."))
        module = self.source.module
        free = bound not in self.source.remember("identifiers", module, lambda: identifiers(module))
        free = free or _means_only(self.source, bound, prefix)
        if known is not None and not (prefix == "jax.numpy" and known.startswith("jax.numpy.") and free):
            return known
        if not free:
            raise Refused
        self.edits.append(add_import(self.source, statement, self._at))
        self._visible = {**self._visible, bound: prefix}
        self._below -= {bound}
        return bound + qualified[len(prefix) :]

    def _joins_siblings(self, qualified: str) -> bool:
        """Import a name of a submodule by itself, if the file does so with others (``from jax.lax import scan``)."""
        module, _, name = qualified.rpartition(".")
        if "." not in module or hasattr(builtins, name):
            return False
        above = [s for s in self.source.module.body if isinstance(s, ir.ImportFrom) and s.end <= self._at]
        siblings = [s for s in above if s.module == module and not s.level and s.names[0].name != "*"]
        if not siblings or name in self.source.remember(
            "identifiers", self.source.module, lambda: identifiers(self.source.module)
        ):
            return False
        self.edits.append(add_import(self.source, f"from {module} import {name}", self._at))
        self._visible = {**self._visible, name: qualified}
        return True

    def _from_star(self, qualified: str) -> str | None:
        """``random.split`` where a star import brings ``random``, and the file has ``random.PRNGKey``."""
        module = self.source.module
        prefix, _, name = qualified.rpartition(".")
        if prefix != "jax.random" or not any(_is_star(s) and s.end <= self._at for s in module.body):
            return None
        table = self.source.remember("modules of keys", module, lambda: _modules_of_keys(module))
        return f"{table[0]}.{name}" if len(table) == 1 else None

    def _spelled(self, qualified: str) -> str | None:
        """The shortest spelling that the visible imports above allow."""
        found = [
            name + qualified[len(meaning) :]
            for name, meaning in self._visible.items()
            if name not in self._below and (qualified == meaning or qualified.startswith(meaning + "."))
        ]
        return min(found, key=lambda s: (s.count("."), len(s))) if found else None


def _is_star(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ImportFrom) and any(name.name == "*" for name in statement.names)


def _modules_of_keys(module: ir.Module) -> list[str]:
    """The names that nothing in a file binds and of which it calls functions of ``jax.random``, one of them ``PRNGKey``."""
    bound = {name for node in walk(module) if isinstance(node, ir.Function) for name in _names_of(node)}
    bound |= {*module.bound_names, *module.rebound_names}
    called: dict[str, set[str]] = {}
    for node in walk(module):
        func = node.func if isinstance(node, ir.Call) else None
        if isinstance(func, ir.Attribute) and isinstance(func.value, ir.Name) and func.value.id not in bound:
            called.setdefault(func.value.id, set()).add(func.attr)
    return sorted(name for name, functions in called.items() if "PRNGKey" in functions)


def _names_of(function: ir.Function) -> list[str]:
    return [*function.local_names, *(p.name for p in function.params)]


def _means_only(source: FixSource, name: str, qualified: str) -> bool:
    """Wherever the file binds a name, it is by an import of this: another one at the top changes nothing."""
    meanings = source.remember("meanings", source.module, lambda: _meanings(source.module))
    return meanings.get(name) == {qualified}


def _meanings(module: ir.Module) -> dict[str, set[str]]:
    """What the names that imports bind mean, wherever they stand; nothing for those that something else binds, too."""
    found: dict[str, set[str]] = {}
    others = set(module.rebound_names) | _rebound(module.body)
    for node in walk(module):
        if isinstance(node, (ir.Import, ir.ImportFrom)):
            for name, meaning in _bindings([node]).items():
                found.setdefault(name, set()).add(meaning)
        elif isinstance(node, ir.Function):
            others.update(p.name for p in node.params)
            others |= _rebound(node.body) if not node.is_lambda else set()
    return {name: meanings for name, meanings in found.items() if name not in others}


def add_import(source: FixSource, statement: str, before: int) -> Edit:
    """Insert an import statement among the others of its kind: at the top of the file or, where only other statements are there
    (a notebook that installs what it needs), at its first imports if they run before the offset ``before``.

    Raises:
        Refused: no line of its own can be found for it.
    """
    body = source.module.body
    docstring = body[:1] if body and isinstance(body[0], ir.ExprStmt) and _is_string(body[0].value) else []
    block = _leading_imports(body[len(docstring) :]) or _first_imports(body, before)
    if _is_of_jax(statement) and not any(_imports_jax(s) for s in block):
        block = _where_jax_is_imported(source, body, before) or block
    futures = [s for s in block if isinstance(s, ir.ImportFrom) and s.module == "__future__"]
    others = [s for s in block if s not in futures]
    if others:
        return _among(source, others, statement)
    if futures or docstring:
        return _after(source, (futures or docstring)[-1], source.newline + statement)
    if not body:
        return _checked(source, 0, statement + source.newline * 2, None)
    first = body[0]
    gap = 3 if isinstance(first, (ir.FunctionDef, ir.ClassDef)) else 2
    return _checked(source, _above_comments(source, _first_offset(first)), statement + source.newline * gap, None)


def _is_of_jax(statement: str) -> bool:
    return re.match(r"(?:import|from)\s+jax\b", statement) is not None


def _imports_jax(statement: ir.Stmt) -> bool:
    if isinstance(statement, ir.Import):
        return any(imported.name.partition(".")[0] == "jax" for imported in statement.names)
    return isinstance(statement, ir.ImportFrom) and not statement.level and statement.module.partition(".")[0] == "jax"


def _where_jax_is_imported(source: FixSource, body: list[ir.Stmt], before: int) -> list[ir.Import | ir.ImportFrom]:
    """The imports around the first one of JAX at the top level. JAX reads the environment when it is imported, so a fix must
    not import it before a file has set that.

    Raises:
        Refused: the file sets the environment, and imports JAX nowhere behind that.
    """
    for at, statement in enumerate(body):
        if _imports_jax(statement):
            found = _leading_imports(body[at:])
            if found[-1].end <= before:
                return found
            break
    settings = [source.slice(s) for s in body if isinstance(s, (ir.Assign, ir.ExprStmt, ir.If))]
    if any(
        "environ" in text and "XLA_FLAGS" not in text for text in settings
    ):  # XLA reads its flags at the first computation
        raise Refused
    return []


def _first_imports(body: list[ir.Stmt], before: int) -> list[ir.Import | ir.ImportFrom]:
    """The first imports at the top level that stand next to each other, if all that runs in front of them are installations
    and the like: no functions or classes."""
    for at, statement in enumerate(body):
        if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            return []
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            found = _leading_imports(body[at:])
            return found if found[-1].end <= before else []
    return []


def import_order(source: FixSource) -> ImportOrder:
    """The order of the imports of a file."""
    program = source.program
    return ImportOrder(source.style, lambda root: program is not None and program.is_own(root))


def joined(source: FixSource, statements: Iterable[str]) -> str:
    """Imports that are inserted at one place, in their order. Each ends in the empty lines that are after it alone."""
    order = import_order(source)
    ranked = sorted((order.key(line), order.section(line), text) for text in statements if (line := _parsed(text)))
    out = ""
    for at, (_, section, text) in enumerate(ranked):
        is_last = at == len(ranked) - 1
        gap = source.newline * (1 if is_last or ranked[at + 1][1] == section else 2)
        out += text if is_last else text.rstrip() + gap
    return out


def _parsed(text: str) -> Line | None:
    return parsed_line(text.strip())


def _together(source: FixSource, edits: tuple[Edit, ...]) -> list[Edit]:
    """The edits, of which no two insert imports at one place."""
    by_place: dict[int, list[Edit]] = {}
    for edit in edits:
        if edit.start == edit.end and _parsed(edit.content) is not None:
            by_place.setdefault(edit.start, []).append(edit)
    several = [alike for alike in by_place.values() if len({edit.content for edit in alike}) > 1]
    rest = [edit for edit in edits if not any(edit in alike for alike in several)]
    made = [Edit(a[0].start, a[0].start, joined(source, dict.fromkeys(e.content for e in a))) for a in several]
    return [*made, *rest]


def in_order(source: FixSource, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits, with blocks of imports put in order again that were in order before."""
    found = _together(source, edits)
    for start, end in _import_blocks(source):
        inside = [edit for edit in found if start <= edit.start and edit.end <= end and _is_within(edit, end)]
        if not inside:
            continue
        before = source.text[start:end]
        after = apply_edits(before, [Edit(e.start - start, e.end - start, e.content) for e in inside])
        rows = _in_order(source, before.replace("\r\n", "\n"), after.replace("\r\n", "\n"))
        wanted = None if rows is None else rows.replace("\n", source.newline)
        if wanted is not None and (wanted != after or any(edit.start < edit.end for edit in inside)):
            # The whole block: no other fix may change it in the same pass, for both together may not be in order.
            found = [edit for edit in found if edit not in inside] + [Edit(start, end, wanted)]
    return tuple(found) if found != list(edits) else edits


def _is_within(edit: Edit, end: int) -> bool:
    """Whether an edit changes a block of imports that ends at an offset, or adds an import to its end."""
    return edit.start < end or edit.content.startswith(("import ", "from "))


def _in_order(source: FixSource, before: str, after: str) -> str | None:
    """A block of imports in order; None where it never was, or is no longer one block."""
    order = import_order(source)
    old, new = _statements(before), _statements(after)
    if order.sorted_lines(old) != old or "\n\n" in after:
        return None
    wanted = order.sorted_lines(new)
    return None if wanted is None else "".join(line + "\n" for line in wanted)


def _statements(block: str) -> list[str]:
    rows = block.split("\n")
    return ["\n".join(rows[line.first : line.last]) for line in logical_lines(block)]


def _import_blocks(source: FixSource) -> list[tuple[int, int]]:
    """The offsets of import statements at the top level with nothing between them."""
    blocks: list[tuple[int, int]] = []
    for start, end in logical_spans(source):
        if not source.text.startswith(("import ", "from "), start):
            continue
        if blocks and blocks[-1][1] == start:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((start, end))
    return blocks


def _leading_imports(body: list[ir.Stmt]) -> list[ir.Import | ir.ImportFrom]:
    block: list[ir.Import | ir.ImportFrom] = []
    for item in body:
        if not isinstance(item, (ir.Import, ir.ImportFrom)):
            break
        block.append(item)
    return block


def _among(source: FixSource, others: list[ir.Import | ir.ImportFrom], statement: str) -> Edit:
    """Insert an import where it sorts among others, with an empty line to another section.

    Where its section is not in order, see ``_by_kind``.
    """
    order, newline = import_order(source), source.newline
    new = parsed_line(statement)
    assert new is not None
    section = [s for s in others if order.section(_line(s)) == order.section(new)]
    if not section:
        return _new_section(source, order, others, statement)
    keys = [order.key(_line(s)) for s in section]
    same = [s for s in section if isinstance(s, ir.ImportFrom) and not new.is_plain and _line(s).module == new.module]
    if keys == sorted(keys):
        following = next((s for s, key in zip(section, keys) if key > order.key(new)), None)
        if (
            same
            and following is not None
            and following not in same
            and section[section.index(following) - 1] is same[-1]
        ):
            return _after(source, same[-1], statement)
        if following is not None:
            heads = following is section[0]
            place = _above_comments(source, following.start, heading=heads)
            return _checked(source, place, statement + newline, following)
        return _after(source, section[-1], statement)
    return _by_kind(source, order, section, statement)


def _by_kind(source: FixSource, order: ImportOrder, section: list[ir.Import | ir.ImportFrom], statement: str) -> Edit:
    """Insert an import into a section that is not in order: among the imports of its library if these are in order, else among
    those of its kind, plain or ``from``; the first plain one goes in front of the ``from`` imports of its library."""
    new = parsed_line(statement)
    assert new is not None
    root = new.module.partition(".")[0]
    alike = [s for s in section if _line(s).module.partition(".")[0] == root]
    of_kind = [s for s in alike if _line(s).is_plain is new.is_plain]
    keys = [order.key(_line(s)) for s in alike]
    among = alike if keys == sorted(keys) else of_kind
    following = next((s for s in among if order.key(_line(s)) > order.key(new)), None)
    if following is None and alike and not of_kind and new.is_plain and not source.style.from_first:
        following = alike[0]
    if following is not None:
        return _checked(source, source.line_start(following.start), statement + source.newline, following)
    return _after(source, (among or alike or section)[-1], statement)


def _new_section(
    source: FixSource, order: ImportOrder, others: list[ir.Import | ir.ImportFrom], statement: str
) -> Edit:
    """Insert the first import of a section between the sections before and after it."""
    new = parsed_line(statement)
    assert new is not None
    before = [s for s in others if order.section(_line(s)) < order.section(new)]
    if before:
        return _after(source, before[-1], source.newline + statement)
    first = others[0]
    return _checked(source, _above_comments(source, first.start), statement + source.newline * 2, first)


def _above_comments(source: FixSource, offset: int, *, heading: bool = False) -> int:
    """The start of the line of ``offset``, or of the comments that stand directly above it.

    heading: comments above an empty line are those of a section, and stay above what is inserted. The comments that begin a
    file are about the file.
    """
    place = source.line_start(offset)
    while place:
        above = source.line_start(place - 1)
        if not source.text[above:place].lstrip(" \t").startswith("#") or CELL_HEADING.match(source.text, above):
            is_empty = not source.text[above:place].strip()
            return source.line_start(offset) if heading and is_empty else place
        place = above
    return source.line_start(offset)


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


def _line(statement: ir.Import | ir.ImportFrom) -> Line:
    if isinstance(statement, ir.ImportFrom):
        return Line(statement.module, statement.level, tuple(n.name for n in statement.names))
    return Line(statement.names[0].name, alias=statement.names[0].alias or "")
