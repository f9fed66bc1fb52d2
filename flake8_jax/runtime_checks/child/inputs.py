"""Inputs made from their text, real values as text, and inputs for a function without any.

Vocabulary
----------
spec, case, dim    see ``grammar``.
candidate          a spec that a parameter may want, the likeliest first. Limitations: classes of the
                   user but for dataclasses and named tuples.

Numbers depend on the seed and on the place of the array in its call, on nothing else: standard normal floats, integers
from 0 to 3 (so that they are valid indices wherever a dimension is 4 or more).
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
import sys
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child.grammar import (
    SHORT,
    Array,
    Case,
    InputError,
    Items,
    Key,
    Literal,
    Made,
    Spec,
    annotated,
    default_dims,
    is_annotation,
    parse,
    parse_case,
    shape_of,
)

__all__ = [
    "Case", "InputError", "Parameter", "Spec", "describe", "describe_case", "filled", "from_signature", "guesses", "make",
    "make_case", "parse", "parse_case", "shapes_of",
]  # fmt: skip

_LONGEST_REPR = 60
_GUESSED: tuple[Spec, ...] = (
    Array("float32", (8, 8)), Array("float32", (8,)), Array("float32", ()), Array("int32", (8,)), Array("int32", ()),
)  # fmt: skip
_PLAIN: tuple[Spec, ...] = (Literal(3), Literal(0.5), Items("list", (Literal(0.5), Literal(1.5))))
_SIZE_NAMES = re.compile(
    r"^(n|num|m|count|size|dim|dims|length|steps|iters|iterations|repeats|epochs|channels|features|seed|batch|width|depth|"
    r"hidden|vocab|kernel|degree|order)$|^(n|num)_|_(n|size|dim|steps|count|length|seed)$"
)
"""Names of parameters that are Python integers more often than arrays."""
_KEY_NAMES = frozenset({"key", "rng", "rng_key", "prng_key", "rngs", "random_key", "prng"})


def make(spec: Spec, seed: int = 0, dims: Mapping[str, int] | None = None) -> Any:
    """A value that looks like ``spec``.

    dims: sizes of named dimensions; those not given get default ones, which are the same within one call of this
    function (of ``make_case`` for a whole case). Raises InputError where this JAX cannot have such a value.
    """
    return _Maker(seed, default_dims([spec], dims or {})).value(spec)


def make_case(
    case: Case,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    parameters: Collection[str] | None = None,
    *,
    abstract: bool = False,
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments of one call.

    parameters: names that the function takes; a keyword that binds a dimension is passed on only if it is one of
    them (None: it takes any). abstract: ``jax.ShapeDtypeStruct`` instead of arrays and keys. Raises InputError.
    """
    bound = case.bindings()
    maker = _Maker(seed, default_dims(case.specs(), {**bound, **(dims or {})}), abstract)
    args = [maker.value(spec) for spec in case.args]
    kwargs = {
        name: maker.value(spec)
        for name, spec in case.kwargs.items()
        if name not in bound or parameters is None or name in parameters
    }
    return args, kwargs


class _Maker:
    """Makes the values of one call; counts the arrays so that no two have the same numbers."""

    def __init__(self, seed: int, sizes: Mapping[str, int], abstract: bool = False) -> None:
        self._seed = seed
        self._sizes = sizes
        self._abstract = abstract
        self._count = 0

    def value(self, spec: Spec) -> Any:
        if isinstance(spec, Literal):
            return spec.value
        if isinstance(spec, Items):
            made = [self.value(item) for item in spec.items]
            return dict(zip(spec.keys, made)) if spec.kind == "dict" else tuple(made) if spec.kind == "tuple" else made
        if isinstance(spec, Made):
            return spec.cls(**{name: self.value(item) for name, item in spec.fields})
        self._count += 1
        shape = shape_of(spec.dims, self._sizes)
        return self._key(spec, shape) if isinstance(spec, Key) else self._array(spec, shape)

    def _key(self, spec: Key, shape: tuple[int, ...]) -> Any:
        import jax

        number = self._seed * 1000 + self._count

        def key() -> Any:
            if spec.legacy:
                one = jax.random.PRNGKey(number)
            else:
                one = jax.random.key(number, impl=spec.implementation)
            return jax.random.split(one, shape) if shape else one

        try:
            return jax.eval_shape(key) if self._abstract else key()
        except ValueError as error:
            raise InputError(f'key("{spec.implementation}"): {str(error).splitlines()[0]}') from error

    def _array(self, spec: Array, shape: tuple[int, ...]) -> Any:
        import jax
        import jax.numpy as jnp
        import numpy as np

        text = spell(spec.dtype, shape)
        if not hasattr(jnp, spec.dtype):
            raise InputError(f"{text}: jax {jax.__version__} has no {spec.dtype}")
        dtype = np.dtype(getattr(jnp, spec.dtype))
        narrow = jax.dtypes.canonicalize_dtype(dtype)
        if narrow != dtype and not spec.host:
            raise InputError(
                f"{text}: JAX has 64-bit numbers switched off; set JAX_ENABLE_X64=1, or write {spell(narrow.name, shape)}"
            )
        if self._abstract:
            return _struct(shape, narrow, spec.weak)
        random = np.random.default_rng([self._seed, self._count])
        if spec.weak:
            number = float(random.standard_normal()) if "float" in spec.dtype else int(random.integers(0, 4))
            made = jnp.broadcast_to(jnp.asarray(number), shape)  # only what is made of a Python number is weak
            if made.dtype != dtype:
                raise InputError(f"weak({text}): Python numbers give {made.dtype.name} here")
            return made
        host = _numbers(random, spec.dtype, shape).astype(dtype)
        return host if spec.host else jnp.asarray(host)


def _numbers(random: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    import numpy as np

    if dtype == "bool":
        return np.asarray(random.integers(0, 2, shape))
    if "int" in dtype:
        return np.asarray(random.integers(0, 2 if dtype.endswith("int2") else 4, shape))
    numbers = np.asarray(random.standard_normal(shape))
    return numbers + 1j * random.standard_normal(shape) if dtype.startswith("complex") else numbers


def _struct(shape: tuple[int, ...], dtype: Any, weak: bool) -> Any:
    import jax

    struct: Any = jax.ShapeDtypeStruct
    if weak and "weak_type" in inspect.signature(struct).parameters:  # since jax 0.4.36
        return struct(shape, dtype, weak_type=True)
    return struct(shape, dtype)


def filled(values: Any, seed: int = 0) -> Any:
    """The same with arrays in the place of ``jax.ShapeDtypeStruct``; where one has a sharding, the array gets it."""
    import jax

    maker = _Maker(seed, {})

    def fill(leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        name = str(leaf.dtype)
        made = maker.value(Key(tuple(leaf.shape)) if name.startswith("key<") else Array(name, tuple(leaf.shape)))
        sharding = getattr(leaf, "sharding", None)
        return made if sharding is None else jax.device_put(made, sharding)

    return jax.tree_util.tree_map(fill, values)


def shapes_of(values: Any) -> Any:
    """The same with ``jax.ShapeDtypeStruct`` in the place of arrays; what is spread over several devices stays so."""
    import jax

    def shape(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array):
            return leaf
        placed: Any = leaf.sharding
        if len(placed.device_set) > 1:
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=placed)
        return _struct(leaf.shape, leaf.dtype, bool(getattr(leaf, "weak_type", False)))

    return jax.tree_util.tree_map(shape, values)


def spell(dtype: str, shape: Sequence[Any]) -> str:
    """``f32[8,128]``."""
    return f"{SHORT.get(dtype, dtype)}[{','.join(map(str, shape))}]"


_KEY_TAGS = {"fry": "threefry2x32", "urbg": "unsafe_rbg"}
"""What ``key_impl`` says before about jax 0.4.36, and what ``key`` takes."""


def describe(value: Any) -> str:
    """The text of a real value; where it holds arrays, keys, literals and containers only, ``parse`` reads it back."""
    if isinstance(value, dict) and type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {describe(item)}" for key, item in value.items()) + "}"
    if type(value) is list:
        return "[" + ", ".join(map(describe, value)) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(map(describe, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = (f"{name}={describe(item)}" for name, item in zip(value._fields, value))
        return f"{type(value).__name__}({', '.join(parts)})"
    if hasattr(value, "dtype") and isinstance(getattr(value, "shape", None), tuple):
        return _described_array(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return _cut(repr(value))
    inner = _children(value)
    if inner is not None:
        return f"{type(value).__name__}({', '.join(map(describe, inner))})"
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str) and callable(value):
        return f"<{'class' if isinstance(value, type) else 'function'} {name}>"
    return _cut(re.sub(r" at 0x[0-9a-f]+", "", _repr(value)))


def describe_case(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The text of the inputs of one call."""
    return ", ".join([*map(describe, args), *(f"{name}={describe(value)}" for name, value in kwargs.items())])


def _described_array(value: Any) -> str:
    name = getattr(value.dtype, "name", str(value.dtype))
    if name.startswith("key<"):
        import jax

        shape = f"[{','.join(map(str, value.shape))}]" if value.shape else ""
        implementation = str(jax.random.key_impl(value)) if isinstance(value, jax.Array) else ""
        implementation = _KEY_TAGS.get(implementation, implementation)
        usual = not implementation or implementation == getattr(jax.config, "jax_default_prng_impl", "threefry2x32")
        return ("key" if usual else f'key("{implementation}")') + shape
    text = spell(name, value.shape)
    if type(value).__module__.partition(".")[0] in ("numpy", "ml_dtypes"):
        return f"numpy({text})"
    weak = getattr(value, "weak_type", False) or getattr(getattr(value, "aval", None), "weak_type", False)
    return f"weak({text})" if weak else text


def _children(value: Any) -> list[Any] | None:
    """The parts of a pytree node of a class of the user's, one level deep; None if it is a leaf."""
    jax = sys.modules.get("jax")
    if jax is None:
        return None
    leaves: list[Any] = jax.tree_util.tree_leaves(value, is_leaf=lambda part: part is not value)
    return None if len(leaves) == 1 and leaves[0] is value else leaves


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # a class of the user's
        return f"<{type(value).__name__}>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_REPR else text[: _LONGEST_REPR - 1] + "…"


@dataclass(frozen=True)
class Parameter:
    """A parameter and what it may want. source: ``default``, ``annotation``, ``name`` or ``guess``."""

    name: str
    keyword_only: bool
    required: bool
    source: str
    candidates: tuple[Spec, ...]


def from_signature(function: Callable[..., Any]) -> list[Parameter]:
    """What the parameters of a function may want, from defaults, annotations and names; ``*args`` are left out.

    Raises InputError where the function has no signature.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise InputError(f"{describe(function)} has no signature that Python knows; say the inputs") from error
    found = []
    hints = _hints(inspect.unwrap(function))
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        required = parameter.default is parameter.empty
        source, candidates = "default", () if required else _of_default(parameter.default)
        if not candidates:
            source, candidates = "annotation", _of_annotation(hints.get(parameter.name, parameter.annotation))
        if not candidates and parameter.annotation is parameter.empty:
            is_key = parameter.name in _KEY_NAMES or parameter.name.endswith("_key")
            source, candidates = ("name", (Key(), Key(legacy=True))) if is_key else ("guess", _GUESSED + _PLAIN)
            if _SIZE_NAMES.search(parameter.name):
                source, candidates = "name", (Literal(3), Literal(8), *_GUESSED)
        found.append(Parameter(parameter.name, parameter.kind is parameter.KEYWORD_ONLY, required, source, candidates))
    return found


def guesses(function: Callable[..., Any], limit: int = 60, *, scalars_first: bool = False) -> Iterator[Case]:
    """Cases to try on a function, the likeliest first; parameters with a default are left to it. scalars_first: numbers
    before arrays, as constructors want them more often.

    Raises InputError if there is a parameter for which nothing can be made up.
    """
    wanted = [parameter for parameter in from_signature(function) if parameter.required]
    for parameter in wanted:
        if not parameter.candidates:
            raise InputError(f"nothing can be made up for the parameter {parameter.name}; say the inputs with --case")
    choices = [
        sorted(parameter.candidates, key=_has_dims) if scalars_first else parameter.candidates for parameter in wanted
    ]
    ranked = itertools.product(*map(enumerate, choices))
    chosen = sorted(itertools.islice(ranked, 4096), key=lambda row: (sum(rank for rank, _ in row), [r for r, _ in row]))
    for row in chosen[:limit]:
        specs = [spec for _, spec in row]
        yield Case(
            tuple(spec for spec, parameter in zip(specs, wanted) if not parameter.keyword_only),
            {parameter.name: spec for spec, parameter in zip(specs, wanted) if parameter.keyword_only},
        )


def _has_dims(spec: Spec) -> bool:
    return isinstance(spec, Array) and bool(spec.dims)


def _of_default(value: Any) -> tuple[Spec, ...]:
    if value is None:
        return ()
    if hasattr(value, "dtype"):
        try:
            return (parse(describe(value)),)
        except InputError:
            return ()
    return (Literal(value),)


def _of_annotation(annotation: Any) -> tuple[Spec, ...]:
    if annotation is inspect.Parameter.empty:
        return ()
    if isinstance(annotation, str):
        try:
            return _of_text(ast.parse(annotation, mode="eval").body)
        except SyntaxError:
            return ()
    if hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes"):
        return _of_jaxtyping(annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return tuple(Literal(value) for value in inner)
    if origin is typing.Annotated:
        return _of_annotation(inner[0])
    if origin is None:
        module = getattr(annotation, "__module__", "")
        name = getattr(annotation, "__name__", "").rpartition(".")[2]  # jax.Array calls itself jaxlib._jax.Array
        known = _of_name(name) if annotation is None or module != "typing" or name else ()
        return known or _of_class(annotation)
    name = getattr(origin, "__name__", str(origin))
    return _combined(name, [() if part is ... else _of_annotation(part) for part in inner])


def _of_class(cls: Any) -> tuple[Spec, ...]:
    """A dataclass or a named tuple of the user's, if something can be made up for each of its fields without default."""
    if not isinstance(cls, type):
        return ()
    if dataclasses.is_dataclass(cls):
        nothing = dataclasses.MISSING
        wanted = [
            f.name for f in dataclasses.fields(cls) if f.init and f.default is nothing and f.default_factory is nothing
        ]
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        wanted = [name for name in cls._fields if name not in getattr(cls, "_field_defaults", ())]
    else:
        return ()
    hints = _hints(cls)
    found = {name: _of_annotation(hints.get(name, inspect.Parameter.empty)) or _GUESSED for name in wanted}
    return (Made(cls, tuple((name, candidates[0]) for name, candidates in found.items())),)


def _hints(owner: Any) -> dict[str, Any]:
    """Annotations as objects, where the names in them can be looked up."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except Exception:  # annotations are the user's code, and may name what exists for type checkers only
        return {}


def _of_jaxtyping(annotation: Any) -> tuple[Spec, ...]:
    dtypes = annotation.dtypes if isinstance(annotation.dtypes, (tuple, list)) else ("float32",)
    names = {"float32": "Float", "int32": "Int", "bool": "Bool", "prng_key": "Key", "complex64": "Complex"}
    name = next((names[dtype] for dtype in names if dtype in dtypes), None)
    try:
        if name is not None:
            return (annotated(name, annotation.dim_str),)
        shaped = annotated("Float", annotation.dim_str)
    except InputError:
        return ()
    known = [dtype for dtype in dtypes if dtype in SHORT]
    return (Array(known[0], shaped.dims),) if known and isinstance(shaped, Array) else ()


def _of_text(node: ast.expr) -> tuple[Spec, ...]:
    """An annotation that is text, as under ``from __future__ import annotations``."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return _of_annotation(node.value)
        return (Literal(None),) if node.value is None else ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _combined("Union", [_of_text(node.left), _of_text(node.right)])
    if not isinstance(node, ast.Subscript):
        return _of_name(_last_name(node))
    name = _last_name(node.value)
    inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Literal":
        return tuple(Literal(part.value) for part in inner if isinstance(part, ast.Constant))
    if is_annotation(name):
        try:
            return (parse(ast.unparse(node)),)
        except InputError:
            return ()
    if name == "Annotated":
        return _of_text(inner[0])
    whole = [() if isinstance(part, ast.Constant) and part.value is ... else _of_text(part) for part in inner]
    return _combined(name, whole)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _of_name(name: str) -> tuple[Spec, ...]:
    if name in ("Array", "ndarray", "ArrayLike", "ArrayImpl", "DeviceArray"):
        return _GUESSED
    if name in ("PRNGKeyArray", "PRNGKey", "KeyArray", "Key"):
        return (Key(), Key(legacy=True))
    plain: dict[str, tuple[Any, ...]] = {
        "int": (3, 8), "float": (0.5,), "bool": (True, False), "complex": (1j,), "NoneType": (None,),
        "tuple": ((),), "list": ([],), "dict": ({},),
    }  # fmt: skip
    return tuple(Literal(value) for value in plain.get(name, ()))


def _combined(name: str, inner: list[tuple[Spec, ...]]) -> tuple[Spec, ...]:
    """The candidates of a generic type from those of its arguments."""
    if name in ("Union", "UnionType", "Optional"):
        nothing = [Literal(None)] if name == "Optional" else []
        return tuple(itertools.chain(*inner, nothing))
    full = [part for part in inner if part]
    if name in ("list", "List", "Sequence", "Iterable") and full:
        return (Items("list", (full[0][0],) * 2),)
    if name in ("tuple", "Tuple") and full:
        return (Items("tuple", tuple(part[0] for part in full) if len(full) == len(inner) else (full[0][0],) * 2),)
    if name in ("dict", "Dict", "Mapping") and len(inner) == 2 and inner[1]:
        return (Items("dict", (inner[1][0],) * 2, ("a", "b")),)
    return ()
