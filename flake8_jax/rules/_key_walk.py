"""Keys that the code of a function passes on twice, read in the code alone: the called functions are not in view.

Vocabulary
----------
use         a call that gets the key and may draw from it: by the tables of ``jax.random``, by the body of a function of the
            file, or by convention (``env.reset(key)``, ``net.init(key, x)``).
state       the last use of each key, by the path that holds it.

Names say what a key is: ``key``, ``rng``, ``self.rng``. What is found hangs on conventions, so all of it is a preview.

Limitations: keys in containers; the order of what runs in one expression.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._units import Unit, imports_jax, library_name, own_expressions, text_of, units_of
from flake8_jax.semantics.domain.boundary import NOT_TRAINING
from flake8_jax.semantics.domain.code import all_statements, bound_paths, last_name, path_of, paths_read
from flake8_jax.semantics.domain.equal_draws import mentions_equal_draws
from flake8_jax.semantics.domain.key_words import NAMED, keeps_key
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.values import (
    BoundMethod,
    BuiltinValue,
    ClassValue,
    Const,
    External,
    FunctionValue,
    ModuleValue,
)
from flake8_jax.semantics.events.files import FileRead

_RANDOM = "jax.random."
_PLAIN = frozenset({"fold_in", "clone", "key_data", "wrap_key_data", "key_impl", "PRNGKey", "key", "default_prng_impl"})
_MAPPING = frozenset(
    {"vmap", "pmap", "jit", "filter_jit", "filter_vmap", "partial", "checkpoint", "grad", "value_and_grad"}
)
_COPY = re.compile(r"target|teacher|ema|old|copy|ref|frozen|dummy|shape|test|eval|valid|compare|same")
_COMPARES = re.compile(
    r"(?i)test|compar|check|bench|time|verify|demo|eval|valid|plot|show|visuali|assert|equal|reproduc"
)
_NO_KEY = re.compile(
    r"seed|rngs$|key_(?!gen|init|\d|drop|sample|noise|act|env|model|param|latent|train|perm|reset|step)"
)
"""Names of seeds, of streams that advance themselves, and of what only contains the word."""
_BUILTINS = frozenset({"all", "any", "enumerate", "filter", "hasattr", "hash", "iter", "max", "min", "range", "reversed", "set",
                       "sort", "sorted", "sum", "zip", "items", "index", "count", "__init__", "super",
                       "eval_shape", "make_jaxpr", "tabulate"})  # fmt: skip
_IN_VIEW = (FunctionValue, ClassValue, BoundMethod, ModuleValue, BuiltinValue, Const, External)
"""Values of names whose code, or lack of it, the analysis of values knows."""
_SEEDING = frozenset({"numpyro.handlers.seed", "numpyro.infer.initialize_model"})
_WITHOUT_KEYS = frozenset({
    "PIL", "absl", "builtins", "chex", "collections", "copy", "cv2", "dataclasses", "einops", "flax", "functools", "gc", "h5py",
    "hydra", "itertools", "jax", "jaxtyping", "json", "logging", "math", "matplotlib", "ml_collections", "numpy", "omegaconf",
    "operator", "optax", "orbax", "os", "pandas", "pathlib", "pickle", "random", "re", "scipy", "sklearn", "sys", "tensorflow",
    "time", "torch", "tqdm", "typing", "wandb",
})  # fmt: skip
"""Libraries whose functions draw from no key, or whose functions the tables describe."""
_APPLYING = frozenset({"apply", "apply_fn"})
_NEAR = 12
_DEPTH = 3


@dataclass(frozen=True)
class Use:
    """callee: what gets the key. kind: ``split``, ``draw`` (by the tables), or ``given`` (by convention)."""

    at: ir.Call
    callee: str
    kind: str


@dataclass
class _Walk:
    """others: variables that hold something else that is called a key. found: the second use of a key with the first one.
    looped: a use of a key that the loop around it does not change."""

    unit: Unit
    functions: dict[str, ir.Function]
    methods: dict[str, ir.Function]
    others: frozenset[str] = frozenset()
    found: dict[int, tuple[str, Use, Use]] = field(default_factory=dict)
    looped: dict[int, tuple[str, Use]] = field(default_factory=dict)


def keys_passed_twice(event: FileRead) -> list[Report]:
    """Reports on keys that a function of the file passes to two calls."""
    found: list[Report] = []
    for walker in _walks(event):
        found += _left_as_they_are(walker)
        found += _carried_on(walker)
        first_of: set[tuple[str, int]] = set()
        for key, first, second in sorted(walker.found.values(), key=lambda one: one[2].at.start):
            if (key, first.at.start) not in first_of and not _is_meant(walker.unit, key, first, second):
                first_of.add((key, first.at.start))
                found.append(_report(walker.unit, key, first, second))
    return found


def keys_of_loops(event: FileRead) -> list[Report]:
    """Reports on keys that every iteration of a loop passes to a call."""
    found: list[Report] = []
    for walker in _walks(event):
        scope = walker.unit.scope
        for key, use in walker.looped.values():
            line = scope.text[_line_start(walker.unit, use.at) : _line_end(walker.unit, use.at)]
            if (
                walker.unit.function is None
                or key.endswith("keys")
                or "init" in use.callee
                or _COPY.search(line.lower())
                or mentions_equal_draws(line)
            ):
                continue
            message = f"`{key}` does not change in this loop, so every iteration passes the same key to `{use.callee}`"
            found.append(Report(use.at, f"{message}; split it in each iteration", "info", preview=True))
    return found


def _walks(event: FileRead) -> Iterator[_Walk]:
    """The functions of a file that are no comparison, after a run through each."""
    scope = event.context.scope
    if is_test(event.context) or scope.is_test or not imports_jax(scope):
        return
    functions = _functions_of(scope)
    for unit in units_of(scope):
        name = unit.function.name if unit.function is not None else ""
        if _COMPARES.search(name) or (name.startswith("__") and name not in ("__init__", "__call__")):
            continue
        if mentions_equal_draws(_docstring(unit.body)):
            continue
        methods = {}
        if unit.owner is not None:
            methods = {s.function.name: s.function for s in unit.owner.body if isinstance(s, ir.FunctionDef)}
        walker = _Walk(unit, functions, methods, other_keys(unit))
        _run(walker, unit.body, {})
        yield walker


def _docstring(body: list[ir.Stmt]) -> str:
    first = body[0].value if body and isinstance(body[0], ir.ExprStmt) else None
    return first.value if isinstance(first, ir.Constant) and isinstance(first.value, str) else ""


# --- what else is called a key ------------------------------------------------------------------------------------

_BESIDE = frozenset({"query", "queries", "value", "values", "q", "v", "event"})
"""Parameters beside which a ``key`` is that of an attention layer, of a dict or of a keyboard."""
_MAKES_KEYS = re.compile(r"(?i)key|rng|seed|split|fold|next|clone|random")
_LOOKUPS = frozenset(
    {"contains", "delete", "exists", "get", "has", "lookup", "pop", "register", "remove", "setdefault"}
)
_OF_ARRAYS = frozenset({"shape", "dtype", "ndim", "size", "astype", "reshape", "copy", "block_until_ready", "at", "T"})


def other_keys(unit: Unit) -> frozenset[str]:
    """The variables whose use shows that they are no random keys: strings, keys of dicts, functions for ``sorted``, arrays of
    an attention layer."""
    found: set[str] = set()
    if unit.function is not None and any(p.name in _BESIDE for p in unit.function.params):
        found.add("key")
    for statement in unit.statements:
        if isinstance(statement, ir.For):
            if not isinstance(statement.iter, ir.Call) or last_name(statement.iter.func) in ("items", "keys", "sorted"):
                found |= bound_paths(ir.Assign(0, 0, [statement.target], statement.iter)) & _PLAIN_NAMES
        elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
            if not _MAKES_KEYS.search(text_of(statement.value, unit.scope).partition("(")[0]):
                found |= {path_of(target) for target in statement.targets if isinstance(target, ir.Name)}
        for node in own_expressions(statement):
            found |= _names_shown_as_others(node)
    return frozenset(found)


_PLAIN_NAMES = frozenset({"key", "k"})


def _names_shown_as_others(node: ir.Expr) -> set[str]:
    """``key == "q"``, ``key in table``, ``table[key]``, ``table.get(key)``, ``key.upper()``, ``key(item)``."""
    if isinstance(node, ir.Compare):
        sides = [node.left, *node.comparators]
        if any(op in ("in", "not in") for op in node.ops):
            return {path_of(node.left)} - {""}
        if any(isinstance(side, ir.Constant) and isinstance(side.value, str) for side in sides):
            return {path_of(side) for side in sides} - {""}
    if isinstance(node, ir.Subscript):
        return {path_of(node.index)} - {""}
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        return {node.func.id}
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr in _LOOKUPS:
        return {path_of(argument.value) for argument in node.args[:1]} & _PLAIN_NAMES
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr not in _OF_ARRAYS:
        return {path_of(node.func.value)} & _PLAIN_NAMES
    return set()


# --- the order in which a function uses its keys ------------------------------------------------------------------


State = dict[str, Use]


def _run(walker: _Walk, body: list[ir.Stmt], state: State) -> State | None:
    """The last uses after a block; None if it never comes to its end."""
    current: State | None = dict(state)
    for statement in body:
        if current is None:
            return None
        current = _step(walker, statement, current)
    return current


def _step(walker: _Walk, statement: ir.Stmt, state: State) -> State | None:
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return state
    _evaluate(walker, statement, state)
    if isinstance(statement, ir.If):
        return _joined([_run(walker, statement.body, state), _run(walker, statement.orelse, state)])
    if isinstance(statement, (ir.For, ir.While)):
        targets = (
            bound_paths(ir.Assign(0, 0, [statement.target], statement.iter)) if isinstance(statement, ir.For) else set()
        )
        after = _run(walker, statement.body, {k: v for k, v in state.items() if k not in targets})
        _keep_looped(walker, statement, after or {})
        return _joined([state, after])
    if isinstance(statement, ir.Try):
        tried = _run(walker, [*statement.body, *statement.orelse], state)
        return _joined([tried, *[_run(walker, handler.body, state) for handler in statement.handlers]])
    if isinstance(statement, ir.With):
        return _run(walker, statement.body, state)
    if isinstance(statement, (ir.Return, ir.Raise, ir.Break, ir.Continue)):
        return None
    for path in bound_paths(statement):
        for key in [k for k in state if k == path or k.startswith((f"{path}.", f"{path}["))]:
            del state[key]
    return state


def _keep_looped(walker: _Walk, loop: ir.For | ir.While, after: State) -> None:
    """Each iteration passes the key on, and nothing in the loop binds it, or what it is an attribute of."""
    bound = bound_paths(loop)
    for key, use in after.items():
        roots = {key[: i + 1] for i in range(len(key))} if "." in key or "[" in key else {key}
        if loop.start <= use.at.start < loop.end and use.kind == "given" and not roots & bound:
            walker.looped.setdefault(use.at.start, (key, use))


def _joined(states: list[State | None]) -> State | None:
    left = [state for state in states if state is not None]
    return {key: use for state in left for key, use in state.items()} if left else None


def _evaluate(walker: _Walk, statement: ir.Stmt, state: State) -> None:
    """The calls of a statement, in the order in which they end."""
    calls = {id(n): n for n in own_expressions(statement) if isinstance(n, ir.Call)}
    exclusive = [n for n in own_expressions(statement) if isinstance(n, (ir.IfExp, ir.BoolOp, ir.Comprehension))]
    for call in sorted(calls.values(), key=lambda one: one.end):
        for key, use in _uses_in(walker, call):
            earlier = state.get(key)
            is_alone = any(
                n.start <= call.start < n.end and earlier is not None and n.start <= earlier.at.start < n.end
                for n in exclusive
            )
            if earlier is not None and earlier.at is not call and not is_alone:
                walker.found.setdefault(call.start, (key, earlier, use))
            state[key] = use


def _uses_in(walker: _Walk, call: ir.Call) -> Iterator[tuple[str, Use]]:
    """The keys among the arguments of a call that may draw from them."""
    callee, kind = _callee(walker, call)
    if not kind:
        return
    is_init = "init" in callee
    for number, argument in enumerate(call.args):
        if callee in _APPLYING and argument.keyword is None:
            continue  # a network of Haiku may need no key here
        values = [argument.value]
        if isinstance(argument.value, ir.Dict):
            values = argument.value.values
        for value in values:
            key = _keys_of_collections(call, argument) if argument.keyword == "rngs" else ""
            key = key or _key_path(value)
            if (
                not key
                or key in walker.others
                or argument.star
                or (is_init and number > 0 and argument.keyword is None)
            ):
                continue
            if kind == "known" and not _consumes(walker, call, number, argument.keyword):
                continue
            yield key, Use(call, callee, "given" if kind == "known" else kind)


def _keys_of_collections(call: ir.Call, argument: ir.Argument) -> str:
    """``rngs`` of ``net.apply(variables, x, rngs=rngs)``: a dict that each call gets, if the call may draw from its keys."""
    is_off = any(_is_off(other) for other in call.args)
    return path_of(argument.value) if last_name(call.func) in _APPLYING and not is_off else ""


def _is_off(argument: ir.Argument) -> bool:
    """``train=False``, ``deterministic=True``; of an argument without a name, any ``False``."""
    value = argument.value
    if not isinstance(value, ir.Constant) or not isinstance(value.value, bool):
        return False
    return value.value is NOT_TRAINING.get(argument.keyword) if argument.keyword else not value.value


def _key_path(value: ir.Expr) -> str:
    """``key``, ``self.rng``, ``keys[0]``."""
    if isinstance(value, ir.Subscript) and isinstance(value.index, ir.Constant):
        inner = _key_path(value.value)
        return f"{inner}[{value.index.value!r}]" if inner else ""
    if not isinstance(value, (ir.Name, ir.Attribute)):
        return ""
    path, name = path_of(value), last_name(value).lower()
    is_key = NAMED.fullmatch(name.lstrip("_")) or re.fullmatch(r"(.*_)?keys", name)
    return path if path and is_key and not _NO_KEY.search(name) else ""


def _callee(walker: _Walk, call: ir.Call) -> tuple[str, str]:
    """The name of what a call calls, and how it uses keys; an empty kind if it does not."""
    func, scope = call.func, walker.unit.scope
    if isinstance(func, ir.Call):
        maker = last_name(func.func)
        if maker not in _MAPPING:
            return maker, "given" if _makes_consumer(library_name(func.func, scope), maker) else ""
        if not func.args:
            return "", ""
        func = func.args[0].value
    library = library_name(func, scope)
    name = last_name(func)
    if library.startswith(_RANDOM):
        kind = "" if name in _PLAIN else "split" if name == "split" else "draw"
        return name, kind
    if library:
        return name, "given" if library in _SEEDING or _is_consumer(library, name) else ""
    if not name or name in _BUILTINS:
        return name, ""
    if isinstance(func, ir.Name):
        if name in walker.functions:
            return name, "known"
        is_known = isinstance(scope.slots.get(name), _IN_VIEW)
        return name, "" if is_known or keeps_key(name) else "given"
    if isinstance(func, ir.Attribute) and path_of(func.value) in ("self", "cls"):
        return (name, "known") if name in walker.methods else (name, "" if keeps_key(name) else "given")
    return name, "" if keeps_key(name) else "given"


def kind_of_use(unit: Unit, call: ir.Call) -> str:
    """How the call uses a key that it gets: ``split``, ``draw`` or ``given``; empty if it does not, or if the file has its
    function."""
    return _callee(_Walk(unit, _functions_of(unit.scope), {}), call)[1]


@lru_cache(maxsize=2)
def _functions_of(scope: ModuleScope) -> dict[str, ir.Function]:
    """The functions that the top level of a file defines."""
    return {s.function.name: s.function for s in scope.tree.body if isinstance(s, ir.FunctionDef)}


def _is_consumer(library: str, name: str) -> bool:
    """A function of a library that is neither JAX nor one without keys: ``agents.act(key, x)``."""
    return library.partition(".")[0] not in _WITHOUT_KEYS and name not in _BUILTINS and not keeps_key(name)


def _makes_consumer(library: str, name: str) -> bool:
    """``Predictive(model, samples)(key)``, ``make_sampler(model)(key)``: what the inner call makes is called with a key."""
    return bool(name) and name not in _BUILTINS and library.partition(".")[0] not in _WITHOUT_KEYS


def _consumes(walker: _Walk, call: ir.Call, number: int, keyword: str | None, depth: int = _DEPTH) -> bool:
    """A function of the file passes the parameter on to what may draw from it."""
    func = call.func.args[0].value if isinstance(call.func, ir.Call) else call.func
    is_method = isinstance(func, ir.Attribute)
    function = (walker.methods if is_method else walker.functions).get(last_name(func))
    if function is None or not depth:
        return False
    params = function.params[1:] if is_method else function.params
    name = keyword or (params[number].name if number < len(params) else "")
    if not name:
        return False
    inner = _Walk(Unit(walker.unit.scope, function.body, function), walker.functions, walker.methods)
    for statement in all_statements(function.body):
        for node in own_expressions(statement):
            if isinstance(node, ir.Call):
                kind = _callee(inner, node)[1]
                places = [(i, a.keyword) for i, a in enumerate(node.args) if _holds(a.value, name)]
                if kind in ("split", "draw", "given") and places:
                    return True
                if kind == "known" and any(_consumes(inner, node, i, k, depth - 1) for i, k in places):
                    return True
        if name in bound_paths(statement):
            return False
    return False


def _holds(value: ir.Expr, name: str) -> bool:
    values = value.values if isinstance(value, ir.Dict) else [value]
    return any(isinstance(one, ir.Name) and one.id == name for one in values)


# --- what is reported ---------------------------------------------------------------------------------------------


def _is_meant(unit: Unit, key: str, first: Use, second: Use) -> bool:
    """Names or comments say that both get one key on purpose, or the analysis of values tells more of both uses."""
    if "given" not in (first.kind, second.kind) and not _shuffle_alike(first, second):
        return True
    lines = unit.scope.text[_line_start(unit, first.at) : _line_end(unit, second.at)]
    if mentions_equal_draws(lines) or unit.reading is None:
        return True
    bound = [_bound_at(unit, use.at) for use in (first, second)]
    if _names_say_so(unit, first, second, bound):
        return True
    return not _shuffle_alike(first, second) and _calls_say_so(unit, first, second, bound[0])


def _bound_at(unit: Unit, at: ir.Node) -> set[str]:
    """What the statement of a call binds."""
    simple = (s for s in unit.statements if not hasattr(s, "body"))
    statement = next((s for s in simple if s.start <= at.start and at.end <= s.end), None)
    return bound_paths(statement) if statement is not None else set()


def _names_say_so(unit: Unit, first: Use, second: Use, bound: list[set[str]]) -> bool:
    """What becomes of the results of both uses, or how they are named, says that equal draws are meant. bound: the names of the
    results."""
    scope = unit.scope
    if second.kind == "split" and first.callee == "init" and library_name(first.at.func, scope):
        return True  # Flax makes the keys of its layers in another way
    if first.kind == "split" and not any("." in path or _is_read(unit, path) for path in bound[0]):
        return True
    called = [text_of(use.at.func, scope) for use in (first, second)]
    if any(_COPY.search(name.lower()) for name in (*called, *bound[0], *bound[1])):
        return True
    return _are_subtracted(unit, bound[0], bound[1])


def _calls_say_so(unit: Unit, first: Use, second: Use, made: set[str]) -> bool:
    """Both are one call written twice, or the second one starts what the first has made."""
    scope, is_alike = unit.scope, first.callee == second.callee
    if unit.function is None and is_alike and not _are_near(unit, first, second):
        return True
    if is_alike and "split" not in (first.kind, second.kind):
        return unit.function is None or _is_repeated(first.at, second.at, scope)
    shown = {path_of(argument.value) for argument in second.at.args}
    return "init" in second.callee and first.kind == "draw" and bool(shown & made)


def _is_repeated(call: ir.Call, again: ir.Call, scope: ModuleScope) -> bool:
    """Both calls have the same arguments, and call one function, or one of them its gradient."""
    one, other = text_of(call.func, scope), text_of(again.func, scope)
    is_same = one == other or _is_given(call.func, other, scope) or _is_given(again.func, one, scope)
    arguments = [[scope.text[a.start : a.end] for a in each.args] for each in (call, again)]
    return is_same and arguments[0] == arguments[1]


def _is_given(func: ir.Expr, name: str, scope: ModuleScope) -> bool:
    """``jax.grad(f)`` beside ``f``: a value and its gradient belong to one sample."""
    return isinstance(func, ir.Call) and any(text_of(argument.value, scope) == name for argument in func.args)


def _are_subtracted(unit: Unit, one: set[str], other: set[str]) -> bool:
    """The code takes the difference of both results, in which the noise of one key cancels: common random numbers."""
    for statement in unit.statements:
        for node in own_expressions(statement):
            if isinstance(node, ir.BinOp) and node.op == "-":
                left, right = paths_read(node.left), paths_read(node.right)
                if (left & one and right & other) or (left & other and right & one):
                    return True
    return False


def _are_near(unit: Unit, first: Use, second: Use) -> bool:
    """Both stand in one cell, or within some lines of a script."""
    scope = unit.scope
    if scope.cells:
        return scope.cell_of(first.at.start) == scope.cell_of(second.at.start)
    return scope.text.count("\n", first.at.start, second.at.start) <= _NEAR


def _shuffle_alike(first: Use, second: Use) -> bool:
    """Two arrays are shuffled with one key, so that their rows stay together."""
    return first.callee == second.callee == "permutation" and first.kind == second.kind == "draw"


def _left_as_they_are(walker: _Walk) -> Iterator[Report]:
    """A method draws from a key of its object and leaves it there, where another method splits it for its own draws."""
    unit = walker.unit
    if unit.owner is None or unit.function is None:
        return
    kept = {path for statement in unit.statements for path in bound_paths(statement)}
    for statement in unit.statements:
        for call in (n for n in own_expressions(statement) if isinstance(n, ir.Call)):
            for key, use in _uses_in(walker, call):
                advances = any(f.name != unit.function.name and _advances(f, key) for f in walker.methods.values())
                if use.kind == "draw" and key.startswith("self.") and key not in kept and advances:
                    message = (
                        f"`{unit.function.name}` draws from `{key}` and leaves it as it is, so the next use of it "
                        f"gets the same key; split it: `{key}, key = jax.random.split({key})`"
                    )
                    yield Report(call, message, "info", preview=True)


def _carried_on(walker: _Walk) -> Iterator[Report]:
    """``rng, sub = split(rng)``, and then a call gets ``rng``, which goes on, and nothing reads ``sub``."""
    unit = walker.unit
    for number, statement in enumerate(unit.statements):
        target = statement.targets[0] if isinstance(statement, ir.Assign) else None
        value = statement.value if isinstance(statement, ir.Assign) else None
        if not isinstance(target, ir.Tuple) or not isinstance(value, ir.Call) or not value.args:
            continue
        names, key = [path_of(e) for e in target.elts], path_of(value.args[0].value)
        others = [name for name in names if name != key]
        if library_name(value.func, unit.scope) != "jax.random.split" or key not in names or len(others) != 1:
            continue
        if others == ["_"] or "." in others[0] or not key or _is_read(unit, others[0]):
            continue
        taken = _taken_after(walker, unit.statements[number + 1 :], key)
        if taken is not None and _goes_on(unit, taken, key):
            row = bisect_right(unit.scope.tree.line_starts, statement.start)
            message = (
                f"`{last_name(taken.func)}` gets `{key}`, which the code uses again, but `{others[0]}`, which it split off "
                f"on line {row}, is never used; pass `{others[0]}`"
            )
            yield Report(taken, message, "warning", preview=True)


def _is_read(unit: Unit, name: str) -> bool:
    """The unit, or a function in it, reads the variable, or the file does if the unit is its top level."""
    return name in _names_read_in(unit)


@lru_cache(maxsize=2)
def _names_read_in(unit: Unit) -> frozenset[str]:
    bound = {
        id(node)
        for statement in unit.statements
        if isinstance(statement, ir.Assign)
        for target in statement.targets
        for node in walk(target)
    }
    names = (n for s in unit.body for n in walk(s) if isinstance(n, ir.Name))
    return frozenset(n.id for n in names if id(n) not in bound)


def _taken_after(walker: _Walk, statements: list[ir.Stmt], key: str) -> ir.Call | None:
    """The first call that may draw from the key, before the code binds it again or splits it."""
    for statement in statements:
        calls = [n for n in own_expressions(statement) if isinstance(n, ir.Call)]
        for call in sorted(calls, key=lambda one: one.end):
            if not any(path_of(argument.value) == key for argument in call.args):
                continue
            library = library_name(call.func, walker.unit.scope)
            kind = _callee(walker, call)[1]
            if kind == "split" or library == "jax.random.fold_in":
                return None
            if kind in ("draw", "given", "known") or library.startswith("jax.lax."):
                return call
        if not hasattr(statement, "body") and key in bound_paths(statement):
            return None
    return None


def _goes_on(unit: Unit, call: ir.Call, key: str) -> bool:
    """Code behind the call reads the key, or a loop runs the call again."""
    later = [s for s in unit.statements if s.start > call.end]
    read = any(isinstance(n, ir.Name) and n.id == key for s in later for n in own_expressions(s))
    return read or bool(unit.loops_around(call))


def _advances(function: ir.Function, key: str) -> bool:
    """``self.key, sub = jax.random.split(self.key)``."""
    return function.name != "__init__" and any(
        isinstance(s, ir.Assign)
        and isinstance(s.targets[0], ir.Tuple)
        and key in bound_paths(s)
        and any(isinstance(n, ir.Attribute) and path_of(n) == key for n in walk(s.value))
        for s in all_statements(function.body)
    )


def _line_start(unit: Unit, node: ir.Node) -> int:
    return unit.scope.text.rfind("\n", 0, node.start) + 1


def _line_end(unit: Unit, node: ir.Node) -> int:
    end = unit.scope.text.find("\n", node.end)
    return len(unit.scope.text) if end < 0 else end


def _report(unit: Unit, key: str, first: Use, second: Use) -> Report:
    row = bisect_right(unit.scope.tree.line_starts, first.at.start)
    before = "split" if first.kind == "split" else f"passed to `{first.callee}`" if first.kind == "given" else "used"
    said = f"`{key}` was already {before} on line {row}"
    if _shuffle_alike(first, second):
        message = (
            f"{said}, which shuffles both arrays in one order only while their lengths agree; draw one permutation of "
            "the indices and index both arrays with it"
        )
    elif second.kind == "split":
        message = f"{said}, so this split may return keys that `{first.callee}` uses, too; split it before that call"
    elif "init" in first.callee and "init" in second.callee:
        message = f"{said}, so layers of equal names and shapes may start with equal parameters; split it first"
    else:
        advice = "split its keys" if key.endswith("rngs") else "split it"
        message = f"{said}, so `{second.callee}` may draw the same numbers; {advice} first"
    return Report(second.at, message, "info", preview=True)


def split_into_two(event: FileRead) -> list[Report]:
    """``key, keys = jax.random.split(key, n + 1)``: the code unpacks as many keys as there are, and has two names."""
    scope = event.context.scope
    found: list[Report] = []
    for unit in units_of(scope) if imports_jax(scope) else ():
        for statement in unit.statements:
            call, target = (statement.value, statement.targets[0]) if isinstance(statement, ir.Assign) else (None, None)
            if not isinstance(call, ir.Call) or library_name(call.func, scope) != "jax.random.split":
                continue
            count = next(
                (a.value for i, a in enumerate(call.args) if a.keyword == "num" or (i == 1 and not a.keyword)), None
            )
            if not isinstance(target, ir.Tuple) or any(isinstance(e, ir.Starred) for e in target.elts):
                continue
            several = isinstance(target, ir.Tuple) and any(last_name(e).endswith("s") for e in target.elts)
            if several and isinstance(count, ir.BinOp) and count.op == "+" and not _is_number(count):
                given, taken = text_of(count, scope), len(target.elts)
                names = " and ".join(f"`{text_of(e, scope)}`" for e in target.elts)
                message = (
                    f"The code unpacks the `{given}` keys of `{text_of(call.func, scope)}` into {taken} names, {names}, "
                    f"which fails unless `{given}` is {taken}; assign all keys to one name and index it"
                )
                found.append(Report(statement, message, "warning", preview=True))
    return found


def _is_number(node: ir.Expr) -> bool:
    return all(isinstance(part, (ir.Constant, ir.BinOp)) for part in walk(node))
