"""What an analysis is asked: the files of a program, and what to look for in them.

Vocabulary
----------
program   the files that are analyzed together.
entered   a file whose top level, functions and transform calls the interpreter starts from. Other files can be imported and
          called; they are not even run where nothing that is entered imports them.

All of this is plain data, so its digest is a key under which an answer can be kept. Importing this module loads neither
the rules nor the interpreter.
"""

from __future__ import annotations

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.call_graph import FunctionName
from flake8_jax.core.recorded import RecordedFunction
from flake8_jax.core.style import CodeStyle


class SourceFile(msgspec.Struct, frozen=True):
    """One file of the program. ``text``: as decoded, for fixes."""

    path: str
    module_name: str
    is_package: bool
    tree: ir.Module
    text: str


class AnalysisRequest(msgspec.Struct, frozen=True):
    """What to look for.

    codes: of the rules to run; None for all.
    asked: the codes of those that would run without ``preview``; None for all. Of the others, only what is
    ``also_in_preview`` is shown.
    transforms: the user's own transforms, qualified name → that of a JAX transform.
    required: the versions that the project supports of JAX and of other libraries, ``0.6.2`` or ``>=0.4.30,<0.8``, by
    import name.
    required_in: the same by path, for files in parts of the project that ask for other versions.
    x64: whether the environment that the project sets up may enable 64-bit dtypes.
    recorded: functions that a recorded run saw traced, to be run on arguments like those.
    entries: files that are entered; None for all. Findings that only the entries of other files show are missing then, and
    reports that only these entries would withdraw stay.
    skipped: functions that are not entered, though their file is; entered code may call them.
    lazy: whether modules run only once a name of theirs is read; subclasses in the others are not known then.
    wanted: absolute paths whose findings matter; None for all.
    collect_functions: whether to record what is known of each function, for ``inspect``.
    collect_calls: whether to record which functions call which.
    styles: by path, how code is laid out where that is not the default. For fixes.
    """

    codes: frozenset[str] | None = None
    asked: frozenset[str] | None = None
    transforms: dict[str, str] = {}
    required: dict[str, str] = {}
    required_in: dict[str, dict[str, str]] = {}
    recorded: tuple[RecordedFunction, ...] = ()
    unroll_threshold: int = 32
    x64: bool = False
    preview: bool = False
    entries: frozenset[str] | None = None
    skipped: frozenset[FunctionName] = frozenset()
    lazy: bool = False
    wanted: frozenset[str] | None = None
    collect_functions: bool = False
    collect_calls: bool = False
    styles: dict[str, CodeStyle] = {}
