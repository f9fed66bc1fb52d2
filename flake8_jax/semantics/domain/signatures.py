"""Do functions fit the transforms that they are passed to: how many arguments they take, and what they give back.

Vocabulary
----------
arity       how many positional arguments a callable takes: at least, and at most (None: any number).
bind        a call binds if each argument has a parameter, each parameter one argument or a default; else Python raises
            TypeError before the body runs.
differs     two values that surely are different pytrees: a tuple and an array, tuples of other lengths, dicts of other
            keys. Anything unknown differs from nothing.
pair        what a ``scan`` body and a ``custom_vjp`` forward rule give back.

Limitations: shapes and dtypes of carries, registered pytree classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.classes import find_in_class, is_stub
from flake8_jax.semantics.domain.values import (
    Array,
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    HostArray,
    Instance,
    ListValue,
    PartialValue,
    Static,
    TransformedValue,
    TupleValue,
    UnionValue,
    Unknown,
    Value,
    known_elements,
)

CALLABLES = (FunctionValue, BoundMethod, PartialValue, TransformedValue)


def underlying(value: Value) -> Value:
    """The callable behind methods, ``partial`` and transforms."""
    while isinstance(value, (BoundMethod, PartialValue, TransformedValue)):
        value = value.operand if isinstance(value, TransformedValue) else value.func
    return value


def layers(value: Value) -> Iterator[Value]:
    """A callable, and what it hands its arguments to, one after the other: the last is what runs."""
    yield value
    while isinstance(value, (BoundMethod, PartialValue, TransformedValue)):
        value = value.operand if isinstance(value, TransformedValue) else value.func
        yield value


def untransformed(value: Value) -> Value:
    """The callable behind transforms alone."""
    while isinstance(value, TransformedValue):
        value = value.operand
    return value


class Opened(NamedTuple):
    """The callable behind methods, ``partial`` and transforms. taken: so many of its leading arguments are bound, and
    those of these names."""

    function: Value
    taken: int
    named: set[str]


def opened(value: Value, *, transforms: bool = True) -> Opened:
    """Look behind a callable. transforms: behind transforms as well."""
    taken, named = 0, set[str]()
    while True:
        if isinstance(value, PartialValue):
            taken += len(value.args)
            named |= value.kwargs.keys()
            value = value.func
        elif isinstance(value, BoundMethod):
            taken += 1
            value = value.func
        elif transforms and isinstance(value, TransformedValue):
            value = value.operand
        else:
            return Opened(value, taken, named)


def binding_error(function: FunctionValue, args: Arguments) -> str:
    """Why a call cannot bind its arguments; empty where it does, or where it is not known."""
    params, kwargs = function.fn.params, args.kwargs
    twice = next((p.name for p in params[: len(args.values)] if p.kind == "positional" and p.name in kwargs), "")
    if twice:
        return f"gets two values for `{twice}`, so the call raises TypeError; pass one of them"
    if args.star is not None or args.double_star is not None or args.unknown_rest or _is_open(function, args):
        return ""
    named = {p.name for p in params if p.kind in ("positional", "kwonly")}
    is_open = any(p.kind == "kwarg" for p in params)
    unknown = "" if is_open else next((name for name in kwargs if name not in named), "")
    error = _missing_argument(function, args, named, unknown) or _surplus_argument(params, args)
    if error or not unknown:
        return error
    return f"has no parameter `{unknown}`, so the call raises TypeError; remove it or check the name"


def _is_open(function: FunctionValue, args: Arguments) -> bool:
    """Something else may take the arguments than what the code shows: a decorator made it, or it is a placeholder; or the
    arguments are yet to be written (``f(...)``)."""
    placeholder = function.fn.is_lambda and is_stub(function.fn)
    return function.altered or placeholder or any(isinstance(v, Const) and v.value is ... for v in args.values)


def _by_position(params: list[ir.Parameter]) -> list[str]:
    return [p.name for p in params if p.kind in ("positional", "posonly")]


_MOST_MISSING = 3
"""So many missing arguments are named."""


def _missing_argument(function: FunctionValue, args: Arguments, named: set[str], unknown: str) -> str:
    """A parameter without a default gets no value. unknown: a keyword in the call that no parameter has, maybe for this one."""
    params = function.fn.params
    positional = _by_position(params)
    given = {*positional[: len(args.values)], *(named & args.kwargs.keys())}
    takers = {*named, *positional}
    required = [p.name for p in params if p.name in takers and p.default is None and p.name not in function.defaults]
    missing = next((name for name in required if name not in given), "")
    if missing and unknown:
        return (
            f"has no parameter `{unknown}` and does not get `{missing}`, so the call raises TypeError; pass `{missing}`"
        )
    written = [name for name in required if name != "self"]
    if missing and len(written) > 1:
        passed = sum(name in given for name in written)
        if behind := _behind_a_gap(positional, args):
            gap, name = behind
            what = f"pass `{gap}`" if gap else "one is missing"
            return (
                f"takes {len(written)} arguments but gets {passed}, so the call raises TypeError; "
                f"{what} in front of `{name}`"
            )
        *some, last = [f"`{name}`" for name in written if name not in given][:_MOST_MISSING]
        others = f"{', '.join(some)} and {last}" if some else last
        return (
            f"takes {len(written)} arguments but gets {passed}, so the call raises TypeError; "
            f"pass {others}{', and check the order of the others' if passed > 1 else ''}"
        )
    return f"needs the argument `{missing}`, so the call raises TypeError; pass it" if missing else ""


def _behind_a_gap(positional: list[str], args: Arguments) -> tuple[str, str] | None:
    """A parameter that is left out, and the argument after it that is called as the next parameter: ``f(x, z)`` of
    ``f(x, y, z)``. The parameter is empty if it may as well be one before it: ``f(a, z)``."""
    if len(args.values) != len(positional) - 1 or len(args.nodes) != len(args.values):
        return None
    spelled = [node.id if isinstance(node, ir.Name) else "" for node in args.nodes]
    gaps = [i for i, name in enumerate(spelled) if name and name == positional[i + 1]]
    first = gaps[0] if gaps else 0
    if not gaps or any(
        name and name in positional[first:] and name != positional[i + 1]
        for i, name in enumerate(spelled[first:], first)
    ):
        return None
    is_next = first == 0 or spelled[first - 1] == positional[first - 1]
    return positional[first] if is_next else "", spelled[first]


_LONGEST_LIST = 50
"""Characters of the names of parameters that a message holds."""


def _surplus_argument(params: list[ir.Parameter], args: Arguments) -> str:
    """There are more arguments by position than parameters that take them."""
    positional = _by_position(params)
    if len(args.values) <= len(positional) or any(p.kind == "vararg" for p in params):
        return ""
    written = [name for name in positional if name != "self"]
    passed = len(args.values) - (len(positional) - len(written))
    named = ", ".join(f"`{name}`" for name in written)
    takes = f"takes {len(written)} positional argument{'s' * (len(written) != 1)}"
    takes += f" ({named})" if 0 < len(named) <= _LONGEST_LIST else ""
    return f"{takes} but gets {passed}, so the call raises TypeError; pass {len(written)} or change its definition"


def call_error(value: Value, args: Arguments) -> str:
    """``binding_error`` of a callable: a function, or a method or a partial application of one."""
    while True:
        if isinstance(value, PartialValue):
            args = args.prepended(*value.args)
            args.kwargs = {**value.kwargs, **args.kwargs}
            value = value.func
        elif isinstance(value, BoundMethod):
            args = args.prepended(value.self_value)
            value = value.func
        else:
            break
    if not isinstance(value, FunctionValue):
        return ""
    error = binding_error(value, args)
    first = next(iter(_by_position(value.fn.params)), "")
    if error and first not in ("", "self", "cls") and _fits_without_object(value, args):
        wrong = f"has no parameter `self`, so `{first}` gets the object and the call raises TypeError"
        return f"{wrong}; add `self` or @staticmethod"
    return error


def _fits_without_object(function: FunctionValue, args: Arguments) -> bool:
    """A method whose definition lacks ``self``: the call would fit if it did not pass the object."""
    if function.owner is None or not args.values or not isinstance(args.values[0], Instance):
        return False
    rest = Arguments(args.values[1:], args.kwargs, star=args.star, double_star=args.double_star)
    return not binding_error(function, rest)


def arity(value: Value) -> tuple[int, int | None] | None:
    """At least and at most so many positional arguments; None where the signature is not known."""
    if isinstance(value, BoundMethod):
        inner = arity(value.func)
        return None if inner is None else (max(inner[0] - 1, 0), None if inner[1] is None else inner[1] - 1)
    if isinstance(value, PartialValue):
        return _partial_arity(value)
    if not isinstance(value, FunctionValue):
        return None
    positional = [p for p in value.fn.params if p.kind in ("positional", "posonly")]
    if any(p.kind == "kwonly" and p.name not in value.defaults for p in value.fn.params):
        return None
    least = sum(p.name not in value.defaults for p in positional)
    return least, None if any(p.kind == "vararg" for p in value.fn.params) else len(positional)


def _partial_arity(value: PartialValue) -> tuple[int, int | None] | None:
    inner = arity(value.func)
    if inner is None:
        return None
    if value.kwargs:
        function = value.func
        skip = len(value.args)
        while isinstance(function, BoundMethod):
            function, skip = function.func, skip + 1
        if not isinstance(function, FunctionValue):
            return None
        names = [p.name for p in function.fn.params if p.kind == "positional"]
        rest = names[skip:]
        # Parameters behind one that is bound by name can be given by name only.
        free = next((i for i, n in enumerate(rest) if n in value.kwargs), len(rest))
        if free == len(rest) and any(p.kind == "vararg" for p in function.fn.params):
            return sum(n not in function.defaults for n in rest), None
        if any(n not in value.kwargs and n not in function.defaults for n in rest[free:]):
            return None
        return sum(n not in function.defaults for n in rest[:free]), free
    bound = len(value.args)
    return max(inner[0] - bound, 0), None if inner[1] is None else inner[1] - bound


def takes(value: Value, count: int) -> bool:
    """The callable may be called with so many positional arguments."""
    known = arity(value)
    return known is None or (known[0] <= count and (known[1] is None or count <= known[1]))


def is_no_function(value: Value) -> bool:
    """Calling the value fails for sure."""
    if isinstance(value, UnionValue):
        return all(is_no_function(member) for member in value.members)
    if isinstance(value, TupleValue):
        return not _has_call(value.cls)
    return isinstance(value, (Array, HostArray, Const, Static, DictValue)) or (
        isinstance(value, ListValue) and not value.is_tuple
    )


def _has_call(cls: Value | None) -> bool:
    """The class of a NamedTuple makes its objects functions, or may do so."""
    return cls is not None and not (isinstance(cls, ClassValue) and find_in_class(cls, "__call__") is None)


def kind_of(value: Value) -> str:
    """What a value is that cannot be called, such as ``a tuple``; empty where this is not one kind of value."""
    if isinstance(value, UnionValue):
        kinds = {kind_of(member) for member in value.members}
        return kinds.pop() if len(kinds) == 1 else ""
    if isinstance(value, Const):
        return "None" if value.value is None else "a string" if isinstance(value.value, (str, bytes)) else "a number"
    return _KINDS.get(type(value), "")


_KINDS: dict[type, str] = {
    Array: "an array", HostArray: "an array", TupleValue: "a tuple", ListValue: "a list", DictValue: "a dict",
}  # fmt: skip


def is_function(value: Value) -> bool:
    """The value surely can be called."""
    return isinstance(value, (*CALLABLES, External, BuiltinValue))


def is_no_tuple_of(value: Value, count: int) -> bool:
    """The value surely is no tuple (or list) of so many elements."""
    if isinstance(value, UnionValue):
        return all(is_no_tuple_of(member, count) for member in value.members)
    if isinstance(value, TupleValue):
        return len(value.elts) != count
    if isinstance(value, ListValue):
        known = value.known()
        return known is not None and len(known) != count
    return isinstance(value, (Array, HostArray, Const, Static)) and not isinstance(value, Unknown)


def differs(a: Value, b: Value, depth: int = 6) -> bool:
    """The two values surely are pytrees of different structure."""
    if depth == 0 or a is b:
        return False
    if isinstance(a, UnionValue):
        return all(differs(member, b, depth - 1) for member in a.members)
    if isinstance(b, UnionValue):
        return all(differs(a, member, depth - 1) for member in b.members)
    kinds = _kind(a), _kind(b)
    if "" in kinds:
        return False
    if kinds[0] != kinds[1]:
        return True
    unlike = _UNLIKE.get(type(a))
    return unlike(a, b, depth) if unlike is not None else False


def _unlike_tuples(a: TupleValue, b: TupleValue, depth: int) -> bool:
    """A named tuple is another node than a plain one, and than any of another class."""
    if not _same_class(a.cls, b.cls) or len(a.elts) != len(b.elts):
        return True
    return any(differs(x, y, depth - 1) for x, y in zip(a.elts, b.elts))


def _unlike_dicts(a: DictValue, b: DictValue, depth: int) -> bool:
    if not (a.is_closed() and b.is_closed()):
        return False
    left, right = dict(a.items()), dict(b.items())
    return left.keys() != right.keys() or any(differs(v, right[k], depth - 1) for k, v in left.items())


def _unlike_lists(a: ListValue, b: ListValue, depth: int) -> bool:
    x, y = a.known(), b.known()
    return x is not None and y is not None and len(x) != len(y)


_UNLIKE: dict[type, Callable[[Any, Any, int], bool]] = {
    TupleValue: _unlike_tuples,
    DictValue: _unlike_dicts,
    ListValue: _unlike_lists,
}
"""Whether two nodes of one kind surely differ, by the type of node."""


def _same_class(a: Value | None, b: Value | None) -> bool:
    return a is b or (isinstance(a, External) and isinstance(b, External) and a.name == b.name)


def _is_declared(value: Array | HostArray) -> bool:
    """Only an annotation says that the value is an array, here or outside a staging boundary: ``agents: chex.Array`` is often
    written of a pytree."""
    found: Value | None = value
    while isinstance(found, (Array, HostArray)):
        if found.declared:
            return True
        found = found.origin if isinstance(found, Array) else None
    return False


def _kind(value: Value) -> str:
    """What kind of pytree node the value is; empty where that is not known."""
    if isinstance(value, (Array, HostArray)):
        return "leaf" if not _is_declared(value) else ""
    if isinstance(value, Const):
        return "none" if value.value is None else "leaf" if type(value.value) in joining.NUMBERS else ""
    if isinstance(value, Static):
        return "leaf" if value.kind in ("int", "float", "bool", "complex") else ""
    if isinstance(value, TupleValue):
        return "tuple"
    if isinstance(value, DictValue):
        return "dict" if value.is_closed() else ""
    if isinstance(value, ListValue):
        return "list" if not value.is_tuple and value.known() is not None else ""
    return ""


def fixed_positions(tv: TransformedValue) -> list[int] | None:
    """The positions that ``nondiff_argnums`` and ``nondiff_argnames`` fix, in order; None where they are not known."""
    numbers = constants_of(tv.options.get("nondiff_argnums"))
    names = constants_of(tv.options.get("nondiff_argnames"))
    if numbers is None or names is None or "**" in tv.options:
        return None
    found = set(numbers)
    signature = parameter_names(tv.operand) if names else []
    for name in names:
        if signature is None or name not in signature:
            return None
        found.add(signature.index(name))
    return sorted(found) if all(type(position) is int and position >= 0 for position in found) else None


def describe(value: Value) -> str:
    """A short name of an operand, for evidence."""
    if isinstance(value, FunctionValue):
        return value.fn.qualname if not value.fn.is_lambda else "a lambda"
    if isinstance(value, BoundMethod):
        return describe(value.func)
    if isinstance(value, (PartialValue,)):
        return describe(value.func)
    if isinstance(value, TransformedValue):
        return describe(value.operand)
    if isinstance(value, External):
        return value.name
    if isinstance(value, Instance):
        return value.cls.node.name
    return "a function"


def in_quotes(name: str) -> str:
    """The name of a function in backquotes; ``a lambda`` and the like are no names."""
    return name if " " in name else f"`{name}`"


def parameter_names(value: Value, depth: int = 1000) -> list[str] | None:
    """Positional parameter names of a callable, as ``inspect.signature`` sees them; None where they are not known."""
    if depth == 0:  # an object whose ``__call__`` leads back to it
        return None
    if isinstance(value, FunctionValue):
        if value.wrapped is not None:
            return parameter_names(signed(value), depth - 1)
        return [p.name for p in value.fn.params if p.kind in ("positional", "posonly")]
    if isinstance(value, BoundMethod):
        names = parameter_names(value.func, depth - 1)
        return names[1:] if names is not None else None
    if isinstance(value, PartialValue):
        names = parameter_names(value.func, depth - 1)
        return None if names is None else [n for n in names[len(value.args) :] if n not in value.kwargs]
    if isinstance(value, TransformedValue):
        return parameter_names(value.operand, depth - 1)
    if isinstance(value, Instance):
        found = find_in_class(value.cls, "__call__")
        if found is None:
            return None
        names = parameter_names(found[1], depth - 1)
        return names[1:] if names is not None else None
    return None


def keyword_names(value: Value) -> list[str]:
    """The parameters of a callable that take an argument by name only, but for those that it already has one for."""
    function, _taken, named = opened(value)
    if not isinstance(function, FunctionValue):
        return []
    return [p.name for p in function.fn.params if p.kind == "kwonly" and p.name not in named]


def default_values(value: Value) -> dict[str, Value]:
    """The defaults of a callable's parameters, but for those that it already has an argument for."""
    value, taken, bound = opened(value)
    if not isinstance(value, FunctionValue):
        return {}
    bound |= {p.name for p in value.fn.params[:taken]}
    return {name: default for name, default in value.defaults.items() if name not in bound}


def defaults_of(value: Value) -> set[str]:
    """Names of parameters that have a default."""
    return set(default_values(value))


def constants_of(value: Value | None) -> list[Any] | None:
    """The constants in an option such as ``static_argnums=(0, 1)``; None where they are not known."""
    if value is None or (isinstance(value, Const) and value.value is None):
        return []
    if isinstance(value, Const):
        return [value.value]
    known = known_elements(value)
    if known is not None and all(isinstance(v, Const) for v in known):
        return [v.value for v in known if isinstance(v, Const)]
    return None


def signed(value: Value) -> Value:
    """The function whose signature ``inspect.signature`` reads: it follows ``__wrapped__``. Unknown in a circle of them."""
    seen: list[Value] = []
    while isinstance(value, FunctionValue) and value.wrapped is not None:
        if value in seen:
            return Unknown("signature")
        seen.append(value)
        value = value.wrapped
    return value


def hides_signature(value: Value) -> bool:
    """A function whose signature is not known, of a library or by a decorator: names may mean any of its arguments."""
    function = underlying(value)
    return not isinstance(function, FunctionValue) or isinstance(signed(function), Unknown)


def static_parameters(tv: TransformedValue) -> tuple[set[int], set[str]] | None:
    """Static positions and names of a transform's operand; None where the options are not known."""
    positions: set[int] = set()
    names: set[str] = set()
    if "**" in tv.options and not any(option in tv.options for option in tv.fact.statics):
        return None  # ``jit(f, **options)``: they may be among the unknown options
    signature = parameter_names(tv.operand)
    for option in tv.fact.statics:
        constants = constants_of(tv.options.get(option))
        if constants is None:
            return None
        for constant in constants:
            if isinstance(constant, str):
                names.add(constant)
            elif isinstance(constant, int):
                if constant < 0 and signature is not None:
                    constant += len(signature)
                positions.add(constant)
    if signature is None and names and hides_signature(tv.operand):
        return None
    if signature is not None:
        names |= {signature[i] for i in positions if 0 <= i < len(signature)}
        positions |= {i for i, n in enumerate(signature) if n in names}
    return positions, names
