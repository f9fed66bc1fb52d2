"""The labelled cases under ``tests/cases``: programs in the style of real ones, with the lines that must be flagged.

A case is a folder ``<rule>/<bad|good>_<nn>_<words>`` with ``code.py``, modules beside it, and ``oracle.py``, whose
``bad(module)`` or ``good(module)`` shows on JAX that the labels are right.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.jax_programs import Program, Runner

ROOT = Path(__file__).parents[1] / "cases"
CASES = sorted(oracle.parent for oracle in ROOT.glob("*/*/oracle.py"))
IDS = [f"{case.parent.name}-{case.name}" for case in CASES]
PROGRAMS = [
    Program(
        name,
        Path(__file__).with_name("case_on_jax.py"),
        case.parent.name,
        folder=case,
        arguments={"which": case.name.partition("_")[0]},
        texts=tuple(file.read_text(encoding="utf-8") for file in sorted(case.rglob("*.py"))),
    )
    for name, case in zip(IDS, CASES)
]

KNOWN_MISSES = frozenset({"data-dependent-shape-bad_05_masked_update"})
"""Cases whose defect shows only in the dtype of what an unknown caller passes."""


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_case_is_linted_as_its_labels_say(
    case: Path, check: Callable[..., None], request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.id in KNOWN_MISSES:
        request.applymarker(pytest.mark.xfail(strict=True, reason="the mask's dtype is not in the program"))
    texts = {
        file.relative_to(case).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(case.rglob("*.py"))
        if file.name != "oracle.py"
    }
    check(texts, opt_in=frozenset({case.parent.name}))


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_case_proves_itself_on_jax(program: Program, on_jax: Runner) -> None:
    assert on_jax(program) == ""
