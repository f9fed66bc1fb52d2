"""Long chains are parsed link by link, to the same representation; what LibCST could not read in time is refused."""

from __future__ import annotations

import time

import pytest
from syntax.oracle import disagreements

from flake8_jax.core import ir
from flake8_jax.syntax import chains
from flake8_jax.syntax.chains import MIN_LINKS, TALL, Chain, NestingError, chains_in, outline
from flake8_jax.syntax.lower import SyntaxProblem, lower

N = MIN_LINKS + 20
D = 2 * TALL + 30


def texts_of(text: str, found: list[Chain]) -> list[str]:
    """Each chain, with a bar at every cut."""
    return ["|".join(text[a:b] for a, b in zip((c.start, *c.cuts), c.cuts)) for c in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b - c\n", ["a| + b| - c"]),
        ("-a * b ** -c * d\n", ["-a| * b ** -c| * d"]),
        ("a | b ^ c ^ d | e\n", ["a| | b ^ c ^ d| | e", "b| ^ c| ^ d"]),
        ("x.at[0].set(1)\n", ["x|.at|[0]|.set|(1)"]),
        ("await x.a.b\n", ["x|.a|.b"]),
        ("f(a + b + c)[d.e.f]\n", ["f|(a + b + c)|[d.e.f]", "a| + b| + c", "d|.e|.f"]),
        ("a.b.c + d + e\n", ["a.b.c| + d| + e", "a|.b|.c"]),
        ("(a  # one\n + b\n + c)\n", ["a|  # one\n + b|\n + c"]),
        ("a \\\n + b \\\n + c\n", ["a| \\\n + b| \\\n + c"]),
        ("y = a + b + c if d - e - f else g\n", ["a| + b| + c", "d| - e| - f"]),
        ("print(*a + b + c, **d | e | f)\n", ["print|(*a + b + c, **d | e | f)", "a| + b| + c", "d| | e| | f"]),
        ("'a' 'b' + 'c' + d\n", ["'a' 'b'| + 'c'| + d"]),
        ("lambda a: a + b + c\n", ["a| + b| + c"]),
        ("a < b + c + d < e\n", ["b| + c| + d"]),
        ("x = '+ + + +'\n", []),
        ("import a.b.c.d\n", []),
        ("case a.b.c:\n", []),
        ("a + b) + c\n", []),
    ],
)
def test_chains_are_found(text: str, expected: list[str]) -> None:
    assert texts_of(text, chains_in(text, [(0, len(text))], 1)) == expected


LONG = {
    "sum": "y = " + " + ".join(f"a{i}" for i in range(N)),
    "mixed sum": "y = " + " + ".join(f"-a{i} * b ** {i}" for i in range(N)),
    "products in a sum": "y = " + " + ".join(" * ".join(["a"] * N) for _ in range(3)),
    "sum in brackets": "y = [(" + "\n  # comment\n  + ".join(f"a{i}" for i in range(N)) + "), 1]",
    "backslashes": "y = " + " \\\n  - ".join(["a"] * N),
    "attributes": "y = a" + ".b" * N,
    "target": "a" + ".b[0]" * N + " = a" + ".b" * N + " = 1",
    "updates": "y = x" + ".at[0].set(1)" * (N // 2),
    "lines of calls": "y = (\n  x\n" + "  .at[0:1]  # here\n  .set(\n    a=1,\n  )\n" * (N // 2) + ")",
    "chain in a chain": "y = x" + f".a({' + '.join(['b'] * N)})" * 3 + ".c" * N,
    "both start alike": "y = a" + ".b" * N + " + c" * N,
    "await": "async def f():\n  y = await a" + ".b" * N + " + c" * N,
    "lambda in a link": "y = a" + "(lambda: b)" * N,
    "generator in a link": "y = a" + "(b for b in c)" * N,
    "condition": "if a == b" + " + c" * N + ":\n  pass",
    "decorator": "@a" + ".b" * N + "\ndef f(a: b = c" + " | d" * N + "):\n  pass",
    "strings": "y = 'a' 'b' + " + " + ".join(["f'{a + b}'"] * N),
    "walrus": "(y := a" + " + b" * N + ")",
    "slices": "y = a[b" + " + c" * N + ":d" + " - e" * N + "]",
    "keywords": "f(a=b" + " + c" * N + ", *d" + " + e" * N + ", **g" + " | h" * N + ")",
    "two statements": "y = a" + " + b" * N + "; z = c" + " - d" * N,
    "not ascii": "y = '\u00e9' + " + " + ".join(["\u00e9"] * N),
    "deep calls": "y = " + "f(a, " * D + "x" + ", k=1)[0]" * D,
    "deep lists": "y = " + "[a, " * D + "x" + "]" * D,
    "deep targets": "(" * D + "a" + ", b)" * D + " = for_ = [" + "[" * D + "*c" + "]" * D + "] = x",
    "deep loop target": "for " + "(i, " * D + "j" + ")" * D + " in x:\n  pass",
    "deep brackets side by side": "y = " + " + ".join("{1: " * D + "x" + "}" * D for _ in range(3)),
    "deep lambdas": "y = " + "(lambda a=" * D + "x" + ": a)" * D,
    "deep generators": "y = " + "f(a for a in " * D + "x" + ")" * D,
    "deep brackets on lines": "y = " + "(  # one\n  -" * D + "x" + "\n)" * D,
    "deep decorator": "@" + "f(" * D + "x" + ")" * D + "\ndef f(a: " + "T[" * D + "x" + "]" * D + "):\n  pass",
    "deep walrus": "y = " + "(a := " * D + "x" + ")" * D,
    "deep yields": "def f():\n  y = " + "(yield " * D + "x" + ")" * D,
    "deep awaits": "async def f():\n  y = " + "(await f(" * (D // 2) + "x" + "))" * (D // 2),
    "deep brackets in a long chain": "y = a" + f".b({'(' * D}x{')' * D})" * 3 + ".c" * N,
    "type alias": "class A(b" + ".c" * N + "):\n  d: e" + " | f" * N + " = 1",
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_chain_is_what_python_makes_of_it(name: str) -> None:
    text = LONG[name] + "\nz = 1\n"
    assert chains_in(text, outline(text).lines)
    assert disagreements(text, lower(text)) == []


@pytest.mark.parametrize("text", [*LONG.values()])
def test_a_mistake_elsewhere_is_reported_as_ever(text: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        lower(f"{text}\nz = = 1\n")
    assert caught.value.row == text.count("\n") + 2


def test_a_name_stands_for_brackets_at_every_so_many_levels() -> None:
    text = "f([a, g(b)[c(d)]])\n"
    assert texts_of(text, chains_in(text, [(0, len(text))], tall=2)) == ["f|([a, g(b)[c(d)]])", "g|(b)|[c(d)]"]


@pytest.mark.parametrize(
    ("opening", "closing"), [("f(", ")"), ("[", "]"), ("(lambda a=", ": 0)"), ("{1: ", "}"), ("T[", "]")]
)
def test_deep_brackets_are_read_in_time(opening: str, closing: str) -> None:
    before = time.process_time()
    lower(f"y = {opening * 190}x{closing * 190}\n")
    assert time.process_time() - before < 0.5


def test_a_text_that_has_the_name_of_a_stand_in_is_read() -> None:
    text = "y = _chain0" + " + _chain1" * N + "\n"
    assert disagreements(text, lower(text)) == []


def test_short_chains_are_left_to_the_parser() -> None:
    text = "y = " + " + ".join(["a"] * 50) + "\n"
    assert chains_in(text, outline(text).lines) == []


@pytest.mark.parametrize("link", [" + 1", ".a", "[0]", "(1)", ".at[0].set(1)", " * x + 1", " | x", " - (a, b)"])
def test_three_thousand_links_are_read_in_time(link: str) -> None:
    before = time.process_time()
    lower(f"y = x{link * 3000}\n")
    assert time.process_time() - before < 6


@pytest.mark.parametrize("text", ["(" * 300 + "a" + ")" * 300, "f(" * 800 + ")" * 800, "[" * 201 + "]" * 201])
def test_more_brackets_than_python_allows_are_refused_in_its_words(text: str) -> None:
    with pytest.raises(SyntaxError) as expected:
        compile(text, "a.py", "exec")
    with pytest.raises(SyntaxProblem) as caught:
        lower(text)
    assert caught.value.message == expected.value.msg


@pytest.mark.parametrize(
    "text",
    [
        "y = " + "not " * 900 + "a",
        "y = " + "-" * 900 + "a",
        "y = " + "a ** " * 900 + "a",
        "y = " + "a if b else " * 900 + "c",
        "y = " + "lambda: " * 900 + "c",
    ],
    ids=["not", "minus", "power", "else", "lambda"],
)
def test_what_leans_to_the_right_too_often_is_refused_before_it_is_parsed(text: str) -> None:
    before = time.process_time()
    with pytest.raises(SyntaxProblem, match="nested too deeply"):
        lower(text)
    assert time.process_time() - before < 1


@pytest.mark.parametrize(
    "text",
    [
        "y = [" + "not a, " * 900 + "]",
        "y = [" + "a if b else c, " * 900 + "]",
        "y = [" + "lambda a, b: c, " * 900 + "]",
        "y = {" + "1: lambda: 2, " * 900 + "}",
        "y = [" + "-a, " * 900 + "]",
    ],
)
def test_many_of_these_side_by_side_are_none(text: str) -> None:
    lower(text)


PATTERNS = {
    "list": ("[", "]"),
    "pair": ("(x, ", ")"),
    "mapping": ('{"k": ', "}"),
    "class": ("C(", ")"),
    "or": ("(1 | ", ")"),
}


@pytest.mark.parametrize("kind", PATTERNS)
def test_patterns_are_read_to_some_depth_and_refused_behind_it(kind: str) -> None:
    opening, closing = PATTERNS[kind]

    def match(depth: int) -> str:
        return f"match a:\n  case {opening * depth}2{closing * depth}:\n    pass\n"

    assert isinstance(lower(match(6)).body[0], ir.Match)
    for depth in (20, 100):
        with pytest.raises(SyntaxProblem, match="patterns are nested too deeply") as caught:
            lower(match(depth))
        assert caught.value.row == 2


def test_many_patterns_of_some_depth_are_refused_together() -> None:
    case = '  case {"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}}:\n    pass\n'
    lower("match a:\n" + case * 3)
    with pytest.raises(NestingError):
        outline("match a:\n" + case * 60)


@pytest.mark.parametrize(
    "text", ["case = " + "[" * 30 + "]" * 30, "case.a(" + "f(" * 30 + ")" * 31, "case: " + "a[" * 30 + "0" + "]" * 30]
)
def test_a_variable_of_the_name_case_is_no_pattern(text: str) -> None:
    lower(text)


def test_a_docstring_of_any_length_is_looked_over_in_time() -> None:
    before = time.process_time()
    outline(
        '"""'
        + "a.b + c(d) \\\\ 'e' " * 20_000
        + '"""\n'
        + "'"
        + "\\'" * 100_000
        + "'\n"
        + '"""' * 30_001
        + "\n"
        + "'" * 100_001
    )
    assert time.process_time() - before < 2
    assert chains.MAX_BRACKETS == 200
