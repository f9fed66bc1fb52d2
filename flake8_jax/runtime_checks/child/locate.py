"""Where the installed JAX treats a topic or raises an error: a search through its source that does not import it.

Request: ``topic``, ``limit``. Result: see ``Located`` in ``flake8_jax.runtime_checks.measurements``.

Vocabulary
----------
words   of the topic, in lower case; names in CamelCase count whole and in parts.
place   a line of source that may treat the topic: an error class and its message, a ``raise``, a definition, a
        docstring, and where they are installed, pages of documentation and tests.
share   how many of the words a place has. Messages have holes (``{shape}``), so a place need not have all of them.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flake8_jax.runtime_checks.child.jitting import Refusal, answer, forget_linter
from flake8_jax.runtime_checks.child.main import Channel

_KINDS = {"error class": 6.0, "raise": 5.0, "definition": 4.0, "docstring": 2.5, "documentation": 2.0, "test": 1.0}
_LEAST_SHARE = 0.6
_SKIPPED = frozenset({"__pycache__", "export_back_compat_test_data", "internal_test_util", "third_party"})
_TRIVIAL = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of", "on",
     "or", "the", "this", "to", "was", "with")
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_TEXT_WIDTH = 140


@dataclass(frozen=True)
class Place:
    """kind: see ``_KINDS``. name: of what is defined there. about: all the text that counts."""

    path: str
    line: int
    kind: str
    text: str
    about: str
    name: str = ""


def run(request: dict[str, Any], channel: Channel) -> None:
    """Search and tell."""
    answer(_locate, request, channel)


def _locate(request: Mapping[str, Any]) -> dict[str, Any]:
    forget_linter()
    spec = importlib.util.find_spec("jax")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        raise Refusal("jax is not installed here; name the interpreter that has it with --python")
    words = topic_words(request["topic"])
    if not words:
        raise Refusal(f"`{request['topic']}` has no word to look for")
    root = os.path.dirname(folders[0])
    ranked = sorted(
        ((score(place, request["topic"], words), place) for place in _places(folders[0], root, words)),
        key=lambda entry: (-entry[0], entry[1].path, entry[1].line),
    )
    found = [place for points, place in ranked if points > 0]
    shown = list({(place.path, place.line): place for place in reversed(found)}.values())[::-1]
    limit = request["limit"]
    return {
        "jax": importlib.metadata.version("jax"),
        "root": root,
        "hits": [
            {"path": place.path, "line": place.line, "text": place.text, "kind": place.kind} for place in shown[:limit]
        ],
        "more": max(0, len(shown) - limit),
    }


def topic_words(topic: str) -> list[str]:
    """The words to look for; of dotted names the last part, no trivial ones."""
    found = [word.lower() for word in _WORD.findall(re.sub(r"\b(?:jax|jnp|lax|numpy|np)\.", "", topic))]
    return list(dict.fromkeys(word for word in found if word not in _TRIVIAL and len(word) > 1))


def _places(package: str, root: str, words: list[str]) -> Iterator[Place]:
    for path in _files(package, (".py",)):
        yield from _in_file(path, words, "")
    # A checkout of JAX has its documentation and tests beside the package; an installed one has not.
    if not any(os.path.isfile(os.path.join(root, name)) for name in ("pyproject.toml", "setup.py")):
        return
    for path in _files(os.path.join(root, "tests"), (".py",)):
        yield from _in_file(path, words, "test")
    for path in _files(os.path.join(root, "docs"), (".md", ".rst")):
        for number, line in enumerate(_read(path).splitlines(), 1):
            if any(word in line.lower() for word in words):
                yield Place(path, number, "documentation", _cut(line), line)


def _files(folder: str, ends: tuple[str, ...]) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (os.path.join(where, name) for name in sorted(files) if name.endswith(ends))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _in_file(path: str, words: list[str], kind: str) -> Iterator[Place]:
    text = _read(path)
    lowered = text.lower()
    if sum(len(word) for word in words if word in lowered) < _LEAST_SHARE * sum(map(len, words)):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = text.splitlines()
    for place in _in_tree(tree, path, lines):
        yield Place(path, place.line, kind, place.text, place.about, place.name) if kind else place


def _in_tree(tree: ast.Module, path: str, lines: list[str]) -> Iterator[Place]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            is_error = node.name.endswith(("Error", "Exception", "Warning"))
            kind = "error class" if is_error else "definition"
            yield Place(path, node.lineno, kind, _line(lines, node.lineno), node.name, node.name)
            if is_error:
                yield from _messages(node, path, lines)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Place(path, node.lineno, "definition", _line(lines, node.lineno), node.name, node.name)
            yield from _raises(node.body, path, lines, {})
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.col_offset == 0:
            name = node.targets[0].id
            yield Place(path, node.lineno, "definition", _line(lines, node.lineno), name, name)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield from _docstring(node, path, lines)


def _messages(node: ast.ClassDef, path: str, lines: list[str]) -> Iterator[Place]:
    """Texts in an error class other than its docstring."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            texts = list(_texts(method))
            if texts:
                about = " ".join([node.name, *(text for _, text in texts)])
                number = next((line for line, text in texts if len(text) > 15), texts[0][0])
                yield Place(path, number, "error class", _line(lines, number), about)


def _raises(body: Iterable[ast.stmt], path: str, lines: list[str], named: dict[str, ast.stmt]) -> Iterator[Place]:
    """Statements that raise or return an exception, with the message, also where it was given a name before."""
    named = dict(named)
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            named[statement.targets[0].id] = statement
        elif _is_raise(statement):
            names = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
            parts: list[ast.AST] = [statement, *(named[name] for name in names if name in named)]
            about = " ".join([*names, *(text for part in parts for _, text in _texts(part))])
            yield Place(path, statement.lineno, "raise", _raised(lines, statement), about)
        for field in ("body", "orelse", "finalbody", "handlers"):
            inner: list[ast.stmt] = []
            for part in getattr(statement, field, ()):
                inner += part.body if isinstance(part, ast.ExceptHandler) else [part]
            yield from _raises(inner, path, lines, named)


def _is_raise(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return statement.exc is not None
    value = statement.value if isinstance(statement, ast.Return) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id.endswith("Error")


def _raised(lines: list[str], statement: ast.stmt) -> str:
    end = min(statement.end_lineno or statement.lineno, statement.lineno + 2)
    return _cut(" ".join(line.strip() for line in lines[statement.lineno - 1 : end]))


def _texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.lineno, part.value


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef, path: str, lines: list[str]) -> Iterator[Place]:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        text = first.value.value
        for number, line in enumerate(text.splitlines(), first.lineno):
            if line.strip():
                yield Place(path, number, "docstring", _cut(line), line)


def _line(lines: list[str], number: int) -> str:
    return _cut(lines[number - 1])


def _cut(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _TEXT_WIDTH else line[: _TEXT_WIDTH - 1] + "…"


def score(place: Place, topic: str, words: list[str]) -> float:
    """How well a place fits; 0: not at all."""
    about = place.about.lower()
    parts = {part.lower() for part in _CAMEL.findall(place.about)} if place.kind != "docstring" else set()
    having = [word for word in words if word in parts or (word in about and _starts(word, about))]
    share = sum(map(len, having)) / sum(map(len, words))
    if share < _LEAST_SHARE:
        return 0.0
    points = _KINDS[place.kind] * share * share
    last = topic.strip().rpartition(".")[2].lower()
    if place.name:
        points += 5.0 if place.name.lower() == last else 0.0
        points -= min(2.0, 0.05 * len(place.name))  # `scan` before `scan_of_something_else`
    elif place.kind == "docstring":
        points -= min(1.0, 0.005 * len(place.about))
    if len(words) > 1 and _plain(topic) in f"{_plain(place.about)} {' '.join(_CAMEL.findall(place.about)).lower()}":
        points += 3.0
    if f"{os.sep}experimental{os.sep}" in place.path:
        points -= 1.0
    return max(points, 0.01)


def _starts(word: str, text: str) -> bool:
    """Whether a word of the text begins with ``word``."""
    return re.search(rf"(?<![a-z]){re.escape(word)}", text) is not None


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()
