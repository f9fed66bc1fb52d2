"""``scripts/new_rule.py`` writes a rule that is complete and works, and overwrites nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from rules import test_docs
from support.pages import labels_of, parse_page

from flake8_jax.core.findings import Positions
from flake8_jax.core.registry import Rule, declared_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

SCRIPT = Path(__file__).parents[1] / "scripts" / "new_rule.py"
FOLDERS = (
    "flake8_jax/rules", "flake8_jax/fixers", "flake8_jax/runtime_checks/oracles", "tests/rules/data", "tests/fixers/fixtures",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "flake8_jax/rules/one.py").write_text('@rule("JAX416", "error")\n', encoding="utf-8")
    return tmp_path


def new_rule(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def the_rule_in(path: Path) -> Rule:
    spec = spec_from_file_location("round_in_jit", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["round_in_jit"] = module  # annotations are looked up there
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["round_in_jit"]
    (rule,) = declared_rules(module)
    return rule


def labels_found(rule: Rule, text: str) -> set[tuple[int, str]]:
    tree = lower(text)
    found = analyze([SourceFile("/a.py", "a", False, tree, text)], AnalysisRequest(), [rule]).findings
    return {(Positions(tree.line_starts).row(one.start), one.name) for one in found}


def test_the_new_rule_has_a_page_that_is_true(root: Path) -> None:
    done = new_rule(root, "round-in-jit", "--group", "4", "--fixer")
    assert done.returncode == 0, done.stderr
    written = sorted(path.relative_to(root).as_posix() for path in root.rglob("*round*"))
    assert len(written) == len(FOLDERS)
    code = [path for path in written if path.startswith("flake8_jax/")]
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", str(SCRIPT.parents[1] / "pyproject.toml"), *code],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    rule = the_rule_in(root / "flake8_jax/rules/round_in_jit.py")
    assert (rule.code, rule.name, rule.fixable) == ("JAX417", "round-in-jit", "sometimes")
    test_docs.test_page_is_complete(rule)
    test_docs.test_fixable_rules_say_how(rule)
    test_docs.test_pages_have_no_private_words(rule)
    programs = [file.text for example in parse_page(rule.doc).examples for file in example.files]
    for text in (*programs, (root / "tests/rules/data/round_in_jit.py").read_text(encoding="utf-8")):
        assert labels_found(rule, text) == {(label.row, label.rule) for label in labels_of("a.py", text)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["one", "--group", "4"], "flake8_jax/rules/one.py exists; choose another name"),
        (["two", "--code", "JAX416"], "JAX416 is taken by flake8_jax/rules/one.py; --group 4 takes the next free one"),
        (["two", "--code", "JAX41"], "`JAX41` is no code of a rule"),
        (["Two_words", "--group", "4"], "`Two_words` is no name of a rule"),
        (["two"], "give --group N for the next free code of a group, or --code CODE"),
    ],
)
def test_nothing_is_written_where_something_is_wrong(arguments: list[str], said: str, root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    done = new_rule(root, *arguments)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
