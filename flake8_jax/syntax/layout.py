"""One logical line, laid out as black and ruff lay it out: where it breaks if it is too long for a line.

Vocabulary
----------
logical line  a simple statement, or the header of a compound one, with a comment after it.
level         how a line may break at a place: not at all, inside brackets, or where optional parentheses are written.
optional      parentheses around the whole value of a statement, written only if it breaks.
chain         ``a.b().c()``: calls and subscripts of attributes. It breaks before each dot that follows a call or subscript.
magic comma   a comma behind the last element: the elements stay one a line.
remarks       the comments of an argument of a call. With any, the arguments stand one a line.

Only the breaks are decided here. Names, operators, quotes and inner parentheses stay as they are written; a space follows
each comma.

An expression with comments anywhere but between the arguments of a call keeps its rows.

Limitations: left alone are statements with comments outside of expressions, backslashes, strings over
several lines or next to each other, targets that break, ``with``, ``class``, ``raise``, ``assert`` with a message, and
definitions. Options of the formatters other than the length of a line are not known.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import libcst as cst

from flake8_jax.syntax.documents import Choice, Document, Group, IfBroken, Indent, Line, Loose, printed

MOST = 20_000
"""Characters of a line. A longer one is unreadable in any layout."""
_PRAGMA = re.compile(r"#\s*(?:noqa\b|type:|pyright:|pylint:|pyrefly:|ty:|flake8:|ruff:)", re.IGNORECASE)
_MODULE = cst.Module([])
_PLAIN = (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.Ellipsis)
_STRINGS = (cst.SimpleString, cst.FormattedString)
_BRACKETED = (cst.List, cst.Set, cst.Dict, cst.Tuple, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_ENDS: dict[type, tuple[str, str]] = {
    cst.List: ("[", "]"),
    cst.ListComp: ("[", "]"),
    cst.Tuple: ("(", ")"),
    cst.GeneratorExp: ("(", ")"),
    **dict.fromkeys((cst.Set, cst.Dict, cst.SetComp, cst.DictComp), ("{", "}")),
}
_BINARY = (cst.BinaryOperation, cst.BooleanOperation)

Node = TypeVar("Node", bound=cst.CSTNode)


class _Unknown(Exception):
    """The layout of such a line is not known."""


def lay_out(line: str, *, width: int, indent: str, unit: str) -> str | None:
    """A logical line without its indentation, broken at newlines so that it fits the width behind ``indent``.

    unit: one step of indentation. None where the layout is not known, or the line is longer than ``MOST``.
    """
    if len(line) > MOST:
        return None
    code, comment = _without_comment(line)
    try:
        body = _document(code)
    except (_Unknown, cst.ParserSyntaxError):
        return None
    suffix = f"  {comment}" if comment and not _PRAGMA.match(comment) else ""
    text = printed((body, suffix), width=width, indent=indent, unit=unit)
    if any(len(one) > width for one in (indent + text).split("\n")):
        text = _in_parentheses(code, suffix, width=width, indent=indent, unit=unit) or text
    return f"{text}  {comment}" if comment and not suffix else text


def _in_parentheses(code: str, suffix: str, *, width: int, indent: str, unit: str) -> str | None:
    """An assignment to several targets or to an item, with its value on a line of its own, if all of it fits then."""
    statement = _parsed(code)
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    if not isinstance(small, cst.Assign) or not isinstance(small.value, (cst.Call, cst.Subscript)):
        return None
    if len(small.targets) == 1 and not isinstance(small.targets[0].target, (cst.Tuple, cst.Subscript)):
        return None
    if _comments_in(small):
        return None
    body = _Writer(commented=False).assign(small, in_parentheses=True)
    text = printed((body, suffix), width=width, indent=indent, unit=unit)
    return text if all(len(one) <= width for one in (indent + text).split("\n")) else None


def _without_comment(line: str) -> tuple[str, str]:
    """The code of a logical line, and the comment after it."""
    last = line.rpartition("\n")[2]
    if "#" not in last:
        return line.rstrip(), ""
    for match in re.finditer("#", line):
        if match.start() < len(line) - len(last):
            continue
        code = line[: match.start()].rstrip()
        if _parsed(code) is not None:
            return code, line[match.start() :].rstrip()
    return line.rstrip(), ""


@functools.lru_cache(maxsize=256)
def _parsed(code: str) -> cst.BaseStatement | cst.SimpleStatementLine | None:
    try:
        return cst.parse_statement(code + "\n    pass\n" if code.endswith(":") else code + "\n")
    except cst.ParserSyntaxError:
        return None


def _document(code: str) -> Document:
    """The document of a logical line without a comment. Raises _Unknown."""
    head = ""
    if code.startswith("elif "):
        head, code = "el", code[2:]
    elif code.startswith("@"):
        head, code = "@", code[1:].lstrip()
    statement = _parsed(code)
    if statement is None or "\\\n" in code:
        raise _Unknown
    node: cst.CSTNode = statement
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        node = statement.body[0]
    write = _SIMPLE.get(type(node)) or _HEADER.get(type(node))
    if write is None:
        raise _Unknown
    comments = _comments_in(statement)
    writer = _Writer(commented=bool(comments))
    body = write(writer, node)
    if sorted(writer.comments) != sorted(comments):
        raise _Unknown
    return head, body


def _comments_in(node: cst.CSTNode) -> list[str]:
    if isinstance(node, cst.Comment):
        return [node.value]
    return [comment for child in node.children for comment in _comments_in(child)]


# --- levels --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Level:
    """``bracketed``: inside brackets. named: the group of the optional parentheses that this is the content of."""

    bracketed: bool = False
    named: int = 0

    def line(self, flat: str) -> Document:
        if self.bracketed:
            return Line(flat)
        return Line(flat, self.named) if self.named else flat

    def group(self, body: Document) -> Document:
        if self.bracketed:
            return Group(body)
        return Group(body, only_in=self.named) if self.named else body

    def brackets(self, left: str, body: Document, right: str, *, expanded: bool = False) -> Document:
        """A body in brackets, on lines of its own if it breaks."""
        group = Group((left, Indent((Line(), body)), Line(), right), expanded)
        return Loose(group, self.named) if self.named else group


_OPEN, _INSIDE = _Level(), _Level(bracketed=True)


# --- what may go without optional parentheses ------------------------------------------------------------

_PRECEDENCES: dict[type, int] = {
    cst.Power: 2,
    cst.Multiply: 3,
    cst.MatrixMultiply: 3,
    cst.Divide: 3,
    cst.FloorDivide: 3,
    cst.Modulo: 3,
    cst.Add: 4,
    cst.Subtract: 4,
    cst.LeftShift: 5,
    cst.RightShift: 5,
    cst.BitAnd: 6,
    cst.BitXor: 7,
    cst.BitOr: 8,
    cst.And: 10,
    cst.Or: 10,
}
_COMPARISON, _CONDITIONAL, _ATTRIBUTE = 9, 11, 1
_BINDING = {**_PRECEDENCES, cst.Or: 12, cst.And: 11}
"""How weakly an operator binds: a line breaks at the weakest ones first."""


class _Shape:
    """What an expression is made of outside all brackets."""

    def __init__(self, node: cst.BaseExpression) -> None:
        self.brackets = False
        self.precedence = 0
        self.count = 0
        self.first: cst.BaseExpression | None = None
        self.starts_with_token = False
        self.last = node
        self._look_into(node)

    def _operator(self, precedence: int, count: int = 1) -> None:
        if precedence > self.precedence:
            self.precedence, self.count = precedence, count
        elif precedence == self.precedence:
            self.count += count

    def _look(self, node: cst.BaseExpression) -> None:
        self.last = node
        if _is_parenthesised(node):
            self.brackets = True
        else:
            self._look_into(node)
        if self.first is None and not self.starts_with_token:
            self.first = node

    def _look_into(self, node: cst.BaseExpression) -> None:
        if isinstance(node, _BRACKETED):
            self.brackets = True
        elif isinstance(node, (cst.Call, cst.Subscript)):
            self.brackets = True
            self._look(node.func if isinstance(node, cst.Call) else node.value)
            self.last = node
        elif isinstance(node, cst.Attribute):
            self._look(node.value)
            if _has_brackets(node.value):
                self._operator(_ATTRIBUTE)
            self.last = node
        else:
            self._look_into_operators(node)

    def _look_into_operators(self, node: cst.BaseExpression) -> None:
        if isinstance(node, _BINARY):
            self._operator(_PRECEDENCES[type(node.operator)])
            self._look(node.left)
            self._look(node.right)
        elif isinstance(node, cst.Comparison):
            self._operator(_COMPARISON, len(node.comparisons))
            for part in (node.left, *(c.comparator for c in node.comparisons)):
                self._look(part)
        elif isinstance(node, cst.IfExp):
            self._operator(_CONDITIONAL, 2)
            for part in (node.body, node.test, node.orelse):
                self._look(part)
        elif isinstance(node, cst.UnaryOperation):
            self.starts_with_token = self.starts_with_token or self.first is None
            self._look(node.expression)
        elif isinstance(node, cst.Lambda):
            self.starts_with_token = self.starts_with_token or self.first is None
            self._look(node.body)


def _is_parenthesised(node: cst.CSTNode) -> bool:
    return bool(getattr(node, "lpar", ())) and not isinstance(node, (cst.Tuple, cst.GeneratorExp))


def _has_brackets(node: cst.BaseExpression) -> bool:
    return _is_parenthesised(node) or isinstance(node, (*_BRACKETED, cst.Call, cst.Subscript))


def _has_filled_brackets(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        return bool(node.args)
    if isinstance(node, (cst.List, cst.Set, cst.Dict, cst.Tuple)):
        return bool(node.elements)
    return isinstance(node, _BRACKETED) or _is_parenthesised(node)


def _may_omit_parentheses(node: cst.BaseExpression) -> bool:
    """Whether the brackets at one end of an expression break before it gets parentheses of its own."""
    shape = _Shape(node)
    if not shape.brackets or shape.count > 1:
        return False
    if shape.precedence == 0 and isinstance(node, cst.Lambda):
        return False
    return _has_filled_brackets(shape.last) or (shape.first is not None and _has_filled_brackets(shape.first))


def _is_chain(node: cst.BaseExpression) -> bool:
    """Whether at least two attributes are asked of calls, subscripts or parentheses."""
    dots = 0
    while True:
        if isinstance(node, cst.Attribute):
            node = node.value
            dots += _is_parenthesised(node) or isinstance(node, (cst.Call, cst.Subscript))
        elif isinstance(node, cst.Call):
            node = node.func
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            return dots > 1
        if _is_parenthesised(node):
            return dots > 1


# --- expressions ---------------------------------------------------------------------------------------


def _text(node: cst.CSTNode) -> str:
    """The code of a node that does not break. Raises _Unknown if it goes over several lines."""
    text = _MODULE.code_for_node(node)
    if "\n" in text or "\r" in text:
        raise _Unknown
    return text


def _bare(node: Node) -> Node:
    """An expression without parentheses around it."""
    return node.with_changes(lpar=(), rpar=()) if _is_parenthesised(node) else node


class _Writer:
    """Turns the parts of one logical line into documents. Groups get their names here."""

    def __init__(self, *, commented: bool) -> None:
        self._names = itertools.count(1)
        self._commented = commented
        self.comments: list[str] = []
        """Those that the documents contain."""

    # --- whole values

    def value(self, node: cst.BaseExpression, *, returned: bool = False) -> Document:
        """The value of a statement, with optional parentheses where it needs them. returned: by ``return``, where a pair
        goes without parentheses if breaking its own brackets is enough."""
        node = _bare(node)
        if isinstance(node, cst.Tuple) and not node.lpar and node.elements:
            elements = node.elements
            return self._parenthesised_if_broken(
                lambda level: self._elements(elements, level),
                loose=returned and len(elements) == 2,
                expanded=_magic(elements),
            )
        kind = self._optional(node)
        if kind == "never":
            return self.expression(node, _OPEN)
        if kind == "best fit":
            return Choice(_text(node))
        if _may_omit_parentheses(node):
            return self._parenthesised_if_broken(lambda level: self.expression(node, level), loose=True)
        return self._parenthesised_if_broken(lambda level: self.expression(node, level))

    def _parenthesised_if_broken(
        self, write: Callable[[_Level], Document], *, loose: bool = False, expanded: bool = False
    ) -> Document:
        """A body that gets parentheses if it breaks. loose: only if breaking its own brackets is not enough."""
        name = next(self._names)
        body = write(_Level(named=name) if loose else _INSIDE)
        parts = (IfBroken("("), Indent((Line(), body), only_in=name), Line(), IfBroken(")"))
        return Group(parts, expanded, name)

    def _optional(self, node: cst.BaseExpression) -> str:
        """Whether a value gets parentheses: "never", "best fit" or "if broken"."""
        if isinstance(node, (cst.Call, cst.Subscript)):
            if _is_chain(node):
                return "if broken"
            inner = node.func if isinstance(node, cst.Call) else node.value
            found = "never" if _is_parenthesised(inner) else self._optional(inner)
            return "never" if found == "best fit" else found
        if isinstance(node, cst.Attribute):
            if _is_chain(node):
                return "if broken"
            if isinstance(node.value, cst.Name):
                return "best fit"
            return "never" if _is_parenthesised(node.value) else self._optional(node.value)
        if isinstance(node, (*_PLAIN, *_STRINGS)):
            return "best fit"
        if isinstance(node, cst.UnaryOperation):
            return "never" if _is_parenthesised(node.expression) else "if broken"
        return "never" if isinstance(node, (*_BRACKETED, cst.Lambda)) else "if broken"

    # --- expressions

    def expression(self, node: cst.BaseExpression, level: _Level) -> Document:
        """An expression, in the parentheses that are written around it; as it stands if comments have no place otherwise."""
        if not self._commented:
            return self._written(node, level)
        before, inside = len(self.comments), _comments_in(node)
        try:
            body = self._written(node, level)
        except _Unknown:
            if not inside:
                raise
            body = ""
        if len(self.comments) == before + len(inside):
            return body
        self.comments[before:] = inside
        return _verbatim(node)

    def _written(self, node: cst.BaseExpression, level: _Level) -> Document:
        if _is_parenthesised(node):
            return level.brackets("(", self.expression(_bare(node), _INSIDE), ")")
        if isinstance(node, (*_PLAIN, *_STRINGS)):
            return _text(node)
        for kind, write in _EXPRESSIONS:
            if isinstance(node, kind):
                return write(self, node, level)
        raise _Unknown

    def attribute(self, node: cst.Attribute, level: _Level) -> Document:
        return self._chain(node, level)

    def call(self, node: cst.Call, level: _Level) -> Document:
        return self._chain(node, level)

    def subscript(self, node: cst.Subscript, level: _Level) -> Document:
        return self._chain(node, level)

    def _chain(self, node: cst.BaseExpression, level: _Level) -> Document:
        """Attributes, calls and subscripts of one another."""
        breaks = _is_chain(node)
        parts: list[Document] = []
        while not _is_parenthesised(node) or not parts:
            if isinstance(node, cst.Attribute):
                parts.append("." + node.attr.value)
                node = node.value
                if breaks and (_is_parenthesised(node) or isinstance(node, (cst.Call, cst.Subscript))):
                    parts.append(level.line(""))
            elif isinstance(node, cst.Call):
                parts.append(self._arguments(node, level))
                node = node.func
            elif isinstance(node, cst.Subscript):
                parts.append(self._slices(node, level))
                node = node.value
            else:
                break
        whole = (self.expression(node, level), *reversed(parts))
        return level.group(whole) if breaks else whole

    def _arguments(self, node: cst.Call, level: _Level) -> Document:
        if not node.args:
            return "()"
        if len(node.args) == 1 and isinstance(node.args[0].value, cst.GeneratorExp) and not node.args[0].star:
            inner = node.args[0].value
            if node.args[0].keyword is None and not inner.lpar:
                return level.brackets("(", self._comprehension(inner), ")")
        magic = isinstance(node.args[-1].comma, cst.Comma)
        arguments = [self._argument(argument) for argument in node.args]
        first, remarks = _remarks_of(node)
        if first or any(remarks):
            parts = [self._with_remarks(*pair) for pair in zip(arguments, remarks, strict=True)]
            return self._commented_arguments(first, parts, level)
        if len(arguments) == 1 and not magic:
            return level.brackets("(", arguments[0], ")")
        body = Group((self._joined(arguments), IfBroken(",")), magic)
        return level.brackets("(", body, ")")

    def _argument(self, node: cst.Arg) -> Document:
        head = f"{node.keyword.value}=" if node.keyword is not None else node.star
        return head, self.expression(node.value, _INSIDE)

    def _commented_arguments(self, first: tuple[str, ...], parts: list[Document], level: _Level) -> Document:
        """Arguments on lines of their own. first: the comment behind the opening bracket."""
        self.comments += first
        head = "".join(["(", *(f"  {comment}" for comment in first)])
        return level.brackets(head, Group(self._lines(parts), expanded=True), ")", expanded=True)

    def _with_remarks(self, body: Document, remarks: _Remarks) -> Document:
        """An argument between its comments."""
        self.comments += remarks.all()
        above = tuple(part for comment in remarks.above for part in (comment, Line()))
        return (*above, body, ",", *(f"  {comment}" for comment in remarks.behind))

    def _lines(self, parts: Iterable[Document]) -> Document:
        """Parts that stand on lines of their own, in a group that breaks."""
        out: list[Document] = []
        for part in parts:
            out += [Line(), part] if out else [part]
        return tuple(out)

    def _joined(self, parts: Sequence[Document], level: _Level = _INSIDE) -> Document:
        out: list[Document] = []
        for part in parts:
            out += [part, ",", level.line(" ")]
        return tuple(out[:-2])

    def _slices(self, node: cst.Subscript, level: _Level) -> Document:
        parts = [self._slice(element.slice) for element in node.slice]
        if len(parts) == 1 and not isinstance(node.slice[0].comma, cst.Comma):
            return level.brackets("[", parts[0], "]")
        if len(parts) == 1:
            return level.brackets("[", (parts[0], ","), "]")
        magic = isinstance(node.slice[-1].comma, cst.Comma)
        return level.brackets("[", Group((self._joined(parts), IfBroken(",")), magic), "]")

    def _slice(self, node: cst.BaseSlice) -> Document:
        if isinstance(node, cst.Index) and node.star is None:
            return self.expression(node.value, _INSIDE)
        return _text(node)

    def _elements(self, elements: Sequence[Any], level: _Level = _INSIDE) -> Document:
        return self._joined([self._element(element, level) for element in elements], level), IfBroken(",")

    def _element(self, node: cst.CSTNode, level: _Level) -> Document:
        if isinstance(node, cst.DictElement):
            return self.expression(node.key, level), ": ", self.expression(node.value, level)
        if isinstance(node, cst.StarredDictElement):
            return "**", self.expression(node.value, level)
        if isinstance(node, cst.StarredElement):
            return "*", self.expression(node.value, level)
        assert isinstance(node, cst.Element)
        return self.expression(node.value, level)

    def display(self, node: cst.List | cst.Set | cst.Dict | cst.Tuple, level: _Level) -> Document:
        """A list, set, dict or tuple that is written out."""
        left, right = _ENDS[type(node)]
        if not node.elements:
            return left + right
        lone = isinstance(node, cst.Tuple) and len(node.elements) == 1
        magic = _magic(node.elements) and not lone
        if len(node.elements) == 1 and not magic:
            return level.brackets(left, (self._element(node.elements[0], _INSIDE), "," if lone else ""), right)
        return level.brackets(left, self._elements(node.elements), right, expanded=magic)

    def comprehension(self, node: Any, level: _Level) -> Document:
        left, right = _ENDS[type(node)]
        return level.brackets(left, self._comprehension(node), right)

    def _comprehension(self, node: Any) -> Document:
        if isinstance(node, cst.DictComp):
            head: Document = (self.expression(node.key, _INSIDE), ": ", self.expression(node.value, _INSIDE))
        else:
            head = self.expression(node.elt, _INSIDE)
        parts: list[Document] = [Group(head)]
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            if clause.asynchronous is not None:
                raise _Unknown
            parts.append(Line(" "))
            parts.append(Group((f"for {_text(clause.target)} in ", self.expression(clause.iter, _INSIDE))))
            for test in clause.ifs:
                parts.append((Line(" "), Group(("if ", self.expression(test.test, _INSIDE)))))
            clause = clause.inner_for_in
        return Group(tuple(parts))

    def lambda_(self, node: cst.Lambda, level: _Level) -> Document:
        params = _text(node.params)
        head = f"lambda {params}: " if params else "lambda: "
        body = _bare(node.body)
        if isinstance(body, cst.Lambda) or self._optional(body) == "if broken":
            return head, self._parenthesised_if_broken(lambda inner: self.expression(body, inner))
        return head, self.expression(body, level)

    def unary(self, node: cst.UnaryOperation, level: _Level) -> Document:
        return _text(node.operator), self.expression(node.expression, level)

    def conditional(self, node: cst.IfExp, level: _Level) -> Document:
        parts: list[Document] = []
        rest: cst.BaseExpression = node
        while isinstance(rest, cst.IfExp) and not (parts and _is_parenthesised(rest)):
            body, test = self.expression(rest.body, level), self.expression(rest.test, level)
            parts += [level.group(body), level.line(" "), "if ", level.group(test), level.line(" "), "else "]
            rest = rest.orelse
        return level.group((*parts, level.group(self.expression(rest, level))))

    # --- operators

    def comparison(self, node: cst.Comparison, level: _Level) -> Document:
        return self._operators(node, level)

    def binary(self, node: cst.BaseExpression, level: _Level) -> Document:
        return self._operators(node, level)

    def _operators(self, node: cst.BaseExpression, level: _Level) -> Document:
        operands, operators = _flat(node)
        return level.group(self._parts(operands, operators, level))

    def _parts(self, operands: list[cst.BaseExpression], operators: list[_Operator], level: _Level) -> Document:
        """Operands and the operators between them, broken at the operators that bind the weakest."""
        if not operators:
            return self.expression(operands[0], level)
        weakest = max(operator.binding for operator in operators)
        parts: list[Document] = []
        begin = 0
        for at, operator in enumerate([*operators, None]):
            if operator is not None and operator.binding < weakest:
                continue
            inner = self._parts(operands[begin : at + 1], operators[begin:at], level)
            parts.append(level.group(inner) if at > begin else inner)
            if operator is not None:
                glued = not operator.spaced
                parts += [operator.text] if glued else [level.line(" "), operator.text, " "]
            begin = at + 1
        return tuple(parts)

    # --- statements

    def expression_statement(self, node: cst.Expr) -> Document:
        if isinstance(node.value, (*_BINARY, cst.Comparison)):
            return self.value(node.value)
        return self.expression(node.value, _OPEN)

    def return_(self, node: cst.Return) -> Document:
        return "return" if node.value is None else ("return ", self.value(node.value, returned=True))

    def assign(self, node: cst.Assign, *, in_parentheses: bool = False) -> Document:
        head = "".join(f"{_text(target.target)} = " for target in node.targets)
        if in_parentheses:
            value = _bare(node.value)
            return head, self._parenthesised_if_broken(lambda level: self.expression(value, level), expanded=True)
        return head, self.value(node.value)

    def augmented(self, node: cst.AugAssign) -> Document:
        return f"{_text(node.target)} {_text(node.operator).strip()} ", self.value(node.value)

    def annotated(self, node: cst.AnnAssign) -> Document:
        head = f"{_text(node.target)}: {_text(node.annotation.annotation)}"
        return head if node.value is None else (head + " = ", self.value(node.value))

    def assert_(self, node: cst.Assert) -> Document:
        if node.msg is not None:
            raise _Unknown
        return "assert ", self.value(node.test)

    def import_from(self, node: cst.ImportFrom) -> Document:
        if isinstance(node.names, cst.ImportStar):
            return _text(node)
        origin = "." * len(node.relative) + (_text(node.module) if node.module is not None else "")
        names = [_text(name.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for name in node.names]
        magic = node.lpar is not None and isinstance(node.names[-1].comma, cst.Comma)
        body = (self._joined(names), IfBroken(","))
        return f"from {origin} import ", self._parenthesised_if_broken(lambda level: body, expanded=magic)

    # --- headers

    def if_(self, node: cst.If) -> Document:
        return "if ", self.value(node.test), ":"

    def while_(self, node: cst.While) -> Document:
        return "while ", self.value(node.test), ":"

    def for_(self, node: cst.For) -> Document:
        if node.asynchronous is not None:
            raise _Unknown
        return f"for {_text(node.target)} in ", self.value(node.iter), ":"


def _verbatim(node: cst.BaseExpression) -> Document:
    """The rows of an expression as they stand, moved as a whole.

    Raises:
        _Unknown: a string goes over several of them.
    """
    if any("\n" in string for string in _strings_in(node)):
        raise _Unknown
    first, *rows = _MODULE.code_for_node(node).split("\n")
    margin = min((len(row) - len(row.lstrip(" ")) for row in rows if row.strip()), default=0)
    return Group((first, *(part for row in rows for part in (Line(), row[margin:].rstrip()))), expanded=True)


def _strings_in(node: cst.CSTNode) -> list[str]:
    if isinstance(node, (*_STRINGS, cst.ConcatenatedString)):
        return [_MODULE.code_for_node(node)]
    return [string for child in node.children for string in _strings_in(child)]


@dataclass(frozen=True, slots=True)
class _Remarks:
    """The comments on the lines above an argument, and the one after it."""

    above: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        return self.above + self.behind

    def __bool__(self) -> bool:
        return bool(self.all())


def _remarks_of(node: cst.Call) -> tuple[tuple[str, ...], list[_Remarks]]:
    """The comment behind the opening bracket of a call, and those of each argument.

    Raises:
        _Unknown: one stands below the last argument.
    """
    first, above = _comments_of(node.whitespace_before_args)
    found: list[_Remarks] = []
    for argument in node.args:
        comma = argument.comma
        behind, below = _comments_of(
            comma.whitespace_after if isinstance(comma, cst.Comma) else argument.whitespace_after_arg
        )
        found.append(_Remarks(above, behind))
        above = below
    if above:
        raise _Unknown
    return first, found


def _comments_of(space: cst.BaseParenthesizableWhitespace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The comment on the line where a space begins, and those on the lines below."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return (), ()
    first = space.first_line.comment
    below = tuple(line.comment.value for line in space.empty_lines if line.comment is not None)
    return ((first.value,) if first is not None else ()), below


def _magic(elements: Sequence[Any]) -> bool:
    return isinstance(elements[-1].comma, cst.Comma)


@dataclass(frozen=True, slots=True)
class _Operator:
    text: str
    binding: int
    spaced: bool


def _flat(node: cst.BaseExpression) -> tuple[list[cst.BaseExpression], list[_Operator]]:
    """The operands outside parentheses, and the operators between them."""
    parts: list[tuple[cst.CSTNode, cst.BaseExpression]]
    if isinstance(node, cst.Comparison):
        parts = [(c.operator, c.comparator) for c in node.comparisons]
    elif isinstance(node, _BINARY):
        parts = [(node.operator, node.right)]
    else:
        return [node], []
    operands, operators = _inner(node.left)
    for operator, right in parts:
        text = _MODULE.code_for_node(operator)
        binding = _BINDING.get(type(operator), _COMPARISON)
        operators.append(_Operator(" ".join(text.split()), binding, spaced=text.strip() != text))
        more, between = _inner(right)
        operands += more
        operators += between
    return operands, operators


def _inner(node: cst.BaseExpression) -> tuple[list[cst.BaseExpression], list[_Operator]]:
    return ([node], []) if _is_parenthesised(node) else _flat(node)


_EXPRESSIONS: tuple[tuple[Any, Callable[[_Writer, Any, _Level], Document]], ...] = (
    (cst.Attribute, _Writer.attribute),
    (cst.Call, _Writer.call),
    (cst.Subscript, _Writer.subscript),
    (cst.Comparison, _Writer.comparison),
    (_BINARY, _Writer.binary),
    ((cst.List, cst.Set, cst.Dict, cst.Tuple), _Writer.display),
    ((cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp), _Writer.comprehension),
    (cst.Lambda, _Writer.lambda_),
    (cst.UnaryOperation, _Writer.unary),
    (cst.IfExp, _Writer.conditional),
)
_SIMPLE: dict[type, Callable[[_Writer, Any], Document]] = {
    cst.Expr: _Writer.expression_statement,
    cst.Return: _Writer.return_,
    cst.Assign: _Writer.assign,
    cst.AugAssign: _Writer.augmented,
    cst.AnnAssign: _Writer.annotated,
    cst.ImportFrom: _Writer.import_from,
    cst.Assert: _Writer.assert_,
}
_HEADER: dict[type, Callable[[_Writer, Any], Document]] = {
    cst.If: _Writer.if_,
    cst.While: _Writer.while_,
    cst.For: _Writer.for_,
}
