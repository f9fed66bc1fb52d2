"""How messages name what they are about: the called function, a traced argument, a parameter.

Limitations: a function that the code calls under another name, such as a variable or an alias, has its canonical name in the
message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flake8_jax.core import ir
from flake8_jax.core.registry import PASSED_AT
from flake8_jax.rules._tracers import LONGEST_QUOTE, contains_tracer, contains_unconvertible, quote
from flake8_jax.semantics.domain.code import bound_paths, last_name
from flake8_jax.semantics.domain.values import Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flake8_jax.semantics.events.events import Context, LibraryCall, MethodCall


def spelled(context: Context, at: ir.Node, name: str) -> str:
    """The library function ``name`` as the call ``at`` spells it (``np.tanh``), else its canonical name."""
    if not isinstance(at, ir.Call) or last_name(at.func) != name.rpartition(".")[2]:
        return name
    text = " ".join(context.scope.text[at.func.start : at.func.end].split())
    return text if len(text) <= LONGEST_QUOTE else name


def callee(context: Context, at: ir.Node, otherwise: str = "this call") -> str:
    """The function that the call ``at`` calls, as the code spells it, in backquotes."""
    if not isinstance(at, ir.Call):
        return otherwise
    func = at.func
    if isinstance(func, ir.Call) and len(" ".join(context.scope.text[func.start : func.end].split())) > LONGEST_QUOTE:
        return quote(context, func.func).removesuffix("`") + "(…)`"
    return quote(context, func, otherwise)


def located(context: Context, at: ir.Node | Site, problem: str, transform: str = "") -> str:
    """A problem that does not name the call that it is about, with that in front; of ``functools.partial`` the transform."""
    if isinstance(at, Site):
        text = " ".join(at.scope.text[at.start : at.end].split())
        is_named = f"`{text.partition('(')[0].rpartition('.')[2]}`" in problem
        return problem if is_named or len(text) > LONGEST_QUOTE else f"`{text}`: {_continued(problem)}"
    function = at.func if isinstance(at, ir.Call) else None
    while isinstance(function, ir.Call):
        function = function.func
    if function is not None and re.search(rf"[`.]{re.escape(last_name(function) or '`')}`", problem):
        return problem[0].upper() + problem[1:] if problem.startswith(("the ", "this ")) else problem
    called = callee(context, at, quote(context, at))
    if transform and function is not None and last_name(function) == "partial":
        called = f"`{transform.rpartition('.')[2]}`"
    if (found := _ON_ARGUMENTS.match(problem)) is not None:
        leads = "passes its arguments to" if isinstance(at, ir.Call) and not isinstance(at.func, ir.Call) else "calls"
        return f"{called} {leads} {found[1]}, which {problem[found.end(1) + 1 :]}{_unpacked(context, at)}"
    return f"{called}: {_continued(problem)}"


_ON_ARGUMENTS = re.compile(r"(`[^`]+`|a lambda) (?=takes |needs the argument|has no parameter|gets two values)")
"""A function and what is wrong with the arguments that it gets, as ``signatures.binding_error`` says it."""


def _unpacked(context: Context, at: ir.Node) -> str:
    """What may be meant by a call with one argument too few: the elements of the sequence that is its only argument."""
    if not isinstance(at, ir.Call) or len(at.args) != 1 or at.args[0].star or at.args[0].keyword:
        return ""
    node = at.args[0].value
    is_sequence = isinstance(node, (ir.List, ir.Tuple)) or (isinstance(node, ir.Name) and node.id.endswith("args"))
    return f", or unpack the arguments: *{quote(context, node).strip('`')}" if is_sequence else ""


def _continued(sentence: str) -> str:
    """A sentence after a colon."""
    return sentence[0].lower() + sentence[1:] if sentence.startswith(("The ", "This ")) else sentence


def traced_argument(event: LibraryCall | MethodCall, otherwise: str) -> str:
    """The first argument of a call that is traced or holds a traced value, as the code spells it."""
    return quote(event.context, traced_node(event), otherwise)


def traced_node(event: LibraryCall | MethodCall) -> ir.Expr | None:
    """The first argument of a call that is traced or holds a traced value."""
    pairs = list(zip(event.args, event.nodes)) + [(v, event.keyword_nodes.get(k)) for k, v in event.kwargs.items()]
    for is_traced in (contains_unconvertible, contains_tracer):
        for value, node in pairs:
            if node is not None and is_traced(value):
                return node
    return None


def it_or_name(node: ir.Node | ir.Expr | None) -> str:
    """The name in backquotes where an expression is one, else ``it``: a second mention of the expression."""
    return f"`{node.id}`" if isinstance(node, ir.Name) else "it"


def passed_in(context: Context, node: ir.Node | ir.Expr | None) -> str:
    """Where the value of a parameter comes from, after its name; empty for other expressions and for a name that the function
    binds again."""
    inner = context.inner
    if inner is None or not isinstance(node, ir.Name) or node.id not in {parameter.name for parameter in inner.params}:
        return ""
    return "" if any(node.id in bound_paths(statement) for statement in inner.body) else PASSED_AT


def static_remedy(node: ir.Node | ir.Expr | None) -> str:
    """How a value becomes known while JAX traces."""
    return "static, as a static field or argument" if isinstance(node, ir.Attribute) else "a static argument"


def as_parameter(inner: ir.Function | None) -> str:
    """What to do with a value that traced code reads from around itself. The flagged expression may pass it on already, so the
    function that needs a parameter is named."""
    if inner is None:
        return "pass it as an argument"
    named = f"`{inner.name}`" if inner.name.isidentifier() and not inner.is_lambda else "the lambda"
    return f"make it a parameter of {named}"


def listed(names: Iterable[str]) -> str:
    """Names in backquotes: ``a``, ``b`` and ``c``."""
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last
