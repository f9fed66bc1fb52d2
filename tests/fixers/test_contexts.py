"""Safe fixes of programs that are drawn at random change nothing but the mistake, unsafe ones nothing but that and what they
announce; and spoiled ones would be noticed."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from support.jax_programs import Program, Runner, run_all

from fixers.comparing import changed, differences, lost_comments, unannounced
from fixers.contexts import EIGHT_DEVICES, HEAD, Made, announced, drawn, fixed
from fixers.sites import SAFE, UNSAFE
from flake8_jax.fixers import all_fixers
from flake8_jax.fixers._announced import May
from flake8_jax.rules import all_rules

OBSERVING = Path(__file__).with_name("observing.py")


def observed(name: str, files: dict[str, str]) -> Program:
    return Program(name, OBSERVING, "fixes", files=files)


@pytest.mark.jax
def test_safe_fixes_in_every_context(tmp_path: Path, compiled: dict[str, str]) -> None:
    """A fixed sample; ``benchmarks/fix_contexts.py`` draws thousands."""
    fixes: dict[str, tuple[Made, dict[str, str]]] = {}
    for made in drawn(SAFE[::2], len(SAFE[::2]), seed=2):
        files = fixed(made, tmp_path / made.name)
        if files != made.files:
            fixes[made.name] = made, files
    assert len(fixes) >= 15, "too few fixes to say anything of them"
    shown = run_all(
        [
            observed(f"{name}/{when}", files)
            for name, (made, after) in fixes.items()
            for when, files in (("before", made.before), ("after", made.run_with(after)))
        ],
        tmp_path,
        XLA_FLAGS=EIGHT_DEVICES,
        **compiled,
    )
    trouble = []
    for name, (made, after) in fixes.items():
        found = differences(shown[f"{name}/before"], shown[f"{name}/after"])
        found += [line for file, text in made.files.items() for line in lost_comments(text, after[file])]
        trouble += [f"{made.rule} {name}\n{after['main.py']}\n{line}" for line in found]
    assert trouble == []


@pytest.mark.jax
def test_unsafe_fixes_change_what_they_announce(tmp_path: Path, compiled: dict[str, str]) -> None:
    """A fixed sample; ``benchmarks/fix_contexts.py --unsafe`` draws thousands."""
    fixes: dict[str, tuple[Made, dict[str, str], May]] = {}
    sites = (*UNSAFE[::2], *SAFE[::6])  # what is safe for some callers is unsafe for others
    for made in drawn(sites, len(sites), seed=3):
        may = announced(made, tmp_path / made.name)
        files = fixed(made, tmp_path / made.name, "--unsafe-fixes") if may is not None else made.files
        if may is not None and files != made.files:
            fixes[made.name] = made, files, may
    assert len(fixes) >= 25, "too few fixes to say anything of them"
    shown = run_all(
        [
            observed(f"{name}/{when}", files)
            for name, (made, after, _) in fixes.items()
            for when, files in (("before", made.before), ("after", made.run_with(after)))
        ],
        tmp_path,
        XLA_FLAGS=EIGHT_DEVICES,
        **compiled,
    )
    trouble = []
    for name, (made, after, may) in fixes.items():
        found = unannounced(shown[f"{name}/before"], shown[f"{name}/after"], may)
        found += [line for file, text in made.files.items() for line in lost_comments(text, after[file])]
        trouble += [f"{made.rule} {name}\n{after['main.py']}\n{line}" for line in found]
    assert trouble == []


def test_every_fixer_has_programs() -> None:
    codes = {rule.name: rule.code for rule in all_rules()}
    assert {codes[name] for name in all_fixers()} == {site.rule for site in (*SAFE, *UNSAFE)}


SPOILED = {
    "value": ("return x * 2", "return x * 3"),
    "one-ulp": ("return x * 0.5", "return jnp.nextafter(x * 0.5, jnp.inf)"),
    "dtype": ("return x + 1", "return (x + 1).astype(jnp.float16)"),
    "weak-type": ("return jnp.asarray(1.0)", "return jnp.asarray(1.0, jnp.float32)"),
    "kind-of-array": ("return np.ones(2, np.float32)", "return jnp.ones(2)"),
    "kind-of-number": ("return float(x[0])", "return x[0]"),
    "numpy-scalar": ("return np.float32(1.0)", "return np.array(1.0, np.float32)"),
    "shape": ("return x", "return x[None]"),
    "negative-zero": ("return x * 0", "return x * -0.0"),
    "tuple-or-list": ("return x, 1", "return [x, 1]"),
    "order-of-a-dict": ("return {'a': 1, 'b': 2}", "return {'b': 2, 'a': 1}"),
    "keys-of-a-dict": ("return {0: x}", "return {False: x}"),
    "length": ("return [x, x]", "return [x]"),
    "none": ("return None", "return x"),
    "bool-or-int": ("return True", "return 1"),
    "named-tuple": ("return Pair(x, 1)", "return (x, 1)"),
    "gradient": (
        "return jax.grad(lambda v: jnp.sum(jnp.abs(v)))(x * 0)",
        "return jax.grad(lambda v: jnp.sum(jnp.maximum(v, -v)))(x * 0)",
    ),
    "nan-gradient": (
        "return jax.grad(lambda v: jnp.sum(jnp.where(v > 9, 0.0, jnp.sqrt(jnp.abs(v)))))(x + 1)",
        "return jax.grad(lambda v: jnp.sum(jnp.sqrt(jnp.abs(v)) * jnp.sign(jnp.abs(v))))(x * 0)",
    ),
    "exception-type": ("raise ValueError(x)", "raise TypeError(x)"),
    "exception-gone": ("return {}[0]", "return 0"),
    "exception-new": ("return 0", "return {}[0]"),
    "printed-text": ("print('a', 1)", "print('a 2')"),
    "printed-order": ("print('a')\nprint('b')", "print('b')\nprint('a')"),
    "printed-nothing": ("print('a')", "pass"),
    "printed-end": ("print('a', end='')", "print('a')"),
    "mutated-argument": ("h[0] = 1\nreturn h", "return h"),
    "mutated-other": ("g = h\ng += 1\nreturn h", "g = h\ng = g + 1\nreturn h"),
    "mutated-global": ("COUNT.append(1)\nreturn list(COUNT)", "return list(COUNT)"),
    "key": ("return jax.random.key(1)", "return jax.random.key_data(jax.random.key(1))"),
    "draw": ("return jax.random.normal(jax.random.key(1))", "return jax.random.normal(jax.random.key(2))"),
}
PAIR = "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    a: object\n    b: object\n\n\nCOUNT = []\n\n\n"


def spoiled(name: str) -> tuple[Program, Program]:
    """A program, and what a bad fix would make of it."""

    def program(when: str, body: str) -> Program:
        head = "def case():\n    x, h = jnp.array([0.5, -1.5]), np.zeros(2)\n"
        text = HEAD + PAIR + head.replace("case", "case_0") + indent(body, "    ") + "\n"
        return observed(f"spoiled/{name}/{when}", {"main.py": text})

    before, after = SPOILED[name]
    return program("before", before), program("after", after)


@pytest.mark.parametrize("pair", [spoiled(name) for name in SPOILED], ids=list(SPOILED))
def test_a_spoiled_fix_is_noticed(pair: tuple[Program, Program], on_jax: Runner) -> None:
    before, after = (on_jax(program) for program in pair)
    assert differences(before, before) == []
    assert len(differences(before, after)) == 1


def held(name: str, *parts: Any, **named: Any) -> Any:
    """A container as ``observing.shown`` gives it: its items by number, or by ``named``."""
    inside = {f"[{number}]": part for number, part in enumerate(parts)} | {
        f"[{key}]": part for key, part in named.items()
    }
    leaves = [{"path": path + leaf["path"], **leaf} for path, part in inside.items() for leaf in part["leaves"]]
    contents = {digest: data for part in inside.values() for digest, data in part["contents"].items()}
    return {
        "leaves": [{"path": "", "kind": "node", "type": name, "parts": list(inside)}, *leaves],
        "contents": contents,
    }


def plain(value: Any) -> Any:
    written = repr(value) if isinstance(value, float) else value
    return {"leaves": [{"path": "", "kind": "value", "type": type(value).__name__, "value": written}], "contents": {}}


def array(data: str, dtype: str = "float32", shape: tuple[int, ...] = (2,), of: str = "jax", weak: bool = False) -> Any:
    leaf = {"path": "", "kind": "array", "of": of, "dtype": dtype, "shape": list(shape), "at": data}
    return {"leaves": [leaf | ({"weak": weak} if of == "jax" else {})], "contents": {data: data}}


ONE_TWO, ONE_TWO_BF16 = "0000803f00000040", "803f0040"
WRAPPED = array("05", "uint8", (1,))
KINDS = {
    "same": (array(ONE_TWO), array(ONE_TWO), May.NOTHING),
    "values": (array(ONE_TWO), array("0000803f00004040"), May.VALUES),
    "rounding": (array(ONE_TWO), array("0100803f00000040"), May.ROUNDING),
    "negative-zero": (array("0000000000000000"), array("0000000000000080"), May.ROUNDING),
    "nan": (array("0000c07f00000040"), array(ONE_TWO), May.VALUES),
    "overflow": (array("90", "uint8", (1,)), array("90010000", "int32", (1,)), May.OVERFLOW | May.DTYPE),
    "boolean-sum": (array("01", "bool", (1,)), array("02000000", "int32", (1,)), May.OVERFLOW | May.DTYPE),
    "boolean-no-more": (array("01", "bool", (1,)), array("00000000", "int32", (1,)), May.VALUES | May.DTYPE),
    "overflow-in-a-dict": (
        held("tuple", held("dict", **{"417.0": plain(1)}), WRAPPED),
        held("tuple", held("dict", **{"918.0": plain(1)}), WRAPPED),
        May.OVERFLOW,
    ),
    "dtype": (array(ONE_TWO), array(ONE_TWO_BF16, "bfloat16"), May.DTYPE),
    "weak": (array(ONE_TWO), array(ONE_TWO, weak=True), May.DTYPE),
    "shape": (array(ONE_TWO), array(ONE_TWO, shape=(1, 2)), May.SHAPE),
    "other-shape": (array(ONE_TWO), array("0000803f", shape=(1,)), May.SHAPE | May.VALUES),
    "kind": (plain(1.0), array("0000803f", shape=(), weak=True), May.KIND | May.DTYPE),
    "numpy": (array(ONE_TWO, of="numpy"), array(ONE_TWO), May.KIND | May.DTYPE),
    "python": (plain(float("nan")), plain(1.0), May.VALUES),
    "bool": (plain(True), array("01", "bool", ()), May.KIND | May.DTYPE),
    "container": (held("list", plain(1)), held("tuple", plain(1)), May.CONTAINER),
    "length": (held("list", plain(1)), held("list"), May.CONTAINER),
    "inside": (held("tuple", plain(1), plain(2)), held("tuple", plain(1), plain(3)), May.VALUES),
    "in-a-dict": (held("dict", a=plain(1)), held("dict", a=plain(3)), May.VALUES),
    "keys-of-a-dict": (held("dict", a=plain(1)), held("dict", b=plain(1)), May.CONTAINER),
    "number-as-a-key": (
        held("dict", **{"1.5": plain(1)}),
        held("dict", **{"1.5000001": plain(1)}),
        May.ROUNDING,
    ),
    "text": (plain("a"), plain("b"), May.CONTAINER),
    "typed-key": (array("", "uint32", (0,)), array("", "uint32", (0,), of="key"), May.KIND | May.DTYPE),
}


@pytest.mark.jax
@pytest.mark.parametrize(("before", "after", "kinds"), KINDS.values(), ids=KINDS)
def test_kinds_of_difference(before: list[Any], after: list[Any], kinds: May) -> None:
    one, other = ({"value": value, "printed": ""} for value in (before, after))
    assert changed(one, other) == kinds
    assert (unannounced({"case_0": one}, {"case_0": other}, kinds) == []) is True
    for kind in (kind for kind in May.__members__.values() if kind and kind in kinds & ~May.ROUNDING):
        others = ~kind if kind is not May.OVERFLOW else ~(kind | May.VALUES)  # VALUES covers OVERFLOW
        assert len(unannounced({"case_0": one}, {"case_0": other}, others)) == 1


def test_what_a_case_was_meant_to_show() -> None:
    raised = {"raised": "TracerBoolConversionError", "says": "", "printed": ""}
    meant, other = ({"value": plain(number), "printed": ""} for number in (1, 2))
    before = {"case_0": raised, "meant_0": meant}
    assert unannounced(before, {"case_0": meant, "meant_0": meant}, May.NOTHING) == []
    assert len(unannounced(before, {"case_0": other, "meant_0": other}, May.NOTHING)) == 1
    assert len(unannounced(before, {"case_0": {"raised": "ValueError"}}, May.NOTHING)) == 1
    unknown = {"case_0": raised, "meant_0": {"raised": "ValueError", "says": ""}}
    assert unannounced(unknown, {"case_0": other}, May.NOTHING) == []
    assert len(unannounced({"case_0": meant}, {"case_0": {"raised": "ValueError"}}, May.VALUES)) == 1
    assert len(unannounced({"case_0": meant}, {"case_0": meant | {"printed": "x"}}, May.VALUES)) == 1


def test_a_comment_that_went_is_noticed() -> None:
    assert lost_comments("x = 1  # why\ny = '# no comment'\n", "x = 1\n") == ["# why"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ({"raised": "TracerArrayConversionError", "says": ""}, {"value": 1, "printed": ""}, True),
        ({"raised": "TypeError", "says": "JAX arrays are immutable"}, {"value": 1, "printed": ""}, True),
        ({"raised": "TypeError", "says": "bad operand"}, {"value": 1, "printed": ""}, False),
        ({"value": 1, "printed": "JitTracer(float32[])\n"}, {"value": 1, "printed": "2.0\n"}, True),
        ({"value": 1, "printed": "JitTracer(float32[])\n"}, {"value": 2, "printed": "2.0\n"}, False),
        ({"value": 1, "printed": "2.0\n"}, {"value": 1, "printed": "3.0\n"}, False),
    ],
)
def test_what_may_differ(before: dict[str, Any], after: dict[str, Any], same: bool) -> None:
    assert (differences({"case_0": before}, {"case_0": after}) == []) is same
