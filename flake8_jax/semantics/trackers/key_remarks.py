"""What the author says of a key that is used twice: in a comment beside a use, in a docstring, by the name of a flag.

Vocabulary
----------
remark      a sentence that says that a key, or what is drawn with it, is the same: ``same key for image and mask``, ``keep
            the rng identical``, ``reuse the seed``. None is a question, a task (``TODO``), or one that says not to.
beside      at the end of a row of the statement, or in the lines of comment right above it.
flag        a parameter that a function has for this: ``reuse_noise``, ``same_key``.

Limitations: other languages than English; a ``#`` behind a string that holds a quote of the other kind.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from flake8_jax.core import ir
from flake8_jax.semantics.domain.code import statement_at
from flake8_jax.semantics.domain.scopes import ModuleScope
from flake8_jax.semantics.domain.stack import Place

_ALIKE = r"(?:same|identical(?:ly)?|re-?us(?:e|es|ed|ing)|shar(?:e|es|ed|ing))"
_OTHER = r"(?!\W+(?:shape|size|dtype|type|length|dim\w*|distribution|kind|class|device|scale|range|magnitude|way|as\s+keys?)\b)"
_RANDOM = (
    r"(?:(?:\w*_)?(?:sub|prng|init)?(?:keys?|rngs?|seeds?|prng)"
    r"|random\w*|noise|permutations?|shuffl\w+|augmentations?|crops?|dropout|draws?)"
)
_SAYS = re.compile(
    rf"\b{_ALIKE}\b{_OTHER}(?:\W+[\w']+){{0,3}}?\W+{_RANDOM}\b|\b{_RANDOM}\b(?:\W+[\w']+){{0,4}}?\W+{_ALIKE}\b{_OTHER}",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not?|never|avoid\w*|without|instead|cannot|prevent\w*|unlike|wrong\w*|bugs?|todo|fixme|xxx|hack|oops|"
    r"in(?:appropriate|correct)\w*|beware|careful|warning)\b|n't\b|\?\s*$",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.;!?])\s+")
_FLAG = re.compile(
    r"(?:re_?use|same|share|shared|common|identical)_(?:\w+_)?(?:keys?|rngs?|seeds?|prng|noise|random\w*|permutation)"
)
MAX_LINES = 40
"""So many lines of a statement, and of comment above it, are read."""


def is_remarked(places: Iterable[Place]) -> bool:
    """The author says beside one of the places, or of the function around it, that the key is meant to be the same."""
    return any(_is_said_at(place) for place in places)


def _is_said_at(place: Place) -> bool:
    scope, function = place.scope, place.function
    if function is not None and (_is_said_of(function) or any(_FLAG.fullmatch(p.name) for p in function.params)):
        return True
    statement = statement_at(function.body if function is not None else scope.tree.body, place.node)
    if statement is None:
        return False
    block = isinstance(statement, (ir.FunctionDef, ir.ClassDef))
    first, last = (place.node, place.node) if block else (statement, place.node)
    return says_same(comment_beside(scope, first.start, last.end))


def _is_said_of(function: ir.Function) -> bool:
    """The docstring says so."""
    first = function.body[0] if function.body else None
    if not isinstance(first, ir.ExprStmt) or not isinstance(first.value, ir.Constant):
        return False
    return isinstance(first.value.value, str) and says_same(first.value.value)


def says_same(text: str) -> bool:
    """A sentence of the text says that something random is the same."""
    if _SAYS.search(text) is None:
        return False
    sentences = _SENTENCES.split(" ".join(text.split()))
    return any(_SAYS.search(sentence) and not _DENIES.search(sentence) for sentence in sentences)


def comment_beside(scope: ModuleScope, start: int, end: int) -> str:
    """The comments on the rows from ``start`` to ``end``, and those of the rows of comment right above."""
    starts, text = scope.tree.line_starts, scope.text
    row = bisect_right(starts, start) - 1
    last = bisect_right(starts, max(end - 1, start)) - 1
    above: list[str] = []
    while row - len(above) > 0 and len(above) < MAX_LINES:
        line = _line(text, starts, row - len(above) - 1).strip()
        if not line.startswith("#"):
            break
        above.append(line.lstrip("#! "))
    beside = [_comment_in(_line(text, starts, i)) for i in range(row, min(last, row + MAX_LINES) + 1)]
    return ". ".join([" ".join(reversed(above)), *filter(None, beside)])


def _line(text: str, starts: list[int], row: int) -> str:
    return text[starts[row] : starts[row + 1] if row + 1 < len(starts) else len(text)]


def _comment_in(line: str) -> str:
    """The comment at the end of a line of code; a ``#`` in a string begins none."""
    at = line.find("#")
    while at >= 0 and (line.count('"', 0, at) % 2 or line.count("'", 0, at) % 2):
        at = line.find("#", at + 1)
    return line[at:].strip("# \r\n") if at >= 0 else ""
