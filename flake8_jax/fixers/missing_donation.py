"""JAX412: the argument is named in ``donate_argnames`` where its function is jitted (by its number, for ``pmap``).

Donated is only what every call passes from a variable of the function around the call, which made the value itself and knows
it by this one name: the caller of a public function may still need what it passed, and so may an object, a list or a closure
that keeps the array, or a shallow copy or reshape that shares it.

Limitations: compiled functions in attributes, containers and other files than where the name is bound.
"""

from __future__ import annotations

from collections.abc import Iterable

from flake8_jax.core import ir
from flake8_jax.core.findings import Fix
from flake8_jax.fixers._callers import binders, names, scope_of
from flake8_jax.fixers._conditions import is_bound, is_new_array, keeps_no_reference
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._jit_site import donate
from flake8_jax.fixers._names import target_names
from flake8_jax.fixers._source import FixSource, Use, fixer
from flake8_jax.semantics.events.events import UndonatedStep

_SHARING = frozenset(
    {"dict", "list", "tuple", "copy", "replace", "asarray", "reshape", "ravel", "squeeze", "flatten", "device_put"}
)
"""Functions and methods whose result may share memory with their argument."""
_FILLING = frozenset({"zeros_like", "ones_like", "full_like", "array"})


@fixer("missing-donation")
def fix(event: UndonatedStep, source: FixSource) -> Fix | None:
    if event.function is None or event.site.scope.path != source.path:
        return None
    calls = _calls(source, event.at)
    if calls is None:
        return None
    given = [name for name in event.names if all(_gives_away(call, event.function, name) for call in calls)]
    return donate(source, event.function, (event.site.start, event.site.end), given) if given else None


def _calls(source: FixSource, call: ir.Call) -> list[Use] | None:
    """Every call of the compiled function that a call runs; None where one may not be seen."""
    if not isinstance(call.func, ir.Name):
        return None
    owner = scope_of(source, call.func)
    place: ir.Function | ir.Module = owner if owner is not None else source.module
    bound = binders(source, place, call.func.id)
    if len(bound) != 1 or source.program is None:
        return None
    if isinstance(bound[0], ir.FunctionDef):
        found = source.program.uses(source, bound[0])
    elif isinstance(bound[0], ir.Assign):
        if owner is None and source.program.imported_elsewhere(source, call.func.id):
            return None
        reads = [n for n in names(source, call.func.id) if scope_of(source, n) is owner and not is_bound(source, n)]
        found = [Use(source, node) for node in reads]
    else:
        return None
    if not found:
        return None
    for use in found:
        above = use.source.parent(use.node)
        if not isinstance(above, ir.Call) or above.func is not use.node:
            return None
    return found


def _gives_away(use: Use, function: ir.Function, parameter: str) -> bool:
    """A call passes for a parameter what a variable of the function around it alone refers to, and replaces that."""
    source, call = use.source, use.source.parent(use.node)
    if not isinstance(call, ir.Call) or any(a.star for a in call.args):
        return False
    positional = [p.name for p in function.params if p.kind in ("posonly", "positional")]
    given = [a.value for i, a in enumerate(call.args) if (a.keyword or _nth(positional, i)) == parameter]
    if len(given) != 1 or not isinstance(given[0], ir.Name):
        return False
    return _is_only_name(source, given[0], call)


def _nth(items: list[str], place: int) -> str | None:
    return items[place] if place < len(items) else None


def _is_only_name(source: FixSource, name: ir.Name, call: ir.Call) -> bool:
    """The variable is the function's own, is bound to new values and to results of the call, and nothing else keeps them."""
    owner = scope_of(source, name)
    around = next(iter(source.functions(name)), None)
    if owner is not around or (owner is not None and any(p.name == name.id for p in owner.params)):
        return False
    if owner is None and (source.program is None or source.program.imported_elsewhere(source, name.id)):
        return False
    for statement in binders(source, owner if owner is not None else source.module, name.id):
        if not isinstance(statement, ir.Assign) or not (
            statement.value is call or _is_result_of(source, statement, call) or _is_made_here(source, statement.value)
        ):
            return False
    reads = [n for n in names(source, name.id) if scope_of(source, n) is owner and not is_bound(source, n)]
    return all(_is_argument(call, node) or _leaves_alone(source, node, owner) for node in reads)


def _is_result_of(source: FixSource, statement: ir.Assign, call: ir.Call) -> bool:
    """``x = new`` behind ``new = step(x)``."""
    if not isinstance(statement.value, ir.Name):
        return False
    made = source.statement(call)
    return isinstance(made, ir.Assign) and any(statement.value.id in target_names(t) for t in made.targets)


def _is_argument(call: ir.Call, node: ir.Name) -> bool:
    return any(argument.value is node for argument in call.args)


def _leaves_alone(source: FixSource, node: ir.Name, owner: ir.Function | None) -> bool:
    above = source.parent(node)
    if isinstance(above, ir.Argument) and _is_filling_map(source, source.parent(above)):
        return True
    return source.functions(node)[:1] == ([owner] if owner is not None else []) and keeps_no_reference(
        source, node, owner
    )


def _is_filling_map(source: FixSource, node: object) -> bool:
    """``jax.tree.map(jnp.zeros_like, x)``."""
    if not isinstance(node, ir.Call) or len(node.args) < 2:
        return False
    imports = Imports(source, node)
    if imports.resolve(node.func) not in ("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"):
        return False
    return (imports.resolve(node.args[0].value) or "").rpartition(".")[2] in _FILLING


def _is_made_here(source: FixSource, node: ir.Expr) -> bool:
    """An expression makes new arrays, as far as its text shows."""
    if isinstance(node, (ir.Tuple, ir.List, ir.Dict)):
        parts: Iterable[ir.Expr] = node.values if isinstance(node, ir.Dict) else node.elts
        return all(_is_made_here(source, part) for part in parts)
    if is_new_array(source, node) or _is_filling_map(source, node):
        return True
    if not isinstance(node, ir.Call):
        return False
    name = Imports(source, node).resolve(node.func)
    if name is not None and name.startswith("jax."):
        return name.startswith("jax.random.")
    last = node.func.attr if isinstance(node.func, ir.Attribute) else getattr(node.func, "id", "")
    return (name or last).rpartition(".")[2] not in _SHARING
