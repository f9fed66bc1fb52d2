"""What lowering should give, derived from CPython's ``ast``: the oracle of the tests in this folder.

Not derivable from ``ast`` and checked elsewhere: attributes' and names' inner offsets, the module's tables, and
positions inside f-strings, which CPython before 3.12 reports wrongly.
"""

from __future__ import annotations

import ast
import symtable
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.syntax.lower import line_starts

FIELD_POSITIONS = sys.version_info >= (3, 12)
UNCHECKED = {"paren", "attr_start", "name_start", "body_start", "local_names", "global_names", "nonlocal_names",
             "is_generator", "spec_text"}  # fmt: skip

_OPS: dict[str, str] = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>", "And": "and", "Or": "or",
    "Not": "not", "USub": "-", "UAdd": "+", "Invert": "~", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Eq": "==", "NotEq": "!=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip


class Oracle:
    """Converts one text's ``ast`` to the representation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        bounds = [*self.starts, len(text)]
        self.lines = [text[a:b] for a, b in pairwise(bounds)]
        self.n_functions = 0
        self.prefix = ""
        self.globals: set[str] = set()

    def module(self) -> list[ir.Stmt]:
        return self.body(ast.parse(self.text).body)

    def offset(self, row: int, column: int) -> int:
        line = self.lines[row - 1]
        if not line.isascii():
            column = len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))
        return self.starts[row - 1] + column

    def span(self, node: Any) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def body(self, nodes: list[Any]) -> list[Any]:
        return [self.node(node) for node in nodes]

    def optional(self, node: Any) -> Any:
        return None if node is None else self.node(node)

    def node(self, node: Any) -> Any:
        return getattr(self, "on_" + type(node).__name__)(node, *self.span(node))

    # expressions

    def on_Constant(self, node: Any, a: int, b: int) -> Any:
        value = node.value
        if value is None:
            return ir.Constant(a, b, "none", None)
        if value is ...:
            return ir.Constant(a, b, "ellipsis", None)
        if isinstance(value, bool):
            return ir.Constant(a, b, "bool", value)
        if isinstance(value, int):
            return ir.Constant(a, b, "int", value) if value < 2**63 else ir.Constant(a, b, "big", None)
        if isinstance(value, float):
            return ir.Constant(a, b, "big", None) if value == float("inf") else ir.Constant(a, b, "float", value)
        if isinstance(value, complex):
            return ir.Constant(a, b, "complex", None if value.imag == float("inf") else value.imag)
        if isinstance(value, bytes):
            return ir.Constant(a, b, "bytes", value.decode("latin-1"))
        return ir.Constant(a, b, "str", "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value))

    def on_Name(self, node: Any, a: int, b: int) -> Any:
        return ir.Name(a, b, node.id)

    def on_Attribute(self, node: Any, a: int, b: int) -> Any:
        return ir.Attribute(a, b, self.node(node.value), node.attr, 0)

    def on_Call(self, node: Any, a: int, b: int) -> Any:
        func = self.node(node.func)
        return ir.Call(a, b, func, self.arguments(node.args, node.keywords), 0)

    def arguments(self, args: list[Any], keywords: list[Any]) -> list[ir.Argument]:
        found = []
        for item in sorted([*args, *keywords], key=lambda item: self.span(item)):
            a, b = self.span(item)
            if isinstance(item, ast.Starred):
                found.append(ir.Argument(a, b, self.node(item.value), None, 1))
            elif isinstance(item, ast.keyword):
                found.append(ir.Argument(a, b, self.node(item.value), item.arg, 2 if item.arg is None else 0))
            else:
                found.append(ir.Argument(-1, -1, self.node(item)))
        return found

    def on_Subscript(self, node: Any, a: int, b: int) -> Any:
        return ir.Subscript(a, b, self.node(node.value), self.node(node.slice))

    def on_Slice(self, node: Any, a: int, b: int) -> Any:
        return ir.Slice(a, b, self.optional(node.lower), self.optional(node.upper), self.optional(node.step))

    def on_BinOp(self, node: Any, a: int, b: int) -> Any:
        return ir.BinOp(a, b, self.node(node.left), _OPS[type(node.op).__name__], self.node(node.right))

    def on_UnaryOp(self, node: Any, a: int, b: int) -> Any:
        return ir.UnaryOp(a, b, _OPS[type(node.op).__name__], self.node(node.operand))

    def on_BoolOp(self, node: Any, a: int, b: int) -> Any:
        return ir.BoolOp(a, b, _OPS[type(node.op).__name__], self.body(node.values))

    def on_Compare(self, node: Any, a: int, b: int) -> Any:
        left = self.node(node.left)
        return ir.Compare(a, b, left, [_OPS[type(op).__name__] for op in node.ops], self.body(node.comparators))

    def on_IfExp(self, node: Any, a: int, b: int) -> Any:
        body, test, orelse = self.node(node.body), self.node(node.test), self.node(node.orelse)
        return ir.IfExp(a, b, test, body, orelse)

    def on_Tuple(self, node: Any, a: int, b: int) -> Any:
        return ir.Tuple(a, b, self.body(node.elts))

    def on_List(self, node: Any, a: int, b: int) -> Any:
        return ir.List(a, b, self.body(node.elts))

    def on_Set(self, node: Any, a: int, b: int) -> Any:
        return ir.Set(a, b, self.body(node.elts))

    def on_Dict(self, node: Any, a: int, b: int) -> Any:
        pairs = [(self.optional(key), self.node(value)) for key, value in zip(node.keys, node.values)]
        return ir.Dict(a, b, [key for key, _ in pairs], [value for _, value in pairs])

    def on_Starred(self, node: Any, a: int, b: int) -> Any:
        return ir.Starred(a, b, self.node(node.value))

    def comprehension(self, kind: str, key: Any, element: Any, node: Any, a: int, b: int) -> Any:
        lowered_key, lowered = self.optional(key), self.node(element)
        generators = [
            ir.Generator(self.node(g.target), self.node(g.iter), self.body(g.ifs), bool(g.is_async))
            for g in node.generators
        ]
        return ir.Comprehension(a, b, kind, lowered_key, lowered, generators)

    def on_ListComp(self, node: Any, a: int, b: int) -> Any:
        return self.comprehension("list", None, node.elt, node, a, b)

    def on_SetComp(self, node: Any, a: int, b: int) -> Any:
        return self.comprehension("set", None, node.elt, node, a, b)

    def on_GeneratorExp(self, node: Any, a: int, b: int) -> Any:
        return self.comprehension("generator", None, node.elt, node, a, b)

    def on_DictComp(self, node: Any, a: int, b: int) -> Any:
        return self.comprehension("dict", node.key, node.value, node, a, b)

    def on_FormattedValue(self, node: Any, a: int, b: int) -> Any:
        conversion = None if node.conversion == -1 else chr(node.conversion)
        value = self.node(node.value)
        spec = None if node.format_spec is None else self.body(node.format_spec.values)
        return ir.FormattedValue(a, b, value, conversion, spec)

    def on_JoinedStr(self, node: Any, a: int, b: int) -> Any:
        return ir.JoinedStr(a, b, self.body(node.values))

    def on_Await(self, node: Any, a: int, b: int) -> Any:
        return ir.Await(a, b, self.node(node.value))

    def on_Yield(self, node: Any, a: int, b: int) -> Any:
        return ir.Yield(a, b, self.optional(node.value))

    def on_YieldFrom(self, node: Any, a: int, b: int) -> Any:
        return ir.YieldFrom(a, b, self.node(node.value))

    def on_NamedExpr(self, node: Any, a: int, b: int) -> Any:
        return ir.NamedExpr(a, b, self.node(node.target), self.node(node.value))

    def on_Lambda(self, node: Any, a: int, b: int) -> Any:
        index = self.n_functions
        self.n_functions += 1
        params = self.parameters(node.args)
        outer, outer_globals = self.prefix, self.globals
        qualname = self.prefix + "<lambda>"
        self.prefix, self.globals = qualname + ".<locals>.", set()
        value = self.node(node.body)
        self.prefix, self.globals = outer, outer_globals
        body: list[ir.Stmt] = [ir.Return(-1, -1, value)]
        return ir.Lambda(a, b, ir.Function(index, "<lambda>", qualname, params, body, [], [], [], is_lambda=True))

    def parameters(self, node: Any) -> list[ir.Parameter]:
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
        found = []
        for index, (arg, default) in enumerate(zip(positional, defaults)):
            kind = "posonly" if index < len(node.posonlyargs) else "positional"
            found.append(self.parameter(arg, kind, default))
        if node.vararg is not None:
            found.append(self.parameter(node.vararg, "vararg", None))
        for arg, default in zip(node.kwonlyargs, node.kw_defaults):
            found.append(self.parameter(arg, "kwonly", default))
        if node.kwarg is not None:
            found.append(self.parameter(node.kwarg, "kwarg", None))
        return found

    def parameter(self, arg: Any, kind: str, default: Any) -> ir.Parameter:
        a, _ = self.span(arg)
        annotation = self.optional(arg.annotation)
        b = a + len(arg.arg) if arg.arg.isascii() else -1
        return ir.Parameter(a, b, arg.arg, kind, annotation, self.optional(default))

    # statements

    def on_FunctionDef(self, node: Any, a: int, b: int) -> Any:
        return self.function(node, a, b, False)

    def on_AsyncFunctionDef(self, node: Any, a: int, b: int) -> Any:
        return self.function(node, a, b, True)

    def function(self, node: Any, a: int, b: int, is_async: bool) -> Any:
        decorators = self.body(node.decorator_list)
        index = self.n_functions
        self.n_functions += 1
        params = self.parameters(node.args)
        returns = self.optional(node.returns)
        outer, outer_globals = self.prefix, self.globals
        qualname = node.name if node.name in self.globals else self.prefix + node.name
        self.prefix, self.globals = qualname + ".<locals>.", set()
        body = self.body(node.body)
        self.prefix, self.globals = outer, outer_globals
        function = ir.Function(index, node.name, qualname, params, body, [], [], [], is_async, returns=returns)
        return ir.FunctionDef(a, b, function, decorators, 0, 0)

    def on_ClassDef(self, node: Any, a: int, b: int) -> Any:
        decorators = self.body(node.decorator_list)
        bases = self.arguments(node.bases, node.keywords)
        outer, outer_globals = self.prefix, self.globals
        qualname = node.name if node.name in self.globals else self.prefix + node.name
        self.prefix, self.globals = qualname + ".", set()
        body = self.body(node.body)
        self.prefix, self.globals = outer, outer_globals
        return ir.ClassDef(a, b, node.name, qualname, bases, body, decorators, 0)

    def on_Return(self, node: Any, a: int, b: int) -> Any:
        return ir.Return(a, b, self.optional(node.value))

    def on_Assign(self, node: Any, a: int, b: int) -> Any:
        return ir.Assign(a, b, self.body(node.targets), self.node(node.value))

    def on_AnnAssign(self, node: Any, a: int, b: int) -> Any:
        return ir.AnnAssign(a, b, self.node(node.target), self.node(node.annotation), self.optional(node.value))

    def on_AugAssign(self, node: Any, a: int, b: int) -> Any:
        return ir.AugAssign(a, b, self.node(node.target), _OPS[type(node.op).__name__], self.node(node.value))

    def on_Expr(self, node: Any, a: int, b: int) -> Any:
        return ir.ExprStmt(a, b, self.node(node.value))

    def on_If(self, node: Any, a: int, b: int) -> Any:
        test, body, orelse = self.node(node.test), self.body(node.body), self.body(node.orelse)
        return ir.If(a, b, test, body, orelse, self.text.startswith("elif", a))

    def on_While(self, node: Any, a: int, b: int) -> Any:
        return ir.While(a, b, self.node(node.test), self.body(node.body), self.body(node.orelse))

    def on_For(self, node: Any, a: int, b: int, is_async: bool = False) -> Any:
        target, iterable = self.node(node.target), self.node(node.iter)
        return ir.For(a, b, target, iterable, self.body(node.body), self.body(node.orelse), is_async)

    def on_AsyncFor(self, node: Any, a: int, b: int) -> Any:
        return self.on_For(node, a, b, True)

    def on_Try(self, node: Any, a: int, b: int) -> Any:
        body = self.body(node.body)
        handlers = [ir.ExceptHandler(self.optional(h.type), h.name, self.body(h.body)) for h in node.handlers]
        return ir.Try(a, b, body, handlers, self.body(node.orelse), self.body(node.finalbody))

    on_TryStar = on_Try

    def on_With(self, node: Any, a: int, b: int, is_async: bool = False) -> Any:
        items = [ir.WithItem(self.node(item.context_expr), self.optional(item.optional_vars)) for item in node.items]
        return ir.With(a, b, items, self.body(node.body), is_async)

    def on_AsyncWith(self, node: Any, a: int, b: int) -> Any:
        return self.on_With(node, a, b, True)

    def on_Raise(self, node: Any, a: int, b: int) -> Any:
        return ir.Raise(a, b, self.optional(node.exc), self.optional(node.cause))

    def on_Assert(self, node: Any, a: int, b: int) -> Any:
        return ir.Assert(a, b, self.node(node.test), self.optional(node.msg))

    def on_Delete(self, node: Any, a: int, b: int) -> Any:
        return ir.Delete(a, b, self.body(node.targets))

    def on_Pass(self, node: Any, a: int, b: int) -> Any:
        return ir.Pass(a, b)

    def on_Break(self, node: Any, a: int, b: int) -> Any:
        return ir.Break(a, b)

    def on_Continue(self, node: Any, a: int, b: int) -> Any:
        return ir.Continue(a, b)

    def on_Global(self, node: Any, a: int, b: int) -> Any:
        self.globals.update(node.names)
        return ir.Global(a, b, node.names)

    def on_Nonlocal(self, node: Any, a: int, b: int) -> Any:
        return ir.Nonlocal(a, b, node.names)

    def names(self, node: Any) -> list[ir.ImportedName]:
        return [ir.ImportedName(*self.span(alias), alias.name, alias.asname) for alias in node.names]

    def on_Import(self, node: Any, a: int, b: int) -> Any:
        return ir.Import(a, b, self.names(node))

    def on_ImportFrom(self, node: Any, a: int, b: int) -> Any:
        return ir.ImportFrom(a, b, node.module or "", self.names(node), node.level)

    def on_TypeAlias(self, node: Any, a: int, b: int) -> Any:
        return ir.TypeAlias(a, b, node.name.id, self.node(node.value))

    # patterns

    def on_Match(self, node: Any, a: int, b: int) -> Any:
        subject = self.node(node.subject)
        cases = [ir.MatchCase(self.node(c.pattern), self.optional(c.guard), self.body(c.body)) for c in node.cases]
        return ir.Match(a, b, subject, cases)

    def on_MatchValue(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchValue(a, b, self.node(node.value))

    def on_MatchSingleton(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchValue(a, b, self.on_Constant(node, a, b))

    def on_MatchSequence(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchSequence(a, b, self.body(node.patterns))

    def on_MatchMapping(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchMapping(a, b, self.body(node.keys), self.body(node.patterns), node.rest)

    def on_MatchClass(self, node: Any, a: int, b: int) -> Any:
        cls, patterns = self.node(node.cls), self.body(node.patterns)
        return ir.MatchClass(a, b, cls, patterns, node.kwd_attrs, self.body(node.kwd_patterns))

    def on_MatchStar(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchStar(a, b, node.name)

    def on_MatchAs(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchAs(a, b, self.optional(node.pattern), node.name)

    def on_MatchOr(self, node: Any, a: int, b: int) -> Any:
        return ir.MatchOr(a, b, self.body(node.patterns))


def differences(got: Any, wanted: Any, path: str = "", positions: bool = True) -> Iterator[str]:
    """Where two representations differ. A wanted position of -1 is not checked; inside f-strings none may be."""
    if type(got) is not type(wanted):
        yield f"{path}: {got!r} instead of {wanted!r}"
    elif isinstance(got, list):
        if len(got) != len(wanted):
            yield f"{path}: {len(got)} items instead of {len(wanted)}: {got!r} instead of {wanted!r}"
            return
        for index, (one, other) in enumerate(zip(got, wanted)):
            yield from differences(one, other, f"{path}[{index}]", positions)
    elif isinstance(got, msgspec.Struct):
        inner = positions and (FIELD_POSITIONS or not isinstance(got, ir.JoinedStr))
        for field in got.__struct_fields__:
            one, other = getattr(got, field), getattr(wanted, field)
            if field in ("start", "end"):
                if positions and other != -1 and one != other:
                    where = f"{got.start}..{got.end} instead of {wanted.start}..{wanted.end}"
                    yield f"{path}: {type(got).__name__} at {where}"
            elif field not in UNCHECKED:
                yield from differences(one, other, f"{path}.{field}", inner)
    elif got != wanted:
        yield f"{path}: {got!r} instead of {wanted!r}"


def check_scopes(text: str, body: list[ir.Stmt]) -> Iterator[str]:
    """Where the names that functions bind differ from what the compiler's own symbol table says."""
    ignored = _placed_differently(ast.parse(text))
    tables: dict[tuple[str, int], list[Any]] = {}
    for table in _function_tables(symtable.symtable(text, "<text>", "exec")):
        tables.setdefault((table.get_name(), table.get_lineno()), []).append(table)
    for row, function in located_functions(body, line_starts(text)):
        found = tables.get(("lambda" if function.is_lambda else function.name, row), [])
        mangled = any(name.startswith("__") for name in function.local_names)
        if len(found) == 1 and not mangled:
            own = {symbol.get_name() for symbol in found[0].get_symbols() if symbol.is_local()}
            own = {name for name in own if not name.startswith(".")}
            wrong = (own ^ set(function.local_names)) - ignored
            if wrong:
                yield f"{function.qualname}: {sorted(wrong)}"


def _placed_differently(tree: ast.Module) -> set[str]:
    """Names that the symbol table places elsewhere: type parameters, and the targets of inlined comprehensions."""
    names = {parameter.name for node in ast.walk(tree) for parameter in getattr(node, "type_params", ())}
    if sys.version_info >= (3, 12):
        targets = (node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension))
        names |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return names


def check_slices(text: str, body: list[ir.Stmt]) -> Iterator[str]:
    """Where the text at a position is not what the node says; this covers what ``ast`` does not give."""
    for node in walk(body):
        wrong = False
        if isinstance(node, ir.Name):
            wrong = unicodedata.normalize("NFKC", text[node.start : node.end]) != node.id
        elif isinstance(node, ir.Attribute):
            wrong = unicodedata.normalize("NFKC", text[node.attr_start : node.end]) != node.attr
        elif isinstance(node, ir.Call):
            wrong = text[node.paren] != "(" or text[node.end - 1] != ")"
        elif isinstance(node, ir.FormattedValue):
            wrong = text[node.start] != "{" or text[node.end - 1] != "}"
        elif isinstance(node, ir.FunctionDef):
            name = node.function.name
            wrong = node.name_start < node.start or not (name.isascii() <= text.startswith(name, node.name_start))
            first = node.function.body[0]
            decorated = isinstance(first, (ir.FunctionDef, ir.ClassDef)) and first.decorators
            wrong |= text[node.body_start] != "@" if decorated else node.body_start != first.start
        elif isinstance(node, ir.ClassDef):
            wrong = not (node.name.isascii() <= text.startswith(node.name, node.name_start))
        if wrong:
            yield f"{type(node).__name__} at {node.start}..{node.end}: {text[node.start : node.end][:80]!r}"


def _function_tables(table: Any) -> Iterator[Any]:
    for child in table.get_children():
        if child.get_type() == "function" or str(child.get_type()).endswith("FUNCTION"):
            yield child
        yield from _function_tables(child)


def walk(node: Any) -> Iterator[Any]:
    """Every struct of a representation, parents before children, in source order."""
    if isinstance(node, list):
        for item in node:
            yield from walk(item)
    elif isinstance(node, msgspec.Struct):
        yield node
        for field in node.__struct_fields__:
            value = getattr(node, field)
            if isinstance(value, (list, msgspec.Struct)):
                yield from walk(value)


def walk_functions(body: Any) -> Iterator[ir.Function]:
    return (node for node in walk(body) if isinstance(node, ir.Function))


def located_functions(body: Any, starts: list[int]) -> Iterator[tuple[int, ir.Function]]:
    """Functions with the row at which the symbol table places them: the first decorator's or the def's."""
    for node in walk(body):
        if isinstance(node, ir.Lambda):
            yield bisect_right(starts, node.start), node.function
        elif isinstance(node, ir.FunctionDef):
            first = node.decorators[0].start if node.decorators else node.start
            yield bisect_right(starts, first), node.function


def disagreements(text: str, module: ir.Module) -> list[str]:
    """Everything in which a lowered text differs from what the interpreter itself says about the text."""
    found = list(differences(module.body, Oracle(text).module()))
    found += check_slices(text, module.body)
    found += check_scopes(text, module.body)
    if module.n_functions != sum(1 for _ in walk_functions(module.body)):
        found.append(f"{module.n_functions} functions counted")
    return found
