"""What JAX tells two calls of a jitted function apart by, and the smallest change that makes them one.

Vocabulary
----------
signature    of a call: for every parameter, how it was passed, its pytree structure, and what each leaf looks like;
             for a static one, its value.
difference   between two signatures: its kind, where it is, both sides, and a remedy.

Limitations: settings of JAX that are part of its cache's key (x64, matmul precision, meshes).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child.inputs import describe, spell
from flake8_jax.runtime_checks.child.structures import Change, changes, functions_in, same

_PYTHON_NUMBERS = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}
_WIDE = {"int32": "int64", "float32": "float64", "complex64": "complex128"}
_WEIGHTS = {
    "weak-type": 1,
    "dtype": 1,
    "passing": 1,
    "key": 1,
    "rank": 4,
    "structure": 5,
    "container": 6,
    "arguments": 5,
}


@dataclass(frozen=True)
class Leaf:
    """An array as JAX abstracts it. python: the type of the Python number that it was, or nothing."""

    dtype: str
    shape: tuple[int, ...]
    weak: bool
    placement: str = ""
    python: str = ""

    def __str__(self) -> str:
        text = f"weak({spell(self.dtype, self.shape)})" if self.weak else spell(self.dtype, self.shape)
        return f"{text} (a Python {self.python})" if self.python else text


@dataclass(frozen=True)
class Argument:
    """What was passed for one parameter. how: ``position`` or ``keyword``. structure: the pytree's, None if static."""

    how: str
    static: bool
    value: Any
    structure: Any
    leaves: Mapping[str, Leaf]


Signature = Mapping[str, Argument]


@dataclass(frozen=True)
class Difference:
    """One difference, and what would remove it."""

    kind: str
    where: str
    now: str
    before: str
    remedy: str

    def as_data(self) -> dict[str, str]:
        return {
            "kind": self.kind, "where": self.where, "now": self.now, "before": self.before, "remedy": self.remedy,
        }  # fmt: skip


def signature_of(
    function: Callable[..., Any], static: frozenset[str] | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Signature:
    """The signature of a call. static: names of static parameters; None: what is no array counts as static."""
    found = {}
    for name, how, value in _named(function, args, kwargs):
        is_static = name in static if static is not None else not is_dynamic(value)
        structure, leaves = (None, {}) if is_static else _flattened(name, value)
        found[name] = Argument(how, is_static, value, structure, leaves)
    return found


def _named(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    names = [positional[n] if n < len(positional) else f"{rest}[{n - len(positional)}]" for n in range(len(args))]
    return [
        *((name, "position", value) for name, value in zip(names, args)),
        *((name, "keyword", value) for name, value in kwargs.items()),
    ]


def is_dynamic(value: Any) -> bool:
    import jax

    return all(_leaf(leaf) is not None for leaf in jax.tree_util.tree_leaves(value))


def _flattened(name: str, value: Any) -> tuple[Any, dict[str, Leaf]]:
    import jax

    pairs, structure = jax.tree_util.tree_flatten_with_path(value)
    leaves = {}
    for path, leaf in pairs:
        seen = _leaf(leaf)
        if seen is not None:
            leaves[name + jax.tree_util.keystr(path)] = seen
    return structure, leaves


def _leaf(value: Any) -> Leaf | None:
    import jax

    number = _PYTHON_NUMBERS.get(type(value))
    if number is not None:
        wide = bool(getattr(jax.config, "jax_enable_x64", False))
        dtype = _WIDE.get(number, number) if wide else number
        return Leaf(dtype, (), number != "bool", "", type(value).__name__)
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return None
    is_key = str(value.dtype).startswith("key<")
    dtype = str(value.dtype) if is_key else jax.dtypes.canonicalize_dtype(value.dtype).name
    weak = bool(getattr(value, "weak_type", False) or getattr(getattr(value, "aval", None), "weak_type", False))
    placed = getattr(value, "_committed", False)  # private; only arrays put somewhere on purpose carry their place
    return Leaf(dtype, tuple(value.shape), weak, str(value.sharding) if placed else "")


def closest(now: Signature, earlier: Mapping[str, Signature]) -> tuple[str | None, list[Difference]]:
    """Of the earlier calls, the one that is most like this one, and the differences from it."""
    best: tuple[str | None, list[Difference]] = (None, [])
    for label, before in earlier.items():
        found = differences(now, before)
        if best[0] is None or _distance(found) < _distance(best[1]):
            best = (label, found)
    return best


def _distance(found: Sequence[Difference]) -> int:
    """How much there is to change: a dtype is less than a shape, a shape less than a structure."""
    return sum(_WEIGHTS.get(difference.kind, 2) for difference in found)


def differences(now: Signature, before: Signature) -> list[Difference]:
    """Everything that tells two calls apart."""
    found = []
    for name in dict.fromkeys([*now, *before]):
        ours, theirs = now.get(name), before.get(name)
        if ours is None or theirs is None:
            passed = "was not passed before" if theirs is None else "was passed before"
            found.append(
                Difference("arguments", name, _shown(ours), _shown(theirs),
                           f"{name} {passed}: pass it in every call, or in none")
            )  # fmt: skip
            continue
        found += _argument(name, ours, theirs)
    return found


def _shown(argument: Argument | None) -> str:
    return "not passed" if argument is None else describe(argument.value)


def _argument(name: str, now: Argument, before: Argument) -> list[Difference]:
    found = []
    if now.how != before.how:
        found.append(
            Difference(
                "passing", name, f"by {now.how}", f"by {before.how}", f"pass {name} by {before.how} in every call"
            )
        )
    if now.static:
        return found + _static(name, now.value, before.value)
    if not same(now.structure, before.structure):
        return found + [_structure(change) for change in changes(name, now.value, before.value)]
    for where, leaf in now.leaves.items():
        other = before.leaves.get(where)
        if other is not None and _key(leaf) != _key(other):
            found += _leaves(where, leaf, other)
    return found


def _static(name: str, now: Any, before: Any) -> list[Difference]:
    if same(now, before) and _same_hash(now, before):
        return []
    ours, theirs = describe(now), describe(before)
    if ours == theirs and callable(now):
        remedy = f"{name} is another function object each time: define it once, outside of the loop or function"
        return [Difference("static-identity", name, ours, theirs, remedy)]
    if ours == theirs:
        remedy = (
            f"the two look the same but are not equal: give {type(now).__name__} __eq__ and __hash__, "
            "as @dataclass(frozen=True) does, or pass the same object"
        )
        return [Difference("static-identity", name, ours, theirs, remedy)]
    remedy = f"every new value of the static {name} compiles: take it out of static_argnames, or let it have few values"
    if isinstance(now, float) or isinstance(before, float):
        remedy = f"{name} is a number that varies: take it out of static_argnames, so that it is traced"
    return [Difference("static", name, ours, theirs, remedy)]


def _same_hash(now: Any, before: Any) -> bool:
    try:
        return hash(now) == hash(before)
    except Exception:  # a class of the user's
        return False


def _structure(change: Change) -> Difference:
    name, now, before = change.where, change.now, change.before
    ours, theirs = describe(now), describe(before)
    if change.kind in ("static", "metadata"):
        return _static_part(change, ours, theirs)
    remedy = f"give {name} the same structure in every call"
    if now is None or before is None:
        remedy += ": an array of zeros instead of None, or a static flag that says which of the two"
    elif change.kind == "container":
        remedy += f": always a {type(before).__name__}"
        return Difference("container", name, ours, theirs, remedy)
    elif change.kind == "keys":
        changed = sorted(map(repr, now.keys() ^ before.keys()))
        if changed:
            remedy += f" (the keys {', '.join(changed)} are in one only)"
    elif change.kind == "length":
        remedy += f" (it had {len(before)} items and has {len(now)}): stack them in one array, and pad it"
    return Difference("structure", name, ours, theirs, remedy)


def _static_part(change: Change, ours: str, theirs: str) -> Difference:
    """Of a node of a pytree: what it keeps beside its leaves is part of the program."""
    name = change.where
    inner = functions_in(change.now, change.before)
    if inner is not None:
        which = f" (its {' and '.join(inner)})" if inner else ""
        remedy = (
            f"{name} is static, and each call has another function object{which}: make it once, before the loop, "
            "and use that object in every call"
        )
        return Difference("static-identity", name, ours, theirs, remedy)
    if ours == theirs:
        remedy = (
            f"{name} is static; the two look the same but are not equal: make the object once, "
            f"or give {type(change.now).__name__} __eq__ and __hash__"
        )
        return Difference("static-identity", name, ours, theirs, remedy)
    remedy = (
        f"{name} is static, and every new value compiles: make it a leaf, so that it is traced, or keep it as it is"
    )
    return Difference("static", name, ours, theirs, remedy)


def _kept_dtype(now: Leaf, before: Leaf) -> str:
    """The dtype that all calls can pass: that of the earlier one, unless it is a number of Python or an integer beside a
    float."""
    is_float = before.dtype.startswith(("float", "bfloat", "complex"))
    becomes_float = now.dtype.startswith(("float", "bfloat", "complex")) and not is_float
    return now.dtype if becomes_float or (before.weak and not now.weak and not is_float) else before.dtype


def _leaves(where: str, now: Leaf, before: Leaf) -> list[Difference]:
    ours, theirs = str(now), str(before)
    kept = _kept_dtype(now, before)
    dtype = f"jnp.{'bool_' if kept == 'bool' else kept}"
    if now.dtype.startswith("key<") != before.dtype.startswith("key<"):
        return [_kind_of_key(where, now, before)]
    if len(now.shape) != len(before.shape):
        as_array = now.python or before.python
        remedy = f"give {where} {len(before.shape)} dimensions in every call"
        return [
            Difference("shape", where, ours, theirs, f"{remedy}; a Python {as_array} has none" if as_array else remedy)
        ]
    if now.shape != before.shape:
        axes = [axis for axis, (a, b) in enumerate(zip(now.shape, before.shape)) if a != b]
        larger = tuple(max(a, b) for a, b in zip(now.shape, before.shape))
        which = f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"
        remedy = (
            f"pad {which} of {where} to one size for all calls, here {spell(now.dtype, larger)}, and mask the rest; "
            "or round sizes up, as to powers of two, so that few occur"
        )
        found = [Difference("shape", where, ours, theirs, remedy)]
        if now.dtype != before.dtype:
            found += _leaves(where, Leaf(now.dtype, larger, now.weak), Leaf(before.dtype, larger, before.weak))
        return found
    if now.dtype != before.dtype:
        return [Difference("dtype", where, ours, theirs, f"convert it before the call: jnp.asarray({where}, {dtype})")]
    if now.weak != before.weak:
        which = "this call" if now.weak else "the earlier call"
        remedy = f"{which} passes a weak type, as Python numbers have: pass jnp.asarray({where}, {dtype})"
        return [Difference("weak-type", where, ours, theirs, remedy)]
    remedy = f"put {where} on the same devices in every call: jax.device_put({where}, sharding)"
    return [Difference("placement", where, now.placement or "not placed", before.placement or "not placed", remedy)]


def _kind_of_key(where: str, now: Leaf, before: Leaf) -> Difference:
    """A typed key on one side only. A legacy key is an array of numbers, ``uint32[…,2]``."""
    typed, other = (now, before) if now.dtype.startswith("key<") else (before, now)
    if other.dtype != "uint32" or other.shape[:-1] != typed.shape:
        remedy = f"pass a PRNG key for {where} in every call"
        return Difference("dtype", where, str(now), str(before), remedy)
    said = {id(typed): "a typed key, as jax.random.key makes", id(other): "a legacy key, as jax.random.PRNGKey makes"}
    remedy = f"make {where} in the same way in every call, with jax.random.key"
    return Difference("key", where, f"{now}, {said[id(now)]}", f"{before}, {said[id(before)]}", remedy)


def unlike(now: Signature, before: Signature) -> bool:
    """Whether JAX would tell the two calls apart."""
    if now.keys() != before.keys():
        return True
    return any(_apart(ours, before[name]) for name, ours in now.items())


def _apart(now: Argument, before: Argument) -> bool:
    if (now.how, now.static) != (before.how, before.static):
        return True
    if now.static:
        return not same(now.value, before.value)
    if not same(now.structure, before.structure):
        return True
    return [_key(leaf) for leaf in now.leaves.values()] != [_key(leaf) for leaf in before.leaves.values()]


def _key(leaf: Leaf) -> tuple[str, tuple[int, ...], bool, str]:
    """What JAX tells arrays apart by."""
    return leaf.dtype, leaf.shape, leaf.weak, leaf.placement
