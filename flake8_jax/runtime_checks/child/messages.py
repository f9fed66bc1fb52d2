"""Which statement of JAX makes an error message: a search by the literal parts of its texts.

A text in the source has holes, ``f"got {shape}"``, that the message fills with values. So the search looks for the parts
between the holes in the message, not for the message in the source.

Vocabulary
----------
part      text without holes, white space as single spaces. Parts of one word are too common to count.
template  the parts of one statement, with those of the variables that it uses.

Limitations: a text that XLA or CPython makes is in none of JAX's files. Only the files that share the most pairs of words
with the message are parsed.
"""

from __future__ import annotations

import ast
import bisect
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from flake8_jax.runtime_checks.child.pasted import Pasted

_HOLE = "\0"
_FORMAT = re.compile(r"%[-+ #0-9.*]*[a-zA-Z]|\{[^{}]*\}")
_MOST_PAIRS = 48
_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_FILES = 12
_LEAST_GAIN = 0.2
_LARGEST_PARSED = 500_000
_LEAST_LENGTH = 9
_LEAST_RUN = 4
_SHORT = 30
"""Less text than this counts only if it is most of the template."""
_HALF_WEIGHT_AT = 120.0


@dataclass(frozen=True)
class Template:
    """raises: names of classes in the statement, and of the class around it. last_line: of the statement."""

    line: int
    last_line: int
    is_raise: bool
    owner: str
    parts: tuple[tuple[int, str], ...]
    raises: frozenset[str] = field(default_factory=frozenset)


def candidate_files(contents: Mapping[str, bytes], pasted: Pasted) -> list[str]:
    """The files that may make the message, the likeliest first. contents: by path.

    Pairs of words that few files have count more. After each file, only the pairs that it does not explain count.
    """
    wanted = [pair.encode() for pair in _pairs(pasted)]
    having = {pair: {path for path, data in contents.items() if pair in data} for pair in wanted}
    found: list[str] = []
    size = 0
    while len(found) < _MOST_FILES:
        points: dict[str, float] = {}
        for paths in having.values():
            for path in paths.difference(found):
                points[path] = points.get(path, 0.0) + 1.0 / len(paths)
        best = max(points.values(), default=0.0)
        if best < _LEAST_GAIN:
            break
        equal = sorted(
            (path for path, gain in points.items() if gain >= 0.5 * best), key=lambda path: len(contents[path])
        )
        for path in equal:
            size += len(contents[path])
            if not found or size <= _LARGEST_PARSED:
                found.append(path)
        having = {pair: paths for pair, paths in having.items() if not paths.intersection(equal)}
    definition = f"class {pasted.error}(".encode()
    if pasted.error:
        found += [path for path, data in contents.items() if definition in data and path not in found]
    return found


def _pairs(pasted: Pasted) -> list[str]:
    """The first pairs of words in a row that are not only numbers and signs."""
    pairs = dict.fromkeys(f"{one} {other}" for one, other in itertools.pairwise(pasted.message.split()))
    return [pair for pair in pairs if re.search(r"[A-Za-z]{2}", pair)][:_MOST_PAIRS]


class _Hits:
    """The lines of a file that have a pair of words of the message: the rest of the file need not be looked at."""

    def __init__(self, lines: Sequence[str], pairs: Sequence[str]) -> None:
        self._numbers = [number for number, line in enumerate(lines, 1) if any(pair in line for pair in pairs)]

    def inside(self, node: ast.stmt) -> bool:
        """Whether a statement has such a line."""
        at = bisect.bisect_left(self._numbers, node.lineno)
        return at < len(self._numbers) and self._numbers[at] <= (node.end_lineno or node.lineno)


def templates(tree: ast.Module, hits: _Hits) -> Iterator[Template]:
    """The statements of a file that may hold the text of a message."""
    yield from _in_block(tree.body, "", {}, frozenset(), hits)


def _in_block(
    body: Iterable[ast.stmt], owner: str, named: dict[str, ast.expr], around: frozenset[str], hits: _Hits
) -> Iterator[Template]:
    named = dict(named)
    for statement in body:
        if not hits.inside(statement) and not (named and not isinstance(statement, _SCOPES)):
            continue
        if isinstance(statement, ast.ClassDef):
            yield from _in_block(statement.body, statement.name, {}, frozenset({statement.name}), hits)
            continue
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _in_block(statement.body, statement.name, named, around, hits)
            continue
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) and hits.inside(statement):
            named[statement.targets[0].id] = statement.value
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):  # no docstrings
            made = _template(statement, owner, named, around)
            if made is not None:
                yield made
        for name in ("body", "orelse", "finalbody"):
            yield from _in_block(getattr(statement, name, ()), owner, named, around, hits)
        for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _in_block(handler.body, owner, named, around, hits)


def _template(
    statement: ast.stmt, owner: str, named: Mapping[str, ast.expr], around: frozenset[str]
) -> Template | None:
    """The template of a statement itself, without the statements in it."""
    expressions = [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr)]
    is_raise = isinstance(statement, ast.Raise) or (
        isinstance(statement, ast.Return)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id.endswith("Error")
    )
    names = {node.id for part in expressions for node in ast.walk(part) if isinstance(node, ast.Name)}
    names |= {node.attr for part in expressions for node in ast.walk(part) if isinstance(node, ast.Attribute)}
    used = [named[name] for name in sorted(names & named.keys())] if is_raise else []
    parts = tuple(part for node in (*expressions, *used) for part in _parts(node))
    if not parts:
        return None
    last = max((getattr(node, "end_lineno", None) or statement.lineno for node in expressions), default=0)
    return Template(statement.lineno, max(last, statement.lineno), is_raise, owner, parts, around | names)


def _parts(node: ast.expr) -> Iterator[tuple[int, str]]:
    """The parts in an expression with their lines, in the order of the source."""
    text = ""
    line = node.lineno
    for number, piece in _pieces(node):
        if piece != _HOLE:
            line = line if text else number
            text += piece
            continue
        yield from _useful(line, text)
        text = ""
    yield from _useful(line, text)


def _useful(line: int, text: str) -> Iterator[tuple[int, str]]:
    for part in _FORMAT.split(text):
        plain = " ".join(part.split()).strip(" ,.;:()'\"`")
        if len(plain) >= _LEAST_LENGTH and " " in plain:
            yield line, plain


def _pieces(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Literal texts and holes. Texts that stand side by side, or are added, are one text."""
    if isinstance(node, ast.Constant):
        yield getattr(node, "lineno", 0), node.value if isinstance(node.value, str) else _HOLE
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            yield from _pieces(value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _pieces(node.left)
        yield from _pieces(node.right)
    else:
        for child in ast.iter_child_nodes(node):
            yield 0, _HOLE
            yield from _pieces(child)
        yield 0, _HOLE


def fit(template: Template, message: str, error: str) -> tuple[float, int]:
    """How well a template explains a message, and the line of its first part in it; 0 where it does not.

    message: with white space as single spaces. Text at the start of a message counts more: what follows it is often the same
    for many messages.
    """
    points = 0.0
    found = total = 0
    line = 0
    for number, part in template.parts:
        total += len(part)
        run = part if part in message else _longest_run(part, message)
        if not run:
            continue
        line = line or number
        found += len(run)
        points += len(run) / (1.0 + message.find(run) / _HALF_WEIGHT_AT)
    if found < _SHORT and found < total / 2:
        return 0.0, 0
    points *= 0.5 + 0.5 * found / total
    if error and error in template.raises:
        points *= 1.6
    return points * (1.2 if template.is_raise else 1.0), line


def _longest_run(part: str, message: str) -> str:
    """The longest row of at least four words of a part that the message has; empty if there is none."""
    words = part.split()
    for length in range(len(words) - 1, _LEAST_RUN - 1, -1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            if run in message:
                return run
    return ""


def ranked(
    parsed: Iterable[tuple[str, ast.Module, Sequence[str]]], pasted: Pasted, frames: Sequence[tuple[str, int, str]]
) -> list[tuple[float, str, Template, int]]:
    """Points, path, template and line of the first part, the best first.

    parsed: path, tree and lines of each file. frames: path, line and function of those inside of JAX.
    """
    message = " ".join(pasted.message.split())
    functions = {(path, function) for path, _, function in frames}
    found = []
    pairs = _pairs(pasted)
    for path, tree, lines in parsed:
        for template in templates(tree, _Hits(lines, pairs)):
            points, line = fit(template, message, pasted.error)
            if points < _LEAST_LENGTH / 2:
                continue
            if any(path == where and template.line <= at <= template.last_line for where, at, _ in frames):
                points *= 2.0
            elif (path, template.owner) in functions:
                points *= 1.4
            found.append((points, path, template, template.line if template.is_raise else line))
    return sorted(found, key=lambda entry: (-entry[0], entry[1], entry[3]))
