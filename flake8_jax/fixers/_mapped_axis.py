"""How long the axis is that ``jax.pmap`` maps, as far as the text shows: it uses that many devices, and a mesh has all.

Vocabulary
----------
length      the expression for the number of entries along the first axis of an argument: ``n`` of ``split(key, n)``.
count       an expression for the number of all devices: ``jax.device_count()``, or a name that stands for nothing else.

Limitations: lengths that other functions or files compute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import attributes, binders, scope_of
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._quiet import arguments_of
from flake8_jax.fixers._source import Declined, FixSource, Refused
from flake8_jax.knowledge import load

_DEPTH = 4
_ASKED_FOR = re.compile(r"(?:host_platform_device_count=|jax_num_cpu_devices\W+)(\d+)")
"""How many devices a file asks for."""
_MODULES = ("jax.numpy", "numpy")
_OF_SHAPES = frozenset({f"{module}.{name}" for module in _MODULES for name in ("ones", "zeros", "full", "arange")})
_OF_ROWS = frozenset({f"{module}.{name}" for module in _MODULES for name in ("array", "asarray", "stack")})
"""Functions whose first argument shows the length of the result: by a number, and by its rows."""
_MAPS = frozenset({"jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"})
_COUNTS = frozenset({"jax.device_count", "jax.local_device_count"})
_LISTS = frozenset({"jax.devices", "jax.local_devices"})

_NUMBER_OF = (
    r"(?:(?:n|num|max|number_of)_?(?:[a-z]+_)*(?:devices|gpus|tpus)(?:_\w+)?|(?:\w+_)?(?:devices|gpus|tpus)_to_use)"
)
_NAMED = re.compile(rf"{_NUMBER_OF}\Z", re.IGNORECASE)
_OPTIONS = r"(?:args|cfg|config|conf|flags|hparams|hps|opts?|options|settings)"
_SOME_DEVICES = re.compile(
    r"\bdevices\([^()]*\)\s*\[[^\]\n]*:[^\]\n]*\]"
    r"|\bmin\((?:[^()\n]|\([^()\n]*\))*device(?:[^()\n]|\([^()\n]*\))*\)"
    rf"|\b{_OPTIONS}(?:\.\w+)*\.{_NUMBER_OF}\b|\b{_OPTIONS}\[['\"]{_NUMBER_OF}"
    r"|['\"]--?(?:n|num|max)[-_]?(?:\w+[-_])?(?:devices|gpus|tpus)\b",
    re.IGNORECASE,
)
"""A part of the devices, or an option for their number."""


def bound_values(source: FixSource, node: ir.Expr) -> list[ir.Expr]:
    """The values that the function or the file gives a name."""
    if not isinstance(node, ir.Name):
        return []
    owner = scope_of(source, node)
    bound = binders(source, owner if owner is not None else source.module, node.id)
    return [statement.value for statement in bound if isinstance(statement, ir.Assign)]


def check_all_devices(source: FixSource) -> None:
    """Decline where the file may use a part of the devices only.

    Raises:
        Declined: it has an option or a parameter for their number, or takes a part of them.
    """
    said = _SOME_DEVICES.search(source.text)
    if said is not None:
        _decline(f"`{said[0].strip()}` may choose some of the devices")
    for node in walk(source.module):
        if isinstance(node, ir.Function):
            for parameter in node.params:
                if _NAMED.match(parameter.name) and not _is_given_count(source, node, parameter.name, _DEPTH):
                    _decline(f"`{parameter.name}` may be less than the number of devices")


def _decline(reason: str) -> None:
    raise Declined(
        f"no automatic fix, because {reason}, but the fix would use all devices; first pass `devices=` to pmap"
    )


def known_length(source: FixSource, arguments: Iterable[ir.Expr]) -> int | None:
    """The length of the mapped arguments of all calls, where it is a number and no setting asks for as many devices.

    Raises:
        Declined: two lengths differ, or one is something else than the number of devices.
    """
    lengths: set[int] = set()
    for argument in arguments:
        length = _length(source, argument, _DEPTH)
        number = length if isinstance(length, int) else _number(source, length, _DEPTH)
        if number is not None:
            lengths.add(number)
        elif length is not None and not isinstance(length, int) and _is_other(source, length):
            _decline(f"the mapped axis has `{source.slice(length)}` entries")
    if len(lengths) > 1:
        raise Declined("no automatic fix, because calls use different numbers of devices; write one pmap for each")
    asked = {int(number) for number in _ASKED_FOR.findall(source.text)}
    return None if lengths <= asked else lengths.pop()


def _is_other(source: FixSource, length: ir.Expr) -> bool:
    """A length that is surely written out, and is not the number of devices."""
    if isinstance(length, (ir.Constant, ir.UnaryOp, ir.Starred)) or is_count(source, length, _DEPTH):
        return False
    if isinstance(length, ir.Name):
        owner = scope_of(source, length)
        is_parameter = owner is not None and any(p.name == length.id for p in owner.params)
        return is_parameter or bool(bound_values(source, length))
    return True


def is_count(source: FixSource, node: ir.Expr, depth: int) -> bool:
    """Whether an expression is the number of all devices."""
    if depth == 0:
        return False
    if isinstance(node, ir.Call):
        name = load().canonical(Imports(source, node).resolve(node.func) or "")
        if name in _COUNTS:
            return True
        first = node.args[0].value if len(node.args) == 1 else None
        return isinstance(node.func, ir.Name) and node.func.id == "len" and _is_list(source, first, depth)
    if isinstance(node, ir.Attribute):
        given = [_assigned(source, one) for one in attributes(source, node.attr)]
        values = [value for value in given if value is not None]
        return bool(values) and all(is_count(source, value, depth - 1) for value in values)
    if not isinstance(node, ir.Name):
        return False
    owner = scope_of(source, node)
    if owner is not None and any(p.name == node.id for p in owner.params):
        return _is_given_count(source, owner, node.id, depth)
    values = bound_values(source, node)
    return bool(values) and all(is_count(source, value, depth - 1) for value in values)


def _is_given_count(source: FixSource, function: ir.Function, name: str, depth: int) -> bool:
    """Every caller is known, and passes the number of all devices."""
    passed = arguments_of(source, function, name)
    return bool(passed) and all(is_count(there, value, depth - 1) for there, value in passed or ())


def _is_list(source: FixSource, node: ir.Expr | None, depth: int) -> bool:
    """Whether an expression is the list of all devices."""
    if isinstance(node, ir.Call):
        return load().canonical(Imports(source, node).resolve(node.func) or "") in _LISTS
    values = bound_values(source, node) if node is not None and depth else []
    return bool(values) and all(_is_list(source, value, depth - 1) for value in values)


def _assigned(source: FixSource, node: ir.Attribute) -> ir.Expr | None:
    """The value of ``self.n = value``."""
    try:
        above = source.parent(node)
    except Refused:
        return None
    is_target = isinstance(above, ir.Assign) and any(node is target for target in above.targets)
    return above.value if isinstance(above, ir.Assign) and is_target else None


def _length(source: FixSource, node: ir.Expr, depth: int) -> ir.Expr | int | None:
    """The length of the first axis of an array, where the text shows it."""
    if isinstance(node, ir.Name):
        bound = bound_values(source, node)
        return _length(source, bound[0], depth - 1) if len(bound) == 1 and depth else None
    if not isinstance(node, ir.Call) or not node.args:
        return None
    first = node.args[0].value
    name = load().canonical(Imports(source, node).resolve(node.func) or "")
    if name in _MAPS and isinstance(first, ir.Lambda):
        returned = first.function.body[0] if first.function.body else None
        value = returned.value if isinstance(returned, (ir.Return, ir.ExprStmt)) else None
        return _length(source, value, depth - 1) if value is not None and depth else None
    if isinstance(node.func, ir.Attribute) and node.func.attr == "reshape":
        is_function = name.startswith(("jax.", "numpy."))
        return _of_shape(node.args[1].value if is_function and len(node.args) > 1 else first)
    if name.endswith(".arange") and sum(not argument.keyword for argument in node.args) > 1:
        return None
    if name in _OF_SHAPES:
        return _of_shape(first)
    if name in _OF_ROWS and isinstance(first, (ir.Tuple, ir.List)):
        return None if any(isinstance(row, ir.Starred) for row in first.elts) else len(first.elts)
    return node.args[1].value if name == "jax.random.split" and len(node.args) > 1 else None


def _of_shape(node: ir.Expr) -> ir.Expr | None:
    """The first length of a shape: ``n`` of ``(n, 3)``, ``n`` and ``(n,) + shape``."""
    if isinstance(node, ir.BinOp):
        return _of_shape(node.left) if isinstance(node.left, (ir.Tuple, ir.List)) else None
    if isinstance(node, (ir.Tuple, ir.List)):
        return node.elts[0] if node.elts else None
    return node if isinstance(node, (ir.Constant, ir.Name, ir.Attribute, ir.Call)) else None


def _number(source: FixSource, node: ir.Expr | None, depth: int) -> int | None:
    if isinstance(node, ir.Constant) and isinstance(node.value, int) and node.value > 0:
        return int(node.value)
    bound = bound_values(source, node) if node is not None and depth else []
    return _number(source, bound[0], depth - 1) if len(bound) == 1 else None
