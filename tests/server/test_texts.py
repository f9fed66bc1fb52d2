"""Positions, edits of texts, notebooks, settings: what needs no server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from e2e.projects import write_project
from hypothesis import given
from hypothesis import strategies as st

types = pytest.importorskip("lsprotocol.types", reason="the extra `server` is not installed")

from flake8_jax.core.findings import Finding  # noqa: E402
from flake8_jax.core.report import Diagnostic  # noqa: E402
from flake8_jax.server.actions import wanted  # noqa: E402
from flake8_jax.server.checker import Setup, Snapshot, WholeChecker  # noqa: E402
from flake8_jax.server.documents import Documents, edited, path_of  # noqa: E402
from flake8_jax.server.functions import code_under  # noqa: E402
from flake8_jax.server.merging import line_edits  # noqa: E402
from flake8_jax.server.messages import placed_diagnostics, result_id  # noqa: E402
from flake8_jax.server.notebooks import joined, without_magics  # noqa: E402
from flake8_jax.server.positions import Encoding, Places  # noqa: E402
from flake8_jax.server.preferences import preferences, usable  # noqa: E402
from flake8_jax.settings.tables import ConfigError  # noqa: E402
from flake8_jax.syntax.edits import apply_edits  # noqa: E402

from .conftest import BRANCH  # noqa: E402

TEXTS = st.text(st.sampled_from("ab é€🙂\t\f\u2028\r\n"), max_size=30)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 7), ("utf-16", 5), ("utf-32", 4)])
def test_what_stands_behind_an_emoji_is_counted_in_the_units_of_the_editor(encoding: Encoding, character: int) -> None:
    places = Places("a\n'🙂' x", encoding)
    assert places.position(6) == types.Position(1, character)
    assert places.offset(types.Position(1, character)) == 6


@given(TEXTS, ENCODINGS)
def test_offsets_survive_the_way_there_and_back(text: str, encoding: Encoding) -> None:
    places = Places(text, encoding)
    for offset in range(len(text) + 1):
        if text[max(offset - 1, 0) : offset + 1] != "\r\n":
            assert places.offset(places.position(offset)) == offset


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_form_feed_ends_no_line(line_end: str) -> None:
    assert Places(f"a\fb{line_end}c", "utf-16").position(3 + len(line_end)) == types.Position(1, 0)


@given(TEXTS, TEXTS, ENCODINGS, st.data())
def test_an_edit_by_positions_is_the_edit_by_offsets(
    text: str, new: str, encoding: Encoding, data: st.DataObject
) -> None:
    places = Places(text, encoding)
    inside = [i for i in range(len(text) + 1) if text[max(i - 1, 0) : i + 1] != "\r\n"]
    start, end = sorted((data.draw(st.sampled_from(inside)), data.draw(st.sampled_from(inside))))
    change = types.TextDocumentContentChangePartial(places.range(start, end), new)
    assert edited(text, [change], encoding) == text[:start] + new + text[end:]


def test_a_change_without_a_range_replaces_everything() -> None:
    assert edited("old", [types.TextDocumentContentChangeWholeDocument("new")], "utf-16") == "new"


@given(TEXTS, TEXTS)
def test_line_edits_make_the_second_text_of_the_first(before: str, after: str) -> None:
    assert apply_edits(before, line_edits(before, after)) == after


def test_line_edits_leave_alone_what_is_the_same() -> None:
    assert [edit.content for edit in line_edits("a\nb\nc\nd\n", "a\nB\nc\nD\n")] == ["B", "D"]


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%timeit f(x)\ny = 1", "0#          \ny = 1"),
        ("if x:\n    !ls\n", "if x:\n    0# \n"),
        ("files = !ls\n", "files = 0# \n"),
        ("jnp.sum?", "0#      "),
        ("%%bash\nrm -r x", "##    \n##     "),
        ("%%time\ny = f(x)", "0#    \ny = f(x)"),
        ("x = (a\n% b)\ny = not x != b", "x = (a\n% b)\ny = not x != b"),
    ],
)
def test_magics_mean_nothing_and_take_no_less_room(cell: str, python: str) -> None:
    assert without_magics(cell) == python
    assert len(python) == len(cell)


def test_a_stretch_across_two_cells_is_in_neither() -> None:
    cells = joined([(1, "one", "a = 1"), (3, "two", "b = 2")])
    assert cells.joined == "# %% [jaxlint: cell 1]\na = 1\n# %% [jaxlint: cell 3]\nb = 2\n"
    a, b = cells.joined.index("a ="), cells.joined.index("b =")
    assert cells.starts == (a, b)
    assert [cells.cell_of(a, a + 5), cells.cell_of(b, b + 5), cells.cell_of(a, b), cells.cell_of(0, 1)] == [
        0,
        1,
        None,
        None,
    ]


def test_the_cells_of_a_notebook_are_one_buffer_in_their_order() -> None:
    documents = Documents("/root", "utf-16")
    cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in ("one", "two")]
    cells.append(types.NotebookCell(types.NotebookCellKind.Markup, "prose"))
    items = [types.TextDocumentItem(uri, "python", 1, f"{uri} = 1") for uri in ("one", "two", "prose")]
    notebook = types.NotebookDocument("file:///n.ipynb", "jupyter-notebook", 1, cells)
    buffer = documents.open_notebook(types.DidOpenNotebookDocumentParams(notebook, items))
    assert buffer.text == "# %% [jaxlint: cell 1]\none = 1\n# %% [jaxlint: cell 2]\ntwo = 1\n"
    new = types.NotebookCell(types.NotebookCellKind.Code, "new")
    structure = types.NotebookDocumentCellChangeStructure(
        types.NotebookCellArrayChange(0, 1, [new]),
        did_open=[types.TextDocumentItem("new", "python", 1, "new = 1")],
        did_close=[types.TextDocumentIdentifier("one")],
    )
    change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure))
    identifier = types.VersionedNotebookDocumentIdentifier(2, "file:///n.ipynb")
    changed = documents.change_notebook(types.DidChangeNotebookDocumentParams(identifier, change))
    assert changed is not None
    assert changed.cells is not None
    assert (changed.cells.texts, changed.version) == (("new = 1", "two = 1"), 2)
    assert documents.get("two") is changed
    assert documents.get("one") is None, "a cell that is no more"


def test_a_text_without_a_file_gets_a_name_that_no_file_has() -> None:
    path, on_disk = path_of("untitled:Untitled-1", "/root")
    assert path.startswith("/root/untitled_Untitled_1_") and path.endswith(".py") and not on_disk
    assert path_of("untitled:Untitled_1", "/root")[0] != path
    assert path_of("file:///a%20b/c.py", "/root") == ("/a b/c.py", True)


@pytest.mark.parametrize(
    ("kind", "only", "asked"),
    [
        ("source.fixAll.jaxlint", None, True),
        ("source.fixAll.jaxlint", ["source"], True),
        ("source.fixAll.jaxlint", ["source.fixAll"], True),
        ("source.fixAll.jaxlint", ["source.fixAll.jaxlint"], True),
        ("source.fixAll.jaxlint", ["source.fixAll.ruff"], False),
        ("source.fixAll.jaxlint", ["source.fix"], False),
        ("quickfix", ["refactor", "quickfix"], True),
    ],
)
def test_kinds_of_actions_are_hierarchies(kind: str, only: list[str] | None, asked: bool) -> None:
    assert wanted(kind, only) is asked


@pytest.mark.parametrize("raw", [{"targetJax": "0.6.2"}, {"target-jax": "0.6.2"}, {"jaxlint": {"targetJax": "0.6.2"}}])
def test_settings_are_read_however_the_editor_writes_them(raw: object) -> None:
    own, flags = preferences(raw)
    assert (own.debounce, flags.target_jax) == (100, "0.6.2")


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(ConfigError, match=r"selct.*did you mean `select`"):
        preferences({"selct": ["JAX1"]})


def test_of_several_settings_only_the_broken_ones_are_ignored() -> None:
    kept, errors = usable(
        {"select": ["JAX1"], "selct": ["JAX1"], "debounce": -1, "unrollThreshold": "x", "cache": False}
    )
    assert kept == {"select": ["JAX1"], "cache": False}
    assert len(errors) == 3
    assert all(
        f"jaxlint ignores `{key}`" in text for key, text in zip(("selct", "debounce", "unroll-threshold"), errors)
    )


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"select": ["BOGUS"]}, "select"),
        ({"perFileIgnores": {"a.py": ["BOGUS"]}}, "per-file-ignores"),
        ({"transforms": {"a.b": "nothing"}}, "transforms"),
        ({"configuration": "nowhere.toml"}, "configuration"),
        ({"configuration": "\0"}, "configuration"),
    ],
)
def test_a_setting_that_can_be_read_and_not_used_is_ignored_alone(
    settings: dict[str, object], key: str, tmp_path: Path
) -> None:
    root = write_project(tmp_path, {"a.py": BRANCH, "b.py": BRANCH})
    setup = Setup(str(root), json.dumps({"cache": False, "exclude": ["b.py"], **settings}).encode())
    answer = WholeChecker(setup).answer(Snapshot({str(root / "a.py"): BRANCH}, folders=(str(root),)), False)
    (reported,) = answer.settings
    assert reported.startswith("settings of the editor: ") and f"jaxlint ignores `{key}`" in reported
    assert list(answer.diagnostics) == [str(root / "a.py")], "the other settings hold"


@pytest.mark.parametrize(
    "uri",
    [
        "file:",
        "file://",
        "file:a.py",
        "file://[",
        "file:///a%00b.py",
        "file:///a\ud800.py",
        "file:///" + "a/" * 3000,
        "",
        "x",
        "\0",
    ],
)
def test_a_uri_that_no_file_can_have_gets_a_name_of_its_own(uri: str) -> None:
    path, on_disk = path_of(uri, "/root")
    assert not on_disk and path.startswith("/root/") and path.endswith(".py") and path.isprintable() and len(path) < 200


def test_surrogates_by_themselves_become_a_character_as_long_as_they_are() -> None:
    documents = Documents("/root", "utf-16")
    buffer = documents.open(types.TextDocumentItem("file:///a.py", "python", 1, "x = '\ud800' + '\ud83d\ude42'"))
    assert buffer.text == "x = '\ufffd' + '🙂'"
    end = types.Position(0, 6)
    change = types.TextDocumentContentChangePartial(types.Range(end, end), "\udfff")
    identifier = types.VersionedTextDocumentIdentifier(2, "file:///a.py")
    changed = documents.change(types.DidChangeTextDocumentParams(identifier, [change]))
    assert changed is not None and changed.text == "x = '\ufffd\ufffd' + '🙂'"


@pytest.mark.parametrize(
    ("start", "end", "after"),
    [
        ((9, 9), (1, 1), "ab\ncX"),
        ((0, 99), (0, 2**31 - 1), "abX\ncd\n"),
        ((1, 1), (0, 1), "aXd\n"),
    ],
)
def test_a_range_that_is_not_in_the_text_is_cut(start: tuple[int, int], end: tuple[int, int], after: str) -> None:
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(*start), types.Position(*end)), "X")
    assert edited("ab\ncd\n", [change], "utf-16") == after


def test_a_text_and_a_notebook_of_the_same_name_do_not_mix() -> None:
    documents = Documents("/root", "utf-16")
    cell = types.NotebookCell(types.NotebookCellKind.Code, "cell:1")
    notebook = types.NotebookDocument("file:///a.ipynb", "jupyter-notebook", 1, [cell])
    texts = [types.TextDocumentItem("cell:1", "python", 1, "x = 1")]
    documents.open_notebook(types.DidOpenNotebookDocumentParams(notebook, texts))
    assert documents.close("file:///a.ipynb") is None, "no text of that name is open"
    documents.open(types.TextDocumentItem("file:///a.ipynb", "python", 1, "y = 1"))
    assert documents.get("cell:1") is None
    documents.open_notebook(types.DidOpenNotebookDocumentParams(notebook, texts))
    text = documents.open(texts[0])
    assert documents.get("cell:1") is text, "what is open under this name comes before a cell"
    assert documents.close("cell:1") is text and documents.close_notebook("file:///a.ipynb") is not None
    documents.open(types.TextDocumentItem("file:///a.ipynb", "python", 1, "y = 1"))
    assert [buffer.text for buffer in documents] == ["y = 1"]


def test_codes_are_found_in_noqa_comments_only() -> None:
    line = "x = 1  # noqa: JAX101, jax203"
    assert code_under(line, 17) == (15, 21, "JAX101")
    assert code_under(line, 25) == (23, 29, "JAX203")
    assert code_under(line, 3) is None
    assert code_under("# see JAX101", 8) is None


def test_a_row_and_a_column_of_a_text_become_a_position_in_its_units() -> None:
    places = Places("x = 1\n'🙂é', y\n", "utf-16")
    assert places.of(2, 7) == types.Position(1, 7)
    assert Places("x = 1\n'🙂é', y\n", "utf-8").of(2, 7) == types.Position(1, 10)
    assert places.of(9, 3) == types.Position(8, 2), "a text that has become shorter since"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_only_files_are_read_to_place_findings(tmp_path: Path) -> None:
    """A text that is open under the name of a device has findings, and may be closed before they are asked for."""
    os.mkfifo(tmp_path / "pipe.py")
    finding = Finding("JAX101", "traced-branch", "error", "x", 6, 11, "why", None)
    said = [Diagnostic(finding, 2, 3, 2, 8, 2)]
    for path in (tmp_path / "pipe.py", tmp_path, tmp_path / "gone.py", Path("/dev/zero")):
        (placed,) = placed_diagnostics(str(path), said, "utf-16")
        assert placed.range.start == types.Position(1, 2)


def test_an_answer_whose_findings_moved_to_other_rows_is_another_one() -> None:
    finding = Finding("JAX101", "traced-branch", "error", "/a.py", 6, 11, "why", None)
    above, below = (Diagnostic(finding, row, 1, row, 6, row) for row in (1, 2))
    assert result_id([above], None) == result_id([above], None) != result_id([below], None)
