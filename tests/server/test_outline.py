"""What an edit concerns: nothing, one function and its callers, or everything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from e2e.projects import write_project

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from flake8_jax.core.call_graph import CallGraph
from flake8_jax.pipeline.lowering import lower_text
from flake8_jax.server.checker import Focused, FocusedChecker, Setup, Snapshot, Then, WholeChecker
from flake8_jax.server.merging import difference
from flake8_jax.server.outline import Edited, Extent, edited_part, unaffected

TEXT = '''\
"""Text.

# no comment
"""
import jax

SCALE = 2.0


# A comment.
@jax.jit
def step(x):
    if x > 0:
        return x

    return helper(x)  # said


def helper(x):
    return x * SCALE


def counted():
    global SCALE
    SCALE = 3.0


class Model:
    def __init__(self, width):
        self.width = width

    def apply(self, x):
        return x * self.width
'''


def _concerns(old: str, new: str, text: str = TEXT) -> Edited | Extent:
    assert text.count(old) == 1
    now = text.replace(old, new)
    before, after = lower_text(text).module, lower_text(now).module
    assert before is not None and after is not None
    return edited_part(before, after, text, now, difference(text, now))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# A comment.\n", "# Another one.\n"),
        ("# A comment.\n", "# A comment.\n\n\n"),
        ("# A comment.\n", ""),
        ("  # said", "  # said twice"),
        ("    if x > 0:\n", "    # why\n    if x > 0:\n"),
        ("        return x\n\n", "        return x\n"),
        ("    return helper(x)", "\n    return helper(x)"),
    ],
)
def test_comments_and_blank_lines_concern_nothing(old: str, new: str) -> None:
    assert _concerns(old, new) is Extent.NOTHING


@pytest.mark.parametrize(
    ("old", "new", "function"),
    [
        ("    if x > 0:\n", "    y = x\n    if x > 0:\n", "step"),
        ("@jax.jit\n", "@jax.jit\n@jax.named_call\n", "step"),
        ("def helper(x):", "def helper(x, y=1):", "helper"),
        ("    return x * SCALE", "    return (\n        x * SCALE\n    )", "helper"),
        ("return x * self.width", "return x - self.width", "Model.apply"),
    ],
)
def test_an_edit_inside_one_function_concerns_that_function(old: str, new: str, function: str) -> None:
    assert _concerns(old, new) == Edited(function, stores=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# no comment", "# none at all"),
        ("SCALE = 2.0", "SCALE = 2"),
        ("import jax\n", "import jax\nimport numpy\n"),
        ("def helper(x):", "def helped(x):"),
        ("    return x * SCALE\n", "    return x * SCALE\n\n\nOTHER = 1\n"),
        ("    return x * SCALE\n", "    return x * SCALE\n\n\ndef more(x):\n    return x\n"),
        ("    SCALE = 3.0", "    SCALE = 4.0"),
        ("class Model:", "class Model(dict):"),
        ("def helper(x):", "SCALE = step(2.0)\ndef helper(x):"),
    ],
)
def test_other_edits_concern_everything(old: str, new: str) -> None:
    assert _concerns(old, new) is Extent.EVERYTHING


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_what_stands_behind_a_comment_is_none_whatever_ends_lines(line_end: str) -> None:
    text = "# A comment.\nimport jax\n\n\ndef step(x):\n    return x\n".replace("\n", line_end)
    assert _concerns("return x", "return -x", text) == Edited("step", stores=False)
    assert _concerns("# A comment.", f"# No comment:{line_end}SCALE = 2", text) is Extent.EVERYTHING
    assert _concerns("# A comment.", "# Another one.", text) is Extent.NOTHING


def test_a_blank_line_may_end_a_statement() -> None:
    assert _concerns("\\\n", "\\\n\n", "import jax\n\nSCALE = 2\\\n-1\n") is Extent.EVERYTHING


def test_a_statement_may_be_deeper_than_python_recurses() -> None:
    deep = "a" + ".b()" * 600
    text = f"def helper(a, x):\n    return x\n\n\ndef table(a):\n    b = {deep}\n\n\nTABLE = {deep}\n"
    assert _concerns("return x", "return -x", text) == Edited("helper", stores=False)
    assert _concerns("    b =", "    c =", text) == Edited("table", stores=False)


def test_a_method_that_sets_attributes_concerns_the_others_of_its_class() -> None:
    edited = _concerns("self.width = width", "self.width = width + 1")
    assert edited == Edited("Model.__init__", stores=True)
    names = [("/a.py", name) for name in ("step", "helper", "Model.__init__", "Model.apply", "main")]
    calls = CallGraph({name: set() for name in names})
    calls.add_call(("/a.py", "Model.apply"), ("/a.py", "main"))
    assert isinstance(edited, Edited)
    assert unaffected(calls, "/a.py", edited) == {("/a.py", "step"), ("/a.py", "helper")}
    assert ("/a.py", "Model.apply") in unaffected(calls, "/a.py", replace(edited, stores=False))


def test_callers_of_callers_are_affected() -> None:
    calls = CallGraph()
    for caller, callee in [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")]:
        calls.add_call(("/x.py", callee), ("/x.py", caller))
    assert unaffected(calls, "/x.py", Edited("c", stores=False)) == {("/x.py", "e")}
    calls.add_call(("/x.py", "d"), None)
    assert unaffected(calls, "/x.py", Edited("c", stores=False)) == {("/x.py", "d"), ("/x.py", "e")}


PROGRAM = """\
import jax
import jax.numpy as jnp


def scale(x, by):
    return x * by


@jax.jit
def step(x):
    return scale(x, 2.0)


@jax.jit
def other(x):
    if x > 0:
        return x
    return -x


class Model:
    def __init__(self, key):
        self.key = key

    def draw(self):
        return jax.random.normal(self.key)

    def again(self):
        return jax.random.normal(self.key) + jax.random.uniform(self.key)
"""


CALLED = """\
import jax


@jax.jit
def inner(x):
    return float(x)


@jax.jit
def outer(x):
    return inner(x) + 1
"""


class _Typing:
    """Someone who types into a text, and the answers."""

    def __init__(self, directory: Path, text: str = PROGRAM) -> None:
        root = write_project(directory, {"a.py": text})
        self.path = str(root / "a.py")
        self.setup = Setup(str(root), b'{"cache": false, "preview": true, "select": ["ALL"]}')
        self.checker = FocusedChecker(self.setup)
        whole = WholeChecker(self.setup).answer(Snapshot({self.path: text}), False)
        focused = self.checker.answer(self.path, Snapshot({self.path: text}), (), None)
        self.then = Then(text, whole.findings[self.path], whole.diagnostics[self.path], focused.findings)

    def answer(self, text: str) -> Focused:
        return self.checker.answer(self.path, Snapshot({self.path: text}, True), (), self.then)

    def prepared(self, text: str) -> Focused:
        """The answer once the part has been looked at."""
        first = self.answer(text)
        assert first.unready is not None and first.findings is not None, "at first everything is run"
        self.checker.prepare(self.path, Snapshot({self.path: text}, True), (), self.then, first.unready)
        second = self.answer(text)
        assert second.unready is None and second.findings is None, "then a part"
        assert second.diagnostics == first.diagnostics
        return second

    def whole(self, text: str) -> list[tuple[str, int]]:
        said = WholeChecker(self.setup).answer(Snapshot({self.path: text}, True), False).diagnostics
        return [(item.code, item.row) for item in said.get(self.path, ())]


EDITS = {
    "a helper": ("    return x * by", "    if x > by:\n        return x\n    return x * by"),
    "its caller": ("    return scale(x, 2.0)", "    return float(scale(x, 2.0))"),
    "a fix": ("    if x > 0:\n        return x\n    return -x", "    return jnp.abs(x)"),
    "a method": ("    def draw(self):\n", "    def draw(self):\n        jax.random.split(self.key)\n"),
    "an attribute": ("        self.key = key", "        self.key = key\n        self.more = jnp.ones(3)"),
    "a nested function": (
        "    return x * by",
        "    @jax.jit\n    def inner(y):\n        return int(y)\n    return inner(x)",
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_part_says_what_everything_says(edit: tuple[str, str], tmp_path: Path) -> None:
    text = PROGRAM.replace(*edit)
    assert text != PROGRAM
    typing = _Typing(tmp_path)
    answer = typing.prepared(text)
    assert [(item.code, item.row) for item in answer.diagnostics] == typing.whole(text)


def test_what_is_called_no_more_keeps_its_findings(tmp_path: Path) -> None:
    """It is a root by itself, and until now was run as what the edited function calls as well."""
    typing = _Typing(tmp_path, CALLED)
    text = CALLED.replace("inner(x) + 1", "x + 1")
    answer = typing.prepared(text)
    assert [(item.code, item.row) for item in answer.diagnostics] == typing.whole(text) == [("JAX201", 6)]


def test_functions_that_an_edit_does_not_concern_are_not_run(tmp_path: Path) -> None:
    typing = _Typing(tmp_path)
    text = PROGRAM.replace("x * by", "x + by")
    part = typing.answer(text).unready
    assert part is not None
    skipped = {name for _, name in part.skipped}
    assert {"other", "Model.draw", "Model.again"} <= skipped and not {"scale", "step"} & skipped


def test_a_comment_moves_findings_without_a_run(tmp_path: Path) -> None:
    typing = _Typing(tmp_path)
    text = "# typed\n" + PROGRAM
    answer = typing.answer(text)
    assert answer.findings is None and answer.unready is None
    assert [(item.code, item.row) for item in answer.diagnostics] == typing.whole(text)
