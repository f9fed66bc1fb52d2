"""Uses of ``jax.pmap`` that ``jax.shard_map`` can stand in for, and what they ask for.

Vocabulary
----------
mapped      an argument of which each device gets the part of one index (axis 0 of ``in_axes``).
whole       an argument that each device gets whole: None in ``in_axes``.
static      an argument that is no array: the program is compiled for each of its values.

Limitations: ``in_axes`` other than 0 and None, ``out_axes`` other than 0, options that are no literals, and static arguments or
maps at import where the arguments are not known. Each is declined with a reason. How long the mapped axis is, and whether
several processes run a program that does not say so, is not known here; nor are maps that are nested through names or calls.
All of these raise an error after the fix.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass, replace
from typing import NoReturn

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit
from flake8_jax.core.nodes import walk
from flake8_jax.fixers._callers import attributes, binders, names, scope_of
from flake8_jax.fixers._expressions import Effect, effect
from flake8_jax.fixers._imports import Imports
from flake8_jax.fixers._made_once import check_made_once
from flake8_jax.fixers._mapped_axis import bound_values, check_all_devices, known_length
from flake8_jax.fixers._source import Declined, FixSource, Refused
from flake8_jax.knowledge import load

PMAP = "jax.pmap"
_OPTIONS = frozenset({
    "axis_name", "in_axes", "out_axes", "static_broadcasted_argnums", "donate_argnums", "devices", "backend", "axis_size",
})  # fmt: skip
_BY_POSITION = ("fun", "axis_name")
_GUARD = re.compile(r"^if +\(?__name__ *== *['\"]__main__['\"]", re.MULTILINE)
_SETTING = re.compile(
    r"XLA_FLAGS|_VISIBLE_DEVICES|jax_platform|JAX_PLATFORM|jax_num_cpu_devices|config_with_absl|\bsetup_tpu\("
)
"""What has an effect only before JAX knows its devices."""


@dataclass(frozen=True, slots=True)
class Pmap:
    """One use. replaced: the call ``jax.pmap(f, …)``, or the decorator. operand: ``f``; None for a decorator, which is
    applied to ``definition``. axes: 0 or None for each positional argument, None where all of them are mapped. calls: edits
    that make arguments by keyword positional where the mapped function is called. donated: the numbers of ``donate_argnums``
    that stay, where these edits change them: what ``pmap`` gets by keyword is not donated. length: the number of devices
    that its calls use; None where they use all, or it is unknown. static: the numbers of static arguments. names: the
    parameters of a new function that makes its mesh when it is traced; else empty."""

    replaced: ir.Expr
    operand: ir.Expr | None
    definition: ir.FunctionDef | None
    options: dict[str, ir.Expr]
    axes: tuple[int | None, ...] | None
    calls: tuple[Edit, ...] = ()
    donated: tuple[int, ...] | None = None
    length: int | None = None
    static: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


def pmap_at(source: FixSource, node: ir.Node) -> Pmap:
    """What the use at a node asks for.

    Raises:
        Declined: ``jax.shard_map`` cannot stand in for it.
        Refused: the code around it is not understood.
    """
    _check_name(source, node)
    replaced, operand, definition, arguments = _form(source, node)
    if any(argument.star for argument in arguments):
        raise Declined("no automatic fix, because its options come from `*` or `**`; write them out")
    options = {argument.keyword or _BY_POSITION[1]: argument.value for argument in arguments}
    if "out_axes" in options:  # None means: one result for all devices, without the mapped axis
        _check_out_axes(options.pop("out_axes"))
    options = {name: value for name, value in options.items() if not _is_none(value)}
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        raise Declined(f"no automatic fix, because jax.shard_map has no counterpart of `{unknown[0]}`")
    axes = _axes(options.pop("in_axes", None))
    static = _static_numbers(options.pop("static_broadcasted_argnums", None))
    found = Pmap(replaced, operand, definition, options, axes, static=static)
    _check_devices(source, options.get("devices"))
    _check_nesting(source, found)
    _check_program(source)
    _check_subject(source, replaced)
    _check_called(source, found)
    found = with_positional_calls(source, found)
    _check_arrays(source, found)
    if static or _asks_at_import(source, found):
        found = _with_names(source, found)
    if operand is not None:
        check_made_once(source, replaced, operand)
    return _with_length(source, _with_valid_donations(source, found))


def _check_name(source: FixSource, node: ir.Node) -> None:
    """A name that the code gave ``jax.pmap`` would be left behind."""
    if isinstance(node, ir.Name) and bound_values(source, node):
        raise Declined(
            f"no automatic fix, because `{node.id}` is another name for jax.pmap; first call jax.pmap itself"
        )


# --- its form --------------------------------------------------------------------------------------


def _form(source: FixSource, node: ir.Node) -> tuple[ir.Expr, ir.Expr | None, ir.FunctionDef | None, list[ir.Argument]]:
    """What is replaced, the operand or the decorated function, and the options."""
    above = source.parent(node)
    if isinstance(above, ir.FunctionDef) and any(node is decorator for decorator in above.decorators):
        return node, None, above, []  # type: ignore[return-value]
    if isinstance(above, ir.Call) and above.func is node:
        return _applied(source, above, above.args)
    partial = source.parent(above) if isinstance(above, ir.Argument) else None
    if isinstance(partial, ir.Call) and Imports(source, partial).resolve(partial.func) == "functools.partial":
        options = partial.args[1:]
        outer = source.parent(partial)
        first = partial.args[0] is above and all(argument.keyword for argument in options)
        if first and isinstance(outer, ir.FunctionDef) and any(partial is d for d in outer.decorators):
            return partial, None, outer, options
        if first and isinstance(outer, ir.Call) and outer.func is partial:
            return _applied(source, outer, [*outer.args, *options])
    raise Declined("no automatic fix, because this line does not call it; rewrite the code that does")


def _applied(
    source: FixSource, call: ir.Call, arguments: list[ir.Argument]
) -> tuple[ir.Expr, ir.Expr | None, ir.FunctionDef | None, list[ir.Argument]]:
    """``jax.pmap(f, …)``."""
    if not arguments or arguments[0].keyword or arguments[0].star:
        raise Declined("no automatic fix, because its first argument is not the function")
    if sum(not argument.keyword for argument in arguments) > len(_BY_POSITION):
        raise Declined("no automatic fix, because it passes options by position; pass them by keyword")
    return call, arguments[0].value, _definition_of(source, arguments[0].value), arguments[1:]


def _definition_of(source: FixSource, operand: ir.Expr) -> ir.FunctionDef | None:
    """The function of this file that a name surely means."""
    if not isinstance(operand, ir.Name):
        return None
    owner = scope_of(source, operand)
    bound = binders(source, owner if owner is not None else source.module, operand.id)
    return bound[0] if len(bound) == 1 and isinstance(bound[0], ir.FunctionDef) else None


# --- its options -----------------------------------------------------------------------------------


def _is_none(node: ir.Expr) -> bool:
    return isinstance(node, ir.Constant) and node.kind == "none"


def _axes(node: ir.Expr | None) -> tuple[int | None, ...] | None:
    """``in_axes``: None where every argument is mapped along axis 0."""
    if node is None:
        return None
    elements = node.elts if isinstance(node, (ir.Tuple, ir.List)) else [node]
    if not all(_is_none(e) or (isinstance(e, ir.Constant) and e.value == 0) for e in elements):
        raise Declined("no automatic fix for `in_axes` other than 0 and None; write `in_specs` of jax.shard_map")
    if not isinstance(node, (ir.Tuple, ir.List)):
        return None
    axes = tuple(None if _is_none(e) else 0 for e in elements)
    return axes if None in axes else None


def _check_out_axes(node: ir.Expr) -> None:
    elements = node.elts if isinstance(node, (ir.Tuple, ir.List)) else [node]
    if not all(isinstance(e, ir.Constant) and e.value == 0 and e.kind != "none" for e in elements):
        raise Declined("no automatic fix for `out_axes` other than 0; write `out_specs` of jax.shard_map")


def _static_numbers(node: ir.Expr | None) -> tuple[int, ...]:
    """The numbers of the static arguments."""
    numbers = () if node is None else _numbers(node)
    if numbers is None or any(number < 0 for number in numbers):
        raise Declined("no automatic fix, because the numbers of its static arguments are not written out")
    return numbers


def _with_names(source: FixSource, found: Pmap) -> Pmap:
    """The use with the names of the arguments that the new function takes one by one, static ones among them.

    Raises:
        Declined: it is not known how many there are.
    """
    operand = found.operand
    if operand is None and found.definition is not None:
        function: ir.Function | None = found.definition.function
        names = _positional_names(found.definition.function)
    else:
        names = _parameters(source, found) or []
        inner = operand.args[0].value if isinstance(operand, ir.Call) and operand.args else operand
        function = _function_of(source, inner)
    only = function is not None and all(p.kind in ("posonly", "positional") for p in function.params)
    shift = _shift(source, found)
    counts = {len(call.args) + shift for call in _calls_of(source, found)}
    if function is not None and not counts and not any(p.default is not None for p in function.params):
        counts = {len(names)}
    if not only or len(counts) != 1 or not max(found.static, default=-1) < max(counts) <= len(names):
        raise Declined(_STATIC if found.static else _AT_IMPORT)
    taken = tuple(names[: max(counts)])
    if found.axes is not None and len(found.axes) != len(taken):
        raise Declined("no automatic fix, because `in_axes` has another length than the arguments")
    return replace(found, names=taken)


_STATIC = (
    "no automatic fix, because it has static arguments, and its calls do not show how many arguments it takes; first bind them "
    "with functools.partial"
)
_AT_IMPORT = (
    "no automatic fix, because the new code would ask for the devices at import; first move this `pmap` into a function"
)


def _shift(source: FixSource, found: Pmap) -> int:
    """1 for a decorated method: the object in front of the dot is its first argument."""
    is_method = found.definition is not None and isinstance(source.parent(found.definition), ir.ClassDef)
    return int(found.operand is None and is_method)


def _check_devices(source: FixSource, node: ir.Expr | None) -> None:
    """A mesh needs devices, and None is not given in their place."""
    if isinstance(node, ir.Name):
        owner = scope_of(source, node)
        parameters = owner.params if owner is not None else []
        if any(p.name == node.id and p.default is not None and _is_none(p.default) for p in parameters):
            raise Declined(f"no automatic fix, because `{node.id}` may be None; pass jax.devices() instead")
    written = [] if node is None else [node, *bound_values(source, node)]
    if any(_OF_A_PROCESS.search(source.slice(expression)) for expression in written):
        _decline_processes()


# --- the code around it ----------------------------------------------------------------------------


def _check_nesting(source: FixSource, found: Pmap) -> None:
    """No map is applied to another one: they would need one mesh with two axes."""
    inside = list(walk(found.operand)) if found.operand is not None else []
    around: list[msgspec.Struct] = []
    for above in source.ancestors(found.replaced):
        if isinstance(above, ir.FunctionDef):
            around += [part for d in above.decorators if d is not found.replaced for part in walk(d)]
        elif isinstance(above, ir.Call):
            around.append(above.func)
    if found.definition is not None and found.operand is not None:
        around += [part for decorator in found.definition.decorators for part in walk(decorator)]
    if any(is_pmap(source, node) for node in [*inside, *around]):
        raise Declined("no automatic fix for nested maps; write one jax.shard_map over a mesh with two axes")


def is_pmap(source: FixSource, node: msgspec.Struct) -> bool:
    """Whether a name or an attribute means ``jax.pmap``."""
    if not isinstance(node, (ir.Name, ir.Attribute)):
        return False
    return load().canonical(Imports(source, node).resolve(node) or "") == PMAP


def with_positional_calls(source: FixSource, found: Pmap) -> Pmap:
    """The use, with edits of its calls by keyword: ``jax.shard_map`` takes none.

    ``pmap`` maps what it gets by keyword along axis 0.

    Raises:
        Declined: a call cannot be edited.
    """
    if found.definition is not None:
        needed = [p for p in found.definition.function.params if p.kind == "kwonly" and p.default is None]
        if needed:
            _decline_keyword(needed[0].name)
    edits: list[Edit] = []
    counts: set[int] = set()
    for call in _calls_of(source, found):
        if "devices" not in found.options and "axis_size" not in found.options:
            _check_length(call)
        keywords = [argument for argument in call.args if argument.keyword or argument.star == 2]
        counts.add(len(call.args))
        if keywords:
            edits += _positional(source, found, call, keywords)
            found = replace(found, donated=_still_donated(found, len(call.args) - len(keywords)))
    if not edits or found.axes is None:
        return replace(found, calls=tuple(edits))
    if len(counts) != 1 or len(found.axes) > min(counts):
        raise Declined("no automatic fix, because calls with keywords differ in their number of arguments")
    return replace(found, calls=tuple(edits), axes=found.axes + (0,) * (min(counts) - len(found.axes)))


def _check_length(call: ir.Call) -> None:
    """``pmap`` uses as many devices as the mapped axis has entries, a mesh has all of them."""
    for argument in call.args:
        index = argument.value.index if isinstance(argument.value, ir.Subscript) else None
        first = index.elts[0] if isinstance(index, ir.Tuple) and index.elts else index
        if isinstance(first, ir.Slice) and (first.upper is not None or first.lower is not None):
            raise Declined(
                "no automatic fix, because a call may pass fewer rows than there are devices; "
                "first pass `devices=` to pmap"
            )


def _with_length(source: FixSource, found: Pmap) -> Pmap:
    """The use, with the number of its devices where a call shows it and no setting asks for as many.

    Raises:
        Declined: it may use some of the devices only, and no option says which.
    """
    if "devices" in found.options or "axis_size" in found.options:
        return found
    length = known_length(source, _mapped(source, found))
    if length is None:
        check_all_devices(source)
        _check_lengths_of_others(source)
    return replace(found, length=length)


def _mapped(source: FixSource, found: Pmap) -> list[ir.Expr]:
    """The arguments of which each device gets a part."""
    return [
        argument.value
        for call in _calls_of(source, found)
        for at, argument in enumerate(call.args, _shift(source, found) if found.static else 0)
        if at not in found.static
        if found.axes is None or at >= len(found.axes) or found.axes[at] is not None
    ]


def _check_lengths_of_others(source: FixSource) -> None:
    """No other map of the file uses a number of devices that is written out: this one probably uses as many."""
    others = source.remember("lengths of maps", source.module, lambda: _lengths(source))
    if others:
        raise Declined(
            f"no automatic fix, because another pmap in this file uses {min(others)} devices, but the fix would use all; "
            "first pass `devices=` to pmap"
        )


def _lengths(source: FixSource) -> set[int]:
    """The numbers of devices that calls of maps in the file show."""
    found: set[int] = set()
    for node in walk(source.module):
        if is_pmap(source, node):
            try:
                replaced, operand, definition, arguments = _form(source, node)  # type: ignore[arg-type]
                options = {argument.keyword or _BY_POSITION[1]: argument.value for argument in arguments}
                site = Pmap(replaced, operand, definition, options, _axes(options.get("in_axes")))
                length = known_length(source, _mapped(source, site))
            except (Declined, Refused):
                continue
            if length is not None:
                found.add(length)
    return found


def _positional(source: FixSource, found: Pmap, call: ir.Call, keywords: list[ir.Argument]) -> list[Edit]:
    """Edits of a call, by the order of the function's parameters."""
    wanted = _wanted(source, found, call, keywords)
    by_name = {argument.keyword: _value_of(source, argument) for argument in keywords}
    if wanted is None or ([a.keyword for a in keywords] != wanted and not _may_change_order(source, call, keywords)):
        _decline_keyword(keywords[0].keyword or "**")
    return [Edit(a.start, a.end, by_name[key]) for a, key in zip(keywords, wanted, strict=True)]


def _wanted(source: FixSource, found: Pmap, call: ir.Call, keywords: list[ir.Argument]) -> list[str] | None:
    """The parameters that follow those which a call gives by position, if they are what it gives by keyword; else None."""
    parameters = _parameters(source, found)
    given = [argument for argument in call.args if not argument.keyword and not argument.star]
    if parameters is None or len(given) + len(keywords) != len(call.args) or any(a.star for a in keywords):
        return None
    wanted = parameters[len(given) : len(call.args)]
    return wanted if sorted(wanted) == sorted(a.keyword or "" for a in keywords) else None


def _may_change_order(source: FixSource, call: ir.Call, keywords: list[ir.Argument]) -> bool:
    """Whether the order in which arguments are evaluated does not matter."""
    imports = Imports(source, call)
    pure = all(effect(argument.value, imports) is Effect.PURE for argument in keywords)
    return pure and not source.comments(call.start, call.end)


def _value_of(source: FixSource, argument: ir.Argument) -> str:
    """The text of an argument without its keyword."""
    return re.sub(r"^\w+\s*=\s*", "", source.text[argument.start : argument.end])


def _still_donated(found: Pmap, given: int) -> tuple[int, ...] | None:
    """The numbers of ``donate_argnums`` that are below ``given``; None where it is absent.

    Raises:
        Declined: they are not written out.
    """
    node = found.options.get("donate_argnums")
    if node is None:
        return None
    known = _numbers(node)
    if known is None:
        raise Declined("no automatic fix, because calls pass keywords, and `donate_argnums` is not written out")
    return tuple(number for number in (known if found.donated is None else found.donated) if number < given)


def _numbers(node: ir.Expr) -> tuple[int, ...] | None:
    """The numbers that an option lists; None where they are not written out."""
    elements = node.elts if isinstance(node, (ir.Tuple, ir.List)) else [node]
    known = [e.value for e in elements if isinstance(e, ir.Constant) and isinstance(e.value, int)]
    return tuple(known) if len(known) == len(elements) else None


def _with_valid_donations(source: FixSource, found: Pmap) -> Pmap:
    """The use without the numbers of ``donate_argnums`` for which the function has no parameter: ``jax.pmap`` ignores these,
    and ``jax.jit`` raises."""
    node, parameters = found.options.get("donate_argnums"), _parameters(source, found)
    numbers = _numbers(node) if node is not None else None
    if numbers is None or parameters is None or _takes_any(source, found):
        return found
    donated = numbers if found.donated is None else found.donated
    valid = tuple(number for number in donated if number < len(parameters))
    return found if valid == donated else replace(found, donated=valid)


def _takes_any(source: FixSource, found: Pmap) -> bool:
    """The function has a parameter ``*args``."""
    operand = found.operand
    if isinstance(operand, ir.Call) and operand.args:  # functools.partial, see _parameters
        operand = operand.args[0].value
    function = found.definition.function if found.definition is not None else _function_of(source, operand)
    return function is None or any(p.kind == "vararg" for p in function.params)


def _parameters(source: FixSource, found: Pmap) -> list[str] | None:
    """The names that positional arguments of the mapped function have; None where they are not known."""
    if found.definition is not None:
        is_method = isinstance(source.parent(found.definition), ir.ClassDef)
        return None if is_method else _positional_names(found.definition.function)
    operand, given, named = found.operand, 0, set[str]()
    if isinstance(operand, ir.Call) and Imports(source, operand).resolve(operand.func) == "functools.partial":
        bound = operand.args[1:]
        if any(argument.star for argument in operand.args):
            return None
        given = sum(not argument.keyword for argument in bound)
        named = {argument.keyword or "" for argument in bound if argument.keyword}
        operand = operand.args[0].value
    function = _function_of(source, operand)
    names = _positional_names(function)[given:] if function is not None else None
    return None if names is None else list(itertools.takewhile(lambda name: name not in named, names))


def _positional_names(function: ir.Function) -> list[str]:
    return [p.name for p in function.params if p.kind in ("posonly", "positional")]


def _function_of(source: FixSource, operand: ir.Expr | None) -> ir.Function | None:
    """The function that an expression surely means, of this file or another one."""
    if operand is None or isinstance(operand, ir.Lambda):
        return None if operand is None else operand.function
    definition = _definition_of(source, operand)
    if definition is None and source.program is not None:
        elsewhere = source.program.definition(source, operand)
        definition = None if elsewhere is None else elsewhere[1]
    return None if definition is None or definition.decorators else definition.function


def _decline_keyword(name: str) -> NoReturn:
    raise Declined(
        f"no automatic fix, because a call passes `{name}` by keyword, which jax.shard_map does not take; pass it by position"
    )


def _calls_of(source: FixSource, found: Pmap) -> list[ir.Call]:
    """The calls of the mapped function that are in sight."""
    above = source.parent(found.replaced)
    if isinstance(above, ir.Call) and above.func is found.replaced:
        return [above]
    uses: list[ir.Expr] = []
    if found.operand is None and found.definition is not None:
        uses = _uses_of_definition(source, found.definition)
    elif isinstance(above, (ir.Assign, ir.AnnAssign)):
        targets = above.targets if isinstance(above, ir.Assign) else [above.target]
        for target in targets:
            if isinstance(target, ir.Name):
                uses += names(source, target.id)
            elif isinstance(target, ir.Attribute):
                uses += attributes(source, target.attr)
    calls = [source.parent(use) for use in uses]
    return [call for call, use in zip(calls, uses, strict=True) if isinstance(call, ir.Call) and call.func is use]


def _uses_of_definition(source: FixSource, definition: ir.FunctionDef) -> list[ir.Expr]:
    """Where this file reads a decorated function, or a method of its name."""
    name = definition.function.name
    if isinstance(source.parent(definition), ir.ClassDef):
        return list(attributes(source, name))
    return [*names(source, name), *attributes(source, name)]


def _asks_at_import(source: FixSource, found: Pmap) -> bool:
    """A mesh asks JAX for its devices, and then no setting of the platform has an effect any more; ``pmap`` asks when it is
    called. So the mesh of a map that is made while its file is imported waits for the call, except in a file that is run as a
    program and sets the platform in lines above the map."""
    above = source.parent(found.replaced)
    if source.functions(found.replaced) or (isinstance(above, ir.Call) and above.func is found.replaced):
        return False
    is_program = source.path.endswith(".ipynb") or _GUARD.search(source.text) is not None
    return not is_program or _SETTING.search(source.text, found.replaced.end) is not None


_PROCESS = (
    r"\b(?:process_count|host_count|process_index|host_id|process_allgather|synchronize_hosts)\(|\bmultihost_utils\b"
    r"|\bprocess_(?:id|index)\s*[!=]="
)
"""What a file asks that knows of several processes."""
_COUNT = r"(?:jax|xla_bridge)\.(?:process|host)_count\(\)"
_INDEX = r"(?:jax|xla_bridge)\.(?:process_index|host_id)\(\)"
_SHARES = (
    rf"\bdistributed\.initialize\(|(?://|[/*%])\s*{_COUNT}|{_COUNT}\s*(?://|[/*%]|(?:>|!=)\s*1\b)"
    rf"|(?:[*+%]|\bfold_in\([^()]+,)\s*{_INDEX}|{_INDEX}\s*(?:[*+%]|::)"
)
"""The program starts its processes, computes the part of the work that is for one, or asks whether there are more."""
_OF_A_PROCESS = re.compile(r"\b(?:process_index|host_id)\b")


_ON_ONE_DEVICE = (
    r"\bjit\s*[(,](?:[^()]|\([^()]*\))*?\bbackend\s*=|\bdefault_device\b"
    r"|\bdevice_put\((?:[^()\n]|\([^()\n]*\))*,\s*(?:device\s*=\s*)?[^,\n]*\b_?cpu"
)
"""What commits arrays to a device: ``jax.shard_map`` refuses those that are on none of its mesh, where ``pmap`` moves them."""
_MODULE = r"\bclass\s+{}\(\s*(?:(?:nn|linen|flax\.linen|hk|haiku)\.)?Module\b"
"""The definition of a model that is no array, nor made of arrays."""


def _check_arrays(source: FixSource, found: Pmap) -> None:
    """What is mapped are arrays: no function, and no module of Flax or Haiku, which the mapped function calls."""
    for node in _mapped(source, found):
        if _is_no_array(source, node):
            raise Declined(
                f"no automatic fix, because `{source.slice(node)}` is no array, and jax.shard_map maps arrays only; "
                "first bind it with functools.partial"
            )


def _is_no_array(source: FixSource, node: ir.Expr) -> bool:
    """A name of this file's function, of a lambda, or of an object of a class whose instances are modules."""
    if isinstance(node, ir.Lambda):
        return True
    if not isinstance(node, ir.Name):
        return False
    owner = scope_of(source, node)
    bound = binders(source, owner if owner is not None else source.module, node.id)
    if any(isinstance(statement, ir.FunctionDef) for statement in bound):
        return True
    return any(isinstance(value, ir.Lambda) or _makes_module(source, value) for value in bound_values(source, node))


def _makes_module(source: FixSource, value: ir.Expr) -> bool:
    if not isinstance(value, ir.Call) or source.program is None:
        return False
    name = source.slice(value.func).rpartition(".")[2]
    return name.isidentifier() and source.program.says(_MODULE.format(name))


def _decline_processes() -> NoReturn:
    raise Declined(
        "no automatic fix, because each of several processes may pass only its own part of an array; "
        "join the parts with jax.make_array_from_process_local_data"
    )


def _check_subject(source: FixSource, node: ir.Node) -> None:
    """A test of ``pmap``, and a file that is named after it, keep it."""
    name = os.path.basename(source.path)
    if "pmap" in name.lower():
        raise Declined(f"no automatic fix, because `{name}` is about pmap")
    for function in source.functions(node):
        other = next((name for name in _other_forms(function.name) if name in source.module.bound_names), None)
        if other is not None:
            raise Declined(f"no automatic fix, because `{function.name}` stands beside `{other}`, to compare them")
        if not function.name.startswith("test"):
            continue
        above = source.parent(function)
        start = above.start if isinstance(above, ir.FunctionDef) else function.body[0].start
        said = source.comments(start, function.body[-1].end)
        if "pmap" in function.name.lower() or any("pmap" in comment.text.lower() for comment in said):
            raise Declined(f"no automatic fix, because `{function.name}` is a test of pmap")


def _other_forms(name: str) -> list[str]:
    """Names of functions that do by other means what a function does by ``pmap``: ``solve_vmap`` for ``solve_pmap``."""
    return [name.replace("pmap", other) for other in _OTHER_MEANS] if "pmap" in name else []


_OTHER_MEANS = ("vmap", "jit", "loop", "scan", "serial", "sequential", "shard_map", "pjit")


def _check_called(source: FixSource, found: Pmap) -> None:
    """Something in the project reads the mapped function."""
    name = _unread_name(source, found)
    if name is not None:
        raise Declined(
            f"no automatic fix, because nothing in the project calls `{name}`; remove it, or rewrite it with a test"
        )


def _unread_name(source: FixSource, found: Pmap) -> str | None:
    """The name of a mapped function that nothing in the project reads; None where something does or may."""
    program = source.program
    if program is None:
        return None
    target: ir.Expr | None = None
    if found.operand is None and found.definition is not None:
        name = found.definition.function.name
        if isinstance(source.parent(found.definition), ir.ClassDef):
            return None if program.says(rf"\.{name}\b") else name
        return name if program.uses(source, found.definition) == [] else None
    above = source.parent(found.replaced)
    if isinstance(above, ir.Assign) and len(above.targets) == 1:
        target = above.targets[0]
    if isinstance(target, ir.Attribute):
        return None if program.says(rf"\.{target.attr}\b(?!\s*=[^=])") else source.slice(target)
    if not isinstance(target, ir.Name) or any(node is not target for node in names(source, target.id)):
        return None
    if source.functions(target):
        return target.id
    return None if program.imported_elsewhere(source, target.id) else target.id


def _check_program(source: FixSource) -> None:
    """A process of several gives ``jax.pmap`` its own part of an array, but ``jax.jit`` all of it. Tests that put ``vmap`` in
    the place of ``jax.pmap`` map over more entries than there are devices."""
    program = source.program
    if re.search(_PROCESS, source.text) or (program is not None and program.says_near(source, _SHARES, below=True)):
        _decline_processes()
    if re.search(r"\b(pure|io)_callback\(", source.text):
        raise Declined(
            "no automatic fix, because the fix adds jax.vmap, under which the host callback in this file may run differently"
        )
    if program is not None and program.says(_ON_ONE_DEVICE):
        raise Declined(
            "no automatic fix, because the project puts arrays on a device that it chooses, such as the CPU; pmap moves "
            "such arrays, but jax.shard_map raises an error; first let JAX choose the device"
        )
    if program is not None and program.says_near(source, r"\bfake_pmap"):
        raise Declined(
            "no automatic fix, because the tests replace jax.pmap by `fake_pmap`; run them on several CPU devices first"
        )
