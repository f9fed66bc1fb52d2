"""Notebooks as Python text, and the text back in its notebook.

Vocabulary
----------
text    what is analyzed: the code cells one after the other, each under a heading with its number.
number  of a cell: its place among all cells of the notebook, markdown too, from 1.
magic   a line for IPython and not for Python: ``%timeit f(x)``, ``!ls``, ``files = !ls``, ``f?``, a ``%%bash`` cell. In the
        text it is a comment behind something harmless, from which it comes back as it was. Before ``%timeit f(x)`` stands
        ``_timeit=f(x)``, which the analysis runs for the time alone.

broken  a cell that is no Python, where that alone keeps the text from being some: it is comments in the text, too.
indented  a cell whose first line is indented, and that is not Python for this reason alone. IPython removes the indentation.
        In the text, form feeds replace it, which Python ignores at the start of a line, so that columns stay as they are.

Scripts have magics as well, where a notebook was saved as one. Cells count in the order in which they stand. Limitations:
that they may be run in another one; cells that are indented by tabs (they become comments); what magics define; notebooks
of other languages, which have no text.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from flake8_jax.core.cells import BROKEN, HEADING, MAGIC, RAISING, as_written, cells_of, is_mark, lines_of, with_magics

_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun"})
_CELL_MAGIC = re.compile(r"(?:[ \t\f]*(?:#.*)?\r?\n)*[ \t\f]*%%(\S*)")
"""Comments may stand before it: the titles of Colab are some."""
_AUTOMAGIC = re.compile(
    r"(?:pip|conda|mamba|cd|ls|ll|mkdir|rmdir|cp|mv|rm|cat|run|matplotlib|timeit|time|env)[ \t]+[\w./~$'\"-]"
)
"""What IPython takes for a magic without ``%``, in cells that are no Python as they stand."""
_TIMED = re.compile(r"%(time|timeit)((?:[ \t]+-[nrp][ \t]*\d+|[ \t]+-[tcqv])*[ \t]+)(?![-\s])(.+)")
"""One of the magics that time a statement, its options, and the statement."""
_TARGET = re.compile(r"[\w.,\[\]'\" \t]+")
_STRINGS = re.compile(r"""'[^'\\\n]*(?:\\.?[^'\\\n]*)*(?:'|$)|"[^"\\\n]*(?:\\.?[^"\\\n]*)*(?:"|$)|#.*""", re.MULTILINE)
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
_INDENT = re.compile(r"\{\r?\n?([ \t]*)\"")


class NotebookError(Exception):
    """The file is no notebook, or cannot be written; the message says why."""


class CellsTooLarge(Exception):
    """The code cells hold more bytes than the limit."""


def text_of(data: str, limit: int | None = None) -> str:
    """The text of a notebook in its JSON form; none where the file is blank, or Git LFS has put a pointer in its place.

    Raises NotebookError, and CellsTooLarge beyond ``limit`` bytes of code.
    """
    if data.startswith(_LFS_POINTER) or not data.strip():
        return ""
    sources = [(_heading(number, cell), _source(cell)) for number, cell in _code_cells(_parsed(data))]
    if limit is not None and sum(len(source.encode("utf-8", "surrogatepass")) for _, source in sources) > limit:
        raise CellsTooLarge
    cells = [(heading, as_run(cell)) for heading, cell in sources]
    text = _joined(cells)
    return text if _is_python(text) else _joined([_without_what_is_broken(*cell) for cell in cells])


def _joined(cells: Iterable[tuple[str, str]]) -> str:
    """The text of cells, given as heading and source."""
    return "".join(heading + "\n" + source + ("" if source.endswith("\n") else "\n") for heading, source in cells)


def _without_what_is_broken(heading: str, source: str) -> tuple[str, str]:
    """Heading and source of a cell, as comments if it is no Python. One that goes on in the next cell is some."""
    if _is_python(source):
        return heading, source
    if source[:1] in (" ", "\t") and _is_python(textwrap.dedent(source)):
        return heading, _as_comments(source)
    from flake8_jax.syntax.errors import SyntaxProblem
    from flake8_jax.syntax.lower import lower  # which loads the parser

    try:
        lower(source)
    except SyntaxProblem as error:
        if error.row > source.rstrip().count("\n") + 1:
            return heading, source
        number = next(cells_of(heading + "\n"))[0]
        return BROKEN.format(number, error.row, error.column, error.message.replace("\n", " ")), _as_comments(source)
    return heading, source


def _as_comments(source: str) -> str:
    return "".join(line if MAGIC in line else MAGIC + line for line in lines_of(source))


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a null byte; nested too deeply for Python's parser
        return False
    return True


_MAGIC_START = re.compile(r"^[ \t]*[!%]", re.MULTILINE)


def text_of_script(text: str) -> str:
    """The text of a file of Python: as it stands, but for the magics of a notebook that was saved as a script."""
    if _MAGIC_START.search(text) is None or is_mark(text) or _is_python(text):
        return text
    return without_magics(text)


_ERRORS = re.compile(r"Tracer|Concret|^TypeError$|^ValueError$")
"""Names of exceptions that JAX raises on the mistakes that the rules know."""


_MEANT = "raises-exception"
"""The tag of a cell that Jupyter and nbconvert let fail, and go on."""


def _heading(number: int, cell: dict[str, Any]) -> str:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and _MEANT in tags:
        return RAISING.format(number)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if (
            isinstance(output, dict)
            and output.get("output_type") == "error"
            and _ERRORS.search(str(output.get("ename")))
        ):
            return RAISING.format(number)
    return HEADING.format(number)


def rewritten(data: str, before: str, after: str) -> str:
    """The notebook, which had the text ``before``, with the text ``after``. Raises NotebookError."""
    notebook = _parsed(data)
    dumps = _writer(data, notebook)
    old, new = dict(cells_of(before)), dict(cells_of(after))
    if list(old) != list(new):
        raise NotebookError("a fix would have changed its cells")
    for number, cell in _code_cells(notebook):
        if old[number] == new[number]:
            continue
        source = _source(cell)
        text = as_written(with_magics(new[number]))
        if not source.endswith("\n") and text.endswith("\n"):
            text = text[:-1]
        cell["source"] = text.splitlines(keepends=True) if isinstance(cell["source"], list) else text
    return dumps(notebook)


def why_not_rewritten(data: bytes) -> str | None:
    """Why the cells of a notebook could not be changed; None where they could."""
    from flake8_jax.syntax.errors import SourceError
    from flake8_jax.syntax.source import decode

    try:
        text = decode(data).text
        _writer(text, _parsed(text))
    except (NotebookError, SourceError) as error:
        return str(error)
    return None


_INDENTATION = re.compile(r"(?:[ \t]*\r?\n)*( +)(?=\S)")
_MARGIN = re.compile(r"^( *)\S", re.MULTILINE)


def as_run(source: str) -> str:
    """A cell as IPython runs it, with its magics replaced. Form feeds replace an indentation that IPython removes: that of the
    first line, or in newer versions that of all lines."""
    plain = without_magics(source)
    first = _INDENTATION.match(source)
    if first is None or "\f" in source or _is_python(plain):
        return plain
    for width in dict.fromkeys((len(first[1]), min(len(found[1]) for found in _MARGIN.finditer(source)))):
        cell = without_magics(re.sub(f"^ {{{width}}}", "\f" * width, source, flags=re.MULTILINE))
        if _is_python(cell):
            return cell
    return plain


def without_magics(source: str) -> str:
    """A cell that Python can read, line by line."""
    magic = _CELL_MAGIC.match(source)
    while (
        magic is not None and magic[1] in _PYTHON_CELLS
    ):  # it runs the rest as a cell, which may begin with another magic
        end = source.find("\n", magic.end()) + 1
        magic = _CELL_MAGIC.match(source, end) if end else None
    if magic is not None:
        return "".join(MAGIC + line for line in lines_of(source))
    if _is_python(source):
        return source  # a line that begins with `%` goes on from the one before
    found: list[str] = []
    depth, continued, in_magic = 0, False, False
    for line in lines_of(source):
        if in_magic:
            new = MAGIC + line
        elif depth > 0 or continued:
            new = line
        else:
            new = _without_magic(line)
        in_magic = (in_magic or new is not line) and line.rstrip().endswith("\\")
        if new is line:
            bare = _STRINGS.sub("", line)
            depth += sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
            continued = line.rstrip("\r\n").endswith("\\") and not _ends_in_comment(line)
        found.append(new)
    return "".join(found)


def _ends_in_comment(line: str) -> bool:
    return any(part[0].startswith("#") for part in _STRINGS.finditer(line))


def _without_magic(line: str) -> str:
    body = line.rstrip("\r\n")
    start, harmless = _magic(body)
    return line if start is None else body[:start] + harmless + MAGIC + body[start:] + line[len(body) :]


def _is_timed(code: str) -> bool:
    """One expression, or one assignment: with them the line assigns what is timed."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return len(body) == 1 and isinstance(body[0], (ast.Expr, ast.Assign))


def _magic(line: str) -> tuple[int | None, str]:
    """Where a line stops being Python, and what takes the place of the rest; None for a line of Python."""
    text = line.lstrip()
    timed = _TIMED.fullmatch(text)
    if timed is not None and MAGIC not in line and _is_timed(timed[3]):
        return len(line) - len(text), f"_{timed[1]}={timed[3]}  "
    if text.startswith(("%", "!", "?")) or _AUTOMAGIC.match(text):
        return len(line) - len(text), "pass  "
    target, sign, value = text.partition("=")
    value = value.lstrip()
    if sign and value.startswith(("%", "!")) and _TARGET.fullmatch(target):
        return len(line) - len(value), "get_ipython()  "
    asked = text.rstrip()
    name = asked.rstrip("?")
    if name and not name[-1].isspace() and len(asked) - len(name) in (1, 2) and "#" not in text:
        return len(line) - len(text), "pass  "
    return None, ""


def _parsed(data: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except json.JSONDecodeError as error:
        raise NotebookError(
            f"jaxlint skips this notebook, which is not valid JSON: {error.msg} (line {error.lineno})"
        ) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a list in a list in a list …
        raise NotebookError(f"jaxlint skips this notebook, which cannot be read: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        raise NotebookError("this is not a notebook of format version 4; open it in Jupyter and save it")
    return found


def _code_cells(notebook: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    metadata = notebook.get("metadata")
    language = metadata.get("language_info") or metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = language.get("language", language.get("name", "python")) if isinstance(language, dict) else "python"
    if "python" not in str(name).lower():
        return
    for number, cell in enumerate(notebook["cells"], 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            yield number, cell


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise NotebookError("this is not a valid notebook: the source of a cell is not text")
    text = "".join(lines)
    if any(is_mark(line) for line in text.splitlines()):
        raise NotebookError("a line of a cell looks like the mark that jaxlint writes between cells; change that line")
    return text


def _writer(data: str, notebook: dict[str, Any]) -> Callable[[dict[str, Any]], str]:
    """Writes a notebook the way that this one is written. Raises NotebookError where nothing does."""
    crlf = "\r\n" in data
    data = data.replace("\r\n", "\n")
    end = data[len(data.rstrip()) :]
    found = _INDENT.match(data)
    indents: list[str | int | None] = [found[1] if found is not None and found[1] else None, 1, None]
    for indent in indents:
        for ascii_only in (False, True):
            for separators in ((",", ": "), (", ", ": "), (",", ":")):

                def dumps(
                    value: dict[str, Any],
                    indent: str | int | None = indent,
                    ascii_only: bool = ascii_only,
                    separators: tuple[str, str] = separators,
                ) -> str:
                    return json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=separators) + end

                if dumps(notebook) == data:
                    return _with_crlf(dumps) if crlf else dumps
    raise NotebookError("its JSON is laid out in an unusual way; save it in Jupyter first")


def _with_crlf(dumps: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    return lambda value: dumps(value).replace("\n", "\r\n")
