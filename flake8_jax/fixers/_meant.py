"""Equal draws that are meant: common random numbers, antithetic pairs, comparisons, tests of determinism.

A finite difference ``f(x + h, key) - f(x - h, key)`` has little noise because both calls draw the same numbers. With a key for
each call it still runs, and its variance is a million times as large.

Vocabulary
----------
said        a name, comment or text of the function mentions equal draws.
inverse     one of two functions undoes the other: what it draws has to be the same.
joint       one function changes several arrays in the same random way: a crop of an image and of its mask.
meet        the results of two calls of one function are subtracted, divided or compared.
evaluated   a loop measures several systems, such as models, or values of a setting, or tries once more what failed.
ranked      the results of a loop's iterations are compared with each other.

Limitations: results that meet in another function, or behind more than one assignment.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import binder_before, target_names, uses
from flake8_jax.fixers._source import FixSource
from flake8_jax.semantics.domain.equal_draws import is_copy, mentions_equal_draws
from flake8_jax.semantics.events.events import Intent, KeyUse

_MEANT: frozenset[Intent] = frozenset(
    ["same-data", "paired", "mirrored", "parts", "evaluation", "alternatives", "apart"]
)
_COMPARING = re.compile(r"assert|allclose|isclose|array_equal|array_equiv|assertEqual|tree_all|chex\.")
_INVERSE = re.compile(r"(?:^|_)(?:inverse|inv|invert|undo|reverse|un|de)_?(?=[a-z])")
_OPPOSITES = (("encode", "decode"), ("encrypt", "decrypt"), ("forward", "backward"), ("forward", "inverse"))
_JOINT = re.compile(r"crop|flip|rotat|jitter|augment|shuffle|permut|(?<!time_)(?<!bit_)shift(?!ed_)", re.IGNORECASE)
_CLOCK = re.compile(r"\b(?:time|perf_counter|monotonic|process_time|timer|default_timer)(?:_ns)?\(\)|\bBenchmark\b")
_BAD = re.compile(
    r"\b(?:do not|don['’]?t|never) do (?:this|that|it)\b|\bbad (?:example|practice|idea)|\banti-?pattern", re.IGNORECASE
)
_LOADING = re.compile(r"deseriali[sz]e|restore|from_bytes|from_state_dict|load_(?:checkpoint|weights|params|state)")
_INTEGRAL = re.compile(r"\bintegra(?:l|te|tion)|monte[ -]?carlo|quadrature", re.IGNORECASE)
_COMPARISON = re.compile(r"compar(?:e|ing|ison)|versus|_vs_|sweep|ablation", re.IGNORECASE)
_SWEEP = re.compile(r"\bdef \w*sweep|sweep(?:s|ing)?\b|\bgrid[ _]?search|\bablation", re.IGNORECASE)
_EVALUATING = re.compile(r"eval|rollout|test|score|metric|benchmark|compare", re.IGNORECASE)
_SYSTEM = re.compile(
    r"(?:^|_)(?:run|model|net|network|method|policy|agent|algo|algorithm|checkpoint|ckpt|params|baseline|variant)(?:_|\Z)"
)
"""A variable of such a name stands for one of several systems."""
_TRYING = re.compile(r"\b(?:attempt|retry|retries|tries|max_attempts|num_attempts|trial_no)", re.IGNORECASE)
_SPACED = frozenset({"linspace", "logspace", "geomspace"})
_RANKING = frozenset({"min", "max", "argmin", "argmax", "nanargmin", "nanargmax", "sorted", "argsort"})


def may_be_meant(event: KeyUse) -> bool:
    """The analysis found a reason for equal draws: a comparison, a pair, an evaluation, a choice between the two."""
    return event.intent in _MEANT


def is_said_to_be_bad(source: FixSource, node: ir.Node) -> bool:
    """A comment in the function around, or next to the statement, says that the code is an example of what not to do."""
    return _BAD.search(_text_around(source, node)) is not None


def is_said_to_be_equal(source: FixSource, node: ir.Node) -> bool:
    """The function around, or else the lines around, mention equal draws, or what not to do."""
    text = _text_around(source, node)
    return mentions_equal_draws(text) or _BAD.search(text) is not None


def _text_around(source: FixSource, node: ir.Node) -> str:
    """The function around a node, or else its statement, with the comments above."""
    around = source.functions(node)
    statement = source.statement(node)
    start, end = statement.start, statement.end
    if around:
        definition = source.definition(around[0]) if not around[0].is_lambda else statement
        start, end = min(start, definition.start), max(end, definition.end)
    start = source.line_start(start)
    while start and source.text[source.line_start(start - 1) : start].lstrip().startswith("#"):
        start = source.line_start(start - 1)
    return source.text[start : source.line_end(end)]


def are_meant_to_be_equal(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """Two calls take the same key on purpose, as far as the text shows."""
    if is_said_to_be_equal(source, second) or is_said_to_be_equal(source, first):
        return True
    one, other = _call_of(source, first), _call_of(source, second)
    if one is None or other is None:
        return False
    if _is_drawn_once_more(source, one, other) or _are_of_integrals(source, first, second):
        return True
    if _is_comparison(source, one) and _is_comparison(source, other):
        return True
    if _are_inverse(_name(one.func), _name(other.func)) or _is_joint(source, one, other):
        return True
    if any(_is_overwritten(source, call) for call in (one, other)):
        return True
    if _is_made_again(source, second) or _is_copied(source, first, second) or _is_repeated(source, first, second):
        return True
    return _is_antithetic(source, one, other) or _meet(source, one, other)


def _name(func: ir.Expr) -> str:
    return func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""


def _are_of_integrals(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """Two statements with the same text draw the points of two integrals, as the function says: each is right by itself."""
    texts = {source.slice(source.statement(use)) for use in (first, second)}
    around = source.functions(first)
    return len(texts) == 1 and bool(around) and _INTEGRAL.search(source.slice(source.parent(around[0]))) is not None


def _is_drawn_once_more(source: FixSource, one: ir.Call, other: ir.Call) -> bool:
    """A function that the file defines under the name of the first call draws by the very text of the second one, such as
    ``uniform(key, (n,)) <= p``: the second draw finds out what the function drew."""
    text = source.slice(source.parent(other) if isinstance(source.parent(other), ir.Compare) else other)
    if len(other.args) < 2 or not (Imports(source, other).resolve(other.func) or "").startswith("jax.random."):
        return False
    name = _name(one.func)
    functions = (n for n in walk(source.module) if isinstance(n, ir.FunctionDef) and n.function.name == name)
    return any(text in source.slice(definition) for definition in functions)


def _is_comparison(source: FixSource, call: ir.Call) -> bool:
    """A file that compares methods calls one of them."""
    draws = (Imports(source, call).resolve(call.func) or "").startswith("jax.random.")
    return not draws and _COMPARISON.search(os.path.basename(source.path)) is not None


def _are_inverse(one: str, other: str) -> bool:
    """The name of one function says that it undoes the other."""
    if not one or not other or one == other:
        return False
    if _INVERSE.sub("", one) == other or _INVERSE.sub("", other) == one:
        return True
    pairs = [*_OPPOSITES, *(pair[::-1] for pair in _OPPOSITES)]
    return any(left in one and one.replace(left, right) == other for left, right in pairs)


def _is_joint(source: FixSource, one: ir.Call, other: ir.Call) -> bool:
    """Two calls of one function that moves elements about, on different arrays."""
    same = source.slice(one.func) == source.slice(other.func) and _JOINT.search(_name(one.func))
    return bool(same) and source.slice(one) != source.slice(other)


def _is_made_again(source: FixSource, second: ir.Expr) -> bool:
    """``keys[0]`` to ``keys[3]`` made some arrays, and all of them make such arrays again: the same data."""
    if not isinstance(second, ir.Subscript) or not isinstance(second.index, ir.Constant):
        return False
    around = source.functions(second)
    counts: Counter[str] = Counter()
    for node in walk(around[0] if around else source.module):
        if isinstance(node, ir.Subscript) and source.slice(node.value) == source.slice(second.value):
            counts[source.slice(node)] += 1
    return len(counts) > 1 and min(counts.values()) > 1


def _is_copied(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """Two statements make an array and its copy, a target network for one."""
    one, other = source.statement(first), source.statement(second)
    if not isinstance(one, ir.Assign) or not isinstance(other, ir.Assign):
        return False
    return is_copy(_name(one.targets[0]), _name(other.targets[0]))


def _is_overwritten(source: FixSource, call: ir.Call) -> bool:
    """``model = load_weights(path, model)``, or ``new = load_weights(path, model)``, is all that reads what a call initializes:
    the draws do not matter."""
    statement = source.statement(call)
    bound = _bound(statement)
    around = source.functions(call)
    reads = [
        node
        for part in (around[0].body if around else source.module.body)
        for node in walk(part)
        if isinstance(node, ir.Name) and node.id in bound and node.start > statement.end
    ]
    first = min(reads, key=lambda node: node.start, default=None)
    if first is None or source.statement(first).start <= statement.start:
        return False
    loading = [n for n in walk(source.statement(first)) if isinstance(n, ir.Call) and _LOADING.search(_name(n.func))]
    is_only_read = len(reads) == 1
    return (is_only_read or first.id in _bound(source.statement(first))) and bool(loading)


def _is_repeated(source: FixSource, first: ir.Expr, second: ir.Expr) -> bool:
    """``print(draw(key))`` stands there twice: it shows that the draws are equal."""
    one, other = source.statement(first), source.statement(second)
    return one is not other and isinstance(one, ir.ExprStmt) and source.slice(one) == source.slice(other)


def is_joint_in_loop(source: FixSource, loop: ir.Node, key: ir.Expr) -> bool:
    """What each iteration moves about is another array: the loop's variable selects it."""
    call = _call_of(source, key)
    if call is None or not isinstance(loop, ir.For) or not _JOINT.search(_name(call.func)):
        return False
    changing = set(target_names(loop.target))
    counted = isinstance(loop.iter, ir.Call) and _name(loop.iter.func) == "range"
    return not counted and any(uses(a.value).reads & changing for a in call.args)


def is_measured(source: FixSource, loop: ir.Node) -> bool:
    """A loop that does the same over and over while a clock runs: it hands nothing from one iteration to the next, keeps no
    result of any, and does not look at its counter."""
    if not isinstance(loop, ir.For):
        return False
    around = source.functions(loop)
    whole = source.definition(around[0]) if around and not around[0].is_lambda else None
    start, end = (whole.start, whole.end) if whole is not None else (0, len(source.text))
    if len(_CLOCK.findall(source.text, start, end)) < 2:
        return False
    bound, known = set(uses(*loop.body).binds), set[str]()
    for statement in loop.body:
        if not isinstance(statement, (ir.Assign, ir.ExprStmt)) or _collected(statement):
            return False
        if (uses(statement).reads & bound) - known:
            return False
        known |= uses(statement).binds
    return not uses(*loop.body).reads & set(target_names(loop.target))


def is_evaluated(source: FixSource, loop: ir.Node, key: ir.Expr) -> bool:
    """A loop over models, methods or settings evaluates each of them: on the same draws, to compare their results."""
    call = _call_of(source, key)
    if call is None or not isinstance(loop, (ir.For, ir.Comprehension)):
        return False
    if _SWEEP.search(_text_around(source, key)) or _tries_again(source, loop) or _is_grid(source, loop, call):
        return True
    if not _EVALUATING.search(_name(call.func)):
        return False
    targets = [loop.target] if isinstance(loop, ir.For) else [generator.target for generator in loop.generators]
    systems = {name for target in targets for name in target_names(target) if _SYSTEM.search(name)}
    return bool(uses(call).reads & systems)


def _iterations(loop: ir.For | ir.Comprehension) -> list[tuple[ir.Expr, ir.Expr]]:
    """What each ``for`` of a loop binds, and over what."""
    if isinstance(loop, ir.For):
        return [(loop.target, loop.iter)]
    return [(generator.target, generator.iter) for generator in loop.generators]


def _tries_again(source: FixSource, loop: ir.For | ir.Comprehension) -> bool:
    """``for attempt in range(retries)``: what failed is done once more."""
    return any(_TRYING.search(f"{source.slice(target)} {source.slice(over)}") for target, over in _iterations(loop))


def _is_grid(source: FixSource, loop: ir.For | ir.Comprehension, call: ir.Call) -> bool:
    """A loop over values of a setting, which are written out or evenly spaced, and a call that gets each: its results are those
    of one experiment with several settings."""
    for target, over in _iterations(loop):
        if uses(call).reads & set(target_names(target)) and any(
            _is_of_settings(source, part) for part in _zipped(over)
        ):
            return True
    return False


def _zipped(over: ir.Expr) -> list[ir.Expr]:
    """The iterables of ``zip`` and ``enumerate``, or the one that is there."""
    if isinstance(over, ir.Call) and _name(over.func) in ("zip", "enumerate", "tqdm", "product"):
        return [argument.value for argument in over.args]
    return [over]


def _is_of_settings(source: FixSource, over: ir.Expr) -> bool:
    """``[0.1, 0.5]``, ``["adam", "sgd"]``, ``np.linspace(0, 1, 5)``, or a name for one of these."""
    if isinstance(over, ir.Name):
        binder = binder_before(source, source.statement(over), over.id)
        over = binder.value if isinstance(binder, ir.Assign) else over
    if isinstance(over, (ir.List, ir.Tuple)):
        numbers = [e.operand if isinstance(e, ir.UnaryOp) else e for e in over.elts]
        return len(numbers) > 1 and all(isinstance(e, ir.Constant) and e.kind in ("float", "str") for e in numbers)
    return isinstance(over, ir.Call) and _name(over.func) in _SPACED


def is_ranked(source: FixSource, loop: ir.Node, key: ir.Expr) -> bool:
    """What the iterations of a loop compute is compared: the best of several, on the same draws."""
    if is_said_to_be_equal(source, key):
        return True
    around = source.functions(key)
    body = around[0].body if around else source.module.body
    statement = source.statement(key)
    if isinstance(loop, ir.Comprehension):
        kept = _bound(statement)
        parent = source.parent(source.parent(loop))
        return _ranks(parent) or any(_ranks_name(source, body, name) for name in kept)
    kept = _bound(statement) | _collected(statement)
    inside = uses(loop).binds
    for node in walk(loop):
        if isinstance(node, ir.Compare) and set(node.ops) & {"<", ">", "<=", ">="}:
            sides = [uses(side).reads for side in (node.left, *node.comparators)]
            if any(side & kept for side in sides) and any(side & (inside - kept) for side in sides):
                return True
    return any(_ranks_name(source, body, name) for name in kept)


def _bound(statement: ir.Stmt) -> set[str]:
    """The names that a statement assigns."""
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    return {name for target in targets for name in target_names(target)}


def _collected(statement: ir.Stmt) -> set[str]:
    """``scores`` of ``scores.append(…)`` and of ``scores[i] = …``."""
    if isinstance(statement, ir.Assign):
        stored = [t.value for t in statement.targets if isinstance(t, ir.Subscript)]
        return {node.id for node in stored if isinstance(node, ir.Name)}
    call = statement.value if isinstance(statement, ir.ExprStmt) else None
    func = call.func if isinstance(call, ir.Call) else None
    appends = isinstance(func, ir.Attribute) and func.attr == "append" and isinstance(func.value, ir.Name)
    return {func.value.id} if appends and isinstance(func, ir.Attribute) and isinstance(func.value, ir.Name) else set()


def _ranks(node: msgspec.Struct) -> bool:
    if not isinstance(node, ir.Call):
        return False
    name = node.func.attr if isinstance(node.func, ir.Attribute) else getattr(node.func, "id", "")
    return name in _RANKING


def _ranks_name(source: FixSource, body: list[ir.Stmt], name: str) -> bool:
    """A name is an argument, or part of one, of a function that finds the least or the largest."""
    calls = [n for s in body for n in walk(s) if isinstance(n, ir.Call) and _ranks(n)]
    return any(name in uses(call).reads for call in calls)


def _call_of(source: FixSource, key: ir.Expr) -> ir.Call | None:
    """The call that takes a key as an argument."""
    call = source.parent(source.parent(key))
    return call if isinstance(call, ir.Call) else None


def _is_antithetic(source: FixSource, one: ir.Call, other: ir.Call) -> bool:
    """``m + s * normal(key)`` and ``m - s * normal(key)``: the same but for the sign."""
    first, second = source.statement(one), source.statement(other)
    texts = [source.slice(s.value) for s in (first, second) if isinstance(s, ir.Assign)]
    if first is second or len(texts) < 2:
        return False
    return texts[0] != texts[1] and _unsigned(texts[0]) == _unsigned(texts[1])


def _unsigned(text: str) -> str:
    return re.sub(r"\s", "", text).replace("-", "+").lstrip("+").replace("(+", "(").replace("=+", "=")


def _meet(source: FixSource, one: ir.Call, other: ir.Call) -> bool:
    """The results of two calls of one function come together in a difference, a quotient or a comparison."""
    if source.slice(one.func) != source.slice(other.func):
        return False
    draws = (Imports(source, one).resolve(one.func) or "").startswith("jax.random.")
    together = next(a for a in source.ancestors(one) if any(a is b for b in source.ancestors(other)))
    if _is_meeting(source, together, draws=draws):
        return True
    names, others = _bound(source.statement(one)), _bound(source.statement(other))
    if not names or not others or names & others:
        return False
    around = source.functions(one)
    body = around[0].body if around else source.module.body
    for node in (n for s in body for n in walk(s)):
        if _is_meeting(source, node, draws=draws):
            reads = uses(node).reads
            if reads & names and reads & others:
                return True
    return False


def _is_meeting(source: FixSource, node: msgspec.Struct, *, draws: bool) -> bool:
    """A comparison; of what a function computes from draws, rather than of the draws themselves, also a difference."""
    if isinstance(node, (ir.Compare, ir.Assert)):
        return True
    if isinstance(node, ir.Call):
        return _COMPARING.search(source.slice(node.func)) is not None
    return isinstance(node, ir.BinOp) and node.op in ("-", "/") and not draws
