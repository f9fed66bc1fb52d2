"""Running functions of JAX and NumPy to find out what they do.

Vocabulary
----------
sample     arguments with which a function runs; chosen by parameter name, or by hand in ``SAMPLES``.
probe      one run of a function that answers one question: what does it return for integers, does it work on a
           tracer, does it raise when this parameter is traced?

Not probed: side effects, and what a function does with keys.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def words(text: str) -> list[str]:
    return text.split()


MATRIX = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]], np.float32)
VECTOR = np.array([0.5, 0.25, 0.75], np.float32)
INDICES = np.array([0, 1, 2], np.int32)

AXIS_NAMES = frozenset(
    words(
        """
    axis axes axis1 axis2 axisa axisb axisc source destination dimension dimensions dim offset perm
    permutation start_axis decimals broadcast_dimensions concat_axis split_axis scatter_dimension
    operand_batching_dims spatial_dims
    """
    )
)
SHAPE_NAMES = frozenset(
    words(
        """
    shape num N M n m k K reps pad_width newshape new_sizes sizes slice_sizes slice_size num_classes
    num_segments minlength s start stop step indices_or_sections dims ndmin kth num_keys strides
    window_dimensions window_strides padding_config padding base_dilation window_dilation start_index
    limit_index stride start_indices limit_indices size maxdims order num_samples period col_deriv
    nperseg noverlap nfft lhs_dilation rhs_dilation feature_group_count batch_group_count max_n n_max
    l_max order max_order exponent_bits mantissa_bits reduction_dimension total_repeat_length
    fft_lengths rank tensor_size block_size length
    """
    )
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

NOT_PURE = frozenset(
    words(
        """
    save savez savez_compressed set_printoptions printoptions load fromfile
    """
    )
)

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


NOT_DATA = frozenset(
    words(
        """
    indices ind obj condition mask pred which multi_index scatter_indices condlist dims q
    """
    )
)
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
    """The result descriptor of one value. Named tuples are recorded in ``classes`` by their qualified name."""
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


def takes(sample: Sample, name: str, value: Any) -> bool:
    return not fails(lambda: sample.call(**{name: value}))


def raises_when_traced(sample: Sample, name: str, value: Any) -> bool:
    """Whether the function refuses a tracer for that parameter, while it takes the value itself."""
    if fails(lambda: sample.call(**{name: value})):
        return False
    traced = fails(lambda: jax.eval_shape(lambda tracer: strip(sample.call(**{name: tracer})), value))
    return bool(traced)


def strip(result: Any) -> Any:
    """The arrays of a result, so that eval_shape does not fail for what is no array."""
    return [leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, (jax.Array, jax.core.Tracer))]


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
        working = [trial for trial in trials if takes(sample, known, trial)]
        if working and all(raises_when_traced(sample, known, trial) for trial in working):
            roles[known] = "axis" if known in AXIS_NAMES else "shape"
    return roles


def public_functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or inspect.isclass(value) or inspect.ismodule(value) or not callable(value):
            continue
        yield name, value
