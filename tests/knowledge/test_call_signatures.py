"""The tables of signatures, and which calls they take."""

from __future__ import annotations

import inspect

import pytest

from flake8_jax.knowledge import load
from flake8_jax.knowledge.call_signatures import LIBRARIES, Problem, load_signatures, parse_signature


@pytest.mark.parametrize(
    ("signature", "given", "names", "problem"),
    [
        ("a, b=, *, key", 1, ["key"], None),
        ("a, b=, *, key", 1, [], Problem("missing", ("key",))),
        ("a, b=, *, key", 3, ["key"], Problem("too-many", most=2)),
        ("a, b=, *, key", 1, ["key", "c"], Problem("unknown", ("c",))),
        ("a, b=, *, key", 1, ["key", "a"], Problem("twice", ("a",))),
        ("a, /, b", 0, ["a", "b"], Problem("unnamed", ("a",))),
        ("a, /, b", 0, ["a", "c"], Problem("unknown", ("a", "c"))),
        ("a, /, **rest", 1, ["a"], None),
        ("a, /, **rest", 0, ["a"], Problem("missing", ("a",))),
        ("first, *rest, last=", 5, ["last"], None),
        ("", 0, [], None),
    ],
)
def test_calls(signature: str, given: int, names: list[str], problem: Problem | None) -> None:
    assert parse_signature(signature).problem(given, names) == problem


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_are_canonical_and_lines_can_be_read(library: str) -> None:
    table, knowledge = load_signatures()[library], load()
    assert len(table.names) > 50
    for name in table.names:
        assert knowledge.canonical(name) == name
        for signature in table.of(name):
            arguments = [*signature.positional, *signature.keywords]
            assert all(argument.isidentifier() for argument in arguments), name
            assert set(signature.required) <= set(arguments)


def test_one_release_that_takes_the_call_is_enough() -> None:
    assert load_signatures()["jax"].problem("jax.numpy.add", 3, ()) is None
    assert load_signatures()["equinox"].problem("equinox.nn.Linear", 2, ()) == Problem("missing", ("key",))
    assert load_signatures()["equinox"].problem("equinox.nn.Unheard", 2, ()) is None


def test_members_of_a_class_are_those_of_any_release() -> None:
    arrays = load_signatures()["jax"].members("jax.Array")
    assert arrays is not None
    assert arrays["sum"]
    assert not arrays["shape"]
    assert "numpy" not in arrays
    assert load_signatures()["flax"].members("flax.nnx.Unheard") is None


@pytest.mark.jax
def test_arrays_and_tracers_have_no_other_attributes() -> None:
    import jax
    import jax.numpy as jnp

    arrays = load_signatures()["jax"].members("jax.Array")
    assert arrays is not None
    seen = {*dir(jnp.ones(2)), *dir(jax.Array), *dir(jax.core.Tracer)}
    assert {name for name in seen if not name.startswith("_")} <= arrays.keys()


@pytest.mark.jax
def test_the_installed_jax_takes_what_the_table_says() -> None:
    import jax.numpy as jnp

    table = load_signatures()["jax"]
    for name in ("sum", "zeros", "einsum", "linspace"):
        parameters = list(inspect.signature(getattr(jnp, name)).parameters)
        known = {argument for s in table.of(f"jax.numpy.{name}") for argument in (*s.positional, *s.keywords)}
        assert {p for p in parameters if p not in ("args", "operands", "kwargs")} <= known
