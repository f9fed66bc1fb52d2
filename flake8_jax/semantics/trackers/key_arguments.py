"""Which argument of a call is a key, and how the code there spells it.

Limitations: arguments in ``*args``, and functions of libraries that take some arguments for themselves.
"""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.stack import Link, Place
from flake8_jax.semantics.domain.values import Value, canonical_key
from flake8_jax.semantics.trackers.key_paths import is_key, steps_to


def argument_for(link: Link, key: Value) -> ir.Expr | None:
    """The argument of a call that is the key, where it is a plain one."""
    if not isinstance(link.node, ir.Call) or link.bound is None or link.fn is None:
        return None
    positional = [p.name for p in link.fn.params if p.kind in ("positional", "posonly")]
    offset = _first_parameter(link.node, link.fn, is_method=link.receiver is not None)
    plain = [a for a in link.node.args if a.star == 0]
    if offset is None or sum(not a.keyword for a in plain) + offset > len(positional):
        return None  # a library stands in between and takes arguments for itself
    for i, argument in enumerate(plain):
        name = argument.keyword or (positional[i + offset] if i + offset < len(positional) else "")
        if is_key(link.bound.get(name), canonical_key(key)):
            if isinstance(argument.value, (ir.Name, ir.Attribute, ir.Subscript)):
                return argument.value
    return None


def spelled(place: Place, step: Place, key: Value) -> str:
    """How the code at a place of a path gets at the key: by an argument or the object that holds it; empty if unclear.

    step: the place with the link that leads to the function of the project.
    """
    link, node = step.link, place.node
    if link is None or link.bound is None or link.fn is None or not isinstance(node, ir.Call):
        return ""
    text = place.scope.text
    names = [p.name for p in link.fn.params if p.kind in ("positional", "posonly")]
    plain = [a for a in node.args if a.star == 0]
    offset = _first_parameter(node, link.fn, is_method=link.receiver is not None)
    if offset is None or sum(not a.keyword for a in plain) + offset > len(names):
        return ""  # a library stands in between and takes arguments for itself
    if place.link is not link and len(plain) + offset != len(link.fn.params):
        return ""  # a transform stages it, and may pass arguments of its own
    for i, argument in enumerate(plain):
        name = argument.keyword or (names[i + offset] if i + offset < len(names) else "")
        steps = steps_to(link.bound.get(name), canonical_key(key))
        if steps is not None and isinstance(argument.value, (ir.Name, ir.Attribute, ir.Subscript)):
            return text[argument.value.start : argument.value.end] + steps
    steps = steps_to(link.receiver, canonical_key(key))
    if steps is not None and isinstance(node.func, ir.Attribute):
        return text[node.func.value.start : node.func.value.end] + steps
    return ""


def _first_parameter(call: ir.Call, fn: ir.Function, *, is_method: bool) -> int | None:
    """The position of the parameter that gets the first argument; None if that is not known.

    ``model.apply(variables, x)`` of Flax keeps its first argument and passes the others on, so the first argument stands in the
    place of ``self``. ``apply`` of Haiku may keep two.
    """
    name = last_name(call.func)
    if name not in _PASSING_ON or fn.name == name:
        return int(is_method)
    return 0 if is_method else None


_PASSING_ON = frozenset({"apply", "init", "init_with_output"})
"""Methods of modules of Flax and of functions of Haiku that call the user's function."""
