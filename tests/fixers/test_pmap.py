"""``jax.pmap`` and what the fixer makes of it do the same on eight devices, to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.jax_programs import Program, Runner

from fixers.fixtures import FOLDER, Case, cases_of

SCRIPT = Path(__file__).with_name("pmaps_on_jax.py")
CASES = [case for case in cases_of(FOLDER / "pmap.txt") if case.after is not None and "def main()" in case.before]


def program(case: Case, name: str, after: str) -> Program:
    return Program(f"pmap/{name}", SCRIPT, "pmap", files={"before.py": case.before, "after.py": after})


SAME = [program(case, case.name, case.after or "") for case in CASES]
SPOILED = {
    "another axis": ('pmean(grads, axis_name="batch")', 'psum(grads, axis_name="batch")'),
    "another order": ("Mesh(jax.devices(),", "Mesh(jax.devices()[::-1],"),
    "another layout": ('out_specs=jax.sharding.PartitionSpec("batch")', "out_specs=jax.sharding.PartitionSpec()"),
    "no devices": ("jax.jit, donate", "jax.vmap, donate"),
}
STEP = next(case for case in CASES if case.name == "data parallel step")


def spoiled(name: str) -> Program:
    """The fixed step with one defect."""
    old, new = SPOILED[name]
    assert STEP.after is not None
    assert old in STEP.after
    return program(STEP, name, STEP.after.replace(old, new))


@pytest.mark.parametrize("program", SAME, ids=lambda program: program.name)
def test_same(program: Program, on_jax: Runner) -> None:
    assert on_jax(program) == ""


@pytest.mark.parametrize("program", [spoiled(name) for name in SPOILED], ids=lambda program: program.name)
def test_defect_is_seen(program: Program, on_jax: Runner) -> None:
    assert on_jax(program) != ""
