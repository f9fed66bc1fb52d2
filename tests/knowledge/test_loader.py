"""Look-ups by qualified name, and the notation of the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_jax.knowledge import Knowledge, KnowledgeError, load
from flake8_jax.knowledge.loader import _read_table
from flake8_jax.knowledge.model import ClassFact, FunctionFact, NamespaceFact, TransformFact
from flake8_jax.knowledge.notation import NotationError, parse_function

TABLES = Path(__file__).resolve().parents[2] / "flake8_jax" / "knowledge"


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("jax.jit", "jax.jit"),
        ("jax.experimental.pjit.pjit", "jax.jit"),
        ("jax.lax.scan", "jax.lax.scan"),
        ("jax._src.numpy.lax_numpy.sum", "jax.numpy.sum"),
        ("jax._src.lax.control_flow.loops.scan", "jax.lax.scan"),
        ("jax._src.api.jit", "jax.jit"),
        ("jax.tree_util.tree_map", "jax.tree.map"),
        ("jax.tree_map", "jax.tree.map"),
        ("jax._src.tree_util.tree_map", "jax.tree.map"),
        ("jax.remat", "jax.checkpoint"),
        ("jax.numpy.ndarray", "jax.Array"),
        ("jax.numpy.ndarray.sum", "jax.Array.sum"),
        ("jax.config.config.update", "jax.config.update"),
        ("flax.linen.module.Module", "flax.linen.Module"),
        ("flax.linen.relu", "jax.nn.relu"),
        ("flax.linen.initializers.lecun_normal", "jax.nn.initializers.lecun_normal"),
        ("haiku._src.module.Module", "haiku.Module"),
        ("optax._src.alias.adam", "optax.adam"),
        ("optax.losses.l2_loss", "optax.l2_loss"),
        ("optax.tree_utils.tree_add", "optax.tree.add"),
        ("chex.Array", "jax.Array"),
        ("mypackage.helpers.clip", "mypackage.helpers.clip"),
        ("jaxlike.jit", "jaxlike.jit"),
    ],
)
def test_canonical(knowledge: Knowledge, spelling: str, canonical: str) -> None:
    assert knowledge.canonical(spelling) == canonical


def test_shard_map_of_either_home_keeps_its_own_signature(knowledge: Knowledge) -> None:
    old = knowledge.transform("jax.experimental.shard_map.shard_map")
    new = knowledge.transform("jax.shard_map")
    assert old is not None and new is not None
    assert old.params[1] == "mesh"
    assert new.params[1] == "*"


def test_lookup_prefers_the_name_to_its_namespace(knowledge: Knowledge) -> None:
    assert isinstance(knowledge.lookup("jax.jit"), TransformFact)
    assert isinstance(knowledge.lookup("jax.numpy.sum"), FunctionFact)
    assert isinstance(knowledge.lookup("flax.linen.Module"), ClassFact)
    assert knowledge.lookup("jax.numpy.pi") == "static"
    unseen = knowledge.lookup("jax.numpy.some_future_function")
    assert isinstance(unseen, NamespaceFact) and unseen.returns == "array"
    assert knowledge.lookup("mypackage.clip") is None


def test_namespace_is_the_innermost(knowledge: Knowledge) -> None:
    random = knowledge.namespace("numpy.random.normal")
    assert random is not None and random.impure == "random"
    plain = knowledge.namespace("numpy.sin")
    assert plain is not None and plain.impure is None


def test_user_facing_function_facts(knowledge: Knowledge) -> None:
    normal = knowledge.function("jax.random.normal")
    assert normal is not None
    assert (normal.key, normal.key_effect, normal.shape_params) == ("key", "consume", ["shape"])
    repeat = knowledge.function("jax.numpy.repeat")
    assert repeat is not None
    assert (repeat.size_param, repeat.data_dependent_on) == ("total_repeat_length", "repeats")
    assert knowledge.function("jax.numpy.some_future_function") is None
    total, zeros = knowledge.function("jax.numpy.sum"), knowledge.function("jax.numpy.zeros_like")
    assert total is not None and (total.rank, total.idle) == ("number", False)
    assert zeros is not None and (zeros.rank, zeros.idle) == ("same", True)


def test_methods_and_fields_are_inherited(knowledge: Knowledge) -> None:
    sample = knowledge.method("numpyro.distributions.Normal", "sample")
    assert sample is not None and sample.key == "key"
    assert knowledge.field("jax.core.Tracer", "shape") == "static"
    assert knowledge.method("flax.linen.Dense", "no_such_method") is None


@pytest.mark.parametrize(
    "module", ["jax", "jax.numpy", "jax.numpy.linalg", "jax._src.numpy.lax_numpy", "optax", "math"]
)
def test_modules(knowledge: Knowledge, module: str) -> None:
    assert knowledge.is_module(module)


@pytest.mark.parametrize("name", ["jax.jit", "jax.Array", "jax.numpy.sum", "mypackage", "jax.random.normal"])
def test_not_modules(knowledge: Knowledge, name: str) -> None:
    assert not knowledge.is_module(name)


def test_libraries_leave_out_those_of_the_host(knowledge: Knowledge) -> None:
    assert {"jax", "flax", "optax", "equinox", "haiku", "numpyro"} <= knowledge.libraries
    assert not {"numpy", "python", "scipy", "absl"} & knowledge.libraries


def test_user_transforms_stand_for_their_target(knowledge: Knowledge) -> None:
    extended = knowledge.with_user_transforms({"mylib.fast": "jax.experimental.pjit.pjit"})
    assert extended.canonical("mylib.fast") == "jax.jit"
    assert extended.transform("mylib.fast") == knowledge.transform("jax.jit")
    assert knowledge.transform("mylib.fast") is None
    assert extended.fingerprint != knowledge.fingerprint


@pytest.mark.parametrize("target", ["jax.nothing", "jax.numpy.sum", "mylib.other", ""])
def test_user_transform_with_unknown_target(knowledge: Knowledge, target: str) -> None:
    with pytest.raises(KnowledgeError, match=r"mylib\.fast"):
        knowledge.with_user_transforms({"mylib.fast": target})


def test_user_aliases_in_a_circle(knowledge: Knowledge) -> None:
    with pytest.raises(KnowledgeError, match="circle"):
        Knowledge({"a.f": "b.f", "b.f": "a.f"}).canonical("a.f")


def test_load_gives_one_object() -> None:
    assert load() is load()


def test_parse_function() -> None:
    line = "key: consume, a, *, axis: axis, size: size, **rest -> tuple(array, list(int)); pure; data_dependent=always"
    assert parse_function(line) == FunctionFact(
        params=["key", "a", "*", "axis", "size", "**rest"],
        returns="tuple(array, list(int))",
        key="key",
        key_effect="consume",
        axis_params=["axis"],
        size_param="size",
        pure=True,
        data_dependent="always",
    )


def test_parse_open_and_empty_signatures() -> None:
    assert parse_function("... -> array").params == []
    assert parse_function("-> key; make") == FunctionFact(returns="key", key_effect="make")


@pytest.mark.parametrize(
    "line",
    ["a, b", "a -> ", "a: nonsense -> array", "a -> array; quick", "a b -> array", "a -> array; color=red"],
)
def test_parse_rejects(line: str) -> None:
    with pytest.raises(NotationError, match=r"in |after"):
        parse_function(line)


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.name)
def test_tables_are_read_as_toml(path: Path) -> None:
    """The reader's short cut gives what the TOML parser gives."""
    tomllib = pytest.importorskip("tomllib")
    assert _read_table(path.name) == tomllib.loads(path.read_text(encoding="utf-8"))
