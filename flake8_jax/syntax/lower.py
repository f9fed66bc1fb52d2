"""One parse and one walk: from a file's text to its intermediate representation.

Vocabulary
----------
lower       parse with LibCST, then rewrite its tree as plain data with the positions of CPython's ``ast``.
weight      an upper bound of how deep a text can be nested, taken from counts of its characters.

LibCST's parser is native code that recurses without a check, so a deep enough text would end the process. It is
therefore run in a thread whose stack is sized by the text's weight; a text too heavy for any stack is refused.

Limits, each reported as a ``SyntaxProblem``: 200 nested brackets, as CPython has it; about 300 nested lambdas or conditional
expressions; patterns that nest deeper than a dozen levels (see ``chains``); and MAX_CHAIN links in one chain of operators,
attributes or calls. ``elif`` branches have no limit.

Encoding or decoding a representation nested deeper than the recursion limit raises RecursionError in msgspec.
"""

from __future__ import annotations

import ast
import gc
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import libcst as cst

from flake8_jax.core import ir
from flake8_jax.core.stack import StackError, on_stack
from flake8_jax.syntax import scopes
from flake8_jax.syntax.chains import Chain, NestingError, StandIns, chains_in, outline
from flake8_jax.syntax.cursor import Cursor
from flake8_jax.syntax.errors import UNSUPPORTED, LoweringError, MisplacedStatement, SyntaxProblem
from flake8_jax.syntax.statements import statements

__all__ = ["LoweringError", "SyntaxProblem", "line_starts", "lower", "parse_tree"]

_line_break = re.compile(r"\r\n|[\r\n]")
_native_place = re.compile(r"error at (\d+):(\d+)")

# The second was not public in early versions, and none of their checks raises it.
_REFUSALS: tuple[type[Exception], ...] = (
    cst.CSTValidationError,
    getattr(cst, "CSTLogicError", cst.CSTValidationError),
)
_PARSE_ERRORS: tuple[type[Exception], ...] = (cst.ParserSyntaxError, *_REFUSALS)

_UNREADABLE: tuple[type[Exception], ...] = (*_PARSE_ERRORS, LoweringError, UnicodeEncodeError)

_check = cst.CSTNode.__post_init__

_STACK_UNIT = 1 << 20
_STACK_PER_LEVEL = 16 << 10
"""Twice what one nested bracket was measured to take of the parser's stack."""
_LARGEST_STACK = 1 << 30
_LONGEST_PLAIN_CHAIN = 2000
"""LibCST reads a longer one in more than a few seconds."""


def lower(text: str) -> ir.Module:
    """Lower the decoded text (no byte-order mark) of one file.

    Raises SyntaxProblem where the text is not Python or too deeply nested, LoweringError on a defect of this package.
    """
    starts = line_starts(text)
    if "\0" in text:
        raise _problem("the file contains a null byte", starts, text.index("\0"))

    def work() -> ir.Module:
        with _collector_off():
            return _lower(text, starts)

    try:
        return on_stack(_stack_size(text), work)
    except StackError as error:
        raise SyntaxProblem("there is not enough memory to parse this file", 1, 1) from error


def parse_tree(text: str) -> cst.Module:
    """LibCST's own tree of a text.

    Raises SyntaxProblem where the text is not Python, or holds an expression that LibCST cannot read in time.
    """
    starts = line_starts(text)

    def work() -> cst.Module:
        longest = max(_chains(text, starts), key=lambda chain: len(chain.cuts), default=None)
        if longest is not None and len(longest.cuts) > _LONGEST_PLAIN_CHAIN:
            raise _problem(f"this long expression is {UNSUPPORTED}", starts, longest.start)
        return _parse(text, starts)

    try:
        return on_stack(_stack_size(text), work)
    except StackError as error:
        raise SyntaxProblem("there is not enough memory to parse this file", 1, 1) from error


def line_starts(text: str) -> list[int]:
    """The offset of the first character of every line; a line ends with ``\\n``, ``\\r\\n`` or ``\\r``."""
    if "\r" in text:
        return [0, *(match.end() for match in _line_break.finditer(text))]
    starts = [0]
    find = text.find
    found = find("\n")
    while found >= 0:
        starts.append(found + 1)
        found = find("\n", found + 1)
    return starts


def _stack_size(text: str) -> int:
    """Bytes of stack that the native parser can need for this text; SyntaxProblem if that is too much."""
    size = _STACK_UNIT * (4 + _weight(text) * _STACK_PER_LEVEL // _STACK_UNIT)
    if size <= _LARGEST_STACK:
        return size
    # A huge file. CPython's parser counts its levels, so what it accepts is far from the limit.
    problem = _python_problem(text)
    if problem is not None:
        raise problem
    return _LARGEST_STACK


def _weight(text: str) -> int:
    """An upper bound of the depth of the text's syntax tree: every level needs one of these."""
    count = text.count
    words = sum(count(word) for word in ("not", "lambda", "if", "for", "await", "and", "or", "in", "is"))
    return words + sum(count(mark) for mark in "([{+-*/%@&|^<>=.~:'\"")


@contextmanager
def _collector_off() -> Iterator[None]:
    """Parsing makes very many objects and no cycles: the collector would only read them over and over."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _no_check(node: cst.CSTNode) -> None:
    """In place of LibCST's own check of a new node."""


@contextmanager
def _unchecked_nodes() -> Iterator[None]:
    """Build nodes without LibCST's check of each, which takes a seventh of the time of a parse.

    The checks are for nodes made by hand: what they look for in a parsed text is syntax that its grammar has refused
    before, or is found when the tree is walked beside the text. Another thread that makes nodes meanwhile is not
    checked either.
    """
    cst.CSTNode.__post_init__ = _no_check  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        cst.CSTNode.__post_init__ = _check  # type: ignore[method-assign]


def _lower(text: str, starts: list[int]) -> ir.Module:
    found = _chains(text, starts)
    if not found:
        return _lowered(text, starts, _parse(text, starts), None)
    try:
        tree, parts = _parsed_with_stand_ins(StandIns(text, found))
        return _lowered(text, starts, tree, parts)
    except _UNREADABLE as error:
        reason = _python_problem(text)
        if reason is not None:
            raise reason from error
        longest = max(found, key=lambda chain: len(chain.cuts))
        if len(longest.cuts) > _LONGEST_PLAIN_CHAIN:
            raise _problem(f"this long expression is {UNSUPPORTED}", starts, longest.start) from error
    return _lowered(text, starts, _parse(text, starts), None)


def _chains(text: str, starts: list[int]) -> list[Chain]:
    """The chains that are too long for LibCST. Raises SyntaxProblem for what is nested too deeply for it."""
    try:
        seen = outline(text)
        if seen.brackets >= 0:
            problem = _python_problem(text)
            if problem is not None:
                raise problem
        return chains_in(text, seen.lines)
    except NestingError as error:
        raise _python_problem(text) or _problem(error.message, starts, error.offset) from error


def _parsed_with_stand_ins(texts: StandIns) -> tuple[cst.Module, dict[str, Sequence[cst.BaseElement]]]:
    """The tree of a text with stand-ins for its long chains, and what they stand for."""
    parts: dict[str, Sequence[cst.BaseElement]] = {}
    with _unchecked_nodes():
        tree = cst.parse_module(texts.module())
        for number in range(len(texts.chains)):
            elements: list[cst.BaseElement] = []
            for part in texts.parts(number):
                made = cst.parse_expression(part)
                if not isinstance(made, cst.Tuple):
                    raise LoweringError("Tuple", texts.chains[number].start)
                elements += made.elements
            parts[texts.name(number)] = elements
    return tree, parts


def _lowered(
    text: str, starts: list[int], tree: cst.Module, parts: dict[str, Sequence[cst.BaseElement]] | None
) -> ir.Module:
    cursor = Cursor(text, "\n" if "\n" in text or "\r" not in text else "\r", parts)
    body: list[ir.Stmt] = []
    try:
        statements(cursor, tree.body, body)
        if cursor.skip() != len(text):
            raise LoweringError("end of the file", cursor.pos)
    except RecursionError as error:
        raise _problem("the code is nested too deeply", starts, cursor.pos) from error
    except MisplacedStatement as error:
        raise _problem(error.message, starts, error.offset) from error
    except LoweringError as error:
        # LibCST accepts some texts that are not Python; there, its tree need not fit.
        reason = _python_problem(text)
        if reason is None:
            raise
        raise reason from error
    return ir.Module(
        body=body,
        line_starts=starts,
        n_functions=cursor.n_functions,
        star_exports=scopes.star_exports(body),
        bound_names=list(cursor.scope.bound),
        rebound_names=_rebound_names(cursor, body),
        logical_lines=sorted(cursor.logical_lines),
    )


def _rebound_names(cursor: Cursor, body: list[ir.Stmt]) -> list[str]:
    names = dict.fromkeys(scopes.rebound_names(body))
    names.update(cursor.globally_bound)
    names.update((name, None) for name in cursor.walrus_bound if name in cursor.scope.bound)
    return list(names)


def _parse(text: str, starts: list[int]) -> cst.Module:
    try:
        with _unchecked_nodes():
            return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        reason = _python_problem(text)
        if reason is not None:
            raise reason from error
        raise _unsupported(text, error) from error
    except UnicodeEncodeError as error:
        raise _problem("the text contains half of a surrogate pair", starts, error.start) from error
    except _REFUSALS as error:  # LibCST's own checks of the nodes it has built
        reason = _python_problem(text)
        raise reason or _unsupported_statement(text, starts) from error


_MIXED_INDENTATION = re.compile(r"^(?:\t+ | +\t)", re.MULTILINE)


def _unsupported(text: str, error: cst.ParserSyntaxError) -> SyntaxProblem:
    """For valid Python that LibCST does not know. Its message has the place, but for indentation of tabs and spaces; its row
    attribute is one too high."""
    mixed = _MIXED_INDENTATION.search(text)
    if mixed is not None and "dedent" in error.message:
        row = text.count("\n", 0, mixed.start()) + 1
        return SyntaxProblem(f"an indentation of tabs and spaces is {UNSUPPORTED}", row, 1)
    match = _native_place.search(error.message)
    row, column = (int(match[1]), int(match[2])) if match else (error.raw_line, error.raw_column + 1)
    return SyntaxProblem(f"this syntax is {UNSUPPORTED}", row, column)


def _unsupported_statement(text: str, starts: list[int]) -> SyntaxProblem:
    """For valid Python whose tree LibCST refuses without saying where: the top-level statement that it is in."""
    bounds = [*starts, len(text)]
    for statement in ast.parse(text).body:
        row, last = statement.lineno, statement.end_lineno or statement.lineno
        try:
            cst.parse_module(text[bounds[row - 1] : bounds[last]])
        except _PARSE_ERRORS:
            return SyntaxProblem(f"this statement is {UNSUPPORTED}", row, 1)
    return SyntaxProblem(f"this file is {UNSUPPORTED}", 1, 1)


def _python_problem(text: str) -> SyntaxProblem | None:
    """What this interpreter's own parser says against the text, in its clearer words; None if it accepts it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return SyntaxProblem(error.msg, error.lineno or 1, error.offset or 1)
    except (RecursionError, MemoryError):
        return SyntaxProblem("the code is nested too deeply", 1, 1)
    except ValueError as error:
        return SyntaxProblem(str(error), 1, 1)
    return None


def _problem(message: str, starts: list[int], offset: int) -> SyntaxProblem:
    row = bisect_right(starts, offset)
    return SyntaxProblem(message, row, offset - starts[row - 1] + 1)
