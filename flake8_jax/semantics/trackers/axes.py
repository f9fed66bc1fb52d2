"""Named axes: which ones the running code may use, and which ones a mesh has.

Vocabulary
----------
bound       an axis name that ``vmap(axis_name=…)``, ``pmap`` or ``shard_map`` around the running code binds.
closed      around the running code stands a ``jit``, ``pmap`` or ``shard_map``: no code further out is taken to bind more.
ANY         stands among the bound names where a transform may bind names that are not known.
spec        a ``PartitionSpec``: per dimension None, a name, or a tuple of names.

Limitations: meshes set as a context (``with mesh:``, ``jax.set_mesh``), ``PartitionSpec`` built by ``*``.
"""

from __future__ import annotations

from typing import Any

from flake8_jax.core import ir
from flake8_jax.knowledge.model import TransformFact
from flake8_jax.semantics.domain.code import last_name
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import Const, DictValue, ExternalInstance, Value, known_elements
from flake8_jax.semantics.events.events import MeshMismatch, UnboundAxis
from flake8_jax.semantics.events.facts import bound_axis_fact
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.semantics.trackers.replicas import ANY, track_collective

MESHES = frozenset({"jax.sharding.Mesh", "jax.sharding.AbstractMesh"})
_PALLAS = "jax.experimental.pallas."
_KERNEL_MESHES = {
    _PALLAS + "tpu.TensorCoreMesh": ("axis_names",),
    _PALLAS + "tpu_sc.VectorSubcoreMesh": ("core_axis_name", "subcore_axis_name"),
    _PALLAS + "tpu_sc.ScalarSubcoreMesh": ("axis_name",),
    _PALLAS + "mosaic_gpu.Mesh": ("grid_names", "cluster_names", "thread_name"),
    _PALLAS + "mosaic_gpu.WarpMesh": ("axis_name",),
}
"""The meshes that kernels run on, and their fields that name axes."""
SPEC = "jax.sharding.PartitionSpec"
_CLOSING = frozenset({"jax.jit", "jax.pmap", "jax.shard_map", "jax.experimental.shard_map.shard_map"})
_FOREIGN = ("flax.", "haiku.")
"""Lifted transforms bind names in ways of their own."""


def names_in(value: Value | None) -> tuple[str, ...] | None:
    """The names in an ``axis_name`` argument: one, or a tuple of them; None where they are not known."""
    if isinstance(value, Const):
        return (value.value,) if isinstance(value.value, str) else () if value.value is None else None
    known = known_elements(value) if value is not None else None
    if known is None or not all(isinstance(v, Const) and isinstance(v.value, str) for v in known):
        return None
    return tuple(v.value for v in known if isinstance(v, Const))


def bound_inside(
    axes: frozenset[str], fact: TransformFact | None, name: str, options: dict[str, Value]
) -> frozenset[str]:
    """The names that may be used inside an operand of a transform."""
    if fact is None or name.startswith(_FOREIGN) or name == "jax.make_jaxpr":
        return axes | {ANY}
    for option in fact.axis_names:
        value = options.get(option)
        if value is None:
            continue
        found = kernel_axes(value) if option == "mesh" else names_in(value)
        axes |= {ANY} if found is None else set(found)
    if fact.maps_axes is not None and fact.maps_axes.endswith("specs") and "mesh" not in options:
        axes |= {ANY}  # the mesh comes from a context
    return axes


def closes(name: str) -> bool:
    """Inside this transform the names bound are taken to be all there are."""
    return name in _CLOSING


def check_collective(m: Machine, frame: Frame, node: Any, axis: Value) -> None:
    """``psum(x, axis)`` and similar functions: is the axis bound?"""
    names = names_in(axis)
    track_collective(m, names or (ANY,))
    if not names or not m.bus.wants(UnboundAxis):
        return
    mode = m.path.mode
    missing = [n for n in names if n not in mode.axes]
    if not missing or ANY in mode.axes:
        for name in names:
            m.bus.record_fact(bound_axis_fact(name), frame.scope, node.start)
    elif mode.axes_closed:
        m.bus.emit(UnboundAxis(m.path.context(frame.scope), node, missing[0], tuple(sorted(mode.axes))))


# --- meshes -------------------------------------------------------------------------------------------


def mesh_axes(mesh: Value | None) -> tuple[str, ...] | None:
    """The axis names of a mesh; None where they are not known."""
    if not isinstance(mesh, ExternalInstance) or mesh.cls not in MESHES:
        return None
    return names_in(mesh.slots.get("axis_names"))


def kernel_axes(mesh: Value | None) -> tuple[str, ...] | None:
    """The axis names that a mesh binds inside a kernel of Pallas; None where they are not known."""
    fields = _KERNEL_MESHES.get(mesh.cls) if isinstance(mesh, ExternalInstance) else None
    if fields is None or not isinstance(mesh, ExternalInstance):
        return mesh_axes(mesh)
    found: list[str] = []
    for field in fields:
        names = names_in(mesh.slots[field]) if field in mesh.slots else ()
        if names is None:
            return None
        found += names
    return tuple(found)


def spec_names(spec: Value | None) -> tuple[str, ...] | None:
    """Every axis name in a spec, in order; None where one is not known."""
    if not isinstance(spec, ExternalInstance) or spec.cls != SPEC:
        return None
    entries = known_elements(spec.slots.get("entries", Const(None)))
    if entries is None:
        return None
    found: list[str] = []
    for entry in entries:
        names = names_in(entry)
        if names is None:
            return None
        found += names
    return tuple(found)


def check_spec(m: Machine, frame: Frame, node: Any, mesh: Value | None, spec: Value | None, at: Any) -> None:
    """A spec, or a pytree of specs, that is used with a mesh. at: where it is written."""
    axes = mesh_axes(mesh)
    if axes is None or not m.bus.wants(MeshMismatch):
        return
    for one, where in _specs(spec, at if at is not None else node):
        names = spec_names(one)
        if names is None:
            continue
        unknown = next((n for n in names if n not in axes), None)
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if unknown is not None or twice is not None:
            name = unknown if unknown is not None else twice
            assert name is not None
            m.bus.emit(MeshMismatch(m.path.context(frame.scope), where, name, axes, unknown is None, _mesh_node(node)))


def _mesh_node(call: Any) -> ir.Expr | None:
    """The argument of ``NamedSharding(mesh, spec)`` or ``shard_map(f, mesh=mesh)`` that is the mesh."""
    if not isinstance(call, ir.Call):
        return None
    named = next((argument.value for argument in call.args if argument.keyword == "mesh"), None)
    is_first = named is None and last_name(call.func) == "NamedSharding" and call.args and not call.args[0].keyword
    return call.args[0].value if is_first else named


def _specs(spec: Value | None, at: Any, depth: int = 4) -> list[tuple[Value, Any]]:
    """The specs in a pytree, each with the IR where it is written."""
    if spec is None or depth == 0:
        return []
    if isinstance(spec, ExternalInstance):
        return [(spec, at)]
    if isinstance(spec, DictValue):
        return [found for _, v in spec.items() for found in _specs(v, at, depth - 1)]
    known = known_elements(spec) if not isinstance(spec, Const) else None
    if known is None:
        return []
    nodes: list[Any] = [at] * len(known)
    if isinstance(at, (ir.Tuple, ir.List)) and len(at.elts) == len(known):
        nodes = list(at.elts)
    return [found for v, n in zip(known, nodes) for found in _specs(v, n, depth - 1)]
