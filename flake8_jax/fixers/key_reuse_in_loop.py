"""JAX302: the key gets fresh in every iteration: split in the body, folded with the index, or split over a scan.

Where equal draws are meant (``_meant``) there is no fix.

Limitations: helpers that the loop calls and that capture the key, ``while_loop`` bodies that capture it.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import OTHER_DRAWS, unsafe
from flake8_jax.fixers._callers import names
from flake8_jax.fixers._conditions import (
    is_evaluated,
    is_joint_in_loop,
    is_measured,
    is_ranked,
    is_said_to_be_equal,
    may_be_meant,
)
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._keys import (
    evaluated_once,
    feeds,
    is_local,
    is_taken_from_batch,
    one_more_key,
    passed_key,
    plain_arguments,
    split_before,
)
from flake8_jax.fixers._missing_keys import check_key
from flake8_jax.fixers._names import binder_before, fresh, is_target, target_names, uses
from flake8_jax.fixers._other_takers import check_alone
from flake8_jax.fixers._source import FixSource, Refused, fixer
from flake8_jax.fixers._undrawn import is_in_vain
from flake8_jax.semantics.events.events import FileRead, KeyUse, LibraryCall

_OWN = "Use the key of the iteration"
_SPLIT = "Split the key in every iteration"
_FOLD = "Fold the loop index into the key"


@fixer("key-reuse-in-loop")
def fix(event: KeyUse | LibraryCall | FileRead, source: FixSource) -> Fix | None:
    if isinstance(event, (LibraryCall, FileRead)):
        return None
    key = event.key_node
    if is_taken_from_batch(event) or may_be_meant(event):
        return None
    if key is None:
        key = passed_key(source, event.at, event.through, _from_outside(source, event.at))
    if not isinstance(key, (ir.Name, ir.Attribute, ir.Subscript)):
        return None
    check_key(source, key)
    if is_in_vain(source, key):
        return None
    check_alone(source, key)
    for above in source.ancestors(key):
        if feeds(above, key):
            continue
        if isinstance(above, (ir.Comprehension, ir.For, ir.While)) and is_ranked(source, above, key):
            return None
        if isinstance(above, (ir.Comprehension, ir.For)) and is_evaluated(source, above, key):
            return None
        if is_measured(source, above) or is_joint_in_loop(source, above, key):  # type: ignore[arg-type]
            return None
        if isinstance(above, ir.Comprehension):
            return _comprehension(source, above, key)
        if isinstance(above, ir.Function):
            if is_said_to_be_equal(source, key):
                return None
            return _structured(source, above, key)
        if isinstance(above, (ir.For, ir.While)):
            return _python_loop(source, above, key)
    return None


def _from_outside(source: FixSource, call: ir.Node) -> list[ir.Expr]:
    """The arguments of a call that the loop around it does not change."""
    loop = next(
        a for a in source.ancestors(call) if isinstance(a, (ir.For, ir.While, ir.Comprehension, ir.Function, ir.Module))
    )
    if isinstance(loop, ir.Function):
        changed = {*loop.local_names, *(p.name for p in loop.params)}
    elif isinstance(loop, ir.Comprehension):
        changed = {n for g in loop.generators for n in target_names(g.target)}
    else:
        changed = set(uses(loop).binds)
    return [a for a in plain_arguments(call) if not uses(a).reads & changed]


# --- Python loops ----------------------------------------------------------------------------------


def _python_loop(source: FixSource, loop: ir.For | ir.While, key: ir.Expr) -> Fix:
    statement = evaluated_once(source, key)
    if statement is loop:
        raise Refused
    if isinstance(key, ir.Name) and is_local(source, key, key.id):
        half = _lost_half(source, loop, statement, key)
        edits = [half] if half is not None else one_more_key(source, key) or split_before(source, key)
        return unsafe(_SPLIT, OTHER_DRAWS, edits)
    index = _index(loop) if isinstance(loop, ir.For) else None
    item = _item_of_iteration(source, loop, key)
    if item is not None:
        return unsafe(_OWN, OTHER_DRAWS, (item,))
    if index not in (None, "_"):
        return _fold(source, key, str(index))
    imports = Imports(source, key)
    name, subkey = fresh(source, key, "key", "subkey")
    if (name, subkey) != ("key", "subkey"):
        raise Refused  # the function has other keys
    line = f"{name}, {subkey} = {imports.spell('jax.random.split')}({name})"
    edits = [
        source.insert_before(loop, [f"{name} = {source.slice(key)}"]),
        source.insert_before(statement, [line]),
        Edit(key.start, key.end, subkey),
    ]
    return unsafe(_SPLIT, OTHER_DRAWS, (*edits, *imports.edits))


def _item_of_iteration(source: FixSource, loop: ir.For | ir.While, key: ir.Expr) -> Edit | None:
    """``keys[i]`` for ``keys[0]``, where the loop runs once for each key of a split, and takes the first one every time.

    Raises:
        Refused: nothing takes the other keys, but the loop runs another number of times.
    """
    if (
        not isinstance(key, ir.Subscript)
        or not isinstance(key.value, ir.Name)
        or not isinstance(key.index, ir.Constant)
    ):
        return None
    array, around = key.value, source.functions(key)
    reads = [n for n in names(source, array.id) if source.functions(n) == around and not is_target(source, n)]
    made = binder_before(source, loop, array.id)
    if len(reads) != 1 or not isinstance(made, ir.Assign):
        return None
    value, index = made.value, _index(loop) if isinstance(loop, ir.For) else None
    if not isinstance(value, ir.Call) or Imports(source, value).resolve(value.func) != "jax.random.split":
        return None
    turns = loop.iter.args if isinstance(loop, ir.For) and isinstance(loop.iter, ir.Call) else []
    counts = [source.slice(one.value) for one in (*value.args[1:], *turns)]
    if len(counts) != 2 or counts[0] != counts[1] or index in (None, "_"):
        raise Refused
    return Edit(key.index.start, key.index.end, str(index))


def _lost_half(source: FixSource, loop: ir.For | ir.While, statement: ir.Stmt, key: ir.Name) -> Edit | None:
    """``_, sub = split(key)`` keeps the half that was meant to be the key of the next iteration; so does a name that nothing
    reads, such as the misspelt one of ``update_depth, sub = split(update_key)``."""
    target = statement.targets[0] if isinstance(statement, ir.Assign) and len(statement.targets) == 1 else None
    value = statement.value if isinstance(statement, ir.Assign) else None
    if (
        not isinstance(target, ir.Tuple)
        or not isinstance(value, ir.Call)
        or not value.args
        or value.args[0].value is not key
    ):
        return None
    if Imports(source, value).resolve(value.func) != "jax.random.split":
        return None
    names = [e for e in target.elts if isinstance(e, ir.Name)]
    lost = [name for name in names if name.id == "_"]
    around = source.functions(statement)
    if not lost and around and len(names) == len(target.elts) == 2 and key.id not in (names[0].id, names[1].id):
        since = loop.start if isinstance(loop, ir.While) else loop.body[0].start
        later = [n for n in walk(around[-1]) if isinstance(n, ir.Name) and n.start >= since]
        lost = [] if any(n.id == names[0].id and n is not names[0] for n in later) else names[:1]
    return Edit(lost[0].start, lost[0].end, key.id) if len(lost) == 1 else None


def _is_counter(iterated: ir.Expr, function: str) -> bool:
    return isinstance(iterated, ir.Call) and isinstance(iterated.func, ir.Name) and iterated.func.id == function


def _index(loop: ir.For | ir.Generator) -> str | None:
    """The name of a loop's integer index: of ``range`` or ``enumerate``."""
    target = loop.target
    if _is_counter(loop.iter, "enumerate") and isinstance(target, ir.Tuple) and len(target.elts) == 2:
        target = target.elts[0]
    elif not _is_counter(loop.iter, "range"):
        return None
    return target.id if isinstance(target, ir.Name) else None


def _fold(source: FixSource, key: ir.Expr, index: str, *more: Edit) -> Fix:
    imports = Imports(source, key)
    text = f"{imports.spell('jax.random.fold_in')}({source.argument(key)}, {index})"
    return unsafe(_FOLD, OTHER_DRAWS, (Edit(key.start, key.end, text), *more, *imports.edits))


def _comprehension(source: FixSource, node: ir.Comprehension, key: ir.Expr) -> Fix:
    """The index of ``range`` or ``enumerate`` is folded in; anything else is enumerated."""
    if len(node.generators) != 1 or node.generators[0].is_async or _is_used_elsewhere(source, node, key):
        raise Refused
    if sum(source.slice(part) == source.slice(key) for part in walk(node) if type(part) is type(key)) > 1:
        raise Refused  # one index gives both uses the same key
    generator = node.generators[0]
    index = _index(generator)
    if index == "_":
        target = generator.target if isinstance(generator.target, ir.Name) else None
        if target is None or "_" in uses(node.element).reads:
            raise Refused
        name = _index_name(source, node)
        return _fold(source, key, name, Edit(target.start, target.end, name))
    if index is not None:
        return _fold(source, key, index)
    name = _index_name(source, node)
    target_text = source.slice(generator.target)
    if isinstance(generator.target, (ir.Tuple, ir.List)) and not source.is_own_parenthesised(generator.target):
        target_text = f"({target_text})"
    edits = [
        Edit(generator.target.start, generator.target.end, f"{name}, {target_text}"),
        Edit(generator.iter.start, generator.iter.end, f"enumerate({source.argument(generator.iter)})"),
    ]
    if source.is_own_parenthesised(generator.iter):
        edits[1] = Edit(generator.iter.start, generator.iter.end, f"enumerate({source.slice(generator.iter)})")
    return _fold(source, key, name, *edits)


def _index_name(source: FixSource, node: ir.Comprehension) -> str:
    """A name for the index of a comprehension, which is a scope of its own: one that nothing in it reads."""
    inside = {part.id for part in walk(node) if isinstance(part, ir.Name)}
    return next((name for name in ("i", "j", "k") if name not in inside), None) or fresh(source, node, "i")[0]


def _is_used_elsewhere(source: FixSource, node: ir.Comprehension, key: ir.Expr) -> bool:
    """Another comprehension of the function takes the key as well: folded with the same indices, it would give it the same
    keys."""
    around = source.functions(key)
    inside = around[0].body if around else source.module.body
    text = source.slice(key)
    return any(
        source.slice(part) == text
        for statement in inside
        for other in walk(statement)
        if isinstance(other, (ir.Comprehension, ir.For, ir.While)) and not other.start <= node.start < other.end
        for part in walk(other)
        if type(part) is type(key)
    )


# --- structured loops ------------------------------------------------------------------------------


def _structured(source: FixSource, body: ir.Function, key: ir.Expr) -> Fix:
    """A use in the body of ``fori_loop`` or ``scan``: ``body`` is the innermost function around it."""
    call, name = _loop_call(source, body)
    if isinstance(key, ir.Name) and is_local(source, key, key.id):
        if body.is_lambda or (any(p.name == key.id for p in body.params[:1]) and name == "jax.lax.fori_loop"):
            raise Refused
        if not _goes_round(body, key.id):
            raise Refused
        return unsafe(_SPLIT, OTHER_DRAWS, split_before(source, key))
    if name == "jax.lax.fori_loop" and body.params and body.params[0].kind in ("positional", "posonly"):
        return _fold(source, key, body.params[0].name)
    if name == "jax.lax.scan":
        return _scan(source, call, body, key)
    raise Refused


def _goes_round(body: ir.Function, name: str) -> bool:
    """Whether the body returns the key, so that the next iteration gets the new one."""
    returned = [n for s in body.body for n in walk(s) if isinstance(n, ir.Return) and n.value is not None]
    return bool(returned) and all(name in uses(r).reads for r in returned)


def _loop_call(source: FixSource, body: ir.Function) -> tuple[ir.Call, str]:
    """The one structured loop in the file that is given this function as its body, by name or as a lambda."""
    owner = source.parent(body)
    found: list[tuple[ir.Call, str]] = []
    for node in walk(source.module):
        if not isinstance(node, ir.Call):
            continue
        for argument in node.args:
            value = argument.value
            named = isinstance(value, ir.Name) and isinstance(owner, ir.FunctionDef) and value.id == body.name
            if value is owner or named:
                name = Imports(source, node).resolve(node.func)
                found.append((node, name or ""))
    if len(found) != 1 or found[0][1] not in ("jax.lax.fori_loop", "jax.lax.scan"):
        raise Refused
    return found[0]


def _scan(source: FixSource, call: ir.Call, body: ir.Function, key: ir.Expr) -> Fix:
    """``scan(body, init, None, length=n)`` → ``scan(body, init, split(key, n))``: the body gets a key an iteration."""
    imports = Imports(source, call)
    xs, length = _items_of_scan(call)
    if len(body.params) != 2:
        raise Refused
    item = body.params[1]
    if xs is not None and _is_arange(imports, xs.value) and item.name != "_":
        return _fold(source, key, item.name)
    if length is None or (xs is not None and not _is_none(xs.value)):
        raise Refused
    if item.name in uses(*body.body).reads or source.functions(call) != source.functions(source.parent(body)):
        raise Refused
    subkey = fresh(source, key, "subkey")[0]
    keys = f"{imports.spell('jax.random.split')}({source.argument(key)}, {source.argument(length.value)})"
    edits = [Edit(key.start, key.end, subkey), Edit(item.start, item.end, subkey)]
    if xs is None:
        edits.append(Edit(length.start, length.end, f"xs={keys}"))
    else:
        edits.append(Edit(xs.value.start, xs.value.end, keys))
        edits.append(_without_argument(source, call, length))
    return unsafe("Scan over keys", OTHER_DRAWS, (*edits, *imports.edits))


def _items_of_scan(call: ir.Call) -> tuple[ir.Argument | None, ir.Argument | None]:
    """The arguments ``xs`` and ``length`` of a scan.

    Raises:
        Refused: not all of its arguments are written out.
    """
    positional = [a for a in call.args if not a.keyword and not a.star]
    if len(positional) > 4 or any(a.star for a in call.args):
        raise Refused
    given = {a.keyword: a for a in call.args if a.keyword}
    xs = given.get("xs") or (positional[2] if len(positional) > 2 else None)
    return xs, given.get("length") or (positional[3] if len(positional) > 3 else None)


def _without_argument(source: FixSource, call: ir.Call, argument: ir.Argument) -> Edit:
    at = next(i for i, a in enumerate(call.args) if a is argument)
    start = call.args[at - 1].end
    between = source.text[start : argument.start]
    if at == 0 or source.comments(start, argument.end) or between.strip() != ",":
        raise Refused
    return Edit(start, argument.end, "")


def _is_arange(imports: Imports, node: ir.Expr) -> bool:
    return isinstance(node, ir.Call) and imports.resolve(node.func) == "jax.numpy.arange"


def _is_none(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "none"
