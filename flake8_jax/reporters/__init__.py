"""Output formats, one a module: ``concise.py`` is ``--output-format concise``, ``json_lines.py`` is ``json-lines``.

Vocabulary
----------
report      the diagnostics of one run, with the texts of their files, troubles and counts (``core.report``).
view        how a report is looked at: the current directory, color, whether unsafe fixes are shown (``_view``).
format      a module here, without a leading underscore, with ``render(report, view) -> str``.
cell        a cell of a notebook. A format that does not know cells gets rows of the whole notebook.

::

    pipeline ─► RunReport ─ render ─► writable text ─► cells or rows ─► the format's module ─► text ─► cli

Adding the file adds the format; there is no list to edit. Reporters import ``core`` alone.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

import msgspec
from msgspec.structs import replace as replaced

from flake8_jax.core.cells import without_cells
from flake8_jax.core.report import RunReport, as_text, data_as_text
from flake8_jax.reporters._view import View

_KNOW_CELLS = frozenset({"full", "concise", "grouped", "json", "json-lines", "markdown", "sarif"})

__all__ = ["View", "formats", "render"]


def _writable(report: RunReport, view: View) -> tuple[RunReport, View]:
    """Without surrogates, which no output can hold: file names have them, and source files in some encodings."""
    fixes = {id(item.finding.fix): item.finding.fix for item in report.diagnostics}  # many findings may share one
    others = tuple(replaced(d, finding=replaced(d.finding, fix=None), edits=()) for d in report.diagnostics)
    try:
        msgspec.msgpack.encode((replaced(report, diagnostics=others), list(fixes.values())))
    except UnicodeEncodeError:
        plain = data_as_text(msgspec.to_builtins(report))
        return msgspec.convert(plain, RunReport), replace(view, cwd=as_text(view.cwd))
    return report, view


def formats() -> tuple[str, ...]:
    """The names of the formats, sorted."""
    names = (info.name for info in pkgutil.iter_modules(__path__))
    return tuple(sorted(name.replace("_", "-") for name in names if not name.startswith("_")))


def render(name: str, report: RunReport, view: View) -> str:
    """The report in the format called ``name``. Raises ValueError for a format that does not exist."""
    if name not in formats():
        raise ValueError(f"unknown output format `{name}`; known are {', '.join(formats())}")
    report, view = _writable(report, view)
    if name not in _KNOW_CELLS:
        report = without_cells(report)
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    text: str = module.render(report, view)
    return text
