"""Derivative rules of a user: what ``custom_vjp`` and ``custom_jvp`` functions run when they are differentiated.

Vocabulary
----------
rule        ``fwd`` and ``bwd`` of ``f.defvjp(fwd, bwd)``, or the function of ``f.defjvp(rule)``.
residuals   what ``fwd`` hands to ``bwd``. cotangent: the derivative that ``bwd`` receives, shaped as the output.

Rules run only under differentiation, outside of it: under ``jax.grad`` alone ``fwd`` sees the plain values, inside
``jit`` or ``vmap`` the tracers of those. ``bwd`` receives the arguments of ``nondiff_argnums`` and ``nondiff_argnames``
first.

Limitations: ``defjvps``, ``symbolic_zeros``, ``optimize_remat``, which arguments of a differentiated function really
depend on its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain import joining
from flake8_jax.semantics.domain.arguments import Arguments, Call
from flake8_jax.semantics.domain.boundary import relevelled
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.signatures import fixed_positions, is_function, is_no_tuple_of, takes, untransformed
from flake8_jax.semantics.domain.values import (
    ABSTRACT,
    CONCRETE,
    GRAD,
    MAYBE,
    Array,
    BoundMethod,
    Const,
    FunctionValue,
    HostArray,
    Level,
    PartialValue,
    Room,
    TransformedValue,
    Tree,
    TupleValue,
    Unknown,
    Value,
    known_elements,
    level_of,
)
from flake8_jax.semantics.events.events import RuleIncomplete
from flake8_jax.semantics.interpreter.operations import call
from flake8_jax.semantics.interpreter.operators import result_level
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.keys import forget_uses, use_again

DEFINING = {"defvjp": 2, "defjvp": 1}
"""Methods that set rules, and how many."""


def define(tv: TransformedValue, name: str, args: Arguments) -> Value:
    """``f.defvjp(fwd, bwd)`` or ``f.defjvp(rule)``; the latter is also a decorator and gives back its argument."""
    count = DEFINING[name]
    given = _given_rules(name, args)[:count]
    if len(given) == count and all(isinstance(v, (FunctionValue, BoundMethod, PartialValue)) for v in given):
        tv.rules = tuple(given)
    return args.values[0] if name == "defjvp" and args.values else Const(None)


_PARAMETERS = {"defvjp": ("fwd", "bwd", "fwd_fun", "bwd_fun"), "defjvp": ("jvp", "jvp_fun")}
"""What the methods that set rules call them, in the newest release and before."""


def _given_rules(name: str, args: Arguments) -> list[Value]:
    """The rules in the order of the parameters, however a call passes them."""
    return [*args.values, *[args.kwargs[p] for p in _PARAMETERS[name] if p in args.kwargs]]


def run_rules(m: Machine, tv: TransformedValue, at: Call, result: Value, mark: int) -> None:
    """Run the rules of a function that was called at ``mark`` and gave ``result``, if JAX would.

    JAX runs them in place of the function, and the backward rule takes up what the forward rule did: a key that each of
    them draws from is used once.
    """
    if not tv.rules or not m.path.mode.differentiated or result_level(m, at.args.values) < GRAD:
        return
    given = _by_position(tv, at.args)
    if given is None:
        return
    inside = at.to(Arguments([_plain(v) for v in given], {}, at.args.nodes))
    uses = forget_uses(m, mark)
    mark = len(m.journal.entries)
    if len(tv.rules) == 1:
        _run_jvp(m, tv, inside)
    else:
        _run_vjp(m, tv, inside, result)
    forget_uses(m, mark)
    use_again(m, uses)


def _by_position(tv: TransformedValue, args: Arguments) -> list[Value] | None:
    """All arguments in the order of the parameters, as JAX hands them to the rules; None where that is not known."""
    if args.star is not None or args.double_star is not None:
        return None
    function = untransformed(tv.operand)  # ``custom_jvp`` of a jitted function
    if not isinstance(function, FunctionValue):
        return None
    values = list(args.values)
    for parameter in function.fn.params[len(values) :]:
        value = args.kwargs.get(parameter.name) or function.defaults.get(parameter.name)
        if value is None or (args.unknown_rest and parameter.name not in args.kwargs):
            return None if args.kwargs or args.unknown_rest else values
        values.append(value)
    return values


def _run_vjp(m: Machine, tv: TransformedValue, at: Call, result: Value) -> None:
    forward, backward = tv.rules
    mark = len(m.journal.entries)
    pair = known_elements(call(m, at.frame, at.node, forward, at.args))
    residuals = pair[1] if pair is not None and len(pair) == 2 else Unknown("residuals")
    output = pair[0] if pair is not None and len(pair) == 2 else result
    fixed = fixed_positions(tv)
    if fixed is None:
        return
    level: Level = ABSTRACT if m.path.mode.ambient or level_of(output) == ABSTRACT else CONCRETE
    leading = [at.args.values[i] for i in fixed if i < len(at.args.values)]
    forget_uses(m, mark)
    call(m, at.frame, at.node, backward, Arguments([*leading, residuals, relevelled(_plain(output), level)]))


def _run_jvp(m: Machine, tv: TransformedValue, at: Call) -> None:
    values, fixed = at.args.values, fixed_positions(tv)
    if fixed is None:
        return
    primals = TupleValue(tuple(v for i, v in enumerate(values) if i not in fixed))
    tangents = relevelled(primals, ABSTRACT) if m.path.mode.ambient else Unknown("tangents")
    leading = [values[i] for i in fixed if i < len(values)]
    call(m, at.frame, at.node, tv.rules[0], Arguments([*leading, primals, tangents]))


def without_gradients(m: Machine, args: Arguments) -> Arguments | None:
    """The arguments as a function with derivative rules of its own sees them where only ``grad`` or ``jvp`` traces it: JAX
    runs the function and its rules on plain arrays (run on 0.10.2). None where the arguments are that already."""
    if result_level(m, (*args.values, *args.kwargs.values())) != GRAD:
        return None
    values, kwargs = [_plain(v) for v in args.values], {name: _plain(v) for name, v in args.kwargs.items()}
    return msgspec.structs.replace(args, values=values, kwargs=kwargs)


def _plain(value: Value, depth: int = 8, room: Room | None = None) -> Value:
    """The value without the tracer of the differentiation around it."""
    if isinstance(value, (Array, Tree)):
        if value.level != GRAD:
            return value
        if isinstance(value, Tree):
            return Tree(CONCRETE)
        return Array(CONCRETE, value.dtype, value.ndim, value.length)
    room = room if room is not None else Room()
    return joining.map_leaves(value, lambda v: _plain(v, depth - 1, room)) if depth and room.enter(value) else value


# --- do the rules fit ---------------------------------------------------------------------------------------


def check_settings(m: Machine, tv: TransformedValue, name: str, args: Arguments, node: Any, scope: ModuleScope) -> None:
    """Check ``f.defvjp(fwd, bwd)`` against the signature of ``f``."""
    count = _positional(tv.operand)
    fixed = fixed_positions(tv)
    given = _given_rules(name, args)
    if given[DEFINING[name] - 1 :] and not given[DEFINING[name] :] and not args.kwargs:
        _check_reading(m, Frame(None, scope, None), node, name, given[-1])
    if tv.name != "jax.custom_vjp" or name != "defvjp" or len(given) < 2 or args.star is not None:
        return
    if count is None or fixed is None:
        return
    if any(k not in _PARAMETERS[name] for k in args.kwargs):
        return  # symbolic zeros and other options change what the rules get
    frame = Frame(None, scope, None)
    forward, backward = given[:2]
    _check_forward(m, frame, node, forward, count, fixed)
    _check_backward(m, frame, node, backward, len(fixed), count - len(fixed))


def _check_reading(m: Machine, frame: Frame, node: Any, name: str, rule: Value) -> None:
    """The rule has to make use of the derivative that it is given, unless it gives none."""
    if not isinstance(rule, FunctionValue) or rule.wrapped is not None or rule.altered:
        return
    params = rule.fn.params
    if len(params) < 2 or any(p.kind not in ("positional", "posonly") for p in params) or params[-1].name[0] == "_":
        return
    names = {part.id for part in _inside(rule.fn) if isinstance(part, ir.Name)}
    if params[-1].name in names or _gives_nothing(rule.fn, names):
        return
    kind, what = ("backward", "cotangent") if name == "defvjp" else ("jvp", "tangents")
    problem = f"The {kind} rule never reads its {what} `{params[-1].name}`, so derivatives through it are wrong; use it"
    if m.bus.wants(RuleIncomplete):
        m.bus.emit(RuleIncomplete(m.path.context(frame.scope), node, problem, raises=False))


def _inside(fn: ir.Function) -> Iterator[Any]:
    for statement in fn.body:
        yield from walk(statement)


def _gives_nothing(fn: ir.Function, names: set[str]) -> bool:
    """The rule returns nothing, raises, or looks like one whose derivatives are zero."""
    parts = list(_inside(fn))
    attributes = {part.attr for part in parts if isinstance(part, ir.Attribute)}
    if any("zero" in name or name in ("float0", "locals") for name in names | attributes):
        return True
    if any(isinstance(part, (ir.Raise, ir.Yield)) for part in parts):
        return True
    returned = [part.value for part in parts if isinstance(part, ir.Return) and part.value is not None]
    return not any(_is_something(value) for value in returned)


def _is_something(value: ir.Expr) -> bool:
    """The expression is not None, zero or a tuple of such."""
    if isinstance(value, (ir.Tuple, ir.List)):
        return any(_is_something(element) for element in value.elts)
    return not (isinstance(value, ir.Constant) and value.value in (None, 0))


def _check_forward(m: Machine, frame: Frame, node: Any, forward: Value, count: int, fixed: list[int]) -> None:
    if not takes(forward, count):
        emit_rule(
            m,
            frame,
            node,
            f"JAX calls the forward rule with {count} argument{'s' * (count != 1)}, as many as the function takes; "
            "make it take the same parameters",
        )
        return
    if not is_function(forward):
        return
    given: list[Value] = [Unknown("fixed") if i in fixed else Tree(MAYBE) for i in range(count)]
    result = call(m, frame, node, forward, Arguments(given))
    if is_no_tuple_of(result, 2):
        emit_rule(
            m,
            frame,
            node,
            "The forward rule must return a pair (output, residuals), but this one does not; return both",
        )


def _check_backward(m: Machine, frame: Frame, node: Any, backward: Value, fixed: int, count: int) -> None:
    if not takes(backward, fixed + 2):
        emit_rule(
            m,
            frame,
            node,
            f"JAX calls the backward rule with {fixed + 2} arguments, but this one does not take them; change its parameters",
        )
        return
    if not is_function(backward):
        return
    # Numbers among the residuals stay Python's own, also under ``jit`` (run on JAX 0.10.2).
    given: list[Value] = [*[Unknown("fixed")] * fixed, Unknown("residuals"), Tree(MAYBE)]
    result = call(m, frame, node, backward, Arguments(given))
    if _is_plain_tuple(result) and is_no_tuple_of(result, count):
        emit_rule(
            m,
            frame,
            node,
            f"The backward rule must return a tuple of {count} cotangents, one per differentiable argument; return all of them",
        )
    elif isinstance(result, (Array, HostArray)):
        emit_rule(
            m,
            frame,
            node,
            "The backward rule must return a tuple, but this one returns an array; return a tuple of cotangents",
        )


def _is_plain_tuple(value: Value) -> bool:
    return isinstance(value, TupleValue) and value.cls is None


def _positional(operand: Value) -> int | None:
    """How many arguments JAX hands to the rules: all positional parameters, defaults included."""
    function = untransformed(operand)
    if not isinstance(function, FunctionValue) or any(
        p.kind not in ("positional", "posonly") for p in function.fn.params
    ):
        return None
    return len(function.fn.params)


def check_missing(m: Machine, tv: TransformedValue, node: Any, scope: ModuleScope) -> None:
    """A ``custom_vjp`` function for which nothing in the project sets a rule."""
    if tv.rules_asked or tv.name not in ("jax.custom_vjp", "jax.custom_jvp"):
        return
    kind = tv.name.rpartition(".")[2]
    method = "defjvp" if kind == "custom_jvp" else "defvjp"
    emit_rule(
        m,
        Frame(None, scope, None),
        node,
        f"This `{kind}` function has no derivative rule, so differentiating it fails; call `{method}`",
    )


def emit_rule(m: Machine, frame: Frame, node: Any, problem: str) -> None:
    """Tell the rules what is wrong with a derivative rule."""
    if node is not None and m.bus.wants(RuleIncomplete):
        m.bus.emit(RuleIncomplete(m.path.context(frame.scope), node, problem))
