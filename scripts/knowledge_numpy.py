"""The tables of NumPy and SciPy: what their functions do when they meet a tracer."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from knowledge_jax import JNP_ABSTRACT_DTYPES, JNP_DTYPES
from knowledge_probes import (
    INDICES,
    MATRIX,
    VECTOR,
    Sample,
    attempt,
    describe,
    fails,
    find_sample,
    public_functions,
    signature_parameters,
    words,
    written_parameters,
)
from knowledge_writer import Writer

# --- NumPy -------------------------------------------------------------------------------------------------------

NUMPY_SKIP = frozenset(
    words(
        """
    info show_config show_runtime test seterr seterrcall setbufsize add_newdoc
    """
    )
)
NUMPY_IO = frozenset(
    words(
        """
    load save savez savez_compressed loadtxt savetxt genfromtxt fromfile fromregex memmap open_memmap
    """
    )
)
NUMPY_INERT = frozenset(
    words(
        """
    set_printoptions get_printoptions printoptions errstate geterr geterrcall getbufsize
    """
    )
)
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
NUMPY_PIECES = frozenset({"array_split", "dsplit", "hsplit", "split", "vsplit"})
"""They give a list, whose elements may be assigned to."""
NUMPY_UNPROBED = {
    # They dispatch to a method that raises NotImplementedError or TypeError. ``take`` works with a mode.
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
NUMPY_ONLY_DTYPES = words("str_ bytes_ void longdouble intp uintp intc longlong short byte ubyte half")
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


def equivalent_of(module: str, name: str) -> str:
    """``; equivalent=…`` where jax.numpy or jax.scipy has a function of the same name, else nothing."""
    target = {"numpy": jnp, "numpy.linalg": jnp.linalg, "numpy.fft": jnp.fft}.get(module)
    if target is None or name in NO_EQUIVALENT or not callable(getattr(target, name, None)):
        return ""
    return f"; equivalent=jax.{module}.{name}"


NO_EQUIVALENT = frozenset(
    words(
        """
    save savez load fromfile copyto place put put_along_axis putmask fill_diagonal printoptions
    """
    )
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
            return f"{written_parameters(parameters, {})} -> host{host}{equivalent_of(module, name)}"
        failure = fails(sample.call)
        if failure:
            print(f"  {module}.{name}: {failure[:100]}", file=sys.stderr)
            return None
        returns = {"none": "none", "dtype": "dtype"}.get(describe(attempt(sample.call), {}), "host")
        if module == "numpy" and name in NUMPY_PIECES:
            returns = "list(array)"
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
            returns = "dtype" if returns == "dtype" else "dtype_test" if name == "issubdtype" else "static"
        host = probe_host(sample)
        if host.startswith("?"):
            print(f"  {module}.{name}: {host}", file=sys.stderr)
            return None
    return f"{written_parameters(parameters, {})} -> {returns}; host={host}{equivalent_of(module, name)}; pure".strip()


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
    for name in JNP_DTYPES:
        if hasattr(np, name):
            writer.functions[f"numpy.{name}"] = f"x -> host; host=converts; equivalent=jax.numpy.{name}; pure"
            writer.constants[f"numpy.{name}"] = "dtype"
    for name in (*JNP_ABSTRACT_DTYPES, *NUMPY_ONLY_DTYPES):
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

SCIPY_EQUIVALENTS = words(
    """
    special linalg signal fft stats.norm stats.beta stats.gamma stats.t stats.uniform stats.expon
    stats.cauchy stats.laplace stats.logistic stats.poisson stats.bernoulli stats.chi2 stats.pareto
    stats.multivariate_normal
    """
)


def scipy_table() -> Writer:
    """SciPy's functions that have a namesake in jax.scipy; the others have their module's default."""
    writer = Writer("SciPy: it converts what it is given, so a tracer raises.")
    for part in SCIPY_EQUIVALENTS:
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
                    f"... -> host; host=converts; equivalent=jax.scipy.{part}.{name}; pure"
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
