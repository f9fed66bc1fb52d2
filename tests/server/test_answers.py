"""What focused answers say beside whole ones, and how the two are laid over each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from e2e.projects import FILES, write_project

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from flake8_jax.core.findings import Edit, Finding, Fix, Step
from flake8_jax.server.checker import FocusedChecker, Setup, Snapshot, Then, WholeChecker, reaching_files
from flake8_jax.server.merging import difference, merged, moved_finding, rows_added

CASES = sorted((Path(__file__).parents[1] / "cases").rglob("*.py"))


def _places(findings: object) -> list[tuple[str, int, str]]:
    return [(f.code, f.start, f.message) for f in findings]  # type: ignore[attr-defined]


def _setup(directory: Path) -> Setup:
    return Setup(str(directory), b'{"cache": false, "preview": true, "select": ["ALL"]}')


@pytest.mark.parametrize("case", CASES[:: max(len(CASES) // 25, 1)], ids=lambda path: path.stem)
def test_of_a_file_by_itself_both_say_the_same(case: Path, tmp_path: Path) -> None:
    text = case.read_text(encoding="utf-8")
    path = str(write_project(tmp_path, {"case.py": text}) / "case.py")
    snapshot = Snapshot({path: text})
    whole = WholeChecker(_setup(tmp_path)).answer(snapshot, False)
    focused = FocusedChecker(_setup(tmp_path)).answer(path, snapshot, (), None)
    assert _places(focused.findings) == _places(whole.findings.get(path, ()))
    assert focused.diagnostics == whole.diagnostics.get(path, ())


def test_a_root_in_another_file_is_entered_if_it_is_known_to_reach(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    path = str(root / "pkg/clip.py")
    snapshot = Snapshot({path: FILES["pkg/clip.py"]})
    whole = WholeChecker(_setup(root)).answer(snapshot, True)
    reaching = reaching_files(whole, path)
    assert str(root / "train.py") in reaching
    checker = FocusedChecker(_setup(root))
    assert _places(checker.answer(path, snapshot, reaching, None).findings) == _places(whole.findings[path])
    assert not checker.answer(path, snapshot, (), None).findings, "nothing in this file stages anything"


def test_a_finding_that_needs_other_files_stays_while_the_user_types_elsewhere(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    path, text = str(root / "pkg/clip.py"), FILES["pkg/clip.py"]
    whole = WholeChecker(_setup(root)).answer(Snapshot({path: text}), False)
    then = Then(text, whole.findings[path], whole.diagnostics[path])
    checker = FocusedChecker(_setup(root))
    answer = checker.answer(path, Snapshot({path: "# typed\n" + text}), (), then)
    assert [(item.code, item.row) for item in answer.diagnostics] == [("JAX101", 5)]
    broken = checker.answer(path, Snapshot({path: text + "x = (\n"}), (), replace(then, focused=answer.then))
    assert [(item.code, item.row) for item in broken.diagnostics] == [("JAX001", 7), ("JAX101", 4)]


def _finding(code: str, start: int, end: int | None = None, fix: Fix | None = None) -> Finding:
    return Finding(code, code.lower(), "error", "/a.py", start, end or start + 3, "m", (), fix)


NOTHING = Edit(0, 0, "")


def test_the_difference_of_two_texts_is_what_was_typed() -> None:
    assert difference("abcabc", "abcXabc") == Edit(3, 3, "X")
    assert difference("aaa", "aa") == Edit(2, 3, "")
    assert difference("same", "same") == Edit(4, 4, "")
    assert difference("", "new") == Edit(0, 0, "new")


def test_a_finding_that_was_typed_over_goes() -> None:
    assert moved_finding(_finding("JAX101", 4), Edit(3, 6, ""), 0) is None


def test_a_fix_goes_where_the_edit_touches_it() -> None:
    fix = Fix("m", "safe", (Edit(0, 2, "x"), Edit(10, 12, "y")))
    moved = moved_finding(_finding("JAX101", 10, fix=fix), Edit(5, 5, "ab"), 0)
    assert moved is not None and moved.start == 12
    assert moved.fix == Fix("m", "safe", (Edit(0, 2, "x"), Edit(12, 14, "y")))
    torn = moved_finding(_finding("JAX101", 10, fix=fix), Edit(1, 1, "ab"), 0)
    assert torn is not None and torn.fix is None


def test_evidence_moves_with_the_text() -> None:
    steps = (
        Step("/a.py", 1, 1, "root", "f", ""),
        Step("/a.py", 20, 4, "call", "g", ""),
        Step("/b.py", 20, 4, "call", "h", ""),
    )
    finding = msgspec.structs.replace(_finding("JAX101", 30), evidence=steps)
    moved = moved_finding(finding, Edit(10, 10, "y\n"), rows_added("x" * 40, Edit(10, 10, "y\n")))
    assert moved is not None
    assert [(step.start, step.row) for step in moved.evidence] == [(1, 1), (22, 5), (20, 4)]


def test_what_the_whole_project_refutes_is_not_shown_again() -> None:
    doubted = _finding("JAX602", 5)
    assert merged(NOTHING, 0, [], [doubted], [doubted]) == []


def test_what_only_the_whole_project_shows_stays() -> None:
    far = _finding("JAX101", 5)
    assert merged(NOTHING, 0, [far], [], []) == [far]


def test_what_the_edit_fixed_goes_and_what_it_broke_comes() -> None:
    fixed, fresh = _finding("JAX101", 5), _finding("JAX203", 9)
    assert merged(NOTHING, 0, [fixed], [fixed], [fresh]) == [fresh]


def test_two_files_with_the_same_text_both_have_its_findings(tmp_path: Path) -> None:
    text = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
    root = write_project(tmp_path, {"a.py": text, "b.py": text})
    whole = WholeChecker(_setup(root)).answer(Snapshot({str(root / "a.py"): text}), False)
    assert {path: [item.code for item in said] for path, said in whole.diagnostics.items()} == {
        str(root / "a.py"): ["JAX101"],
        str(root / "b.py"): ["JAX101"],
    }


def test_modules_run_as_far_as_they_are_needed(tmp_path: Path) -> None:
    """Names come through a package that imports everything, bases through ten modules, each from the one before."""
    chain = {
        f"pkg/m{n}.py": f"from pkg.m{n - 1} import C{n - 1}\n\n\nclass C{n}(C{n - 1}):\n    pass\n"
        for n in range(1, 12)
    }
    base = "import jax\n\n\nclass C0:\n    def step(self, x):\n        return jax.jit(self.inner)(x)\n"
    everything = "".join(f"from pkg.m{n} import C{n}\n" for n in range(12))
    user = "from pkg import C11\n\n\nclass Mine(C11):\n    def inner(self, x):\n        return float(x)\n"
    files = {**chain, "pkg/m0.py": base, "pkg/__init__.py": everything, "mine.py": user + "\n\nMine().step(1.0)\n"}
    root = write_project(tmp_path, files)
    path = str(root / "mine.py")
    snapshot = Snapshot({path: files["mine.py"]})
    whole = WholeChecker(_setup(root)).answer(snapshot, False)
    focused = FocusedChecker(_setup(root)).answer(path, snapshot, (), None)
    assert [finding.code for finding in whole.findings[path]] == ["JAX201"]
    assert _places(focused.findings) == _places(whole.findings[path])


def test_files_that_lie_beside_an_open_one_without_a_project_are_no_part_of_its_program(tmp_path: Path) -> None:
    """A file opened in a folder of downloads needs what it imports and what imports it."""
    broken = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
    texts = {
        "opened.py": "from helper import scale\n\n\ndef clip(x):\n    return float(scale(x))\n",
        "helper.py": "def scale(x):\n    return 2 * x\n",
        "caller.py": "import jax\nfrom opened import clip\n\njax.jit(clip)(1.0)\n",
        "stranger.py": broken,
        "other_checkout/__init__.py": "",
        "other_checkout/train.py": broken,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    opened = str(tmp_path / "opened.py")
    whole = WholeChecker(_setup(tmp_path)).answer(Snapshot({opened: texts["opened.py"]}), False)
    assert {path: [item.code for item in said] for path, said in whole.diagnostics.items()} == {opened: ["JAX201"]}
