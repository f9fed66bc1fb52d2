"""What lowering says about scopes, names, functions and logical lines."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from syntax.oracle import walk_functions

from flake8_jax.core import ir
from flake8_jax.syntax.lower import line_starts, lower


def functions(text: str) -> dict[str, ir.Function]:
    return {function.qualname: function for function in walk_functions(lower(text).body)}


def test_local_names_are_those_that_the_body_binds_in_order() -> None:
    text = """\
def f(a, /, b=1, *c, d, **e):
    import g.h, i as j
    from k import l as m, n
    o = p.q = r[0] = 1
    s: int
    (t, [u, *v]), w = x
    y += 1
    for z, aa in bb: pass
    with cc as dd, ee as (ff, gg): pass
    try: pass
    except hh as ii: pass
    def jj(): kk = 1
    class ll: mm = 1
    [nn for nn in oo if (pp := nn)]
    lambda qq: (rr := 1)
    del ss
    match tt:
        case {"k": uu, **vv} | [ww, *xx] | A(yy, k=zz) as ab: pass
        case _: pass
"""
    names = functions(text)["f"].local_names
    assert " ".join(names) == "a b c d e g j m n o s t u v w y z aa dd ff gg ii jj ll pp ss uu vv ww xx yy zz ab"


def test_declared_names_are_not_local() -> None:
    found = functions("def f():\n  global a\n  a = b = 1\n  def g():\n    nonlocal b\n    b = c = 2\n")
    assert (found["f"].local_names, found["f"].global_names) == (["b", "g"], ["a"])
    assert (found["f.<locals>.g"].local_names, found["f.<locals>.g"].nonlocal_names) == (["c"], ["b"])


def test_defaults_decorators_and_annotations_belong_to_the_outer_scope() -> None:
    module = lower("@(a := d)\ndef f(b=(c := 1), *, g: (h := 2)) -> (i := 3): j = 1\n")
    assert module.bound_names == ["a", "f", "c", "h", "i"]
    assert next(walk_functions(module.body)).local_names == ["b", "g", "j"]


@pytest.mark.parametrize(
    ("text", "generators"),
    [
        ("def f(): yield\n", ["f"]),
        ("def f():\n  def g(): yield from a\n", ["f.<locals>.g"]),
        ("def f(): return lambda: (yield)\n", ["f.<locals>.<lambda>"]),
        ("def f(a=(lambda: (yield 1))): pass\n", ["<lambda>"]),
        ("def f(): return [a for a in b]\n", []),
    ],
)
def test_generators_are_those_whose_own_body_yields(text: str, generators: list[str]) -> None:
    assert [name for name, function in functions(text).items() if function.is_generator] == generators


def test_functions_are_numbered_in_source_order() -> None:
    text = "@(lambda: 0)\ndef f(a=lambda: 1):\n  def g(): pass\n  return lambda: 2\nclass C:\n  async def h(s): pass\n"
    found = sorted(walk_functions(lower(text).body), key=lambda function: function.index)
    assert [(function.index, function.qualname) for function in found] == [
        (0, "<lambda>"),
        (1, "f"),
        (2, "<lambda>"),
        (3, "f.<locals>.g"),
        (4, "f.<locals>.<lambda>"),
        (5, "C.h"),
    ]
    assert [function.is_async for function in found] == [False] * 5 + [True]


def test_type_parameters_are_local_and_their_functions_are_not_numbered() -> None:
    module = lower("def f[T: (lambda: 0), *Ts, **P](a): pass\ng = lambda: 1\n")
    assert module.n_functions == 2
    assert next(walk_functions(module.body)).local_names == ["a", "T", "Ts", "P"]


def test_nested_module_level_statements_bind_module_names() -> None:
    text = """\
if a:
    b = 1
else:
    try:
        import c
    except d as e:
        f: int = 2
for g in h:
    def i(): j = 1
"""
    assert lower(text).bound_names == ["b", "c", "e", "f", "g", "i"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = 1\n", []),
        ("a = 1\na = 2\n", ["a"]),
        ("a = 1\na += 1\n", ["a"]),
        ("if x: a = 1\nelif y: a = 2\nelse: a = 3\n", []),
        ("try:\n  import a\n  b = True\nexcept ImportError:\n  a = None\n  b = False\n", []),
        ("try: a = 1\nexcept x: a = 2\nfinally: a = 3\n", ["a"]),
        ("a = 1\nif x: a = 2\n", ["a"]),
        ("if x:\n  a = 1\n  a = 2\n", ["a"]),
        ("import a.b\nimport a.c\nfrom d import e\nfrom d import e\n", []),
        ("from a import b\nfrom c import b\n", ["b"]),
        ("def a(): pass\na = jit(a)\n", []),
        ("a: int\na = 1\n", []),
        ("for a in b: pass\nwith c as a: pass\n", ["a"]),
        ("a, (b, *c) = x\n[c, b] = y\n", ["b", "c"]),
        ("a = 1\ndef f():\n  global a\n  a = 2\n", ["a"]),
        ("a = 1\ndef f():\n  global a\n  return a\n", []),
        ("a = 1\ndef f():\n  a = 2\n", []),
        ("a = 1\nclass C:\n  global a\n  a = 2\n", ["a"]),
        ("a = 1\nprint(a := 2)\n", ["a"]),
        ("match x:\n  case 1: a = 1\n  case 2: a = 2\n", []),
    ],
)
def test_rebound_names(text: str, names: list[str]) -> None:
    assert lower(text).rebound_names == names


@pytest.mark.parametrize(
    ("text", "exports"),
    [
        ("a = 1\n", None),
        ("__all__ = ['a', 'b']\n", ["a", "b"]),
        ("__all__ = ('a',) + ['b']\n__all__ += ['c']\n", ["a", "b", "c"]),
        ("__all__: list[str] = []\n", []),
        ("__all__ = ['a'] + other.__all__\n", None),
        ("__all__ = ['a']\n__all__ += names\n", None),
        ("__all__ = ['a']\n__all__.extend(other)\n", None),
    ],
)
def test_star_exports(text: str, exports: list[str] | None) -> None:
    assert lower(text).star_exports == exports


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_logical_lines_are_those_that_span_several_physical_ones(line_break: str) -> None:
    text = """\
a = 1
b = [1,  # c
  2]  # d
@e(
)
def f(
  g,
):  # h
  '''i
  j'''
  k = 1; l = \\
    2; m
if n: o(
  p)
elif (q
    ): pass
else:
  r
match (
  s):
  case [
    t
  ]: u
v = '''
'''""".replace("\n", line_break)
    module = lower(text)
    lines = [text[start:end].replace(line_break, "|") for start, end in module.logical_lines]
    assert lines == [
        "b = [1,  # c|  2]  # d",
        "@e(|)",
        "def f(|  g,|):  # h",
        "'''i|  j'''",
        "k = 1; l = \\|    2; m",
        "if n: o(|  p)",
        "elif (q|    ): pass",
        "match (|  s):",
        "case [|    t|  ]: u",
        "v = '''|'''",
    ]


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n\n", "a\r\nb\rc\n\n", "a\x0cb\u2028c\x85\n", "\r\r\n\n"])
def test_line_starts(text: str) -> None:
    starts = line_starts(text)
    lines = text.replace("\r\n", "\n\0").replace("\r", "\n").replace("\0", "").split("\n")
    assert len(starts) == len(lines)
    for row, line in enumerate(lines):
        assert text.startswith(line, starts[row])
        assert bisect_right(starts, starts[row]) == row + 1


def test_f_strings_keep_their_specs() -> None:
    text = "f'{a:>10}{b!r:{w}.2f}{c}{d:}{e=}'\n"
    (statement,) = lower(text).body
    assert isinstance(statement, ir.ExprStmt) and isinstance(statement.value, ir.JoinedStr)
    fields = [value for value in statement.value.values if isinstance(value, ir.FormattedValue)]
    assert [(field.conversion, field.spec_text) for field in fields] == [
        (None, ">10"), ("r", None), (None, None), (None, ""), ("r", None),
    ]  # fmt: skip
    assert [text[field.start : field.end] for field in fields] == [
        "{a:>10}", "{b!r:{w}.2f}", "{c}", "{d:}", "{e=}",
    ]  # fmt: skip
    assert [field.spec is None for field in fields] == [False, False, True, False, True]


def test_t_strings_look_like_f_strings() -> None:
    (statement,) = lower("t'a{b!r:>3}'\n").body
    assert isinstance(statement, ir.ExprStmt)
    assert statement.value == ir.JoinedStr(
        0,
        12,
        [
            ir.Constant(2, 3, "str", "a"),
            ir.FormattedValue(3, 11, ir.Name(4, 5, "b"), "r", [ir.Constant(8, 10, "str", ">3")], ">3"),
        ],
    )


def test_newer_comprehensions_and_imports() -> None:
    (spread, merged, lazy) = lower("[*a for a in b]\n{**a for a in b}\nlazy import c\n").body
    assert isinstance(spread, ir.ExprStmt) and isinstance(spread.value, ir.Comprehension)
    assert spread.value.element == ir.Starred(1, 3, ir.Name(2, 3, "a"))
    assert isinstance(merged, ir.ExprStmt) and isinstance(merged.value, ir.Comprehension)
    assert (merged.value.kind, merged.value.key, merged.value.element.start) == ("dict", None, 19)
    assert lazy == ir.Import(33, 46, [ir.ImportedName(45, 46, "c")])
