"""The tables of jax.numpy, jax.lax, jax.nn, jax.random and jax.scipy."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
from knowledge_probes import (
    NOT_PURE,
    SIZE_NAMES,
    SIZE_PARAMS,
    find_sample,
    public_functions,
    result_of,
    signature_parameters,
    static_roles,
    words,
    written_parameters,
)
from knowledge_writer import Writer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


BY_HAND: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("knowledge_by_hand.toml").read_text(encoding="utf-8")
)
"""By module and function: facts that win over what probes find."""


RANKS = {
    **dict.fromkeys(words("""
    all amax amin any argmax argmin logsumexp max mean median min nanmax nanmean nanmin nansum norm prod std
    sum var vdot
    """), "number"),
    **dict.fromkeys(words("""
    abs argsort astype ceil clip cos cumprod cumsum exp expm1 flip floor invert isfinite isinf isnan log
    log1p log_softmax logical_not negative ones_like relu rint roll round sigmoid sign sin softmax sort sqrt
    square stop_gradient tanh zeros_like
    """), "same"),
}  # fmt: skip
"""What is known of the axes of a result, by the last part of a name."""
IDLE = frozenset(words("array asarray zeros_like ones_like full_like empty_like from_dlpack dtype"))
"""Functions that let the device compute nothing, by the last part of a name."""


def with_judgement(writer: Writer) -> Writer:
    """The table, whose functions say so."""
    for name, line in writer.functions.items():
        short = name.rpartition(".")[2]
        idle = "; idle" if short in IDLE else ""
        rank = f"; rank={RANKS[short]}" if short in RANKS else ""
        writer.functions[name] = line + idle + rank
    return writer


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
JNP_ABSTRACT_DTYPES = words(
    """
    bool floating integer inexact number signedinteger unsignedinteger complexfloating generic character
    flexible object_
    """
)
JNP_CONSTANTS = dict.fromkeys(
    words(
        """
    pi e inf nan euler_gamma newaxis index_exp s_ mgrid ogrid c_ r_
    """
    ),
    "static",
)
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
    writer.namespaces = dict.fromkeys(
        ("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft"), '{ returns = "array", pure = true }'
    )
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
    words(
        """
    scan map fori_loop while_loop cond switch platform_dependent associative_scan custom_root
    custom_linear_solve reduce reduce_window scatter_apply composite
    """
    )
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

INITIALIZER_FACTORIES = words(
    """
    constant delta_orthogonal glorot_normal glorot_uniform he_normal he_uniform kaiming_normal
    kaiming_uniform lecun_normal lecun_uniform normal orthogonal truncated_normal uniform
    variance_scaling xavier_normal xavier_uniform
    """
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
        made = "ConstantInitializer" if name == "constant" else "Initializer"
        writer.functions[f"jax.nn.initializers.{name}"] = f"{signature} -> instance(jax.nn.initializers.{made}); pure"
    for name in ("zeros", "ones"):
        writer.functions[f"jax.nn.initializers.{name}"] = "key: read, shape: shape, dtype, out_sharding -> array; pure"
        # Flax has them as factories.
        writer.functions[f"jax.nn.initializers.{name}_init"] = (
            "-> instance(jax.nn.initializers.ConstantInitializer); pure"
        )
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

SCIPY_MODULES = words(
    """
    cluster.vq fft integrate interpolate linalg ndimage signal special stats stats.bernoulli stats.beta
    stats.betabinom stats.binom stats.cauchy stats.chi2 stats.dirichlet stats.expon stats.gamma
    stats.gennorm stats.geom stats.gumbel_l stats.gumbel_r stats.laplace stats.logistic
    stats.multinomial stats.multivariate_normal stats.nbinom stats.norm stats.pareto stats.poisson
    stats.t stats.truncnorm stats.uniform stats.vonmises stats.wrapcauchy
    """
)
SCIPY_SHAPES = {
    "special.bernoulli": ("n",),
    "special.bessel_jn": ("v", "n_iter"),
    "special.lpmn": ("m", "n"),
    "special.lpmn_values": ("m", "n"),
    "special.multigammaln": ("d",),
    "special.sph_harm": ("n_max",),
    "special.sph_harm_y": ("n_max",),
    "linalg.hilbert": ("n",),
}
SCIPY_RESULTS = {
    "cluster.vq.vq": "tuple(int, array)",
    "linalg.cho_factor": "tuple(array, static)",
    "linalg.eigh": "unknown",
    "linalg.eigh_tridiagonal": "unknown",
    "linalg.expm_frechet": "unknown",
    "linalg.hessenberg": "unknown",
    "linalg.lu": "unknown",
    "linalg.lu_factor": "tuple(array, int)",
    "linalg.polar": "tuple(array, array)",
    "linalg.qr": "unknown",
    "linalg.qr_multiply": "unknown",
    "linalg.rsf2csf": "tuple(array, array)",
    "linalg.schur": "tuple(array, array)",
    "linalg.svd": "unknown",
    "signal.csd": "tuple(array, array)",
    "signal.istft": "tuple(array, array)",
    "signal.stft": "tuple(array, array, array)",
    "signal.welch": "tuple(array, array)",
    "special.fresnel": "tuple(array, array)",
    "special.logsumexp": "unless(return_sign, array)",
    "special.lpmn": "tuple(array, array)",
    "special.sici": "tuple(array, array)",
    "stats.mode": "unknown",
}


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
