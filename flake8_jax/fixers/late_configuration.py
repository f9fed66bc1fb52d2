"""JAX903: the statement moves up, in front of what comes too early.

Vocabulary
----------
early       the statement in the same block that imports JAX, or computes something with it.
companion   an import of ``os`` between the two; it moves up with the statement.
run         the statements directly around it, without an empty line, that set variables of JAX and XLA as well: they move
            together.

Limitations: settings in another block or another function than what comes too early; a statement that needs what
stands in between, or that is not alone on its lines; blocks in which something in between takes part in the same setting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeGuard

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import TAKES_EFFECT, unsafe
from flake8_jax.fixers._comments import comments_above
from flake8_jax.fixers._names import uses
from flake8_jax.fixers._source import Declined, FixSource, Refused, fixer
from flake8_jax.semantics.domain.values import Const
from flake8_jax.semantics.events.events import Setting

_VARIABLE = re.compile(r"""(?:os\.)?environ(?:\.setdefault\(|\[)["']((?:XLA|JAX|TF|CUDA|NCCL)_\w+)["']""")
_RUN = re.compile(
    r"^test_|_test\.py$|conf|setup|setting|^(?:run|main|train|script|demo|example|bench)|__(?:init|main)__",
    re.IGNORECASE,
)
"""Files that someone runs, or that are there to set things up."""
_RUNS = re.compile(r"tests?|examples?|scripts?|experiments?|benchmarks?|notebooks?", re.IGNORECASE)
"""Folders of such files."""
_RESTORES = re.compile(
    r"restore|load_?(?:model|state|params|weights|checkpoint|ckpt)|(?:model|state|params)_?load", re.I
)
_SETTER = re.compile(r"\b(?:update|setdefault|putenv|initialize)\(")
_READ_AT_IMPORT = re.compile(r"JAX_(?!PLATFORM)", re.IGNORECASE)
"""Settings that JAX reads when it is imported, or at each use."""
_GUARD = re.compile(r"^if __name__", re.MULTILINE)
_WORD = re.compile(r"[a-z]{3,}|[a-z]*\d+")
_MOVABLE = (ir.Assign, ir.AugAssign, ir.ExprStmt)
_SIDE_EFFECTS = (ir.NamedExpr, ir.Yield, ir.YieldFrom, ir.Await)


@fixer("late-configuration")
def fix(event: Setting, source: FixSource) -> Fix | None:
    if not event.late or not event.direct or event.since is None or event.since.scope is not event.context.scope:
        return None
    if event.name.startswith("numpyro."):
        return None  # the import of NumPyro has to come first
    if _demands_device(event) or _is_set_by_package(event, source) or _is_for_importers(source):
        return None
    statement = source.statement(event.at)
    if not isinstance(statement, _MOVABLE) or any(isinstance(n, _SIDE_EFFECTS) for n in walk(statement)):
        return None
    place = source.place(statement)
    early = _statement_around(place.block, event.since.start)
    if early is None or early.start >= statement.start:
        return None
    run = _run(source, place.block, early, statement)
    _check_effect(event, source, early, run)
    if isinstance(early, (ir.FunctionDef, ir.ClassDef)) and early.decorators:
        return None
    between = place.block[place.block.index(early) : place.block.index(run[0])]
    known = uses(*[one for one in place.block[: place.block.index(early)] if _is_import_of_os(one)]).binds
    companion = _companion(between, statement) if not uses(statement).reads & known else None
    rest = [s for s in between if s is not companion]
    bound = uses(*[s for s in rest if not (_is_import_of_os(s) and uses(s).binds <= known)]).binds
    if uses(statement).reads & bound or _takes_part(event, source, rest):
        return None
    if any(_is_star_import(s) for s in rest) and not _is_known_before(source, place.block, early, statement, companion):
        return None
    moved = [[companion], run] if companion is not None else [run]
    target = early if companion is not None else _first_import(place.block, early, statement)
    edits = (_insertion(source, place.block, target, moved), *[_removal(source, one) for one in moved])
    what = "settings before the code that reads them" if len(run) > 1 else "setting before the code that reads it"
    return unsafe(f"Move the {what}", TAKES_EFFECT, edits)


def _check_effect(event: Setting, source: FixSource, early: ir.Stmt, run: list[ir.Stmt]) -> None:
    """Once it has moved, the setting takes effect, and XLA can read it.

    Raises:
        Declined: another line gives the same variable another value, an option lacks its dashes, or what runs before probably
            starts JAX as well.
    """
    texts = {source.slice(one) for one in run}
    for other in walk(source.module):
        if isinstance(other, _MOVABLE) and source.slice(other) not in texts and _sets(source, other, event.name):
            raise Declined(f"no automatic fix, because another line of this file sets `{event.name}`, too")
    for one in run:
        if "XLA_FLAGS" in source.slice(one) and (wrong := _without_dashes(one)):
            raise Declined(f"no automatic fix, because XLA stops the program at `{wrong}`; options begin with `--`")
    if not _is_import(early) and _READ_AT_IMPORT.match(event.name) is None:
        before = source.place(early)
        for earlier in before.block[: before.index]:
            if (called := _starts_probably(source, earlier)) is not None:
                raise Declined(f"no automatic fix, because `{called}` before it may start JAX as well")


def _sets(source: FixSource, statement: ir.Assign | ir.AugAssign | ir.ExprStmt, name: str) -> bool:
    """``os.environ[name] = …`` or a call that sets the variable or option."""
    if isinstance(statement, ir.ExprStmt):
        text = source.slice(statement)
        return name in text and _SETTER.search(text) is not None
    targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
    return any(name in source.slice(target) for target in targets)


def _without_dashes(statement: ir.Stmt) -> str:
    """The first word that a statement gives ``XLA_FLAGS`` and that is no option: XLA takes it for a file."""
    found = [str(n.value) for n in walk(statement) if isinstance(n, ir.Constant) and n.kind == "str"]
    whole = not any(isinstance(n, (ir.JoinedStr, ir.BinOp)) for n in walk(statement))
    words = [word for text in found for word in text.split() if not word.isupper()] if whole else []
    return next((word for word in words if not word.startswith("--")), "")


def _starts_probably(source: FixSource, statement: ir.Stmt) -> str | None:
    """A call that restores a checkpoint or loads a model: it makes arrays."""
    if not isinstance(statement, _MOVABLE):
        return None
    calls = [source.slice(n.func) for n in walk(statement) if isinstance(n, ir.Call)]
    return next((name for name in calls if _RESTORES.search(name.rpartition(".")[2])), None)


def _run(source: FixSource, block: list[ir.Stmt], early: ir.Stmt, statement: ir.Stmt) -> list[ir.Stmt]:
    """The statement with those of its run, which stand behind what comes too early."""
    at = next(i for i, one in enumerate(block) if one is statement)
    first = last = at
    if not _is_variable(source, statement):
        return [statement]
    while first and block[first - 1] is not early and _belongs(source, block[first - 1], block[first]):
        first -= 1
    while last + 1 < len(block) and _belongs(source, block[last], block[last + 1], of_first=False):
        last += 1
    return block[first : last + 1]


def _belongs(source: FixSource, above: ir.Stmt, below: ir.Stmt, *, of_first: bool = True) -> bool:
    """Two statements stand on lines that follow one another, and the one that is not known yet sets a variable."""
    adjoins = source.line_start(below.start) == source.next_line(above.end)
    return adjoins and _is_variable(source, above if of_first else below)


def _is_variable(source: FixSource, statement: ir.Stmt) -> bool:
    """``os.environ["XLA_FLAGS"] = "…"`` and ``os.environ.setdefault("JAX_…", "…")``, but for the platform."""
    if not isinstance(statement, (ir.Assign, ir.ExprStmt)) or not source.starts_line(statement):
        return False
    found = _VARIABLE.match(source.slice(statement))
    constants = [node for node in walk(statement) if isinstance(node, ir.Constant)]
    return found is not None and "PLATFORM" not in found[1] and len(constants) == 2 and source.ends_line(statement)


def _first_import(block: list[ir.Stmt], early: ir.Stmt, statement: ir.Stmt) -> ir.Stmt:
    """The first of the imports around what comes too early that the setting does not need: among them, it would stand in the
    middle of a list."""
    needed = uses(statement).reads
    target = early
    for earlier in reversed(block[: block.index(early)] if _is_import(early) else []):
        is_future = isinstance(earlier, ir.ImportFrom) and earlier.module == "__future__"
        if not _is_import(earlier) or is_future or uses(earlier).binds & needed:
            return target
        target = earlier
    return target


def _demands_device(event: Setting) -> bool:
    """``JAX_PLATFORMS=gpu``: once it takes effect, JAX raises on a machine without one, where it took the CPU until now."""
    platform = event.value.value if isinstance(event.value, Const) else ""
    return "platform" in event.name.lower() and isinstance(platform, str) and platform not in ("", "cpu")


def _is_set_by_package(event: Setting, source: FixSource) -> bool:
    """The package that the file is in, or one of the project that it imports, sets the same itself: Python runs that first."""
    if source.program is None:
        return False
    starts = source.program.starts(source)
    for statement in source.module.body:
        names = [name.name for name in statement.names] if isinstance(statement, ir.Import) else []
        names += [statement.module] if isinstance(statement, ir.ImportFrom) and not statement.level else []
        starts += [start for name in names for start in source.program.starts_of(name.partition(".")[0])]
    variables = {event.name, *_names_beside(source, source.statement(event.at))}
    return any(name.lower() in start.text.lower() for start in starts for name in variables)


def _names_beside(source: FixSource, statement: ir.Stmt) -> set[str]:
    """The variables that the lines directly around a statement set: the lines belong together."""
    place = source.place(statement)
    around = place.block[max(place.index - 1, 0) : place.index + 2]
    adjoining = [
        one
        for one in around
        if source.line_start(statement.start) in (source.next_line(one.end), source.line_start(one.start))
        or source.line_start(one.start) == source.next_line(statement.end)
    ]
    return {found[1] for one in adjoining if (found := _VARIABLE.match(source.slice(one))) is not None}


def _is_for_importers(source: FixSource) -> bool:
    """A module of a package, which no one runs: the setting would count for all who import the module. Tests, and modules that
    are there to set things up, are no such ones."""
    *folders, name = source.path.replace("\\", "/").split("/")
    if source.program is None or not source.program.starts(source) or _RUN.search(name):
        return False
    return not any(_RUNS.fullmatch(folder) for folder in folders) and not _GUARD.search(source.text)


def _statement_around(block: list[ir.Stmt], offset: int) -> ir.Stmt | None:
    return next((s for s in block if s.start <= offset < s.end), None)


def _companion(between: list[ir.Stmt], statement: ir.Stmt) -> ir.Stmt | None:
    """The import, and nothing else, that gives the statement ``os`` or ``environ``."""
    reads = uses(statement).reads
    for candidate in between:
        if _is_import_of_os(candidate) and len(candidate.names) == 1:
            only = candidate.names[0]
            if (only.alias or only.name) in reads:
                return candidate
    return None


def _is_star_import(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ImportFrom) and any(name.name == "*" for name in statement.names)


def _is_known_before(
    source: FixSource, block: list[ir.Stmt], early: ir.Stmt, statement: ir.Stmt, companion: ir.Stmt | None
) -> bool:
    """Whether statements in front of what comes too early bind all that the setting reads: a star import may bind it, too."""
    before = block[: block.index(early)]
    known = uses(*before, *([companion] if companion is not None else [])).binds
    return uses(statement).reads <= known


def _is_import_of_os(statement: ir.Stmt) -> TypeGuard[ir.Import | ir.ImportFrom]:
    if isinstance(statement, ir.ImportFrom):
        return statement.module == "os" and not statement.level
    return isinstance(statement, ir.Import) and statement.names[0].name == "os"


def _takes_part(event: Setting, source: FixSource, between: list[ir.Stmt]) -> bool:
    """A statement in between, other than what comes too early, is_reportable of the same setting: their order counts."""
    return any(event.name in source.slice(s) for s in between[1:])


def _start(source: FixSource, statement: ir.Stmt) -> int:
    """Where a statement begins, with the comments directly above it."""
    return comments_above(source, statement.start, next_to=True)


def _moved_start(source: FixSource, run: Sequence[ir.Stmt]) -> int:
    """Where statements that move begin: comments above them stay if they have words of the statement directly below alone, or
    if that is a setting of JAX and they have none of the statements that move alone."""
    first, last = run[0], run[-1]
    following = source.place(last).following
    below = following[0] if following else None
    adjoins = below is not None and source.line_start(below.start) == source.next_line(last.end)
    start = _start(source, first)
    if below is None or not adjoins or start == first.start:
        return start
    said = _words(source.text[start : first.start])
    moved, left = _words(source.text[first.start : last.end]), _words(source.slice(below))
    alone, others = said & moved - left - {"jax"}, said & left - moved - {"jax"}
    is_shared = "config.update(" in source.slice(below) and not alone
    return first.start if others or is_shared else start


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _whole_lines(source: FixSource, run: Sequence[ir.Stmt]) -> str:
    """The text of statements that have their lines for themselves, with the comments above and after them.

    Raises:
        Refused: they have not.
    """
    if not source.starts_line(run[0]) or not source.ends_line(run[-1]):
        raise Refused
    return source.text[_moved_start(source, run) : source.line_end(run[-1].end)].rstrip()


def _insertion(source: FixSource, block: list[ir.Stmt], early: ir.Stmt, moved: Sequence[Sequence[ir.Stmt]]) -> Edit:
    """Put the statements in front of another one and its comments, with an empty line between them and imports above, and then
    one below, too. Comments that begin the file are about the file."""
    indent = source.indentation(early)
    index = block.index(early)
    above = block[index - 1] if index else None
    start = _start(source, early)
    place = start if start and source.starts_line(early) else early.start
    adjoins = above is not None and source.next_line(above.end) == source.line_start(place)
    body, apart = "", False
    for run in moved:
        if _is_import(above) and not _is_import(run[0]):
            apart = True
            body += (source.newline + indent) * adjoins
        body += _whole_lines(source, run) + source.newline + indent
        above, adjoins = run[-1], True
    if apart and _is_import(early):
        body = body.rstrip(" \t") + source.newline + indent
    return Edit(place, place, body)


def _is_import(statement: ir.Stmt | None) -> bool:
    return isinstance(statement, (ir.Import, ir.ImportFrom))


def _removal(source: FixSource, run: Sequence[ir.Stmt]) -> Edit:
    """Take the lines of statements away and, where an empty line follows, those above it that are empty."""
    start, end = source.line_start(_moved_start(source, run)), source.next_line(run[-1].end)
    if not source.text[end : source.line_end(end)].strip():
        while start and not source.text[source.line_start(start - 1) : start].strip():
            start = source.line_start(start - 1)
    return Edit(start, end, "")
