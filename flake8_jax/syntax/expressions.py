"""Expressions, from LibCST's nodes to the intermediate representation.

Vocabulary
----------
leaf        a node that begins with a token of its own, or whose first child cannot be chained without end.
spine       the chain of first children of ``a.b(c)[d] + e``. It is walked with a loop, so that a sum of thousands
            of terms needs no deep recursion.
grow        to lower what stands behind the first child of a node of the spine.

Every function here gets the cursor on the first character of its node and leaves it right behind the last one.

Limitations: parameters' and type parameters' own scopes for annotations.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from operator import attrgetter
from sys import intern
from typing import Any

import libcst as cst

from flake8_jax.core import ir
from flake8_jax.syntax import literals
from flake8_jax.syntax.cursor import TRIVIA_CHARACTERS, Cursor, Matcher, Scope, token
from flake8_jax.syntax.errors import LoweringError

MAX_CHAIN = 20_000
"""Longer chains would nest deeper than a node can be freed on an ordinary stack."""

Leaf = Callable[[Cursor, Any], ir.Expr]
Grow = Callable[[Cursor, Any, int, ir.Expr], ir.Expr]

OPEN_PAREN = token("(")
CLOSE_PAREN = token(")")
CLOSE_BRACKET = token("]")
CLOSE_BRACE = token("}")
COMMA = token(",")
COLON = token(":")
EQUAL = token("=")
DOT = token(".")
STAR = token("*")
SLASH = token("/")
_open_bracket = token("[")
_walrus = token(":=")
_if = token("if")
_else = token("else")
_for = token("for")
_async_for = token("async for")
_in = token("in")

_WORDS: dict[str, tuple[ir.ConstantKind, bool | None]] = {
    "None": ("none", None),
    "True": ("bool", True),
    "False": ("bool", False),
}


def expression(cursor: Cursor, node: cst.BaseExpression) -> ir.Expr:
    """Lower any expression, its parentheses included."""
    kind = type(node)
    if not node.lpar:
        if kind is cst.Name:
            return name(cursor, node)  # type: ignore[arg-type]
        leaf = LEAVES.get(kind)
        if leaf is not None:
            return leaf(cursor, node)
    pending: list[tuple[Any, int, Grow]] = []
    current: Any = node
    while True:
        paren = _open_parens(cursor, current) if current.lpar else -1
        spine = SPINE.get(type(current))
        if spine is None:
            break
        if len(pending) == MAX_CHAIN:
            raise RecursionError("chain of operators, attributes or calls too long")
        pending.append((current, cursor.pos, spine[1]))
        current = spine[0](current)
    leaf = LEAVES.get(type(current))
    if leaf is None:
        raise LoweringError(type(current).__name__, cursor.pos)
    value = leaf(cursor, current)
    if paren >= 0:
        _close_parens(cursor, current, value, paren)
    while pending:
        current, start, grow = pending.pop()
        value = grow(cursor, current, start, value)
        if current.rpar:
            _close_parens(cursor, current, value, -1)
    return value


def _open_parens(cursor: Cursor, node: Any) -> int:
    """Move into the parentheses around a node; the offset of the innermost."""
    paren = cursor.pos
    for _ in node.lpar:
        paren = cursor.skip()
        cursor.expect(OPEN_PAREN, node)
    return paren


def _close_parens(cursor: Cursor, node: Any, value: ir.Expr, paren: int) -> None:
    """Move out of the parentheses. The innermost belong to a tuple or generator, as in ``ast``."""
    closing = len(node.rpar)
    if paren >= 0 and type(node) in _OWN_PARENS:
        cursor.expect_last(CLOSE_PAREN, node)
        value.start = paren
        value.end = cursor.pos
        closing -= 1
    for _ in range(closing):
        cursor.expect_last(CLOSE_PAREN, node)


# --- names and literals --------------------------------------------------------------------------


def identifier(raw: str) -> str:
    """The name that an identifier stands for: Python compares them in normal form KC."""
    return raw if raw.isascii() else unicodedata.normalize("NFKC", raw)


def name(cursor: Cursor, node: cst.Name) -> ir.Expr:
    start = cursor.pos
    raw = node.value
    if cursor.chains is not None and raw in cursor.chains:
        return _chain(cursor, cursor.chains[raw])
    end = cursor.pos = start + len(raw)
    word = _WORDS.get(raw)
    if word is not None:
        return ir.Constant(start, end, word[0], word[1])
    return ir.Name(start, end, intern(raw if raw.isascii() else identifier(raw)))


def _chain(cursor: Cursor, elements: Sequence[cst.BaseElement]) -> ir.Expr:
    """Put a long chain together again: its first operand, and links that each follow a stand-in (see ``chains``)."""
    if len(elements) > MAX_CHAIN:
        raise RecursionError("chain of operators, attributes or calls too long")
    start = cursor.pos
    value = expression(cursor, elements[0].value)
    for element in elements[1:]:
        spine = SPINE.get(type(element.value))
        if spine is None or element.value.lpar:
            raise LoweringError(type(element.value).__name__, cursor.pos)
        value = spine[1](cursor, element.value, start, value)
    return value


def _number(convert: Callable[[str], tuple[ir.ConstantKind, literals.Value]]) -> Leaf:
    def number(cursor: Cursor, node: Any) -> ir.Expr:
        start = cursor.pos
        end = cursor.pos = start + len(node.value)
        kind, value = convert(node.value)
        return ir.Constant(start, end, kind, value)

    return number


def _ellipsis(cursor: Cursor, node: cst.Ellipsis) -> ir.Expr:
    start = cursor.pos
    cursor.pos = start + 3
    return ir.Constant(start, start + 3, "ellipsis")


def _simple_string(cursor: Cursor, node: cst.SimpleString) -> ir.Constant:
    raw = node.value
    start = cursor.pos
    if not cursor.text.startswith(raw, start):
        raise LoweringError("SimpleString", start)
    end = cursor.pos = start + len(raw)
    kind, value = literals.string(raw)
    return ir.Constant(start, end, kind, value)


def _formatted_string(cursor: Cursor, node: Any) -> ir.JoinedStr:
    """An f-string or a t-string."""
    start = cursor.pos
    opening: str = node.start
    if not cursor.text.startswith(opening, start):
        raise LoweringError(type(node).__name__, start)
    cursor.pos += len(opening)
    is_raw = "r" in opening.lower()
    values: list[ir.Expr] = []
    for part in node.parts:
        _formatted_part(cursor, part, values, is_raw, literals.field_text)
    cursor.pos += len(node.end)
    return ir.JoinedStr(start, cursor.pos, values)


def _formatted_part(
    cursor: Cursor, part: Any, values: list[ir.Expr], is_raw: bool, decode: Callable[[str, bool], str]
) -> None:
    start = cursor.pos
    if type(part) in _TEXT_PARTS:
        cursor.pos = start + len(part.value)
        _append_text(values, start, cursor.pos, decode(part.value, is_raw))
    else:
        _replacement_field(cursor, part, values, is_raw)


def _append_text(values: list[ir.Expr], start: int, end: int, text: str) -> None:
    """Add literal text, merged with literal text before it, as ``ast`` does."""
    if not text:
        return
    last = values[-1] if values else None
    if isinstance(last, ir.Constant) and isinstance(last.value, str):
        last.value += text
        last.end = end
    else:
        values.append(ir.Constant(start, end, "str", text))


def _replacement_field(cursor: Cursor, node: Any, values: list[ir.Expr], is_raw: bool) -> None:
    start = cursor.pos
    cursor.advance(1)
    value = expression(cursor, node.expression)
    conversion: str | None = node.conversion
    if node.equal is not None:
        cursor.expect(EQUAL, node)
        _append_text(values, start + 1, cursor.pos, literals.normalize_newlines(cursor.text[start + 1 : cursor.pos]))
        if conversion is None and node.format_spec is None:
            conversion = "r"
    else:
        cursor.skip()
    if node.conversion is not None:
        cursor.advance(1)
        cursor.pos += len(node.conversion)
        cursor.skip()
    spec: list[ir.Expr] | None = None
    spec_text: str | None = None
    if node.format_spec is not None:
        cursor.pos += 1
        spec = []
        spec_start = cursor.pos
        for part in node.format_spec:
            _formatted_part(cursor, part, spec, is_raw, literals.spec_text)
        if not any(isinstance(part, ir.FormattedValue) for part in spec):
            spec_text = cursor.text[spec_start : cursor.pos]
    if not cursor.text.startswith("}", cursor.pos):
        raise LoweringError(type(node).__name__, cursor.pos)
    cursor.pos += 1
    values.append(ir.FormattedValue(start, cursor.pos, value, conversion, spec, spec_text))


def _concatenated_string(cursor: Cursor, node: cst.ConcatenatedString) -> ir.Expr:
    start = cursor.pos
    values: list[ir.Expr] = []
    kind: ir.ConstantKind = "str"
    joined = False
    pieces: list[Any] = []
    current: Any = node
    while type(current) is cst.ConcatenatedString:
        pieces.append(current.left)
        current = current.right
    pieces.append(current)
    for index, piece in enumerate(pieces):
        if index:
            cursor.skip()
        if type(piece) is cst.SimpleString:
            literal = _simple_string(cursor, piece)
            kind = literal.kind
            _append_text(values, literal.start, literal.end, str(literal.value))
        else:
            joined = True
            for part in _formatted_string(cursor, piece).values:
                if isinstance(part, ir.Constant):
                    _append_text(values, part.start, part.end, str(part.value))
                else:
                    values.append(part)
    if joined:
        return ir.JoinedStr(start, cursor.pos, values)
    text = values[0].value if values and isinstance(values[0], ir.Constant) else ""
    return ir.Constant(start, cursor.pos, kind, text)


# --- operators -----------------------------------------------------------------------------------

_BINARY = {
    kind: (text, token(text))
    for kind, text in (
        (cst.Add, "+"), (cst.Subtract, "-"), (cst.Multiply, "*"), (cst.Divide, "/"), (cst.FloorDivide, "//"),
        (cst.Modulo, "%"), (cst.Power, "**"), (cst.MatrixMultiply, "@"), (cst.BitAnd, "&"), (cst.BitOr, "|"),
        (cst.BitXor, "^"), (cst.LeftShift, "<<"), (cst.RightShift, ">>"),
    )
}  # fmt: skip
_BOOLEAN = {kind: (text, token(text)) for kind, text in ((cst.And, "and"), (cst.Or, "or"))}
_UNARY = {cst.Not: "not", cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~"}
_COMPARISON = {
    kind: (text, token(text))
    for kind, text in (
        (cst.LessThan, "<"), (cst.LessThanEqual, "<="), (cst.GreaterThan, ">"), (cst.GreaterThanEqual, ">="),
        (cst.Equal, "=="), (cst.NotEqual, "!="), (cst.Is, "is"), (cst.IsNot, "is not"), (cst.In, "in"),
        (cst.NotIn, "not in"),
    )
}  # fmt: skip


def _binary(cursor: Cursor, node: Any, start: int, left: ir.Expr) -> ir.Expr:
    text, matcher = _BINARY[type(node.operator)]
    cursor.expect(matcher, node)
    right = expression(cursor, node.right)
    return ir.BinOp(start, cursor.pos, left, text, right)


def _boolean(cursor: Cursor, node: Any, start: int, left: ir.Expr) -> ir.Expr:
    text, matcher = _BOOLEAN[type(node.operator)]
    cursor.expect(matcher, node)
    right = expression(cursor, node.right)
    if isinstance(left, ir.BoolOp) and left.op == text and not node.left.lpar:
        left.values.append(right)
        left.end = cursor.pos
        return left
    return ir.BoolOp(start, cursor.pos, text, [left, right])


def _comparison(cursor: Cursor, node: Any, start: int, left: ir.Expr) -> ir.Expr:
    ops: list[str] = []
    comparators: list[ir.Expr] = []
    for target in node.comparisons:
        text, matcher = _COMPARISON[type(target.operator)]
        cursor.expect(matcher, target)
        ops.append(text)
        comparators.append(expression(cursor, target.comparator))
    return ir.Compare(start, cursor.pos, left, ops, comparators)


def _unary(cursor: Cursor, node: cst.UnaryOperation) -> ir.Expr:
    start = cursor.pos
    text = _UNARY[type(node.operator)]
    cursor.advance(len(text))
    operand = expression(cursor, node.expression)
    return ir.UnaryOp(start, cursor.pos, text, operand)


def _conditional(cursor: Cursor, node: cst.IfExp) -> ir.Expr:
    start = cursor.pos
    body = expression(cursor, node.body)
    cursor.expect(_if, node)
    test = expression(cursor, node.test)
    cursor.expect(_else, node)
    orelse = expression(cursor, node.orelse)
    return ir.IfExp(start, cursor.pos, test, body, orelse)


def _named(cursor: Cursor, node: cst.NamedExpr) -> ir.Expr:
    start = cursor.pos
    target = expression(cursor, node.target)
    if not isinstance(target, ir.Name):
        raise LoweringError("NamedExpr", start)
    cursor.expect(_walrus, node)
    value = expression(cursor, node.value)
    cursor.scope.bound[target.id] = None
    cursor.walrus_bound[target.id] = None
    return ir.NamedExpr(start, cursor.pos, target, value)


def _await(cursor: Cursor, node: cst.Await) -> ir.Expr:
    start = cursor.pos
    cursor.advance(len("await"))
    value = expression(cursor, node.expression)
    return ir.Await(start, cursor.pos, value)


def _yield(cursor: Cursor, node: cst.Yield) -> ir.Expr:
    start = cursor.pos
    cursor.scope.is_generator = True
    cursor.pos += len("yield")
    operand = node.value
    if operand is None:
        return ir.Yield(start, cursor.pos, None)
    cursor.skip()
    if isinstance(operand, cst.From):
        cursor.advance(len("from"))
        value = expression(cursor, operand.item)
        return ir.YieldFrom(start, cursor.pos, value)
    value = expression(cursor, operand)
    return ir.Yield(start, cursor.pos, value)


# --- attributes, calls, subscripts ---------------------------------------------------------------


def _attribute(cursor: Cursor, node: Any, start: int, value: ir.Expr) -> ir.Expr:
    text, pos = cursor.text, cursor.pos
    if text[pos] == "." and text[pos + 1] not in TRIVIA_CHARACTERS:
        attr_start = pos + 1
    else:
        cursor.expect(DOT, node)
        attr_start = cursor.pos
    raw = node.attr.value
    end = cursor.pos = attr_start + len(raw)
    return ir.Attribute(start, end, value, intern(raw if raw.isascii() else identifier(raw)), attr_start)


def _call(cursor: Cursor, node: Any, start: int, func: ir.Expr) -> ir.Expr:
    paren = cursor.skip()
    cursor.expect(OPEN_PAREN, node)
    nodes = node.args
    if not nodes:
        cursor.expect_last(CLOSE_PAREN, node)
        return ir.Call(start, cursor.pos, func, [], paren)
    args = arguments(cursor, nodes)
    cursor.expect_last(CLOSE_PAREN, node)
    end = cursor.pos
    if len(args) == 1 and type(nodes[0].value) is cst.GeneratorExp and not nodes[0].value.lpar:
        generator = args[0].value
        generator.start = paren
        generator.end = end
    return ir.Call(start, end, func, args, paren)


def arguments(cursor: Cursor, nodes: Sequence[cst.Arg]) -> list[ir.Argument]:
    """The arguments of a call or a class; the cursor stays behind the last one, or the comma after it."""
    args: list[ir.Argument] = []
    for node in nodes:
        start = cursor.pos
        keyword: str | None = None
        star = len(node.star)
        if star:
            cursor.advance(star)
        elif node.keyword is not None:
            keyword = node.keyword.value
            cursor.pos += len(keyword)
            cursor.expect(EQUAL, node)
            keyword = intern(identifier(keyword))
        value = expression(cursor, node.value)
        args.append(ir.Argument(start, cursor.pos, value, keyword, star))
        if type(node.comma) is cst.Comma:
            cursor.expect(COMMA, node)
    return args


def _subscript(cursor: Cursor, node: Any, start: int, value: ir.Expr) -> ir.Expr:
    cursor.expect(_open_bracket, node)
    items = node.slice
    first = items[0]
    index_start = cursor.pos
    index = _index(cursor, first.slice)
    if len(items) > 1 or type(first.comma) is cst.Comma or isinstance(index, ir.Starred):
        elts = [index]
        last = first
        for item in items[1:]:
            cursor.expect(COMMA, item)
            elts.append(_index(cursor, item.slice))
            last = item
        if type(last.comma) is cst.Comma:
            cursor.expect_last(COMMA, last)
        index = ir.Tuple(index_start, cursor.pos, elts)
    cursor.expect_last(CLOSE_BRACKET, node)
    return ir.Subscript(start, cursor.pos, value, index)


def _index(cursor: Cursor, node: Any) -> ir.Expr:
    if type(node) is cst.Slice:
        return _slice(cursor, node)
    if node.star is None:
        return expression(cursor, node.value)
    start = cursor.pos
    cursor.advance(1)
    value = expression(cursor, node.value)
    return ir.Starred(start, cursor.pos, value)


def _slice(cursor: Cursor, node: cst.Slice) -> ir.Expr:
    start = cursor.pos
    lower = upper = step = None
    if node.lower is not None:
        lower = expression(cursor, node.lower)
    cursor.expect_last(COLON, node)
    if node.upper is not None:
        cursor.skip()
        upper = expression(cursor, node.upper)
    if type(node.second_colon) is cst.Colon:
        cursor.expect_last(COLON, node)
        if node.step is not None:
            cursor.skip()
            step = expression(cursor, node.step)
    return ir.Slice(start, cursor.pos, lower, upper, step)


# --- displays and comprehensions -----------------------------------------------------------------


def _display(make: Callable[[int, int, list[ir.Expr]], ir.Expr], closing: Matcher | None) -> Leaf:
    """Lists, sets and tuples; a tuple has no brackets of its own. One function, to nest no deeper than needed."""

    def display(cursor: Cursor, node: Any) -> ir.Expr:
        start = cursor.pos
        if closing is not None:
            cursor.advance(1)
        elts: list[ir.Expr] = []
        comma = False
        for element in node.elements:
            if comma:
                cursor.skip()
            elts.append(expression(cursor, element.value if type(element) is cst.Element else element))
            comma = type(element.comma) is cst.Comma
            if comma:
                cursor.expect_last(COMMA, element)
        if closing is not None:
            cursor.expect_last(closing, node)
        return make(start, cursor.pos, elts)

    return display


def _starred(cursor: Cursor, node: cst.StarredElement) -> ir.Expr:
    start = cursor.pos
    cursor.advance(1)
    value = expression(cursor, node.value)
    return ir.Starred(start, cursor.pos, value)


def _dict(cursor: Cursor, node: cst.Dict) -> ir.Expr:
    start = cursor.pos
    cursor.advance(1)
    keys: list[ir.Expr | None] = []
    values: list[ir.Expr] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            keys.append(expression(cursor, element.key))
            cursor.expect(COLON, element)
        else:
            keys.append(None)
            cursor.advance(2)
        values.append(expression(cursor, element.value))
        if type(element.comma) is cst.Comma:
            cursor.expect(COMMA, element)
    cursor.expect_last(CLOSE_BRACE, node)
    return ir.Dict(start, cursor.pos, keys, values)


def _generators(cursor: Cursor, node: cst.CompFor | None) -> list[ir.Generator]:
    generators: list[ir.Generator] = []
    while node is not None:
        is_async = node.asynchronous is not None
        cursor.expect(_async_for if is_async else _for, node)
        target = expression(cursor, node.target)
        cursor.expect(_in, node)
        iterable = expression(cursor, node.iter)
        tests: list[ir.Expr] = []
        for clause in node.ifs:
            cursor.expect(_if, clause)
            tests.append(expression(cursor, clause.test))
        generators.append(ir.Generator(target, iterable, tests, is_async))
        node = node.inner_for_in
    return generators


def _comprehension(kind: ir.ComprehensionKind, closing: Matcher | None) -> Leaf:
    def comprehension(cursor: Cursor, node: Any) -> ir.Expr:
        start = cursor.pos
        if closing is not None:
            cursor.advance(1)
        element = expression(cursor, node.elt)
        generators = _generators(cursor, node.for_in)
        if closing is not None:
            cursor.expect_last(closing, node)
        return ir.Comprehension(start, cursor.pos, kind, None, element, generators)

    return comprehension


def _dict_comprehension(cursor: Cursor, node: Any) -> ir.Expr:
    start = cursor.pos
    cursor.advance(1)
    key: ir.Expr | None = None
    if type(node) is cst.DictComp:
        key = expression(cursor, node.key)
        cursor.expect(COLON, node)
    else:
        cursor.advance(2)
    value = expression(cursor, node.value)
    generators = _generators(cursor, node.for_in)
    cursor.expect_last(CLOSE_BRACE, node)
    return ir.Comprehension(start, cursor.pos, "dict", key, value, generators)


# --- functions -----------------------------------------------------------------------------------


def parameters(cursor: Cursor, node: cst.Parameters) -> list[ir.Parameter]:
    """The parameters of a ``def`` or ``lambda``, with defaults and annotations in the enclosing scope.

    The cursor stays behind the last one and its comma, before or behind trivia.
    """
    params: list[ir.Parameter] = []
    for param in node.posonly_params:
        params.append(_parameter(cursor, param, "posonly", 0))
    if node.posonly_params:
        cursor.expect(SLASH, node)
        if cursor.text.startswith(",", cursor.pos):
            cursor.advance(1)
    for param in node.params:
        params.append(_parameter(cursor, param, "positional", 0))
    if isinstance(node.star_arg, cst.Param):
        params.append(_parameter(cursor, node.star_arg, "vararg", 1))
    elif isinstance(node.star_arg, cst.ParamStar):
        cursor.expect(STAR, node)
        cursor.expect(COMMA, node)
    for param in node.kwonly_params:
        params.append(_parameter(cursor, param, "kwonly", 0))
    if node.star_kwarg is not None:
        params.append(_parameter(cursor, node.star_kwarg, "kwarg", 2))
    return params


def _parameter(cursor: Cursor, node: cst.Param, kind: ir.ParameterKind, stars: int) -> ir.Parameter:
    cursor.skip()
    if stars:
        cursor.advance(stars)
    start = cursor.pos
    raw = node.name.value
    end = cursor.pos = start + len(raw)
    annotation = default = None
    if node.annotation is not None:
        cursor.expect(COLON, node)
        annotation = expression(cursor, node.annotation.annotation)
    if node.default is not None:
        cursor.expect(EQUAL, node)
        default = expression(cursor, node.default)
    if type(node.comma) is cst.Comma:
        cursor.expect(COMMA, node)
    return ir.Parameter(start, end, intern(identifier(raw)), kind, annotation, default)


def _lambda(cursor: Cursor, node: cst.Lambda) -> ir.Expr:
    start = cursor.pos
    index = cursor.n_functions
    cursor.n_functions += 1
    cursor.advance(len("lambda"))
    params = parameters(cursor, node.params)
    cursor.expect(COLON, node)
    outer = cursor.scope
    qualname = outer.qualname("<lambda>")
    cursor.scope = scope = Scope(qualname + ".<locals>.")
    for param in params:
        scope.bound[param.name] = None
    value = expression(cursor, node.body)
    cursor.scope = outer
    function = ir.Function(
        index=index,
        name="<lambda>",
        qualname=qualname,
        params=params,
        body=[ir.Return(value.start, cursor.pos, value)],
        local_names=scope.own_names(),
        global_names=[],
        nonlocal_names=[],
        is_generator=scope.is_generator,
        is_lambda=True,
    )
    return ir.Lambda(start, cursor.pos, function)


_OWN_PARENS = frozenset((cst.Tuple, cst.GeneratorExp))

SPINE: dict[type[cst.CSTNode], tuple[Callable[[Any], Any], Grow]] = {
    cst.Attribute: (attrgetter("value"), _attribute),
    cst.Call: (attrgetter("func"), _call),
    cst.Subscript: (attrgetter("value"), _subscript),
    cst.BinaryOperation: (attrgetter("left"), _binary),
    cst.BooleanOperation: (attrgetter("left"), _boolean),
    cst.Comparison: (attrgetter("left"), _comparison),
}

LEAVES: dict[type[cst.CSTNode], Leaf] = {
    cst.Name: name,
    cst.Integer: _number(literals.integer),
    cst.Float: _number(literals.real),
    cst.Imaginary: _number(literals.imaginary),
    cst.Ellipsis: _ellipsis,
    cst.SimpleString: _simple_string,
    cst.FormattedString: _formatted_string,
    cst.ConcatenatedString: _concatenated_string,
    cst.UnaryOperation: _unary,
    cst.IfExp: _conditional,
    cst.NamedExpr: _named,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.Tuple: _display(ir.Tuple, None),
    cst.List: _display(ir.List, CLOSE_BRACKET),
    cst.Set: _display(ir.Set, CLOSE_BRACE),
    cst.StarredElement: _starred,
    cst.Dict: _dict,
    cst.GeneratorExp: _comprehension("generator", None),
    cst.ListComp: _comprehension("list", CLOSE_BRACKET),
    cst.SetComp: _comprehension("set", CLOSE_BRACE),
    cst.DictComp: _dict_comprehension,
    cst.Lambda: _lambda,
}
_TEXT_PARTS = frozenset((cst.FormattedStringText, getattr(cst, "TemplatedStringText", cst.FormattedStringText)))
# Kinds of nodes that only newer versions of LibCST have.
for _kind, _leaf in (("TemplatedString", _formatted_string), ("StarredDictComp", _dict_comprehension)):
    if hasattr(cst, _kind):
        LEAVES[getattr(cst, _kind)] = _leaf
