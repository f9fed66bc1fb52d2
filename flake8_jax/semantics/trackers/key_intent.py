"""Whether a key that is used twice may be meant to give the same numbers twice.

Vocabulary
----------
fixed       a key that a module makes, of a seed of its own: in its statements, or as the default of a parameter or field; one
            with the name of a constant (``ANCHOR_KEY``).
constant    a key that a function (or, in a file of tests, another one there) makes, of a number of its own, for itself:
            what it draws is alike in all calls anyway, as in made-up inputs. No new key of a split of it, and none that a
            loop draws from to compute its next state.
run         a call that looks up a fixed key by itself: no caller passes one.
same data   two calls of one function see the same arrays beside the key, and something else differs: the function is
            compared with itself under common random numbers. A call that takes what the other one returned is the next
            step of a computation, and no comparison. The same assignment that stands there again, word for word, starts once
            more.
paired      a function changes two arrays in the same way, with the same key: an image and its mask. Another key does
            so for the same two, or each result takes the place of what it was made of. Or ``inverse_f`` undoes, with
            the same numbers, what ``f`` did. Or one is a copy of the other, by its name: a target network.
discarded   the result of a call is thrown away: a warm-up, or a line that was forgotten.
template    the result of a call only says how to read a file: what is read takes the place of its numbers.
parts       one key is split into the same keys twice, and each time another slice of them is taken.
said        a comment beside a use says so, or an option around it: ``# fixed key``, ``if same_init:``. What compares under
            one key is ``same data`` as well.
apart       each use only leads to what the code prints, plots or saves, and nothing is computed of both (``key_meetings``).
picked      ``where`` picks one of the two draws, or of what was computed from them (``key_alternatives``).
evaluation  a loop computes something of the state that it changes, and goes on without it: what it gathers shows how the
            state changes, not how the numbers do. Or the key's own name says that it stays: ``eval_key``, ``fixed_rng``, in
            two calls of one function as well (``same data``).

Limitations: a result that is bound to a name of the module and never read counts as used. ``key_comparisons`` follows results
to where they are compared, and ``key_mirrors`` finds draws that undo or mirror each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.boundary import SEED
from flake8_jax.semantics.domain.code import (
    all_statements,
    below,
    called_name,
    last_name,
    names_read,
    names_tested_around,
    statement_at,
)
from flake8_jax.semantics.domain.equal_draws import is_copy, states_equal_draws
from flake8_jax.semantics.domain.values import (
    FIELD_DEFAULT,
    Array,
    Const,
    HostArray,
    Instance,
    Opaque,
    Room,
    Static,
    Tree,
    Unknown,
    Value,
    canonical_key,
    held_by,
)
from flake8_jax.semantics.trackers.clocks import CLOCKS
from flake8_jax.semantics.trackers.iterations import Iteration, is_step, is_update, iteration_around
from flake8_jax.semantics.trackers.key_alternatives import are_alternatives
from flake8_jax.semantics.trackers.key_children import is_split
from flake8_jax.semantics.trackers.key_meetings import are_reported_apart
from flake8_jax.semantics.trackers.key_names import is_of_key, parts_of_target, words_of
from flake8_jax.semantics.trackers.key_pairs import are_compared, elements_are_compared, only_decides, shuffles_each
from flake8_jax.semantics.trackers.waits import is_wait, is_waiting

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.domain.stack import Link, Place
    from flake8_jax.semantics.events.events import Intent

Drawn = Literal["", "numbers", "places", "shuffles"]
"""What two uses of a key both give: numbers, whole numbers and choices (where to cut), permutations, or at least once
only new keys."""


def intent_of(key: Value, here: Place, there: Place, around: Link | None, *, in_loop: bool, draws: Drawn) -> Intent:
    """Why the two uses of a key that part at these places may be meant to be alike; empty if nothing speaks for it.

    around: what led to the function that both places stand in. in_loop: both are one place, in two iterations. draws:
    what comes out of both; new keys that no code reads were forgotten.
    """
    body = here.function.body if here.function is not None else here.scope.tree.body
    if _is_said(body, here) or _is_said(body, there) or _is_asked_for(body, here) or _is_asked_for(body, there):
        return "same-data"
    standing = _standing_of(key, here, there, advances=in_loop and is_step(body, here.node, here.scope))
    if standing:
        return standing
    if any(name.isupper() and is_of_key(name) for name in _names_given(here) & _names_given(there)):
        return "fixed"  # a constant, by its name, of another module
    if in_loop:
        return _intent_in_loop(body, here, draws)
    if _is_lost(body, here, there):
        return "discarded"
    first, second = statement_at(body, there.node), statement_at(body, here.node)
    if _is_reset(first, second, here) or _is_shown(first, there, here) or _is_shown(second, here, there):
        return "same-data"
    if _is_template(second, body, here.scope) or _is_template(first, body, there.scope):
        return "template"
    if _same_data(key, here, there, around):
        # The gradient that one call gives is the update before the other; other results are the next step's state.
        compared = here.staged is not there.staged or first is None or not _feeds(first, here.node)
        return "same-data" if compared else ""
    if are_compared(body, there, here) or _are_evaluations(here, there):
        return "same-data"
    return _intent_of_results(body, key, here, there, in_place=draws == "places")


def _intent_of_results(body: list[ir.Stmt], key: Value, here: Place, there: Place, *, in_place: bool) -> Intent:
    """Why what comes of the two uses may be meant to be alike. in_place: each says which part of an array to take."""
    if _is_bound_once(body, key, here, there):
        return "paired"
    if are_alternatives(body, there, here):
        return "alternatives"
    if _are_parts(statement_at(body, there.node), statement_at(body, here.node), there, here):
        return "parts"
    if _is_copied(body, here, there) or _is_paired(body, here, there, in_place=in_place):
        return "paired"
    return "apart" if are_reported_apart(body, there, here) else ""


def _intent_in_loop(body: list[ir.Stmt], here: Place, draws: Drawn) -> Intent:
    """Why the uses of two iterations may be meant to be alike."""
    statement = statement_at(body, here.node)
    if _is_discarded(statement, here, body) or _is_awaited_only(statement, body, here.scope) or _is_timed(body, here):
        return "discarded"
    if draws == "shuffles" and shuffles_each(body, here.node) and not is_step(body, here.node, here.scope):
        return "paired"
    if elements_are_compared(body, here) or only_decides(body, here) or _calls_each(body, here.node, here.scope):
        return "same-data"
    if _is_sweep(body, here) and not is_step(body, here.node, here.scope):
        return "same-data"
    if draws in ("shuffles", "places") and here.function is not None and not is_step(body, here.node, here.scope):
        if not _EVALUATING.isdisjoint(words_of(here.function.name)):
            return "evaluation"  # the order in which it sees the data, or which part
    return "evaluation" if _is_evaluation(body, here) else ""


_EVALUATING = frozenset(["eval", "evaluation", "evaluate", "test", "valid", "validation", "validate", "val"])
_STAYING = frozenset(["eval", "evaluation", "evaluate", "test", "valid", "validation", "val", "fixed", "common"])
"""Words in the name of a key that stays the same on purpose while a loop runs."""


def _calls_each(body: list[ir.Stmt], node: Any, scope: ModuleScope) -> bool:
    """``for f in functions: f(*args)``: several functions get the same data."""
    loops = [one for one in all_statements(body) if isinstance(one, ir.For) and one.start <= node.start < one.end]
    if not loops or not isinstance(node, ir.Call) or not isinstance(node.func, ir.Name):
        return False
    changed = {part.id for part in parts_of_target(loops[-1].target) if isinstance(part, ir.Name)}
    if node.func.id not in changed:
        return False
    iteration = Iteration(list(all_statements(loops[-1].body)), scope)
    for statement in iteration.statements:
        changed |= iteration.changed_by(statement)
    return all(changed.isdisjoint(names_read(argument.value)) for argument in node.args)


def _is_sweep(body: list[ir.Stmt], here: Place) -> bool:
    """``for rate in jnp.linspace(0, 1, 20): cost(rate, x, key)``: a function of the project at the values of one parameter,
    which common random numbers compare."""
    node = here.node
    if here.link is None or here.link.fn is None or not isinstance(node, ir.Call):
        return False
    around = [one for one in all_statements(body) if isinstance(one, ir.For) and one.start <= node.start < one.end]
    target = around[-1].target if around else None
    if not isinstance(target, ir.Name) or not any(
        isinstance(a.value, ir.Name) and a.value.id == target.id for a in node.args
    ):
        return False
    values: ir.Expr = around[-1].iter
    if isinstance(values, ir.Name):
        bound = [one for one in all_statements(body) if isinstance(one, ir.Assign) and values.id in _bound_by(one)[0]]
        values = bound[0].value if len(bound) == 1 else values
    return _is_grid(values, here.scope)


_GRIDS = frozenset({"linspace", "logspace", "geomspace"})


def _is_grid(values: ir.Expr, scope: ModuleScope) -> bool:
    """The values of a real parameter: ``linspace(…)``, ``arange(1, 2, 0.1)``, ``[0.1, 0.5]``."""
    if isinstance(values, ir.Call) and called_name(values.func, scope) in _GRIDS:
        return True
    if isinstance(values, ir.Call) and called_name(values.func, scope) == "arange":
        return any(isinstance(part, ir.Constant) and type(part.value) is float for part in walk(values))
    listed = values.elts if isinstance(values, (ir.List, ir.Tuple)) else []
    return len(listed) > 1 and all(isinstance(one, ir.Constant) and type(one.value) is float for one in listed)


def _is_evaluation(body: list[ir.Stmt], here: Place) -> bool:
    """The loop goes on without the result; and it gives the function what it changes from iteration to iteration, or the
    name of the key says that it stays."""
    node = here.node
    if not isinstance(node, ir.Call) or is_update(body, node, here.scope):
        return False
    read = {name for argument in node.args for name in names_read(argument.value)}
    if any(is_of_key(name) and not _STAYING.isdisjoint(words_of(name)) for name in read):
        return True
    iteration, statement = iteration_around(body, node, here.scope), statement_at(body, node)
    if here.link is None or here.link.fn is None or iteration is None or statement is None or iteration.is_long:
        return False
    carried = iteration.carried()
    changing = iteration.reached_by(carried)
    return not changing.isdisjoint(read) and carried.isdisjoint(iteration.reached_from(statement))


def _are_evaluations(here: Place, there: Place) -> bool:
    """Two calls of one function get a key whose name says that it stays: two models on the numbers of one evaluation."""
    one, other = here.node, there.node
    if one is other or here.link is None or there.link is None or here.link.fn is not there.link.fn:
        return False
    if here.link.fn is None:
        return False
    given = _names_given(here) & _names_given(there)
    return any(is_of_key(name) and not _STAYING.isdisjoint(words_of(name)) for name in given)


def _names_given(place: Place) -> set[str]:
    """The variables that a call gives away as they are."""
    node = place.node
    return {a.value.id for a in node.args if isinstance(a.value, ir.Name)} if isinstance(node, ir.Call) else set()


_ALIKE = frozenset(["same", "shared", "tied", "common", "identical"])


def _is_asked_for(body: list[ir.Stmt], place: Place) -> bool:
    """An option around the use asks for equal numbers: ``if same_init: …``."""
    return any(not _ALIKE.isdisjoint(words_of(name)) for name in names_tested_around(body, place.node))


def _is_said(body: list[ir.Stmt], place: Place) -> bool:
    """A comment at the statement, or in the lines above, says that the key is the same on purpose."""
    statement, text = statement_at(body, place.node), place.scope.text
    if statement is None or isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return False
    above = text.rfind("\n", 0, statement.start) + 1
    while above and text[(line := text.rfind("\n", 0, above - 1) + 1) : above].lstrip().startswith("#"):
        above = line
    end = text.find("\n", statement.end)
    return states_equal_draws(text[above : end if end >= 0 else len(text)])


def _is_lost(body: list[ir.Stmt], here: Place, there: Place) -> bool:
    """The result of one of two uses is thrown away, overwritten, or only waited for. New keys that no code reads were rather
    forgotten."""
    first, second = statement_at(body, there.node), statement_at(body, here.node)
    unread = here.function is not None and any(
        _is_unread(one, body) and not is_split(place) for one, place in ((first, there), (second, here))
    )
    dead = here.function is not None and is_split(here) and _is_never_read(second, body)
    dead = dead or _takes_the_place_of(second, first, body)
    dead = dead or _is_input_of_timing(second, body, here.scope) or _is_input_of_timing(first, body, there.scope)
    if unread or dead or _is_overwritten(first, body, there.scope) or _is_awaited_only(first, body, there.scope):
        return True
    return _is_discarded(first, there, body) or _is_discarded(second, here, body)


def is_default(key: Value, here: Place, there: Place) -> bool:
    """The key that both uses began with is the default of a parameter, and no caller passes another one."""
    return _is_fixed(key) and here.function is not None and not (_passes_key(here, key) or _passes_key(there, key))


def _standing_of(key: Value, here: Place, there: Place, *, advances: bool) -> Intent:
    """What the key is by how it was made: fixed or constant. advances: the loop computes its next state with it."""
    if isinstance(key, Unknown) and key.label == FIELD_DEFAULT:
        return "fixed"  # every object of the class has it
    is_run = not (_passes_key(here, key) or _passes_key(there, key))
    if _is_fixed(key) and (is_run or here.function is None):
        return "fixed"
    return "constant" if _is_constant_of(key, here) and not advances else ""


def _is_fixed(key: Value) -> bool:
    recipe = key.recipe if isinstance(key, Array) else None
    return recipe is not None and recipe.name == SEED and recipe.function is None


def _is_constant_of(key: Value, here: Place) -> bool:
    """The function makes the key itself, of a seed that it has as a constant; or a test has it from another function."""
    recipe = key.recipe if isinstance(key, Array) else None
    if recipe is None or recipe.name != SEED or here.function is None or not recipe.operands:
        return False
    return recipe.function is here.function or (here.scope.is_test and recipe.node.scope.is_test)


def _passes_key(place: Place, key: Value) -> bool:
    """The key is used right here, or is an argument that is written here: not one that the called function looks up."""
    link, node = place.link, place.node
    if link is None or link.bound is None or not isinstance(node, ir.Call):
        return True
    parameters = [p.name for p in link.fn.params] if link.fn is not None else []
    offset = 1 if link.receiver is not None else 0
    given = {a.keyword for a in node.args if a.keyword} | set(
        parameters[: offset + sum(not a.keyword for a in node.args)]
    )
    return any(a.star for a in node.args) or any(_holds(link.bound.get(name), key) for name in given)


def _holds(value: Value | None, key: Value, room: Room | None = None) -> bool:
    if value is None:
        return False
    if isinstance(value, (Array, Opaque)):
        return canonical_key(value) is key
    room = room if room is not None else Room()
    return room.enter(value) and any(_holds(part, key, room) for part in held_by(value))


# --- two arrays that belong together ----------------------------------------------------------------------------


_MOVING = frozenset({"crop", "flip", "rotate", "shift", "augment", "augmentation"})
"""Words in the name of a function that moves all of an image."""


def _is_paired(body: list[ir.Stmt], here: Place, there: Place, *, in_place: bool) -> bool:
    """Calls of one function that differ in one variable use this key, and so does another key for these two variables.

    in_place: it is enough that each result takes the place of what it was made of, as two crops do.
    """
    if there.function is not here.function or there.scope is not here.scope:
        return False
    text = here.scope.text
    one, other = _pattern(there.node, text), _pattern(here.node, text)
    if one is None or other is None or len(one) != len(other):
        return False
    unlike = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(unlike) != 1 or not unlike[0]:
        return False
    pair = one[unlike[0]], other[unlike[0]]
    places = tuple(_stored_in(statement_at(body, place.node), place) for place in (there, here))
    if in_place and places == pair:
        return True
    if places[0] == places[1] and places[0] in one[1:] and not _MOVING.isdisjoint(words_of(one[0])):
        return True  # two images of one tree are cropped in the same way
    if not all(name.isidentifier() for name in pair):
        return False
    patterns = [
        _pattern(s.value, text)
        for s in all_statements(body)
        if isinstance(s, ir.Assign) and isinstance(s.value, ir.Call)
    ]
    rest = [{others for p in patterns if p is not None and (others := _others(p, name))} for name in pair]
    ours = _variables(_others(one, pair[0]))
    return any(not ours & _variables(found) for found in rest[0] & rest[1])


def _is_bound_once(body: list[ir.Stmt], key: Value, here: Place, there: Place) -> bool:
    """``move = partial(shift, key=key)`` is called for two arrays: who binds the key once moves both alike."""
    one, other = here.node, there.node
    if not (isinstance(one, ir.Call) and isinstance(other, ir.Call) and isinstance(one.func, ir.Name)):
        return False
    name = one.func.id
    if (
        not isinstance(other.func, ir.Name)
        or other.func.id != name
        or _passes_key(here, key)
        or _passes_key(there, key)
    ):
        return False
    made = [s for s in all_statements(body) if isinstance(s, ir.Assign) and name in _bound_by(s)[0]]
    before = [s for s in made if s.end <= min(one.start, other.start)]
    if not before or any(before[-1].end <= s.start < max(one.start, other.start) for s in made):
        return False
    value = before[-1].value
    return isinstance(value, ir.Call) and called_name(value.func, here.scope) == "partial"


def undo_each_other(one: tuple[Place, ...], other: tuple[Place, ...]) -> bool:
    """Somewhere on the way to one use a function is called that undoes what one on the way to the other use does."""
    return any(_undoes(a, b) or _undoes(b, a) for a in one for b in other)


def _undoes(one: Place, other: Place) -> bool:
    called, before = (last_name(p.node.func) if isinstance(p.node, ir.Call) else "" for p in (one, other))
    return bool(before) and called in (f"inverse_{before}", f"inv_{before}", f"{before}_inverse", f"un{before}")


def _is_copied(body: list[ir.Stmt], here: Place, there: Place) -> bool:
    """``target_q = make(key)`` beside ``q = make(key)``, or ``create(q=make(key), target_q=make(key))``."""
    first, second = statement_at(body, there.node), statement_at(body, here.node)
    if first is second and first is not None:
        return any(_are_given_as_copies(call, there.node, here.node) for call in walk(first))
    if not isinstance(first, ir.Assign) or not isinstance(second, ir.Assign):
        return False
    return is_copy(last_name(first.targets[0]), last_name(second.targets[0]))


def _are_given_as_copies(call: Any, first: Any, second: Any) -> bool:
    """The call takes what the two nodes stand in by two keywords, one of which names a copy of the other."""
    if not isinstance(call, ir.Call):
        return False
    given = [
        argument.keyword or ""
        for node in (first, second)
        for argument in call.args
        if argument.value.start <= node.start < argument.value.end
    ]
    return len(given) == 2 and is_copy(*given)


def _stored_in(statement: ir.Stmt | None, place: Place) -> str:
    """As what is written where an assignment stores the result of a call, and nothing else."""
    if not isinstance(statement, ir.Assign) or statement.value is not place.node or len(statement.targets) != 1:
        return ""
    return place.scope.text[statement.targets[0].start : statement.targets[0].end]


def _are_parts(first: ir.Stmt | None, second: ir.Stmt | None, there: Place, here: Place) -> bool:
    """``split(key, n)[:a]`` and ``split(key, n)[a:b]``: it is not known whether they have a key in common."""
    one, other = _slice_of(first, there), _slice_of(second, here)
    if one is None or other is None or one == other:
        return False
    return _pattern(there.node, there.scope.text) == _pattern(here.node, here.scope.text)


def _slice_of(statement: ir.Stmt | None, place: Place) -> str | None:
    """How the slice is written that an assignment takes of the place's result."""
    taken = statement.value if isinstance(statement, ir.Assign) else None
    if not isinstance(taken, ir.Subscript) or taken.value is not place.node or not isinstance(taken.index, ir.Slice):
        return None
    return place.scope.text[taken.index.start : taken.index.end]


def _pattern(call: Any, text: str) -> tuple[str, ...] | None:
    """The function of a call and its arguments, as written."""
    if not isinstance(call, ir.Call):
        return None
    arguments = [f"{a.keyword}=" * bool(a.keyword) + text[a.value.start : a.value.end] for a in call.args]
    return (text[call.func.start : call.func.end], *arguments)


def _others(pattern: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """What a call is written with beside one variable."""
    return tuple(part for part in pattern if part != name) if name in pattern[1:] else None


def _variables(parts: tuple[str, ...] | None) -> set[str]:
    """The variables among the arguments of a call."""
    return {part for part in (parts or ())[1:] if part.rpartition("=")[2].isidentifier()}


# --- the same data ---------------------------------------------------------------------------------------------


def _same_data(key: Value, here: Place, there: Place, around: Link | None) -> bool:
    """Both places call one function, which sees the same arrays and something that differs."""
    now, then = here.link, there.link
    if now is None or then is None or now.fn is None or now.fn is not then.fn:
        return False
    if now.bound is None or then.bound is None or now.bound.keys() != then.bound.keys():
        return False
    pairs = [(value, then.bound[name]) for name, value in now.bound.items() if not _holds(value, key)]
    unlike = [(one, other) for one, other in pairs if not _is_same(one, other)]
    alike = [one for one, other in pairs if (one, other) not in unlike]
    if _is_one_in_two_modes(unlike):
        return True
    if len(unlike) == 1 and _are_switches(*unlike[0]):  # ``rmse(model, x, key, lesion=False)`` beside ``lesion=True``
        return any(isinstance(value, Opaque) or _has_arrays(value) for value in alike)
    captures = _captures_arrays(key, now.fn, around)
    if not captures and not any(map(_has_arrays, alike)):
        return False
    if here.staged is not there.staged:
        return True  # the gradient of a function beside its value: two results, and the same numbers in both
    looks_up = captures and not (_passes_key(here, key) or _passes_key(there, key))
    return any(looks_up or not isinstance(one, (Const, Static)) for one, _ in unlike)


def _is_one_in_two_modes(unlike: list[tuple[Value, Value]]) -> bool:
    """Two calls differ in the mode of a network, and in numbers: ``init(Net(training=True), key, steps)``."""
    others = [one for one, other in unlike if not _are_modes(one, other)]
    return len(others) < len(unlike) and all(isinstance(one, (Const, Static)) for one in others)


def is_same_start(key: Value, one: tuple[Place, ...], other: tuple[Place, ...]) -> bool:
    """One of two uses is a call of a function that the other one makes further in, with the same arguments: what a run starts
    from is made once more to be looked at. one, other: from where they part."""
    return _is_made_within(key, one, other) or _is_made_within(key, other, one)


def _is_made_within(key: Value, direct: tuple[Place, ...], deep: tuple[Place, ...]) -> bool:
    made = direct[0].link
    if made is None or made.bound is None or made.fn is None:
        return False
    return any(
        again.fn is made.fn and again.bound is not None and _is_same_call(key, made.bound, again.bound)
        for again in (place.link for place in deep[1:])
        if again is not None
    )


def _is_same_call(key: Value, one: dict[str, Value], other: dict[str, Value]) -> bool:
    return one.keys() == other.keys() and all(
        _is_same(value, other[name]) or (_holds(value, key) and _holds(other[name], key)) for name, value in one.items()
    )


def _are_switches(one: Value, other: Value) -> bool:
    """Two settings of one argument: flags, or names of modes."""
    kinds = {type(v.value) for v in (one, other) if isinstance(v, Const)}
    return isinstance(one, Const) and isinstance(other, Const) and kinds in ({bool}, {str})


def _are_modes(one: Value, other: Value) -> bool:
    """``Net(training=True)`` and ``Net(training=False)``: one network, which has the same parameters in both modes."""
    if not (isinstance(one, Instance) and isinstance(other, Instance)) or one.cls is not other.cls:
        return False
    if one.slots.keys() != other.slots.keys():
        return False
    pairs = [(value, other.slots[name]) for name, value in one.slots.items()]
    # What is unknown of both comes from one ``**config``, as far as is known.
    unlike = [(a, b) for a, b in pairs if not (_is_same(a, b) or (isinstance(a, Unknown) and isinstance(b, Unknown)))]
    return bool(unlike) and all(isinstance(v, Const) and type(v.value) is bool for pair in unlike for v in pair)


def _captures_arrays(key: Value, function: ir.Function, around: Link | None) -> bool:
    """A function inside of another one reads arrays that are parameters of that one."""
    if around is None or around.fn is None or around.bound is None:
        return False
    if not function.qualname.startswith(f"{around.fn.qualname}.<locals>."):
        return False
    captured = (around.bound.get(name) for name in _values_read(function) - set(function.local_names))
    return any(v is not None and not _holds(v, key) and _has_arrays(v) for v in captured)


def _values_read(function: ir.Function) -> set[str]:
    """The names in a function of which it reads more than the shape."""
    nodes = [node for statement in function.body for node in walk(statement)]
    shapes = {
        id(n.value) for n in nodes if isinstance(n, ir.Attribute) and n.attr in ("shape", "dtype", "ndim", "size")
    }
    return {node.id for node in nodes if isinstance(node, ir.Name) and id(node) not in shapes}


def _is_same(a: Value, b: Value, depth: int = 6) -> bool:
    """Both are the same value, inside a transform or outside of it."""
    if a is b:
        return True
    if isinstance(a, (Array, Tree, Unknown)) and isinstance(b, (Array, Tree, Unknown)):
        return canonical_key(a) is canonical_key(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return type(a.value) is type(b.value) and a.value == b.value
    parts, others = held_by(a), held_by(b)
    return (
        type(a) is type(b)
        and depth > 0
        and 0 < len(parts) == len(others)
        and all(_is_same(x, y, depth - 1) for x, y in zip(parts, others, strict=True))
    )


def _has_arrays(value: Value, depth: int = 4) -> bool:
    if isinstance(value, (Array, Tree, HostArray)):
        return True
    return depth > 0 and any(_has_arrays(part, depth - 1) for part in held_by(value))


# --- statements ------------------------------------------------------------------------------------------------


def _blocks_of(statement: ir.Stmt) -> list[list[ir.Stmt]]:
    """The blocks of a compound statement, those of functions and classes left out."""
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return []
    own = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    return [*own, *(handler.body for handler in getattr(statement, "handlers", ()))]


def _is_discarded(statement: ir.Stmt | None, place: Place, body: list[ir.Stmt]) -> bool:
    """The statement throws away what the call at ``place`` gives; waiting for the result does not count."""
    if isinstance(statement, ir.Assign):
        return all(
            isinstance(t, ir.Name) and set(t.id) == {"_"}
            for target in statement.targets
            for t in parts_of_target(target)
        )
    if not isinstance(statement, ir.ExprStmt) or not _gives_result(place.link):
        return False
    value: Any = statement.value
    while value is not place.node and isinstance(value, ir.Call):
        if not is_waiting(value.func, place.scope, body):
            return False
        value = value.args[0].value if value.args else value.func.value  # type: ignore[union-attr]
    return value is place.node


def _is_unread(statement: ir.Stmt | None, body: list[ir.Stmt]) -> bool:
    """The statement does nothing but bind names that stand nowhere else in the body of the function."""
    if not isinstance(statement, ir.Assign):
        return False
    targets = [t for target in statement.targets for t in parts_of_target(target)]
    names = {t.id for t in targets if isinstance(t, ir.Name)}
    if len(names) < len(targets):
        return False
    return len(_mentions(body, names)) == len(names)


def _is_never_read(statement: ir.Stmt | None, body: list[ir.Stmt]) -> bool:
    """No code behind an assignment, which no loop repeats, reads what it binds."""
    names, others = _bound_by(statement)
    if not names or others or statement is None:
        return False
    loops = [one for one in all_statements(body) if isinstance(one, (ir.For, ir.While))]
    if any(loop.start <= statement.start < loop.end for loop in loops):
        return False
    functions = [node for one in body for node in walk(one) if isinstance(node, (ir.FunctionDef, ir.Lambda))]
    if any(not names.isdisjoint(_names_in(function)) for function in functions):
        return False
    return all(one.end <= statement.end or names.isdisjoint(names_read(one)) for one in all_statements(body))


def _names_in(node: Any) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ir.Name)}


def _takes_the_place_of(second: ir.Stmt | None, first: ir.Stmt | None, body: list[ir.Stmt]) -> bool:
    """Wherever the second assignment runs, nothing has read what the first one bound, and it rebinds that."""
    names, others = _bound_by(first)
    bound_again, _ = _bound_by(second)
    if not names or others or not names <= bound_again or first is None or second is None:
        return False
    if first is second or not names.isdisjoint(names_read(second.value)):  # type: ignore[union-attr]
        return False
    between = [one for one in all_statements(body) if first.end <= one.start < second.start]
    return not any(_reads_before(one, names, second.start) for one in between)


def _reads_before(statement: ir.Stmt, names: set[str], end: int) -> bool:
    nodes = (node for node in walk(statement) if isinstance(node, ir.Name) and node.start < end)
    return any(node.id in names for node in nodes)


_CLOCKS = frozenset(name.rpartition(".")[2] for name in CLOCKS)


def _is_timed(body: list[ir.Stmt], here: Place) -> bool:
    """The loop around the call stands alone between two readings of a clock: it repeats the work to measure it."""
    return any(
        isinstance(loop, (ir.For, ir.While)) and loop.start <= here.node.start < loop.end
        for loop in _timed_alone(body, here.scope)
    )


def _is_input_of_timing(statement: ir.Stmt | None, body: list[ir.Stmt], scope: ModuleScope) -> bool:
    """Only calls that stand alone between two readings of a clock read what the statement binds, and only the time counts."""
    names, others = _bound_by(statement)
    if not names or others or statement is None:
        return False
    readers = [one for one in all_statements(body) if one.start > statement.end and _names_in(one) & names]
    timed = {id(one) for one in _timed_alone(body, scope) if is_wait(one, scope, body)}
    return bool(readers) and all(id(one) in timed for one in readers)


def _is_reset(first: ir.Stmt | None, second: ir.Stmt | None, here: Place) -> bool:
    """``self.state = init(key, x)``, a call of the project, stands there twice, word for word: what was tried out or compiled
    in between starts once more."""
    if not isinstance(first, ir.Assign) or not isinstance(second, ir.Assign) or first is second:
        return False
    text = here.scope.text
    same = text[first.start : first.end].split() == text[second.start : second.end].split()
    return same and here.link is not None and here.link.fn is not None and second.value is here.node


def _is_shown(statement: ir.Stmt | None, place: Place, other: Place) -> bool:
    """``print(f(key))`` beside ``x = f(key)`` shows what the other call gives."""
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    if not isinstance(call, ir.Call) or called_name(call.func, place.scope) not in ("print", "info", "debug"):
        return False
    if place.node is other.node:
        return False
    pattern = _pattern(place.node, place.scope.text)
    return pattern is not None and pattern == _pattern(other.node, other.scope.text)


_TEMPLATES = {
    "tree_deserialise_leaves": (1, ("like",)),
    "from_bytes": (0, ("target",)),
    "from_state_dict": (0, ("target",)),
    "restore_checkpoint": (1, ("target",)),
    "restore": (None, ("item", "target")),
}
"""Position and keywords of the argument that gives a reader of files the structure, shapes and dtypes of what it returns: of
Equinox's, Flax's and Orbax's functions, as their references say."""


def _is_template(statement: ir.Stmt | None, body: list[ir.Stmt], scope: ModuleScope) -> bool:
    """Only readers of files look at what an assignment binds, or the first one binds what it returns to the same names."""
    names, others = _bound_by(statement)
    if not names or others or statement is None or not any(reader in scope.text for reader in _TEMPLATES):
        return False
    templates: set[int] = set()
    for one in all_statements(body):
        given = {id(node) for call in walk(one) for node in _templates_in(call, scope)}
        templates |= given
        if given and _bound_by(one)[0] >= names:
            before = [other for other in all_statements(body) if other.start >= statement.end]
            only = {
                id(node) for node in walk(one) if isinstance(node, ir.Name) and node.id in names
            } <= given | _stored(body)
            return only and not any(_reads_before(other, names, one.start) for other in before)
    return bool(templates) and _mentions(body, names) <= templates | _stored(body)


def _templates_in(node: Any, scope: ModuleScope) -> Iterator[ir.Expr]:
    if not isinstance(node, ir.Call):
        return
    position, keywords = _TEMPLATES.get(called_name(node.func, scope), (None, ()))
    for at, argument in enumerate(node.args):
        if argument.keyword in keywords or (argument.keyword is None and at == position):
            yield argument.value


def _timed_alone(body: list[ir.Stmt], scope: ModuleScope) -> Iterator[ir.Stmt]:
    """The statements that stand alone between two readings of a clock."""
    for block in (body, *(block for one in all_statements(body) for block in _blocks_of(one))):
        for before, middle, after in zip(block, block[1:], block[2:]):
            if _reads_clock(before, scope) and _reads_clock(after, scope):
                yield middle


def _reads_clock(statement: ir.Stmt, scope: ModuleScope) -> bool:
    if not isinstance(statement, (ir.Assign, ir.ExprStmt, ir.Return)):
        return False
    return any(isinstance(one, ir.Call) and called_name(one.func, scope) in _CLOCKS for one in walk(statement))


def _is_awaited_only(statement: ir.Stmt | None, body: list[ir.Stmt], scope: ModuleScope) -> bool:
    """Nothing but a wait looks at what the statement binds: a warm-up."""
    if not isinstance(statement, ir.Assign):
        return False
    names = {t.id for target in statement.targets for t in parts_of_target(target) if isinstance(t, ir.Name)}
    if len(names) < sum(1 for target in statement.targets for _ in parts_of_target(target)):
        return False
    awaited = _mentions([one for one in all_statements(body) if is_wait(one, scope, body)], names)
    return bool(awaited) and _mentions(body, names) <= awaited | _stored(body)


def _stored(body: list[ir.Stmt]) -> set[int]:
    """The identities of the nodes that assignments store into."""
    assigned = [target for one in all_statements(body) if isinstance(one, ir.Assign) for target in one.targets]
    return {id(part) for target in assigned for part in parts_of_target(target)}


def _mentions(body: list[ir.Stmt], names: set[str]) -> set[int]:
    """The identities of the nodes that read or bind one of these variables."""
    found: set[int] = set()
    todo: list[tuple[Any, set[str]]] = [(one, names) for one in body]
    while todo:
        node, wanted = todo.pop()
        if isinstance(node, ir.Name) and node.id in wanted:
            found.add(id(node))
        if isinstance(node, ir.Function):
            wanted = wanted.difference(node.local_names)
        todo += [(part, wanted) for part in below(node)]
    return found


def _is_overwritten(statement: ir.Stmt | None, body: list[ir.Stmt], scope: ModuleScope) -> bool:
    """Other results take the place of what the statement binds, before anything but a wait looks at them: a warm-up."""
    names, others = _bound_by(statement)
    around = (
        [body, *(block for one in all_statements(body) for block in _blocks_of(one))] if names and not others else []
    )
    block = next((one for one in around if statement in one), [])
    for later in block[block.index(statement) + 1 :] if statement in block else ():
        if is_wait(later, scope, body):
            continue
        bound, _ = _bound_by(later)
        if bound and names.isdisjoint(names_read(later.value)):  # type: ignore[union-attr]
            names -= bound
            if not names:
                return True
        elif not names.isdisjoint(names_read(later)):
            return False
    return False


def _bound_by(statement: ir.Stmt | None) -> tuple[set[str], bool]:
    """The names that an assignment of a value binds, and whether it stores into anything else."""
    if isinstance(statement, ir.Assign):
        parts = [part for target in statement.targets for part in parts_of_target(target)]
    elif isinstance(statement, ir.AnnAssign) and statement.value is not None:
        parts = [statement.target]
    else:
        return set(), False
    names = {part.id for part in parts if isinstance(part, ir.Name)}
    return names, len(names) < len(parts)


def _gives_result(link: Link | None) -> bool:
    """What is called returns something: a function that returns nothing is called for its effects."""
    if link is None or link.fn is None:
        return True
    return any(isinstance(s, ir.Return) and s.value is not None for s in all_statements(link.fn.body))


def _feeds(first: ir.Stmt, call: Any) -> bool:
    """The call takes what the first statement binds."""
    if isinstance(first, ir.Assign):
        targets = first.targets
    elif isinstance(first, ir.AnnAssign):
        targets = [first.target]
    else:
        return False
    names = {t.id for target in targets for t in parts_of_target(target) if isinstance(t, ir.Name)}
    return any(isinstance(node, ir.Name) and node.id in names for node in walk(call))
