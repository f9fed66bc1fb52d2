"""The text of inputs: read, made, and written again."""

import inspect
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_jax.runtime_checks.child import inputs
from flake8_jax.runtime_checks.child.grammar import Array, InputError, Items, Key, Literal, default_dims

DTYPES = st.sampled_from(["bool", "f16", "bf16", "f32", "i8", "i32", "u8", "u32", "c64"])
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(lambda dims: f"[{','.join(map(str, dims))}]")
ARRAYS = st.builds(lambda dtype, shape: dtype + shape, DTYPES, SHAPES)
LITERALS = st.one_of(st.integers(-9, 9), st.booleans(), st.none(), st.text("ab[]", max_size=4)).map(repr)
TEXTS = st.recursive(
    st.one_of(ARRAYS, LITERALS, st.sampled_from(["key", "key[3]", 'key("rbg")', "weak(f32[])", "numpy(f64[2])"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, max_size=3).map(lambda parts: f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
            lambda entries: "{" + ", ".join(f"{key!r}: {value}" for key, value in entries.items()) + "}"
        ),
    ),
    max_leaves=5,
)


@pytest.mark.jax
@given(TEXTS)
def test_what_is_made_of_a_text_is_described_by_it(text: str) -> None:
    assert inputs.describe(inputs.make(inputs.parse(text))) == text


@given(st.text("f32[],()'\"{}:=n key+-*", max_size=24))
def test_every_text_is_read_or_refused(text: str) -> None:
    try:
        inputs.parse_case(text)
    except InputError as error:
        assert "column" in str(error)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("f32[n, 2*n+1]", Array("float32", ("n", "2 * n + 1"))),
        ("legacy-key[4]", Key((4,), legacy=True)),
        ("float8_e4m3fn[2]", Array("float8_e4m3fn", (2,))),
        ('Float[Array, "n 3"]', Array("float32", ("n", 3))),
        ('jaxtyping.Int[Array, "... #n rows=4 *rest"]', Array("int32", ("n", 4, "rest"))),
        ('Key[Array, ""]', Key()),
        ("-inf", Literal(float("-inf"))),
        ("(1, f32[])", Items("tuple", (Literal(1), Array("float32")))),
        ("{'a[]': 'b[]'}", Literal({"a[]": "b[]"})),
    ],
)
def test_specs(text: str, spec: Any) -> None:
    assert inputs.parse(text) == spec


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("f32[8,", 1, "closing parenthesis ')' does not match opening parenthesis '['"),
        ("bf16[], bar[2]", 9, "`bar` is not a dtype"),
        ("f32[], f32[], f32", 15, "f32 needs a shape: f32[] is a scalar"),
        ("f32[8.5]", 5, "`8.5` is not a dimension"),
        ("i32[], Config(1)", 8, "cannot be made from text; write a function `cases()` for it"),
        ("{a: 1}", 2, "a key of a dict is a Python literal"),
        ("'ä', x", 6, "`x` is not an input"),
        ("1)(2", 1, "a parenthesis closes too early"),
        ('Float[Array, "f()"]', 14, "is not a dimension that jaxlint can choose"),
        ("f32[2], **x", 11, "`**` is not understood"),
    ],
)
def test_errors_name_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as raised:
        inputs.parse_case(text)
    assert f"`{text}`, column {column}: " in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.jax
def test_dims_bind_over_a_call() -> None:
    case = inputs.parse_case("f32[n,3], f32[2*n], i32[m], n=5, flag=True")
    args, kwargs = inputs.make_case(case, parameters=["x", "y", "z", "flag"])
    assert inputs.describe_case(args, kwargs) == "f32[5,3], f32[10], i32[4], flag=True"
    _, kwargs = inputs.make_case(case, parameters=["x", "y", "z", "n", "flag"])
    assert kwargs == {"n": 5, "flag": True}
    args, _ = inputs.make_case(case, dims={"n": 2, "m": 9})
    assert [array.shape for array in args] == [(2, 3), (4,), (9,)]


def test_default_dims_differ() -> None:
    case = inputs.parse_case("f32[a,b], f32[b,c]")
    assert default_dims(case.specs(), {"b": 4}) == {"a": 5, "b": 4, "c": 6}


@pytest.mark.jax
def test_numbers_hang_on_the_seed_alone() -> None:
    import numpy as np

    spec = inputs.parse("(f32[1000], f32[1000], i32[1000])")
    first, second, third = inputs.make(spec, 1)
    assert all(np.array_equal(a, b) for a, b in zip((first, second, third), inputs.make(spec, 1)))
    assert not np.array_equal(first, inputs.make(spec, 2)[0])
    assert not np.array_equal(first, second)
    assert abs(float(first.mean())) < 0.2 and abs(float(first.std()) - 1) < 0.1
    assert (int(third.min()), int(third.max())) == (0, 3)


@pytest.mark.jax
def test_what_this_jax_cannot_have() -> None:
    with pytest.raises(InputError, match=r"f64\[2\]: JAX has 64-bit numbers switched off; .*write f32\[2\]"):
        inputs.make(inputs.parse("f64[2]"))
    with pytest.raises(InputError, match="dimension n - 9 is -5"):
        inputs.make(inputs.parse("f32[n-9]"))
    with pytest.raises(InputError, match="no_such_generator"):
        inputs.make(inputs.parse('key("no_such_generator")'))


@pytest.mark.jax
def test_abstract_inputs_take_no_memory() -> None:
    args, _ = inputs.make_case(inputs.parse_case("f32[1000000,1000000], key[4], 3"), abstract=True)
    assert inputs.describe_case(args, {}) == "f32[1000000,1000000], key[4], 3"


@pytest.mark.jax
def test_descriptions_of_values_that_no_text_makes() -> None:
    import jax.numpy as jnp

    class Point(typing.NamedTuple):
        x: Any
        y: int

    assert inputs.describe(Point(jnp.ones(2), 3)) == "Point(x=f32[2], y=3)"
    assert inputs.describe(len) == "<function len>"
    assert inputs.describe("x" * 100) == "'" + 58 * "x" + "…"
    assert "0x" not in inputs.describe(object())


@pytest.mark.jax
def test_candidates_from_signatures() -> None:
    import jax

    def function(
        x: 'Float[Array, "n 3"]', rng_key, w: jax.Array, n: int, mode: typing.Literal["a", "b"], *, scale: float,  # noqa: F722, F821
        depth=4, bias: "jax.Array | None" = None, pair: "tuple[int, float]" = (1, 2.0),
    ) -> None:  # fmt: skip
        pass

    found = {parameter.name: parameter for parameter in inputs.from_signature(function)}
    assert found["x"].candidates == (Array("float32", ("n", 3)),)
    assert found["rng_key"].candidates[0] == Key() and found["rng_key"].source == "name"
    assert Array("float32", (8,)) in found["w"].candidates
    assert found["n"].candidates[0] == Literal(3)
    assert found["mode"].candidates == (Literal("a"), Literal("b"))
    assert found["depth"].candidates == (Literal(4),) and not found["depth"].required
    assert found["bias"].candidates[-1] == Literal(None)
    case = next(iter(inputs.guesses(function)))
    assert len(case.args) == 5 and list(case.kwargs) == ["scale"]
    assert inspect.signature(function).bind(*case.args, **case.kwargs)


def test_nothing_is_made_up_for_what_is_not_known() -> None:
    def function(model: "Transformer") -> None:  # noqa: F821
        pass

    with pytest.raises(InputError, match="nothing can be made up for the parameter model"):
        next(iter(inputs.guesses(function)))
