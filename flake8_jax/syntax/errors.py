"""The errors that reading a file can raise, each with what a person needs to act on it.

Vocabulary
----------
problem     something wrong with the file that the user can fix; it becomes a message at a place.
internal    something wrong with this package; it names the node so that it can be reported.
"""

from __future__ import annotations

UNSUPPORTED = "not supported by LibCST"
"""How the message ends of a SyntaxProblem with what is valid Python, which LibCST does not read."""


class SourceError(Exception):
    """The bytes of a file cannot be decoded. ``row`` is 1-based; ``remedy`` is an imperative sentence."""

    def __init__(self, message: str, row: int, remedy: str) -> None:
        super().__init__(f"{message} (line {row}). {remedy}")
        self.message = message
        self.row = row
        self.remedy = remedy


class SyntaxProblem(Exception):
    """The text is not Python, or nested beyond what can be handled. ``row`` and ``column`` are 1-based code points."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(f"{message} (line {row}, column {column})")
        self.message = message
        self.row = row
        self.column = column


class MisplacedStatement(Exception):
    """A statement that Python's grammar allows, but its compiler refuses there. ``message`` is CPython's."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class LoweringError(Exception):
    """The walk and the text disagree: a defect of this package, never of the user's file.

    ``offset`` is the code-point offset at which they part; ``node`` names the kind of node that was expected.
    """

    def __init__(self, node: str, offset: int) -> None:
        super().__init__(f"lost the place in the text at offset {offset}, at a {node}")
        self.node = node
        self.offset = offset


class OverlapError(Exception):
    """Two edits touch the same text, so applying both has no meaning. Offsets are those of the later edit."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(f"an edit of {start}..{end} overlaps the one before it")
        self.start = start
        self.end = end
