"""What is found does not hang on how a program is written down.

Every section of the documents is a program; each is renamed, imported, laid out and spread over files in other ways,
and the findings must be the same. A finding is identified by its rule and by the tokens of the code that it stands on.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from semantics.literate import Section, engine_on, run_engine, sections_of, together

from flake8_jax.semantics.analysis.analyze import Analysis
from flake8_jax.semantics.trackers.key_names import is_of_key

SECTIONS = [s for path in sorted(Path(__file__).parent.glob("*.md")) for s in sections_of(path)]
SPEAKING = [s for s in SECTIONS if any(mark == "expect" for _, _, mark, _ in s.marks())]
FEW = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

Findings = Counter[tuple[str, str]]
Tokens = list[tokenize.TokenInfo]


def tokens_of(text: str) -> Tokens:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}


def squeezed(text: str) -> str:
    """The tokens of a piece of code, however it is laid out."""
    try:
        return " ".join(t.string for t in tokens_of(f"({text}\n)") if t.type not in LAYOUT)
    except (tokenize.TokenError, IndentationError):
        return " ".join(text.split())


def findings_of(files: dict[str, str], back: Callable[[str], str] = str) -> Findings:
    """Findings of a project; ``back`` undoes in a piece of code what was done to the project."""
    return read_findings(run_engine(files)[0], files, back)


def findings_in(section: Section) -> Findings:
    """Findings of a section as it is."""
    return read_findings(engine_on(section)[0], section.files)


def read_findings(analysis: Analysis, files: dict[str, str], back: Callable[[str], str] = str) -> Findings:
    assert not analysis.crashes, analysis.crashes[0]
    texts = {f"/project/{file}": text for file, text in files.items()}
    return Counter(
        (f.name, back(squeezed(texts[f.path][f.start : f.end]))) for f in analysis.findings if f.name != "reveal"
    )


def rebuilt(text: str, change: Callable[[int, Tokens], str]) -> str:
    """The text with every name token replaced by what ``change`` makes of it."""
    tokens = tokens_of(text)
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    out, position = [], 0
    for i, token in enumerate(tokens):
        if token.type != tokenize.NAME:
            continue
        start = starts[token.start[0] - 1] + token.start[1]
        out += [text[position:start], change(i, tokens)]
        position = start + len(token.string)
    return "".join([*out, text[position:]])


# --- renaming ---------------------------------------------------------------------------------------------


def own_names(files: dict[str, str]) -> set[str]:
    """Names that the project binds and that nothing but plain names refers to."""
    bound: set[str] = set()
    spoken: set[str] = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "reveal", "main"}
    for text in files.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
            elif isinstance(node, ast.Attribute):
                spoken.add(node.attr)
            elif isinstance(node, ast.keyword) and node.arg:
                spoken.add(node.arg)
            elif isinstance(node, ast.JoinedStr):  # one token until Python 3.12
                spoken |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            elif isinstance(node, ast.ClassDef):
                spoken.add(node.name)
                spoken |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                spoken |= {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                spoken |= set(node.value.replace(",", " ").split())
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                spoken |= {part for a in node.names for part in (a.asname or a.name).split(".")}
                spoken |= {part for a in node.names for part in a.name.split(".")}
                spoken |= set((getattr(node, "module", None) or "").split("."))
    return {n for n in bound - spoken if not n.startswith("__")}


def renamed(files: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    return {file: rebuilt(text, lambda i, t: names.get(t[i].string, t[i].string)) for file, text in files.items()}


@FEW
@given(section=st.sampled_from(SPEAKING), data=st.data())
def test_renaming(section: Section, data: st.DataObject) -> None:
    # ``self`` and ``cls`` say what a function in a class is, and capitals that a number is a setting.
    names = sorted(n for n in own_names(section.files) - {"self", "cls"} if not n.isupper())
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    # What the names of keys say is a convention, which ``init(key, x)`` of an unknown object hangs on.
    new = {name: f"zz_{i}_{name[::-1]}" + ("_key" if is_of_key(name) else "") for i, name in enumerate(chosen)}
    old = {v: k for k, v in new.items()}

    def back(code: str) -> str:
        return " ".join(old.get(word, word) for word in code.split())

    assert findings_of(renamed(section.files, new), back) == findings_in(section)


# --- imports ----------------------------------------------------------------------------------------------

ALIASES = {
    "import jax.numpy as jnp": ("from jax import numpy as np2", {"jnp": "np2"}),
    "import jax": ("import jax as j4x", {"jax": "j4x"}),
    "import numpy as np": ("import numpy", {"np": "numpy"}),
    "from functools import partial": ("import functools as ft", {"partial": "ft.partial"}),
    "import flax.linen as nn": ("from flax import linen", {"nn": "linen"}),
    "from flax import struct": ("import flax.struct as fs", {"struct": "fs"}),
    "from typing import NamedTuple": ("import typing as tp", {"NamedTuple": "tp.NamedTuple"}),
}


def realiased(text: str) -> tuple[str, dict[str, str]]:
    """A file whose library imports are spelled otherwise, and the names that changed."""
    lines = text.splitlines()
    changed: dict[str, str] = {}
    rows: set[int] = set()
    dotted = any(line.strip().startswith("import jax.") and " as " not in line for line in lines)
    for row, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.startswith(("import ", "from ")):
            rows.add(row)
        if stripped in ALIASES and not (stripped == "import jax" and dotted):
            new, names = ALIASES[stripped]
            if not set(names.values()) & set(text.split()):
                lines[row - 1] = line.replace(stripped, new)
                changed.update(names)

    def change(i: int, tokens: Tokens) -> str:
        token = tokens[i]
        attribute = i > 0 and tokens[i - 1].string == "."
        keyword_argument = i + 1 < len(tokens) and tokens[i + 1].string == "=" and tokens[i - 1].string in "(,"
        if token.start[0] in rows or attribute or keyword_argument:
            return token.string
        return changed.get(token.string, token.string)

    return rebuilt("\n".join(lines) + "\n", change), changed


@pytest.mark.parametrize("section", [pytest.param(s, id=s.name, marks=together(s)) for s in SPEAKING])
def test_imports(section: Section) -> None:
    made = {file: realiased(text) for file, text in section.files.items()}
    old = {squeezed(v)[2:-2]: k for _, names in made.values() for k, v in names.items()}

    def back(code: str) -> str:
        for new, name in old.items():
            code = f" {code} ".replace(f" {new} ", f" {name} ").strip()
        return code

    assert findings_of({file: text for file, (text, _) in made.items()}, back) == findings_in(section)


# --- layout -----------------------------------------------------------------------------------------------


def laid_out(text: str, draw: Iterator[int]) -> str:
    """The same tokens with other white space: inside brackets anything goes, between statements blank lines do."""
    tokens = tokens_of(text)
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    out, position, depth, literal = [], 0, 0, 0
    fstring_start, fstring_end = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
    for token in tokens:
        start = starts[token.start[0] - 1] + token.start[1] if token.start[0] <= len(lines) else len(text)
        literal += (token.type == fstring_start) - (token.type == fstring_end)
        out.append(text[position:start])
        position = start
        if depth and not literal and token.type not in LAYOUT and token.type != fstring_end:
            out.append(("", " ", "\n", "\n      ", " # why\n")[next(draw) % 5])
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if token.type == tokenize.NEWLINE and next(draw) % 3 == 0:
            out.append(text[position : position + 1] + "\n# a remark\n\n")
            position += 1
    return "".join([*out, text[position:]])


@FEW
@given(section=st.sampled_from(SPEAKING), seed=st.randoms(use_true_random=False))
def test_layout(section: Section, seed: object) -> None:
    def numbers() -> Iterator[int]:
        while True:
            yield seed.randrange(1 << 16)  # type: ignore[attr-defined]

    draw = numbers()
    changed = {file: laid_out(text, draw) for file, text in section.files.items()}
    for text in changed.values():
        ast.parse(text)
    assert findings_of(changed) == findings_in(section)


# --- files ------------------------------------------------------------------------------------------------


def movable(text: str) -> list[ast.FunctionDef]:
    """Functions at the top level that need nothing of their module but what it imports."""
    tree = ast.parse(text)
    imported: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not (isinstance(node, ast.ImportFrom) and node.level):
            imported |= {(a.asname or a.name).split(".")[0] for a in node.names}
    found = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name == "main":
            continue
        inner = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        inner |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        inner |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)} - {node.name}
        read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if read <= inner | imported | set(dir(builtins)) and not any(isinstance(n, ast.Global) for n in ast.walk(node)):
            found.append(node)
    return found


def moved(files: dict[str, str], file: str, function: ast.FunctionDef) -> dict[str, str]:
    """The function in a file of its own, imported where it stood."""
    text = files[file]
    lines = text.splitlines(keepends=True)
    first = min([d.lineno for d in function.decorator_list], default=function.lineno) - 1
    last = function.end_lineno or first
    imports = [
        "".join(lines[n.lineno - 1 : n.end_lineno])
        for n in ast.parse(text).body
        if isinstance(n, (ast.Import, ast.ImportFrom)) and not (isinstance(n, ast.ImportFrom) and n.level)
    ]
    remaining = [*lines[:first], f"from elsewhere import {function.name}\n", *lines[last:]]
    return {**files, file: "".join(remaining), "elsewhere.py": "".join([*imports, *lines[first:last]])}


MOVES = [
    pytest.param(s, file, node, id=f"{s.name}: {file}: {node.name}", marks=together(s))
    for s in SPEAKING
    if not any(file.startswith("src/") for file in s.files)
    for file, text in s.files.items()
    for node in movable(text)
    if "# %%" not in text  # what is meant in a cell may not be elsewhere
]


@pytest.mark.parametrize("section, file, function", MOVES)
def test_moving(section: Section, file: str, function: ast.FunctionDef) -> None:
    assert findings_of(moved(section.files, file, function)) == findings_in(section)


def test_there_is_something_to_move() -> None:
    assert len(MOVES) > 20
