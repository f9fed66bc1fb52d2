"""Statements, from LibCST's nodes to the intermediate representation.

Vocabulary
----------
small       a statement that can share its line with others (``pass; x = 1``).
header      a compound statement up to and including its colon.
suite       what stands behind the colon: an indented block or small statements on the same line.

A compound statement ends, as in ``ast``, behind its last token, which may be a semicolon.

Limitations: type parameters' bounds and defaults; their names count as local to the function that declares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from flake8_jax.core import ir
from flake8_jax.syntax.cursor import Cursor, Matcher, Scope, token
from flake8_jax.syntax.errors import LoweringError, MisplacedStatement
from flake8_jax.syntax.expressions import (
    CLOSE_BRACKET,
    CLOSE_PAREN,
    COLON,
    COMMA,
    DOT,
    EQUAL,
    OPEN_PAREN,
    arguments,
    expression,
    identifier,
    parameters,
)
from flake8_jax.syntax.patterns import pattern

_arrow = token("->")
_as = token("as")
_from = token("from")
_import = token("import")
_in = token("in")
_if = token("if")
_else = token("else")
_finally = token("finally")
_semicolon = token(";")

Statements = list[ir.Stmt]


def statements(cursor: Cursor, nodes: Sequence[Any], out: Statements) -> None:
    """Lower whole statements, one logical line or compound statement each, and append them to ``out``."""
    for node in nodes:
        cursor.skip()
        if type(node) is cst.SimpleStatementLine:
            start = cursor.pos
            _small_statements(cursor, node.body, out)
            cursor.end_logical_line(start)
        else:
            compound = _COMPOUND.get(type(node))
            if compound is None:
                raise LoweringError(type(node).__name__, cursor.pos)
            out.append(compound(cursor, node))


def _small_statements(cursor: Cursor, nodes: Sequence[Any], out: Statements) -> None:
    separated = False
    for node in nodes:
        if separated:
            cursor.skip()
        small = _SMALL.get(type(node))
        if small is None:
            raise LoweringError(type(node).__name__, cursor.pos)
        out.append(small(cursor, node))
        separated = type(node.semicolon) is cst.Semicolon
        if separated:
            cursor.expect_last(_semicolon, node)


def _suite(cursor: Cursor, node: cst.BaseSuite, line_start: int) -> Statements:
    """Lower the colon and the suite after it; ``line_start`` is where the header begins."""
    body: Statements = []
    cursor.expect_last(COLON, node)
    if isinstance(node, cst.IndentedBlock):
        cursor.end_logical_line(line_start)
        statements(cursor, node.body, body)
    else:
        cursor.skip()
        _small_statements(cursor, node.body, body)
        cursor.end_logical_line(line_start)
    return body


def _orelse(cursor: Cursor, node: cst.Else | None) -> Statements:
    if node is None:
        return []
    start = cursor.skip()
    cursor.pos += len("else")
    return _suite(cursor, node.body, start)


# --- small statements ----------------------------------------------------------------------------


def _expression_statement(cursor: Cursor, node: cst.Expr) -> ir.Stmt:
    start = cursor.pos
    value = expression(cursor, node.value)
    return ir.ExprStmt(start, cursor.pos, value)


def _assign(cursor: Cursor, node: cst.Assign) -> ir.Stmt:
    start = cursor.pos
    targets: list[ir.Expr] = []
    for target in node.targets:
        lowered = expression(cursor, target.target)
        cursor.bind(lowered)
        targets.append(lowered)
        cursor.expect(EQUAL, target)
    value = expression(cursor, node.value)
    return ir.Assign(start, cursor.pos, targets, value)


def _annotated_assign(cursor: Cursor, node: cst.AnnAssign) -> ir.Stmt:
    start = cursor.pos
    target = expression(cursor, node.target)
    cursor.bind(target)
    cursor.expect(COLON, node)
    annotation = expression(cursor, node.annotation.annotation)
    value: ir.Expr | None = None
    if node.value is not None:
        cursor.expect(EQUAL, node)
        value = expression(cursor, node.value)
    return ir.AnnAssign(start, cursor.pos, target, annotation, value)


_AUGMENTED: dict[type[cst.BaseAugOp], tuple[str, Matcher]] = {
    kind: (text, token(text + "="))
    for kind, text in (
        (cst.AddAssign, "+"), (cst.SubtractAssign, "-"), (cst.MultiplyAssign, "*"), (cst.MatrixMultiplyAssign, "@"),
        (cst.DivideAssign, "/"), (cst.ModuloAssign, "%"), (cst.BitAndAssign, "&"), (cst.BitOrAssign, "|"),
        (cst.BitXorAssign, "^"), (cst.LeftShiftAssign, "<<"), (cst.RightShiftAssign, ">>"), (cst.PowerAssign, "**"),
        (cst.FloorDivideAssign, "//"),
    )
}  # fmt: skip


def _augmented_assign(cursor: Cursor, node: cst.AugAssign) -> ir.Stmt:
    start = cursor.pos
    target = expression(cursor, node.target)
    cursor.bind(target)
    text, matcher = _AUGMENTED[type(node.operator)]
    cursor.expect(matcher, node)
    value = expression(cursor, node.value)
    return ir.AugAssign(start, cursor.pos, target, text, value)


def _return(cursor: Cursor, node: cst.Return) -> ir.Stmt:
    start = cursor.pos
    cursor.pos += len("return")
    if node.value is None:
        return ir.Return(start, cursor.pos, None)
    cursor.skip()
    value = expression(cursor, node.value)
    return ir.Return(start, cursor.pos, value)


def _raise(cursor: Cursor, node: cst.Raise) -> ir.Stmt:
    start = cursor.pos
    cursor.pos += len("raise")
    exc: ir.Expr | None = None
    cause: ir.Expr | None = None
    if node.exc is not None:
        cursor.skip()
        exc = expression(cursor, node.exc)
    if node.cause is not None:
        cursor.expect(_from, node)
        cause = expression(cursor, node.cause.item)
    return ir.Raise(start, cursor.pos, exc, cause)


def _assert(cursor: Cursor, node: cst.Assert) -> ir.Stmt:
    start = cursor.pos
    cursor.advance(len("assert"))
    test = expression(cursor, node.test)
    msg: ir.Expr | None = None
    if node.msg is not None:
        cursor.expect(COMMA, node)
        msg = expression(cursor, node.msg)
    return ir.Assert(start, cursor.pos, test, msg)


def _delete(cursor: Cursor, node: cst.Del) -> ir.Stmt:
    start = cursor.pos
    cursor.advance(len("del"))
    target = expression(cursor, node.target)
    cursor.bind(target)
    # `del a, b` has two targets, `del (a, b)` one: a tuple that starts where its first element does has no parentheses.
    if isinstance(target, ir.Tuple) and isinstance(node.target, cst.Tuple) and not node.target.lpar:
        return ir.Delete(start, cursor.pos, target.elts)
    return ir.Delete(start, cursor.pos, [target])


def _keyword_statement(make: Callable[[int, int], ir.Stmt], length: int) -> Callable[[Cursor, Any], ir.Stmt]:
    def keyword_statement(cursor: Cursor, node: Any) -> ir.Stmt:
        start = cursor.pos
        cursor.pos = start + length
        return make(start, cursor.pos)

    return keyword_statement


def _loop_statement(make: Callable[[int, int], ir.Stmt], length: int, outside: str) -> Callable[[Cursor, Any], ir.Stmt]:
    """``break`` or ``continue``; ``outside``: what CPython says of one that no loop is around."""
    keyword = _keyword_statement(make, length)

    def loop_statement(cursor: Cursor, node: Any) -> ir.Stmt:
        if not cursor.scope.loops:
            raise MisplacedStatement(outside, cursor.pos)
        return keyword(cursor, node)

    return loop_statement


def _declared_names(cursor: Cursor, nodes: Sequence[cst.NameItem], length: int) -> list[str]:
    cursor.advance(length)
    names: list[str] = []
    for node in nodes:
        raw = node.name.value
        names.append(identifier(raw))
        cursor.pos += len(raw)
        if type(node.comma) is cst.Comma:
            cursor.expect(COMMA, node)
    return names


def _global(cursor: Cursor, node: cst.Global) -> ir.Stmt:
    start = cursor.pos
    names = _declared_names(cursor, node.names, len("global"))
    cursor.scope.globals.update(dict.fromkeys(names))
    return ir.Global(start, cursor.pos, names)


def _nonlocal(cursor: Cursor, node: cst.Nonlocal) -> ir.Stmt:
    start = cursor.pos
    names = _declared_names(cursor, node.names, len("nonlocal"))
    cursor.scope.nonlocals.update(dict.fromkeys(names))
    return ir.Nonlocal(start, cursor.pos, names)


def _dotted(cursor: Cursor, node: Any) -> str:
    """The text of a dotted name without any blanks in it."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    parts.append(node.value)
    parts.reverse()
    for index, part in enumerate(parts):
        if index:
            cursor.expect(DOT, node)
        cursor.pos += len(part)
    return ".".join(identifier(part) for part in parts)


def _imported_names(cursor: Cursor, nodes: Sequence[cst.ImportAlias]) -> list[ir.ImportedName]:
    names: list[ir.ImportedName] = []
    for node in nodes:
        start = cursor.pos
        imported = _dotted(cursor, node.name)
        alias: str | None = None
        if node.asname is not None and isinstance(node.asname.name, cst.Name):
            cursor.expect(_as, node)
            raw = node.asname.name.value
            cursor.pos += len(raw)
            alias = identifier(raw)
        names.append(ir.ImportedName(start, cursor.pos, imported, alias))
        cursor.scope.bound[alias or imported.partition(".")[0]] = None
        if type(node.comma) is cst.Comma:
            cursor.expect(COMMA, node)
    return names


def _import_statement(cursor: Cursor, node: Any) -> ir.Stmt:
    start = cursor.pos
    if type(node) is not cst.Import:
        cursor.advance(len("lazy"))
    cursor.advance(len("import"))
    names = _imported_names(cursor, node.names)
    return ir.Import(start, cursor.pos, names)


def _import_from(cursor: Cursor, node: Any) -> ir.Stmt:
    start = cursor.pos
    if type(node) is not cst.ImportFrom:
        cursor.advance(len("lazy"))
    cursor.advance(len("from"))
    for _ in node.relative:
        cursor.expect(DOT, node)
    module = "" if node.module is None else _dotted(cursor, node.module)
    cursor.expect(_import, node)
    if isinstance(node.names, cst.ImportStar):
        star = cursor.pos
        cursor.pos += 1
        names = [ir.ImportedName(star, cursor.pos, "*")]
    else:
        if node.lpar is not None:
            cursor.expect(OPEN_PAREN, node)
        names = _imported_names(cursor, node.names)
        if node.rpar is not None:
            cursor.expect_last(CLOSE_PAREN, node)
    return ir.ImportFrom(start, cursor.pos, module, names, len(node.relative))


def _type_alias(cursor: Cursor, node: cst.TypeAlias) -> ir.Stmt:
    start = cursor.pos
    cursor.advance(len("type"))
    raw = node.name.value
    alias = identifier(raw)
    cursor.pos += len(raw)
    cursor.scope.bound[alias] = None
    if node.type_parameters is not None:
        _type_parameters(cursor, node.type_parameters)
    cursor.expect(EQUAL, node)
    value = expression(cursor, node.value)
    return ir.TypeAlias(start, cursor.pos, alias, value)


def _type_parameters(cursor: Cursor, node: cst.TypeParameters) -> list[str]:
    """Move over ``[T: bound = default, *Ts, **P]``; the names. Functions inside are not kept nor numbered."""
    names: list[str] = []
    n_functions = cursor.n_functions
    cursor.skip()
    cursor.advance(1)
    for parameter in node.params:
        inner = parameter.param
        if isinstance(inner, cst.TypeVarTuple):
            cursor.advance(1)
        elif isinstance(inner, cst.ParamSpec):
            cursor.advance(2)
        names.append(identifier(inner.name.value))
        cursor.pos += len(inner.name.value)
        if isinstance(inner, cst.TypeVar) and inner.bound is not None:
            cursor.expect(COLON, node)
            expression(cursor, inner.bound)
        if parameter.default is not None:
            cursor.expect(EQUAL, node)
            if parameter.star:
                cursor.advance(1)
            expression(cursor, parameter.default)
        if type(parameter.comma) is cst.Comma:
            cursor.expect(COMMA, node)
    cursor.expect_last(CLOSE_BRACKET, node)
    cursor.n_functions = n_functions
    return names


# --- compound statements -------------------------------------------------------------------------


def _if_statement(cursor: Cursor, node: cst.If) -> ir.Stmt:
    first = ir.If(cursor.pos, 0, _NO_TEST, [], [])
    branches = [first]
    length = len("if")
    branch: Any = node
    while True:
        current = branches[-1]
        cursor.advance(length)
        current.test = expression(cursor, branch.test)
        current.body = _suite(cursor, branch.body, current.start)
        branch = branch.orelse
        if type(branch) is not cst.If:
            current.orelse = _orelse(cursor, branch)
            break
        length = len("elif")
        following = ir.If(cursor.skip(), 0, _NO_TEST, [], [], True)
        current.orelse = [following]
        branches.append(following)
    for current in branches:
        current.end = cursor.pos
    return first


_NO_TEST = ir.Name(0, 0, "")


def _loop_body(cursor: Cursor, node: cst.BaseSuite, line_start: int) -> Statements:
    cursor.scope.loops += 1
    body = _suite(cursor, node, line_start)
    cursor.scope.loops -= 1
    return body


def _while(cursor: Cursor, node: cst.While) -> ir.Stmt:
    start = cursor.pos
    cursor.advance(len("while"))
    test = expression(cursor, node.test)
    body = _loop_body(cursor, node.body, start)
    orelse = _orelse(cursor, node.orelse)
    return ir.While(start, cursor.pos, test, body, orelse)


def _for(cursor: Cursor, node: cst.For) -> ir.Stmt:
    start = cursor.pos
    is_async = node.asynchronous is not None
    if is_async:
        cursor.advance(len("async"))
    cursor.advance(len("for"))
    target = expression(cursor, node.target)
    cursor.bind(target)
    cursor.expect(_in, node)
    iterable = expression(cursor, node.iter)
    body = _loop_body(cursor, node.body, start)
    orelse = _orelse(cursor, node.orelse)
    return ir.For(start, cursor.pos, target, iterable, body, orelse, is_async)


def _with(cursor: Cursor, node: cst.With) -> ir.Stmt:
    start = cursor.pos
    is_async = node.asynchronous is not None
    if is_async:
        cursor.advance(len("async"))
    cursor.advance(len("with"))
    parenthesized = isinstance(node.lpar, cst.LeftParen)
    if parenthesized:
        cursor.expect(OPEN_PAREN, node)
    items: list[ir.WithItem] = []
    for item in node.items:
        context = expression(cursor, item.item)
        target: ir.Expr | None = None
        if item.asname is not None:
            cursor.expect(_as, item)
            target = expression(cursor, item.asname.name)
            cursor.bind(target)
        items.append(ir.WithItem(context, target))
        if type(item.comma) is cst.Comma:
            cursor.expect(COMMA, item)
    if parenthesized:
        cursor.expect_last(CLOSE_PAREN, node)
    body = _suite(cursor, node.body, start)
    return ir.With(start, cursor.pos, items, body, is_async)


def _try(cursor: Cursor, node: Any) -> ir.Stmt:
    start = cursor.pos
    cursor.pos += len("try")
    body = _suite(cursor, node.body, start)
    handlers = [_handler(cursor, handler) for handler in node.handlers]
    orelse = _orelse(cursor, node.orelse)
    finalbody: Statements = []
    if node.finalbody is not None:
        final_start = cursor.skip()
        cursor.pos += len("finally")
        finalbody = _suite(cursor, node.finalbody.body, final_start)
    return ir.Try(start, cursor.pos, body, handlers, orelse, finalbody)


def _handler(cursor: Cursor, node: Any) -> ir.ExceptHandler:
    start = cursor.skip()
    cursor.pos += len("except")
    if type(node) is cst.ExceptStarHandler:
        cursor.skip()
        cursor.pos += 1
    caught: ir.Expr | None = None
    bound: str | None = None
    if node.type is not None:
        cursor.skip()
        caught = expression(cursor, node.type)
    if node.name is not None:
        cursor.expect(_as, node)
        raw = node.name.name.value
        cursor.pos += len(raw)
        bound = identifier(raw)
        cursor.scope.bound[bound] = None
    body = _suite(cursor, node.body, start)
    return ir.ExceptHandler(caught, bound, body)


def _match(cursor: Cursor, node: cst.Match) -> ir.Stmt:
    start = cursor.pos
    cursor.advance(len("match"))
    subject = expression(cursor, node.subject)
    cursor.expect_last(COLON, node)
    cursor.end_logical_line(start)
    cases: list[ir.MatchCase] = []
    for case in node.cases:
        case_start = cursor.skip()
        cursor.advance(len("case"))
        lowered = pattern(cursor, case.pattern)
        guard: ir.Expr | None = None
        if case.guard is not None:
            cursor.expect(_if, case)
            guard = expression(cursor, case.guard)
        cases.append(ir.MatchCase(lowered, guard, _suite(cursor, case.body, case_start)))
    return ir.Match(start, cursor.pos, subject, cases)


def _decorators(cursor: Cursor, nodes: Sequence[cst.Decorator]) -> list[ir.Expr]:
    decorators: list[ir.Expr] = []
    for node in nodes:
        start = cursor.skip()
        cursor.advance(1)
        decorators.append(expression(cursor, node.decorator))
        cursor.end_logical_line(start)
    cursor.skip()
    return decorators


def _function(cursor: Cursor, node: cst.FunctionDef) -> ir.Stmt:
    decorators = _decorators(cursor, node.decorators)
    start = cursor.pos
    index = cursor.n_functions
    cursor.n_functions += 1
    is_async = node.asynchronous is not None
    if is_async:
        cursor.advance(len("async"))
    name_start = cursor.advance(len("def"))
    raw = node.name.value
    cursor.pos += len(raw)
    name = identifier(raw)
    outer = cursor.scope
    outer.bound[name] = None
    qualname = outer.qualname(name)
    type_names = [] if node.type_parameters is None else _type_parameters(cursor, node.type_parameters)
    cursor.expect(OPEN_PAREN, node)
    params = parameters(cursor, node.params)
    cursor.expect_last(CLOSE_PAREN, node)
    returns: ir.Expr | None = None
    if node.returns is not None:
        cursor.expect(_arrow, node)
        returns = expression(cursor, node.returns.annotation)
    cursor.scope = scope = Scope(qualname + ".<locals>.")
    for param in params:
        scope.bound[param.name] = None
    for type_name in type_names:
        scope.bound[type_name] = None
    body_start = _body_start(cursor, node)
    body = _suite(cursor, node.body, start)
    cursor.scope = outer
    for declared in scope.globals:
        if declared in scope.bound:
            cursor.globally_bound[declared] = None
    function = ir.Function(
        index,
        name,
        qualname,
        params,
        body,
        scope.own_names(),
        list(scope.globals),
        list(scope.nonlocals),
        is_async,
        scope.is_generator,
        False,
        returns,
    )
    return ir.FunctionDef(start, cursor.pos, function, decorators, name_start, body_start)


def _body_start(cursor: Cursor, node: cst.FunctionDef) -> int:
    """The offset of the body's first token, decorators included; the cursor stays in front of the colon."""
    pos = cursor.pos
    cursor.expect(COLON, node)
    body_start = cursor.pos
    cursor.pos = pos
    return body_start


def _class(cursor: Cursor, node: cst.ClassDef) -> ir.Stmt:
    decorators = _decorators(cursor, node.decorators)
    start = cursor.pos
    name_start = cursor.advance(len("class"))
    raw = node.name.value
    cursor.pos += len(raw)
    name = identifier(raw)
    outer = cursor.scope
    outer.bound[name] = None
    qualname = outer.qualname(name)
    if node.type_parameters is not None:
        _type_parameters(cursor, node.type_parameters)
    bases: list[ir.Argument] = []
    if isinstance(node.lpar, cst.LeftParen):
        cursor.expect(OPEN_PAREN, node)
        bases = arguments(cursor, [*node.bases, *node.keywords])
        cursor.expect_last(CLOSE_PAREN, node)
    cursor.scope = scope = Scope(qualname + ".")
    body = _suite(cursor, node.body, start)
    cursor.scope = outer
    for declared in scope.globals:
        if declared in scope.bound:
            cursor.globally_bound[declared] = None
    return ir.ClassDef(start, cursor.pos, name, qualname, bases, body, decorators, name_start)


_SMALL: dict[type[cst.CSTNode], Callable[[Cursor, Any], ir.Stmt]] = {
    cst.Expr: _expression_statement,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated_assign,
    cst.AugAssign: _augmented_assign,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.Pass: _keyword_statement(ir.Pass, len("pass")),
    cst.Break: _loop_statement(ir.Break, len("break"), "'break' outside loop"),
    cst.Continue: _loop_statement(ir.Continue, len("continue"), "'continue' not properly in loop"),
    cst.Global: _global,
    cst.Nonlocal: _nonlocal,
    cst.Import: _import_statement,
    cst.ImportFrom: _import_from,
    cst.TypeAlias: _type_alias,
}
# Kinds of nodes that only newer versions of LibCST have.
for _kind, _small in (("LazyImport", _import_statement), ("LazyImportFrom", _import_from)):
    if hasattr(cst, _kind):
        _SMALL[getattr(cst, _kind)] = _small

_COMPOUND: dict[type[cst.CSTNode], Callable[[Cursor, Any], ir.Stmt]] = {
    cst.If: _if_statement,
    cst.While: _while,
    cst.For: _for,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
}
