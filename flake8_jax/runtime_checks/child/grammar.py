"""The text of inputs: ``f32[8,128]``, ``key``, ``{"w": f32[3,3]}``, ``f32[n,3], n=4, mode="fast"``.

Vocabulary
----------
spec     what a value looks like: an array's dtype and shape, a key, a literal, a container of specs.
dim      one dimension of a shape: a number, a name (``n``), or an expression of both (``2*n+1``).
case     the inputs of one call: positional specs and keyword ones. A keyword that names a dim and is no parameter of
         the function binds the dim.

The grammar is Python's, read with ``ast``, plus the empty shape ``f32[]``. Annotations of jaxtyping
(``Float[Array, "n 3"]``) are specs as well. There are no names for values of user-defined classes.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

Dim = Union[int, str]
_FIRST_DEFAULT = 4

DTYPES = {
    "bool": "bool", "pred": "bool",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "i2": "int2", "i4": "int4", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "u2": "uint2", "u4": "uint4", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "c64": "complex64", "c128": "complex128",
    "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2",
    "f8_e4m3b11fnuz": "float8_e4m3b11fnuz", "f8_e4m3fnuz": "float8_e4m3fnuz", "f8_e5m2fnuz": "float8_e5m2fnuz",
}  # fmt: skip
"""Short names of dtypes, as JAX prints them, and their full names, which are understood as well."""

SHORT = {full: short for short, full in reversed(DTYPES.items()) if short != "pred"}
_JAXTYPING = {
    "Float": "float32", "Int": "int32", "Integer": "int32", "UInt": "uint32", "Bool": "bool", "Complex": "complex64",
    "Num": "float32", "Real": "float32", "Inexact": "float32", "Shaped": "float32", "Key": "key",
    **{name.title().replace("Bf", "BF").replace("Uint", "UInt"): name for name in DTYPES.values() if "_" not in name},
}  # fmt: skip
_NAMES = {"nan": math.nan, "inf": math.inf}


class InputError(Exception):
    """A text that is no input, or one that cannot be made; the message says where and why."""


@dataclass(frozen=True)
class Array:
    """An array. weak: with a weak type, as a Python number gives. host: a NumPy array."""

    dtype: str
    dims: tuple[Dim, ...] = ()
    weak: bool = False
    host: bool = False


@dataclass(frozen=True)
class Key:
    """A PRNG key, or an array of them. legacy: ``uint32[…, 2]`` as ``jax.random.PRNGKey`` makes."""

    dims: tuple[Dim, ...] = ()
    implementation: str | None = None
    legacy: bool = False


@dataclass(frozen=True)
class Literal:
    """A Python value."""

    value: Any


@dataclass(frozen=True)
class Items:
    """A tuple, list or dict of specs. kind: its name; keys: those of a dict."""

    kind: str
    items: tuple[Spec, ...]
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Made:
    """An object of a class of the user's, made from specs of its fields. No text stands for it."""

    cls: type
    fields: tuple[tuple[str, Spec], ...]


Spec = Union[Array, Key, Literal, Items, Made]


@dataclass(frozen=True)
class Case:
    """The inputs of one call."""

    args: tuple[Spec, ...] = ()
    kwargs: Mapping[str, Spec] = field(default_factory=dict)

    def specs(self) -> Iterator[Spec]:
        """All of them."""
        yield from self.args
        yield from self.kwargs.values()

    def bindings(self) -> dict[str, int]:
        """The keywords that name a dim of this case."""
        names = set(dim_names(self.specs()))
        return {
            name: spec.value
            for name, spec in self.kwargs.items()
            if name in names and isinstance(spec, Literal) and type(spec.value) is int
        }


def parse(text: str) -> Spec:
    """The spec of one value. Raises InputError."""
    case = parse_case(text)
    if len(case.args) != 1 or case.kwargs:
        raise InputError(f"`{text}` is {len(case.args) + len(case.kwargs)} inputs, one was expected")
    return case.args[0]


def parse_case(text: str) -> Case:
    """The inputs of a call, separated by commas. Raises InputError."""
    reader = _Reader(text)
    call = reader.call()
    names: dict[str, Spec] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise reader.error(keyword.value, "`**` is not understood; write name=value")
        names[keyword.arg] = reader.spec(keyword.value)
    return Case(tuple(reader.spec(node) for node in call.args), names)


def dim_names(specs: Iterable[Spec]) -> list[str]:
    """Names of dims in the order in which they appear."""
    found: dict[str, None] = {}
    for spec in specs:
        if isinstance(spec, Items):
            found.update(dict.fromkeys(dim_names(spec.items)))
        elif isinstance(spec, Made):
            found.update(dict.fromkeys(dim_names([field for _, field in spec.fields])))
        elif not isinstance(spec, Literal):
            for dim in spec.dims:
                if isinstance(dim, str):
                    names = (node.id for node in ast.walk(ast.parse(dim, mode="eval")) if isinstance(node, ast.Name))
                    found.update(dict.fromkeys(names))
    return list(found)


def default_dims(specs: Iterable[Spec], given: Mapping[str, int]) -> dict[str, int]:
    """A size for every name. Those not given get 4, 5, 6 …: sizes that differ show which dims were mixed up."""
    sizes = dict(given)
    size = _FIRST_DEFAULT
    for name in dim_names(specs):
        if name not in sizes:
            while size in sizes.values():
                size += 1
            sizes[name] = size
    return sizes


def shape_of(dims: Iterable[Dim], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Numbers for dims. Raises InputError where a dim comes out negative."""
    shape = []
    for dim in dims:
        size = dim if isinstance(dim, int) else _evaluate(ast.parse(dim, mode="eval").body, sizes)
        if size < 0:
            raise InputError(f"dimension {dim} is {size}, which is not a size")
        shape.append(size)
    return tuple(shape)


def _evaluate(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant):
        return int(node.value)  # type: ignore[arg-type]  # the reader let only integers in
    if isinstance(node, ast.Name):
        return sizes[node.id]
    assert isinstance(node, ast.BinOp)
    left, right = _evaluate(node.left, sizes), _evaluate(node.right, sizes)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if right == 0:
        raise InputError(f"dimension {ast.unparse(node)} divides by 0")
    return left // right


_EMPTY_SHAPE = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<=[\w)])\[(\s*)\]""")
_PREFIX = "_("


class _Reader:
    """Reads one text; knows where in it a node is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._added: list[int] = []  # where `()` was put into an empty shape, in the text that Python reads

        def filled(match: re.Match[str]) -> str:
            if match[1] is not None:
                return match[1]
            self._added.append(len(_PREFIX) + match.start() + 1 + 2 * len(self._added))
            return f"[(){match[2]}]"

        self._python = _PREFIX + _EMPTY_SHAPE.sub(filled, text.replace("\n", " ")) + "\n)"

    def call(self) -> ast.Call:
        try:
            parsed = ast.parse(self._python, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            column = getattr(error, "offset", None) or 1
            raise self._error(column - 1, str(getattr(error, "msg", error))) from error
        if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, ast.Name):  # `1)(2`
            raise self._error(len(_PREFIX), "a parenthesis closes too early")
        return parsed

    def error(self, node: ast.expr, message: str) -> InputError:
        before = self._python.encode()[: node.col_offset].decode(errors="ignore")  # offsets of ast are in bytes
        return self._error(len(before), message)

    def _error(self, offset: int, message: str) -> InputError:
        column = offset - len(_PREFIX) - 2 * sum(added < offset for added in self._added)
        return InputError(f"`{self._text}`, column {max(1, min(column + 1, len(self._text) + 1))}: {message}")

    def spec(self, node: ast.expr) -> Spec:
        try:
            return Literal(ast.literal_eval(node))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass  # there is a spec in it
        if isinstance(node, (ast.Tuple, ast.List)):
            return Items(type(node).__name__.lower(), tuple(self.spec(element) for element in node.elts))
        if isinstance(node, ast.Dict):
            return self._dict(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._named(node)

    def _dict(self, node: ast.Dict) -> Items:
        keys = []
        for key in node.keys:
            try:
                keys.append(ast.literal_eval(key) if key is not None else None)
                hash(keys[-1])
            except (ValueError, TypeError) as error:
                raise self.error(key or node, "a key of a dict is a Python literal") from error
            if key is None:
                raise self.error(node, "`**` is not understood in a dict")
        return Items("dict", tuple(self.spec(value) for value in node.values), tuple(keys))

    def _named(self, node: ast.expr) -> Spec:
        if isinstance(node, ast.Name) and node.id in _NAMES:
            return Literal(_NAMES[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.spec(node.operand)
            if isinstance(inner, Literal) and isinstance(inner.value, float):
                return Literal(-inner.value)
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and node.left.id == "legacy":
            inner = self.spec(node.right)
            if isinstance(node.op, ast.Sub) and isinstance(inner, Key):  # `legacy-key`, to Python a difference
                return Key(inner.dims, legacy=True)
        key = self._key(node)
        if key is not None:
            return key
        if isinstance(node, ast.Name) and (node.id in DTYPES or node.id in DTYPES.values()):
            raise self.error(node, f"{node.id} needs a shape: {node.id}[] is a scalar, {node.id}[8,128] an array")
        raise self.error(node, f"`{ast.unparse(node)}` is not an input; an array is f32[8,128], a key is `key`")

    def _key(self, node: ast.expr) -> Key | None:
        """``key``, ``key("rbg")``."""
        if isinstance(node, ast.Name) and node.id == "key":
            return Key()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "key":
            if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                return Key(implementation=node.args[0].value)
            raise self.error(node, 'key(…) takes the name of an implementation: key("rbg")')
        return None

    def _call(self, node: ast.Call) -> Spec:
        key = self._key(node)
        if key is not None:
            return key
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("weak", "numpy") and len(node.args) == 1 and not node.keywords:
            inner = self.spec(node.args[0])
            if isinstance(inner, Array):
                return Array(inner.dtype, inner.dims, weak=name == "weak", host=name == "numpy")
            raise self.error(node.args[0], f"{name}(…) takes an array: {name}(f32[3])")
        raise self.error(node, f"`{ast.unparse(node)}` cannot be made from text; write a function `cases()` for it")

    def _subscript(self, node: ast.Subscript) -> Spec:
        value = node.value
        key = self._key(value)
        if key is not None:
            return Key(self._dims(node.slice), key.implementation)
        name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
        if name in _JAXTYPING and isinstance(node.slice, ast.Tuple):
            return self._jaxtyping(name, node.slice)
        if name in DTYPES or name in DTYPES.values():
            return Array(DTYPES.get(name, name), self._dims(node.slice))
        shown = ast.unparse(value)
        raise self.error(value, f"`{shown}` is not a dtype; there are bool, f32, bf16, i32, u8, c64 … and key")

    def _jaxtyping(self, name: str, node: ast.Tuple) -> Spec:
        text = node.elts[-1]
        if len(node.elts) != 2 or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            raise self.error(node, f'{name}[…] takes an array type and a shape: {name}[Array, "n 3"]')
        try:
            return annotated(name, text.value)
        except InputError as error:
            raise self.error(text, str(error)) from error

    def _dims(self, node: ast.expr) -> tuple[Dim, ...]:
        return tuple(self._dim(element) for element in (node.elts if isinstance(node, ast.Tuple) else [node]))

    def _dim(self, node: ast.expr) -> Dim:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if not is_dim(node):
            raise self.error(node, f"`{ast.unparse(node)}` is not a dimension; use a number, a name, or n+1, 2*n, n//2")
        return ast.unparse(node)


def is_dim(node: ast.expr) -> bool:
    """Whether an expression is a number, a name, or a sum, difference, product or quotient of those."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)):
        return is_dim(node.left) and is_dim(node.right)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and type(node.value) is int)


def annotated(name: str, shape: str) -> Spec:
    """The spec of a jaxtyping annotation: the name of its class, and its shape text. Raises InputError.

    ``...`` stands for no dimension here, ``*batch`` for one, ``#n`` for ``n``.
    """
    dims: list[Dim] = []
    for number, word in enumerate(shape.split()):
        if word == "...":
            continue
        bare = word.lstrip("#*?").rpartition("=")[2]
        if bare in ("", "_"):
            bare = f"_{number}"
        try:
            node = ast.parse(bare, mode="eval").body
        except SyntaxError:
            node = None
        if node is None or not is_dim(node):
            raise InputError(f"`{word}` of `{shape}` is not a dimension that jaxlint can choose")
        dims.append(int(bare) if bare.isdigit() else ast.unparse(node))
    dtype = _JAXTYPING[name]
    return Key(tuple(dims)) if dtype == "key" else Array(dtype, tuple(dims))


def is_annotation(name: str) -> bool:
    """Whether a class of jaxtyping has this name."""
    return name in _JAXTYPING
