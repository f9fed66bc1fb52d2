"""Where JAX's source treats a topic or raises an error: a search that does not import JAX.

Request: ``topic``, ``limit``, ``kinds``, ``source``. Result: see ``Located`` in ``flake8_jax.runtime_checks.measurements``.

Vocabulary
----------
topic     a name or a few words, or the text of an error, or a traceback (see ``pasted``). The source of a message is found
          by its literal parts (see ``messages``), everything else by words.
words     of the topic, in lower case; names in CamelCase count whole and in parts.
place     a line of source that may treat the topic: an error class and its message, a ``raise``, a definition, a
          docstring, and where they are installed, pages of documentation and tests.
share     how many of the words a place has.
checkout  a folder with JAX's repository. It has documentation and tests beside the package, but a wheel has neither.

Limitations: of files that only have the words, those that have most of them are parsed, up to a size.
"""

from __future__ import annotations

import ast
import builtins
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flake8_jax.runtime_checks.child.jitting import Refusal, answer, forget_linter
from flake8_jax.runtime_checks.child.main import Channel
from flake8_jax.runtime_checks.child.messages import candidate_files, ranked
from flake8_jax.runtime_checks.child.pasted import Frame, Pasted, read_pasted

_KINDS = {"error class": 6.0, "raise": 5.0, "definition": 4.0, "docstring": 2.5, "documentation": 2.0, "test": 1.0}
_GROUPS = {
    "errors": ("error class", "raise", "message", "frame"),
    "definitions": ("definition",),
    "docs": ("docstring", "documentation"),
    "tests": ("test",),
}
_LEAST_SHARE = 0.6
_LARGEST_PARSED = 1_000_000
_MESSAGE_WORDS = 4
_WORDS_OF_A_MESSAGE = 16
_SKIPPED = frozenset({"__pycache__", "export_back_compat_test_data", "internal_test_util", "third_party"})
_TRIVIAL = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of", "on",
     "or", "the", "this", "to", "was", "with")
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_VERSION = re.compile(rb"^_version\s*=\s*['\"]([\w.]+)['\"]", re.MULTILINE)
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


@dataclass(frozen=True)
class _Source:
    """Files of JAX with their contents: of the package, and of the tests and the documentation of a checkout."""

    root: str
    version: str
    package: Mapping[str, bytes]
    tests: Mapping[str, bytes]
    documentation: Mapping[str, bytes]


def run(request: dict[str, Any], channel: Channel) -> None:
    """Search and send the result."""
    answer(_locate, request, channel)


def _locate(request: Mapping[str, Any]) -> dict[str, Any]:
    topic: str = request["topic"]
    pasted = read_pasted(topic)
    is_message = _is_message(topic, pasted)
    words = topic_words(_topic_of(pasted) if is_message else topic)
    if not words and not pasted.frames:
        raise Refusal(f"`{topic.strip()[:80]}` has no word to look for")
    kinds = {kind for group in request["kinds"] or _GROUPS for kind in _GROUPS[group]}
    source = _read_source(request["source"], kinds)
    found = _places_of_message(source, pasted, kinds) if is_message else []
    skipped = 0
    # The words of a message that is not JAX's are in many files that have nothing to do with it.
    if not is_message or request["kinds"] or not (found or pasted.error):
        by_words, skipped = _places_of_words(source, _topic_of(pasted) if is_message else topic, words, kinds)
        found += by_words
    found += [place for place in _places_of_frames(source, pasted) if place.kind in kinds and not found]
    shown = list({(place.path, place.line): place for place in reversed(found)}.values())[::-1]
    limit = request["limit"]
    return {
        "jax": source.version,
        "root": source.root,
        "error": pasted.error if is_message else "",
        "message": " ".join(pasted.message.split())[:_TEXT_WIDTH] if is_message else "",
        "hits": [
            {"path": place.path, "line": place.line, "text": place.text, "kind": place.kind} for place in shown[:limit]
        ],
        "more": max(0, len(shown) - limit),
        "skipped": skipped,
        "has_tests": bool(source.tests) or "tests" not in request["kinds"],
        "has_documentation": bool(source.documentation) or "docs" not in request["kinds"],
    }


def _is_message(topic: str, pasted: Pasted) -> bool:
    return bool(pasted.frames or (pasted.error and pasted.message)) or len(topic.split()) >= _MESSAGE_WORDS


def _topic_of(pasted: Pasted) -> str:
    """What the documentation says of an error stands under its class, if that is JAX's own."""
    if pasted.error and not hasattr(builtins, pasted.error) and pasted.error != "JaxRuntimeError":
        return pasted.error
    return " ".join(pasted.message.split()[:_WORDS_OF_A_MESSAGE])


def _read_source(named: str | None, kinds: set[str]) -> _Source:
    """The files of the checkout or package that is named, else of the installed JAX. Raises Refusal."""
    forget_linter()
    if named is not None:
        package = next((path for path in (os.path.join(named, "jax"), named) if _is_jax(path)), None)
        if package is None:
            raise Refusal(f"{named} is not a checkout of JAX: it has no jax/version.py")
    else:
        spec = importlib.util.find_spec("jax")
        package = next((path for path in (spec and spec.submodule_search_locations) or () if _is_jax(path)), None)
        if package is None:
            raise Refusal(
                "jax is not installed here; name the interpreter that has it with --python, or a checkout with --source"
            )
    root = os.path.dirname(os.path.abspath(package))
    is_checkout = any(os.path.isfile(os.path.join(root, name)) for name in ("pyproject.toml", "setup.py"))
    # The tests of a wheel's neighbors in site-packages are not JAX's.
    tests = os.path.join(root, "tests") if is_checkout and "test" in kinds else ""
    pages = os.path.join(root, "docs") if is_checkout and "documentation" in kinds else ""
    return _Source(
        root,
        _version(package),
        {path: _read(path) for path in _files(os.path.join(root, "jax"), (".py",))},
        {path: _read(path) for path in _files(tests, (".py",))},
        {path: _read(path) for path in _files(pages, (".md", ".rst"))},
    )


def _is_jax(package: str) -> bool:
    return os.path.isfile(os.path.join(package, "version.py")) and os.path.basename(os.path.abspath(package)) == "jax"


def _version(package: str) -> str:
    match = _VERSION.search(_read(os.path.join(package, "version.py")))
    if match is not None:
        return match.group(1).decode()
    try:
        return importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def topic_words(topic: str) -> list[str]:
    """The words to look for; of dotted names the last part, no trivial ones."""
    found = [word.lower() for word in _WORD.findall(re.sub(r"\b(?:jax|jnp|lax|numpy|np)\.", "", topic))]
    return list(dict.fromkeys(word for word in found if word not in _TRIVIAL and len(word) > 1))


def _files(folder: str, ends: tuple[str, ...]) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (os.path.join(where, name) for name in sorted(files) if name.endswith(ends))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _parsed(contents: Mapping[str, bytes], paths: Iterable[str]) -> Iterator[tuple[str, ast.Module, list[str]]]:
    for path in paths:
        text = contents[path].decode("utf-8", "replace")
        try:
            yield path, ast.parse(text), text.splitlines()
        except (SyntaxError, ValueError):
            continue


def _places_of_message(source: _Source, pasted: Pasted, kinds: set[str]) -> list[Place]:
    """The statements that make the message, then the class of the error."""
    found: list[Place] = []
    for contents, is_test in ((source.package, False), (source.tests, True)):
        if is_test and "test" not in kinds:
            continue
        parsed = list(_parsed(contents, candidate_files(contents, pasted)))
        lines_of = {path: lines for path, _, lines in parsed}
        best = ranked(parsed, pasted, _frames_in(source, pasted.frames))
        for points, path, template, line in best:
            if points < best[0][0] / 4:
                break
            kind = "test" if is_test else "raise" if template.is_raise else "message"
            end = template.last_line if template.is_raise else line
            found.append(Place(path, line, kind, _joined(lines_of[path], line, end), ""))
        if pasted.error and not is_test:
            found += [
                place
                for path, tree, lines in parsed
                for place in _in_tree(tree, path, lines)
                if place.kind == "error class" and place.name == pasted.error
            ]
    return [place for place in found if place.kind in kinds]


def _frames_in(source: _Source, frames: Sequence[Frame]) -> list[tuple[str, int, str]]:
    """The frames of a traceback that lie in JAX, with the path that their file has here."""
    found = []
    for frame in frames:
        _, inside, relative = frame.path.replace("\\", "/").rpartition("/jax/")
        path = os.path.join(source.root, "jax", *relative.split("/"))
        if inside and path in source.package:
            found.append((path, frame.line, frame.function))
    return found


def _places_of_frames(source: _Source, pasted: Pasted) -> list[Place]:
    """Where the traceback was in JAX, the innermost frame first: the answer for a message that is not JAX's."""
    found = []
    for path, line, _ in reversed(_frames_in(source, pasted.frames)):
        lines = source.package[path].decode("utf-8", "replace").splitlines()
        if line <= len(lines):
            found.append(Place(path, line, "frame", _line(lines, line), ""))
    return found


def _places_of_words(source: _Source, topic: str, words: list[str], kinds: set[str]) -> tuple[list[Place], int]:
    """The places that have the words, the best first, and how many files were too many to parse."""
    places: list[Place] = []
    skipped = 0
    for contents, kind in ((source.package, ""), (source.tests, "test")):
        if not (kinds & {"test"} if kind else kinds - {"test", "documentation"}):
            continue
        likely, left_out = _likely_files(contents, topic, words)
        skipped += left_out
        for path, tree, lines in _parsed(contents, likely):
            found = _in_tree(tree, path, lines)
            places += (replace(place, kind=kind) for place in found) if kind else found
    for path, data in source.documentation.items():
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if any(word in line.lower() for word in words):
                places.append(Place(path, number, "documentation", _cut(line), line))
    scored = ((score(place, topic, words), place) for place in places if place.kind in kinds)
    best = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: (-entry[0], *_position(entry[1])))
    return [place for _, place in best], skipped


def _position(place: Place) -> tuple[str, int]:
    return place.path, place.line


def _likely_files(contents: Mapping[str, bytes], topic: str, words: list[str]) -> tuple[list[str], int]:
    """The files that have most of the words, those that define one first, and how many others have them too."""
    last = re.escape(topic.strip().rpartition(".")[2]).encode()
    defined = re.compile(rb"^\s*(?:def|class)\s+" + last + rb"\b|^" + last + rb"\s*[:=]", re.MULTILINE)
    asked = [word.encode() for word in words]
    points = {}
    for path, data in contents.items():
        lowered = data.lower()
        counts = [lowered.count(word) for word in asked]
        having = sum(len(word) for word, count in zip(asked, counts) if count)
        if having >= _LEAST_SHARE * sum(map(len, asked)):
            points[path] = (1 if last in data and defined.search(data) else 0, sum(min(count, 20) for count in counts))
    likely: list[str] = []
    size = 0
    for path in sorted(points, key=lambda path: (points[path], path), reverse=True):
        size += len(contents[path])
        if likely and size > _LARGEST_PARSED:
            break
        likely.append(path)
    return likely, len(points) - len(likely)


def _in_tree(tree: ast.Module, path: str, lines: list[str]) -> Iterator[Place]:
    for node in _statements(tree):
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


def _statements(tree: ast.Module) -> Iterator[ast.Module | ast.stmt]:
    """The file itself and its statements, with those inside of others."""
    yield tree
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop()
        yield statement
        for name in ("body", "orelse", "finalbody"):
            pending += getattr(statement, name, ())
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            pending += part.body


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
    return _joined(lines, statement.lineno, statement.end_lineno or statement.lineno)


def _joined(lines: Sequence[str], first: int, last: int) -> str:
    """Up to three lines as one."""
    return _cut(" ".join(line.strip() for line in lines[first - 1 : min(last, first + 2)]))


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
