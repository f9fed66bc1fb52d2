"""Arrays as defaults of fields of data classes, which Python refuses from 3.11 on.

Vocabulary
----------
root        a library class that makes a data class of each subclass.

``dataclasses`` takes a default for mutable if its class has no hash; arrays of JAX and NumPy have none. A release of JAX from
0.7.0 on needs Python 3.11. ``flax.struct``, linen, chex and Equinox use ``dataclasses``.

Limitations: fields that a function adds; defaults of unknown values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.values import CONCRETE, MAYBE, Array, HostArray, Value
from flake8_jax.semantics.events.refused import ArrayDefault
from flake8_jax.semantics.trackers.versions import ApiUses

if TYPE_CHECKING:
    from flake8_jax.semantics.domain.values import ClassValue
    from flake8_jax.semantics.machine.core import Machine

_ROOTS = ("equinox.Module", "flax.linen.Module", "flax.struct.PyTreeNode")
_DECORATORS = frozenset({"dataclass", "mappable_dataclass", "pytree_dataclass"})
_UNCLEAR = frozenset({"metaclass", "altered", "namedtuple", "enum"})
_MAKERS = frozenset({"arange", "array", "asarray", "eye", "full", "identity", "linspace", "ones", "zeros"})
"""Functions of NumPy that give arrays; others may give scalars, which have a hash."""
_NEEDS_PYTHON_3_11 = (0, 7, 0)
_ANY = (99, 0, 0)


def check_defaults(m: Machine, cls: ClassValue) -> None:
    """A class has been defined."""
    versions = m.trackers[ApiUses].versions
    if not m.bus.wants(ArrayDefault) or versions is None or m.path.mode.staged:
        return
    if not cls.fields or cls.traits & _UNCLEAR or not _is_made_data_class(m, cls) or not versions.is_wanted(cls.scope):
        return
    if not versions.supports_some(cls.scope, "jax", _NEEDS_PYTHON_3_11, _ANY):
        return
    defaults = {field.name: field.default for field in cls.fields}
    for statement in cls.node.body:
        if (
            isinstance(statement, ir.AnnAssign)
            and isinstance(statement.target, ir.Name)
            and statement.value is not None
        ):
            name = statement.target.id
            default = defaults.get(name)
            if _has_no_hash(default, statement.value) and not _is_init_var(statement.annotation):
                host, context = isinstance(default, HostArray), m.path.context(cls.scope)
                m.bus.emit(ArrayDefault(context, statement.value, name, cls.node.name, host))


def _is_made_data_class(m: Machine, cls: ClassValue) -> bool:
    """A decorator or a base class runs ``dataclasses.dataclass`` on the class itself."""
    if any(_decorator_name(node) in _DECORATORS for node in cls.node.decorators):
        return "dataclass" in cls.traits
    return any(m.program.knowledge.is_subclass(base, root) for base in cls.external_bases for root in _ROOTS)


def _decorator_name(node: Any) -> str:
    """``dataclass`` of ``@struct.dataclass``, ``@dataclass(frozen=True)`` and ``@partial(dataclass, frozen=True)``."""
    if isinstance(node, ir.Call):
        if last_name(node.func) == "partial" and node.args:
            return last_name(node.args[0].value)
        return last_name(node.func)
    return last_name(node)


def _is_init_var(annotation: ir.Expr) -> bool:
    """What only the constructor gets is no field."""
    return last_name(annotation.value if isinstance(annotation, ir.Subscript) else annotation) == "InitVar"


def _has_no_hash(default: Value | None, written: ir.Expr) -> bool:
    if isinstance(default, Array):
        return default.level in (CONCRETE, MAYBE) and not default.declared
    if not isinstance(default, HostArray) or default.declared or not isinstance(written, ir.Call):
        return False
    return last_name(written.func) in _MAKERS
