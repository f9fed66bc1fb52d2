"""An ``if`` or a conditional expression as ``jnp.where`` or ``jax.lax.cond``.

Vocabulary
----------
branch      the statements below one test, or one value of a conditional expression.
guard       a test that Python must go on making, such as ``x is not None``: what follows it leans on it.
row         one target that the branches assign to, with its value in each branch.

Values are selected (``_selection``) where each stands for itself; branches of several steps become local functions
(``_steps``).

Limitations: branches that raise, loop, delete or store into containers are refused.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._announced import BRANCHES, SELECTS, unsafe
from flake8_jax.fixers._comments import NONE, Remarks, block_span, remarks_of, statement_end
from flake8_jax.fixers._expressions import Effect, Kind, guards, is_boolean, operand_of_test
from flake8_jax.fixers._finite import is_finite
from flake8_jax.fixers._names import bound_before, fresh, leaves, read_outside, surely_binds, uses
from flake8_jax.fixers._selection import Setting, assignment, select, setting, suits_where, with_comparison_operands
from flake8_jax.fixers._source import Comment, FixSource, Place, Refused
from flake8_jax.fixers._static import decides_shapes, split
from flake8_jax.fixers._steps import (
    LocalFunction,
    binds_only_names,
    bound_names,
    check_fit,
    check_steps,
    expressions_of,
    is_harmless,
    moved,
)

MAX_TESTS = 64
"""A longer chain of conditional expressions is unreadable as one selection."""


# --- conditional expressions -----------------------------------------------------------------------


def convert_ternary(source: FixSource, node: ir.IfExp, traced: ir.Node | None = None) -> Fix:
    """``a if test else b``. traced: what is known to be traced in the test.

    Raises:
        Refused: see ``select``; or the value is called at once.
    """
    above = source.parent(node)
    if isinstance(above, ir.Call) and above.func is node:
        raise Refused
    guarded = _after_guards(source, node.test, traced)
    if guarded is not None:
        return _guarded_ternary(source, node, *guarded, traced)
    tests, values = [node.test], [node.body]
    last = node.orelse
    while isinstance(last, ir.IfExp) and is_boolean(last.test) and not guards(last.test):
        tests.append(last.test)
        values.append(last.body)
        last = last.orelse
    values.append(last)
    if len(tests) > MAX_TESTS:
        raise Refused
    use = with_comparison_operands(setting(source, node, traced), tests)
    text = select(use, [use.condition(t) for t in tests], values)
    if source.lost_comments(node.start, node.end, [(n.start, n.end) for n in (*tests, *values)]):
        raise Refused
    return _fix(use, "conditional expression", text, [Edit(node.start, node.end, text)])


def _after_guards(source: FixSource, test: ir.Expr, traced: ir.Node | None) -> tuple[list[ir.Expr], ir.Expr] | None:
    """``x is not None and x > 0``: the operands that Python must go on testing, and the rest as one test."""
    if not isinstance(test, ir.BoolOp) or test.op != "and":
        return None
    kept, rest = split(source, test, traced)
    if not kept or not rest:
        return None
    return kept, rest[0] if len(rest) == 1 else ir.BoolOp(rest[0].start, rest[-1].end, "and", rest)


def _guarded_ternary(
    source: FixSource, node: ir.IfExp, kept: list[ir.Expr], rest: ir.Expr, traced: ir.Node | None
) -> Fix:
    """``a if guard and test else b`` → ``where(test, a, b) if guard else b``."""
    use = with_comparison_operands(setting(source, node, traced), [rest])
    if use.effect(node.orelse) is not Effect.PURE or isinstance(node.orelse, ir.IfExp):
        raise Refused
    text = select(use, [use.condition(rest)], [node.body, node.orelse])
    parts = [node.body, rest, node.orelse, *kept]
    if source.lost_comments(node.start, node.end, [(n.start, n.end) for n in parts]):
        raise Refused
    guard = _guard(source, kept)
    whole = f"{text} if {guard} else {source.slice(node.orelse)}"
    return _fix(use, "conditional expression", text, [Edit(node.start, node.end, whole)])


def _fix(use: Setting, what: str, text: str, edits: list[Edit]) -> Fix:
    form, announced = ("jax.lax.cond", BRANCHES) if "cond(" in text else ("jnp.where", SELECTS)
    return unsafe(f"Replace the {what} with `{form}`", announced, (*edits, *use.imports.edits))


# --- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chain:
    """``if``/``elif``/``else``: tests and branches, and the last ``else`` (empty if there is none)."""

    tests: list[ir.Expr]
    branches: list[list[ir.Stmt]]
    orelse: list[ir.Stmt]


_LONGEST_CHAIN = 16
"""So many branches can still be read as selections within each other; ``jax.lax.switch`` is for more."""


def _chain(node: ir.If) -> Chain:
    """The branches of an ``if`` statement. Raises Refused where there are too many of them."""
    tests, branches = [node.test], [node.body]
    rest = node.orelse
    while len(rest) == 1 and isinstance(rest[0], ir.If) and rest[0].is_elif:
        tests.append(rest[0].test)
        branches.append(rest[0].body)
        rest = rest[0].orelse
        if len(tests) > _LONGEST_CHAIN:
            raise Refused
    return Chain(tests, branches, rest)


def convert_if(source: FixSource, node: ir.If, traced: ir.Node | None = None) -> Fix:
    """An ``if`` statement whose branches all assign, or all return. traced: what is known to be traced in a test.

    Raises:
        Refused: they do something else.
    """
    source.enclosing_function(node)
    chain = _chain(node)
    if any(guards(test) for test in chain.tests[1:]):
        raise Refused
    use = with_comparison_operands(setting(source, node, traced), chain.tests)
    place = source.place(node)
    guarded = _after_guards(source, node.test, traced)
    if guarded is not None:
        if _has_one_branch(chain):
            return _guarded_if(use, chain, place, *guarded)
        _refuse_shapes(guarded[0])
    if not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ir.ExprStmt):
        return _debugging(use, node, node.body[0])
    if all(isinstance(branch[-1], ir.Return) for branch in chain.branches):
        return _returning(use, node, chain, place)
    if any(leaves(branch) for branch in (*chain.branches, chain.orelse)):
        raise Refused
    fix = _assigning(use, node, chain)
    return fix if fix is not None else _assigning_cond(use, node, chain)


def _guard(source: FixSource, kept: list[ir.Expr]) -> str:
    """The operands that Python goes on testing, as one test."""
    return source.argument(kept[0]) if len(kept) == 1 else " and ".join(operand_of_test(source, v) for v in kept)


def _refuse_shapes(kept: list[ir.Expr]) -> None:
    """Raises Refused where what a branch computes may lean on one of the operands that Python tests."""
    if any(decides_shapes(operand) for operand in kept):
        raise Refused


def _has_one_branch(chain: Chain) -> bool:
    """One statement below one test, and one at most below its ``else``."""
    return len(chain.branches) == 1 and len(chain.branches[0]) == 1 and len(chain.orelse) <= 1


def _guarded_if(use: Setting, chain: Chain, place: Place, kept: list[ir.Expr], rest: ir.Expr) -> Fix:
    """``if guard and test: …`` with one assignment or return: ``if guard:`` stays, its value selects."""
    branch, whole = chain.branches[0][0], chain.tests[0]
    cut = Edit(whole.start, whole.end, _guard(use.source, kept))
    if use.source.comments(cut.start, cut.end):
        raise Refused
    test = use.condition(rest)
    if isinstance(branch, ir.Return):
        edit, text = _guarded_return(use, chain, place, branch, test)
    else:
        edit, text = _guarded_assignment(use, chain, place, branch, test)
    return _fix(use, "branch", text, [cut, edit])


def _guarded_return(use: Setting, chain: Chain, place: Place, branch: ir.Return, test: str) -> tuple[Edit, str]:
    """Return what the test selects: the value of the branch, or that of the statement that runs else."""
    other = _returned((chain.orelse or place.following or [branch])[0])
    value = _returned(branch)
    if use.effect(other) is not Effect.PURE or other is value:
        raise Refused
    text = select(use, [test], [value, other])
    return Edit(value.start, value.end, text), text


def _guarded_assignment(use: Setting, chain: Chain, place: Place, branch: ir.Stmt, test: str) -> tuple[Edit, str]:
    """Assign what the test selects: the value of the branch, or what the name is else."""
    source = use.source
    parsed = _assignments(source, [branch])
    if parsed is None or len(parsed) != 1 or not isinstance(parsed[0].target, ir.Name):
        raise Refused
    item, name = parsed[0], parsed[0].target
    other: ir.Expr = name
    if chain.orelse:
        opposite = _assignments(source, chain.orelse)
        if opposite is None or len(opposite) != 1 or opposite[0].op or source.slice(opposite[0].target) != name.id:
            raise Refused
        other = opposite[0].value
    elif not bound_before(source, place.statement, name.id):
        raise Refused
    value, words = item.value, None
    if item.op:
        value = ir.BinOp(value.start, value.end, name, item.op, value)
        words = [f"{name.id} {item.op} {_right_operand(source, item.value)}", source.argument(other)]
    text = select(use, [test], [value, other], words)
    if source.lost_comments(branch.start, branch.end, [(item.value.start, item.value.end)]):
        raise Refused
    return Edit(branch.start, branch.end, f"{name.id} = {text}"), text


def _debugging(use: Setting, node: ir.If, statement: ir.ExprStmt) -> Fix:
    """``if test: jax.debug.print(…)``: the branch of a ``lax.cond`` prints."""
    source, call = use.source, statement.value
    if not isinstance(call, ir.Call) or not is_harmless(use, call):
        raise Refused
    test = use.condition(node.test)
    text = f"{use.imports.spell('jax.lax.cond')}({test}, lambda: {source.argument(call)}, lambda: None)"
    edit = source.replace_statement(node, [text], [(n.start, n.end) for n in (node.test, call)])
    return _fix(use, "branch", text, [edit])


def _tests(use: Setting, chain: Chain) -> list[str]:
    return [use.condition(t) for t in chain.tests]


def _returned(statement: ir.Stmt) -> ir.Expr:
    if not isinstance(statement, ir.Return) or statement.value is None:
        raise Refused
    return statement.value


def _returning(use: Setting, node: ir.If, chain: Chain, place: Place) -> Fix:
    last = chain.orelse or place.following
    if not last or not isinstance(last[-1], ir.Return):
        raise Refused
    values = [_returned(branch[-1]) for branch in (*chain.branches, last)]
    if all(len(branch) == 1 for branch in chain.branches):
        if len(last) == 1:
            return _one_return(use, node, chain, last[0], values)
        if len(chain.branches) == 1 and not chain.orelse:
            fix = _early_return(use, node, chain, place, values)
            if fix is not None:
                return fix
    if len(chain.branches) > 1:
        raise Refused
    return _returning_cond(use, node, chain, last)


def _one_return(use: Setting, node: ir.If, chain: Chain, tail: ir.Stmt, values: list[ir.Expr]) -> Fix:
    """Every branch is a ``return`` alone: one selects. tail: the last of them, in an ``else`` or behind the ``if``."""
    source = use.source
    branches = [branch[0] for branch in chain.branches]
    end = statement_end(source, node) if chain.orelse else source.line_end(tail.end)
    end = end if source.ends_line(tail) else tail.end
    kept = [(k.start, k.end) for k in (*chain.tests, *values)]
    remarks, taken = _remarks(source, node, [[s] for s in (*branches, tail)], end, kept)
    by_value = [remarks.get(id(s), NONE) for s in (*branches, tail)]
    text = select(use, _tests(use, chain), values, None, by_value, source.inner_indentation(node))
    edit = source.replace_statement(node, [f"return {text}"], [*kept, *taken], end)
    return _fix(use, "branch", text, [edit])


def _remarks(
    source: FixSource, node: ir.If, branches: list[list[ir.Stmt]], end: int, kept: list[tuple[int, int]]
) -> tuple[dict[int, Remarks], list[tuple[int, int]]]:
    """The comments of the statements in branches, by their identity, and the spans of these comments.

    None where one branch alone has comments, and no other has a test of its own: they may be about the whole.
    """
    lost = source.lost_comments(node.start, end, kept)
    found, header = remarks_of(source, node, branches, lost)
    if len([branch for branch in branches if branch]) < 2:
        return {}, []
    return found, [(c.start, c.end) for c in lost if c not in header]


def _early_return(use: Setting, node: ir.If, chain: Chain, place: Place, values: list[ir.Expr]) -> Fix | None:
    """``if c: return a`` with steps before the last ``return b``: they run always, the last return selects."""
    source = use.source
    steps = place.following[:-1]
    early, final = values
    if node.is_elif or not _may_always_run(use, steps):
        return None
    changed = frozenset(n for s in steps for n in uses(s).binds)
    if uses(early).reads & changed:
        return None
    test = use.condition(chain.tests[0])
    hoisted = bool(uses(chain.tests[0]).reads & changed)
    name = fresh(source, node, "pred")[0] if hoisted else test
    text = select(use, [name], values)
    if isinstance(final, ir.Tuple) and source.is_own_parenthesised(final) is False and "\n" in text:
        return None
    selected = Edit(final.start, final.end, text)
    if hoisted:
        kept = [(chain.tests[0].start, chain.tests[0].end)]
        return _fix(use, "branch", text, [selected, source.replace_statement(node, [assignment(name, test)], kept)])
    removed = _removed(source, node, place.following[0], [chain.tests[0], early])
    return _fix(use, "branch", text, [selected, removed]) if removed is not None else None


def _may_always_run(use: Setting, steps: list[ir.Stmt]) -> bool:
    """Whether statements only bind names, without effects: they may run though their values are not used."""
    if not all(isinstance(s, (ir.Assign, ir.AnnAssign, ir.AugAssign)) and binds_only_names(s) for s in steps):
        return False
    if not all(is_finite(_step_value(s), use.imports) for s in steps if s.value is not None):  # type: ignore[union-attr]
        return False
    return not any(use.effect(e) is Effect.EFFECT for s in steps for e in expressions_of(s))


def _step_value(step: ir.Stmt) -> ir.Expr:
    """What a step computes, the operation of an augmented assignment included."""
    if isinstance(step, ir.AugAssign):
        return ir.BinOp(step.value.start, step.value.end, step.target, step.op, step.value)
    assert isinstance(step, (ir.Assign, ir.AnnAssign)) and step.value is not None
    return step.value


def _removed(source: FixSource, node: ir.If, following: ir.Stmt, kept: list[ir.Expr]) -> Edit | None:
    """Remove a statement up to the one after it; its comments stay. None where a comment stands between the two."""
    lost = source.lost_comments(node.start, source.line_end(node.end), [(n.start, n.end) for n in kept])
    if not source.starts_line(following) or source.comments(source.line_end(node.end), following.start):
        return None
    indent = source.indentation(node)
    return Edit(node.start, following.start, "".join(c.text + source.newline + indent for c in lost))


# --- branches that assign ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assigned:
    """``target = value`` in a branch. op: of an augmented assignment, else empty. remarks: the comments of the statement."""

    target: ir.Expr
    value: ir.Expr
    op: str = ""
    remarks: Remarks = NONE


def _assignments(
    source: FixSource, branch: list[ir.Stmt], remarks: Mapping[int, Remarks] = MappingProxyType({})
) -> list[Assigned] | None:
    """The branch as independent assignments, or None. remarks: of its statements."""
    found: list[Assigned] = []
    for statement in branch:
        if isinstance(statement, ir.Pass):
            continue
        here = _assigned(statement, remarks.get(id(statement), NONE))
        done = [source.slice(a.target) for a in found]
        if here is None or not all(_is_independent(source, item, done) for item in here):
            return None
        found += here
    return found


def _assigned(statement: ir.Stmt, remarks: Remarks) -> list[Assigned] | None:
    """The assignments that one statement makes; None where it is no assignment that can be taken apart."""
    if isinstance(statement, ir.AugAssign):
        return [Assigned(statement.target, statement.value, statement.op, remarks)]
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ir.Tuple):
        return [Assigned(target, value, "", remarks)]
    if not isinstance(value, ir.Tuple) or len(value.elts) != len(target.elts):
        return None
    pairs = enumerate(zip(target.elts, value.elts, strict=True))
    return [Assigned(t, v, "", NONE if at else remarks) for at, (t, v) in pairs]


def _is_independent(source: FixSource, item: Assigned, done: list[str]) -> bool:
    """Whether an assignment neither repeats nor reads one of the targets before it."""
    if isinstance(item.target, (ir.Tuple, ir.List, ir.Starred)) or source.slice(item.target) in done:
        return False
    return not any(_mentions(source, item.value, text) for text in done)


def _mentions(source: FixSource, node: ir.Expr, text: str) -> bool:
    """Whether the expression reads the target whose text is given."""
    return any(isinstance(n, (ir.Name, ir.Attribute, ir.Subscript)) and source.slice(n) == text for n in walk(node))


@dataclass(frozen=True, slots=True)
class Row:
    """One target with its value in each branch. words: what to write for the values, where that is not their own text. remarks:
    the comments of the values."""

    target: str
    values: list[ir.Expr]
    words: list[str] | None
    remarks: list[Remarks]


def _assigning(use: Setting, node: ir.If, chain: Chain) -> Fix | None:
    """One select for each target, where every value stands for itself."""
    source = use.source
    blocks = [*chain.branches, chain.orelse]
    end = statement_end(source, node)
    values = [(v.start, v.end) for block in blocks for s in block for v in expressions_of(s)]
    remarks, taken = _remarks(source, node, blocks, end, [*((t.start, t.end) for t in chain.tests), *values])
    branches = [p for p in (_assignments(source, branch, remarks) for branch in blocks) if p is not None]
    if len(branches) < len(blocks):
        return None
    rows = _rows(use, node, branches)
    if len(rows) > 1 and not all(suits_where(use, row.values) for row in rows):
        return None
    for at, block in enumerate(blocks):  # ``pass`` and its comments are about what the first target stays
        idle = [remarks.get(id(s), NONE) for s in block if isinstance(s, ir.Pass)]
        rows[0].remarks[at] = functools.reduce(operator.add, idle, rows[0].remarks[at])
    return _write_rows(use, node, chain, rows, (end, taken))


def _rows(use: Setting, node: ir.If, branches: list[list[Assigned]]) -> list[Row]:
    """The targets with what the branches give them. Raises Refused if there is none."""
    targets: dict[str, ir.Expr] = {}
    for branch in branches:
        for assigned in branch:
            targets.setdefault(use.source.slice(assigned.target), assigned.target)
    if not targets:
        raise Refused
    return [_row(use, node, target, branches) for target in targets.values()]


def _row(use: Setting, node: ir.If, target: ir.Expr, branches: list[list[Assigned]]) -> Row:
    """What each branch gives a target: its value, or what the target is before.

    Raises:
        Refused: a branch needs a value from before that may not be there, or assigning has effects.
    """
    source, text = use.source, use.source.slice(target)
    known = isinstance(target, ir.Name) and bound_before(source, node, target.id)
    values: list[ir.Expr] = []
    words: list[str] = []
    remarks: list[Remarks] = []
    augmented = False
    for branch in branches:
        item = next((a for a in branch if source.slice(a.target) == text), None)
        remarks.append(NONE if item is None else item.remarks)
        if (item is None or item.op) and not known:
            raise Refused
        if item is None:
            values.append(target)
            words.append(text)
            continue
        if text in use.called():
            raise Refused  # a function
        if item.op:
            values.append(ir.BinOp(item.value.start, item.value.end, target, item.op, item.value))
            words.append(f"{text} {item.op} {_right_operand(source, item.value)}")
            augmented = True
        elif not isinstance(target, ir.Name) and use.effect(target) is not Effect.PURE:
            raise Refused
        else:
            values.append(item.value)
            words.append(source.argument(item.value))
    return Row(text, values, words if augmented else None, remarks)


def _right_operand(source: FixSource, node: ir.Expr) -> str:
    if isinstance(node, ir.Constant) and not source.breaks_outside_brackets(node):
        return source.slice(node)
    return source.atom(node)


def _write_rows(
    use: Setting, node: ir.If, chain: Chain, rows: list[Row], replaced: tuple[int, list[tuple[int, int]]]
) -> Fix:
    """replaced: the end of the text that is replaced, and the spans of the comments that the rows have."""
    source = use.source
    end, taken = replaced
    lines, tests = _tests_of_rows(use, node, chain, rows)
    indent = source.inner_indentation(node)
    selected = [(row.target, select(use, tests, row.values, row.words, row.remarks, indent)) for row in rows]
    if _cross(source, rows):
        lines.append(", ".join(t for t, _ in selected) + " = " + ", ".join(s for _, s in selected))
    else:
        lines += [f"{t} = {s}" for t, s in selected]
    kept = [(k.start, k.end) for k in (*chain.tests, *(value for row in rows for value in row.values))]
    edit = source.replace_statement(node, lines, [*kept, *taken], end)
    return _fix(use, "branch", lines[-1], [edit])


def _tests_of_rows(use: Setting, node: ir.If, chain: Chain, rows: list[Row]) -> tuple[list[str], list[str]]:
    """The tests as every row can use them, and the lines that name them where each would be computed several times.

    Raises:
        Refused: a test may not be computed before the others, or reads what the first row assigns.
    """
    source, tests = use.source, _tests(use, chain)
    if len(rows) == 1:
        return [], tests
    if len(tests) == 1 and isinstance(chain.tests[0], (ir.Name, ir.Attribute)):
        if any(_mentions(source, chain.tests[0], row.target) for row in rows):
            raise Refused
        return [], tests
    if any(use.effect(t) is not Effect.PURE for t in chain.tests[1:]):
        raise Refused
    names = fresh(source, node, *("pred" for _ in tests))
    return [assignment(name, test) for name, test in zip(names, tests, strict=True)], names


def _cross(source: FixSource, rows: list[Row]) -> bool:
    """Whether a value reads the target of another row: all have to be assigned at once."""
    return any(
        _mentions(source, value, other.target)
        for row in rows
        for value in row.values
        for other in rows
        if other.target != row.target
    )


# --- branches of several steps -------------------------------------------------------------------------


def _assigning_cond(use: Setting, node: ir.If, chain: Chain) -> Fix:
    """``lax.cond`` over two local functions that take and give the names that the branches bind."""
    source = use.source
    if len(chain.branches) > 1:
        raise Refused
    outs, params = _outs(use, node, [chain.branches[0], chain.orelse])
    result = ", ".join(outs)
    on_true, on_false = fresh(source, node, "on_true", "on_false")
    cond = use.imports.spell("jax.lax.cond")
    test = use.condition(chain.tests[0])
    tail = (f"return {result}",)
    end = statement_end(source, node)
    lines = LocalFunction(on_true, params, chain.branches[0], tail).lines(source, node, end)
    otherwise = on_false
    between = _between(source, chain.branches[0], chain.orelse, end)
    if chain.orelse:
        above = tuple(c.text for c in between)
        lines += LocalFunction(on_false, params, chain.orelse, tail, above).lines(source, node, end)
    else:
        otherwise = f"lambda {params}: ({result})" if len(outs) > 1 else f"lambda {params}: {result}"
    operands = f", {params}" if params else ""
    lines.append(f"{result} = {cond}({test}, {on_true}, {otherwise}{operands})")
    nodes = [chain.tests[0], *moved(source, chain.branches[0], end), *moved(source, chain.orelse, end)]
    kept = [*((n.start, n.end) for n in nodes), *((c.start, c.end) for c in between)]
    edit = source.replace_statement(node, lines, kept, end)
    return _fix(use, "branch", lines[-1], [edit])


def _between(source: FixSource, branch: list[ir.Stmt], orelse: list[ir.Stmt], end: int) -> list[Comment]:
    """The comments at an ``else``, which stand in neither block."""
    if not orelse:
        return []
    return source.comments(block_span(source, branch, end)[1], block_span(source, orelse, end)[0])


def _outs(use: Setting, node: ir.If, blocks: list[list[ir.Stmt]]) -> tuple[list[str], str]:
    """The names that the blocks pass on, and those of them, as parameters, that are bound before.

    Raises:
        Refused: a block does more than bind names, or may not bind an out, or there is none.
    """
    source, function = use.source, use.function
    if function is None:
        raise Refused
    for block in blocks:
        check_steps(use, block)
    names = bound_names(blocks)
    bound = [n for n in names if bound_before(source, node, n)]
    outs = [n for n in names if n in bound or read_outside(source, function, node, n)]
    if not outs:
        raise Refused
    for name in outs:
        if name not in bound and not all(any(surely_binds(s, name) for s in block) for block in blocks):
            raise Refused
        check_fit(use, blocks, name)
    return outs, ", ".join(n for n in outs if n in bound)


def _returning_cond(use: Setting, node: ir.If, chain: Chain, last: list[ir.Stmt]) -> Fix:
    """``lax.cond`` over two local functions that return."""
    source = use.source
    blocks = [chain.branches[0], last]
    for block in blocks:
        check_steps(use, block, may_return=True)
        value = _returned(block[-1])
        use.movable(value)
        if use.kind(value) is Kind.UNFIT:
            raise Refused
    if sum(_is_whole(_returned(block[-1])) for block in blocks) == 1:
        raise Refused  # the other branch may return floats, and JAX converts no integer for it
    params = ", ".join(_read_before_bound(source, node, blocks))
    on_true, on_false = fresh(source, node, "on_true", "on_false")
    cond = use.imports.spell("jax.lax.cond")
    test = use.condition(chain.tests[0])
    end = statement_end(source, node) if chain.orelse else last[-1].end
    between = _between(source, chain.branches[0], last, end)
    above = tuple(c.text for c in between)
    lines = LocalFunction(on_true, params, chain.branches[0]).lines(source, node, end)
    lines += LocalFunction(on_false, params, last, (), above).lines(source, node, end)
    operands = f", {params}" if params else ""
    lines.append(f"return {cond}({test}, {on_true}, {on_false}{operands})")
    nodes = [chain.tests[0], *moved(source, chain.branches[0], end), *moved(source, last, end)]
    kept = [*((n.start, n.end) for n in nodes), *((c.start, c.end) for c in between)]
    edit = source.replace_statement(node, lines, kept, end)
    return _fix(use, "branch", lines[-1], [edit])


def _is_whole(node: ir.Expr) -> bool:
    """``0``, ``-1``, ``(0, -1)``."""
    if isinstance(node, ir.UnaryOp):
        return _is_whole(node.operand)
    if isinstance(node, ir.Tuple):
        return bool(node.elts) and all(map(_is_whole, node.elts))
    return isinstance(node, ir.Constant) and node.kind == "int"


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
