"""Keys that are given to unknown callees: by convention, these draw from them.

    env.reset(key)    pi.sample(seed=key)    model(key, batch)    net.init({"params": key}, x)

Vocabulary
----------
given       an argument that is a key: by its value, or, where that is not known, by the name of the argument.
keeping     a callee that stores, shows, copies or places what it is given, or makes other keys of it:
            ``state.replace(rng=key)``.

What hangs on such a use is a preview, and one of a value that is a key by its name alone counts only beside a use that JAX
itself makes. Limitations: callees whose name says nothing of what they keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flake8_jax.core import ir
from flake8_jax.semantics.domain.arguments import Arguments
from flake8_jax.semantics.domain.boundary import NOT_TRAINING
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.key_words import NAMED, keeps_key
from flake8_jax.semantics.domain.values import Array, Const, DictValue, External, Opaque, Unknown, Value, canonical_key
from flake8_jax.semantics.events.facts import draws_from
from flake8_jax.semantics.trackers.key_paths import may_be_key
from flake8_jax.semantics.trackers.keys import Keys, Touch, Usage, use_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flake8_jax.semantics.domain.arguments import Call
    from flake8_jax.semantics.machine.core import Machine


_OF_ARRAYS = ("jax.", "numpy.", "flax.", "chex.", "builtins.", "orbax.", "optax.")
"""Libraries of which the tables know what draws."""


_OF_FLAX = frozenset({"init", "apply", "init_with_output", "lazy_init"})
"""Methods of Flax's modules: each draw folds the name of its module into the key."""


_APPLYING = frozenset({"apply", "apply_fn"})


class _Given(NamedTuple):
    """An argument. collection: the name that a dictionary has for it."""

    value: Value
    node: ir.Expr | None
    keyword: str
    collection: str = ""


def track_key_given(m: Machine, func: Value, at: Call) -> None:
    """An unknown callee gets arguments."""
    called = _name_of(func, at.node)
    if called in _APPLYING and "rngs" in at.args.kwargs and _has_flax(at):
        use_collections(m, at, at.args.kwargs["rngs"])
        return
    name = _name_of(func, at.node) if m.trackers[Keys].conventions else ""
    if not name or keeps_key(name) or (isinstance(func, External) and func.name.startswith(_OF_ARRAYS)):
        return
    of_flax = name in _OF_FLAX and _has_flax(at)
    for given in _given(_of_init(at.args) if "init" in name.lower() else at.args):
        if _is_key(given):
            collection = given.collection
            fact = draws_from(collection) if collection not in ("", "params") else ""
            folds = of_flax or bool(collection) or given.keyword == "rngs"
            usage = Usage("consume", given.node, conventional=name, given=fact, folds=folds)
            use_key(m, Touch(at.frame, at.node, given.value), usage)


def use_start(m: Machine, at: Call, method: str, rngs: Value | None) -> None:
    """``net.init(key, x)`` of a module of the project: the modules inside fold their names into the key and draw."""
    if rngs is None or not m.trackers[Keys].conventions or m.path.mode.shapes_only:
        return
    node = at.args.nodes[0] if at.args.values and at.args.nodes else at.args.keyword_nodes.get("rngs")
    key = dict(rngs.items()).get("params") if isinstance(rngs, DictValue) else rngs
    if isinstance(key, Value):
        use_key(m, Touch(at.frame, at.node, key), Usage("consume", node, conventional=method, folds=True))


def use_collections(m: Machine, at: Call, rngs: Value) -> None:
    """``net.apply(variables, x, rngs={"dropout": key})``: the modules inside fold their names into the key and draw."""
    if is_set_not_to_train(at.args) or not isinstance(rngs, DictValue):
        return
    for name, key in rngs.items():
        if isinstance(name, str) and name != "params" and isinstance(key, Value):
            usage = Usage("consume", None, given=draws_from(name), folds=True)
            use_key(m, Touch(at.frame, at.node, key), usage)


def is_set_not_to_train(args: Arguments) -> bool:
    """An argument tells the model to drop nothing and draw nothing."""
    switched = {name: value.value for name, value in args.kwargs.items() if isinstance(value, Const)}
    is_off = any(isinstance(value, Const) and value.value is False for value in args.values)
    return is_off or any(switched.get(name) is off for name, off in NOT_TRAINING.items())


def _is_key(given: _Given) -> bool:
    """By value, or by name where the value is unknown."""
    name = given.keyword or (last_name(given.node) if given.node is not None else "")
    return _is_exact(given.value) or (may_be_key(given.value) and bool(NAMED.fullmatch(name)))


def _has_flax(at: Call) -> bool:
    """The file imports Flax, whose modules most likely are what it calls."""
    names = at.frame.scope.slots.values()
    return any(isinstance(value, External) and value.name.startswith("flax") for value in names)


def _name_of(func: Value, node: Any) -> str:
    """What the callee is called."""
    called = node.func if isinstance(node, ir.Call) else None
    if isinstance(func, External):
        return func.name.rpartition(".")[2]
    if isinstance(func, Opaque) and func.step.startswith("."):
        return func.step[1:]
    if isinstance(called, ir.Attribute):
        return called.attr
    if isinstance(called, ir.Name):
        return called.id
    if isinstance(called, ir.Call) and called.args:
        return last_name(called.args[0].value)
    return func.label if isinstance(func, Unknown) else ""


def _given(args: Arguments) -> Iterator[_Given]:
    """The arguments with their names, and the values of dictionaries among them."""
    nodes = [*args.nodes, *[None] * (len(args.values) - len(args.nodes))]
    named = [(value, args.keyword_nodes.get(name), name) for name, value in args.kwargs.items()]
    for value, node, keyword in [*[(v, n, "") for v, n in zip(args.values, nodes, strict=False)], *named]:
        if isinstance(value, DictValue):
            for name, part in value.items():
                if isinstance(part, Value) and _is_exact(part):
                    yield _Given(part, None, keyword, name if isinstance(name, str) else "")
        else:
            yield _Given(value, node, keyword)


def _of_init(args: Arguments) -> Arguments:
    """What is initialized takes its numbers of the first key: of what the other arguments lead to it keeps the shapes."""
    return Arguments(
        args.values[:1],
        {k: v for k, v in args.kwargs.items() if NAMED.fullmatch(k)} if not args.values else {},
        args.nodes[:1],
        args.keyword_nodes,
    )


def _is_exact(value: Value) -> bool:
    canonical = canonical_key(value)
    return isinstance(canonical, Array) and canonical.dtype == "key"
