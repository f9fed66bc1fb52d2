"""What the tables claim of the libraries around JAX, checked on those that are installed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flake8_jax.knowledge import load
from flake8_jax.knowledge.model import ClassFact

pytestmark = [pytest.mark.jax, pytest.mark.xdist_group("JAX in the process of the tests")]

LIBRARIES = [
    "brax",
    "chex",
    "diffrax",
    "distrax",
    "equinox",
    "flax",
    "haiku",
    "jaxopt",
    "jaxtyping",
    "jmp",
    "lineax",
    "numpyro",
    "optax",
    "optimistix",
    "orbax",
]
NOT_IMPORTABLE = frozenset(
    {
        # Objects that libraries hand out but do not export, described under a name of their own.
        "jaxopt.LineSearchStep",
        "optax.Schedule",
        "equinox.nn.State",
        # Gone, or only in a private module.
        "haiku.jit",
        "numpyro.mutable",
    }
)
RNG_STREAMS = frozenset({"params", "dropout", "default", "noise"})


def attribute(qualified: str) -> Any:
    module, _, rest = qualified.partition(".")
    found: Any = importlib.import_module(module)
    prefix = module
    for part in rest.split("."):
        prefix = f"{prefix}.{part}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if inspect.ismodule(found) and not hasattr(found, part):
                found = importlib.import_module(prefix)
            else:
                found = getattr(found, part)
    return found


def exists(qualified: str) -> bool:
    try:
        attribute(qualified)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


def exists_somewhere(qualified: str) -> bool:
    """Optax's losses and transforms stand under ``optax``, which does not export all of them."""
    homes = ("optax.", "optax.losses.", "optax.transforms.")
    return any(exists(qualified.replace("optax.", home, 1)) for home in homes)


def installed(library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_exist(library: str) -> None:
    installed(library)
    table = load().table(library)
    names = (*table.functions, *table.transforms, *table.classes)
    assert [name for name in names if name not in NOT_IMPORTABLE and not exists_somewhere(name)] == []


def parameters(function: Any) -> list[str] | None:
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    return [name for name in found if name != "self"]


def mismatches(described: list[str], function: Any) -> list[str]:
    """Described parameters that the function lacks or has in another order; open signatures say nothing."""
    real = parameters(function)
    if real is None or not described:
        return []
    open_ended = any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(function).parameters.values()
    )
    names = [name for name in described if not name.startswith("*")]
    missing = [] if open_ended else [name for name in names if name not in real]
    shared = [name for name in names if name in real]
    ordered = [name for name in real if name in shared]
    return missing + (["order"] if shared != ordered else [])


def described_functions(library: str) -> Iterator[tuple[str, list[str]]]:
    table = load().table(library)
    for name, function in table.functions.items():
        yield name, function.params
    for name, transform in table.transforms.items():
        yield name, transform.params


OLDER = {"haiku.cond": {"linear"}}


@pytest.mark.parametrize("library", LIBRARIES)
def test_signatures(library: str) -> None:
    installed(library)
    wrong = {}
    for name, described in described_functions(library):
        if name in NOT_IMPORTABLE or not exists(name):
            continue
        found = [problem for problem in mismatches(described, attribute(name)) if problem not in OLDER.get(name, set())]
        if found:
            wrong[name] = (found, described, parameters(attribute(name)))
    assert wrong == {}


INSTANCE_ATTRIBUTES = frozenset(["__next__", "__enter__", "__getattr__", "__getitem__"])


def described_classes(library: str) -> Iterator[tuple[str, ClassFact, type]]:
    for name, fact in load().table(library).classes.items():
        if name in NOT_IMPORTABLE or not exists(name):
            continue
        found = attribute(name)
        if isinstance(found, type):
            yield name, fact, found


@pytest.mark.parametrize("library", LIBRARIES)
def test_methods_exist_with_these_parameters(library: str) -> None:
    installed(library)
    wrong = {}
    for name, fact, found in described_classes(library):
        for method, function in fact.methods.items():
            if method in INSTANCE_ATTRIBUTES or (name == "flax.nnx.Rngs" and method in RNG_STREAMS):
                continue
            if not hasattr(found, method):
                wrong[f"{name}.{method}"] = "missing"
                continue
            problems = mismatches(function.params, getattr(found, method))
            if problems:
                wrong[f"{name}.{method}"] = f"{problems} of {parameters(getattr(found, method))}"
    assert wrong == {}


@pytest.mark.parametrize("library", LIBRARIES)
def test_bases_are_bases(library: str) -> None:
    installed(library)
    wrong = []
    for name, fact, found in described_classes(library):
        for base in fact.base:
            real = attribute(base) if exists(base) else None
            if isinstance(real, type) and not issubclass(found, real):
                wrong.append((name, base))
    assert wrong == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_named_tuples_are_named_tuples(library: str) -> None:
    installed(library)
    for name, fact, found in described_classes(library):
        assert fact.namedtuple == (issubclass(found, tuple) and hasattr(found, "_fields")), name
        if fact.namedtuple:
            assert fact.order == list(found._fields), name  # type: ignore[attr-defined]


def test_the_list_of_libraries_is_complete() -> None:
    tables = {
        path.name.partition(".")[0]
        for path in (Path(__file__).resolve().parents[2] / "flake8_jax/knowledge").glob("*.toml")
    }
    elsewhere = {
        "jax",
        "numpy",
        "scipy",
        "python",
        "absl",
        "tensorboardX",
        "tqdm",
        "wandb",
        "gymnax",
        "rlax",
        "tensorflow_probability",
    }
    assert tables - elsewhere == set(LIBRARIES)
