"""An ``if`` or a conditional expression as ``jnp.where`` or ``jax.lax.cond``.

Vocabulary
----------
arm         the statements below one test, or one value of a conditional expression.
select      ``jnp.where(test, a, b)``: both values are computed, shapes broadcast, dtypes promote.
cond        ``jax.lax.cond``: one branch runs; both must give the same structure and dtypes.
out         a name that an arm binds and that is used behind the ``if``.

A select is chosen where the text shows that the values are arrays or numbers, a cond for tuples, for values of unknown
kind and for arms of several steps.

Not modelled: arms that raise, loop, delete or store into containers (refused).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._expressions import Effect, Kind, array_names, condition, effect, guards, is_boolean, kind
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._names import bound_before, fresh, leaves, read_outside, surely_binds, target_names, uses
from flake8_jax.fixers._source import FixSource, Place, Refused

MAX_TESTS = 64
"""Nobody wants a longer chain of conditional expressions as one selection."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What every step of one conversion needs."""

    source: FixSource
    imports: Imports
    numbers: set[str]
    function: ir.Function | None

    def kind(self, node: ir.Expr) -> Kind:
        return kind(node, self.imports, self.numbers)

    def effect(self, node: ir.Expr) -> Effect:
        return effect(node, self.imports)

    def movable(self, node: ir.Expr) -> None:
        """Raises Refused where an expression may not run on both branches, or would recurse for ever."""
        if self.effect(node) is Effect.EFFECT:
            raise Refused
        if self.function is not None and not self.function.is_lambda and self.function.name in uses(node).reads:
            raise Refused


def setting(source: FixSource, at: ir.Node) -> Setting:
    around = source.functions(at)
    root = around[0] if around else source.module
    numbers = source.remember("array names", root, lambda: array_names(root))
    return Setting(source, Imports(source, at), numbers, around[0] if around else None)


# --- choosing and writing the selection ------------------------------------------------------------


def select(use: Setting, tests: list[str], values: list[ir.Expr], texts: list[str] | None = None) -> str:
    """The expression that gives ``values[i]`` for the first true ``tests[i]``, else the last value.

    texts: what to write for the values, where that is not their own text (augmented assignments).

    Raises:
        Refused: a value is none that JAX could choose.
    """
    for value in values:
        use.movable(value)
    kinds = [use.kind(v) for v in values]
    if Kind.UNFIT in kinds or (texts is not None and Kind.TREE in kinds):
        raise Refused
    words = texts or [use.source.argument(v) for v in values]
    if texts is not None or _suits_where(use, kinds, values):
        where = use.imports.spell("jax.numpy.where")
        return _nest(tests, words, lambda test, a, b: f"{where}({test}, {a}, {b})")
    tuples = [v for v in values if isinstance(v, ir.Tuple)]
    if len(tuples) == len(values) and len({len(t.elts) for t in tuples}) == 1:
        columns = list(zip(*(t.elts for t in tuples), strict=True))
        if all(_suits_where(use, [use.kind(c) for c in column], list(column)) for column in columns):
            where = use.imports.spell("jax.numpy.where")
            cells = [[use.source.argument(e) for e in column] for column in columns]
            parts = [_nest(tests, c, lambda test, a, b: f"{where}({test}, {a}, {b})") for c in cells]
            return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
    cond = use.imports.spell("jax.lax.cond")

    def choose(test: str, a: str, b: str) -> str:
        return f"{cond}({test}, lambda: {a}, lambda: {b})"

    return _nest(tests, words, choose)


def _suits_where(use: Setting, kinds: list[Kind], values: list[ir.Expr]) -> bool:
    if Kind.TREE in kinds or Kind.ARRAY not in kinds:
        return False
    costly = all(use.effect(v) is Effect.OPAQUE for v in values)
    return not costly


def _nest(tests: list[str], values: list[str], join: object) -> str:
    assert callable(join)
    text = values[-1]
    for test, value in zip(reversed(tests), reversed(values[:-1]), strict=True):
        text = join(test, value, text)
    return text


def _with_comparison_operands(use: Setting, tests: list[ir.Expr]) -> Setting:
    """What a test orders is an array or a number."""
    named = {
        operand.id
        for test in tests
        for node in walk(test)
        if isinstance(node, ir.Compare) and not any(op in ("is", "is not", "in", "not in") for op in node.ops)
        for operand in (node.left, *node.comparators)
        if isinstance(operand, ir.Name)
    }
    return Setting(use.source, use.imports, use.numbers | named, use.function)


# --- conditional expressions -----------------------------------------------------------------------


def convert_ternary(source: FixSource, node: ir.IfExp) -> Fix:
    """``a if test else b``.

    Raises:
        Refused: see ``select``; or the value is called at once.
    """
    above = source.parent(node)
    if isinstance(above, ir.Call) and above.func is node:
        raise Refused
    guarded = _after_guards(node.test)
    if guarded is not None:
        return _guarded_ternary(source, node, *guarded)
    tests, values = [node.test], [node.body]
    last = node.orelse
    while isinstance(last, ir.IfExp) and is_boolean(last.test) and not guards(last.test):
        tests.append(last.test)
        values.append(last.body)
        last = last.orelse
    values.append(last)
    if len(tests) > MAX_TESTS:
        raise Refused
    use = _with_comparison_operands(setting(source, node), tests)
    text = select(use, [condition(source, t, use.imports) for t in tests], values)
    if source.lost_comments(node.start, node.end, [(n.start, n.end) for n in (*tests, *values)]):
        raise Refused
    return _fix(use, "conditional expression", text, [Edit(node.start, node.end, text)])


def _after_guards(test: ir.Expr) -> tuple[list[ir.Expr], ir.Expr] | None:
    """``x is not None and x > 0``: the operands that Python must go on testing, and the rest as one test."""
    if not isinstance(test, ir.BoolOp) or test.op != "and" or not guards(test.values[0]):
        return None
    first = next((i for i, v in enumerate(test.values) if not guards(v)), None)
    if first is None:
        return None
    rest = test.values[first:]
    tail = rest[0] if len(rest) == 1 else ir.BoolOp(rest[0].start, test.end, "and", rest)
    return test.values[:first], tail


def _guarded_ternary(source: FixSource, node: ir.IfExp, kept: list[ir.Expr], rest: ir.Expr) -> Fix:
    """``a if guard and test else b`` → ``where(test, a, b) if guard else b``."""
    use = _with_comparison_operands(setting(source, node), [rest])
    if use.effect(node.orelse) is not Effect.PURE or isinstance(node.orelse, ir.IfExp):
        raise Refused
    text = select(use, [condition(source, rest, use.imports)], [node.body, node.orelse])
    parts = [node.body, rest, node.orelse, *kept]
    if source.lost_comments(node.start, node.end, [(n.start, n.end) for n in parts]):
        raise Refused
    guard = source.text[kept[0].start : kept[-1].end]
    whole = f"{text} if {guard} else {source.slice(node.orelse)}"
    return _fix(use, "conditional expression", text, [Edit(node.start, node.end, whole)])


def _fix(use: Setting, what: str, text: str, edits: list[Edit]) -> Fix:
    form = "jax.lax.cond" if "cond(" in text else "jnp.where"
    return Fix(f"Replace the {what} by `{form}`", "unsafe", (*edits, *use.imports.edits))


# --- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chain:
    """``if``/``elif``/``else``: tests and arms, and the last ``else`` (empty where there is none)."""

    tests: list[ir.Expr]
    arms: list[list[ir.Stmt]]
    orelse: list[ir.Stmt]


_LONGEST_CHAIN = 16
"""So many arms can still be read as selections within each other; ``jax.lax.switch`` is for more."""


def _chain(node: ir.If) -> Chain:
    """The arms of an ``if`` statement. Raises Refused where there are too many of them."""
    tests, arms = [node.test], [node.body]
    rest = node.orelse
    while len(rest) == 1 and isinstance(rest[0], ir.If) and rest[0].is_elif:
        tests.append(rest[0].test)
        arms.append(rest[0].body)
        rest = rest[0].orelse
        if len(tests) > _LONGEST_CHAIN:
            raise Refused
    return Chain(tests, arms, rest)


def convert_if(source: FixSource, node: ir.If) -> Fix:
    """An ``if`` statement whose arms all assign, or all return.

    Raises:
        Refused: they do something else.
    """
    source.enclosing_function(node)
    chain = _chain(node)
    if any(guards(test) for test in chain.tests[1:]):
        raise Refused
    use = _with_comparison_operands(setting(source, node), chain.tests)
    place = source.place(node)
    guarded = _after_guards(node.test)
    if guarded is not None:
        return _guarded_if(use, chain, place, *guarded)
    if not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ir.ExprStmt):
        return _debugging(use, node, node.body[0])
    if all(isinstance(arm[-1], ir.Return) for arm in chain.arms):
        return _returning(use, node, chain, place)
    if any(leaves(arm) for arm in (*chain.arms, chain.orelse)):
        raise Refused
    fix = _assigning(use, node, chain)
    return fix if fix is not None else _assigning_cond(use, node, chain)


def _guarded_if(use: Setting, chain: Chain, place: Place, kept: list[ir.Expr], rest: ir.Expr) -> Fix:
    """``if guard and test: …`` with one assignment or return: ``if guard:`` stays, its value selects."""
    source = use.source
    if len(chain.arms) > 1 or len(chain.arms[0]) != 1 or len(chain.orelse) > 1:
        raise Refused
    arm = chain.arms[0][0]
    cut = Edit(kept[-1].end, rest.end, "")
    if source.comments(cut.start, cut.end) or source.text[kept[-1].end : rest.start].strip() != "and":
        raise Refused
    test = condition(source, rest, use.imports)
    if isinstance(arm, ir.Return):
        other = _returned((chain.orelse or place.following or [arm])[0])
        value = _returned(arm)
        if use.effect(other) is not Effect.PURE or other is value:
            raise Refused
        text = select(use, [test], [value, other])
        return _fix(use, "branch", text, [cut, Edit(value.start, value.end, text)])
    parsed = _assignments(source, [arm])
    if parsed is None or len(parsed) != 1 or not isinstance(parsed[0].target, ir.Name):
        raise Refused
    item, name = parsed[0], parsed[0].target
    other = name
    if chain.orelse:
        opposite = _assignments(source, chain.orelse)
        if opposite is None or len(opposite) != 1 or opposite[0].op or source.slice(opposite[0].target) != name.id:
            raise Refused
        other = opposite[0].value
    elif not bound_before(source, place.statement, name.id):
        raise Refused
    words = None
    if item.op:
        words = [f"{name.id} {item.op} {_right_operand(source, item.value)}", source.argument(other)]
    text = select(use, [test], [item.value, other], words)
    if source.lost_comments(arm.start, arm.end, [(item.value.start, item.value.end)]):
        raise Refused
    return _fix(use, "branch", text, [cut, Edit(arm.start, arm.end, f"{name.id} = {text}")])


def _debugging(use: Setting, node: ir.If, statement: ir.ExprStmt) -> Fix:
    """``if test: jax.debug.print(…)``: the branch of a ``lax.cond`` prints."""
    source, call = use.source, statement.value
    if not isinstance(call, ir.Call) or not _harmless(use, call):
        raise Refused
    test = condition(source, node.test, use.imports)
    text = f"{use.imports.spell('jax.lax.cond')}({test}, lambda: {source.argument(call)}, lambda: None)"
    edit = source.replace_statement(node, [text], [(n.start, n.end) for n in (node.test, call)])
    return _fix(use, "branch", text, [edit])


def _tests(use: Setting, chain: Chain) -> list[str]:
    return [condition(use.source, t, use.imports) for t in chain.tests]


def _returned(statement: ir.Stmt) -> ir.Expr:
    if not isinstance(statement, ir.Return) or statement.value is None:
        raise Refused
    return statement.value


def _returning(use: Setting, node: ir.If, chain: Chain, place: Place) -> Fix:
    source = use.source
    last = chain.orelse or place.following
    if not last or not isinstance(last[-1], ir.Return):
        raise Refused
    values = [_returned(arm[-1]) for arm in (*chain.arms, last)]
    if all(len(arm) == 1 for arm in chain.arms):
        if len(last) == 1:
            text = select(use, _tests(use, chain), values)
            tail = last[0]
            end = tail.end if not chain.orelse else node.end
            return _fix(use, "branch", text, [_replace(source, node, end, [f"return {text}"], [*chain.tests, *values])])
        if len(chain.arms) == 1 and not chain.orelse:
            fix = _early_return(use, node, chain, place, values)
            if fix is not None:
                return fix
    if len(chain.arms) > 1:
        raise Refused
    return _returning_cond(use, node, chain, last)


def _replace(source: FixSource, node: ir.If, end: int, lines: list[str], kept: list[ir.Expr]) -> Edit:
    """Replace the ``if`` and what follows it up to ``end``."""
    edit = source.replace_statement(_until(node, end), lines, [(k.start, k.end) for k in kept])
    return edit


def _until(node: ir.If, end: int) -> ir.If:
    return ir.If(node.start, end, node.test, node.body, node.orelse, node.is_elif)


def _early_return(use: Setting, node: ir.If, chain: Chain, place: Place, values: list[ir.Expr]) -> Fix | None:
    """``if c: return a`` with steps before the last ``return b``: they run always, the last return selects."""
    source = use.source
    steps = place.following[:-1]
    early, final = values
    if node.is_elif:
        return None
    if not all(isinstance(s, (ir.Assign, ir.AnnAssign, ir.AugAssign)) and _binds_only_names(s) for s in steps):
        return None
    if any(use.effect(e) is Effect.EFFECT for s in steps for e in _expressions(s)):
        return None
    changed = frozenset(n for s in steps for n in uses(s).binds)
    if uses(early).reads & changed:
        return None
    test = condition(source, chain.tests[0], use.imports)
    hoisted = bool(uses(chain.tests[0]).reads & changed)
    name = fresh(source, node, "pred")[0] if hoisted else test
    text = select(use, [name], values)
    kept = [] if not hoisted else [(chain.tests[0].start, chain.tests[0].end)]
    edits = [Edit(final.start, final.end, text)]
    if isinstance(final, ir.Tuple) and source.is_own_parenthesised(final) is False and "\n" in text:
        return None
    if hoisted:
        line = f"{name} = ({test})" if "\n" in test or "\r" in test else f"{name} = {test}"
        edits.append(source.replace_statement(node, [line], kept))
        return _fix(use, "branch", text, edits)
    kept = [(n.start, n.end) for n in (chain.tests[0], early)]
    lost = source.lost_comments(node.start, source.line_end(node.end), kept)
    following = place.following[0]
    if not source.starts_line(following) or source.comments(source.line_end(node.end), following.start):
        return None
    indent = source.indentation(node)
    carried = "".join(c.text + source.newline + indent for c in lost)
    edits.append(Edit(node.start, following.start, carried))
    return _fix(use, "branch", text, edits)


# --- arms that assign ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assigned:
    """``target = value`` in an arm; ``text``: what to write for the value where it is no expression of its own."""

    target: ir.Expr
    value: ir.Expr
    op: str = ""


def _assignments(source: FixSource, arm: list[ir.Stmt]) -> list[Assigned] | None:
    """The arm as independent assignments, or None."""
    found: list[Assigned] = []
    for statement in arm:
        if isinstance(statement, ir.Pass):
            continue
        here: list[Assigned] = []
        if isinstance(statement, ir.AugAssign):
            here.append(Assigned(statement.target, statement.value, statement.op))
        elif isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ir.Tuple):
                if not isinstance(value, ir.Tuple) or len(value.elts) != len(target.elts):
                    return None
                here += [Assigned(t, v) for t, v in zip(target.elts, value.elts, strict=True)]
            else:
                here.append(Assigned(target, value))
        else:
            return None
        done = [source.slice(a.target) for a in found]
        for item in here:
            if isinstance(item.target, (ir.Tuple, ir.List, ir.Starred)) or source.slice(item.target) in done:
                return None
            if any(_mentions(source, item.value, text) for text in done):
                return None
        found += here
    return found


def _mentions(source: FixSource, node: ir.Expr, text: str) -> bool:
    """Whether the expression reads the target whose text is given."""
    return any(isinstance(n, (ir.Name, ir.Attribute, ir.Subscript)) and source.slice(n) == text for n in walk(node))


def _assigning(use: Setting, node: ir.If, chain: Chain) -> Fix | None:
    """One select for each target, where every value stands for itself."""
    source = use.source
    parsed = [_assignments(source, arm) for arm in (*chain.arms, chain.orelse)]
    arms = [p for p in parsed if p is not None]
    if len(arms) < len(parsed):
        return None
    targets: dict[str, ir.Expr] = {}
    for arm in arms:
        for assigned in arm:
            targets.setdefault(source.slice(assigned.target), assigned.target)
    if not targets:
        raise Refused
    rows: list[tuple[str, list[ir.Expr], list[str] | None]] = []
    item: Assigned | None
    for text, target in targets.items():
        values: list[ir.Expr] = []
        words: list[str] = []
        augmented = False
        for arm in arms:
            item = next((a for a in arm if source.slice(a.target) == text), None)
            known = isinstance(target, ir.Name) and bound_before(source, node, target.id)
            if (item is None or item.op) and not known:
                raise Refused
            if item is None:
                values.append(target)
                words.append(text)
            elif item.op:
                values.append(item.value)
                words.append(f"{text} {item.op} {_right_operand(source, item.value)}")
                augmented = True
            else:
                if not isinstance(target, ir.Name) and use.effect(target) is not Effect.PURE:
                    raise Refused
                values.append(item.value)
                words.append(source.argument(item.value))
        rows.append((text, values, words if augmented else None))
    for _, values, _words in rows:
        kinds = [use.kind(v) for v in values]
        if len(rows) > 1 and _words is None and not _suits_where(use, kinds, values):
            return None
    return _write_rows(use, node, chain, rows)


def _right_operand(source: FixSource, node: ir.Expr) -> str:
    if isinstance(node, ir.Constant) and not source.breaks_outside_brackets(node):
        return source.slice(node)
    return source.atom(node)


def _write_rows(
    use: Setting, node: ir.If, chain: Chain, rows: list[tuple[str, list[ir.Expr], list[str] | None]]
) -> Fix:
    source = use.source
    tests = _tests(use, chain)
    lines: list[str] = []
    names = {text for text, _, _ in rows}
    read = [v for _, values, _ in rows for v in values]
    if len(rows) > 1 and (len(tests) > 1 or not isinstance(chain.tests[0], (ir.Name, ir.Attribute))):
        if any(use.effect(t) is not Effect.PURE for t in chain.tests[1:]):
            raise Refused
        preds = fresh(source, node, *("pred" for _ in tests))
        for pred, test in zip(preds, tests, strict=True):
            lines.append(f"{pred} = ({test})" if "\n" in test or "\r" in test else f"{pred} = {test}")
        tests = preds
    elif len(rows) > 1 and any(_mentions(source, chain.tests[0], n) for n in names):
        raise Refused
    selected = [(text, select(use, tests, values, words)) for text, values, words in rows]
    kept = [*chain.tests, *read]
    crossing = any(
        _mentions(source, value, other)
        for text, values, _ in rows
        for value in values
        for other in names
        if other != text
    )
    if crossing:
        lines.append(", ".join(t for t, _ in selected) + " = " + ", ".join(s for _, s in selected))
    else:
        lines += [f"{t} = {s}" for t, s in selected]
    edit = source.replace_statement(node, lines, [(k.start, k.end) for k in kept])
    return _fix(use, "branch", lines[-1], [edit])


# --- arms of several steps -------------------------------------------------------------------------


def check_steps(use: Setting, block: list[ir.Stmt], *, may_return: bool = False) -> None:
    """Statements that can move into a function of their own: they bind names and nothing else.

    Raises:
        Refused: one of them does more.
    """
    for at, statement in enumerate(block):
        for expr in _expressions(statement):
            if use.effect(expr) is Effect.EFFECT:
                raise Refused
        if isinstance(statement, ir.Return):
            if not may_return or at < len(block) - 1:
                raise Refused
        elif isinstance(statement, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
            if not _binds_only_names(statement):
                raise Refused
        elif isinstance(statement, ir.ExprStmt):
            if not _harmless(use, statement.value):
                raise Refused
        elif isinstance(statement, ir.If):
            check_steps(use, statement.body)
            check_steps(use, statement.orelse)
        elif isinstance(statement, ir.For):
            if statement.is_async or not _only_names(statement.target):
                raise Refused
            check_steps(use, statement.body)
            check_steps(use, statement.orelse)
        elif not isinstance(statement, (ir.Pass, ir.FunctionDef)):
            raise Refused


def _expressions(statement: ir.Stmt) -> Iterator[ir.Expr]:
    for name in statement.__struct_fields__:
        value = getattr(statement, name)
        if isinstance(value, ir.Node) and not isinstance(statement, ir.FunctionDef):
            yield value  # type: ignore[misc]


def _binds_only_names(statement: ir.Assign | ir.AnnAssign | ir.AugAssign) -> bool:
    targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
    return all(_only_names(t) for t in targets)


def _only_names(target: ir.Expr) -> bool:
    if isinstance(target, (ir.Tuple, ir.List)):
        return all(_only_names(t) for t in target.elts)
    return isinstance(target, ir.Name)


def _harmless(use: Setting, node: ir.Expr) -> bool:
    if isinstance(node, ir.Constant):
        return True
    return isinstance(node, ir.Call) and (use.imports.resolve(node.func) or "").startswith("jax.debug.")


def bound_names(blocks: list[list[ir.Stmt]]) -> list[str]:
    """Names that the blocks bind, in order of appearance."""
    names: dict[str, None] = {}
    for block in blocks:
        for statement in block:
            for item in walk(statement):
                if isinstance(item, ir.Assign):
                    for target in item.targets:
                        names.update(dict.fromkeys(target_names(target)))
                elif isinstance(item, (ir.AnnAssign, ir.AugAssign, ir.For)):
                    names.update(dict.fromkeys(target_names(item.target)))
            names.update(dict.fromkeys(sorted(uses(statement).binds)))
    bound = {n for b in blocks for s in b for n in uses(s).binds}
    return [n for n in names if n in bound]


def _assigning_cond(use: Setting, node: ir.If, chain: Chain) -> Fix:
    """``lax.cond`` over two local functions that take and give the names that the arms bind."""
    source, function = use.source, use.function
    if len(chain.arms) > 1 or function is None:
        raise Refused
    blocks = [chain.arms[0], chain.orelse]
    for block in blocks:
        check_steps(use, block)
    names = bound_names(blocks)
    bound = [n for n in names if bound_before(source, node, n)]
    outs = [n for n in names if n in bound or read_outside(source, function, node, n)]
    if not outs:
        raise Refused
    for name in outs:
        sure = all(any(surely_binds(s, name) for s in block) for block in blocks)
        if name not in bound and not sure:
            raise Refused
        check_fit(use, blocks, name)
    params = ", ".join(n for n in outs if n in bound)
    result = ", ".join(outs)
    on_true, on_false = fresh(source, node, "on_true", "on_false")
    cond = use.imports.spell("jax.lax.cond")
    test = condition(source, chain.tests[0], use.imports)
    lines = local_function(source, node, on_true, params, chain.arms[0], node.end, [f"return {result}"])
    otherwise = on_false
    if chain.orelse:
        lines += local_function(source, node, on_false, params, chain.orelse, node.end, [f"return {result}"])
    else:
        otherwise = f"lambda {params}: ({result})" if len(outs) > 1 else f"lambda {params}: {result}"
    operands = f", {params}" if params else ""
    lines.append(f"{result} = {cond}({test}, {on_true}, {otherwise}{operands})")
    kept = [chain.tests[0], *moved(source, chain.arms[0]), *moved(source, chain.orelse)]
    edit = source.replace_statement(node, lines, [(k.start, k.end) for k in kept])
    return _fix(use, "branch", lines[-1], [edit])


def check_fit(use: Setting, blocks: list[list[ir.Stmt]], name: str) -> None:
    """An out must be something that a branch of ``lax.cond`` can return."""
    for block in blocks:
        for statement in block:
            if isinstance(statement, ir.FunctionDef) and statement.function.name == name:
                raise Refused
            if not isinstance(statement, ir.Assign) or not any(name in target_names(t) for t in statement.targets):
                continue
            if use.kind(statement.value) is Kind.UNFIT:
                raise Refused


def moved(source: FixSource, block: list[ir.Stmt]) -> list[ir.Node]:
    """The span of a block that moves, with the comment behind its last statement."""
    if not block:
        return []
    last = block[-1]
    return [ir.Pass(block[0].start, source.line_end(last.end) if source.ends_line(last) else last.end)]


def local_function(
    source: FixSource, node: ir.Stmt, name: str, params: str, block: list[ir.Stmt], end: int, tail: list[str]
) -> list[str]:
    """The lines of a local function with the block as its body, and an empty line behind it.

    end: of the text that is replaced; a comment behind it stays where it is. tail: statements behind the block.
    """
    outer = source.inner_indentation(node)
    inner = outer + source.indent_unit
    body = [s for s in block if not isinstance(s, ir.Pass)]
    lines = [f"def {name}({params}):"]
    if body:
        lines.append(source.block_text(block, inner, end)[len(outer) :])
    return [*lines, *(source.indent_unit + line for line in tail), ""]


def _returning_cond(use: Setting, node: ir.If, chain: Chain, last: list[ir.Stmt]) -> Fix:
    """``lax.cond`` over two local functions that return."""
    source = use.source
    blocks = [chain.arms[0], last]
    for block in blocks:
        check_steps(use, block, may_return=True)
        value = _returned(block[-1])
        use.movable(value)
        if use.kind(value) is Kind.UNFIT:
            raise Refused
    params = ", ".join(_read_before_bound(source, node, blocks))
    on_true, on_false = fresh(source, node, "on_true", "on_false")
    cond = use.imports.spell("jax.lax.cond")
    test = condition(source, chain.tests[0], use.imports)
    end = max(node.end, last[-1].end)
    lines = local_function(source, node, on_true, params, chain.arms[0], end, [])
    lines += local_function(source, node, on_false, params, last, end, [])
    operands = f", {params}" if params else ""
    lines.append(f"return {cond}({test}, {on_true}, {on_false}{operands})")
    kept: list[msgspec.Struct] = [chain.tests[0], *moved(source, chain.arms[0]), *moved(source, last)]
    edit = source.replace_statement(_until(node, end), lines, [(k.start, k.end) for k in kept])  # type: ignore[attr-defined]
    return _fix(use, "branch", lines[-1], [edit])


def _read_before_bound(source: FixSource, node: ir.Stmt, blocks: list[list[ir.Stmt]]) -> list[str]:
    """Names that a block binds but may read first: they come in as parameters."""
    found: dict[str, None] = {}
    for block in blocks:
        sure: set[str] = set()
        bound = {n for s in block for n in uses(s).binds}
        for statement in block:
            early = (uses(statement).reads & bound) - sure
            for name in sorted(early):
                if not bound_before(source, node, name):
                    raise Refused
                found[name] = None
            sure |= {n for n in bound if surely_binds(statement, n)}
    return list(found)
