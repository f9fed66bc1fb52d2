"""Every fixture is fixed by the whole of jaxlint, and what comes out computes what went in, on JAX."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.jax_programs import Program, Runner

from fixers.fixtures import Case, all_cases
from flake8_jax.cli import main

CASES = all_cases()
Fixed = Callable[[Case], str]
"""The text of a case after its fix, with its rule alone."""


@pytest.fixture(scope="session")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Fixed:
    """After ``jaxlint --fix --unsafe-fixes``."""
    return functools.partial(_text_of, functools.cache(functools.partial(fix, tmp_path_factory, "--unsafe-fixes")))


@pytest.fixture(scope="session")
def fixed_safely(tmp_path_factory: pytest.TempPathFactory) -> Fixed:
    """After ``jaxlint --fix``."""
    return functools.partial(_text_of, functools.cache(functools.partial(fix, tmp_path_factory)))


def _text_of(fixed_project: Callable[[str, str], dict[str, str]], case: Case) -> str:
    return fixed_project(*project_of(case))[case.name]


ALONE = {
    "run-without-jit",
    "unwrapped",
    "exported",
    "traced-and-never-run",
    "fake-pmap",
    "several-processes",
    "a-part-for-each-process",
    "waits-for-other-processes",
    "keys-of-a-process",
}
"""What these programs say makes fixes unsafe in all of their project, so each has a project of its own."""


def project_of(case: Case) -> tuple[str, str]:
    """Cases of one project are fixed together: those of a rule, or one alone."""
    return case.rule, case.name if case.name in ALONE else ""


def fix(folders: pytest.TempPathFactory, *project_and_options: str) -> dict[str, str]:
    """The texts of a project's cases after their fix, by name."""
    *options, rule, name = project_and_options
    mine = [case for case in CASES if project_of(case) == (rule, name)]
    folder = folders.mktemp(rule)
    for case in mine:
        (folder / f"{case.module}.py").write_bytes(as_written(case).encode())
    command = [
        "check",
        "--isolated",
        "--no-cache",
        "--preview",
        "--select",
        rule,
        "--fix",
        *options,
        "--quiet",
        str(folder),
    ]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(command)
    assert status in (0, 1), said.getvalue()
    return {case.name: (folder / f"{case.module}.py").read_bytes().decode() for case in mine}


def as_written(case: Case) -> str:
    """The program in the newlines that its name asks for."""
    return case.before.replace("\n", "\r\n") if case.name.startswith("crlf") else case.before


def parameters(cases: list[Case]) -> list[Any]:
    """Cases that are fixed together share a worker."""
    return [
        pytest.param(case, id=f"{case.rule}/{case.name}", marks=pytest.mark.xdist_group(f"fixes of {case.rule}"))
        for case in cases
    ]


@pytest.mark.parametrize("case", parameters(CASES))
def test_text(case: Case, fixed: Fixed) -> None:
    wanted = case.after if case.after is not None else case.before
    got = fixed(case)
    if case.name.startswith("crlf"):
        assert got.count("\r\n") == got.count("\n")
        got = got.replace("\r\n", "\n")
    assert got == wanted


@pytest.mark.parametrize("case", parameters([case for case in CASES if case.safety]))
def test_safety(case: Case, fixed_safely: Fixed) -> None:
    assert case.safety in ("safe", "unsafe")
    assert fixed_safely(case) == (case.after if case.safety == "safe" else case.before)


PROGRAMS = [
    Program(
        f"{case.rule}/{case.name}",
        Path(__file__).with_name("run_on_jax.py"),
        case.rule,
        files={"before.py": case.before, "after.py": case.after},
        arguments={"values": case.values},
    )
    for case in CASES
    if case.after is not None and "def main()" in case.before
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_values(program: Program, on_jax: Runner) -> None:
    assert on_jax(program) == ""
