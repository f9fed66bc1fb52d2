"""Which fields of a dataclass-like class are static: no leaves of the pytree, so that staged code sees their plain values.

Vocabulary
----------
maker      what is called for the default of a field: ``flax.struct.field(pytree_node=False)``, a ``partial`` of it, or a
           function of the project that returns such a call. Code gives it names of its own: ``nonpytree_field()``.
says       what a call says of the field it makes: that it is static, that it is a leaf, or (None) neither for sure.

Limitations: a maker that decides by its arguments or stands in a module that jaxlint did not read; metadata that is
computed. Such a field counts as static, because rules would report a leaf as traced.
"""

from __future__ import annotations

import sys

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import Frame, ModuleScope
from flake8_jax.semantics.domain.values import (
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    PartialValue,
    Unknown,
    Value,
)
from flake8_jax.semantics.interpreter.operations import resolve_name
from flake8_jax.semantics.machine.core import Machine

_STATIC_MAKERS = frozenset({"static_field", "static"})
_MAKERS_OF_LEAVES = sys.stdlib_module_names | {"numpy", "scipy", "attr", "attrs", "pydantic"}
"""What a function of these gives is no static field unless the call says so."""
MAX_MAKERS = 4
"""So many functions of the project, each of which calls the next one, are followed."""


def is_static_field(m: Machine, cls: ClassValue, default: ir.Expr | None) -> bool:
    """The default of a field is a call that makes it static: ``x: dict = field(pytree_node=False)``."""
    if not isinstance(default, ir.Call):
        return False
    return _call_says(m, cls.scope, cls.closure, default, MAX_MAKERS) is not False


def is_hashed(default: ir.Expr | None) -> bool:
    """The hash of an object asks for the field: nothing in the call that makes the field says otherwise, or says that
    something else is kept than what the constructor gets."""
    written = default.args if isinstance(default, ir.Call) else []
    return not any(argument.keyword in _UNHASHED for argument in written)


def is_converted(default: ir.Expr | None) -> bool:
    """``eqx.field(converter=jnp.asarray)``, also of attrs: the object holds what the converter makes of an argument or of
    the default."""
    return isinstance(default, ir.Call) and any(argument.keyword == "converter" for argument in default.args)


_UNHASHED = frozenset({"compare", "hash", "eq", "converter", "init", None})


def is_marked_static(m: Machine, cls: ClassValue, annotation: ir.Expr) -> bool:
    """``Static[int]``, the annotation of jax_dataclasses, by whatever name it was imported; ``Annotated[int, field(…)]``."""
    if not isinstance(annotation, ir.Subscript):
        return False
    marker = resolve_name(m, cls.scope, cls.closure, annotation.value)
    if isinstance(marker, External) and marker.name == "jax_dataclasses.Static":
        return True
    notes = annotation.index.elts if isinstance(annotation.index, ir.Tuple) else []
    return any(isinstance(note, ir.Call) and is_static_field(m, cls, note) for note in notes)


def _call_says(m: Machine, scope: ModuleScope, frame: Frame | None, call: ir.Call, depth: int) -> bool | None:
    """Whether a call makes a static field."""
    if last_name(call.func) in _STATIC_MAKERS:
        return True
    said = _arguments_say(call)
    if said is not False:
        return said
    return _maker_says(m, resolve_name(m, scope, frame, call.func), depth)


def _maker_says(m: Machine, maker: Value | None, depth: int) -> bool | None:
    """Whether a call of this makes a static field where its arguments do not say so."""
    if isinstance(maker, PartialValue):
        if _keywords_say(maker.kwargs):
            return True
        return _maker_says(m, maker.func, depth)
    if isinstance(maker, FunctionValue):
        return _function_says(m, maker, depth)
    if isinstance(maker, External):
        top = maker.name.partition(".")[0]
        if maker.name.rpartition(".")[2] in _STATIC_MAKERS:
            return True
        return False if top in m.program.knowledge.libraries or top in _MAKERS_OF_LEAVES else None
    return None if isinstance(maker, Unknown) else False


def _keywords_say(keywords: dict[str, Value]) -> bool:
    node, static, metadata = keywords.get("pytree_node"), keywords.get("static"), keywords.get("metadata")
    if isinstance(metadata, DictValue) and _keywords_say({str(k): v for k, v in metadata.items()}):
        return True
    return (isinstance(node, Const) and node.value is False) or (isinstance(static, Const) and static.value is True)


def _function_says(m: Machine, maker: FunctionValue, depth: int) -> bool | None:
    """What the calls say that a function of the project returns."""
    if depth == 0:
        return None
    returned = [
        node.value
        for statement in maker.fn.body
        for node in walk(statement)
        if isinstance(node, ir.Return) and isinstance(node.value, ir.Call)
    ]
    said = {_call_says(m, maker.scope, maker.closure, call, depth - 1) for call in returned}
    return said.pop() if len(said) == 1 else False if not said else None


def _arguments_say(call: ir.Call) -> bool | None:
    """``static=True``, ``pytree_node=False``, ``metadata={"static": True}``, ``metadata=dict(static=True)``."""
    unsure = False
    for argument in call.args:
        name, value = argument.keyword, argument.value
        if name in ("static", "pytree_node"):
            if not isinstance(value, ir.Constant):
                unsure = True
            elif value.value is (name == "static"):
                return True
        elif name == "metadata":
            said = _metadata_says(value)
            if said:
                return True
            unsure = unsure or said is None
    return None if unsure else False


def _metadata_says(value: ir.Expr) -> bool | None:
    if isinstance(value, ir.Dict):
        keys = [key.value if isinstance(key, ir.Constant) else None for key in value.keys]
        entries = [(key, v.value) for key, v in zip(keys, value.values, strict=True) if isinstance(v, ir.Constant)]
        return ("static", True) in entries or ("pytree_node", False) in entries
    if isinstance(value, ir.Call) and last_name(value.func) == "dict":
        return _arguments_say(value)
    return None
