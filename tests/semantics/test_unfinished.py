"""Programs that mean nothing, as they stand in an editor in the middle of a change, cost no findings elsewhere."""

from __future__ import annotations

import pytest
from semantics.literate import run_engine

BRANCH = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n\n\n"


@pytest.mark.parametrize("names", ["x = y\ny = z\nz = x\n", "x = x\nif x:\n    y = x\n", "from code import x\nx = x\n"])
def test_names_that_lead_in_a_circle_lead_nowhere(names: str) -> None:
    analysis, _, _ = run_engine({"code.py": f"{BRANCH}{names}print(x + 1)\n"})
    assert analysis.crashes == []
    assert [finding.name for finding in analysis.findings] == ["traced-branch"]
