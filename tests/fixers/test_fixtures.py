"""Every fixture is repaired by the whole of jaxlint, and what comes out computes what went in, on JAX."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from fixers.fixtures import Case, all_cases

CASES = all_cases()
IDS = [f"{case.rule}/{case.name}" for case in CASES]
# These draw other numbers after the repair: that is the point of it.
NEW_NUMBERS = {"key-reuse", "key-reuse-in-loop", "legacy-prng-key", "discarded-update"}
RAISED_BEFORE = {
    "unknown-mesh-axis",
    "array-item-assignment",
    "integer-grad",
    "unhashable-static",
    "static-arg-mismatch",
    "removed-api",
    "non-array-argument",
}
"""These raise without the repair, compiled or not."""


@pytest.fixture(scope="session")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """The text of every case after ``jaxlint --fix --unsafe-fixes`` with its rule alone."""
    return repair(tmp_path_factory.mktemp("fixtures"), CASES, "--unsafe-fixes")


@pytest.fixture(scope="session")
def repaired_safely(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """The text of every case that speaks of safety after ``jaxlint --fix`` with its rule alone."""
    return repair(tmp_path_factory.mktemp("safely"), [case for case in CASES if case.safety])


ALONE = {"run-without-jit", "unwrapped", "exported", "traced-and-never-run"}
"""What these programs say makes fixes unsafe in all of their project, so each has a project of its own."""


def repair(root: Path, cases: list[Case], *options: str) -> dict[tuple[str, str], str]:
    texts: dict[tuple[str, str], str] = {}
    projects: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        projects.setdefault((case.rule, case.name if case.name in ALONE else ""), []).append(case)
    for (rule, name), mine in projects.items():
        folder = root / f"{rule}{name}".replace("-", "_")
        folder.mkdir()
        for case in mine:
            (folder / f"{case.module}.py").write_bytes(as_written(case).encode())
        command = [sys.executable, "-m", "flake8_jax", "check", "--isolated", "--no-cache", "--select", rule]
        done = subprocess.run(
            [*command, "--fix", *options, "--quiet", str(folder)], capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        for case in mine:
            texts[rule, case.name] = (folder / f"{case.module}.py").read_bytes().decode()
    return texts


def as_written(case: Case) -> str:
    """The program in the newlines that its name asks for."""
    return case.before.replace("\n", "\r\n") if case.name.startswith("crlf") else case.before


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_text(case: Case, repaired: dict[tuple[str, str], str]) -> None:
    wanted = case.after if case.after is not None else case.before
    got = repaired[case.rule, case.name]
    if case.name.startswith("crlf"):
        assert got.count("\r\n") == got.count("\n")
        got = got.replace("\r\n", "\n")
    assert got == wanted


SAFETY = [case for case in CASES if case.safety]


@pytest.mark.parametrize("case", SAFETY, ids=[f"{case.rule}/{case.name}" for case in SAFETY])
def test_safety(case: Case, repaired_safely: dict[tuple[str, str], str]) -> None:
    assert case.safety in ("safe", "unsafe")
    assert repaired_safely[case.rule, case.name] == (case.after if case.safety == "safe" else case.before)


def test_every_rule_with_a_fixer_has_fixtures() -> None:
    from flake8_jax.fixers import all_fixers

    mine = {path.stem for path in Path(__file__).parent.glob("fixtures/*.txt")}
    others = {rule for rule in all_fixers() if rule[0] and rule not in mine}
    assert not {rule for rule in others if rule in REPAIRED_HERE}


REPAIRED_HERE = {
    "traced-branch", "traced-while", "traced-range", "traced-shape", "data-dependent-shape", "traced-slice",
    "traced-container-index", "builtin-on-tracer", "host-cast", "host-item", "numpy-on-tracer", "sync-in-staged",
    "print-in-staged", "key-reuse", "key-reuse-in-loop", "legacy-prng-key",
}  # fmt: skip


RUNNABLE = [case for case in CASES if case.after is not None and "def main()" in case.before]


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNNABLE, ids=[f"{case.rule}/{case.name}" for case in RUNNABLE])
def test_values(case: Case, tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    assert case.after is not None
    after = load(tmp_path / "after.py", case.after)
    if case.rule in NEW_NUMBERS:
        with jax.debug_key_reuse(case.rule != "legacy-prng-key"):
            jax.block_until_ready(after())
        return
    got = after()
    jax.effects_barrier()
    if case.rule in RAISED_BEFORE:
        return
    with jax.disable_jit():
        wanted = load(tmp_path / "before.py", case.before)()
    same(jax, got, wanted)


def load(path: Path, text: str) -> object:
    """The function ``main`` of a program."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def same(jax: object, got: object, wanted: object) -> None:
    import numpy as np

    one, other = jax.tree.leaves(got), jax.tree.leaves(wanted)  # type: ignore[attr-defined]
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5)
