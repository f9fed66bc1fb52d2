"""JAX205: ``print`` of traced values becomes ``jax.debug.print``.

Vocabulary
----------
template    the format string under construction: source text between the quotes of a literal, fields as ``{name}``.
field       one value that the template interpolates, passed by keyword.

``jax.debug.print`` takes its values as arrays: an integer that needs 64 bits or a class raises, a shape is printed as arrays,
and a float in single precision. So the fix is safe where every field surely is traced, and not offered where one surely is
such a value.

Not offered, too: a literal brace before the first field, which makes ``jax.debug.print`` look for no field at all (JAX 0.10.2
raises), and ``%12s``, since ``str.format`` gives an array no width.

Limitations: ``logging`` and ``warnings`` (the log would lose its level), ``file=``, strings built elsewhere.
"""

from __future__ import annotations

import keyword
import re
import string
from dataclasses import dataclass, field

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._conditions import is_called_by_name
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._printed import decided_print, refuse_demonstration, refuse_static
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.semantics.events.events import LibraryCall, MethodCall

_NAMELESS = "value"
_RESERVED = frozenset(["fmt", "ordered", "partitioned", "args", "kwargs", "skip_format_check"])
_CONVERSION = re.compile(r"%(?:%|(?P<flags>[-+ 0#]*)(?P<width>\d*)(?P<precision>\.\d+)?(?P<type>[sdrfeEgGi]))|%")
_LITERAL = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quote>\"\"\"|'''|\"|')(?P<body>.*)(?P=quote)\Z", re.DOTALL)


@fixer("print-in-staged")
def fix(event: LibraryCall | MethodCall, source: FixSource) -> Fix | None:
    if not isinstance(event, LibraryCall) or event.name != "builtins.print" or not is_called_by_name(event, source):
        return None
    call = event.at
    refuse_demonstration(source, call)
    imports = Imports(source, call)
    separator = _separator(source, call)
    values = [a.value for a in call.args if not a.keyword]
    if any(a.star for a in call.args) or not values:
        return None
    for node, value in zip(event.nodes, event.args):
        if node is not None:
            refuse_static(source, node, value)
    if len(values) == 1 and (formatted := _format_call(source, imports, values[0], call)):
        return formatted
    template = _Template(source, imports)
    for at, printed in enumerate(values):
        if at:
            template.plain(separator)
        template.add(printed)
    if not template.fields or source.lost_comments(call.start, call.end, template.kept):
        return None
    text = f"{imports.spell('jax.debug.print')}({template.literal()}{template.arguments()})"
    fix = Fix("Print with `jax.debug.print`", "safe", (Edit(call.start, call.end, text), *imports.edits))
    return decided_print(fix, source, template.nodes)


def _separator(source: FixSource, call: ir.Call) -> str:
    """What stands between the arguments. ``end`` and ``flush`` only where they change nothing."""
    separator = " "
    for argument in call.args:
        value = argument.value
        if not argument.keyword:
            continue
        text = value.value if isinstance(value, ir.Constant) and value.kind in ("str", "bool", "none") else ...
        if argument.keyword == "sep" and (isinstance(text, str) or text is None):
            separator = " " if text is None else text
        elif argument.keyword == "flush" and isinstance(text, bool):
            continue
        elif argument.keyword != "end" or text not in ("\n", None):
            raise Refused
    return separator


@dataclass
class _Template:
    """Grows as arguments are added; the only mutable thing here."""

    source: FixSource
    imports: Imports
    parts: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    nodes: list[ir.Expr] = field(default_factory=list)
    kept: list[tuple[int, int]] = field(default_factory=list)

    def plain(self, text: str) -> None:
        """Add text as the literal's value has it."""
        self.parts.append(_escape(text).replace("{", "{{").replace("}", "}}"))

    def value(self, node: ir.Expr, spec: str = "", conversion: str = "") -> None:
        """Add a field."""
        if effect(node, self.imports) is Effect.EFFECT or isinstance(node, (ir.Constant, ir.JoinedStr, ir.Starred)):
            raise Refused
        refuse_static(self.source, node, None)
        self.nodes.append(node)
        text = self.source.argument(node)
        self.kept.append((node.start, node.end))
        name = self._name(node, text)
        self.fields[name] = text
        self.parts.append("{" + name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}")

    def _name(self, node: ir.Expr, text: str) -> str:
        base = _NAMELESS
        match node:
            case ir.Name(id=name) | ir.Attribute(attr=name):
                base = name
            case ir.Subscript(index=ir.Constant(kind="str", value=str(name))) if name.isidentifier():
                base = name
            case ir.Call(func=ir.Attribute(attr="get"), args=[first, *_]):
                known = first.value.value if isinstance(first.value, ir.Constant) else None
                base = known if isinstance(known, str) and known.isidentifier() else base
            case ir.Call(func=ir.Name(id=name) | ir.Attribute(attr=name)):
                base = name
        if base in _RESERVED or keyword.iskeyword(base) or base.startswith("_"):
            base = _NAMELESS
        name, number = base, 2
        while self.fields.get(name, text) != text:
            name, number = f"{base}_{number}", number + 1
        return name

    def add(self, node: ir.Expr) -> None:
        """Add one argument of ``print``, or one operand of a concatenation."""
        if isinstance(node, ir.JoinedStr):
            for part in node.values:
                self._f_string_part(part)
        elif isinstance(node, ir.Constant):
            self._constant(node)
        elif isinstance(node, ir.BinOp) and _is_text(node):
            self._operation(node)
        elif isinstance(node, ir.Call) and _is_str_call(node):
            self.value(node.args[0].value)
        else:
            self.value(node)

    def _constant(self, node: ir.Constant) -> None:
        if node.kind == "str":
            assert isinstance(node.value, str)
            self.plain(node.value)
        elif node.kind in ("int", "bool", "none"):
            self.plain(self.source.slice(node))
        else:
            raise Refused

    def _operation(self, node: ir.BinOp) -> None:
        """Add a concatenation of texts, or a text with ``%``."""
        if node.op == "%":
            self._percent(node)
            return
        for side in (node.left, node.right):
            if not _is_text(side):
                raise Refused
            self.add(side)

    def _f_string_part(self, part: ir.Expr) -> None:
        if isinstance(part, ir.Constant) and isinstance(part.value, str):
            self.plain(part.value)
            return
        if not isinstance(part, ir.FormattedValue):
            raise Refused
        if part.spec is not None and part.spec_text is None:
            raise Refused
        # ``{x=}`` puts ``x=`` into the constant before it; with no conversion of its own it asks for the repr.
        self.value(part.value, part.spec_text or "", part.conversion if part.conversion in ("r", "s", "a") else "")

    def _percent(self, node: ir.BinOp) -> None:
        if not isinstance(node.left, ir.Constant) or not isinstance(node.left.value, str):
            raise Refused
        operands = list(node.right.elts) if isinstance(node.right, ir.Tuple) else [node.right]
        end = 0
        text = node.left.value
        for match in _CONVERSION.finditer(text):
            self.plain(text[end : match.start()])
            end = match.end()
            if match[0] == "%%":
                self.plain("%")
            elif operands:
                self._conversion(match, operands.pop(0))
            else:
                raise Refused
        self.plain(text[end:])
        if operands:
            raise Refused

    def _conversion(self, match: re.Match[str], operand: ir.Expr) -> None:
        """Add a field for one conversion such as ``%5.2f``."""
        kind = match["type"]
        if kind is None or match["flags"] or (kind in "sr" and (match["width"] or match["precision"])):
            raise Refused
        spec = (match["width"] or "") + (match["precision"] or "") + ("" if kind in "srdi" else kind)
        self.value(operand, spec, "r" if kind == "r" else "")

    def literal(self) -> str:
        """Raises Refused for a text of which ``jax.debug.print`` would not find the fields."""
        text = "".join(self.parts)
        if not _opens_with_field(text):
            raise Refused
        shown = text.replace("{" + _NAMELESS, "{") if self.is_nameless() else text
        if "'" in shown:
            return f'"{shown}"'
        return self.source.quoted(shown) if '"' not in shown else "'" + shown.replace('\\"', '"') + "'"

    def arguments(self) -> str:
        """The values, each behind a comma."""
        named = not self.is_nameless()
        return "".join([f", {name}={text}" if named else f", {text}" for name, text in self.fields.items()])

    def is_nameless(self) -> bool:
        """There is one field, and the code gives no name to what it shows."""
        return list(self.fields) == [_NAMELESS] and "".join(self.parts).count("{" + _NAMELESS) == 1


def _opens_with_field(template: str) -> bool:
    """Whether no literal brace stands before the first field: ``jax.debug.print`` looks at the first piece alone."""
    _, name, _, _ = next(iter(string.Formatter().parse(template)))
    return name is not None


def _escape(text: str) -> str:
    """Text as the inside of a literal in double quotes."""
    return "".join(_escaped(c) for c in text)


def _escaped(char: str) -> str:
    if char == '"':
        return '\\"'
    if char == "'" or (char.isprintable() and char != "\\"):
        return char
    return repr(char)[1:-1]


def _is_str_call(node: ir.Call) -> bool:
    named = isinstance(node.func, ir.Name) and node.func.id in ("str", "repr")
    return named and len(node.args) == 1 and not node.args[0].star and not node.args[0].keyword


def _is_text(node: ir.Expr) -> bool:
    """Whether the text shows that this is a string."""
    if isinstance(node, ir.BinOp):
        return (node.op == "+" and (_is_text(node.left) or _is_text(node.right))) or (
            node.op == "%" and _is_text(node.left)
        )
    if isinstance(node, ir.Call):
        return _is_str_call(node)
    return isinstance(node, ir.JoinedStr) or (isinstance(node, ir.Constant) and node.kind == "str")


def _format_call(source: FixSource, imports: Imports, node: ir.Expr, call: ir.Call) -> Fix | None:
    """``print("…{:.2f}…".format(x))``: the arguments of ``format`` are those of ``jax.debug.print``."""
    if not isinstance(node, ir.Call) or not isinstance(node.func, ir.Attribute) or node.func.attr != "format":
        return None
    template = node.func.value
    if not isinstance(template, ir.Constant) or template.kind != "str" or not node.args:
        return None
    names = {a.keyword for a in node.args if a.keyword}
    if not isinstance(template.value, str) or not _opens_with_field(template.value):
        return None
    if any(a.star for a in node.args) or names & _RESERVED or _LITERAL.match(source.slice(template)) is None:
        return None
    arguments = source.text[node.args[0].start : node.args[-1].end]
    kept = [(template.start, template.end), (node.args[0].start, node.args[-1].end)]
    if source.lost_comments(call.start, call.end, kept):
        return None
    for argument in node.args:
        refuse_static(source, argument.value, None)
    text = f"{imports.spell('jax.debug.print')}({source.slice(template)}, {arguments})"
    fix = Fix("Print with `jax.debug.print`", "safe", (Edit(call.start, call.end, text), *imports.edits))
    return decided_print(fix, source, [argument.value for argument in node.args])
