"""JAX301: the key is split before its first use, which takes the new subkey.

Where equal draws are meant (``_meant``) there is no fix.

Limitations: keys that reach both uses under different spellings, or in different functions.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import OTHER_DRAWS, unsafe
from flake8_jax.fixers._conditions import are_meant_to_be_equal, may_be_meant
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._keys import (
    evaluated_once,
    is_local,
    is_taken_from_batch,
    key_argument,
    passed_key,
    plain_arguments,
    spare_for,
    split_before,
    split_earlier,
    split_for_all,
    split_for_both,
    split_of_the_rest,
)
from flake8_jax.fixers._missing_keys import check_key
from flake8_jax.fixers._moved_splits import advanced_instead, attribute_split_earlier, split_moved_up
from flake8_jax.fixers._other_takers import TAKEN, are_compared, other_takers
from flake8_jax.fixers._source import Declined, FixSource, Refused, fixer
from flake8_jax.fixers._spare_keys import extended_split
from flake8_jax.fixers._undrawn import is_in_vain
from flake8_jax.semantics.events.events import FileRead, KeyUse, LibraryCall

_HARMLESS = frozenset(f"jax.random.{name}" for name in ("fold_in", "key_data", "clone", "key_impl"))
_OTHER_HALF = "Split the unused half of the key"
_SPARE = "Use the new key that nothing uses yet"
_EARLIER = "Split the key before its first use"
_MESSAGE = "Split the key and pass a new key to each use"


@fixer("key-reuse")
def fix(event: KeyUse | LibraryCall | FileRead, source: FixSource) -> Fix | None:
    if isinstance(event, (LibraryCall, FileRead)):
        return None  # where a new key is to be kept, or comes from, is the author's choice
    earlier = event.earlier
    if earlier is None or earlier.scope is not event.context.scope or event.carried or is_taken_from_batch(event):
        return None
    if may_be_meant(event):
        return None
    if event.same_call:
        first, second = _within(source, event.at, event.key_node)
    else:
        second = event.key_node or _shared(source, event)
        first = _first_use(source, event, second)
    if source.functions(first) != source.functions(second):
        return None
    if _used_between(source, first, second) or _comes_back(source, first, second):
        return None
    if are_meant_to_be_equal(source, first, second) or any(is_in_vain(source, use) for use in (first, second)):
        return None
    evaluated_once(source, second)
    check_key(source, first)
    spare = spare_for(source, first, second) if _is_own_name(source, first, second) else None
    together = _split_together(source, first, second) if spare is None else None
    if together is not None:
        return unsafe(_MESSAGE, OTHER_DRAWS, together)
    others = other_takers(source, first, second)
    if others:
        return unsafe(_MESSAGE, OTHER_DRAWS, _split_for_all(source, first, second, others, spare))
    if spare is not None:
        return unsafe(_SPARE, OTHER_DRAWS, spare)
    return _split(source, first, second)


def _split(source: FixSource, first: ir.Expr, second: ir.Expr) -> Fix | None:
    """A split for two uses of a key, of which no split is there that could make one more: a new one, or one that moves up."""
    rest = split_of_the_rest(source, first, second)
    if rest is not None:
        return unsafe(_OTHER_HALF, OTHER_DRAWS, rest)
    moved = split_earlier(source, first, second)
    if moved is not None:
        return unsafe(_EARLIER, OTHER_DRAWS, moved)
    if _is_own_name(source, first, second):
        moved = split_moved_up(source, first, second) or advanced_instead(source, first, second)
        if moved is not None:
            return unsafe(_EARLIER, OTHER_DRAWS, moved)
        return unsafe(_MESSAGE, OTHER_DRAWS, split_before(source, first, second))
    if not isinstance(second, (ir.Name, ir.Attribute, ir.Subscript)) or _is_kept_here(source, second):
        return None
    moved = split_moved_up(source, first, second) or attribute_split_earlier(source, first, second)
    if moved is not None:
        return unsafe(_EARLIER, OTHER_DRAWS, moved)
    return unsafe(_MESSAGE, OTHER_DRAWS, split_for_both(source, first, second))


def _split_together(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit] | None:
    """A key for each of three or more uses, from the split that made the key or from a new one; None where there are two.

    Raises:
        Refused: they are calls of one function, which may be compared on equal draws.
    """
    if not isinstance(first, ir.Name) or not isinstance(second, ir.Name) or not _is_own_name(source, first, second):
        return None
    others = other_takers(source, first, second, with_draws=True)
    takers = {id(node) for node in other_takers(source, second, second, with_draws=True)} | {id(second)}
    if not others or not {id(first)} <= takers:
        return None
    if are_compared(source, [first, second, *others]):
        raise Refused
    edits = extended_split(source, first, second, others)
    return edits or split_for_all(source, sorted([first, second, *others], key=lambda node: node.start))


def _split_for_all(
    source: FixSource, first: ir.Expr, second: ir.Expr, others: list[ir.Name], spare: list[Edit] | None
) -> list[Edit]:
    """A key for each of several calls that take one key. spare: the edits that give the second one a key that is there.

    Raises:
        Declined: no split is there that could make them.
    """
    if spare is None:
        edits = extended_split(source, first, second, others)
    elif any(edit.start == first.start for edit in spare):
        edits = None
    else:
        edits = extended_split(source, first, others[0], others[1:])
    if edits is None:
        raise Declined(TAKEN.format(source.slice(second)))
    return [*edits, *(spare or [])]


def _is_own_name(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """Both uses read a variable of the function around."""
    return isinstance(second, ir.Name) and is_local(source, first, second.id)


def _is_kept_here(source: FixSource, key: ir.Expr) -> bool:
    """``self.rng = key`` in the same function: others will split what is kept there, which the fix leaves as it is, and get
    the very keys that the fix hands out."""
    if not isinstance(key, ir.Attribute):
        return False
    around = source.functions(key)
    nodes = (node for statement in (around[0].body if around else source.module.body) for node in walk(statement))
    targets = (target for node in nodes if isinstance(node, ir.Assign) for target in node.targets)
    return any(source.slice(target) == source.slice(key) for target in targets)


def _shared(source: FixSource, event: KeyUse) -> ir.Expr:
    """The argument that the later call has in common with the earlier one."""
    assert event.earlier is not None
    earlier = source.at_span(event.earlier.start, event.earlier.end, ir.Call)
    if not isinstance(earlier, ir.Call):
        raise Refused
    texts = {source.slice(a) for a in plain_arguments(earlier)}
    common = [a for a in plain_arguments(event.at) if source.slice(a) in texts]
    return passed_key(source, event.at, event.through, common)


def _used_between(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """Whether another call takes the key between the two uses.

    That use has a finding of its own: once it is fixed, this one collides with it and no longer with the first.
    """
    for argument in source.arguments_between(first.end, second.start, source.slice(second)):
        call = source.parent(argument)
        name = Imports(source, call).resolve(call.func) if isinstance(call, ir.Call) else None
        if name not in _HARMLESS:
            return True
    return False


def _comes_back(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """``key, x = step(key)``: the name stands for another key behind the first call."""
    statement = source.statement(first)
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    bound = {node.id for target in targets for node in walk(target) if isinstance(node, ir.Name)}
    return isinstance(second, ir.Name) and second.id in bound and source.statement(second) is not statement


def _first_use(source: FixSource, event: KeyUse, second: ir.Expr) -> ir.Expr:
    """The argument that was the key the first time: spelled the same, at the earlier call or in this one."""
    assert event.earlier is not None
    text = source.slice(second)
    start, end = event.earlier.start, event.earlier.end
    call = source.at_span(start, end, ir.Call)
    if call is event.at:
        return _within(source, event.at, second)[0]
    if isinstance(call, ir.Call):
        return key_argument(source, call, text)
    found = source.at_span(start, end, type(second))
    if isinstance(found, (ir.Name, ir.Attribute, ir.Subscript)) and source.slice(found) == text:
        return found
    raise Refused


def _within(source: FixSource, call: ir.Node, key: ir.Expr | None) -> tuple[ir.Expr, ir.Expr]:
    """Two arguments of one call that are spelled the same, those of a dict (``rngs``) among them.

    Raises:
        Refused: there are none, or it is not clear which.
    """
    if not isinstance(call, ir.Call):
        raise Refused
    collections = [a.value for a in call.args if _is_dictionary(a.value)]
    for values in (_entries(collections), _entries([a.value for a in call.args])):
        groups: dict[str, list[ir.Expr]] = {}
        for value in values:
            if isinstance(value, (ir.Name, ir.Attribute, ir.Subscript)):
                groups.setdefault(source.slice(value), []).append(value)
        texts = groups if key is None else {source.slice(key)}
        repeated = [groups[t] for t in texts if len(groups.get(t, ())) > 1]
        if repeated:
            break
    if len(repeated) != 1:
        raise Refused
    return repeated[0][0], repeated[0][1]


def _is_dictionary(node: ir.Expr) -> bool:
    called = isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == "dict"
    return called or isinstance(node, ir.Dict)


def _entries(nodes: list[ir.Expr]) -> list[ir.Expr]:
    """The expressions, dictionaries replaced by their values."""
    found: list[ir.Expr] = []
    for node in nodes:
        if isinstance(node, ir.Dict):
            found += _entries(node.values)
        elif isinstance(node, ir.Call) and _is_dictionary(node):
            found += _entries([a.value for a in node.args])
        else:
            found.append(node)
    return found
