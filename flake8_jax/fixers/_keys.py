"""Giving every use of a PRNG key a key of its own.

Vocabulary
----------
use         the call that takes the key, and the argument that is the key.
split line  ``key, subkey = jax.random.split(key)``: put before the statement of one use, which then takes ``subkey``,
            while everything after it sees the new ``key``.

Limitations: keys that are stored in containers between the uses, uses in different functions (refused).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import binders
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, fresh, is_target, target_names, uses
from flake8_jax.fixers._source import Declined, FixSource, Refused
from flake8_jax.fixers._spare_keys import (
    SPLIT,
    another_name,
    extended_split,
    is_bound_between,
    is_spare,
    is_split,
    later_spare,
    one_more,
    purpose_of,
    reads_of,
    spare_subkey,
    split_names,
)
from flake8_jax.semantics.domain.boundary import ELEMENT
from flake8_jax.semantics.domain.values import Array, Opaque, canonical_key
from flake8_jax.semantics.events.events import KeyUse

SUBKEY = "subkey"
_THREE = 3
_TOGETHER = 30
"""At most so many lines are between the first and the last use for which one split makes keys."""
_ONE_LINE = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt)
_ONCE = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt, ir.Return, ir.If, ir.For, ir.With, ir.Assert, ir.Raise)

_KEY_NAME = re.compile(
    r"(?:^|[._])(?:k|prng|rng|(?:sub|prng_?|rng_?)?key)(?:_\w*[^s\W])?\d*(?:\[[^\]]*\])?\Z", re.IGNORECASE
)
"""One key by its name: ``key``, ``rng_1``, ``self.key_init``, ``subkey``, and no ``keys``."""


def is_taken_from_batch(event: KeyUse) -> bool:
    """The key is one of an array of keys, and the code at hand has the array: splitting that would split each of them."""
    key = canonical_key(event.key)
    if event.key_node is not None:
        return False
    if isinstance(key, Array):
        return key.ndim != 0
    while isinstance(key, Opaque) and key.step != ELEMENT and key.parent is not None:
        key = canonical_key(key.parent)
    return isinstance(key, Opaque) and key.step == ELEMENT


def evaluated_once(source: FixSource, node: ir.Node) -> ir.Stmt:
    """The statement that evaluates a node, exactly once each time it runs.

    Raises:
        Refused: the node is in a lambda, a comprehension, a loop's test, an ``elif`` or a decorator.
    """
    statement = source.statement(node)
    if not isinstance(statement, _ONCE) or (isinstance(statement, ir.If) and statement.is_elif):
        raise Refused
    between = source.between(node, statement)
    if any(isinstance(a, (ir.Lambda, ir.Function)) for a in between):
        raise Refused
    if any(isinstance(a, ir.Comprehension) and not feeds(a, node) for a in between):
        raise Refused
    return statement


def feeds(loop: msgspec.Struct, node: ir.Node) -> bool:
    """Whether a node below a loop or comprehension is in what that iterates over: evaluated once."""
    if isinstance(loop, ir.Comprehension):
        iterated = loop.generators[0].iter
    elif isinstance(loop, ir.For):
        iterated = loop.iter
    else:
        return False
    return iterated.start <= node.start and node.end <= iterated.end


def key_argument(source: FixSource, call: ir.Node, text: str) -> ir.Expr:
    """The argument of a call that is spelled ``text``.

    Raises:
        Refused: there is none, or more than one.
    """
    if not isinstance(call, ir.Call):
        raise Refused
    found = [a.value for a in call.args if not a.star and source.slice(a.value) == text]
    if len(found) != 1:
        raise Refused
    return found[0]


def is_local(source: FixSource, at: ir.Node, name: str) -> bool:
    """Whether the innermost function (or the module, outside functions) binds the name itself."""
    around = source.functions(at)
    if not around:
        return name in source.module.bound_names
    function = around[0]
    if name in function.global_names or name in function.nonlocal_names:
        return False
    return name in function.local_names or any(p.name == name for p in function.params)


def split_before(source: FixSource, use: ir.Expr, again: ir.Expr | None = None) -> list[Edit]:
    """A new key for a use of a local name: the spare one of a split in front, one more of the split that made the key of this
    use and of ``again``, or that of a split line before the statement.

    Raises:
        Refused: the key is no local name, or nothing can stand before the statement.
    """
    statement = evaluated_once(source, use)
    if not isinstance(use, ir.Name) or not is_local(source, use, use.id) or _is_something_else(source, use):
        raise Refused
    imports = Imports(source, use)
    taken = spare_for(source, use)
    if taken is None and again is not None:
        taken = extended_split(source, use, again)
    if taken is not None:
        return taken
    subkey = _free_subkey(source, use, statement, imports)
    place = source.place(statement)
    before = place.block[place.index - 1] if place.index else None
    if isinstance(before, ir.Assign) and (split := _advance(before, use.id, imports)) is not None:
        line = f"{use.id}, {subkey} = {source.slice(split.func)}({use.id})"
        return [Edit(before.start, before.end, line), Edit(use.start, use.end, subkey)]
    line = f"{use.id}, {subkey} = {_spelled_split(source, use, imports)}({use.id})"
    return [source.insert_before(statement, [line]), Edit(use.start, use.end, subkey), *imports.edits]


def split_for_all(source: FixSource, uses: Sequence[ir.Name]) -> list[Edit] | None:
    """One split in front of three or more uses of a key: ``key, a, b, c = split(key, 4)``. None where the uses do not stand
    together, some run more often than others, or something else reads the key as well.

    uses: in the order of the text.
    """
    first, statement = uses[0], source.statement(uses[0])
    if len(uses) < _THREE or not is_local(source, first, first.id) or _is_something_else(source, first):
        return None
    if source.text.count("\n", first.start, uses[-1].start) > _TOGETHER or not isinstance(
        statement, (*_ONE_LINE, ir.Return)
    ):
        return None
    block, known = source.place(statement).block, [first.id]
    for use in uses:
        try:
            using = evaluated_once(source, use)
        except Refused:
            return None
        if not any(one is using for one in block):
            return None
        known.append(another_name(source, use, known))
    around = source.functions(first)
    if any(name.rstrip("0123456789") == first.id for name in known[1:]):
        known[1:] = _numbered_alike(source, first, len(uses))
    named = [node for node in walk(around[0] if around else source.module) if isinstance(node, ir.Name)]
    if any(
        node.id == first.id and first.start < node.start < uses[-1].start and not _is_in(node, uses) for node in named
    ):
        return None
    imports = Imports(source, first)
    made = known if _is_needed_later(source, uses[-1]) else known[1:]
    line = f"{', '.join(made)} = {_spelled_split(source, first, imports)}({first.id}, {len(made)})"
    edits = [Edit(node.start, node.end, name) for node, name in zip(uses, known[1:], strict=True)]
    return [source.insert_before(statement, [line]), *edits, *imports.edits]


def _numbered_alike(source: FixSource, key: ir.Name, count: int) -> list[str]:
    """``key1``, ``key2``, and so on, where nothing has these names; else ``key_1``."""
    for stem in (key.id.rstrip("0123456789"), f"{key.id}_"):
        wanted = [f"{stem}{number}" for number in range(1, count + 1)]
        if fresh(source, key, *wanted) == wanted:
            return wanted
    raise Refused


def _is_needed_later(source: FixSource, last: ir.Name) -> bool:
    """Something may read the key behind its last use: code below it, the next iteration, another function or file."""
    around = source.functions(last)
    if not around or any(isinstance(above, (ir.For, ir.While)) for above in source.ancestors(last)):
        return True
    reads = (node for node in walk(around[0]) if isinstance(node, ir.Name) and node.id == last.id)
    return any(node.start > last.start or source.functions(node) != around for node in reads)


def _is_in(node: ir.Node, nodes: Sequence[ir.Node]) -> bool:
    return any(node is one for one in nodes)


def spare_for(source: FixSource, use: ir.Expr, again: ir.Expr | None = None) -> list[Edit] | None:
    """A use takes the key that a split in front makes and nothing reads; ``_`` gets a name. again: a second use of the key,
    which takes the key of a split between the two.

    Raises:
        Refused: the first use may run more than once, or not at all, when its statement runs.
    """
    if not isinstance(use, ir.Name):
        return None
    later = later_spare(source, use, again) if again is not None else None
    if later is not None and again is not None:
        return [Edit(again.start, again.end, later.id)]
    statement, imports = evaluated_once(source, use), Imports(source, use)
    spare = spare_subkey(source, statement, use.id, imports)
    if spare is None:
        return None
    if spare.id != "_":
        taking = again if again is not None and _keeps_first(source, spare, use, again) else use
        return [Edit(taking.start, taking.end, spare.id)]
    name = _free_subkey(source, use, statement, imports)
    return [Edit(spare.start, spare.end, name), Edit(use.start, use.end, name)]


def _keeps_first(source: FixSource, spare: ir.Name, first: ir.Name, second: ir.Expr) -> bool:
    """The first of two uses keeps the key that it has by name and number, where a split made that beside the spare one: the
    second use takes the spare one, which reaches it."""
    split, again = source.statement(spare), source.statement(second)
    if not isinstance(split, ir.Assign) or [name.id for name in split_names(split)][:1] == [first.id]:
        return False
    carried = any(isinstance(node, ir.Name) and node.id == first.id for node in walk(split.value))
    if carried or not is_spare(source, spare, again):
        return False
    if _is_split(source, second) or source.functions(second) != source.functions(first):
        return False
    inner = [
        one for one in source.ancestors(second) if isinstance(one, (ir.For, ir.While, ir.Comprehension, ir.Lambda))
    ]
    return all(one.start <= split.start < one.end for one in inner)


def _is_split(source: FixSource, use: ir.Expr) -> bool:
    """A split takes the key, whose names may be those of the first use."""
    call = source.parent(source.parent(use))
    return isinstance(call, ir.Call) and Imports(source, call).resolve(call.func) == SPLIT


def _free_subkey(source: FixSource, use: ir.Expr, statement: ir.Stmt, imports: Imports) -> str:
    """The name of a new key that stands before a statement."""
    return SUBKEY if _may_reuse_subkey(source, statement, imports) else _new_subkey(source, use)


def _new_subkey(source: FixSource, use: ir.Expr) -> str:
    """A new name for a key: ``subkey``, or one after what takes it (``init_key``) where that is taken."""
    [plain] = fresh(source, use, SUBKEY)
    name = purpose_of(source, use)
    if plain == SUBKEY or not name:
        return plain
    [named] = fresh(source, use, f"{name}_key")
    return named if named == f"{name}_key" else plain


def one_more_key(source: FixSource, use: ir.Name) -> list[Edit] | None:
    """``a, b = split(key)`` becomes ``key, a, b = split(key, 3)``; None where the statement is another."""
    statement = source.statement(use)
    if not isinstance(statement, ir.Assign) or not is_split(statement, Imports(source, statement)):
        return None
    value, names = statement.value, split_names(statement)
    if not names or not isinstance(value, ir.Call) or value.args[0].value is not use:
        return None
    count = one_more(statement, len(names))
    if count is None or {use.id, "_"} & {name.id for name in names}:
        return None
    if source.comments(statement.start, statement.end):
        return None
    return [Edit(names[0].start, names[0].start, f"{use.id}, "), count]


def _spelled_split(source: FixSource, use: ir.Expr, imports: Imports) -> str:
    """``split`` as the call spells its module that uses the key: ``jax.random.split`` beside ``jax.random.normal``."""
    above = source.parent(source.parent(use))
    function = above.func if isinstance(above, ir.Call) else None
    if isinstance(function, ir.Attribute) and imports.resolve(function.value) == "jax.random":
        return f"{source.slice(function.value)}.split"
    return imports.spell(SPLIT)


def _is_something_else(source: FixSource, use: ir.Name) -> bool:
    """A loop binds the name to what it iterates over: ``for key, value in metrics.items()``; or the project has a function
    of its own that splits it, whose keys nothing here knows."""
    around = source.functions(use)
    owner = around[0] if around else source.module
    bound = binders(source, owner, use.id)
    if any(_has_own_split(source, statement) for statement in bound):
        return True
    return any(not _makes_keys(source, loop) for loop in bound if isinstance(loop, ir.For))


def _has_own_split(source: FixSource, statement: ir.Stmt) -> bool:
    """``a, key = splitkey(key)``: the project splits keys in its own way."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    if (
        not isinstance(value, ir.Call)
        or not isinstance(statement, ir.Assign)
        or not isinstance(statement.targets[0], ir.Tuple)
    ):
        return False
    name = source.slice(value.func).rpartition(".")[2]
    return "split" in name and not (Imports(source, value).resolve(value.func) or "").startswith("jax.")


def _makes_keys(source: FixSource, loop: ir.For) -> bool:
    """It iterates over keys, as far as the text shows: over a name, or over what splits a key."""
    calls = [node for node in walk(loop.iter) if isinstance(node, ir.Call)]
    return not any(isinstance(call.func, ir.Attribute) and call.func.attr in ("items", "keys") for call in calls)


def _advance(statement: ir.Assign, key: str, imports: Imports) -> ir.Call | None:
    """The split of ``key = split(key, 1)[0]`` or ``(key,) = split(key, 1)``: another key in place of the old one."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, (ir.Tuple, ir.List)) and len(target.elts) == 1:
        target = target.elts[0]
    elif isinstance(value, ir.Subscript) and isinstance(value.index, ir.Constant) and value.index.value == 0:
        value = value.value
    else:
        return None
    if not isinstance(target, ir.Name) or target.id != key or len(statement.targets) != 1:
        return None
    if not isinstance(value, ir.Call) or imports.resolve(value.func) != SPLIT or len(value.args) != 2:
        return None
    given, count = value.args[0].value, value.args[1].value
    is_one = isinstance(count, ir.Constant) and count.value == 1
    return value if is_one and isinstance(given, ir.Name) and given.id == key else None


def _may_reuse_subkey(source: FixSource, statement: ir.Stmt, imports: Imports) -> bool:
    """Whether the function has the name already, and a statement may bind it once more: every other use is right behind its
    split, or reads what another statement binds."""
    around = source.functions(statement)
    known = around[0].local_names if around else source.module.bound_names
    if SUBKEY not in known or any(SUBKEY in f.local_names for f in around[1:]):
        return False
    place = source.place(statement)
    if place.index and _splits_off(source, place.block[place.index - 1], imports):
        return False
    mentions = [
        node for node in walk(around[0] if around else source.module) if isinstance(node, ir.Name) and node.id == SUBKEY
    ]
    if not all(source.functions(node) == around for node in mentions):
        return False
    follow = all(_follows_split(source, node, imports) for node in mentions)
    return follow or all(is_target(source, node) or _is_bound_again(source, statement, node) for node in mentions)


def _is_bound_again(source: FixSource, statement: ir.Stmt, read: ir.Name) -> bool:
    """No value that ``statement`` gives the name reaches a read of it: another one is always bound in between."""
    return is_bound_between(source, statement, read, binder_before(source, source.statement(read), read.id))


def _follows_split(source: FixSource, node: ir.Name, imports: Imports) -> bool:
    """A subkey is bound by a split, or taken by the statement right behind one."""
    taking = source.statement(node)
    if _splits_off(source, taking, imports):
        return True
    there = source.place(taking)
    if not there.index or not _splits_off(source, there.block[there.index - 1], imports):
        return False
    return isinstance(taking, (*_ONE_LINE, ir.Return))


def _splits_off(source: FixSource, statement: ir.Stmt, imports: Imports) -> bool:
    """``key, subkey = jax.random.split(key)``."""
    if not isinstance(statement, ir.Assign) or not is_split(statement, imports):
        return False
    target = statement.targets[0]
    if not isinstance(target, ir.Tuple) or len(target.elts) != 2:
        return False
    return isinstance(target.elts[1], ir.Name) and target.elts[1].id == SUBKEY


def split_of_the_rest(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit] | None:
    """``key, sub = split(sub)`` behind another such line and a use of ``sub``: ``key`` was meant to be split, which nothing
    has used. ``key, sub = split(key)`` behind another one: the use of ``key`` takes the unused half instead, which is ``_`` in
    some files. None where the code is another."""
    again = source.statement(second)
    if not isinstance(second, ir.Name) or not isinstance(again, ir.Assign) or again.start < first.start:
        return None
    names = _halves(source, again)
    before = binder_before(source, source.statement(first), second.id)
    if names is None or not isinstance(before, ir.Assign) or before is again or _halves(source, before) != names:
        return None
    if again.value is not source.parent(source.parent(second)) or second.id not in names:
        return None
    rest = names[0] if names[1] == second.id else names[1]
    around = source.functions(second)
    inside = walk(around[0] if around else source.module)
    between = [n for n in inside if isinstance(n, ir.Name) and n.id in names and before.end <= n.start < again.start]
    alone = [n for n in between if n.id == second.id] == [first]
    if rest == "_":
        return _swapped(source, before, first) if alone and names[0] == second.id else None
    if rest == second.id or any(n.id == rest for n in between):
        return None
    if names[0] == second.id:
        return [Edit(first.start, first.end, rest)] if alone else None
    return [Edit(second.start, second.end, rest)]


def _swapped(source: FixSource, split: ir.Assign, use: ir.Expr) -> list[Edit] | None:
    """``key, _ = split(key)`` and a use of ``key``: the other half gets a name, and the use takes it."""
    target, statement = split.targets[0], source.statement(use)
    assert isinstance(target, ir.Tuple)
    spare = target.elts[1]
    subkey = _free_subkey(source, use, statement, Imports(source, use))
    return [Edit(spare.start, spare.end, subkey), Edit(use.start, use.end, subkey)]


def split_earlier(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit] | None:
    """``x = draw(key)``, then ``key, _ = split(key)``, ``_, key = split(key)`` or ``(key,) = split(key, 1)``: the split goes in
    front, and the half that nothing reads to the draw; see ``_item_earlier`` for one more. None where the code is another."""
    using, again = source.statement(first), source.statement(second)
    if not isinstance(second, ir.Name) or not isinstance(again, ir.Assign) or using.start > again.start:
        return None
    imports = Imports(source, first)
    halves = _halves(source, again)
    unread = None if halves is None else _unread_half(source, again, using, second.id)
    split = again.value if unread is not None else _advance(again, second.id, imports)
    is_beside = any(statement is using for statement in source.place(again).block)
    if (
        not is_beside
        or not isinstance(using, _ONE_LINE)
        or not source.starts_line(again)
        or not source.ends_line(again)
    ):
        return None
    if not isinstance(split, ir.Call):
        return _item_earlier(source, first, second, again)
    if unread is not None and unread != "_":
        subkey = unread
    else:
        subkey = _free_subkey(source, first, using, imports)
    both = (subkey, second.id) if halves is not None and halves[1] == second.id else (second.id, subkey)
    line = f"{', '.join(both)} = {source.slice(split.func)}({second.id})"
    remark = source.text[again.end : source.line_end(again.end)].strip()
    return [
        source.insert_before(using, [f"{line}  {remark}" if remark else line]),
        Edit(first.start, first.end, subkey),
        without_line(source, again),
    ]


def _unread_half(source: FixSource, split: ir.Assign, using: ir.Stmt, key: str) -> str | None:
    """The half beside the key that a split binds behind a use of the key and that nothing reads: ``_``, or a name that does not
    occur in between."""
    names = split_names(split)
    others = [name for name in names if name.id != key]
    if len(names) != 2 or len(others) != 1:
        return None
    if others[0].id == "_":
        return "_"
    around = source.functions(split)
    inside = walk(around[0] if around else source.module)
    between = any(
        isinstance(n, ir.Name) and n.id == others[0].id and using.start <= n.start < split.start for n in inside
    )
    if between or reads_of(source, split, key) > 1:  # in that case, another use of the key takes the half
        return None
    return others[0].id if is_spare(source, others[0]) else None


def _item_earlier(source: FixSource, first: ir.Expr, second: ir.Name, again: ir.Assign) -> list[Edit] | None:
    """``x = draw(key)``, then ``other = split(key)[0]``: ``key, other = split(key)`` goes in front instead. None where the code
    is another, or something reads the key after it."""
    using, split = source.statement(first), half(again.value, Imports(source, first))
    target = again.targets[0] if len(again.targets) == 1 else None
    if split is None or not isinstance(target, ir.Name):
        return None
    around = source.functions(second)
    loops = (ir.For, ir.While, ir.Comprehension)
    if not around or any(isinstance(above, loops) for above in source.between(again, around[0])):
        return None
    inside = [n for n in walk(around[0]) if isinstance(n, ir.Name) and n.start >= using.start]
    read = {id(n) for n in inside if n.id == second.id}
    if read != {id(first), id(second)} or any(n.id == target.id and n.start < again.start for n in inside):
        return None
    start = source.line_start(again.start)
    above = source.text[source.line_start(start - 1) : start].strip()
    if target.id == second.id or above.startswith("#") or not is_local(source, first, second.id):
        return None
    remark = source.text[again.end : source.line_end(again.end)].strip()
    line = f"{second.id}, {target.id} = {source.slice(split.func)}({second.id})"
    return [
        source.insert_before(using, [f"{line}  {remark}" if remark else line]),
        without_line(source, again),
    ]


def without_line(source: FixSource, statement: ir.Stmt) -> Edit:
    """The line of a statement goes, and one of the empty lines between which it stands."""
    start, end = source.line_start(statement.start), source.next_line(statement.end)
    before = source.text[source.line_start(start - 1) : start] if start else ""
    after = source.text[end : source.next_line(end)]
    if not before.strip() and after and not after.strip():
        end = source.next_line(end)
    return Edit(start, end, "")


def half(value: ir.Expr, imports: Imports) -> ir.Call | None:
    """The call of ``split(key)[0]`` or ``split(key)[1]``."""
    match value:
        case ir.Subscript(value=ir.Call(func=func, args=[_]) as call, index=ir.Constant(kind="int", value=0 | 1)):
            return call if imports.resolve(func) == SPLIT else None
    return None


def _halves(source: FixSource, statement: ir.Assign) -> tuple[str, str] | None:
    """The two names of ``key, sub = jax.random.split(…)``."""
    target = statement.targets[0]
    if not is_split(statement, Imports(source, statement)) or not isinstance(target, ir.Tuple):
        return None
    names = [element.id for element in target.elts if isinstance(element, ir.Name)]
    return (names[0], names[1]) if len(names) == len(target.elts) == 2 else None


def split_for_both(source: FixSource, first: ir.Expr, second: ir.Expr) -> list[Edit]:
    """Two fresh keys before the statement of the first use, one for each use: for keys that cannot be rebound.

    Raises:
        Refused: the first statement does not surely run before the second, or both uses are one place in the code, as
            where a call hands on one argument twice.
    """
    if first.start < second.end and second.start < first.end:
        raise Refused
    statement = evaluated_once(source, first)
    _check_loop(source, statement, first)
    place = source.place(statement)
    later = source.statement(second)
    path: list[object] = [later, *source.ancestors(later)]
    if not any(s is p for s in place.block[place.index :] for p in path):
        raise Refused
    imports = Imports(source, first)
    one, two = fresh(source, first, "key_1", "key_2")
    line = f"{one}, {two} = {imports.spell('jax.random.split')}({source.argument(first)})"
    return [
        source.insert_before(statement, [line]),
        Edit(first.start, first.end, one),
        Edit(second.start, second.end, two),
        *imports.edits,
    ]


def _check_loop(source: FixSource, statement: ir.Stmt, key: ir.Expr) -> None:
    """The key that is split is another one in each iteration of the innermost loop.

    Raises:
        Declined: all iterations would split the same key.
    """
    loop = next(
        (above for above in source.ancestors(statement) if isinstance(above, (ir.For, ir.While, ir.Function))), None
    )
    if not isinstance(loop, (ir.For, ir.While)):
        return
    bound = set(uses(*loop.body).binds) | (set(target_names(loop.target)) if isinstance(loop, ir.For) else set())
    if any(isinstance(node, ir.Name) and node.id in bound for node in walk(key)):
        return
    stored = (target for node in walk(loop) if isinstance(node, ir.Assign) for target in node.targets)
    if source.slice(key) not in {source.slice(part) for target in stored for part in walk(target)}:
        raise Declined("no automatic fix, because each iteration would split the same key; first split it in the loop")


# --- keys that a callee uses -----------------------------------------------------------------------


def plain_arguments(call: ir.Node) -> list[ir.Expr]:
    """The arguments of a call that are a name, an attribute or an item."""
    if not isinstance(call, ir.Call):
        return []
    return [a.value for a in call.args if not a.star and isinstance(a.value, (ir.Name, ir.Attribute, ir.Subscript))]


def passed_key(source: FixSource, call: ir.Node, callee: str, candidates: list[ir.Expr]) -> ir.Expr:
    """The one of some arguments that is the key that the callee uses.

    Raises:
        Refused: neither a callee in this file nor its name tells. An object that holds a key is no key.
    """
    wanted = callee.rpartition(".")[2]
    definitions = [n for n in walk(source.module) if isinstance(n, ir.FunctionDef) and n.function.name == wanted]
    if len(definitions) != 1 or not isinstance(call, ir.Call):
        named = [c for c in candidates if _KEY_NAME.search(source.slice(c))]
        if len(candidates) != 1 or not named:
            raise Refused
        return named[0]
    arguments = _by_parameter(source, call, definitions[0])
    keys = _key_parameters(source, definitions[0].function, 3)
    found = [v for name, v in arguments.items() if name in keys and any(v is c for c in candidates)]
    if len(found) != 1:
        raise Refused
    return found[0]


def _by_parameter(source: FixSource, call: ir.Call, definition: ir.FunctionDef) -> dict[str, ir.Expr]:
    names = [p.name for p in definition.function.params if p.kind in ("posonly", "positional")]
    if isinstance(source.parent(definition), ir.ClassDef) and isinstance(call.func, ir.Attribute):
        names = names[1:]
    found: dict[str, ir.Expr] = {}
    for argument in call.args:
        if argument.star:
            break
        if argument.keyword:
            found[argument.keyword] = argument.value
        elif names:
            found[names.pop(0)] = argument.value
    return found


def _key_parameters(source: FixSource, function: ir.Function, depth: int) -> set[str]:
    """The parameters that the function hands to ``jax.random``, itself or through functions of the same file."""
    found: set[str] = set()
    for node in (n for s in function.body for n in walk(s)):
        if not isinstance(node, ir.Call) or not node.args:
            continue
        if (Imports(source, node).resolve(node.func) or "").startswith("jax.random."):
            keys = [node.args[0].value]
        else:
            keys = _keys_handed_on(source, node, depth - 1) if depth else []
        found.update(key.id for key in keys if isinstance(key, ir.Name))
    return found & {p.name for p in function.params}


def _keys_handed_on(source: FixSource, call: ir.Call, depth: int) -> list[ir.Expr]:
    """The arguments of a call of a function in this file that become keys there."""
    if not isinstance(call.func, ir.Name):
        return []
    found: list[ir.Expr] = []
    for other in source.module.body:
        if isinstance(other, ir.FunctionDef) and other.function.name == call.func.id:
            keys = _key_parameters(source, other.function, depth)
            found += [value for name, value in _by_parameter(source, call, other).items() if name in keys]
    return found
