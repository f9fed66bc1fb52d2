"""The intermediate representation: what a file says, without how it was typed.

Vocabulary
----------
module      one lowered file: its statements and the table that turns offsets into rows and columns.
node        a statement or an expression. ``start`` and ``end`` are code-point offsets into the decoded
            text (no byte-order mark), end exclusive, placed exactly where CPython's ``ast`` places them:
            enclosing parentheses are left out, except those of a tuple or of a generator expression.
function    the body of a ``def``, an ``async def`` or a ``lambda``, with the names that it binds.

The classes mirror CPython's ``ast`` (same names, same fields) wherever there is nothing to gain from a
difference, so that a reader of one can read the other. They are plain msgspec structs: data that can be
cached, sent to another process and compared, and nothing else.

Limitations: comments (see ``syntax.noqa``), type parameters' bounds, the text of string prefixes.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec


class Node(msgspec.Struct, gc=False, array_like=True):
    """Common base: where the node stands, in code-point offsets, end exclusive."""

    start: int
    end: int


# --- expressions ---------------------------------------------------------------------------------


ConstantKind = Literal["none", "bool", "int", "float", "str", "bytes", "ellipsis", "complex", "big"]
ComprehensionKind = Literal["list", "set", "dict", "generator"]
ParameterKind = Literal["posonly", "positional", "vararg", "kwonly", "kwarg"]


class Constant(Node, tag=1):
    """A literal.

    ``big`` is an integer outside 64 bits or a float that JSON-like formats cannot hold; ``value`` is then None.
    Adjacent string literals without replacement fields are one constant, as in ``ast``.
    """

    kind: ConstantKind
    value: Union[bool, int, float, str, None] = None


class Name(Node, tag=2):
    id: str


class Attribute(Node, tag=3):
    """``value.attr``; ``attr_start`` is the offset of the attribute's first character."""

    value: Expr
    attr: str
    attr_start: int


class Argument(msgspec.Struct, gc=False, array_like=True):
    """One call argument. ``star`` is 0 for a plain or keyword one, 1 for ``*value``, 2 for ``**value``.

    ``start``/``end`` cover the whole argument: the stars, or ``keyword=``, included.
    """

    start: int
    end: int
    value: Expr
    keyword: str | None = None
    star: int = 0


class Call(Node, tag=4):
    """``func(args)``; arguments in source order, keywords included. ``paren`` is the offset of the ``(``."""

    func: Expr
    args: list[Argument]
    paren: int


class Subscript(Node, tag=5):
    value: Expr
    index: Expr


class Slice(Node, tag=6):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class BinOp(Node, tag=7):
    """``op`` is the operator's text: ``+ - * / // % ** @ & | ^ << >>``."""

    left: Expr
    op: str
    right: Expr


class UnaryOp(Node, tag=8):
    """``op`` is ``not``, ``-``, ``+`` or ``~``."""

    op: str
    operand: Expr


class BoolOp(Node, tag=9):
    """``op`` is ``and`` or ``or``; ``a and b and c`` is one node with three values, as in ``ast``."""

    op: str
    values: list[Expr]


class Compare(Node, tag=10):
    """``ops`` are texts: ``< <= > >= == != is``, ``is not``, ``in``, ``not in``."""

    left: Expr
    ops: list[str]
    comparators: list[Expr]


class IfExp(Node, tag=11):
    test: Expr
    body: Expr
    orelse: Expr


class Lambda(Node, tag=12):
    function: Function


class Tuple(Node, tag=13):
    elts: list[Expr]


class List(Node, tag=14):
    elts: list[Expr]


class Set(Node, tag=15):
    elts: list[Expr]


class Dict(Node, tag=16):
    """A key of None is a ``**value`` entry."""

    keys: list[Expr | None]
    values: list[Expr]


class Starred(Node, tag=17):
    value: Expr


class Generator(msgspec.Struct, gc=False, array_like=True):
    """One ``for target in iter if … if …`` of a comprehension."""

    target: Expr
    iter: Expr
    ifs: list[Expr]
    is_async: bool = False


class Comprehension(Node, tag=18):
    """``key`` is set for a dict only."""

    kind: ComprehensionKind
    key: Expr | None
    element: Expr
    generators: list[Generator]


class FormattedValue(Node, tag=19):
    """``{value!conversion:spec}`` of an f-string; ``spec`` is None where there is no colon.

    ``spec_text`` is the spec's source text when it holds no nested field, else None.
    """

    value: Expr
    conversion: str | None = None
    spec: list[Expr] | None = None
    spec_text: str | None = None


class JoinedStr(Node, tag=20):
    """An f-string (or a t-string, or adjacent literals of which one is): constants and FormattedValue."""

    values: list[Expr]


class Await(Node, tag=21):
    value: Expr


class Yield(Node, tag=22):
    value: Expr | None


class YieldFrom(Node, tag=23):
    value: Expr


class NamedExpr(Node, tag=24):
    target: Name
    value: Expr


Expr = Union[
    Constant, Name, Attribute, Call, Subscript, Slice, BinOp, UnaryOp, BoolOp, Compare, IfExp, Lambda, Tuple, List,
    Set, Dict, Starred, Comprehension, FormattedValue, JoinedStr, Await, Yield, YieldFrom, NamedExpr,
]  # fmt: skip


# --- functions -----------------------------------------------------------------------------------


class Parameter(msgspec.Struct, gc=False, array_like=True):
    """``start``/``end``: the name alone."""

    start: int
    end: int
    name: str
    kind: ParameterKind = "positional"
    annotation: Expr | None = None
    default: Expr | None = None


class Function(msgspec.Struct, gc=False, array_like=True):
    """A function body; shared shape of ``def``, ``async def`` and ``lambda``.

    index: number of this function within its module, in source order from 0.
    name: ``<lambda>`` for lambdas. qualname: as CPython's ``__qualname__`` (``Model.step.<locals>.loss``).
    body: for a lambda, one Return.
    local_names: names that the body (or the parameters) bind in this function's own scope.
    global_names / nonlocal_names: names declared so.
    """

    index: int
    name: str
    qualname: str
    params: list[Parameter]
    body: list[Stmt]
    local_names: list[str]
    global_names: list[str]
    nonlocal_names: list[str]
    is_async: bool = False
    is_generator: bool = False
    is_lambda: bool = False
    returns: Expr | None = None


# --- statements ----------------------------------------------------------------------------------


class FunctionDef(Node, tag=40):
    """``start`` is at ``def``/``async``; decorators come before it. ``name_start``: the name's offset."""

    function: Function
    decorators: list[Expr]
    name_start: int
    body_start: int
    """Offset of the first statement of the body."""


class ClassDef(Node, tag=41):
    name: str
    qualname: str
    bases: list[Argument]
    """Bases and class keywords, in source order."""
    body: list[Stmt]
    decorators: list[Expr]
    name_start: int


class Return(Node, tag=42):
    value: Expr | None


class Assign(Node, tag=43):
    """``a = b = value`` has two targets."""

    targets: list[Expr]
    value: Expr


class AnnAssign(Node, tag=44):
    target: Expr
    annotation: Expr
    value: Expr | None


class AugAssign(Node, tag=45):
    """``op`` without the equals sign: ``+`` for ``+=``."""

    target: Expr
    op: str
    value: Expr


class ExprStmt(Node, tag=46):
    value: Expr


class If(Node, tag=47):
    """``elif`` is an If alone in ``orelse`` whose ``is_elif`` is true (``start`` at ``elif``, as in ``ast``)."""

    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    is_elif: bool = False


class While(Node, tag=48):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


class For(Node, tag=49):
    target: Expr
    iter: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    is_async: bool = False


class ExceptHandler(msgspec.Struct, gc=False, array_like=True):
    type: Expr | None
    name: str | None
    body: list[Stmt]


class Try(Node, tag=50):
    """``try`` in all its forms; ``except*`` too."""

    body: list[Stmt]
    handlers: list[ExceptHandler]
    orelse: list[Stmt]
    finalbody: list[Stmt]


class WithItem(msgspec.Struct, gc=False, array_like=True):
    context: Expr
    target: Expr | None


class With(Node, tag=51):
    items: list[WithItem]
    body: list[Stmt]
    is_async: bool = False


class Raise(Node, tag=52):
    exc: Expr | None
    cause: Expr | None


class Assert(Node, tag=53):
    test: Expr
    msg: Expr | None


class Delete(Node, tag=54):
    targets: list[Expr]


class Pass(Node, tag=55):
    pass


class Break(Node, tag=56):
    pass


class Continue(Node, tag=57):
    pass


class Global(Node, tag=58):
    names: list[str]


class Nonlocal(Node, tag=59):
    names: list[str]


class ImportedName(msgspec.Struct, gc=False, array_like=True):
    """``name`` may be dotted in ``import a.b``; it is ``*`` in a star import. ``start``/``end``: ``name as alias``."""

    start: int
    end: int
    name: str
    alias: str | None = None


class Import(Node, tag=60):
    names: list[ImportedName]


class ImportFrom(Node, tag=61):
    """``module`` is empty for ``from . import x``; ``level`` counts the leading dots."""

    module: str
    names: list[ImportedName]
    level: int = 0


# Patterns keep their shape as nested tuples of capture names and value expressions: the interpreter asks only
# what is tested by value, what by structure, and what is bound.


class MatchValue(Node, tag=80):
    """A literal or a dotted name compared with ``==`` (``None``/``True``/``False``: with ``is``)."""

    value: Expr


class MatchSequence(Node, tag=81):
    patterns: list[Pattern]


class MatchMapping(Node, tag=82):
    keys: list[Expr]
    patterns: list[Pattern]
    rest: str | None = None


class MatchClass(Node, tag=83):
    cls: Expr
    patterns: list[Pattern]
    keywords: list[str]
    keyword_patterns: list[Pattern]


class MatchStar(Node, tag=84):
    name: str | None


class MatchAs(Node, tag=85):
    """``pattern as name``; a bare capture has no pattern, the wildcard neither."""

    pattern: Pattern | None
    name: str | None


class MatchOr(Node, tag=86):
    patterns: list[Pattern]


Pattern = Union[MatchValue, MatchSequence, MatchMapping, MatchClass, MatchStar, MatchAs, MatchOr]


class MatchCase(msgspec.Struct, gc=False, array_like=True):
    pattern: Pattern
    guard: Expr | None
    body: list[Stmt]


class Match(Node, tag=62):
    subject: Expr
    cases: list[MatchCase]


class TypeAlias(Node, tag=63):
    name: str
    value: Expr


Stmt = Union[
    FunctionDef, ClassDef, Return, Assign, AnnAssign, AugAssign, ExprStmt, If, While, For, Try, With, Raise, Assert,
    Delete, Pass, Break, Continue, Global, Nonlocal, Import, ImportFrom, Match, TypeAlias,
]  # fmt: skip


class Module(msgspec.Struct, gc=False, array_like=True):
    """One lowered file.

    line_starts: offset of the first character of every line; row = bisect_right(line_starts, offset).
    star_exports: the strings of a literal ``__all__``, or None.
    bound_names: names that the module's top level binds (assignments, imports, defs, loops …).
    rebound_names: module-level names that some function declares ``global`` and assigns, or that the module
        level itself assigns more than once outside if/else or try branches: no constant may be assumed of them.
    logical_lines: (start, end) offsets of each logical line that spans more than one physical line.
    """

    body: list[Stmt]
    line_starts: list[int]
    n_functions: int
    star_exports: list[str] | None = None
    bound_names: list[str] = []
    rebound_names: list[str] = []
    logical_lines: list[tuple[int, int]] = []
