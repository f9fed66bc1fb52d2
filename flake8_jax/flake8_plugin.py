"""The flake8 plugin: flake8 asks file by file, jaxlint answers from one analysis of the whole project.

Vocabulary
----------
session   the answers for one working directory and one set of options; there is one in a process.

The project is analyzed once, when flake8 reads its options: worker processes that are forked afterwards inherit the
answers, others find them in the cache on disk. A text that is not what is on disk (standard input) is analyzed in
place of its file. flake8 selects and ignores by itself; ``[tool.jaxlint]`` counts as well. A file that does not
parse is flake8's own ``E999``.
"""

from __future__ import annotations

import argparse
import ast
import functools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from flake8.exceptions import ExecutionError
from flake8.options.manager import OptionManager

from flake8_jax import __version__
from flake8_jax.core.printable import one_line
from flake8_jax.core.report import Diagnostic
from flake8_jax.pipeline.backend import Backend, default_backend
from flake8_jax.pipeline.discovery import Walker, context_files
from flake8_jax.pipeline.workspace import ProjectRun, Question, Workspace
from flake8_jax.settings.options import Options, Settings
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.selection import ALWAYS_ON, Layer
from flake8_jax.settings.tables import ConfigError


@dataclass(frozen=True)
class Flags:
    """What flake8's options say to jaxlint; also the key of a session."""

    cwd: str
    config: str | None
    target_jax: str | None
    use_cache: bool
    ignore_noqa: bool
    selected: tuple[str, ...] = ()
    """Codes of rules that flake8 was told to select."""


def flags_from(options: argparse.Namespace) -> Flags:
    return Flags(
        cwd=os.getcwd(),
        config=options.jax_config or None,
        target_jax=options.jax_target or None,
        use_cache=not options.jax_no_cache,
        ignore_noqa=bool(options.disable_noqa),
        selected=tuple(code for code in _selectors(options) if code in _backend().rules),
    )


def _selectors(options: argparse.Namespace) -> list[str]:
    return [*(options.select or ()), *(options.extend_select or ())]


@functools.lru_cache(maxsize=1)
def session(flags: Flags) -> Session:
    """The session of this process: flake8 makes a plugin per file, and they all have to share one."""
    return Session(flags, _backend())


class Session:
    """Findings by path. Methods raise ConfigError."""

    def __init__(self, flags: Flags, backend: Backend) -> None:
        self.flags = flags
        resolver = Resolver(flags.cwd, explicit=flags.config, flags=Options(target_jax=flags.target_jax))
        self.workspace = Workspace(backend, resolver, use_cache=flags.use_cache)
        self._opt_in = tuple(code for code in flags.selected if backend.rules[code].opt_in)
        self._settings: dict[tuple[str | None, str | None], Settings] = {}
        self._runs: dict[tuple[str | None, str | None, str], ProjectRun] = {}
        self._answers: dict[tuple[str | None, str | None, str], dict[str, list[Diagnostic]]] = {}

    def _question(self, texts: dict[str, str] | None = None) -> Question:
        return Question((), texts or {}, ignore_noqa=self.flags.ignore_noqa)

    def settings_for(self, directory: str) -> Settings:
        """The settings there, with the opt-in rules on whose codes flake8 was told to select: its prefixes turn none on."""
        found = self.workspace.resolver.settings_for(directory)
        key = (found.config_path, found.project_root)
        if key not in self._settings:
            self._settings[key] = replace(
                found,
                layers=(
                    Layer(extend_select=self._opt_in, written=False),
                    *found.layers,
                    Layer(named=self.flags.selected),
                ),
            )
        return self._settings[key]

    def prepare(self, paths: list[str]) -> None:
        """Analyse the projects that these files and directories belong to."""
        for path in paths:
            full = os.path.normpath(os.path.join(self.flags.cwd, path))
            if os.path.isdir(full):
                self._run_around(full, full)
            elif os.path.isfile(full):
                self._run_around(os.path.dirname(full), full)

    def _run_around(self, directory: str, path: str) -> tuple[ProjectRun, dict[str, list[Diagnostic]]]:
        settings = self.settings_for(directory)
        loose = "" if settings.project_root is not None else directory
        key = (settings.config_path, settings.project_root, loose)
        if key not in self._runs:
            around = os.path.join(directory, "__init__.py") if os.path.isdir(path) else path
            files, _ = context_files([around], settings, Walker(self.workspace.resolver))
            self._runs[key] = run = self.workspace.run(settings, dict.fromkeys(files, False), self._question())
            self._answers[key] = self._by_path(run, self._question())
        return self._runs[key], self._answers[key]

    def _by_path(self, run: ProjectRun, question: Question) -> dict[str, list[Diagnostic]]:
        for rule, path, trace in run.crashes:
            last = trace.strip().rpartition("\n")[2]
            print(
                f"flake8-jax: {rule} failed on {one_line(path)}: {one_line(last)} (please report it)", file=sys.stderr
            )
        answers: dict[str, list[Diagnostic]] = {}
        for item in self.workspace.diagnose(run, question)[0]:
            answers.setdefault(item.path, []).append(item)
        return answers

    def findings(self, path: str, text: str) -> list[Diagnostic]:
        """The findings in a file that holds ``text`` (with any kind of newlines)."""
        full = os.path.normpath(os.path.join(self.flags.cwd, path))
        run, answers = self._run_around(os.path.dirname(full), full)
        key = run.digests.get(full)
        if key is None and full in run.asked and os.path.isfile(full):
            return []  # part of the project, and nothing to do with JAX
        if key is None or _plain(self.workspace.text_of(full, key)) != _plain(text):
            question = self._question({full: text})
            run = self.workspace.run(run.settings, {full: True}, question)
            answers = self._by_path(run, question)
        for note in run.notes:
            if note.startswith(f"{full}:"):
                print(f"flake8-jax: {one_line(note)}", file=sys.stderr)
        return answers.get(full, [])


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def may_report(options: argparse.Namespace) -> bool:
    """Whether flake8 could show any of our codes; where it could not, the analysis is spared."""
    if not options.select:
        return True
    prefixes = _prefixes()
    return any(
        code.startswith(prefixes) or any(one.startswith(code) for one in prefixes) for code in _selectors(options)
    )


def _prefixes() -> tuple[str, ...]:
    """What the codes of rules begin with: ``JAX``, and those of installed rule packages."""
    return tuple(sorted({code[:-3] for code in _backend().rules}))


def _backend() -> Backend:
    """The rules and the analysis. Raises ExecutionError where two rules have one code."""
    try:
        return default_backend()
    except ConfigError as error:
        raise ExecutionError(f"flake8-jax: {one_line(str(error))}") from error


class JaxChecker:
    """What flake8 calls for every file."""

    name = "flake8-jax"
    version = __version__

    def __init__(self, tree: ast.AST, filename: str, lines: list[str], options: argparse.Namespace) -> None:
        self.filename = filename
        self.lines = lines
        self.options = options

    @staticmethod
    def add_options(manager: OptionManager) -> None:
        manager.add_option(
            "--jax-config", default="", metavar="PATH", parse_from_config=True, normalize_paths=True,
            help="configuration of jaxlint to use for every file",
        )  # fmt: skip
        manager.add_option(
            "--jax-target", default="", metavar="VERSIONS", parse_from_config=True,
            help="versions of JAX that the code supports, such as '>=0.4.30'",
        )  # fmt: skip
        manager.add_option(
            "--jax-no-cache", default=False, action="store_true", parse_from_config=True,
            help="neither read nor write .jaxlint_cache",
        )  # fmt: skip
        manager.extend_default_select([prefix for prefix in _prefixes() if prefix != "JAX"])
        manager.extend_default_ignore([code for code, rule in _backend().rules.items() if rule.opt_in])

    @staticmethod
    def parse_options(manager: OptionManager, options: argparse.Namespace, args: list[str]) -> None:
        paths = [path for path in args if path != "-"] or ([] if args else ["."])
        if not may_report(options):
            return
        for trouble in _backend().troubles:
            print(f"flake8-jax: {one_line(trouble)}", file=sys.stderr)
        try:
            session(flags_from(options)).prepare(paths)
        except ConfigError as error:
            raise ExecutionError(f"flake8-jax: {one_line(str(error))}") from error

    def run(self) -> Iterator[tuple[int, int, str, type[Any]]]:
        """Yield row, column from 0, text and plugin, as flake8 wants them."""
        if not may_report(self.options):
            return
        try:
            found = session(flags_from(self.options)).findings(self.filename, "".join(self.lines))
        except ConfigError as error:
            raise ExecutionError(f"flake8-jax: {one_line(str(error))}") from error
        for item in found:
            if item.code not in ALWAYS_ON:
                yield item.row, item.column - 1, f"{item.code} {one_line(item.finding.message)}", type(self)
