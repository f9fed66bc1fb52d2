"""Programs: real ones whose words, lines, expressions and statements were moved, lost, doubled and put elsewhere.

Half of the programs still are Python. Files of a project keep their names, so that they go on importing each other.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable

from fuzz import running, seeds
from fuzz.case import Case, Kind, Outcome
from fuzz.judging import compiles, judge_texts

Mutation = Callable[[random.Random, str], str]
_TRIES = 12
_WORD = re.compile(r"\w+|[ \t]+|\n|[^\w\s]")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_STATEMENTS = (
    "break", "continue", "return", "return x", "yield", "yield x", "await x", "global x", "nonlocal x", "del x",
    "raise", "x = x", "x = [x]", "x.append(x)", "x[:] = [x, x]", "x.x = x", "x += x", "x: int", "x: x = x", "pass",
    "...", "import x", "from . import x", "from .. import *", "from x import *", "import jax as x", "assert x, x",
    "x, *x = x", "[*x] = x", "for x in x: x", "while x: x = x", "while True: x", "with x as x: x",
    "class x(x): x = x", "def x(x=x): return x(x)", "class x(metaclass=x): __call__ = x", "x = lambda: x()",
    "x = jax.jit(x)", "x = jax.grad(jax.vmap(x))", "x = x(x)", "x = jax.lax.scan(x, x, x)",
    "x = jax.lax.cond(x, x, x)", "x = {x: x, **x}", "x = x[x]", "x.at[x].set(x)", "x @= x", "x = property(x)",
    "x = super().x", "x = type(x)", "x.__class__ = x", "x.__call__ = x", "x = x if x else x",
    "try:\n    x\nexcept* x as x:\n    x", "try:\n    x\nexcept x:\n    x\nelse:\n    x\nfinally:\n    x",
    "match x:\n    case [x, *_] | {'x': x, **y} | x.x(x=x): x\n    case _ if x: x",
    "async def x(): [x async for x in x]", "def x():\n    yield from x()\n    return x",
    "@x\n@x(x)\ndef x(x, /, y, *x, z=x, **k): x", "if (x := x): x", "x = [x for x in x if x for x in x]",
    "x = f'{x!r:>{x}}{x=}'", "print(x, file=x)", "x = jax.random.split(x)[x]", "x, y = y, x", "x = y = x",
    "x = jax.tree.map(x, x)", "x = functools.partial(x, x, x=x)", "x = iter(x); next(x)", "locals()['x'] = x",
    "exec('x')", "x = dataclasses.dataclass(x)", "x = jnp.where(x, x, x)", "del x[x], x.x",
)  # fmt: skip
_LITERALS = (
    "0", "-1", "1e999", "-0.0", "2**70", str(10**30), "1j", "None", "True", "...", "''", "b''", "'x'", "()", "[]",
    "{}", "{0}", "float('nan')", "range(10**9)", "[0] * 10**6", "slice(None)", "NotImplemented", "lambda: 0", "int",
    "object()", "jnp.nan", "jnp.zeros(10**9)", "(1,) * 100", "__import__('jax')", "0x10", "1_000", "'\\ud800'",
    "'%s' % 1", "print", "super()", "type",
)  # fmt: skip
_CHARACTERS = (
    "\x00\x01\x07\x0b\x0c\x1a\x1b\x1c\x1d\x1e\x1f\x7f\x85\xa0\xad\u0300\u200b\u200e\u202e\u2028\u2029\u2066\ufeff\ufffd\ufffe"
    "\U0001f600\U000e0001\U0010ffffªºµﬁ𝐱İıſ·\ud800\udfff\r\t\\`$?!"
)


# --- of words -------------------------------------------------------------------------------------------


def lose_words(rng: random.Random, text: str) -> str:
    words = _WORD.findall(text)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if words:
            del words[rng.randrange(len(words))]
    return "".join(words)


def double_words(rng: random.Random, text: str) -> str:
    words = _WORD.findall(text)
    first = rng.randrange(len(words) + 1)
    part = words[first : first + rng.choice((1, 2, 5, 30))]
    return "".join(words[:first] + part * rng.choice((2, 3, 20)) + words[first + len(part) :])


def swap_words(rng: random.Random, text: str) -> str:
    words = _WORD.findall(text)
    if len(words) > 1:
        for _ in range(rng.choice((1, 2, 6))):
            a, b = rng.randrange(len(words)), rng.randrange(len(words))
            words[a], words[b] = words[b], words[a]
    return "".join(words)


def truncate(rng: random.Random, text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return data[: rng.randrange(len(data) + 1)].decode("utf-8", "ignore")


def odd_characters(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 3, 10))):
        place = rng.randrange(len(text) + 1)
        one = rng.choice(_CHARACTERS) if rng.random() < 0.8 else chr(rng.randrange(0x110000))
        text = text[:place] + one + text[place:]
    return text


def clashing_names(rng: random.Random, text: str) -> str:
    """One name for two things, everywhere or in one place."""
    names = list(dict.fromkeys(_NAME.findall(text)))
    if len(names) < 2:
        return text
    old, new = rng.choice(names), rng.choice(names)
    return re.sub(rf"\b{old}\b", new, text, count=rng.choice((0, 0, 1, 2)))


# --- of lines -------------------------------------------------------------------------------------------


def other_indentation(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    first = rng.randrange(len(lines))
    add = rng.choice(("    ", " ", "\t", "\f", "        "))
    for index in range(first, min(first + rng.choice((1, 1, 3, 10)), len(lines))):
        lines[index] = add + lines[index] if rng.random() < 0.6 else lines[index].removeprefix("    ")
    return "".join(lines)


def moved_lines(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first = rng.randrange(len(lines) + 1)
    part = lines[first : first + rng.choice((1, 2, 6))]
    rest = lines[:first] + lines[first + len(part) :]
    place = rng.randrange(len(rest) + 1)
    return "".join(rest[:place] + part + rest[place:])


# --- of trees -------------------------------------------------------------------------------------------


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _offsets(text: str) -> list[int]:
    """Of the first byte of each row."""
    found = [0]
    for line in text.encode("utf-8", "surrogatepass").splitlines(keepends=True):
        found.append(found[-1] + len(line))
    return found


def _spans(text: str, kind: type[ast.expr] | type[ast.stmt]) -> list[tuple[int, int]]:
    """Where nodes of a kind are, in bytes of UTF-8."""
    tree = _tree(text)
    if tree is None or "\f" in text or "\r" in text:
        return []
    starts = _offsets(text)
    return [
        (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)
        for node in ast.walk(tree)
        if isinstance(node, kind) and node.end_lineno is not None and node.end_col_offset is not None
    ]


def _part(text: str, span: tuple[int, int]) -> str:
    return text.encode("utf-8", "surrogatepass")[slice(*span)].decode("utf-8", "replace")


def _with(text: str, span: tuple[int, int], new: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return (data[: span[0]] + new.encode("utf-8", "surrogatepass") + data[span[1] :]).decode("utf-8", "surrogatepass")


def other_expressions(rng: random.Random, text: str) -> str:
    """Expressions become other ones, of this program or of another."""
    for _ in range(rng.choice((1, 2, 4))):
        spans = _spans(text, ast.expr)
        if not spans:
            return text
        roll = rng.random()
        if roll < 0.3:
            new = rng.choice(_LITERALS)
        else:
            source = text if roll < 0.75 else rng.choice(seeds.texts())
            others = _spans(source, ast.expr)
            new = _part(source, rng.choice(others)) if others else "x"
        text = _with(text, rng.choice(spans), f"({new})" if rng.random() < 0.5 else new)
    return text


def wrapped_expressions(rng: random.Random, text: str) -> str:
    spans = _spans(text, ast.expr)
    if not spans:
        return text
    span = rng.choice(spans)
    part = _part(text, span)
    shapes = (
        ("(", ")"), ("[", "]"), ("f(", ")"), ("not ", ""), ("-", ""), ("lambda: ", ""), ("(lambda a: ", ")(0)"),
        ("{0: ", "}"), ("(x if y else ", ")"), ("jax.jit(", ")"), ("jnp.sin(", ")"), ("(", ")[0]"), ("(", ").T"),
        ("[a for a in ", "]"), ("(", " + 1)"), ("jax.vmap(lambda a: ", ")"), ("(z := ", ")"), ("f'{", "}'"),
        ("(yield ", ")"), ("(await ", ")"), ("next(iter(", "))"),
    )  # fmt: skip
    before, after = rng.choice(shapes)
    depth = rng.choice((1, 1, 2, 5, 20, 60))
    return _with(text, span, before * depth + part + after * depth)


def _statement_block(rng: random.Random) -> str:
    """A statement of some program, or an odd one with names of no program in particular."""
    if rng.random() < 0.5:
        return rng.choice(_STATEMENTS)
    source = rng.choice(seeds.texts())
    spans = _spans(source, ast.stmt)
    return _part(source, rng.choice(spans)) if spans else "pass"


def _indented(block: str, indentation: str) -> str:
    return "\n".join(indentation + line if line else line for line in block.split("\n"))


def spliced_statements(rng: random.Random, text: str) -> str:
    """Statements of other programs, or odd ones about names of this one, before, behind or instead of statements."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        spans = _spans(text, ast.stmt)
        if not spans:
            return text
        span = rng.choice(spans)
        data = text.encode("utf-8", "surrogatepass")
        line = data.rfind(b"\n", 0, span[0]) + 1
        indentation = data[line : span[0]].decode("utf-8", "replace")
        if indentation.strip():
            continue
        block = _statement_block(rng)
        names = list(dict.fromkeys(_NAME.findall(text)))
        if names and rng.random() < 0.8:
            block = _named(rng, block, names)
        block = _indented(block, indentation) if "\n" not in block else _reindented(block, indentation)
        kept = _part(text, span)
        roll = rng.random()
        first = block.lstrip()
        joined = first if roll < 0.3 else f"{first}\n{indentation}{kept}" if roll < 0.65 else f"{kept}\n{block}"
        text = _with(text, span, joined)
    return text


def _named(rng: random.Random, block: str, names: list[str]) -> str:
    """The block with names of a program for its own."""
    return re.sub(r"\b[xyz]\b", lambda _: rng.choice(names), block)


def _reindented(block: str, indentation: str) -> str:
    """A block whose first line lost its indentation, at another one."""
    first, *rest = block.split("\n")
    common = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip()), default=4)
    old = max(common - 4, 0)
    return "\n".join([indentation + first, *(indentation + line[old:] if line.strip() else line for line in rest)])


def wrapped_statements(rng: random.Random, text: str) -> str:
    spans = _spans(text, ast.stmt)
    if not spans:
        return text
    span = rng.choice(spans)
    data = text.encode("utf-8", "surrogatepass")
    line = data.rfind(b"\n", 0, span[0]) + 1
    indentation = data[line : span[0]].decode("utf-8", "replace")
    if indentation.strip():
        return text
    heads = (
        "if x:", "else:", "for x in y:", "while x:", "while True:", "try:", "with x:", "def x(x):", "class x(x):",
        "async def x():", "match x:\n    case x:", "@jax.jit\ndef x(x):", "@x\nclass x:", "if True:",
        "for _ in range(9):", "async for x in x:", "for x in x:\n    break\nelse:", "async with x:",
    )  # fmt: skip
    names = list(dict.fromkeys(_NAME.findall(text))) or ["x"]
    kept = indentation + _part(text, span)
    for _ in range(rng.choice((1, 1, 2, 4))):
        head = _named(rng, rng.choice(heads), names)
        depth = "        " if head.startswith("match") else "    "
        body = "\n".join(depth + part if part.strip() else part for part in kept.split("\n"))
        kept = f"{_indented(head, indentation)}\n{body}"
        if head == "try:":
            kept += f"\n{indentation}except {rng.choice(names)}:\n{indentation}    {rng.choice(('pass', 'raise', 'continue'))}"
    return _with(text, (line, span[1]), kept)


def lost_statements(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 2, 4))):
        spans = _spans(text, ast.stmt)
        if not spans:
            return text
        text = _with(text, rng.choice(spans), rng.choice(("pass", "...", "pass", "return", "raise")))
    return text


ON_TEXT: tuple[Mutation, ...] = (
    lose_words, double_words, swap_words, truncate, odd_characters, clashing_names, other_indentation, moved_lines,
)  # fmt: skip
ON_TREES: tuple[Mutation, ...] = (
    other_expressions, other_expressions, wrapped_expressions, spliced_statements, spliced_statements,
    wrapped_statements, lost_statements, clashing_names, swap_words, lose_words,
)  # fmt: skip


def mutated(rng: random.Random, text: str, whole: bool) -> tuple[str, str]:
    """A mutation of a text and what was done to it. ``whole``: it still is Python, where that is found within a few tries."""
    done: list[str] = []
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        for _ in range(_TRIES if whole else 1):
            mutation = rng.choice(ON_TREES if whole or rng.random() < 0.3 else ON_TEXT)
            new = mutation(rng, text)
            if new != text and len(new) < 60_000 and (not whole or compiles(new)):
                text = new
                done.append(mutation.__name__)
                break
    return text, ", ".join(done)


def generate(rng: random.Random, number: int) -> Case:
    project = dict(rng.choice(seeds.projects()))
    notes = []
    for name in rng.sample(sorted(project), min(len(project), rng.choice((1, 1, 2)))):
        project[name], note = mutated(rng, project[name], number % 2 == 0)
        notes.append(f"{name}: {note}")
    return Case({name: text.encode("utf-8", "surrogatepass") for name, text in project.items()}, "; ".join(notes))


def judge(case: Case) -> Outcome:
    return judge_texts({name: data.decode("utf-8", "surrogatepass") for name, data in case.files.items()})


KIND = Kind("programs", generate, judge)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("programs", seed, count)
