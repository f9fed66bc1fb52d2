"""Constant seeds in code that has a seed or key to use: a parameter of the function, which callers pass for nothing.

Vocabulary
----------
unused      a parameter for a seed or key that the body never reads, or that it overwrites before it reads it.
sampler     a function whose name says that what it gives is drawn, and that has no parameter for a seed.
default     a key that is made where a function is defined, once, for all calls that leave the argument out.

Limitations: parameters whose names do not say that they hold a seed or a key.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from flake8_jax.core import ir
from flake8_jax.core.nodes import children, walk
from flake8_jax.core.registry import Candidate
from flake8_jax.rules._merging import first_of_each
from flake8_jax.semantics.domain.code import all_statements, bound_paths, last_name, nodes_around
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.events.events import LibraryCall

_SEEDING = re.compile(r"(?:.*_)?(?:seed|key|rng|prng)s?|prng_?key|rng_?key|random_state")
"""Names of parameters that hold a seed, a key or a collection of keys."""
_STREAMS = re.compile(r"(?:.*_)?rngs?|key|prng_key|rng_key")
"""Names of the parameter from which a module takes the numbers that it starts with."""


def unused_seed(fn: ir.Function, made: ir.Call) -> str:
    """The parameter for a seed or key that the function does not use; empty if there is none.

    made: the call that makes a key of a constant, which takes the place of the parameter where it overwrites that.
    """
    named = [p.name for p in fn.params if _SEEDING.fullmatch(p.name.lower()) and not p.name.startswith("_")]
    if not named:
        return ""
    read = {node.id for statement in fn.body for node in walk(statement) if isinstance(node, ir.Name)}
    for name in named:
        if name not in read or _is_overwritten(name, fn, made):
            return name
    return ""


def _is_overwritten(name: str, fn: ir.Function, made: ir.Call) -> bool:
    """``key = jax.random.key(0)``, in each call of the function, and before anything reads the parameter ``key``."""
    first = next((one for one in fn.body if any(_is_name(node, name) for node in walk(one))), None)
    return isinstance(first, ir.Assign) and first.value is made and bound_paths(first) == {name}


def _is_name(node: object, name: str) -> bool:
    return isinstance(node, ir.Name) and node.id == name


def fallback(made: ir.Call, fn: ir.Function) -> str:
    """The parameter in whose place the function makes a key, if the caller passes none; empty if there is none."""
    for statement in all_statements(fn.body):
        if not isinstance(statement, ir.If) or not statement.start <= made.start < statement.end:
            continue
        test = statement.test
        if isinstance(test, ir.Compare) and isinstance(test.left, ir.Name) and _is_none(test.comparators[0]):
            name = test.left.id
            if any(p.name == name and p.default is not None and _is_none(p.default) for p in fn.params):
                return name
    return ""


def _is_none(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "none"


def stream_of_module(fn: ir.Function) -> str:
    """The parameter of ``__init__`` from which a module is to take its numbers; empty if there is none."""
    if fn.name != "__init__":
        return ""
    return next((p.name for p in fn.params if _STREAMS.fullmatch(p.name.lower())), "")


def is_sampler(fn: ir.Function) -> bool:
    """What the function returns is drawn, by its name."""
    if _SAMPLING.search(fn.name) is None or any(_SEEDING.fullmatch(p.name.lower()) for p in fn.params):
        return False
    return any(isinstance(one, ir.Return) and one.value is not None for one in all_statements(fn.body))


_SAMPLING = re.compile(
    r"(?:^|_)(?:samples?|sampling|sampler|generates?|draws?|nois[ey]|diffusion|denoise|dropout|perturb|augment|shuffle|jitter)(?:_|$)"
)


def is_called_again(fn: ir.Function, scope: ModuleScope) -> bool:
    """The file calls the function in a loop, in a comprehension or at several places, or only other files may call it.

    Of a constructor: it makes several objects of the class.
    """
    name = fn.qualname.split(".")[-2] if fn.name == "__init__" and "." in fn.qualname else fn.name
    if (
        _SHOWS.search(fn.name.lower())
        or "<locals>" in fn.qualname
        or (fn.name.startswith("__") and fn.name not in ("__init__", "__call__"))
    ):
        return False
    calls = _calls_by_name(scope).get(name, 0)
    return calls > 1 if calls else _STARTING.match(name.lower()) is None


@lru_cache(maxsize=1)
def _calls_by_name(scope: ModuleScope) -> dict[str, int]:
    """How many calls of each name the file makes. A call in a loop or in a comprehension counts as two."""
    found: dict[str, int] = {}
    todo: list[tuple[Any, bool]] = [(statement, False) for statement in scope.tree.body]
    while todo:
        node, repeated = todo.pop()
        if isinstance(node, ir.Call):
            name = last_name(node.func)
            found[name] = found.get(name, 0) + (2 if repeated else 1)
        repeated = repeated or isinstance(node, (ir.For, ir.While, ir.Comprehension))
        todo += [(below, repeated) for below in children(node)]
    return found


_SHOWS = re.compile(r"plot|show|visual|eval|valid|check|compar|animat|render|bench|profile")
"""Names of functions that may want the same numbers each time."""
_STARTING = re.compile(r"_*(?:main|run|train|fit|start|test|load|get_data|prepare|setup|demo|example)")
"""Names of functions that run once."""


def keeps_global(name: str, fn: ir.Function, scope: ModuleScope) -> bool:
    """The name is one of the function, or code of the file binds the global again."""
    return name in fn.local_names or name in scope.tree.rebound_names or name in scope.rebound


def function_with_default(made: ir.Call, scope: ModuleScope) -> tuple[ir.Function, ir.Parameter] | None:
    """The function whose parameter has the key as its default, if its body reads the parameter."""
    for node in nodes_around(scope.tree.body, made.start, made.end):
        function = node.function if isinstance(node, ir.FunctionDef) else None
        for parameter in function.params if function is not None else ():
            if parameter.default is made and function is not None and _reads(function, parameter.name):
                return function, parameter
    return None


def first_default_of_each_file(candidates: list[Candidate]) -> list[Candidate]:
    """Who makes a key in the default of one function does so in others: one finding for all of a file."""
    defaults = [c for c in candidates if isinstance(c.event, LibraryCall) and _is_default(c.event)]
    others = [c for c in candidates if c not in defaults]
    return [*others, *first_of_each(defaults, lambda candidate: candidate.path)]


def _is_default(event: LibraryCall) -> bool:
    return function_with_default(event.at, event.context.scope) is not None


def _reads(fn: ir.Function, name: str) -> bool:
    return any(_is_name(node, name) for statement in fn.body for node in walk(statement))


def is_shown(made: ir.Call, fn: ir.Function) -> bool:
    """The key only serves an example: an argument of ``eval_shape``, ``tabulate`` and the like."""
    calls = (node for one in all_statements(fn.body) for node in walk(one) if isinstance(node, ir.Call))
    around = [call for call in calls if call is not made and call.start <= made.start and made.end <= call.end]
    return any(last_name(call.func) in _SHOWING for call in around)


_SHOWING = frozenset({"eval_shape", "tabulate", "lower", "make_jaxpr"})
