"""What the tables claim of JAX and NumPy, checked on the installed ones. Needs JAX; skipped without it."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.lazily import Lazy

from flake8_jax.knowledge import load
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.semantics.trackers.key_streams import stream_of

jax, jnp, pallas = Lazy("jax"), Lazy("jax.numpy"), Lazy("jax.experimental.pallas")
np = pytest.importorskip("numpy")


def words(text: str) -> list[str]:
    return text.split()


WRITTEN_FOR = "0.10."
pytestmark = [
    pytest.mark.jax,
    pytest.mark.xdist_group("JAX in the process of the tests"),
    pytest.mark.usefixtures("quick_jax"),
    pytest.mark.skipif(
        not any(found.version.startswith(WRITTEN_FOR) for found in metadata.distributions(name="jax")),
        reason="the tables hold the signatures of another version of JAX",
    ),
]

GONE = frozenset(
    {
        # Described so that code for older versions of JAX is understood.
        "jax.experimental.maps.xmap",
        "jax.experimental.host_callback.call",
        "jax.experimental.host_callback.id_print",
        "jax.experimental.host_callback.id_tap",
        "jax.experimental.enable_x64",
        "jax.experimental.disable_x64",
        "jax.experimental.pallas.atomic_add",
        "jax.experimental.pallas.atomic_cas",
        "jax.experimental.pallas.atomic_max",
        "jax.experimental.pallas.load",
        "jax.experimental.pallas.store",
        "jax.experimental.pallas.swap",
        "jax.clear_backends",
        "jax.device_put_replicated",
        "jax.device_put_sharded",
        "jax.xla_computation",
        "jax.core.axis_frame",
        "jax.core.concrete_or_error",
        "jax.core.is_concrete",
        "jax.core.get_aval",
        "jax.dlpack.to_dlpack",
        "jax.nn.normalize",
        "jax.nn.initializers.ones_init",
        "jax.nn.initializers.zeros_init",
        "jax.random.shuffle",
        "jax.random.threefry_2x32",
        "jax.tree_util.build_tree",
        "jax.dtypes.itemsize_bits",
        "jax.dtypes.result_type",
        "jax.dtypes.scalar_type_of",
        "jax.config.config_with_absl",
        "jax.config.parse_flags_with_absl",
        "jax.config.read",
        "jax.lax.pvary",
        "jax.sharding.use_mesh",
        "jax.experimental.jax2tf.convert",
        "jax.lax.axis_size",
        "jax.profiler.TraceAnnotation",
        "jax.profiler.StepTraceAnnotation",
    }
)
OLDER_PARAMETERS = frozenset(
    [
        "abstracted_axes",
        "operand",
        "linear",
        "concrete",
        "_split_transpose",
        "check_rep",
        "auto",
        "a",
        "a_min",
        "a_max",
        "axis_resources",
        "wrap",
        "static_argnames",
        "global_arg_shapes",
        "**kwargs",
        "skip_format_check",
        "token",
        "reduce_axes",
        "x",
    ]
)


def attribute(qualified: str) -> Any:
    """The object of that name; AttributeError or ModuleNotFoundError where there is none."""
    module, _, rest = qualified.partition(".")
    found: Any = importlib.import_module(module)
    prefix = module
    for part in rest.split("."):
        prefix = f"{prefix}.{part}"
        if not hasattr(found, part) and inspect.ismodule(found):
            found = importlib.import_module(prefix)
        else:
            found = getattr(found, part)
    return found


def is_gone(qualified: str) -> bool:
    try:
        attribute(qualified)
    except ModuleNotFoundError as error:
        return (error.name or "").partition(".")[0] == "jax"
    except AttributeError:
        return True
    return False


def is_out_of_reach(qualified: str) -> bool:
    """A part of JAX that imports a library which is not installed: nothing can be asked of it here."""
    try:
        attribute(qualified)
    except ModuleNotFoundError as error:
        return (error.name or "").partition(".")[0] != "jax"
    except AttributeError:
        return False
    return False


def test_functions_and_transforms_exist() -> None:
    table = load().table("jax")
    missing = [name for name in (*table.functions, *table.transforms) if name not in GONE and is_gone(name)]
    dtypes = {name for name, kind in table.constants.items() if kind == "dtype"}
    assert [name for name in missing if name not in dtypes and not name.startswith("jax.nn.initializers.Init")] == []


def test_gone_names_are_gone_or_private() -> None:
    assert set(load().table("jax").functions) | set(load().table("jax").transforms) >= GONE


def described_parameters(fact: Any) -> list[str]:
    return [name for name in fact.params if name != "*"]


def real_parameters(function: Any) -> list[str] | None:
    """Names as the tables write them; None where Python does not know the signature."""
    if isinstance(function, jnp.ufunc):
        return None
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(parameter.kind, "") + parameter.name for parameter in parameters]


def test_signatures() -> None:
    """What is described exists, in that order; private parameters and those of older versions apart."""
    table = load().table("jax")
    wrong = []
    for name, fact in (*table.functions.items(), *table.transforms.items()):
        if name in GONE or is_gone(name) or is_out_of_reach(name) or not fact.params:
            continue
        found = attribute(name)
        if isinstance(found, type) and issubclass(found, (np.generic, jnp.dtype)):
            continue
        real = real_parameters(found)
        if real is None or real[-1:] == ["**kwargs"] or real[:1] == ["*args"]:
            continue
        described = [parameter for parameter in described_parameters(fact) if parameter not in OLDER_PARAMETERS]
        expected = [parameter for parameter in real if parameter in described]
        if described != expected:
            wrong.append((name, described, real))
    assert wrong == []


# --- transforms ----------------------------------------------------------------------------------------------------

Seen = dict[str, bool]
ONE = 1.0
ROW = np.ones(3, np.float32)


class Probe:
    """Notes how an operand was traced, over all its runs."""

    def __init__(self) -> None:
        self.ran = False
        self.abstract = False
        self.traced = False
        self.ambient = False

    def look(self, value: Any) -> None:
        leaf = jax.tree.leaves(value)[0]
        self.ran = True
        self.traced |= isinstance(leaf, jax.core.Tracer)
        self.ambient |= isinstance(jnp.zeros(3), jax.core.Tracer)
        try:
            bool(jnp.sum(leaf) > 0)
        except jax.errors.TracerBoolConversionError:
            self.abstract = True


def looking(probe: Probe, body: Callable[..., Any]) -> Callable[..., Any]:
    def operand(*args: Any) -> Any:
        probe.look(args)
        return body(*args)

    return operand


def mesh() -> Any:
    return jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))


RUNS: dict[str, Callable[[Callable[..., Any], Probe], Any]] = {
    "jax.jit": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.pmap": lambda f, p: f(looking(p, jnp.sin))(ROW[:1]),
    "jax.vmap": lambda f, p: f(looking(p, jnp.sin))(ROW),
    "jax.shard_map": lambda f, p: jax.jit(
        f(
            looking(p, jnp.sin),
            mesh=mesh(),
            in_specs=jax.sharding.PartitionSpec("i"),
            out_specs=jax.sharding.PartitionSpec("i"),
        )
    )(ROW),
    "jax.checkpoint": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.eval_shape": lambda f, p: f(looking(p, jnp.sin), ONE),
    "jax.make_jaxpr": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.closure_convert": lambda f, p: f(looking(p, jnp.sin), ONE),
    "jax.linear_transpose": lambda f, p: f(looking(p, lambda x: x * 2), ONE),
    "jax.grad": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.value_and_grad": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.jacfwd": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.jacrev": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.hessian": lambda f, p: f(looking(p, jnp.sin))(ONE),
    "jax.jvp": lambda f, p: f(looking(p, jnp.sin), (ONE,), (ONE,)),
    "jax.vjp": lambda f, p: f(looking(p, jnp.sin), ONE),
    "jax.linearize": lambda f, p: f(looking(p, jnp.sin), ONE),
    "jax.custom_vjp": lambda f, p: f(looking(p, jnp.sin)).__wrapped__(jnp.ones(())),
    "jax.named_call": lambda f, p: f(looking(p, jnp.sin))(jnp.ones(())),
    "jax.lax.scan": lambda f, p: f(looking(p, lambda c, x: (c, x)), ONE, ROW),
    "jax.lax.map": lambda f, p: f(looking(p, jnp.sin), ROW),
    "jax.lax.fori_loop": lambda f, p: f(0, 3, looking(p, lambda i, c: c), ONE),
    "jax.lax.while_loop": lambda f, p: f(lambda c: c < 0, looking(p, lambda c: c), ONE),
    "jax.lax.cond": lambda f, p: f(True, looking(p, jnp.sin), jnp.cos, ONE),
    "jax.lax.switch": lambda f, p: f(jnp.array(0), [looking(p, jnp.sin), jnp.cos], ONE),
    "jax.lax.associative_scan": lambda f, p: f(looking(p, jnp.add), jnp.ones(3)),
    "jax.lax.custom_root": lambda f, p: f(
        looking(p, lambda x: x - 1.0), ONE, lambda g, x: x, lambda g, y: y / g(jnp.ones(()))
    ),
    "jax.lax.custom_linear_solve": lambda f, p: f(
        looking(p, lambda x: 2.0 * x), jnp.ones(()), lambda g, b: b / 2.0, symmetric=True
    ),
    "jax.lax.reduce": lambda f, p: f(ROW, np.float32(0), looking(p, jnp.add), (0,)),
    "jax.lax.reduce_window": lambda f, p: f(ROW, np.float32(0), looking(p, jnp.multiply), (1,), (1,), "VALID"),
    "jax.lax.composite": lambda f, p: f(looking(p, jnp.sin), "my.sin")(ONE),
    "jax.numpy.fromfunction": lambda f, p: f(looking(p, lambda i: i), (3,)),
    "jax.numpy.piecewise": lambda f, p: f(ROW, [ROW > 0], [looking(p, jnp.sin), 0.0]),
    "jax.tree.map": lambda f, p: f(looking(p, jnp.sin), jnp.ones(())),
    "jax.tree.reduce": lambda f, p: f(looking(p, jnp.add), [jnp.ones(()), jnp.ones(())]),
    "jax.experimental.ode.odeint": lambda f, p: f(looking(p, lambda y, t: y), ONE, jnp.linspace(0.0, 1.0, 3)),
    "jax.experimental.jet.jet": lambda f, p: f(looking(p, jnp.sin), (ONE,), ((ONE,),)),
    "jax.scipy.optimize.minimize": lambda f, p: f(looking(p, lambda x: jnp.sum(x * x)), jnp.ones(2), method="BFGS"),
    "jax.scipy.sparse.linalg.cg": lambda f, p: f(looking(p, lambda x: 2.0 * x), jnp.ones(2)),
    "jax.scipy.sparse.linalg.bicgstab": lambda f, p: f(looking(p, lambda x: 2.0 * x), jnp.ones(2)),
    "jax.scipy.sparse.linalg.gmres": lambda f, p: f(looking(p, lambda x: 2.0 * x), jnp.ones(2)),
    "jax.custom_derivatives.linear_call": lambda f, p: f(looking(p, lambda r, x: x), lambda r, x: x, (), jnp.ones(())),
    "jax.fwd_and_bwd": lambda f, p: f(looking(p, jnp.sin), argnums=0)[0](jnp.ones(())),
    "jax.numpy.vectorize": lambda f, p: f(looking(p, jnp.sin))(jnp.ones(())),
}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_transform_traces_as_described(name: str) -> None:
    fact = load().transform(name)
    assert fact is not None
    probe = Probe()
    RUNS[name](attribute(name), probe)
    assert probe.ran
    assert probe.abstract == (fact.tracing == "abstract")
    assert probe.traced == (fact.tracing != "none")
    assert probe.ambient == fact.omnistaging


def test_checkify_stages_what_is_computed_and_not_the_arguments() -> None:
    probe = Probe()
    attribute("jax.experimental.checkify.checkify")(looking(probe, jnp.sin))(ONE)
    assert (probe.traced, probe.ambient) == (False, True)


def test_pallas_call_stages_its_kernel() -> None:
    probe = Probe()

    def kernel(x_ref: Any, out_ref: Any) -> None:
        out_ref[...] = x_ref[...]
        probe.look(x_ref[...])

    pallas.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(ROW)
    assert probe.abstract and probe.ambient


def test_none_in_axes_stays_concrete() -> None:
    """``maps_axes``: an argument that vmap does not map keeps its value."""
    kinds = []
    jax.vmap(lambda x, y: kinds.append(isinstance(y, jax.core.Tracer)) or x, in_axes=(0, None))(ROW, 1.0)
    assert kinds == [False]


# --- PRNG keys -------------------------------------------------------------------------------------------------------

RANDOM_ARGUMENTS: dict[str, dict[str, Any]] = {
    "a": {"a": 2.0}, "b": {"b": 2.0}, "alpha": {"alpha": np.ones(3, np.float32)}, "df": {"df": 2.0},
    "dfnum": {"dfnum": 2.0}, "dfden": {"dfden": 2.0}, "p": {"p": 0.5}, "n": {"n": 3}, "d": {"d": 3},
    "loc": {"loc": 0.0}, "scale": {"scale": 1.0}, "concentration": {"concentration": 1.0},
    "logits": {"logits": np.ones(3, np.float32)}, "mean": {"mean": np.zeros(2, np.float32)},
    "cov": {"cov": np.eye(2, dtype=np.float32)}, "lam": {"lam": 1.0}, "x": {"x": np.arange(5)}, "num": {"num": 2},
    "shape": {"shape": (2,)}, "minval": {"minval": 0}, "maxval": {"maxval": 9}, "data": {"data": 1},
    "left": {"left": 0.0}, "mode": {"mode": 0.5}, "right": {"right": 1.0}, "lower": {"lower": -1.0},
    "upper": {"upper": 1.0},
}  # fmt: skip
SPECIAL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "choice": {"a": np.arange(5)},
    "wald": {"mean": 1.0},
    "multinomial": {"n": 3.0, "p": np.ones(3, np.float32) / 3},
    "ball": {"d": 3},
    "randint": {"shape": (2,), "minval": 0, "maxval": 9},
    "generalized_normal": {"p": 1.0},
    "geometric": {"p": 0.5},
    "binomial": {"n": 3.0, "p": 0.5},
}


def random_functions() -> list[str]:
    return sorted(
        name
        for name, fact in load().table("jax").functions.items()
        if name.startswith("jax.random.") and name not in GONE and fact.key is not None
    )


def random_call(name: str) -> Callable[[Any], Any]:
    function = attribute(name)
    short = name.rpartition(".")[2]
    arguments = dict(SPECIAL_ARGUMENTS.get(short, {}))
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.default is parameter.empty and parameter.name not in arguments:
            arguments.update(RANDOM_ARGUMENTS[parameter.name])
    return lambda key: function(key, **arguments)


DTYPE_CLASSES = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


@pytest.mark.parametrize("name", random_functions())
def test_key_effects_and_dtype_class(name: str) -> None:
    """With JAX's own checker: drawing twice from one key raises for consumers, and for nobody else."""
    fact = load().function(name)
    assert fact is not None
    call = random_call(name)
    key = jax.random.key(0)
    with jax.debug_key_reuse(True):
        result = call(key)
        if fact.returns in ("bool", "int", "float") and fact.key_effect == "consume":
            assert DTYPE_CLASSES[result.dtype.kind] == fact.returns
        if fact.key_effect in ("consume", "split"):
            with pytest.raises(jax.errors.KeyReuseError):
                call(key)
        else:
            call(key)


def test_results_of_key_functions() -> None:
    key = jax.random.key(0)
    for name in ("jax.random.split", "jax.random.fold_in", "jax.random.clone"):
        fact = load().function(name)
        assert fact is not None
        result = random_call(name)(key)
        assert jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key)
        assert (fact.returns == "keys") == (result.ndim == 1)


SAMPLERS = ("uniform", "normal", "bernoulli", "randint", "choice", "permutation")


def test_streams_of_samplers() -> None:
    """Two samplers with one key repeat each other exactly where they read the same random bits."""
    n, key = 3000, jax.random.key(3)
    arguments = {"bernoulli": (0.5, (n,)), "randint": ((n,), 0, 999), "choice": (999, (n,)), "permutation": (n,)}

    def ranks(name: str) -> Any:
        given = arguments.get(name, ((n,),))
        drawn = np.asarray(getattr(jax.random, name)(key, *given)).astype(float)
        return np.argsort(np.argsort(drawn, kind="stable"))

    with jax.threefry_partitionable(True):
        drawn = {name: ranks(name) for name in SAMPLERS}
    for a, b in itertools.combinations(SAMPLERS, 2):
        alike = abs(np.corrcoef(drawn[a], drawn[b])[0, 1]) > 0.2
        assert alike == (stream_of(f"jax.random.{a}", {}) == stream_of(f"jax.random.{b}", {})), (a, b)


# --- what must be static -----------------------------------------------------------------------------------------


SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def generator() -> Iterator[ModuleType]:
    """scripts/generate_knowledge.py, which imports its neighbours by plain names."""
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module("generate_knowledge")
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def probes(generator: ModuleType) -> ModuleType:
    return importlib.import_module("knowledge_probes")


@pytest.mark.parametrize("part", ["jax.random", "jax.nn", "jax.scipy", "numpy", "scipy"])
def test_generated_tables_are_up_to_date(generator: ModuleType, part: str) -> None:
    """NumPy's table is all probes: this runs every NumPy function on a tracer again."""
    if part == "numpy" and np.__version__.split(".")[:2] != ["2", "4"]:
        pytest.skip("the table holds the signatures of another version of NumPy")
    pytest.importorskip("scipy")
    written = (generator.TABLES / f"{part}.toml").read_text(encoding="utf-8")
    assert generator.MAKERS[part]() == written


# The generator probes every function, which takes minutes; these are the ones that people call.
OFTEN_CALLED = words(
    """
    numpy.arange numpy.argmax numpy.array_split numpy.broadcast_to numpy.concatenate numpy.cumsum numpy.diag
    numpy.eye numpy.expand_dims numpy.flip numpy.full numpy.full_like numpy.linspace numpy.max numpy.mean
    numpy.moveaxis numpy.ones numpy.pad numpy.prod numpy.repeat numpy.reshape numpy.roll numpy.sort numpy.split
    numpy.squeeze numpy.stack numpy.std numpy.sum numpy.swapaxes numpy.take numpy.tile numpy.transpose numpy.tri
    numpy.tril numpy.zeros numpy.zeros_like numpy.linalg.norm numpy.fft.fft numpy.fft.fftfreq lax.broadcast
    lax.broadcasted_iota lax.concatenate lax.dynamic_slice lax.dynamic_slice_in_dim lax.iota lax.reshape
    lax.slice lax.slice_in_dim lax.top_k lax.transpose nn.one_hot nn.softmax
    """
)


def probed(probes: ModuleType, name: str) -> Any:
    """A sample of the generator for that function, or None."""
    module, _, short = name.rpartition(".")
    function = attribute(name)
    parameters = probes.signature_parameters(function)
    return probes.find_sample(function, short, module, parameters) if parameters else None


@pytest.mark.parametrize("name", [f"jax.{name}" for name in OFTEN_CALLED])
def test_static_parameters_refuse_tracers(probes: ModuleType, name: str) -> None:
    fact = load().function(name)
    assert fact is not None
    sample = probed(probes, name)
    assert sample is not None
    assert fact.shape_params or fact.axis_params
    trials = [0, 1, 2, 3, (0,), (1,), (3,)]
    for parameter in (*fact.shape_params, *fact.axis_params):
        given = sample.values.get(parameter)
        usable = [given] if given is not None and not isinstance(given, str) else trials
        usable = [trial for trial in usable if probes.takes(sample, parameter, trial)]
        for trial in usable:
            assert probes.raises_when_traced(sample, parameter, trial), (parameter, trial)


DATA_DEPENDENT: dict[str, Callable[[Any], Any]] = {
    "jax.numpy.nonzero": lambda x: jnp.nonzero(x),
    "jax.numpy.argwhere": lambda x: jnp.argwhere(x),
    "jax.numpy.flatnonzero": lambda x: jnp.flatnonzero(x),
    "jax.numpy.unique": lambda x: jnp.unique(x),
    "jax.numpy.unique_all": lambda x: jnp.unique_all(x),
    "jax.numpy.unique_counts": lambda x: jnp.unique_counts(x),
    "jax.numpy.unique_inverse": lambda x: jnp.unique_inverse(x),
    "jax.numpy.unique_values": lambda x: jnp.unique_values(x),
    "jax.numpy.union1d": lambda x: jnp.union1d(x, x),
    "jax.numpy.intersect1d": lambda x: jnp.intersect1d(x, x),
    "jax.numpy.setdiff1d": lambda x: jnp.setdiff1d(x, x),
    "jax.numpy.setxor1d": lambda x: jnp.setxor1d(x, x),
    "jax.numpy.extract": lambda x: jnp.extract(x > 0, x),
    "jax.numpy.compress": lambda x: jnp.compress(x > 0, x),
    "jax.numpy.where": lambda x: jnp.where(x > 0),
    "jax.numpy.repeat": lambda x: jnp.repeat(jnp.ones(3), x),
    "jax.numpy.bincount": lambda x: jnp.bincount(x),
    "jax.ops.segment_sum": lambda x: jax.ops.segment_sum(x, x),
    "jax.ops.segment_max": lambda x: jax.ops.segment_max(x, x),
    "jax.ops.segment_min": lambda x: jax.ops.segment_min(x, x),
    "jax.ops.segment_prod": lambda x: jax.ops.segment_prod(x, x),
}


def test_every_data_dependent_function_is_checked() -> None:
    described = {name for name, fact in load().table("jax").functions.items() if fact.data_dependent}
    assert described == set(DATA_DEPENDENT)


@pytest.mark.parametrize("name", sorted(DATA_DEPENDENT))
def test_data_dependent_functions_raise_under_jit(name: str) -> None:
    with pytest.raises((jax.errors.ConcretizationTypeError, jax.errors.TracerBoolConversionError, TypeError)):
        jax.jit(DATA_DEPENDENT[name])(jnp.array([1, 0, 2]))


@pytest.mark.parametrize("name", sorted(DATA_DEPENDENT))
def test_data_dependent_functions_have_a_size(name: str) -> None:
    fact = load().function(name)
    assert fact is not None and fact.size_param is not None
    assert fact.size_param in inspect.signature(attribute(name)).parameters


# --- arrays --------------------------------------------------------------------------------------------------------


def array_facts() -> Any:
    fact = load().class_("jax.Array")
    assert fact is not None
    return fact


def test_array_attributes_exist() -> None:
    array = jnp.ones((3, 3))
    missing = [name for name in (*array_facts().fields, *array_facts().methods) if not hasattr(array, name)]
    assert missing == []


NOT_ON_TRACERS = frozenset(
    [
        "committed",
        "format",
        "device",
        "global_shards",
        "addressable_shards",
        "is_fully_addressable",
        "is_fully_replicated",
        "sharding",
    ]
)


@pytest.mark.parametrize("field", sorted(name for name, kind in array_facts().fields.items() if kind == "static"))
def test_static_array_attributes(field: str) -> None:
    if field in NOT_ON_TRACERS:
        pytest.skip("tracers lack it")
    seen = []

    def function(x: Any) -> Any:
        seen.append(isinstance(getattr(x, field), jax.core.Tracer))
        return x

    jax.jit(function)(jnp.ones((3, 3)))
    assert seen == [False]


@pytest.mark.parametrize("method", ["item", "tolist", "tobytes"])
def test_methods_that_convert_raise_on_tracers(method: str) -> None:
    assert array_facts().methods[method].host == "converts"
    with pytest.raises((jax.errors.ConcretizationTypeError, AttributeError)):
        jax.jit(lambda x: getattr(x, method)())(jnp.ones(()))


def array_methods() -> list[str]:
    return sorted(
        name for name, fact in array_facts().methods.items() if fact.params and not name.startswith("__") and fact.pure
    )


@pytest.mark.parametrize("method", array_methods())
def test_signatures_of_array_methods(method: str) -> None:
    fact: FunctionFact = array_facts().methods[method]
    real = [name.removeprefix("*") for name in real_parameters(getattr(jnp.ones(3), method)) or []]
    described = [name.lstrip("*") for name in described_parameters(fact)]
    assert described == [name for name in real if name in described]


AT_METHODS = ("set", "add", "subtract", "multiply", "divide", "power", "min", "max", "get", "apply")


@pytest.mark.parametrize("method", AT_METHODS)
def test_at_methods(method: str) -> None:
    fact = load().method("jax.Array.at", method)
    assert fact is not None
    real = real_parameters(getattr(jnp.ones(3).at[0], method)) or []
    described = described_parameters(fact)
    assert [name for name in described if name in real][: len(real)] == [name for name in real if name in described]


# --- the host's mathematics --------------------------------------------------------------------------------------


def math_functions() -> list[str]:
    return sorted(
        name
        for name, fact in load().table("python").functions.items()
        if name.startswith("math.") and fact.host == "converts" and hasattr(math, name.partition(".")[2])
    )


@pytest.mark.parametrize("name", math_functions())
def test_math_raises_on_tracers(name: str) -> None:
    function = getattr(math, name.partition(".")[2])
    fact = load().function(name)
    assert fact is not None
    arity = max(1, sum(not parameter.startswith("*") for parameter in fact.params[:2]))

    def traced(x: Any) -> Any:
        arguments = [[x]] if fact.params[0] == "seq" else [[x], [x]] if name == "math.dist" else [x] * arity
        return function(*arguments) or x

    with pytest.raises(TypeError):
        jax.jit(traced)(
            jnp.ones((), int if name.endswith(("comb", "perm", "gcd", "lcm", "isqrt", "factorial")) else float)
        )


def test_math_prod_works_on_tracers() -> None:
    fact = load().function("math.prod")
    assert fact is not None and fact.host == "dispatches"
    jax.jit(lambda x: math.prod([x, x]))(jnp.ones(()))


# --- the axes of results ----------------------------------------------------------------------------------------

RANKED = [
    name
    for name, fact in load().table("jax").functions.items()
    if fact.rank and (name.startswith("jax.numpy.") or name in ("jax.lax.max", "jax.lax.min"))
]
"""Functions whose facts say which axes the result has."""
FURTHER_ARGUMENTS: dict[str, tuple[object, ...]] = {
    "astype": ("float32",),
    "clip": (0, 1),
    "roll": (1,),
    "vdot": (np.ones((2, 3)),),
    "jax.lax.max": (np.ones((2, 3)),),
    "jax.lax.min": (np.ones((2, 3)),),
}


@pytest.mark.parametrize("name", RANKED)
def test_ranks(name: str) -> None:
    fact = load().function(name)
    assert fact is not None
    short = name.rpartition(".")[2]
    x = jnp.ones((2, 3), int if short == "invert" else float)
    further = FURTHER_ARGUMENTS.get(name, FURTHER_ARGUMENTS.get(short, ()) if name.startswith("jax.numpy.") else ())
    result = attribute(name)(x, *further)
    assert result.ndim == {"number": 0, "flat": 1}.get(fact.rank, 2)
    if fact.rank in ("same", "flat") and "axis" in fact.params:
        assert attribute(name)(x, *further, axis=0).ndim == 2
