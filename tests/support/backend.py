"""An analysis that finds words instead of mistakes, so that the doors can be tested without the interpreter.

BAD          JAX101, no fix.            np.sin      JAX203, safe fix to jnp.sin.
UNSAFE       JAX703, unsafe fix.        OLD         JAX306, opt-in.
WORSE        JAX505, its fix brings BAD. BROKEN      JAX506, its fix does not parse.
STUBBORN     JAX504, its fix keeps it.  CRASH       the rule JAX101 fails on this file.
EURO         JAX203, its fix writes one. LINES       JAX203, its fix writes two lines.
"""

from __future__ import annotations

import re

import msgspec

from flake8_jax.core.findings import Edit, Finding, Fix, Step
from flake8_jax.core.report import RuleInfo
from flake8_jax.pipeline.backend import OWN_RULES, AnalysisResult, Backend
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile

RULES = (
    *OWN_RULES,
    RuleInfo("JAX101", "traced-branch", "error", "A branch.", "A branch.\n\n## Why is this bad?\n\nIt raises."),
    RuleInfo("JAX203", "numpy-on-tracer", "error", "NumPy.", "NumPy.", fixable="always"),
    RuleInfo("JAX306", "legacy-prng-key", "info", "Old keys.", "Old keys.", opt_in=True),
    RuleInfo("JAX504", "impure-call", "warning", "Impure.", "Impure."),
    RuleInfo("JAX505", "array-item-assignment", "error", "Stores.", "Stores."),
    RuleInfo("JAX506", "discarded-update", "error", "Updates.", "Updates."),
    RuleInfo("JAX703", "unstable-expression", "warning", "Digits.", "Digits."),
)
_WORDS = {
    "BAD": ("JAX101", None),
    r"np\.sin": ("JAX203", ("safe", "jnp.sin")),
    "OLD": ("JAX306", None),
    "STUBBORN": ("JAX504", ("safe", "STUBBORN ")),
    "WORSE": ("JAX505", ("safe", "BAD")),
    "BROKEN": ("JAX506", ("safe", ")(")),
    "EURO": ("JAX203", ("safe", "'€'")),
    "LINES": ("JAX203", ("safe", "one\ntwo")),
    "UNSAFE": ("JAX703", ("unsafe", "okay")),
}


def _findings(file: SourceFile, request: AnalysisRequest) -> list[Finding]:
    names = {rule.code: rule for rule in RULES}
    found: list[Finding] = []
    for word, (code, change) in _WORDS.items():
        for match in re.finditer(rf"\b{word}\b", file.text):
            if code not in request.codes:
                continue
            fix = None
            if change is not None:
                applicability, content = change
                fix = Fix(f"write {content}", applicability, (Edit(match.start(), match.end(), content),))
            evidence = (Step(file.path, 0, 1, "root", "f", "jax.jit stages f"),)
            rule = names[code]
            found.append(
                Finding(
                    code,
                    rule.name,
                    rule.level,
                    file.path,
                    match.start(),
                    match.end(),
                    f"found {match[0]} in {file.module_name}",
                    evidence,
                    fix,
                )
            )
    return found


class Function(msgspec.Struct):
    """What the analysis says of a function, for ``inspect``."""

    filename: str
    qualname: str
    line: int
    first_line: int
    staged: bool
    ambient: bool
    roots: list[dict[str, object]]
    params: list[dict[str, object]]
    contexts: int = 1
    last_line: int = 0


def _functions(file: SourceFile) -> list[Function]:
    """Every ``def`` is staged by a jit in line 1."""
    roots: list[dict[str, object]] = [
        {
            "transform": "jax.jit",
            "filename": file.path,
            "line": 1,
            "chain": [{"filename": file.path, "line": 1, "function": "<module>"}],
        }
    ]
    return [
        Function(
            file.path, match[1], row, row, True, True, roots, [{"name": "x", "kinds": ["traced", "static"]}], 1, row + 1
        )
        for row, line in enumerate(file.text.splitlines(), 1)
        if (match := re.match(r"\s*def (\w+)", line))
    ]


class Recorder:
    """The analysis; remembers what it was asked."""

    def __init__(self) -> None:
        self.programs: list[list[SourceFile]] = []

    def __call__(self, files: list[SourceFile], request: AnalysisRequest) -> AnalysisResult:
        self.programs.append(files)
        found = [finding for file in files for finding in _findings(file, request)]
        crashes = tuple(
            ("traced-branch", file.path, "Traceback:\nKeyError: 'x'") for file in files if "CRASH" in file.text
        )
        functions = [f for file in files for f in _functions(file)] if request.collect_functions else []
        return AnalysisResult(tuple(found), tuple(functions), crashes, {"contexts": len(files)})


def fake_backend(analyze: Recorder | None = None) -> Backend:
    return Backend(
        {rule.code: rule for rule in RULES}, analyze or Recorder(), frozenset({"jax", "flax"}), lambda transforms: None
    )
