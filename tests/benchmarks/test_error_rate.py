"""Counting errors on working code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def finding(path: Path, code: str, severity: str) -> dict[str, Any]:
    place = {"row": 1, "column": 1}
    evidence = [{"filename": str(path), "row": 1, "message": "jax.jit stages step"}]
    return {"filename": str(path), "code": code, "name": "a-rule", "severity": severity, "message": "m",
            "location": place, "evidence": evidence}  # fmt: skip


def answering(found: list[dict[str, Any]]) -> Callable[..., list[dict[str, Any]]]:
    return lambda *_: found


def test_errors_outside_tests_per_20000_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import error_rate

    package = tmp_path / "lib"
    package.mkdir()
    code, test = package / "code.py", package / "code_test.py"
    for file in (code, test):
        file.write_text("x = 1\n" * 10_000)
    found = [finding(code, "JAX101", "error"), finding(code, "JAX206", "warning"), finding(test, "JAX101", "error")]
    monkeypatch.setattr(error_rate, "findings_of", answering(found))
    assert error_rate.main([str(package), "--max-rate", "2"]) == 0
    out = capsys.readouterr().out
    assert "1 errors in 10000 lines of 1 files: 2.00 per 20000 lines" in out
    assert f"{code}:1:1: JAX101 a-rule: m" in out and "jax.jit stages step" in out
    assert str(test) not in out
    assert error_rate.main([str(package), "--max-rate", "1.9"]) == 1
    assert error_rate.main([str(package), "--with-tests"]) == 0
    assert "2 errors in 20000 lines" in capsys.readouterr().out


def test_a_jaxlint_that_fails_is_not_a_clean_one(tmp_path: Path) -> None:
    import sys

    from error_rate import findings_of

    (tmp_path / "m.py").write_text("x = 1\n")
    with pytest.raises(SystemExit) as stop:
        findings_of(sys.executable, [str(tmp_path)], ["--no-such-flag"])
    assert stop.value.code == 2
