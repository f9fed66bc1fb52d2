"""Shape and positions of the representation are those of CPython's ``ast``."""

from __future__ import annotations

import ast
import symtable
import sys
import sysconfig
import tokenize
from pathlib import Path

import pytest
from syntax.oracle import disagreements

from flake8_jax.syntax.lower import SyntaxProblem, lower

SNIPPETS = [
    # parentheses, and what they belong to
    "(a)\n",
    "((a))\n",
    "( # c\n a # d\n)\n",
    "(a) + (b)\n",
    "((a) + b) * (c)\n",
    "(a, b)\n",
    "((a, b))\n",
    "(a), (b)\n",
    "()\n",
    "(a,)\n",
    "a,\n",
    "x = a, b,\n",
    "x = (a), b,\n",
    "(yield)\n",
    "f(x for x in y)\n",
    "f((x for x in y), 1)\n",
    "f(  # c\n  x for x in y\n)\n",
    "((x for x in y))\n",
    "(a)(b)(c)\n",
    "((a).b)[c]\n",
    "(a)[b,]\n",
    "not (a)\n",
    # calls and arguments
    "f()\n",
    "f( )\n",
    "f(a, *b, k=1, **d)\n",
    "f(a,\n  b, # c\n)\n",
    "f (a) (b)\n",
    "f(k = (1))\n",
    "f(* a, ** b)\n",
    "f(a)(b)[c].d(e=1).g\n",
    "f(a := 1)\n",
    "print(*a, sep='')\n",
    # subscripts and slices
    "x[a]\n",
    "x[a, b]\n",
    "x[a,]\n",
    "x[:]\n",
    "x[::]\n",
    "x[a:]\n",
    "x[:b]\n",
    "x[a:b:c]\n",
    "x[ a : b : c ]\n",
    "x[ : , ::2, ...]\n",
    "x[(a, b)]\n",
    "x[a:b, c]\n",
    "x[(a):(b)]\n",
    "x [ a ]\n",
    "x[lambda: 1]\n",
    "x[a:=1]\n",
    # operators
    "a + b - c * d / e // f % g ** h @ i & j | k ^ l << m >> n\n",
    "a ** -b ** c\n",
    "- + ~ a\n",
    "not not a\n",
    "a and b and c or d and e\n",
    "(a and b) and c\n",
    "a and (b and c)\n",
    "a or b or (c or d) or e\n",
    "a < b <= c != d == e > f >= g\n",
    "a is not b not in c in d is e\n",
    "a is  not b not \\\n in c\n",
    "a if b else c if d else e\n",
    "(a if b else c) if d else e\n",
    "(a)if(b)else(c)\n",
    "1if x else 2\n",
    "x = a \\\n  + b\n",
    "lambda: 0\n",
    "lambda a, b=1, *c, d, e=2, **f: (a, b)\n",
    "lambda a, /, b: a\n",
    "lambda *, a: a\n",
    "lambda *a, b=(lambda: 1): a\n",
    "(lambda x: (yield))\n",
    "(y := 1)\n",
    # literals
    "0\n1_000\n0xFF\n0b1\n0o17\n1.5e3\n1e999\n.5\n5.\n1j\n1e999j\n00\n",
    "99999999999999999999999\n",
    "...\n",
    "None, True, False\n",
    "'a' 'b'\n",
    "('a'\n  # c\n  \"b\")\n",
    "b'a\\x00' b'\\xff'\n",
    "rb'\\x' Rb'b'\n",
    "u'a'\n",
    "'\\n\\x41\\u0041\\U00000041\\N{EM DASH}\\101\\\n\\q'\n",
    "r'\\n'\n",
    "'''a\nb'''\n",
    "'''a'b''c\\''''\n",
    "''\n",
    '""""""\n',
    "'\\ud800'\n",
    "'\\0\\08\\400'\n",
    "x = '''\\\n'''\n",
    "'caf\u00e9', '\u65e5\u672c', x\n",
    "\u00e9\u00e9 = \ufb01 + \u03bc.\u00e9\n",
    # f-strings
    "f''\n",
    "f'a'\n",
    "f'{a}'\n",
    "f'{a}b{c}'\n",
    "f'{a!r}'\n",
    "f'{a:>10}'\n",
    "f'{a!r:>{w}}'\n",
    "f'{a:{b}.{c}}'\n",
    "f'{a=}'\n",
    "f'{a = }'\n",
    "f'{a=!s}'\n",
    "f'{a=:>3}'\n",
    "f'{{a}} {b} }}'\n",
    "'x' f'{a}' 'y' f'z{b}' 'w'\n",
    "f'{a[0]}{b.c}{d(e)}'\n",
    "rf'\\n{a}\\d'\n",
    "f'''{\na}\n'''\n",
    "f'{ a }'\n",
    "f'{a:}'\n",
    "f'{(lambda x: x)}'\n",
    "f'\\x41{a}\\N{EM DASH}'\n",
    "f'{a,}'\n",
    "f'{a, b}'\n",
    "f'{yield_}' if x else f'{ {1: 2}[1] }'\n",
    "F'{x!a}'\n",
    "f'{a:%Y-%m-%d}'\n",
    "f'{a}' \\\n 'b'\n",
    "f'{f\"{a}\"}'\n",
    "f'a' 'b'\n",
    # displays and comprehensions
    "[]\n",
    "[a, *b]\n",
    "{a, *b}\n",
    "{}\n",
    "{a: b, **c, d: (e)}\n",
    "[ # c\n a, # d\n b\n]\n",
    "[a for a in b if c if d]\n",
    "[a for a, b in c for d in e if f]\n",
    "{a for a in b}\n",
    "{a: b for a, b in c}\n",
    "[(a) for (a) in (b) if (c)]\n",
    "async def f():\n  return [a async for a in b], await c, await (d)\n",
    "[a for a in b if a or c]\n",
    "*a, b = c\n",
    # assignments
    "a = b = c\n",
    "(a) = b\n",
    "(a, b) = [c, d] = e\n",
    "a: int\n",
    "a: int = 1\n",
    "a.b: int = 1\n",
    "a[b]: c = d, e\n",
    "a += 1; b -= 2; c **= 3; d //= 4; e >>= 5; f <<= 6; g @= 7; h %= 8; i &= 9; j |= 1; k ^= 2; l /= 3; m *= 4\n",
    "a = yield_\n",
    "def f():\n  a = yield\n  b = yield c, d\n  yield from e\n  return (yield f)\n",
    # small statements and semicolons
    "pass;\n",
    "pass; pass\n",
    "pass ; pass ; # c\n",
    "if a: pass; b;\nelse: c;\n",
    "if a:\n  pass;\n\nb\n",
    "def f(): pass;\n",
    "del a\n",
    "del a, b\n",
    "del (a, b)\n",
    "del (a), b\n",
    "del a[0], b.c\n",
    "assert a\n",
    "assert a, b\n",
    "assert (a, b)\n",
    "raise\n",
    "raise a\n",
    "raise a from b\n",
    "def f():\n  return\n",
    "def f():\n  return(a)\n",
    "def f():\n  return a, b\n",
    "import a\n",
    "import a.b.c as d, e\n",
    "import a . b\n",
    "from a import b\n",
    "from . import b\n",
    "from ... a import b\n",
    "from .a.b import (c as d, e,)\n",
    "from a import *\n",
    "from a import ( # c\n  b,\n  # d\n  c)\n",
    "from .... import a\n",
    "def f():\n  global a, b\n  a = 1\n",
    "def f():\n  x = 1\n  def g():\n    nonlocal x\n    x = 2\n",
    # compound statements
    "if a:\n  b\nelif c:\n  d\nelif e:\n  f\nelse:\n  g\n",
    "if a:\n  b\nelse:\n  if c:\n    d\n",
    "if (a): b\n",
    "if a:b\n",
    "while a:\n  break\nelse:\n  continue_\n",
    "for a in b:\n  continue\nelse:\n  c\n",
    "for a, b in c, d: pass\n",
    "for (a) in (b): pass\n",
    "for a, in b: pass\n",
    "for *a, b in c: pass\n",
    "with a: pass\n",
    "with a as b, c as (d, e): pass\n",
    "with (a, b): pass\n",
    "with (a): pass\n",
    "with (a, b) as c: pass\n",
    "with (a as b, c as d,): pass\n",
    "with (a), (b): pass\n",
    "with (a).b as c: pass\n",
    "with (yield_): pass\n",
    "with a() as b.c, d as e[0]: pass\n",
    "with (\n  a as b,\n  # c\n):\n  pass\n",
    "async def f():\n  async with a as b: pass\n  async for c in d: pass\n  else: pass\n",
    "try: a\nexcept: b\n",
    "try:\n  a\nexcept A: b\nexcept (B, C) as d:\n  e\nelse: f\nfinally:\n  g\n",
    "try: a\nfinally: b\n",
    "try:\n  a\n# c\nexcept A:  # d\n  b\n  # e\n# f\nelse:\n  c\n",
    # definitions
    "def f(): pass\n",
    "def f(a, b=1, *c, d, e=2, **g) -> h: pass\n",
    "def f(a, /): pass\n",
    "def f(a, /, b, *, c): pass\n",
    "def f(a: int = 1, *b: (c), **d: e) -> (g): pass\n",
    "def f(\n  a,  # c\n  *,\n  b,\n):\n  # d\n  pass\n  # e\n",
    "@a\n@b.c(d)\ndef f(): pass\n",
    "@ a # c\n\n# d\ndef f(): pass\n",
    "@(a)\nclass C: pass\n",
    "async def f(): pass\n",
    "async  def  f ( ) : pass\n",
    "class C: pass\n",
    "class C(): pass\n",
    "class C(A, *b, k=1, **d): pass\n",
    "class C(A,): pass\n",
    "class C(\n  A,\n  m=B\n):\n  x = 1\n",
    "class A:\n class B:\n  def f(self):\n   class C:\n    def g(self): return lambda: [lambda: 0 for _ in x]\n",
    "def f():\n  global g\n  def g():\n    def h(): pass\n",
    "def f(a=lambda: 1, *b: lambda: 2) -> (lambda: 3): return lambda: 4\n",
    "def f():\n  @a\n  def g(): pass\n",
    "def f():\n    # c\n\n    pass\n\n\n# d\n",
    "@(yield_)\ndef f(a=(b)): return(a)\n",
    # match
    "match a:\n  case 1: pass\n  case -1.5 | 2 + 3j | 'a' 'b' | b'c': pass\n  case None | True: pass\n",
    "match a, b:\n  case a.b | (c.d): pass\n  case (1): pass\n  case ((x)): pass\n  case _: pass\n",
    "match (a):\n  case x, *y: pass\n  case [x, *_]: pass\n",
    "match (a):\n  case (x, y): pass\n  case (x,): pass\n  case x,: pass\n  case [] | (): pass\n",
    "match a:\n  case {}: pass\n  case {'k': v, 1: [x], **rest}: pass\n  case {'k': _, }: pass\n  case {**r, }: pass\n",
    "match a:\n  case A(): pass\n  case A(x, b.C(), k=1, l=(y),): pass\n",
    "match a:\n  case A(x) as z if z > 1: pass\n  case (A() | B()) as c: pass\n",
    "match(a)\nmatch[a]\nmatch = case = type = 1\n",
    "match a:\n  # c\n  case 1:\n    # d\n    pass\n  # e\n",
    "match a:\n  case -1j | - 2 | 1 - 2j: pass\n  case (((1, 2)), [(3)]): pass\n",
    # layout
    "",
    "\n",
    "# c",
    "# c\n",
    "\n\n  \n# c\n  # d\n",
    "a",
    "a # c",
    "a\n\n",
    "\ta = 1\n".lstrip(),
    "\x0ca\n",
    "a\n\x0c\nb\n",
    "if a:\n\tb\n",
    "if a:\n  \x0c  b\n",
    "a = [\n1,\n\n# c\n\n2]\n",
    "a \\\n  = \\\n  b\n",
    "if a: \\\n  b\n",
    "a = 1 \\\n\n",
    "x = (\n    1\n  + 2\n# c\n)\n",
    "if a:\n    b\n  # c\n        # d\nelse:\n    c\n",
    "class A:\n\n    x = 1\n\n    # c\n\n    def f(self):\n        pass\n",
    "if 1:\n  if 2:\n    if 3:\n      a\n    # three\n  # two\n# one\nb\n",
    "a\r\nb\r\n",
    "if a:\r\n  b # c\r\n\r\nelse:\r\n  '''x\r\ny'''\r\n",
    "a\rb\r",
    "a = (1,\r\n  2)\r\n",
    "x = 1 # c\r\n",
    "\\\na\n",
    "if a:\n  b\n\\\n\nc\n",
]

NEW_SNIPPETS = {
    (3, 11): [
        "x[*a]\n",
        "x[a, *b]\n",
        "x[*a, b:c]\n",
        "def f(*a: *b): pass\n",
        "try: a\nexcept* A: b\nexcept *(B, C) as d: e\n",
    ],
    (3, 12): [
        "def f[T](a: T): return T\n",
        "class C[T: int, *Ts, **P](A): pass\n",
        "type A = int\n",
        "type A[T: (lambda: 0)] = T; x = 1\n",
        "f'{a['b']}'\n",
        "f'{\n  a  # c\n}'\n",
        "f'{'\\n'.join(a)}'\n",
        "f'{f'{f'{a}'}'}'\n",
        "def f[ T ] ( a ) : pass\n",
    ],
    (3, 13): ["def f[T = int](a: T): pass\n", "class C[*Ts = *tuple[int]]: pass\n"],
    (3, 14): ["t'{a}b'\n", "t'{a!r:>{w}}'\n", "try: a\nexcept A, B: c\n"],
}


@pytest.mark.parametrize("text", SNIPPETS)
def test_snippets_agree_with_the_interpreter(text: str) -> None:
    assert disagreements(text, lower(text)) == []


@pytest.mark.parametrize("text", [text for texts in NEW_SNIPPETS.values() for text in texts])
def test_newer_syntax_is_lowered_on_every_interpreter(text: str) -> None:
    module = lower(text)
    version = next(version for version, texts in NEW_SNIPPETS.items() if text in texts)
    if sys.version_info >= version and not text.startswith("t'"):
        assert disagreements(text, module) == []


@pytest.mark.parametrize("text", [text for text in SNIPPETS if text.strip() and "\r" not in text])
def test_other_newlines_shift_positions_and_nothing_else(text: str) -> None:
    crlf = text.replace("\n", "\r\n")
    assert disagreements(crlf, lower(crlf)) == []


def _standard_library() -> list[Path]:
    root = Path(sysconfig.get_path("stdlib"))
    return sorted(root.glob("*.py"))[::6] + sorted(root.glob("[aceijlu]*/*.py"))[::12]


@pytest.mark.parametrize("path", _standard_library(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_standard_library_agrees_with_the_interpreter(path: Path) -> None:
    with tokenize.open(path) as stream:
        encoding = stream.encoding
    text = path.read_bytes().decode(encoding)
    try:
        ast.parse(text)
        symtable.symtable(text, str(path), "exec")
    except (SyntaxError, ValueError):
        pytest.skip("not meant to compile")
    try:
        module = lower(text)
    except SyntaxProblem as problem:
        assert "not supported by LibCST" in problem.message
        return
    assert disagreements(text, module) == []
