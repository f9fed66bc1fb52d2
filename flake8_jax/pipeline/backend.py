"""The analysis as the engine sees it: rules, and one call that turns a program into findings.

Vocabulary
----------
program   the lowered files that are analysed together. wanted: those of them whose findings matter.
backend   rules and analysis. ``default_backend`` is the real one; tests put in one of their own.

Importing this module loads neither the rules nor the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from flake8_jax.core import ir
from flake8_jax.core.call_graph import CallGraph, FunctionName
from flake8_jax.core.findings import Finding
from flake8_jax.core.recorded import RecordedFunction
from flake8_jax.core.report import RuleInfo
from flake8_jax.pipeline.cache import Cache, digest


@dataclass(frozen=True)
class ProgramFile:
    """One file of the program."""

    path: str
    module_name: str
    is_package: bool
    tree: ir.Module
    text: str


@dataclass(frozen=True)
class AnalysisRequest:
    """What to look for. ``codes``: rules to run. ``wanted``: files whose findings count; entries: files that are
    entered (see ``semantics.project``); None for all files. skipped: functions that are not entered, for all that. lazy:
    whether modules that are not entered run only as far as they are needed.
    collect_calls: whether to tell who calls whom. The rest: see ``config``."""

    codes: frozenset[str]
    transforms: dict[str, str] = field(default_factory=dict)
    required: dict[str, str] = field(default_factory=dict)
    recorded: tuple[RecordedFunction, ...] = ()
    unroll_threshold: int = 32
    preview: bool = False
    entries: frozenset[str] | None = None
    skipped: frozenset[FunctionName] = frozenset()
    lazy: bool = False
    wanted: frozenset[str] | None = None
    collect_functions: bool = False
    collect_calls: bool = False


@dataclass(frozen=True)
class AnalysisResult:
    """What came of it. ``functions`` are records for ``inspect``; crashes: rule, path, traceback; calls: if asked for.
    cuts: a sentence for each part of the program that was not analyzed to its end."""

    findings: tuple[Finding, ...] = ()
    functions: tuple[msgspec.Struct, ...] = ()
    crashes: tuple[tuple[str, str, str], ...] = ()
    counters: dict[str, int] = field(default_factory=dict)
    calls: CallGraph | None = None
    cuts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Backend:
    """rules: by code. analyse: the analysis. libraries: import names that make a file worth analysing."""

    rules: dict[str, RuleInfo]
    analyse: Callable[[list[ProgramFile], AnalysisRequest], AnalysisResult]
    libraries: frozenset[str]
    check_transforms: Callable[[dict[str, str]], None]
    """Raises ValueError for a transform of the configuration that stands for nothing."""
    remembered: bool = True
    """Whether its answers may be kept on disk and taken from there."""


INVALID_SYNTAX = RuleInfo(
    code="JAX001",
    name="invalid-syntax",
    level="error",
    summary="The file does not parse or cannot be decoded.",
    doc=(
        "The file does not parse or cannot be decoded.\n\n"
        "Nothing else can be said about such a file, so this rule is always on and no comment suppresses it. "
        "Files that have nothing to do with JAX are not parsed, unless they are named on the command line.\n"
    ),
)
UNUSED_NOQA = RuleInfo(
    code="JAX002",
    name="unused-noqa",
    level="warning",
    summary="A `# noqa` comment with JAX codes suppresses nothing.",
    doc=(
        "A `# noqa` comment with JAX codes suppresses nothing.\n\n"
        "The code was repaired, or the comment never helped; it hides the next mistake on its line. "
        "Opt-in. Comments without codes, and codes of other linters, are left alone.\n"
    ),
    opt_in=True,
    fixable="always",
)
OWN_RULES = (INVALID_SYNTAX, UNUSED_NOQA)
_CATALOGUE_KEY = digest("rules")


class _Catalogue(msgspec.Struct, frozen=True, array_like=True):
    """What importing every rule tells, as the cache keeps it: a warm run has no other need of them."""

    rules: tuple[RuleInfo, ...]
    libraries: frozenset[str]


def default_backend(cache: Cache | None = None) -> Backend:
    """The rules of ``flake8_jax.rules`` over the analysis of ``flake8_jax.semantics``."""
    catalogue = cache.load("catalogue", _CATALOGUE_KEY, _Catalogue) if cache is not None else None
    if catalogue is None:
        catalogue = _read_catalogue()
        if cache is not None:
            cache.store("catalogue", _CATALOGUE_KEY, catalogue)
    rules = {rule.code: rule for rule in catalogue.rules}
    return Backend(rules, _analyse, catalogue.libraries, _check_transforms)


def _read_catalogue() -> _Catalogue:
    from flake8_jax.knowledge import load
    from flake8_jax.knowledge.requirement import LIBRARIES
    from flake8_jax.rules import all_rules

    rules = [
        RuleInfo(found.code, found.name, found.level, found.summary, found.doc, found.opt_in, found.fixable)
        for found in all_rules()
    ]
    return _Catalogue(
        tuple(sorted((*OWN_RULES, *rules), key=lambda rule: rule.code)), load().libraries | LIBRARIES.keys()
    )


def _check_transforms(transforms: dict[str, str]) -> None:
    from flake8_jax.knowledge import load

    load().with_user_transforms(transforms)


def _analyse(files: list[ProgramFile], request: AnalysisRequest) -> AnalysisResult:
    from flake8_jax.fixers import all_fixers
    from flake8_jax.fixers._callers import Program
    from flake8_jax.rules import all_rules
    from flake8_jax.semantics.analysis.analyze import AnalysisOptions, SourceFile, analyse

    analysis = analyse(
        [SourceFile(file.path, file.module_name, file.is_package, file.tree, file.text) for file in files],
        AnalysisOptions(
            rules=[rule for rule in all_rules() if rule.code in request.codes],
            transforms=request.transforms,
            required=request.required,
            recorded=request.recorded,
            unroll_threshold=request.unroll_threshold,
            preview=request.preview,
            entries=request.entries,
            skipped=request.skipped,
            lazy=request.lazy,
            wanted=request.wanted,
            collect_functions=request.collect_functions,
            collect_calls=request.collect_calls,
            fixers=all_fixers(),
            fix_source=Program([(file.path, file.text, file.tree) for file in files]).source,
        ),
    )
    return AnalysisResult(
        tuple(analysis.findings),
        tuple(analysis.functions),
        tuple(analysis.crashes),
        analysis.counters,
        analysis.calls,
        tuple(
            f"{cut.path}: jaxlint stopped analyzing {f'`{cut.function}`' if cut.function else 'this file'}: {cut.reason}"
            for cut in analysis.cuts
        ),
    )
