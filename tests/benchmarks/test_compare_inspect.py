"""Joining a record of tracers with what inspect says, and the two shares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flake8_jax.runtime_checks.comparison import joined
from flake8_jax.runtime_checks.profile import Function


def recorded(line: int, qualname: str, params: dict[str, dict[str, int]], staged: int = 1) -> Function:
    return Function("/p/m.py", qualname, line, 1, staged, staged, 1, params)


def inspected(line: int, qualname: str, params: dict[str, list[str]], first_line: int | None = None) -> dict[str, Any]:
    said = [{"name": name, "kinds": kinds} for name, kinds in params.items()]
    return {"filename": "/p/m.py", "qualname": qualname, "line": line, "first_line": first_line or line, "params": said}


def test_matches_by_the_line_of_the_first_decorator() -> None:
    record = [recorded(3, "f", {"x": {"traced": 2}})]
    rows = [inspected(5, "f", {"x": ["traced"]}, first_line=3), inspected(9, "g", {"x": ["static"]})]
    (param,) = joined(record, rows)
    assert param.seen and param.found and param.claimed and param.borne_out


def test_lambdas_of_one_line_are_distinguished_by_their_parameters() -> None:
    record = [recorded(3, "f.<locals>.<lambda>", {"y": {"tree": 1}})]
    rows = [inspected(3, "f.<lambda>", {"x": ["static"]}), inspected(3, "f.<lambda>", {"y": ["pytree"]})]
    (param,) = joined(record, rows)
    assert param.kinds == frozenset({"pytree"})


def test_functions_on_one_line_are_united() -> None:
    record = [recorded(3, "<lambda>", {"x": {"traced": 1}})]
    rows = [inspected(3, "<lambda>", {"x": ["traced"]}), inspected(3, "<lambda>", {"x": ["static"]})]
    (param,) = joined(record, rows)
    assert param.kinds == frozenset({"traced", "static"})


def test_a_function_that_inspect_does_not_know_is_missed() -> None:
    (param,) = joined([recorded(3, "f", {"x": {"traced": 1}})], [inspected(4, "g", {"x": ["traced"]})])
    assert param.kinds is None and param.seen and not param.found


def test_a_claim_counts_only_where_the_function_was_seen_staged() -> None:
    record = [recorded(3, "f", {"x": {"array": 1}}, staged=0)]
    (param,) = joined(record, [inspected(3, "f", {"x": ["traced"]})])
    assert not param.claimed and not param.borne_out


def test_stars_before_a_name_do_not_matter() -> None:
    record = [recorded(3, "f", {"args": {"tree": 1}})]
    (param,) = joined(record, [inspected(3, "f", {"*args": ["pytree"]})])
    assert param.found


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("/a/optax/_src/alias_test.py", True),
        ("/a/tests/helpers.py", True),
        ("/a/test/test_x.py", True),
        ("/a/conftest.py", True),
        ("/a/contest.py", False),
        ("/a/latest.py", False),
        ("/a/testing_ground.py", False),
    ],
)
def test_what_counts_as_a_test_file(path: str, is_test: bool) -> None:
    from compare_inspect import is_test_path

    assert is_test_path(path) is is_test


def test_prints_both_shares_and_keeps_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from compare_inspect import main

    record, said = tmp_path / "record.json", tmp_path / "inspect.json"
    seen = recorded(3, "f", {"x": {"traced": 1}, "y": {"tree": 1}, "z": {"other": 4}})
    record.write_text(json.dumps([msgspec.to_builtins(seen)]))
    said.write_text(json.dumps([inspected(3, "f", {"x": ["traced"], "y": ["unknown"], "z": ["traced"]})]))
    assert main([str(record), "--inspect", str(said), "-v"]) == 0
    out = capsys.readouterr().out
    assert "library: found 1/2 (50.0 %), borne out 1/2 (50.0 %)" in out
    assert "f(y) was tree=1; inspect says unknown" in out
    assert "f(z) was other=4; inspect says traced" in out
    assert main([str(record), "--inspect", str(said), "--min-found", "0.6"]) == 1
