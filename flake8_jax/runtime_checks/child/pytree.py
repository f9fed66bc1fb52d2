"""A tree of arrays, node by node: the value of a variable, or the result of a function.

Request: ``target``, ``run`` (whether a function is run; else its result is traced and no array is made), ``cases``, ``seed``,
``dims``, ``roots``. Result: see ``Tree`` in ``flake8_jax.runtime_checks.measurements``.

An array that is in the tree twice counts once. Bytes on a device are those of the parts of arrays that lie there.

Limitations: a function with several sets of inputs is shown for the first one. Bytes of PRNG keys are those of their data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flake8_jax.runtime_checks.child.jitting import Function, Inputs, Refusal, answer, failure, import_jax, setting
from flake8_jax.runtime_checks.child.main import Channel
from flake8_jax.runtime_checks.child.subjects import measured
from flake8_jax.runtime_checks.child.targets import TargetError, resolve_value

_DEEPEST = 100
_MOST_NODES = 100_000
_TEXT_WIDTH = 40


@dataclass
class _Walk:
    """nodes: in the order of the tree, parents first. seen: where each array was met first."""

    jax: Any
    nodes: list[dict[str, Any]] = field(default_factory=list)
    seen: dict[int, str] = field(default_factory=dict)
    devices: dict[str, int] = field(default_factory=dict)


def run(request: dict[str, Any], channel: Channel) -> None:
    """Look at the tree and send it."""
    answer(_tree, request, channel)


def _tree(request: Mapping[str, Any]) -> Mapping[str, Any]:
    import_jax()
    try:
        found = resolve_value(request["target"], request["roots"])
    except TargetError as error:
        raise Refusal(str(error)) from error
    if not callable(found.object) or _is_tree(found.object):
        return {**_described(found.object), "name": found.qualname, "inputs": "", "is_abstract": False}

    def work(function: Function, inputs: list[Inputs]) -> Mapping[str, Any]:
        try:
            result = _result(function, inputs[0], request["run"])
        except Exception as error:  # the user's function runs here
            raise Refusal(failure(function, inputs[0], error, request["roots"])) from error
        name = function.resolved.qualname
        return {**_described(result), "name": name, "inputs": inputs[0].text, "is_abstract": not request["run"]}

    try:
        return measured({**request, "static": (), "eager": True}, work, abstract=not request["run"])
    except Refusal as error:
        if "not a valid JAX type" in str(error):
            raise Refusal(f"{error}; --run with --case shows a result that is not only arrays") from error
        raise


def _is_tree(value: Any) -> bool:
    """Whether a callable, such as a model of Equinox, is a tree with children."""
    jax: Any = import_jax()
    return not jax.tree_util.all_leaves([value])


def _result(function: Function, inputs: Inputs, runs: bool) -> Any:
    jax: Any = import_jax()
    if runs:
        return jax.block_until_ready(function.call(*inputs.args, **inputs.kwargs))
    leaves, structure = jax.tree_util.tree_flatten((tuple(inputs.args), inputs.kwargs))
    is_array = [hasattr(leaf, "shape") for leaf in leaves]

    def with_arrays(arrays: list[Any]) -> Any:
        """Numbers, strings and functions stay as they are: they are sizes and options as a rule."""
        following = iter(arrays)
        merged = [next(following) if traced else leaf for leaf, traced in zip(leaves, is_array)]
        args, kwargs = jax.tree_util.tree_unflatten(structure, merged)
        return function.call(*args, **kwargs)

    return jax.eval_shape(with_arrays, [leaf for leaf, traced in zip(leaves, is_array) if traced])


def _described(value: Any) -> dict[str, Any]:
    walk = _Walk(import_jax())
    _visit(walk, "", "", value, 0)
    total = sum(node["bytes"] for node in walk.nodes if node["is_leaf"] and not node["same_as"])
    return {"setting": setting(), "nodes": walk.nodes, "bytes": total, "devices": walk.devices}


def _visit(walk: _Walk, path: str, name: str, value: Any, depth: int) -> int:
    """Add a node and what is below it; returns its bytes."""
    if depth > _DEEPEST or len(walk.nodes) >= _MOST_NODES:
        raise Refusal(f"the tree is deeper than {_DEEPEST} levels or has more than {_MOST_NODES} nodes")
    node: dict[str, Any] = {
        "path": path, "name": name, "depth": depth, "is_leaf": False, "type": type(value).__name__, "bytes": 0,
        "shape": None, "dtype": "", "sharding": "", "text": "", "same_as": "",
    }  # fmt: skip
    walk.nodes.append(node)
    children = _children(walk.jax, value)
    if children is None:
        node.update(_leaf(value))
        if hasattr(value, "shape") and id(value) in walk.seen:
            node["same_as"] = walk.seen[id(value)] or "the root"
            return 0
        walk.seen[id(value)] = path
        _add_to_devices(walk.devices, value)
    else:
        node["bytes"] = sum(_visit(walk, path + key, key, child, depth + 1) for key, child in children)
    return int(node["bytes"])


def _children(jax: Any, value: Any) -> list[tuple[str, Any]] | None:
    """The children of a node with their keys; None for a leaf."""
    if value is None:
        return None
    first = iter((False,))  # JAX asks about the root first; one level below it, everything is a leaf
    entries, _ = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda _: next(first, True))
    if len(entries) == 1 and entries[0][0] == ():
        return None
    return [(jax.tree_util.keystr(path), child) for path, child in entries]


def _leaf(value: Any) -> dict[str, Any]:
    """Facts of a leaf. text: what it is where it is no array."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        text = repr(value)
        return {
            "is_leaf": value is not None,
            "text": text if len(text) <= _TEXT_WIDTH else text[: _TEXT_WIDTH - 1] + "…",
        }
    kind = "weak" if getattr(value, "weak_type", False) else ""
    return {
        "is_leaf": True,
        "shape": [int(size) if isinstance(size, int) else str(size) for size in shape],
        "dtype": str(dtype),
        "bytes": _bytes(shape, dtype),
        "sharding": _sharding(value),
        "text": kind,
    }


def _bytes(shape: Any, dtype: Any) -> int:
    sizes = [size for size in shape if isinstance(size, int)]
    return math.prod(sizes) * int(getattr(dtype, "itemsize", 0)) if len(sizes) == len(shape) else 0


def _sharding(value: Any) -> str:
    """Where an array lies: its device, or how its axes are cut over a mesh."""
    sharding = getattr(value, "sharding", None)
    if sharding is None:
        return "host" if type(value).__module__.partition(".")[0] == "numpy" else ""
    spec, mesh = getattr(sharding, "spec", None), getattr(sharding, "mesh", None)
    if spec is not None and mesh is not None:
        axes = ", ".join(f"{axis}={size}" for axis, size in mesh.shape.items())
        return f"{str(spec).replace('PartitionSpec', 'P')} on {axes}"
    devices = sorted(str(device) for device in sharding.device_set)
    return devices[0] if len(devices) == 1 else f"{type(sharding).__name__} on {len(devices)} devices"


def _add_to_devices(devices: dict[str, int], value: Any) -> None:
    sharding = getattr(value, "sharding", None)
    if sharding is None or not hasattr(value, "addressable_shards"):
        return
    part = _bytes(sharding.shard_shape(value.shape), value.dtype)
    for device in sorted(sharding.device_set, key=lambda device: device.id):
        devices[str(device)] = devices.get(str(device), 0) + part
