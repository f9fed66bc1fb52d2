"""The analysis as the pipeline sees it: rules, and one call that turns a program into findings with fixes.

Vocabulary
----------
backend   rules and analysis. ``default_backend`` is the real one; tests put in one of their own.

Importing this module loads neither the rules nor the interpreter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from flake8_jax.core.call_graph import CallGraph
from flake8_jax.core.findings import Finding
from flake8_jax.core.report import RuleInfo
from flake8_jax.pipeline.cache import Cache, digest
from flake8_jax.pipeline.installed import Installed, Offer, find_offers, fingerprint
from flake8_jax.pipeline.installed import load as load_installed
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.settings.tables import ConfigError

if TYPE_CHECKING:
    from flake8_jax.core.registry import Rule


@dataclass(frozen=True)
class AnalysisResult:
    """The outcome of an analysis. ``functions`` are records for ``inspect``; crashes: rule, path, traceback; calls: if the
    request asks for them. cuts: a sentence for each part of the program that was not analyzed to its end."""

    findings: tuple[Finding, ...] = ()
    functions: tuple[msgspec.Struct, ...] = ()
    crashes: tuple[tuple[str, str, str], ...] = ()
    counters: dict[str, int] = field(default_factory=dict)
    calls: CallGraph | None = None
    cuts: tuple[str, ...] = ()


Analyze = Callable[[list[SourceFile], AnalysisRequest], AnalysisResult]


@dataclass(frozen=True)
class Backend:
    """rules: by code. analyze: the analysis. libraries: import names that make a file worth analyzing."""

    rules: dict[str, RuleInfo]
    analyze: Analyze
    libraries: frozenset[str]
    check_transforms: Callable[[dict[str, str]], None]
    """Raises ValueError for a transform of the configuration that stands for nothing."""
    remembered: bool = True
    """Whether its answers may be kept on disk and taken from there."""
    installed: str = ""
    """Names the rules of installed packages (``installed.fingerprint``): answers of others are not taken from the cache."""
    troubles: tuple[str, ...] = ()
    """Rules of installed packages that are left out, in a sentence each."""


INVALID_SYNTAX = RuleInfo(
    code="JAX001",
    name="invalid-syntax",
    level="error",
    summary="The file does not parse or cannot be decoded.",
    doc=(
        "The file does not parse or cannot be decoded.\n\n"
        "jaxlint can report nothing else about such a file, so this rule is always on, and no comment suppresses it. "
        "Correct the syntax error, or save the file in the encoding that it declares (UTF-8 if it declares none).\n\n"
        "jaxlint does not parse a file that neither mentions JAX, nor imports a file that does, nor is imported by one. "
        "Name such a file on the command line to check it.\n"
    ),
)
UNUSED_NOQA = RuleInfo(
    code="JAX002",
    name="unused-noqa",
    level="warning",
    summary="A `# noqa` comment with JAX codes suppresses nothing.",
    doc=(
        "A `# noqa` comment with JAX codes suppresses nothing.\n\n"
        "Either the code has been corrected since, or the comment never had an effect. Such a comment would hide a "
        "later mistake on its line. For example, `# noqa: JAX101` suppresses nothing on a line for which jaxlint does not "
        "report JAX101.\n\n"
        "The fix removes the unused JAX codes, and the comment if no other code is left. It does not change "
        "`# noqa` without codes, or the codes of other linters.\n"
    ),
    opt_in=True,
    fixable="always",
)
OWN_RULES = (INVALID_SYNTAX, UNUSED_NOQA)


class _Catalogue(msgspec.Struct, frozen=True, array_like=True):
    """What importing every rule tells, as the cache keeps it: a warm run has no other need of them."""

    rules: tuple[RuleInfo, ...]
    libraries: frozenset[str]


def default_backend(cache: Cache | None = None) -> Backend:
    """The rules of ``flake8_jax.rules`` and of installed packages over the analysis of ``flake8_jax.semantics``.

    Raises ConfigError where two rules have one code or name.
    """
    offers = find_offers()
    installed = fingerprint(offers)
    key = digest("rules", installed)
    catalogue = cache.load("catalogue", key, _Catalogue) if cache is not None else None
    troubles: tuple[str, ...] = ()
    if catalogue is None:
        catalogue, troubles = _read_catalogue(offers)
        # What cannot be imported is tried again the next time: the run that shows it must not be the only one.
        if cache is not None and not troubles:
            cache.store("catalogue", key, catalogue)
    rules = {rule.code: rule for rule in catalogue.rules}
    analyze = functools.partial(_analyze, offers)
    return Backend(rules, analyze, catalogue.libraries, _check_transforms, installed=installed, troubles=troubles)


def _read_catalogue(offers: tuple[Offer, ...]) -> tuple[_Catalogue, tuple[str, ...]]:
    """The catalogue, and why rules of the offers are not in it. Raises ConfigError."""
    from flake8_jax.knowledge import load
    from flake8_jax.knowledge.requirement import LIBRARIES

    others = load_installed(offers)
    origins = dict(others.origins)
    rules = [_described(rule, origins.get(rule.code, "")) for rule in _every_rule(others)]
    catalogue = _Catalogue(
        tuple(sorted((*OWN_RULES, *rules), key=lambda rule: rule.code)), load().libraries | LIBRARIES.keys()
    )
    return catalogue, others.troubles


def _described(rule: Rule, package: str) -> RuleInfo:
    import inspect

    file = (inspect.getsourcefile(inspect.unwrap(rule.check)) or "") if package else ""
    return RuleInfo(
        rule.code, rule.name, rule.level, rule.summary, rule.doc, rule.opt_in, rule.fixable, package, file
    )  # fmt: skip


def _every_rule(others: Installed) -> tuple[Rule, ...]:
    """Our rules and those of installed packages. Raises ConfigError where two have one code or name."""
    from flake8_jax.core.registry import ClashError, ordered
    from flake8_jax.rules import all_rules

    if not others.rules:
        return all_rules()
    try:
        return ordered([*all_rules(), *others.rules])
    except ClashError as error:
        packages = ", ".join(sorted({package for _, package in others.origins}))
        raise ConfigError(f"{error}, or uninstall it (rules are installed by {packages})") from error


def _check_transforms(transforms: dict[str, str]) -> None:
    from flake8_jax.knowledge import load

    load().with_user_transforms(transforms)


def _analyze(offers: tuple[Offer, ...], files: list[SourceFile], request: AnalysisRequest) -> AnalysisResult:
    from flake8_jax.fixers import all_fixers
    from flake8_jax.fixers.proposals import propose_fixes
    from flake8_jax.semantics.analysis.analyze import analyze
    from flake8_jax.semantics.machine.limits import Cut
    from flake8_jax.semantics.trackers.versions import Required

    others = load_installed(offers)
    analysis = analyze(files, request, _every_rule(others))
    fixers = dict(all_fixers())
    for one in others.fixers:
        fixers[one.rule] = (*fixers.get(one.rule, ()), one)
    proposals = propose_fixes(
        [(one.finding, one.event) for one in analysis.reports],
        [(file.path, file.text, file.tree) for file in files],
        fixers,
        styles=request.styles,
        required=Required(request.required, request.required_in).of,
        beside={id(one.event): one.beside for one in analysis.reports if one.beside},
    )
    cuts = {*analysis.cuts, *(Cut(path, "", reason) for path, reason in proposals.refused)}
    return AnalysisResult(
        tuple(proposals.findings),
        tuple(analysis.functions),
        tuple(dict.fromkeys((*analysis.crashes, *proposals.crashes))),
        analysis.counters,
        analysis.calls,
        tuple(
            f"{cut.path}: jaxlint stopped analyzing {f'`{cut.function}`' if cut.function else 'this file'}: {cut.reason}"
            for cut in sorted(cuts, key=lambda cut: (cut.path, cut.function, cut.reason))
        ),
    )
