"""The labelled cases under ``tests/cases``: programs in the style of real ones, with the lines that must be flagged.

A case is a folder ``<rule>/<bad|good>_<nn>_<words>`` with ``code.py``, modules beside it, and ``oracle.py``, whose
``bad(module)`` or ``good(module)`` shows on JAX that the labels are right.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "cases"
CASES = sorted(oracle.parent for oracle in ROOT.glob("*/*/oracle.py"))
IDS = [f"{case.parent.name}-{case.name}" for case in CASES]
_IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)

KNOWN_MISSES = frozenset({"data-dependent-shape-bad_05_masked_update"})
"""Cases whose defect shows only in the dtype of what an unknown caller passes."""

CHILD = """
import importlib.util, sys
case, which = sys.argv[1:3]
sys.path.insert(0, case)

def load(name):
    spec = importlib.util.spec_from_file_location(name, f"{case}/{name}.py")
    module = importlib.util.module_from_spec(spec)
    if name != "oracle":
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module

getattr(load("oracle"), which)(load("code"))
"""


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


def _needs(case: Path) -> set[str]:
    """Top-level names of what the case imports, its own modules left out."""
    own = {file.stem for file in case.rglob("*.py")}
    texts = [file.read_text(encoding="utf-8") for file in case.rglob("*.py")]
    return {name for text in texts for name in _IMPORT.findall(text)} - own


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_case_proves_itself_on_jax(case: Path) -> None:
    missing = sorted(name for name in _needs(case) if importlib.util.find_spec(name) is None)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", CHILD, str(case), case.name.partition("_")[0]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment, check=False)
    assert done.returncode == 0, done.stderr
