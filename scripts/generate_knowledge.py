"""Writes the tables of jax.numpy, jax.lax, jax.nn, jax.random, jax.scipy and NumPy from the installed packages.

    python scripts/generate_knowledge.py [--check] [TABLE …]

Vocabulary
----------
sample     arguments with which a function runs; chosen by parameter name, or by hand in ``SAMPLES``.
probe      one run of a function that answers one question: what does it return for integers, does it work on a
           tracer, does it raise when this parameter is traced?

Signatures and whatever a probe can answer come from the installed packages, judgement (what is a key, a shape, a
size) from the tables below and from ``knowledge_by_hand.toml``. A role that a probe contradicts is not written. Needs jax, numpy and scipy; nothing
else of the project does. ``--check`` writes nothing and exits with 1 when a table would change.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tomllib

TABLES = Path(__file__).resolve().parent.parent / "flake8_jax" / "knowledge"
BY_HAND: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("knowledge_by_hand.toml").read_text(encoding="utf-8")
)
"""By module and function: facts that win over what probes find."""

MATRIX = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]], np.float32)
VECTOR = np.array([0.5, 0.25, 0.75], np.float32)
INDICES = np.array([0, 1, 2], np.int32)

AXIS_NAMES = frozenset(
    ["axis", "axes", "axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination", "dimension", "dimensions", "dim", "offset", "perm", "permutation", "start_axis", "decimals", "broadcast_dimensions", "concat_axis", "split_axis", "scatter_dimension", "operand_batching_dims", "spatial_dims"]
)
SHAPE_NAMES = frozenset(
    ["shape", "num", "N", "M", "n", "m", "k", "K", "reps", "pad_width", "newshape", "new_sizes", "sizes", "slice_sizes", "slice_size", "num_classes", "num_segments", "minlength", "s", "start", "stop", "step", "indices_or_sections", "dims", "ndmin", "kth", "num_keys", "strides", "window_dimensions", "window_strides", "padding_config", "padding", "base_dilation", "window_dilation", "start_index", "limit_index", "stride", "start_indices", "limit_indices", "size", "maxdims", "order", "num_samples", "period", "col_deriv", "nperseg", "noverlap", "nfft", "lhs_dilation", "rhs_dilation", "feature_group_count", "batch_group_count", "max_n", "n_max", "l_max", "order", "max_order", "exponent_bits", "mantissa_bits", "reduction_dimension", "total_repeat_length", "fft_lengths", "rank", "tensor_size", "block_size", "length"]
)
SIZE_PARAMS = {
    "argwhere": "always",
    "flatnonzero": "always",
    "nonzero": "always",
    "unique": "always",
    "unique_all": "always",
    "unique_counts": "always",
    "unique_inverse": "always",
    "unique_values": "always",
    "union1d": "always",
    "intersect1d": "always",
    "setdiff1d": "always",
    "setxor1d": "always",
    "extract": "always",
    "compress": "always",
    "where": "one-argument",
    "repeat": "traced-argument",
    "bincount": "always",
}
"""jax.numpy functions whose result shape depends on data, and when."""

SIZE_NAMES = {"repeat": "total_repeat_length", "bincount": "length"}
"""Where the parameter that makes it static is not called ``size``."""

NOT_PURE = frozenset(["save", "savez", "savez_compressed", "set_printoptions", "printoptions", "load", "fromfile"])

SAMPLES: dict[str, dict[str, Any]] = {
    "arange": {"start": 3},
    "around": {"a": VECTOR},
    "squeeze": {"a": MATRIX[None], "axis": 0},
    "fft2": {"a": MATRIX},
    "atleast_1d": {"*arys": (MATRIX,)},
    "atleast_2d": {"*arys": (MATRIX,)},
    "atleast_3d": {"*arys": (MATRIX,)},
    "common_type": {"*arrays": (MATRIX,)},
    "array_split": {"ary": MATRIX, "indices_or_sections": 3},
    "block": {"arrays": [MATRIX, MATRIX]},
    "blackman": {"M": 4},
    "hamming": {"M": 4},
    "hanning": {"M": 4},
    "bartlett": {"M": 4},
    "kaiser": {"M": 4, "beta": 2.0},
    "bincount": {"x": INDICES},
    "bitwise_left_shift": {"x": INDICES, "y": INDICES},
    "broadcast_arrays": {"*args": (VECTOR, MATRIX)},
    "broadcast_to": {"array": VECTOR, "shape": (3, 3)},
    "can_cast": {"from_": np.int32, "to": np.float32},
    "choose": {"a": INDICES, "choices": MATRIX},
    "column_stack": {"tup": (VECTOR, VECTOR)},
    "compress": {"condition": np.array([True, False, True]), "a": VECTOR},
    "concat": {"arrays": (VECTOR, VECTOR)},
    "concatenate": {"arrays": (VECTOR, VECTOR)},
    "convolve": {"a": VECTOR, "v": VECTOR},
    "correlate": {"a": VECTOR, "v": VECTOR},
    "cov": {"m": MATRIX},
    "cross": {"a": VECTOR, "b": VECTOR},
    "delete": {"arr": VECTOR, "obj": 1},
    "diag_indices": {"n": 3},
    "digitize": {"x": VECTOR, "bins": VECTOR[:1]},
    "dsplit": {"ary": np.ones((2, 2, 2), np.float32), "indices_or_sections": 2},
    "dstack": {"tup": (VECTOR, VECTOR)},
    "einsum": {"subscripts": "ij,jk->ik", "*operands": (MATRIX, MATRIX)},
    "einsum_path": {"subscripts": "ij,jk->ik", "*operands": (MATRIX, MATRIX)},
    "expand_dims": {"a": VECTOR, "axis": 0},
    "eye": {"N": 3},
    "fill_diagonal": {"a": MATRIX, "val": 1.0, "inplace": False},
    "full": {"shape": 3, "fill_value": 1.0},
    "full_like": {"a": MATRIX, "fill_value": 1.0},
    "geomspace": {"start": 1.0, "stop": 2.0},
    "hsplit": {"ary": MATRIX, "indices_or_sections": 3},
    "hstack": {"tup": (VECTOR, VECTOR)},
    "identity": {"n": 3},
    "indices": {"dimensions": (2, 2)},
    "insert": {"arr": VECTOR, "obj": 1, "values": 2.0},
    "interp": {"x": VECTOR, "xp": VECTOR, "fp": VECTOR},
    "ix_": {"*args": (INDICES, INDICES)},
    "lexsort": {"keys": (VECTOR, VECTOR)},
    "linspace": {"start": 1.0, "stop": 2.0},
    "logspace": {"start": 1.0, "stop": 2.0},
    "mask_indices": {"n": 3, "mask_func": np.triu},
    "meshgrid": {"*xi": (VECTOR, VECTOR)},
    "moveaxis": {"a": MATRIX, "source": 0, "destination": 1},
    "ones": {"shape": 3},
    "zeros": {"shape": 3},
    "empty": {"shape": 3},
    "pad": {"array": MATRIX, "pad_width": 1},
    "partition": {"a": VECTOR, "kth": 1},
    "argpartition": {"a": VECTOR, "kth": 1},
    "percentile": {"a": VECTOR, "q": 50.0},
    "nanpercentile": {"a": VECTOR, "q": 50.0},
    "quantile": {"a": VECTOR, "q": 0.5},
    "nanquantile": {"a": VECTOR, "q": 0.5},
    "place": {"arr": VECTOR, "mask": VECTOR > 0, "vals": VECTOR, "inplace": False},
    "polyadd": {"a1": VECTOR, "a2": VECTOR},
    "polyder": {"p": VECTOR},
    "polydiv": {"u": VECTOR, "v": VECTOR},
    "polyfit": {"x": VECTOR, "y": VECTOR, "deg": 1},
    "polyint": {"p": VECTOR},
    "polymul": {"a1": VECTOR, "a2": VECTOR},
    "polysub": {"a1": VECTOR, "a2": VECTOR},
    "polyval": {"p": VECTOR, "x": VECTOR},
    "put": {"a": VECTOR, "ind": INDICES, "v": VECTOR, "inplace": False},
    "put_along_axis": {"arr": VECTOR, "indices": INDICES, "values": VECTOR, "axis": 0, "inplace": False},
    "ravel_multi_index": {"multi_index": (INDICES, INDICES), "dims": (3, 3)},
    "repeat": {"a": VECTOR, "repeats": 2},
    "reshape": {"a": VECTOR, "shape": 3},
    "roll": {"a": VECTOR, "shift": 1},
    "roots": {"p": VECTOR},
    "select": {"condlist": [VECTOR > 0], "choicelist": [VECTOR]},
    "split": {"ary": MATRIX, "indices_or_sections": 3},
    "stack": {"arrays": (VECTOR, VECTOR)},
    "swapaxes": {"a": MATRIX, "axis1": 0, "axis2": 1},
    "take": {"a": VECTOR, "indices": INDICES},
    "take_along_axis": {"arr": VECTOR, "indices": INDICES, "axis": 0},
    "tile": {"A": VECTOR, "reps": 2},
    "tri": {"N": 3},
    "tril_indices": {"n": 3},
    "triu_indices": {"n": 3},
    "unravel_index": {"indices": INDICES, "shape": (3, 3)},
    "vander": {"x": VECTOR},
    "vsplit": {"ary": MATRIX, "indices_or_sections": 3},
    "vstack": {"tup": (VECTOR, VECTOR)},
    "where": {"condition": VECTOR > 0, "x": VECTOR, "y": VECTOR},
    "unpackbits": {"a": np.array([1, 2], np.uint8)},
    "packbits": {"a": np.array([1, 2], np.uint8)},
    "frombuffer": {"buffer": b"abcd", "dtype": np.uint8},
    "fromstring": {"string": "1 2", "sep": " "},
    "apply_over_axes": {"func": jnp.sum, "a": MATRIX, "axes": [0]},
    "apply_along_axis": {"func1d": jnp.sum, "axis": 0, "arr": MATRIX},
    "histogram_bin_edges": {"a": VECTOR},
    "histogram2d": {"x": VECTOR, "y": VECTOR},
    "histogramdd": {"sample": MATRIX},
    "issubdtype": {"arg1": np.int32, "arg2": np.integer},
    "isdtype": {"dtype": np.dtype("int32"), "kind": "numeric"},
    "finfo": {"dtype": np.float32},
    "iinfo": {"dtype": np.int32},
    "dtype": {"obj": np.float32},
    "cond": {"x": MATRIX},
    "multi_dot": {"arrays": [MATRIX, MATRIX]},
    "matrix_power": {"a": MATRIX, "n": 2},
    "tensorsolve": {"a": np.eye(4, dtype=np.float32).reshape(2, 2, 2, 2), "b": np.ones((2, 2), np.float32)},
    "tensorinv": {"a": np.eye(4, dtype=np.float32).reshape(2, 2, 2, 2), "ind": 2},
    "one_hot": {"x": INDICES, "num_classes": 3},
    "dot_product_attention": {name: np.ones((1, 2, 1, 4), np.float32) for name in ("query", "key", "value")},
    "glu": {"x": np.ones((4, 4), np.float32)},
    "fftfreq": {"n": 4},
    "rfftfreq": {"n": 4},
    # jax.random
    "key": {"seed": 0},
    "PRNGKey": {"seed": 0},
    # jax.lax
    "iota": {"dtype": np.int32, "size": 3},
    "broadcasted_iota": {"dtype": np.int32, "shape": (2, 2), "dimension": 0},
    "broadcast": {"operand": VECTOR, "sizes": (2,)},
    "broadcast_in_dim": {"operand": VECTOR, "shape": (2, 3), "broadcast_dimensions": (1,)},
    "dynamic_slice": {"operand": VECTOR, "start_indices": (1,), "slice_sizes": (2,)},
    "dynamic_slice_in_dim": {"operand": VECTOR, "start_index": 1, "slice_size": 2},
    "dynamic_index_in_dim": {"operand": VECTOR, "index": 1},
    "dynamic_update_slice": {"operand": VECTOR, "update": VECTOR[:1], "start_indices": (1,)},
    "dynamic_update_slice_in_dim": {"operand": VECTOR, "update": VECTOR[:1], "start_index": 1, "axis": 0},
    "dynamic_update_index_in_dim": {"operand": VECTOR, "update": np.float32(1), "index": 1, "axis": 0},
    "index_in_dim": {"operand": VECTOR, "index": 1},
    "slice": {"operand": VECTOR, "start_indices": (0,), "limit_indices": (2,)},
    "slice_in_dim": {"operand": VECTOR, "start_index": 0, "limit_index": 2},
    "top_k": {"operand": VECTOR, "k": 2},
    "approx_max_k": {"operand": VECTOR, "k": 2},
    "approx_min_k": {"operand": VECTOR, "k": 2},
    "convert_element_type": {"operand": VECTOR, "new_dtype": np.float32},
    "bitcast_convert_type": {"operand": VECTOR, "new_dtype": np.int32},
    "clamp": {"min": np.float32(0), "x": VECTOR, "max": np.float32(1)},
    "collapse": {"operand": MATRIX, "start_dimension": 0},
    "rev": {"operand": VECTOR, "dimensions": (0,)},
    "transpose_lax": {"operand": MATRIX, "permutation": (1, 0)},
    "squeeze_lax": {"array": MATRIX[None], "dimensions": (0,)},
    "sort_key_val": {"keys": VECTOR, "values": VECTOR},
    "select_n": {"which": VECTOR > 0, "*cases": (VECTOR, VECTOR)},
    "integer_pow": {"x": VECTOR, "y": 2},
    "reduce_precision": {"operand": VECTOR, "exponent_bits": 5, "mantissa_bits": 10},
    "concatenate_lax": {"operands": (VECTOR, VECTOR), "dimension": 0},
    "argmin_lax": {"operand": VECTOR, "axis": 0, "index_dtype": np.int32},
    "argmax_lax": {"operand": VECTOR, "axis": 0, "index_dtype": np.int32},
    "pad_lax": {"operand": VECTOR, "padding_value": np.float32(0), "padding_config": ((1, 1, 0),)},
    "reshape_lax": {"operand": VECTOR, "new_sizes": (3, 1)},
    "expand_dims_lax": {"array": VECTOR, "dimensions": (0,)},
    "split_lax": {"operand": VECTOR, "sizes": (1, 2)},
    "tile_lax": {"operand": VECTOR, "reps": (2,)},
    "select_lax": {"pred": VECTOR > 0, "on_true": VECTOR, "on_false": VECTOR},
    "fft_lax": {"x": VECTOR.astype(np.complex64), "fft_type": "fft", "fft_lengths": (3,)},
    "reduce_and": {"operand": VECTOR > 0, "axes": (0,)},
    "reduce_or": {"operand": VECTOR > 0, "axes": (0,)},
    "reduce_xor": {"operand": VECTOR > 0, "axes": (0,)},
    "dot_general": {"lhs": MATRIX, "rhs": MATRIX, "dimension_numbers": (((1,), (0,)), ((), ()))},
    "batch_matmul": {"lhs": MATRIX[None], "rhs": MATRIX[None]},
    "conv": {
        "lhs": np.ones((1, 1, 4, 4), np.float32),
        "rhs": np.ones((1, 1, 2, 2), np.float32),
        "window_strides": (1, 1),
        "padding": "SAME",
    },
    "conv_general_dilated": {
        "lhs": np.ones((1, 1, 4, 4), np.float32),
        "rhs": np.ones((1, 1, 2, 2), np.float32),
        "window_strides": (1, 1),
        "padding": "SAME",
    },
}
"""Arguments for the functions whose parameter names do not say what they want. ``<name>_lax`` wins in jax.lax."""

BY_NAME: dict[str, Any] = {
    "shape": (3,),
    "axis": 0,
    "axes": (0,),
    "dimension": 0,
    "dimensions": (0,),
    "n": 2,
    "N": 3,
    "M": 3,
    "k": 1,
    "num_classes": 3,
    "dtype": np.float32,
    "m": MATRIX,
}


def signature_parameters(function: Any) -> list[inspect.Parameter] | None:
    """Its parameters; those of a ufunc object by its arity; None where Python cannot tell."""
    nin = getattr(function, "nin", None)
    if nin is not None:
        names = ["x"] if nin == 1 else ["x", "y", "z", "w"][:nin]
        names_of_kind = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        return names_of_kind
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def written_parameters(parameters: list[inspect.Parameter], roles: dict[str, str]) -> str:
    """The part of a fact's line before the arrow."""
    parts: list[str] = []
    keyword_only = False
    for parameter in parameters:
        name = parameter.name
        if name.startswith("_"):
            continue
        prefix = ""
        if parameter.kind is parameter.VAR_POSITIONAL:
            prefix, keyword_only = "*", True
        elif parameter.kind is parameter.VAR_KEYWORD:
            prefix = "**"
        elif parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        role = roles.get(name)
        parts.append(f"{prefix}{name}: {role}" if role else f"{prefix}{name}")
    return ", ".join(parts)


class Sample:
    """Arguments for one function, by parameter, and a way to call it with some of them replaced."""

    def __init__(self, function: Callable[..., Any], parameters: list[inspect.Parameter], values: dict[str, Any]):
        self.function = function
        self.parameters = parameters
        self.values = values

    def call(self, **replaced: Any) -> Any:
        values = {**self.values, **replaced}
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_keyword = False
        for parameter in self.parameters:
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(values.get("*" + parameter.name, ()))
                by_keyword = True
            elif parameter.name not in values:
                by_keyword = True
            elif by_keyword or parameter.kind is parameter.KEYWORD_ONLY:
                keywords[parameter.name] = values[parameter.name]
            else:
                positional.append(values[parameter.name])
        return self.function(*positional, **keywords)

    def array_names(self) -> list[str]:
        return [name for name, value in self.values.items() if isinstance(value, np.ndarray)]

    def cast(self, dtype: Any) -> Sample:
        """The same with its data, and that in its sequences, as JAX arrays of that dtype."""
        values = {name: value if name in NOT_DATA else cast_data(value, dtype) for name, value in self.values.items()}
        return Sample(self.function, self.parameters, values)


NOT_DATA = frozenset(["indices", "ind", "obj", "condition", "mask", "pred", "which", "multi_index", "scatter_indices", "condlist", "dims", "q"])
"""Parameters whose dtype says nothing about the result's."""


def cast_data(value: Any, dtype: Any) -> Any:
    if isinstance(value, np.ndarray):
        return jnp.asarray(value).astype(dtype)
    if isinstance(value, (tuple, list)):
        return type(value)(cast_data(item, dtype) for item in value)
    return value


class Failed(Exception):
    """A probe's run raised; the cause is attached."""


def attempt(run: Callable[[], Any]) -> Any:
    """Run a probe. Libraries raise all sorts of exceptions on arguments they dislike, so any counts as a failure."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


def fails(run: Callable[[], Any]) -> str:
    """The failure of a probe in words, empty when it worked."""
    try:
        attempt(run)
    except Failed as failure:
        return str(failure)
    return ""


def find_sample(function: Any, name: str, module: str, parameters: list[inspect.Parameter]) -> Sample | None:
    """Arguments with which the function runs, or None."""
    by_hand = SAMPLES.get(f"{name}_{module.rpartition('.')[2]}") or SAMPLES.get(name)
    candidates: list[dict[str, Any]] = [by_hand] if by_hand is not None else []
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    for array in (MATRIX, VECTOR, INDICES, VECTOR > 0.4, np.float32(0.5), MATRIX[None], "ij"):
        values = {parameter.name: BY_NAME.get(parameter.name, array) for parameter in required}
        if any(parameter.name == "key" for parameter in required) and module == "jax.random":
            values["key"] = jax.random.key(0)
        candidates.append(values)
        candidates.append({parameter.name: array for parameter in required})
    for values in candidates:
        sample = Sample(function, parameters, values)
        if not fails(sample.call):
            return sample
    return None


def describe(result: Any, classes: dict[str, tuple[str, ...]]) -> str:
    """The result descriptor of one value. Named tuples are noted in ``classes`` by their qualified name."""
    if result is None:
        return "none"
    if isinstance(result, (jax.Array, jax.core.Tracer)):
        if jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key):
            return "key" if result.ndim == 0 else "keys"
        return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}.get(result.dtype.kind, "array")
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        qualified = f"{public_module(type(result).__module__)}.{type(result).__name__}"
        classes[qualified] = tuple(result._fields)
        return f"instance({qualified})"
    if isinstance(result, tuple):
        items = [describe(item, classes) for item in result]
        return "static" if set(items) <= {"static"} else f"tuple({', '.join(items)})"
    if isinstance(result, list):
        kinds = {describe(item, classes) for item in result}
        return "static" if kinds <= {"static"} else f"list({merge(sorted(kinds))})"
    if isinstance(result, np.dtype) or (isinstance(result, type) and issubclass(result, np.generic)):
        return "dtype"
    if isinstance(result, (bool, int, float, str, np.bool_, np.finfo, np.iinfo)) or "info" in type(result).__name__:
        return "static"
    if isinstance(result, (np.ndarray, np.generic)):
        return "host"
    return "unknown"


def public_module(module: str) -> str:
    return {
        "jax._src.numpy.linalg": "jax.numpy.linalg",
        "jax._src.numpy.setops": "jax.numpy",
        "jax._src.numpy.reductions": "jax.numpy",
        "jax._src.scipy.linalg": "jax.scipy.linalg",
    }.get(module, module)


def merge(descriptors: list[str]) -> str:
    """One descriptor that is true of all of them."""
    if len(set(descriptors)) == 1:
        return descriptors[0]
    arrays = {"bool", "int", "float", "complex", "array"}
    if set(descriptors) <= arrays:
        return "array"
    if all(one.startswith("tuple(") for one in descriptors):
        rows = [one[6:-1].split(", ") for one in descriptors]
        if len({len(row) for row in rows}) == 1 and not any("(" in item for row in rows for item in row):
            return f"tuple({', '.join(merge(list(column)) for column in zip(*rows, strict=True))})"
    if all(one.startswith("list(") for one in descriptors):
        return f"list({merge([one[5:-1] for one in descriptors])})"
    return "unknown"


def result_of(sample: Sample, classes: dict[str, tuple[str, ...]]) -> str:
    """What the function returns, over floats, integers, booleans and complex numbers."""
    seen: dict[str, str] = {}
    for kind, dtype in {"float": np.float32, "int": np.int32, "bool": np.bool_, "complex": np.complex64}.items():
        variant = sample.cast(dtype)
        if not fails(variant.call):
            seen[kind] = describe(attempt(variant.call), classes)
    arrays = sample.array_names()
    if len(arrays) == 1 and len(seen) >= 2 and all(kind == found for kind, found in seen.items()):
        return f"like({arrays[0]})"
    if arrays and len(seen) < 2 and set(seen.values()) <= {"float", "int", "complex"}:
        return "array"
    return merge(list(seen.values()))


def raises_when_traced(sample: Sample, name: str, value: Any) -> bool:
    """Whether the function refuses a tracer for that parameter, while it takes the value itself."""
    if fails(lambda: sample.call(**{name: value})):
        return False
    traced = fails(lambda: jax.eval_shape(lambda tracer: strip(sample.call(**{name: tracer})), value))
    return bool(traced)


def strip(result: Any) -> Any:
    """The arrays of a result, so that eval_shape does not fail for what is no array."""
    return [leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, (jax.Array, jax.core.Tracer))]


def works_traced(sample: Sample, names: list[str]) -> bool:
    arrays = {name: sample.values[name] for name in names}
    return not fails(lambda: jax.eval_shape(lambda tracers: strip(sample.call(**tracers)), arrays))


def static_roles(name: str, sample: Sample | None, parameters: list[inspect.Parameter]) -> dict[str, str]:
    """Parameters that must be static, as probes show; those that cannot be probed are left out."""
    roles: dict[str, str] = {}
    if sample is None:
        return roles
    for parameter in parameters:
        known = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL or known not in AXIS_NAMES | SHAPE_NAMES:
            continue
        if known in sample.array_names():
            continue
        given = sample.values.get(known)
        trials = [given] if given is not None else [0, 1, 2, 3, (0,), (1,), (3,)]
        trials = [trial for trial in trials if not isinstance(trial, (str, np.dtype, type))]
        working = [trial for trial in trials if not fails(lambda trial=trial: sample.call(**{known: trial}))]
        if working and all(raises_when_traced(sample, known, trial) for trial in working):
            roles[known] = "axis" if known in AXIS_NAMES else "shape"
    return roles


def public_functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or inspect.isclass(value) or inspect.ismodule(value) or not callable(value):
            continue
        yield name, value


class Writer:
    """Collects the entries of one table file and prints them."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.functions: dict[str, str] = {}
        self.classes: dict[str, tuple[str, ...]] = {}
        self.namespaces: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.unsampled: list[str] = []

    def text(self) -> str:
        lines = [
            f"# {self.title}",
            "# Generated by scripts/generate_knowledge.py: edit that, not this.",
            "",
            "[functions]",
        ]
        lines += [f'"{name}" = "{line}"' for name, line in self.functions.items()]
        for name, fields in sorted(self.classes.items()):
            lines += ["", f'[classes."{name}"]', "namedtuple = true"]
            lines += [f"order = [{', '.join(quoted(field) for field in fields)}]"]
            lines += [f"fields = {{ {', '.join(f'{field} = ' + quoted('array') for field in fields)} }}"]
        lines += ["", "[namespaces]"] + [f'"{name}" = {fact}' for name, fact in self.namespaces.items()]
        if self.constants:
            lines += ["", "[constants]"] + [f'"{name}" = "{kind}"' for name, kind in self.constants.items()]
        if self.aliases:
            lines += ["", "[aliases]"] + [f'"{name}" = "{target}"' for name, target in self.aliases.items()]
        return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return f'"{text}"'


def add_module(writer: Writer, public: str, module: ModuleType, skip: frozenset[str] = frozenset()) -> None:
    """The functions of one JAX module: signatures, results, static parameters and data-dependent shapes."""
    for name, function in public_functions(module):
        if name in skip:
            continue
        by_hand = BY_HAND.get(public, {}).get(name)
        if by_hand is not None:
            writer.functions[f"{public}.{name}"] = by_hand
            continue
        parameters = signature_parameters(function)
        if parameters is None:
            continue
        sample = find_sample(function, name, public, parameters)
        if sample is None:
            writer.unsampled.append(f"{public}.{name}")
        roles = static_roles(name, sample, parameters)
        flags = [] if name in NOT_PURE else ["pure"]
        returns = result_of(sample, writer.classes) if sample is not None else "unknown"
        if public == "jax.numpy" and name in SIZE_PARAMS:
            size = SIZE_NAMES.get(name, "size")
            if any(parameter.name == size for parameter in parameters):
                roles[size] = "size"
            flags.insert(0, f"data_dependent={SIZE_PARAMS[name]}")
            if name == "repeat":
                flags.insert(1, "data_dependent_on=repeats")
        for parameter in parameters:
            if parameter.name == "axis_name":
                roles["axis_name"] = "axis_name"
        flag_text = "".join(f"; {flag}" for flag in flags)
        writer.functions[f"{public}.{name}"] = (
            f"{written_parameters(parameters, roles)} -> {returns}{flag_text}".strip()
        )


# --- jax.numpy ---------------------------------------------------------------------------------------------------

NAMED_TUPLES = {
    "jax.numpy.linalg.QRResult": ("Q", "R"),
    "jax.numpy.linalg.SVDResult": ("U", "S", "Vh"),
}
JNP_DTYPES = {
    "bool_": "bool", "int4": "int", "int8": "int", "int16": "int", "int32": "int", "int64": "int", "int_": "int",
    "uint4": "int", "uint8": "int", "uint16": "int", "uint32": "int", "uint64": "int", "uint": "int",
    "float16": "float", "float32": "float", "float64": "float", "float_": "float", "bfloat16": "float",
    "float8_e4m3fn": "float", "float8_e5m2": "float", "single": "float", "double": "float",
    "complex64": "complex", "complex128": "complex", "complex_": "complex", "csingle": "complex", "cdouble": "complex",
    "float8_e4m3b11fnuz": "float", "float8_e4m3fnuz": "float", "float8_e5m2fnuz": "float", "float4_e2m1fn": "float",
    "int2": "int", "uint2": "int", "float8_e3m4": "float", "float8_e4m3": "float", "float8_e8m0fnu": "float",
}  # fmt: skip
JNP_ABSTRACT_DTYPES = (
    ["bool", "floating", "integer", "inexact", "number", "signedinteger", "unsignedinteger", "complexfloating", "generic", "character", "flexible", "object_"]
)
JNP_CONSTANTS = dict.fromkeys(["pi", "e", "inf", "nan", "euler_gamma", "newaxis", "index_exp", "s_", "mgrid", "ogrid", "c_", "r_"], "static")
TRANSFORMS_IN_NUMPY = frozenset({"vectorize", "fromfunction", "piecewise"})


def jax_numpy() -> Writer:
    writer = Writer("jax.numpy: arrays in, arrays out.")
    skip = TRANSFORMS_IN_NUMPY | frozenset(JNP_DTYPES) | frozenset(JNP_ABSTRACT_DTYPES) | {"dtype"}
    add_module(writer, "jax.numpy", jnp, skip)
    for part in ("linalg", "fft"):
        add_module(writer, f"jax.numpy.{part}", getattr(jnp, part))
    writer.classes |= NAMED_TUPLES
    for name, kind in JNP_DTYPES.items():
        writer.functions[f"jax.numpy.{name}"] = f"x -> {kind}; pure"
        writer.constants[f"jax.numpy.{name}"] = "dtype"
    writer.functions["jax.numpy.dtype"] = "obj -> dtype; pure"
    writer.constants |= {f"jax.numpy.{name}": "dtype" for name in JNP_ABSTRACT_DTYPES}
    writer.constants |= {f"jax.numpy.{name}": kind for name, kind in JNP_CONSTANTS.items() if hasattr(jnp, name)}
    writer.constants |= {f"jax.numpy.{name}": "unknown" for name in ("mgrid", "ogrid", "r_", "c_")}
    writer.namespaces = dict.fromkeys(("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft"), '{ returns = "array", pure = true }')
    writer.aliases = numpy_style_aliases()
    return writer


def numpy_style_aliases() -> dict[str, str]:
    """Names that older releases had, so that code for them is understood."""
    return {
        "jax.numpy.product": "jax.numpy.prod",
        "jax.numpy.cumproduct": "jax.numpy.cumprod",
        "jax.numpy.alltrue": "jax.numpy.all",
        "jax.numpy.sometrue": "jax.numpy.any",
        "jax.numpy.in1d": "jax.numpy.isin",
        "jax.numpy.row_stack": "jax.numpy.vstack",
        "jax.numpy.trapz": "jax.numpy.trapezoid",
        "jax.numpy.msort": "jax.numpy.sort",
    }


# --- jax.lax -----------------------------------------------------------------------------------------------------

LAX_TRANSFORMS = frozenset(
    ["scan", "map", "fori_loop", "while_loop", "cond", "switch", "platform_dependent", "associative_scan", "custom_root", "custom_linear_solve", "reduce", "reduce_window", "scatter_apply", "composite"]
)
LAX_LINALG_TUPLES = {
    "eigh": "tuple(array, array)", "eig": "unknown", "lu": "tuple(array, int, int)", "svd": "unknown", "qr": "unknown",
    "schur": "unknown", "hessenberg": "tuple(array, array)", "tridiagonal": "tuple(array, array, array, array)",
}  # fmt: skip


def jax_lax() -> Writer:
    writer = Writer("jax.lax: primitives and collectives. Control flow stands in jax.toml.")
    lax = jax.lax
    add_module(
        writer,
        "jax.lax",
        lax,
        LAX_TRANSFORMS | {"ConvGeneralDilatedDimensionNumbers", "PrecisionLike", "DotDimensionNumbers"},
    )
    for old in ("axis_size", "pvary"):
        writer.functions.setdefault(f"jax.lax.{old}", BY_HAND["jax.lax"][old])
    for name, function in public_functions(lax.linalg):
        parameters = signature_parameters(function)
        if parameters is not None:
            returns = LAX_LINALG_TUPLES.get(name, "array")
            writer.functions[f"jax.lax.linalg.{name}"] = f"{written_parameters(parameters, {})} -> {returns}; pure"
    writer.functions = dict(sorted(writer.functions.items()))
    writer.namespaces = {"jax.lax": '{ returns = "array", pure = true }', "jax.lax.linalg": "{ pure = true }"}
    for name in (
        "Precision",
        "GatherScatterMode",
        "RandomAlgorithm",
        "RoundingMethod",
        "FftType",
        "DotAlgorithmPreset",
        "AccuracyMode",
    ):
        writer.constants[f"jax.lax.{name}"] = "static"
    for name in (
        "ConvDimensionNumbers",
        "GatherDimensionNumbers",
        "ScatterDimensionNumbers",
        "RaggedDotDimensionNumbers",
        "DotAlgorithm",
        "Tolerance",
    ):
        writer.functions[f"jax.lax.{name}"] = "... -> static"
    return writer


# --- jax.nn ------------------------------------------------------------------------------------------------------

INITIALIZER_FACTORIES = (
    ["constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "orthogonal", "truncated_normal", "uniform", "variance_scaling", "xavier_normal", "xavier_uniform"]
)


def jax_nn() -> Writer:
    writer = Writer("jax.nn: activations and initializers.")
    add_module(writer, "jax.nn", jax.nn)
    writer.functions["jax.nn.normalize"] = "x, axis: axis, mean, variance, epsilon, where -> array; pure"
    initializers = jax.nn.initializers
    for name in INITIALIZER_FACTORIES:
        parameters = signature_parameters(getattr(initializers, name))
        assert parameters is not None
        signature = written_parameters(parameters, {})
        writer.functions[f"jax.nn.initializers.{name}"] = (
            f"{signature} -> instance(jax.nn.initializers.Initializer); pure"
        )
    for name in ("zeros", "ones"):
        writer.functions[f"jax.nn.initializers.{name}"] = "key: read, shape: shape, dtype, out_sharding -> array; pure"
        # Flax has them as factories.
        writer.functions[f"jax.nn.initializers.{name}_init"] = "-> instance(jax.nn.initializers.Initializer); pure"
    writer.namespaces = {
        "jax.nn": '{ returns = "array", pure = true }',
        "jax.nn.initializers": '{ returns = "unknown", pure = true }',
    }
    return writer


# --- jax.random --------------------------------------------------------------------------------------------------

RANDOM_RESULTS = {
    "bernoulli": "bool", "bits": "int", "categorical": "int", "randint": "int", "binomial": "float", "geometric": "int",
    "poisson": "int", "rademacher": "int", "multinomial": "float", "choice": "array", "ball": "float",
}  # fmt: skip
RANDOM_SHAPES = frozenset({"shape", "d", "n"})
INT_BY_VALUE = frozenset({"ball", "orthogonal"})
"""Samplers whose ``n`` or ``d`` is a dimension and not a parameter of the distribution."""


def jax_random() -> Writer:
    """permutation and choice take an array or a length; a traced *scalar* there is what must not be."""
    writer = Writer("jax.random: keys, and what happens to them.")
    for name, function in public_functions(jax.random):
        if name in BY_HAND["jax.random"]:
            writer.functions[f"jax.random.{name}"] = BY_HAND["jax.random"][name]
            continue
        parameters = signature_parameters(function)
        if parameters is None or not any(parameter.name == "key" for parameter in parameters):
            continue
        roles = {"key": "consume"}
        for parameter in parameters:
            if parameter.name == "shape" or (name in INT_BY_VALUE and parameter.name in ("d", "n", "m")):
                roles[parameter.name] = "shape"
            elif parameter.name == "axis":
                roles["axis"] = "axis"
        returns = RANDOM_RESULTS.get(name, "float")
        writer.functions[f"jax.random.{name}"] = f"{written_parameters(parameters, roles)} -> {returns}; pure"
    writer.functions["jax.random.shuffle"] = "key: consume, x, axis: axis -> like(x); pure"
    writer.functions["jax.random.threefry_2x32"] = "keypair, count -> int; pure"
    writer.namespaces = {"jax.random": "{}"}
    return writer


# --- jax.scipy ---------------------------------------------------------------------------------------------------

SCIPY_MODULES = ["cluster.vq", "fft", "integrate", "interpolate", "linalg", "ndimage", "signal", "special", "stats", "stats.bernoulli", "stats.beta", "stats.betabinom", "stats.binom", "stats.cauchy", "stats.chi2", "stats.dirichlet", "stats.expon", "stats.gamma", "stats.gennorm", "stats.geom", "stats.gumbel_l", "stats.gumbel_r", "stats.laplace", "stats.logistic", "stats.multinomial", "stats.multivariate_normal", "stats.nbinom", "stats.norm", "stats.pareto", "stats.poisson", "stats.t", "stats.truncnorm", "stats.uniform", "stats.vonmises", "stats.wrapcauchy"]
SCIPY_SHAPES = {
    "special.bernoulli": ("n",), "special.bessel_jn": ("v", "n_iter"), "special.sph_harm": ("n_max",),
    "special.multigammaln": ("d",), "special.sph_harm_y": ("n_max",), "linalg.block_diag": (), "special.lpmn": ("m", "n"),
    "special.lpmn_values": ("m", "n"), "linalg.hilbert": ("n",),
}  # fmt: skip
SCIPY_RESULTS = {
    "cluster.vq.vq": "tuple(int, array)", "linalg.eigh": "unknown", "linalg.lu": "unknown", "linalg.qr": "unknown",
    "linalg.svd": "unknown", "linalg.lu_factor": "tuple(array, int)", "linalg.cho_factor": "tuple(array, static)",
    "linalg.rsf2csf": "tuple(array, array)", "linalg.schur": "tuple(array, array)", "linalg.polar": "tuple(array, array)",
    "linalg.hessenberg": "unknown", "linalg.sqrtm": "array", "linalg.expm_frechet": "unknown", "linalg.polar_unitary": "array",
    "signal.csd": "tuple(array, array)", "signal.welch": "tuple(array, array)", "signal.stft": "tuple(array, array, array)",
    "signal.istft": "tuple(array, array)", "stats.mode": "unknown", "special.sph_harm": "array", "special.lpmn": "tuple(array, array)",
    "special.logsumexp": "array", "special.sici": "tuple(array, array)", "special.fresnel": "tuple(array, array)",
}  # fmt: skip


def jax_scipy() -> Writer:
    writer = Writer("jax.scipy: special functions, distributions, linear algebra, signals, optimisation.")
    for part in SCIPY_MODULES:
        module = importlib.import_module(f"jax.scipy.{part}")
        for name, function in public_functions(module):
            parameters = signature_parameters(function)
            if parameters is None:
                continue
            roles = {parameter.name: "axis" for parameter in parameters if parameter.name in ("axis", "axes")}
            roles |= dict.fromkeys(SCIPY_SHAPES.get(f"{part}.{name}", ()), "shape")
            returns = SCIPY_RESULTS.get(f"{part}.{name}", "array")
            writer.functions[f"jax.scipy.{part}.{name}"] = f"{written_parameters(parameters, roles)} -> {returns}; pure"
        writer.namespaces[f"jax.scipy.{part}"] = '{ returns = "array", pure = true }'
    writer.functions["jax.scipy.stats.gaussian_kde"] = "dataset, bw_method, weights -> unknown"
    writer.functions["jax.scipy.interpolate.RegularGridInterpolator"] = (
        "points, values, method, bounds_error, fill_value -> unknown"
    )
    writer.aliases = {
        "jax.scipy.spatial.transform": "jax.scipy.spatial",
        "jax.scipy.sparse.cg": "jax.scipy.sparse.linalg.cg",
    }
    writer.namespaces |= {
        "jax.scipy": "{ pure = true }",
        "jax.scipy.optimize": "{}",
        "jax.scipy.sparse": "{}",
        "jax.scipy.spatial": "{}",
    }
    return writer


# --- NumPy -------------------------------------------------------------------------------------------------------

NUMPY_SKIP = frozenset(["info", "show_config", "show_runtime", "test", "seterr", "seterrcall", "setbufsize", "add_newdoc"])
NUMPY_IO = frozenset(
    ["load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt", "fromfile", "fromregex", "memmap", "open_memmap"]
)
NUMPY_INERT = frozenset(["set_printoptions", "get_printoptions", "printoptions", "errstate", "geterr", "geterrcall", "getbufsize"])
NUMPY_SAMPLES: dict[str, dict[str, Any]] = {
    "reshape": {"a": VECTOR, "shape": 3},
    "copyto": {"dst": VECTOR.copy(), "src": VECTOR},
    "array2string": {"a": VECTOR},
    "linspace": {"start": 0.0, "stop": 1.0},
    "fromiter": {"iter": [1, 2], "dtype": np.int32},
    "isin": {"element": VECTOR, "test_elements": VECTOR},
    "fill_diagonal": {"a": MATRIX.copy(), "val": 1.0},
    "place": {"arr": VECTOR.copy(), "mask": VECTOR > 0, "vals": VECTOR},
    "put": {"a": VECTOR.copy(), "ind": INDICES, "v": VECTOR},
    "put_along_axis": {"arr": VECTOR.copy(), "indices": INDICES, "values": VECTOR, "axis": 0},
    "putmask": {"a": VECTOR.copy(), "mask": VECTOR > 0, "values": VECTOR},
    "apply_over_axes": {"func": np.sum, "a": MATRIX, "axes": [0]},
    "apply_along_axis": {"func1d": np.sum, "axis": 0, "arr": MATRIX},
    "piecewise": {"x": VECTOR, "condlist": [VECTOR > 0], "funclist": [1.0]},
    "broadcast_shapes": {"*args": ((3,), (1,))},
    "fromfunction": {"function": lambda i: i, "shape": (3,)},
    "busday_count": {"begindates": np.datetime64("2020-01-01"), "enddates": np.datetime64("2020-02-01")},
    "base_repr": {"number": 3},
    "binary_repr": {"num": 3},
    "in1d": {"ar1": VECTOR, "ar2": VECTOR},
    "einsum": {"*operands": ("ij,jk->ik", MATRIX, MATRIX)},
    "einsum_path": {"*operands": ("ij,jk->ik", MATRIX, MATRIX)},
    "diag_indices_from": {"arr": MATRIX},
    "tril_indices_from": {"arr": MATRIX},
    "triu_indices_from": {"arr": MATRIX},
    "cov": {"m": MATRIX},
    "result_type": {"*arrays_and_dtypes": (VECTOR, np.float32)},
    "concatenate": {"arrays": (VECTOR, VECTOR)},
    "where": {"condition": VECTOR > 0, "x": VECTOR, "y": VECTOR},
    "empty": {"shape": 3},
    "zeros": {"shape": 3},
    "array": {"object": VECTOR},
    "asarray": {"a": VECTOR},
    "can_cast": {"from_": np.int32, "to": np.float32},
    "promote_types": {"type1": np.int32, "type2": np.float32},
    "inner": {"a": VECTOR, "b": VECTOR},
    "vdot": {"a": VECTOR, "b": VECTOR},
    "dot": {"a": VECTOR, "b": VECTOR},
    "lexsort": {"keys": (VECTOR, VECTOR)},
    "bincount": {"x": INDICES},
    "ravel_multi_index": {"multi_index": (INDICES, INDICES), "dims": (3, 3)},
    "packbits": {"a": np.array([1, 2], np.uint8)},
    "unpackbits": {"a": np.array([1, 2], np.uint8)},
    "shares_memory": {"a": VECTOR, "b": VECTOR},
    "may_share_memory": {"a": VECTOR, "b": VECTOR},
    "min_scalar_type": {"a": VECTOR},
    "format_float_positional": {"x": np.float32(0.5)},
    "format_float_scientific": {"x": np.float32(0.5)},
}
NUMPY_SIGNATURES = {
    "arange": "start, stop, step, dtype, *, device, like",
    "array": "object, dtype, *, copy, order, subok, ndmin, like",
    "asarray": "a, dtype, order, *, device, copy, like",
    "asanyarray": "a, dtype, order, *, device, copy, like",
    "ascontiguousarray": "a, dtype, *, like",
    "asfortranarray": "a, dtype, *, like",
    "empty": "shape, dtype, order, *, device, like",
    "zeros": "shape, dtype, order, *, device, like",
    "concatenate": "arrays, axis, out, *, dtype, casting",
    "where": "condition, x, y",
    "inner": "a, b",
    "vdot": "a, b",
    "dot": "a, b, out",
    "bincount": "x, weights, minlength",
    "lexsort": "keys, axis",
    "can_cast": "from_, to, casting",
    "empty_like": "prototype, dtype, order, subok, shape, *, device",
    "result_type": "*arrays_and_dtypes",
    "promote_types": "type1, type2",
    "frombuffer": "buffer, dtype, count, offset, *, like",
    "fromiter": "iter, dtype, count, *, like",
    "fromstring": "string, dtype, count, *, sep, like",
    "min_scalar_type": "a",
    "ravel_multi_index": "multi_index, dims, mode, order",
    "unravel_index": "indices, shape, order",
    "packbits": "a, axis, bitorder",
    "unpackbits": "a, axis, count, bitorder",
    "putmask": "a, mask, values",
    "copyto": "dst, src, casting, where",
    "shares_memory": "a, b, max_work",
    "may_share_memory": "a, b, max_work",
    "from_dlpack": "x, *, device, copy",
    "datetime_data": "dtype",
    "datetime_as_string": "arr, unit, timezone, casting",
    "busday_count": "begindates, enddates, weekmask, holidays, busdaycal, out",
    "busday_offset": "dates, offsets, roll, weekmask, holidays, busdaycal, out",
    "is_busday": "dates, weekmask, holidays, busdaycal, out",
    "nested_iters": "op, axes, flags, op_flags, op_dtypes, order, casting, buffersize",
}
"""Parameters of NumPy's C functions, which Python cannot ask."""

NUMPY_HOST_BY_HAND = {
    # No probe can call these the way users do.
    "array": "converts", "asarray": "converts", "asanyarray": "converts", "ascontiguousarray": "converts",
    "from_dlpack": "converts", "frombuffer": "inert", "fromstring": "inert", "save": "converts", "savetxt": "converts",
    "fromfile": "inert", "load": "inert", "loadtxt": "inert", "genfromtxt": "inert", "vectorize": "inert",
}  # fmt: skip
NUMPY_UNPROBED = {
    # They dispatch to a method that raises something else: NotImplementedError or TypeError. ``take`` works with a mode.
    "take": "dispatches",
    "fill_diagonal": "converts",
    "put_along_axis": "converts",
    "putmask": "converts",
    # These swallow the conversion error and answer False.
    "array_equal": "",
    "array_equiv": "",
    "bmat": "",
    "busday_count": "",
    "is_busday": "",
}
NUMPY_RANDOM_SEEDS = ("seed", "set_state", "get_state")
GENERATOR_METHODS = [name for name in dir(np.random.Generator) if not name.startswith("_") and name != "bit_generator"]
RANDOM_STATE_METHODS = [name for name in dir(np.random.RandomState) if not name.startswith("_")]


def parameters_from_text(text: str) -> list[inspect.Parameter]:
    namespace: dict[str, Any] = {}
    optional = ", ".join(
        part if part.strip() == "*" or part.strip().startswith("*") or index == 0 else f"{part}=None"
        for index, part in enumerate(text.split(","))
    )
    exec(f"def function({optional}): ...", namespace)
    return list(inspect.signature(namespace["function"]).parameters.values())


def probe_host(sample: Sample) -> str:
    """How a host function behaves when its arrays, or the elements of its sequences, are tracers."""
    arrays = {
        name: value
        for name, value in sample.values.items()
        if isinstance(value, (np.ndarray, np.floating))
        or (isinstance(value, (tuple, list)) and value and isinstance(value[0], np.ndarray))
        or (name.startswith("*") and any(isinstance(item, np.ndarray) for item in value))
    }
    if not arrays:
        return probe_scalars(sample)
    first = next(iter(arrays))
    outcomes: list[str] = []

    def run(tracers: Any) -> None:
        result = sample.call(**{first: tracers})
        traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(result))
        outcomes.append("dispatches" if traced else "static")

    value = arrays[first]
    if isinstance(value, (np.ndarray, np.floating)):
        failure = fails(lambda: jax.eval_shape(run, value))
    else:
        only = {index: item for index, item in enumerate(value) if isinstance(item, np.ndarray)}
        mixed = lambda tracers: run(type(value)(tracers.get(index, item) for index, item in enumerate(value)))  # noqa: E731
        failure = fails(lambda: jax.eval_shape(mixed, only))
    if "TracerArrayConversionError" in failure or "TracerIntegerConversionError" in failure:
        return "converts"
    if "Tracer" in failure or "Concret" in failure or "Unhashable" in failure:
        return "converts"
    if failure:
        return f"? {failure[:90]}"
    return outcomes[0]


def probe_scalars(sample: Sample) -> str:
    """The same for functions that take lengths or numbers: ``static`` where no number is asked for at all."""
    for name, value in sample.values.items():
        numbers = value if isinstance(value, (tuple, list)) else [value]
        if numbers and all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
            failure = fails(
                lambda name=name, value=value: jax.eval_shape(lambda t: sample.call(**{name: t}) and None, value)
            )
            return "converts" if failure else "inert"
    return "static"


def twin_of(module: str, name: str) -> str:
    """``; twin=…`` where jax.numpy or jax.scipy has a function of the same name, else nothing."""
    target = {"numpy": jnp, "numpy.linalg": jnp.linalg, "numpy.fft": jnp.fft}.get(module)
    if target is None or name in NO_TWIN or not callable(getattr(target, name, None)):
        return ""
    return f"; twin=jax.{module}.{name}"


NO_TWIN = frozenset(
    ["save", "savez", "load", "fromfile", "copyto", "place", "put", "put_along_axis", "putmask", "fill_diagonal", "printoptions"]
)
"""Of the same name, but not the same: jax.numpy's give a new array where NumPy's write into one."""


def numpy_line(module: str, name: str, function: Any) -> str | None:
    """The fact's line of one NumPy function; None where nothing can be said."""
    text = NUMPY_SIGNATURES.get(name) if module == "numpy" else None
    parameters = parameters_from_text(text) if text else signature_parameters(function)
    if parameters is None:
        parameters = []
    if name in NUMPY_IO:
        host = NUMPY_HOST_BY_HAND.get(name, "converts" if name.startswith("save") else "inert")
        return f"{written_parameters(parameters, {})} -> host; host={host}; impure=io".strip()
    if name in NUMPY_INERT:
        return "... -> unknown; host=inert"
    if module == "numpy" and name in NUMPY_HOST_BY_HAND:
        host, returns = NUMPY_HOST_BY_HAND[name], "host"
    else:
        hand = NUMPY_SAMPLES.get(name)
        sample = (
            Sample(function, parameters, hand) if hand is not None else find_sample(function, name, module, parameters)
        )
        if sample is None and name in NUMPY_UNPROBED:
            sample = Sample(function, parameters, {})
        if sample is None:
            return None
        if name in NUMPY_UNPROBED:
            host = f"; host={NUMPY_UNPROBED[name]}" if NUMPY_UNPROBED[name] else ""
            return f"{written_parameters(parameters, {})} -> host{host}{twin_of(module, name)}"
        failure = fails(sample.call)
        if failure:
            print(f"  {module}.{name}: {failure[:100]}", file=sys.stderr)
            return None
        returns = {"none": "none", "dtype": "dtype"}.get(describe(attempt(sample.call), {}), "host")
        if name in (
            "shape",
            "ndim",
            "size",
            "issubdtype",
            "result_type",
            "can_cast",
            "promote_types",
            "isscalar",
            "iscomplexobj",
            "isrealobj",
            "iterable",
            "broadcast_shapes",
            "finfo",
            "iinfo",
            "isdtype",
            "dtype",
            "min_scalar_type",
            "mintypecode",
            "typename",
        ):
            returns = "dtype" if returns == "dtype" else "static"
        host = probe_host(sample)
        if host.startswith("?"):
            print(f"  {module}.{name}: {host}", file=sys.stderr)
            return None
    return f"{written_parameters(parameters, {})} -> {returns}; host={host}{twin_of(module, name)}; pure".strip()


def numpy_table() -> Writer:
    writer = Writer("NumPy, and what its functions do when they meet a tracer.")
    for module_name, module in (("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft)):
        for name, function in public_functions(module):
            if name in NUMPY_SKIP:
                continue
            line = numpy_line(module_name, name, function)
            if line is None:
                writer.unsampled.append(f"{module_name}.{name}")
            else:
                writer.functions[f"{module_name}.{name}"] = line
    for name in ("copyto", "place", "put", "put_along_axis", "putmask", "fill_diagonal"):
        key = f"numpy.{name}"
        if key in writer.functions:
            writer.functions[key] = writer.functions[key].replace("; pure", "")
    for name, kind in JNP_DTYPES.items():
        if hasattr(np, name):
            writer.functions[f"numpy.{name}"] = f"x -> host; host=converts; twin=jax.numpy.{name}; pure"
            writer.constants[f"numpy.{name}"] = "dtype"
    for name in JNP_ABSTRACT_DTYPES + [
        "str_",
        "bytes_",
        "void",
        "longdouble",
        "intp",
        "uintp",
        "intc",
        "longlong",
        "short",
        "byte",
        "ubyte",
        "half",
    ]:
        if hasattr(np, name):
            writer.constants[f"numpy.{name}"] = "dtype"
    for name in ("pi", "e", "inf", "nan", "euler_gamma", "newaxis", "NINF", "PZERO", "NZERO", "__version__"):
        writer.constants[f"numpy.{name}"] = "static"
    writer.functions["numpy.dtype"] = "dtype, align, copy -> dtype; host=static; pure"
    writer.functions["numpy.finfo"] = "dtype -> static; host=static; pure"
    writer.functions["numpy.iinfo"] = "type -> static; host=static; pure"
    writer.functions["numpy.vectorize"] = (
        "pyfunc: calls, otypes, doc, excluded, cache, signature -> unknown; host=inert"
    )
    writer.functions["numpy.errstate"] = "**kwargs -> unknown; host=inert"
    writer.functions["numpy.ndarray"] = "shape, dtype, buffer, offset, strides, order -> host"
    random_functions(writer)
    writer.namespaces = {
        "numpy": '{ returns = "host" }',
        "numpy.linalg": '{ returns = "host" }',
        "numpy.fft": '{ returns = "host" }',
        "numpy.random": '{ returns = "host", impure = "random" }',
        "numpy.testing": '{ returns = "none" }',
        "numpy.ma": "{}",
        "numpy.typing": '{ returns = "static" }',
        "numpy.lib": "{}",
        "numpy.polynomial": '{ returns = "host" }',
    }
    writer.constants |= {
        "numpy.typing.ArrayLike": "static",
        "numpy.typing.NDArray": "static",
        "numpy.typing.DTypeLike": "static",
    }
    writer.aliases = {
        "numpy.core": "numpy",
        "numpy.core.numeric": "numpy",
        "numpy._core": "numpy",
        "numpy.core.fromnumeric": "numpy",
        "numpy.product": "numpy.prod",
        "numpy.cumproduct": "numpy.cumprod",
        "numpy.alltrue": "numpy.all",
        "numpy.sometrue": "numpy.any",
        "numpy.trapz": "numpy.trapezoid",
        "numpy.row_stack": "numpy.vstack",
        "numpy.in1d": "numpy.isin",
        "numpy.random.mtrand": "numpy.random",
    }
    for alias in ("trapz", "row_stack", "in1d"):
        writer.functions.pop(f"numpy.{alias}", None)
    return writer


def random_functions(writer: Writer) -> None:
    """numpy.random is impure all through, except for what only builds a generator from a seed."""
    for name in RANDOM_STATE_METHODS:
        writer.functions[f"numpy.random.{name}"] = "... -> host; impure=random"
    for name in NUMPY_RANDOM_SEEDS:
        writer.functions[f"numpy.random.{name}"] = "... -> unknown; impure=random"
    writer.functions["numpy.random.default_rng"] = "seed -> instance(numpy.random.Generator); impure=random"
    writer.functions["numpy.random.RandomState"] = "seed -> instance(numpy.random.RandomState); impure=random"
    writer.functions["numpy.random.Generator"] = "bit_generator -> instance(numpy.random.Generator)"
    writer.functions["numpy.random.SeedSequence"] = "... -> unknown; impure=random"


def host_random_classes() -> str:
    """The classes of NumPy's generators, as text: every method draws from the host's state."""
    lines = []
    for name, methods in (("Generator", GENERATOR_METHODS), ("RandomState", RANDOM_STATE_METHODS)):
        lines += ["", f'[classes."numpy.random.{name}".methods]']
        lines += [f'{method} = "... -> host; impure=random"' for method in methods]
    return "\n".join(lines) + "\n" + NDARRAY


NDARRAY = """
[classes."numpy.ndarray".fields]
shape = "static"
ndim = "static"
dtype = "dtype"
size = "static"
nbytes = "static"
itemsize = "static"
strides = "static"
T = "host"
real = "host"
imag = "host"
flat = "host"

[classes."numpy.generic"]
base = ["numpy.ndarray"]
"""


# --- SciPy -------------------------------------------------------------------------------------------------------

SCIPY_TWINS = ["special", "linalg", "signal", "fft", "stats.norm", "stats.beta", "stats.gamma", "stats.t", "stats.uniform", "stats.expon", "stats.cauchy", "stats.laplace", "stats.logistic", "stats.poisson", "stats.bernoulli", "stats.chi2", "stats.pareto", "stats.multivariate_normal"]


def scipy_table() -> Writer:
    """SciPy's functions that have a namesake in jax.scipy; the others have their module's default."""
    writer = Writer("SciPy: it converts what it is given, so a tracer raises.")
    for part in SCIPY_TWINS:
        parent, _, distribution = (
            f"scipy.{part}".rpartition(".") if part.startswith("stats.") else (f"scipy.{part}", "", "")
        )
        original = importlib.import_module(parent)
        if distribution:
            original = getattr(original, distribution)
        namesakes = importlib.import_module(f"jax.scipy.{part}")
        for name, _function in public_functions(namesakes):
            if callable(getattr(original, name, None)):
                writer.functions[f"scipy.{part}.{name}"] = (
                    f"... -> host; host=converts; twin=jax.scipy.{part}.{name}; pure"
                )
    converting = '{ returns = "host", host = "converts", pure = true }'
    writer.namespaces = {
        "scipy": "{}",
        "scipy.optimize": "{}",
        "scipy.sparse": "{}",
        "scipy.io": '{ returns = "host", impure = "io" }',
    }
    writer.namespaces |= {
        f"scipy.{part}": converting for part in ("special", "linalg", "signal", "fft", "ndimage", "interpolate")
    }
    writer.namespaces |= {f"scipy.{part}": '{ returns = "host" }' for part in ("stats", "spatial", "integrate")}
    writer.constants = {f"scipy.constants.{name}": "static" for name in ("pi", "c", "h", "hbar", "k", "e", "g", "R")}
    return writer


# --- writing -----------------------------------------------------------------------------------------------------

MAKERS: dict[str, Callable[[], str]] = {
    "jax.numpy": lambda: report(jax_numpy()),
    "jax.lax": lambda: report(jax_lax()),
    "jax.nn": lambda: report(jax_nn()),
    "jax.random": lambda: report(jax_random()),
    "jax.scipy": lambda: report(jax_scipy()),
    "numpy": lambda: report(numpy_table()) + host_random_classes(),
    "scipy": lambda: report(scipy_table()),
}


def report(writer: Writer) -> str:
    if writer.unsampled:
        print(f"  no sample runs: {' '.join(writer.unsampled)}", file=sys.stderr)
    return writer.text()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(MAKERS)}; all when none is named")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a table would change")
    arguments = parser.parse_args()
    changed = False
    for name in arguments.tables or MAKERS:
        print(name, file=sys.stderr)
        text = MAKERS[name]()
        path = TABLES / f"{name}.toml"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        changed = True
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
    return int(arguments.check and changed)


if __name__ == "__main__":
    sys.exit(main())
