"""``jaxlint inspect``: records of functions, as JSON and for readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.backend import fake_backend

from flake8_jax.cli.inspect import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("import jax, b\ndef f(x):\n    pass\n\ndef g(x):\n    pass\n")
    (tmp_path / "b.py").write_text("def h(x): pass\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_holds_the_functions_of_the_files_asked_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["a.py", "--no-cache", "--output-format", "json"], fake_backend()) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["qualname"] for record in records] == ["f", "g"]
    assert records[0]["params"] == [{"name": "x", "kinds": ["traced", "static"]}]
    assert set(records[0]) == {
        "filename", "qualname", "line", "first_line", "staged", "ambient", "roots", "params", "contexts",
        "last_line",
    }  # fmt: skip


def test_text_and_narrowing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["a.py:6", "--no-cache"], fake_backend()) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.py:5: g: traced, constants too",
        "    jax.jit at a.py:1",
        "      → a.py:1 <module>",
        "    x: traced, static",
    ]


def test_the_cache_of_findings_is_not_asked_for_functions(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert run(["--output-format", "json"], fake_backend()) == 0
        assert len(json.loads(capsys.readouterr().out)) == 3


def test_missing_path(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["no.py", "--no-cache"], fake_backend()) == 2
    assert "no.py: there is no such file" in capsys.readouterr().err


def test_a_line_is_in_the_innermost_function_around_it(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "import jax\n\n@jax.jit\ndef f(x):\n    def g(y):\n        return y\n\n    return g(x)\n\n\nh = lambda z: z\n"
    )
    (tmp_path / "b.py").write_text(text)
    named = {}
    for line in range(1, 13):
        run([f"b.py:{line}", "--no-cache"])
        said = capsys.readouterr()
        named[line] = [row.split(": ")[1] for row in said.out.splitlines() if row.startswith("b.py:")]
        assert bool(named[line]) is not (f"b.py:{line}: this line is in no function" in said.err)
    f, g = "f", "f.<locals>.g"
    found = {line: names[0] for line, names in named.items() if names}
    assert found == {3: f, 4: f, 5: g, 6: g, 7: f, 8: f, 11: "<lambda>"}
