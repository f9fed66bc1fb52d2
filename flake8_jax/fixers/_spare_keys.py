"""Keys for a use from a split that is there already: one that nothing reads, or one more of the same split.

Vocabulary
----------
spare       a new key that a split binds, and whose value nothing reads.
extended    ``key, a = split(key)`` becomes ``key, a, b = split(key, 3)``.

A split counts if it surely runs before the use, once for each time that the use runs.

Limitations: keys in arrays (``keys = split(key, 3)``), spare keys in attributes, splits inside other expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, fresh, is_target, uses
from flake8_jax.fixers._source import FixSource

SPLIT = "jax.random.split"

_FUNCTION = re.compile(r"(?!(?:apply|partial|split|fold_in|key|clone)\b)[a-z][a-z0-9_]{2,14}")
"""A function of such a name can name the key that it gets."""
_SHORT = re.compile(r"(?<=^(?:eval|init))_.*|(?<=^train)_.*|(?<=^sample)_.*|(?<=^reset)_.*")
"""What follows the purpose in the name of a function: ``eval`` says enough of ``eval_epoch``."""
_VARIABLE = re.compile(r"(?!(?:key|rng|subkey|out|ret|res|tmp)\b)[a-z][a-z0-9_]{0,14}")
"""A variable of such a name can name the key of the draw that it holds."""
_OF_KEYS = re.compile(r"(?:rngs?|keys?|prng|seed|k)\d*\Z", re.IGNORECASE)
_WORDS = frozenset({"key", "rng", "prng", "seed", "k", "subkey"})
"""Parts of names that say that something is a key."""
_NEAR = 12
"""At most so many lines are between a split and a use for which it makes one more key."""
_NUMBERED = re.compile(r"(.*?)(\d+)\Z")


def is_split(statement: ir.Assign, imports: Imports) -> bool:
    """``… = jax.random.split(…)``."""
    value = statement.value
    return len(statement.targets) == 1 and isinstance(value, ir.Call) and imports.resolve(value.func) == SPLIT


def splits_before(source: FixSource, statement: ir.Stmt, imports: Imports) -> Iterator[tuple[ir.Assign, list[ir.Name]]]:
    """The splits into names that surely ran before a statement in the same iteration of all loops, the last one first."""
    for earlier in _assigned_before(source, statement):
        if is_split(earlier, imports):
            names = split_names(earlier)
            if names:
                yield earlier, names


def _assigned_before(source: FixSource, statement: ir.Stmt) -> Iterator[ir.Assign]:
    """The assignments that surely ran before a statement in the same iteration of all loops, the last one first."""
    place = source.place(statement)
    while True:
        for earlier in reversed(place.block[: place.index]):
            if isinstance(earlier, ir.Assign):
                yield earlier
        owner = place.owner
        if isinstance(owner, (ir.ExceptHandler, ir.MatchCase)):
            owner = source.parent(owner)
        if not isinstance(owner, (ir.If, ir.With, ir.Try, ir.Match)):
            return
        place = source.place(owner)


def _new_keys(split: ir.Assign) -> list[ir.Name | ir.Attribute]:
    """What a split of one key binds: names, and the attribute that holds the key (``self.key, a = split(self.key)``); none
    where something else is among the targets."""
    target = split.targets[0]
    elements = target.elts if isinstance(target, (ir.Tuple, ir.List)) else []
    keys = [element for element in elements if isinstance(element, (ir.Name, ir.Attribute))]
    return keys if len(keys) == len(elements) >= 2 else []


def split_names(statement: ir.Assign) -> list[ir.Name]:
    """The names of ``key, a, b = …``; none where something else is among the targets."""
    target = statement.targets[0]
    elements = target.elts if isinstance(target, (ir.Tuple, ir.List)) else []
    names = [element for element in elements if isinstance(element, ir.Name)]
    return names if len(names) == len(elements) and len(names) >= 2 else []


# --- a key that nothing reads ------------------------------------------------------------------------


def spare_subkey(source: FixSource, statement: ir.Stmt, key: str, imports: Imports) -> ir.Name | None:
    """The name that a split in front binds beside the key, and whose value nothing reads: it was meant for this use."""
    around = source.functions(statement)
    for split, names in splits_before(source, statement, imports):
        if _is_other_key(source, split, statement, key):
            return None
        others = [name for name in names if name.id != key]
        if len(others) != len(names) - 1:
            continue
        if _takes_before(source, split, statement, key) or _is_wanted_elsewhere(source, split, others):
            return None
        if len(others) == 1 and others[0].id == "_":
            if around and "_" not in uses(*around[0].body).reads:
                return others[0]
            continue
        spare = [name for name in others if name.id != "_" and is_spare(source, name, statement)]
        if spare:
            return spare[0] if len(spare) == 1 else None
    return None


def _takes_before(source: FixSource, split: ir.Assign, statement: ir.Stmt, key: str) -> bool:
    """Another use of the key stands between a split and a statement: the spare key is for that one."""
    around = source.functions(statement)
    imports = Imports(source, statement)
    for node in walk(around[0] if around else source.module):
        if isinstance(node, ir.Name) and node.id == key and split.end <= node.start < statement.start:
            user = source.statement(node)
            if not is_target(source, node) and not (isinstance(user, ir.Assign) and is_split(user, imports)):
                return True
    return False


def _is_wanted_elsewhere(source: FixSource, split: ir.Assign, names: list[ir.Name]) -> bool:
    """Another new key of the split is used twice, so that another fix may take the spare one."""
    return any(reads_of(source, split, name.id) > 1 for name in names if name.id != "_")


def reads_of(source: FixSource, split: ir.Assign, name: str) -> int:
    """How often the function around reads the key that a split binds to a name, as far as no other statement binds it first."""
    around = source.functions(split)
    reads = (
        node for node in walk(around[0] if around else source.module) if isinstance(node, ir.Name) and node.id == name
    )
    return sum(
        not is_target(source, node) and binder_before(source, source.statement(node), name) is split for node in reads
    )


def later_spare(source: FixSource, first: ir.Expr, second: ir.Expr) -> ir.Name | None:
    """The name that a split between two uses of one key binds, and whose value nothing reads: the second use was meant to take
    it. The split advances the same key as the split that made the key of the first use."""
    if not isinstance(first, ir.Name) or not isinstance(second, ir.Name):
        return None
    using, again = source.statement(first), source.statement(second)
    imports = Imports(source, second)
    maker = binder_before(source, using, first.id)
    carried = _advanced(maker) if isinstance(maker, ir.Assign) and is_split(maker, imports) else None
    for split, names in splits_before(source, again, imports):
        if split.start < using.start:
            return None
        if carried is None or _advanced(split) != carried or first.id in {name.id for name in names}:
            continue
        spare = [name for name in names if name.id not in ("_", carried) and is_spare(source, name, again)]
        if spare and _is_wanted_elsewhere(source, split, [name for name in names if name not in spare]):
            return None
        if spare:
            return spare[0] if len(spare) == 1 else None
    return None


def _advanced(split: ir.Assign) -> str | None:
    """``key`` of ``key, a = split(key)``."""
    value = split.value
    given = value.args[0].value if isinstance(value, ir.Call) and value.args else None
    names = {name.id for name in split_names(split)}
    return given.id if isinstance(given, ir.Name) and given.id in names else None


def _is_other_key(source: FixSource, split: ir.Assign, statement: ir.Stmt, key: str) -> bool:
    """Something other than a split binds the name of the key between a split and a statement."""
    around = source.functions(statement)
    imports = Imports(source, statement)
    for node in walk(around[0] if around else source.module):
        if not isinstance(node, ir.Name) or node.id != key or not split.end <= node.start < statement.start:
            continue
        if source.functions(node) == around and is_target(source, node):
            binder = source.statement(node)
            if not isinstance(binder, ir.Assign) or not is_split(binder, imports):
                return True
    return False


def is_spare(source: FixSource, name: ir.Name, before: ir.Stmt | None = None) -> bool:
    """Nothing reads the value that a split binds to a name. before: nor does another value reach this statement, by then."""
    split = source.statement(name)
    around = source.functions(name)
    if around and name.id in (*around[0].global_names, *around[0].nonlocal_names):
        return False
    if not around and (source.program is None or source.program.imported_elsewhere(source, name.id)):
        return False
    scope: ir.Function | ir.Module = around[0] if around else source.module
    for node in walk(scope):
        if isinstance(node, ir.Function) and name.id in (*node.global_names, *node.nonlocal_names):
            return False
        if not isinstance(node, ir.Name) or node.id != name.id or node is name or _is_of_inner(source, node, scope):
            continue
        if not is_target(source, node):
            if source.functions(node) != around or not _gets_another(source, split, node):
                return False
        elif before is not None and split.end <= node.start < before.start:
            return False
    return True


def _is_of_inner(source: FixSource, node: ir.Name, scope: ir.Function | ir.Module) -> bool:
    """A function inside of the scope has a variable of its own of that name."""
    for function in source.functions(node):
        if function is scope:
            return False
        if node.id in function.local_names or any(p.name == node.id for p in function.params):
            return True
    return False


def _gets_another(source: FixSource, split: ir.Stmt, read: ir.Name) -> bool:
    """No value that the split binds reaches a read of the name."""
    binder = binder_before(source, source.statement(read), read.id)
    return binder is not split and is_bound_between(source, split, read, binder)


def is_bound_between(source: FixSource, statement: ir.Stmt, read: ir.Name, binder: ir.Stmt | None) -> bool:
    """No value that ``statement`` gives a name reaches a read of it: ``binder``, which runs before the read, binds another."""
    reading = source.statement(read)
    if binder is None or binder.start < statement.start <= reading.start:
        return False
    loops = [above for above in source.ancestors(statement) if isinstance(above, (ir.For, ir.While))]
    return all(loop.start <= binder.start < loop.end for loop in loops if loop.start <= reading.start < loop.end)


# --- one more key --------------------------------------------------------------------------------------


def extended_split(
    source: FixSource, first: ir.Expr, second: ir.Expr, others: Sequence[ir.Name] = ()
) -> list[Edit] | None:
    """The split that made the key of both uses makes one more, for the second use, or for the first one if the second
    advances it. None where no split nearby in the block made it, or other code runs between the split and an advanced key.
    others: further uses, for each of which it makes one more, too."""
    if not isinstance(first, ir.Name) or not isinstance(second, ir.Name):
        return None
    using, again = source.statement(first), source.statement(second)
    imports = Imports(source, first)
    split = binder_before(source, using, first.id)
    if not isinstance(split, ir.Assign) or not any(one is split for one in _assigned_before(source, using)):
        return None
    names = _new_keys(split) if is_split(split, imports) else []
    if not names or (binder_before(source, again, second.id) is not split and again is not using):
        return None
    carries = _carries(split, first.id)
    if carries and not _is_directly_before(source, split, using):
        return None
    if source.text.count("\n", split.start, first.start) > _NEAR:
        return None
    if source.place(split).owner is not source.place(using).owner or source.comments(split.start, split.end):
        return None
    known = [source.slice(name) for name in names]
    if len(set(known)) < len(known) or "_" in known:
        return None
    count = one_more(split, len(names), 1 + len(others))
    if (
        count is None
        or any(_is_in_loop(source, node, split) for node in (first, second, *others))
        or (carries and others)
    ):
        return None
    use = first if carries or _is_split_again(source, second, imports) else second
    comma = source.text[names[-2].end : names[-1].start]
    more, edits = "", []
    for one in sorted((use, *others), key=lambda node: node.start):
        name = another_name(source, one, known, plain=bool(others) and _NUMBERED.fullmatch(one.id) is not None)
        known.append(name)
        more += f"{comma}{name}"
        edits.append(Edit(one.start, one.end, name))
    return [Edit(names[-1].end, names[-1].end, more), count, *edits]


def _is_split_again(source: FixSource, use: ir.Name, imports: Imports) -> bool:
    """The use is what another split splits."""
    call = source.parent(source.parent(use))
    return isinstance(call, ir.Call) and imports.resolve(call.func) == SPLIT


def _carries(split: ir.Assign, name: str) -> bool:
    """``key, a = split(key)``, of which the name is ``key``."""
    assert isinstance(split.value, ir.Call)
    given = split.value.args[0].value if split.value.args else None
    return isinstance(given, ir.Name) and given.id == name


def _is_directly_before(source: FixSource, split: ir.Stmt, using: ir.Stmt) -> bool:
    place = source.place(using)
    return place.index > 0 and place.block[place.index - 1] is split


def _is_in_loop(source: FixSource, node: ir.Expr, split: ir.Stmt) -> bool:
    """A loop around a use does not hold the split."""
    loops = (ir.For, ir.While, ir.Comprehension)
    return any(isinstance(a, loops) and not a.start <= split.start < a.end for a in source.ancestors(node))


def one_more(split: ir.Assign, names: int, more: int = 1) -> Edit | None:
    """The edit of a split into so many keys that makes it one into one more, or several; None where the number is not written
    out."""
    value = split.value
    if not isinstance(value, ir.Call) or not value.args or any(argument.star for argument in value.args):
        return None
    if len(value.args) == 1:
        return Edit(value.args[0].end, value.args[0].end, f", {2 + more}") if names == 2 else None
    count = value.args[1].value if len(value.args) == 2 and value.args[1].keyword in (None, "num") else None
    if not isinstance(count, ir.Constant) or count.value != names:
        return None
    return Edit(count.start, count.end, str(names + more))


def another_name(source: FixSource, use: ir.Name, names: list[str], *, plain: bool = False) -> str:
    """A new name for the key of a use, beside others: ``k3`` beside ``k1`` and ``k2``, or after what the key is for. plain: by
    a number alone, as that of the use."""
    numbered = [found for found in map(_NUMBERED.fullmatch, names) if found is not None]
    own = _NUMBERED.fullmatch(use.id)
    beside = [int(found[2]) for found in numbered if own is not None and found[1] == own[1]]
    if own is not None and len(beside) > 1:
        return _numbered(source, use, own[1], max(beside) + 1, names)
    purpose = purpose_of(source, use)
    if purpose and not plain:
        wanted = _named_alike(use.id, purpose)
        [name] = fresh(source, use, wanted)
        if name == wanted and not any(_stem(wanted) == _stem(other) for other in names):
            return name
    return _numbered(source, use, use.id if own is None else own[1], 2 if own is None else int(own[2]) + 1, names)


def _named_alike(beside: str, purpose: str) -> str:
    """A name as the one beside it is made: ``noise_seed`` beside ``ratio_seed``, ``key_yaw`` beside ``key_pos``."""
    head, tail = beside.partition("_")[0], beside.rpartition("_")[2]
    if head in _WORDS and tail != beside:
        return f"{head}_{purpose}"
    return f"{purpose}_{tail if tail in _WORDS and tail != beside else 'rng' if 'rng' in beside.lower() else 'key'}"


def _stem(name: str) -> str:
    """Without what tells one from several: ``ratios_key`` and ``ratio_key`` are too much alike for two keys."""
    return "_".join(word.rstrip("s") for word in name.split("_"))


def _numbered(source: FixSource, use: ir.Name, stem: str, number: int, names: list[str]) -> str:
    """The first new name of ``stem3``, ``stem4``, and so on."""
    while f"{stem}{number}" in names or fresh(source, use, f"{stem}{number}") != [f"{stem}{number}"]:
        number += 1
    return f"{stem}{number}"


def purpose_of(source: FixSource, use: ir.Expr) -> str:
    """What a key is for: the keyword or the entry of a dictionary that takes it, the variable that a draw is for, or the
    function that gets it; else the empty string."""
    argument = source.parent(use)
    if isinstance(argument, ir.Dict):
        names = [key for key, value in zip(argument.keys, argument.values, strict=True) if value is use]
        entry = names[0].value if names and isinstance(names[0], ir.Constant) else None
        return entry if isinstance(entry, str) and _FUNCTION.fullmatch(entry) else ""
    call = source.parent(argument)
    if not isinstance(argument, ir.Argument) or not isinstance(call, ir.Call):
        return ""
    if argument.keyword and not _OF_KEYS.search(argument.keyword):
        return argument.keyword if _FUNCTION.fullmatch(argument.keyword) else ""
    variable = _variable(source, call)
    name = _SHORT.sub("", _called(call.func))
    is_draw = (Imports(source, call).resolve(call.func) or "").startswith("jax.random.")
    if is_draw or _is_called_again(source, call, name):
        return variable if _VARIABLE.fullmatch(variable) else name if is_draw and _FUNCTION.fullmatch(name) else ""
    return name if _FUNCTION.fullmatch(name) else variable if _VARIABLE.fullmatch(variable) else ""


def _variable(source: FixSource, call: ir.Call) -> str:
    """What the statement of a call assigns first, or the entry or keyword whose value the call is."""
    above = source.parent(call)
    if isinstance(above, ir.Argument) and above.keyword:
        return above.keyword
    if isinstance(above, ir.Dict):
        entries = [key for key, value in zip(above.keys, above.values, strict=True) if value is call]
        return str(entries[0].value) if entries and isinstance(entries[0], ir.Constant) else ""
    statement = source.statement(call)
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    return _called(target.elts[0] if isinstance(target, ir.Tuple) else target)


def _is_called_again(source: FixSource, call: ir.Call, name: str) -> bool:
    """The function around calls a function of that name in another place, too."""
    around = source.functions(call)
    calls = (node for node in walk(around[0] if around else source.module) if isinstance(node, ir.Call))
    return any(node is not call and _called(node.func) == name for node in calls)


def _called(func: msgspec.Struct) -> str:
    return func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
