"""haiku's ``transform`` and similar functions: from a function to a pair of pure ones.

Vocabulary
----------
pair        what they return: ``init(rng, *args)`` and ``apply(params, rng, *args)``; with state there is one more
            argument and one more result. Here both are partial applications of functions that have no public name;
            they are named like their maker, with ``()`` appended.
network     the function that was transformed; ``init`` and ``apply`` call it as it stands.
sequence    the keys that a network takes one after the other by ``next_rng_key``. Haiku splits the key that the pair got,
            so a split of that key gives the same ones.

Limitations: ``multi_transform``, the structure of parameters and state, networks that take no key in the call at hand.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import External, PartialValue, Tree, TupleValue, Unknown, Value
from flake8_jax.semantics.interpreter.objects import value_of_descriptor
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.models.tables import Handler, library
from flake8_jax.semantics.trackers.key_conventions import is_set_not_to_train
from flake8_jax.semantics.trackers.key_sequences import KeySequences
from flake8_jax.semantics.trackers.keys import Keys, Touch, Usage, use_key
from flake8_jax.semantics.trackers.shared_draws import Networks, emit_next_key
from flake8_jax.semantics.trackers.unrolling import track_same, varieties_now

_INIT, _APPLY = "haiku.transform().init", "haiku.transform().apply"
_INIT_STATE, _APPLY_STATE = "haiku.transform_with_state().init", "haiku.transform_with_state().apply"
_WITHOUT_RNG = {_APPLY: "haiku.without_apply_rng().apply", _APPLY_STATE: "haiku.without_apply_rng().apply with state"}


def _pair(cls: str, init: str, apply: str) -> Handler:
    """``transform(network)``."""

    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        if not args.values:
            return Unknown("transformed")
        members = tuple(PartialValue(External(name), (args.values[0],), {}) for name in (init, apply))
        return TupleValue(members, External(cls), ("init", "apply"))

    return handler


@library("haiku.without_apply_rng")
def _without_rng(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
    """``without_apply_rng(pair)``: ``apply`` takes no key."""
    pair = args.values[0] if args.values else Unknown("transformed")
    if not isinstance(pair, TupleValue) or len(pair.elts) != 2:
        return pair
    init, apply = pair.elts
    if isinstance(apply, PartialValue) and isinstance(apply.func, External) and apply.func.name in _WITHOUT_RNG:
        apply = PartialValue(External(_WITHOUT_RNG[apply.func.name]), apply.args, apply.kwargs)
    return TupleValue((init, apply), pair.cls, pair.names)


def _called(leading: int, names: frozenset[str], *, gives_result: bool, stateful: bool) -> Handler:
    """``init`` or ``apply``: the network runs on what follows the ``leading`` arguments of the pair itself."""

    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        own = sum(name in names for name in args.kwargs)
        skip = 1 + leading - own
        inner = Arguments(
            args.values[skip:], {k: v for k, v in args.kwargs.items() if k not in names}, args.nodes[skip:],
            {k: v for k, v in args.keyword_nodes.items() if k not in names}, args.star, args.double_star,
            args.unknown_rest,
        )  # fmt: skip
        before, taken = varieties_now(m), m.trackers[KeySequences].taken
        running = m.trackers[Networks].depths
        running.append(len(m.path.stack))
        result = call(m, frame, node, args.values[0], inner)
        running.pop()
        if "rng" in names and not (gives_result and taken == m.trackers[KeySequences].taken):
            _track_sequence(m, Call(frame, node, args), leading, "apply" if gives_result else "init")
        if gives_result:
            track_same(m, before, args.kwargs.get("params", args.values[1] if len(args.values) > 1 else None))
        tree = Tree(result_level(m, [*args.values[1:], *args.kwargs.values()], library=True))
        if gives_result:
            return TupleValue((result, tree)) if stateful else result
        return TupleValue((tree, Tree(tree.level))) if stateful else tree

    return handler


def _track_sequence(m: Machine, at: Call, index: int, callee: str) -> None:
    """The network takes keys of a sequence: always to make parameters, and in ``apply`` if it asks for some."""
    values, nodes = at.args.values, at.args.nodes
    key = at.args.kwargs.get("rng", values[index] if len(values) > index else None)
    if key is None or not m.trackers[Keys].conventions or (callee == "apply" and is_set_not_to_train(at.args)):
        return
    written = at.args.keyword_nodes.get("rng", nodes[index] if len(nodes) > index else None)
    use_key(m, Touch(at.frame, at.node, key), Usage("consume", written, conventional=callee))


def _taking(descriptor: str) -> Handler:
    """``next_rng_key()``: the next keys of the sequence."""

    def handler(m: Machine, frame: Frame, node: Any, args: Arguments) -> Value:
        m.trackers[KeySequences].taken += 1
        emit_next_key(m, frame, node)
        return value_of_descriptor(m, descriptor, result_level(m, args.values, library=True), {})

    return handler


_WITHOUT = frozenset({"params", "state"})
_OWN = _WITHOUT | {"rng"}

library("haiku.next_rng_key")(_taking("key"))
library("haiku.next_rng_keys")(_taking("keys"))
library("haiku.transform")(_pair("haiku.Transformed", _INIT, _APPLY))
library("haiku.transform_with_state")(_pair("haiku.TransformedWithState", _INIT_STATE, _APPLY_STATE))
library(_INIT)(_called(1, frozenset({"rng"}), gives_result=False, stateful=False))
library(_INIT_STATE)(_called(1, frozenset({"rng"}), gives_result=False, stateful=True))
library(_APPLY)(_called(2, _OWN, gives_result=True, stateful=False))
library(_APPLY_STATE)(_called(3, _OWN, gives_result=True, stateful=True))
library(_WITHOUT_RNG[_APPLY])(_called(1, _WITHOUT, gives_result=True, stateful=False))
library(_WITHOUT_RNG[_APPLY_STATE])(_called(2, _WITHOUT, gives_result=True, stateful=True))
