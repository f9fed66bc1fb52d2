"""Notebooks: findings in their cells, fixes written back, and nothing else in the file touched."""

from __future__ import annotations

import ast
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_jax.cli import main
from flake8_jax.core.cells import code_cells, with_magics
from flake8_jax.pipeline.notebooks import NotebookError, rewritten, text_of, without_magics

SETUP = "%matplotlib inline\nimport jax\nimport jax.numpy as jnp"
BRANCH = "%%time\nfiles = !ls\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n%timeit f(1.0)\nf?"
SHELL = "%%capture output\n%%bash\nif x > 0; then echo é; fi"
KEYS = "key = jax.random.key(0)\na = jax.random.normal(key)\nb = jax.random.normal(key)\n"


def notebook(*cells: str, language: str = "python", lines: bool = True) -> dict[str, Any]:
    made: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# ein Täst"]}]
    for cell in cells:
        source: Any = cell.splitlines(keepends=True) if lines else cell
        made.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source})
    metadata = {"kernelspec": {"display_name": "K", "language": language, "name": "k"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write(path: Path, content: dict[str, Any], **layout: Any) -> str:
    text = json.dumps(content, **{"indent": 1, "ensure_ascii": False, **layout}) + "\n"
    path.write_text(text, encoding="utf-8")
    return text


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["check", "--no-cache", "--isolated", *arguments])
    return status, capsys.readouterr().out


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_findings_are_in_their_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "a.ipynb", notebook(SETUP, BRANCH, SHELL, KEYS))
    status, out = lint(capsys, ".", "--output-format", "concise")
    assert status == 1
    assert out.splitlines()[:2] == [
        "a.ipynb:cell 3:5:8: JAX101 `x > 0` is traced, so `if` cannot test its value; use jnp.where or jax.lax.cond",
        "a.ipynb:cell 5:3:5: JAX301 `key` was already used on line 2 of cell 5, so both calls draw the same "
        "numbers; split it first unless both need equal numbers",
    ]


@pytest.mark.parametrize(
    ("installed", "reported"),
    [
        ("!pip install -q jax==0.3.25 jaxlib==0.3.25 -f https://x.org/jax_cuda_releases.html", []),
        ("%pip install flax 'jax[cuda12]<0.5'", []),
        ("!pip install -q jax-md==0.2 flax", ["JAX801"]),
        ("!echo jax==0.3.25", ["JAX801"]),
    ],
)
def test_a_notebook_runs_on_what_it_installs(
    folder: Path, capsys: pytest.CaptureFixture[str], installed: str, reported: list[str]
) -> None:
    write(folder / "a.ipynb", notebook(installed, "import jax\nprint(jax.tree_map(abs, [1]))"))
    found = json.loads(lint(capsys, ".", "--select", "JAX801", "--output-format", "json")[1])
    assert [item["code"] for item in found] == reported
    (folder / "a.ipynb").rename(folder / "b.txt")
    (folder / "a.py").write_text(f"{installed}\nimport jax\nprint(jax.tree_map(abs, [1]))\n")  # as Colab exports it
    found = json.loads(lint(capsys, ".", "--select", "JAX801", "--output-format", "json")[1])
    assert [item["code"] for item in found] == reported


@pytest.mark.parametrize(("asked", "count"), [("jax==0.3.12", 0), ("jax<=0.3.25", 1), ("jax", 1)])
def test_an_old_jax_converts_lists(folder: Path, capsys: pytest.CaptureFixture[str], asked: str, count: int) -> None:
    (folder / "requirements.txt").write_text(f"{asked}\n")
    (folder / "a.py").write_text("import jax.numpy as jnp\nprint(jnp.linalg.norm([jnp.ones(2), jnp.ones(2)]))\n")
    main(["check", ".", "--select", "JAX413", "--output-format", "json"])
    assert len(json.loads(capsys.readouterr().out)) == count


def test_json_speaks_of_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "a.ipynb", notebook(SETUP, BRANCH, KEYS))
    found = json.loads(lint(capsys, ".", "--output-format", "json")[1])
    assert [(item["cell"], item["location"]["row"], item["noqa_row"]) for item in found] == [(3, 5, 5), (4, 3, 3)]
    assert [edit["location"]["row"] for edit in found[1]["fix"]["edits"]] == [2, 2]


def test_json_names_a_fix_in_several_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = (SETUP, "@jax.pmap\ndef f(x):\n    return x * 2", "y = f(jnp.ones((8, 2)))")
    write(folder / "a.ipynb", notebook(*cells))
    (found,) = json.loads(lint(capsys, ".", "--output-format", "json")[1])
    assert found["fix"] is None
    assert found["fix_note"].endswith(
        "this fix changes several cells, so only `jaxlint --fix --unsafe-fixes` can apply it"
    )
    lint(capsys, ".", "--fix", "--unsafe-fixes")
    assert "import functools" in (folder / "a.ipynb").read_text()
    write(folder / "a.ipynb", notebook("\n".join(cells)))
    (found,) = json.loads(lint(capsys, ".", "--output-format", "json")[1])
    assert found["fix"] is not None and "fix_note" not in found


@pytest.mark.parametrize("name", ["github", "gitlab", "azure", "sarif", "rdjson", "junit", "pylint"])
def test_formats_without_cells_say_them(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    write(folder / "a.ipynb", notebook(SETUP, KEYS))
    assert "cell 3, line 3: `key` was already used" in lint(capsys, ".", "--output-format", name)[1]


def test_findings_in_a_notebook_have_fingerprints_of_their_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of their lines in the cells, which stay when a cell is put before them; code scanning knows alerts by them."""

    def prints() -> list[str]:
        results = json.loads(lint(capsys, ".", "--output-format", "sarif")[1])["runs"][0]["results"]
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]

    write(folder / "a.ipynb", notebook(SETUP, KEYS, "'between'\n" * 100, KEYS, BRANCH))
    before = prints()
    assert len(set(before)) == len(before) == 3
    write(folder / "a.ipynb", notebook("'new'", SETUP, KEYS, "'between'\n" * 100, KEYS, BRANCH))
    assert prints()[-1] == before[-1]


HELPER = "def other(x):\n    if x > 0:\n        return x\n    return -x\n"
CALLER = "import jax\nfrom helpers import other\n\n\n@jax.jit\ndef g(x):\n    return other(x)\n"


def test_evidence_in_another_notebook_is_in_its_cell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "helpers.py").write_text(HELPER)
    write(folder / "a.ipynb", notebook(SETUP, CALLER))
    assert "= a.ipynb:5: cell 3: `jax.jit` traces `g`" in lint(capsys, ".", "--output-format", "full")[1]
    (found,) = json.loads(lint(capsys, ".", "--output-format", "sarif")[1])["runs"][0]["results"]
    assert [
        (step["physicalLocation"]["region"]["startLine"], step["message"]["text"]) for step in found["relatedLocations"]
    ] == [(1, "line 5 of cell 3: `jax.jit` traces `g`"), (1, "line 7 of cell 3: `g` calls `other`")]


def test_a_message_names_the_cell_of_another_notebook(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "helpers.py").write_text("def other(x):\n    print(x)\n    return x\n")
    write(folder / "a.ipynb", notebook(SETUP, CALLER))
    assert "(`jax.jit` at a.ipynb, line 5 of cell 3 traces `g`)" in lint(capsys, ".")[1]


def test_the_snippet_shows_the_cell_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "a.ipynb", notebook(SETUP, BRANCH.replace("    return -x\n", "    return -x\n%pip list\n")))
    out = lint(capsys, ".", "--output-format", "full")[1]
    assert "3 | @jax.jit\n4 | def f(x):\n5 |     if x > 0:" in out
    assert "jaxlint: magic" not in out


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"indent": None}, {"ensure_ascii": True}])
@pytest.mark.parametrize("lines", [True, False])
def test_only_the_fixed_lines_change(
    folder: Path, capsys: pytest.CaptureFixture[str], layout: dict[str, Any], lines: bool
) -> None:
    before = write(folder / "a.ipynb", notebook(SETUP, BRANCH, SHELL, lines=lines), **layout)
    assert lint(capsys, ".", "--fix", "--unsafe-fixes")[0] == 0
    after = (folder / "a.ipynb").read_text(encoding="utf-8")
    fixed = BRANCH.replace("    if x > 0:\n        return x\n    return -x", "    return jnp.where(x > 0, x, -x)")
    assert json.loads(after) == notebook(SETUP, fixed, SHELL, lines=lines)
    assert len(set(before.splitlines()) ^ set(after.splitlines())) == (4 if lines and layout.get("indent", 1) else 2)


def test_an_unusual_layout_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = write(folder / "a.ipynb", notebook(SETUP, BRANCH)).replace('"metadata": {}', '"metadata":   {}', 1)
    (folder / "a.ipynb").write_text(text, encoding="utf-8")
    assert lint(capsys, ".", "--fix", "--unsafe-fixes")[0] != 0
    assert (folder / "a.ipynb").read_text(encoding="utf-8") == text


def test_an_unusual_layout_promises_no_fix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = write(folder / "a.ipynb", notebook(SETUP, BRANCH))
    options = (".", "--unsafe-fixes", "--output-format", "concise")
    assert "JAX101 [*]" in lint(capsys, *options)[1]
    (folder / "a.ipynb").write_text(usual.replace('"metadata": {}', '"metadata":   {}', 1), encoding="utf-8")
    said = lint(capsys, *options)[1]
    assert "JAX101" in said and "[*]" not in said
    main(["check", "--no-cache", "--isolated", ".", "--fix", "--unsafe-fixes"])
    assert "its findings cannot be fixed: its JSON is laid out in an unusual way" in capsys.readouterr().err


def test_comments_suppress_and_are_added(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "a.ipynb", notebook(SETUP, BRANCH, KEYS))
    lint(capsys, ".", "--add-noqa")
    assert "if x > 0:  # noqa: JAX101" in (folder / "a.ipynb").read_text(encoding="utf-8")
    assert lint(capsys, ".")[0] == 0


def test_standard_input(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = write(folder / "a.ipynb", notebook(SETUP, BRANCH))
    for options, same in ((["--fix", "--unsafe-fixes"], False), (["--fix"], True)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        main(["check", "--no-cache", "--isolated", *options, "--stdin-filename", str(folder / "a.ipynb"), "-"])
        printed = capsysbinary.readouterr().out.decode()
        assert json.loads(printed)["nbformat"] == 4
        assert (printed == text) is same


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "this notebook, which is not valid JSON"),
        ("[]", "of format version 4"),
        ('{"worksheets": []}', "version 4"),
    ],
)
def test_what_is_no_notebook(folder: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (folder / "a.ipynb").write_text(text)
    status, out = lint(capsys, "a.ipynb", "--output-format", "concise")
    assert status == 1
    assert "JAX001" in out
    assert said in out


def test_other_languages_have_no_text() -> None:
    assert text_of(json.dumps(notebook(SETUP, language="julia"))) == ""


def test_a_line_that_goes_on_with_a_percent_sign_is_no_magic() -> None:
    assert without_magics("x = (7\n% 2)\n") == "x = (7\n% 2)\n"


@given(st.lists(st.text(st.sampled_from("ab=%!?() \n\t#é'\"."), max_size=60), max_size=4))
def test_every_cell_comes_back(cells: list[str]) -> None:
    data = json.dumps(notebook(*cells), indent=1, ensure_ascii=False)
    for cell in cells:
        assert with_magics(without_magics(cell)) == cell
    assert rewritten(data, text_of(data), text_of(data)) == data


def test_cells_are_not_made_or_lost() -> None:
    data = json.dumps(notebook(SETUP, KEYS), indent=1)
    text = text_of(data)
    with pytest.raises(NotebookError, match="changed its cells"):
        rewritten(data, text, text.replace("# %% [jaxlint: cell 3]\n", ""))


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": [{"cell_type": "code", "source": [1, 2]}], "metadata": {}}',
        '{"cells":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"cells": [], "metadata": {}, "n": ' + "9" * 5000 + "}",
        json.dumps(notebook("# %% [jaxlint: cell 3]\nx = 1")),
    ],
    ids=["source", "depth", "number", "marks"],
)
def test_odd_notebooks_cost_nothing_but_themselves(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (folder / "odd.ipynb").write_text(text)
    write(folder / "a.ipynb", notebook(SETUP, BRANCH))
    out = lint(capsys, ".", "--output-format", "concise")[1]
    assert "a.ipynb:cell 3:5:8: JAX101" in out
    assert lint(capsys, "a.ipynb")[0] == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert lint(capsys, "--fix", "--stdin-filename", "odd.ipynb", "-")[1] == text


@pytest.mark.parametrize(
    "cell",
    [
        "!pip install a \\\n   b\nx = 1\n",
        "x = (1\n  %2)\n!ls\n",
        "y = 3\\\n%3\n!ls\n",
        "d = {}\nd['x'] = !ls\nd[\"k\"] = %who\n",
        "f(x)?\n",
        "x[0].y??\n",
        "np.*load*?\n",
        "if x:\n    !ls\n",
        "#@title styles\n%%html\n<style> p { font-size: 16px } </style>\n",
        "#@title install\n\n%%bash\nif [ ! -d a ]; then ls; fi\n",
        "# %run a.py \\\n%run b.py \\\n    --fast\nx = 1\n",
        "pip install -q jax\nls ./data\nx = 1\n",
        "%timeit -n 10 -r3 f(x)  # often\n%time y = f(x)\nx = 1\n",
        "if x:\n    %timeit f(x)\n",
        "%timeit f(x); g(x)\n%timeit -x f(x)\n%time\n%timeit f(x,\\\n  y)\nx = 1\n",
    ],
)
def test_magics_leave_python_that_parses(cell: str) -> None:
    ast.parse(without_magics(cell))
    assert with_magics(without_magics(cell)) == cell
    kept = [line for line in cell.splitlines() if line in ("x = 1", "  %2)", "%3", "d = {}", "if x:")]
    assert all(line in without_magics(cell).splitlines() for line in kept)


TIMED = """
@jax.jit
def f(x):
    return x @ x


x = jnp.ones((9, 9))
key = jax.random.key(0)
%timeit f(x)
%timeit -n 10 f(x).block_until_ready()
%timeit jax.block_until_ready(f(x))
%timeit jax.random.normal(key, (9,))
%time y = f(x)
%timeit sum(range(9))
_timeit = f(x)
z = jax.random.normal(key, (9,))
"""


def test_magics_time_what_is_not_ready(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = write(folder / "a.ipynb", notebook(SETUP, TIMED))
    lines = lint(capsys, ".", "--preview", "--output-format", "concise")[1].splitlines()
    until = "is ready, because JAX is asynchronous; call jax.block_until_ready on the result"
    assert lines[:2] == [
        f"a.ipynb:cell 3:9:1: JAX901 `%timeit` may stop before `f(x)` {until}",
        f"a.ipynb:cell 3:13:1: JAX901 `%time` may stop before `f(x)` {until}",
    ]
    assert not any("JAX" in line for line in lines[2:])
    lint(capsys, ".", "--preview", "--fix", "--unsafe-fixes")
    assert (folder / "a.ipynb").read_text(encoding="utf-8") == before


def test_magics_time_whole_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = (
        "%%timeit\nf(x)",
        "%%time\ny = f(x)\nz = f(y)",
        "%%timeit\nf(x).block_until_ready()",
        "%%time\nprint(f(x))",
    )
    write(folder / "a.ipynb", notebook(SETUP, TIMED.partition("%")[0], *cells))
    lines = lint(capsys, ".", "--preview", "--output-format", "concise")[1].splitlines()
    until = "is ready, because JAX is asynchronous; call jax.block_until_ready on the result"
    assert [line for line in lines if "JAX" in line] == [
        f"a.ipynb:cell 4:1:1: JAX901 `%%timeit` may stop before `f(x)` {until}",
        f"a.ipynb:cell 5:1:1: JAX901 `%%time` may stop before `f(y)` {until}",
    ]


def test_line_ends_of_windows_stay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = write(folder / "a.ipynb", notebook(SETUP, BRANCH)).replace("\n", "\r\n")
    (folder / "a.ipynb").write_bytes(text.encode())
    assert lint(capsys, ".", "--fix", "--unsafe-fixes")[0] == 0
    after = (folder / "a.ipynb").read_bytes()
    assert b"jnp.where" in after
    assert after.count(b"\n") == after.count(b"\r\n")


def test_what_is_left_as_it_is_was_not_fixed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = write(folder / "a.ipynb", notebook(SETUP, BRANCH)).replace('"metadata": {}', '"metadata":   {}', 1)
    (folder / "a.ipynb").write_text(text, encoding="utf-8")
    assert "1 fixed" not in lint(capsys, ".", "--fix", "--unsafe-fixes", "--output-format", "concise")[1]


@pytest.mark.parametrize(
    "cell",
    [
        "-" * 100_000 + "1",
        "a" + ".b" * 100_000,
        "not " * 100_000 + "1",
        " " * 200_000 + "b(",
        "\\'" * 100_000 + "\\\n(",
    ],
)
def test_cells_that_python_cannot_parse_take_linear_time(cell: str) -> None:
    started = time.process_time()
    assert without_magics(cell + "\n%timeit 1 1\n").splitlines()[0] == cell.splitlines()[0]
    assert time.process_time() - started < 1


def test_a_cell_that_shows_an_exception(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = "jax.jit(lambda x: 1 if x else 2)(3)"
    made = notebook("import jax\n\ndef f(x):\n    return float(x)", "jax.jit(f)(3)", shown, shown)
    error = {"output_type": "error", "ename": "TracerBoolConversionError", "evalue": "Attempted …", "traceback": []}
    code = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    for cell, name in ((code[1], "ConcretizationTypeError"), (code[2], error["ename"]), (code[3], "KeyboardInterrupt")):
        cell["outputs"] = [{**error, "ename": name}]
    write(folder / "n.ipynb", made)
    _, out = lint(capsys, "--output-format", "concise", "n.ipynb")
    assert [line.split(" ")[:2] for line in out.splitlines() if "JAX" in line] == [["n.ipynb:cell", "5:1:24:"]], out


def test_a_block_that_goes_on_in_the_next_cell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["import jax.numpy as jnp\nif True:\n    y = jnp.ones(3)", "    jnp.argmax(y)", "    jnp.argmin(y)"]
    write(folder / "n.ipynb", notebook(*cells))
    status, out = lint(capsys, "--output-format", "concise", "n.ipynb")
    assert status in (0, 1), out
    assert "defect of jaxlint" not in out


def test_the_last_expression_of_a_cell_is_its_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "import jax\nimport jax.numpy as jnp\ny = jnp.ones(3)\njnp.argmax(y)",
        "jnp.argmax(y)\njnp.sum(y);",
        "if True:\n    jnp.argmax(y)",
        "jnp.argmax(y)\n!ls",
        "y.at[0].set(1)",
        "y.sort()  # shown",
        "jax.random.split(jax.random.key(0))",
    ]
    write(folder / "n.ipynb", notebook(*cells))
    _, out = lint(capsys, "--output-format", "concise", "n.ipynb")
    places = [line.split(": ")[0] for line in out.splitlines() if "JAX509" in line]
    assert places == [f"n.ipynb:cell {cell}" for cell in ("3:1:1", "3:2:1", "4:2:5", "5:1:1")], out
    assert out.count("JAX") == 4, out


def test_a_cell_does_not_reach_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "import jax\nimport numpy as np\ndef noise(x):\n    return x",
        "@jax.jit\ndef first(x, flag=None):\n    if flag is not None:\n        return x\n    return noise(x) + bias(x)",
        "def bias(x):\n    return x\ny = first(1.0)",
        "def noise(x):\n    return x + np.random.normal()\ndef bias(x):\n    return x + np.random.normal()",
    ]
    write(folder / "n.ipynb", notebook(*cells))
    assert lint(capsys, "n.ipynb")[0] == 0
    write(folder / "n.ipynb", notebook(*cells, "@jax.jit\ndef second(x):\n    return noise(x)"))
    _, out = lint(capsys, "--output-format", "concise", "n.ipynb")
    assert [line.split(": ")[0] for line in out.splitlines() if "JAX305" in line] == ["n.ipynb:cell 5:2:16"]


def test_a_script_in_cells_shows_their_last_expressions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "# %%\nimport jax.numpy as jnp\njnp.sum(jnp.ones(2))\n# %% [markdown]\n# text\n# %%\njnp.sum(jnp.ones(3))\ny = 1\n"
    (folder / "n.py").write_text(text)
    _, out = lint(capsys, "--output-format", "concise", "n.py")
    assert [line.split(": ")[0] for line in out.splitlines() if "JAX" in line] == ["n.py:7:1"]


def test_what_a_cell_raises_its_author_has_seen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "import jax\nimport jax.numpy as jnp",
        "@jax.jit\ndef f(x):\n    return 1 if x else 2\nf(1)",
        "x = jnp.ones(3)\nx[0] = 1",
        "@jax.jit\ndef g(key):\n    return jax.random.normal(key) + jax.random.normal(key)",
    ]
    write(folder / "n.ipynb", notebook(*cells))
    _, out = lint(capsys, "--output-format", "json", "n.ipynb")
    levels = {finding["name"]: finding["severity"] for finding in json.loads(out)}
    assert levels == {"traced-branch": "info", "array-item-assignment": "info", "key-reuse": "error"}


def test_a_tag_says_that_a_cell_is_to_raise(folder: Path) -> None:
    written = notebook("import jax", "print(1 / 0)", "x = 1")
    written["cells"][2]["metadata"] = {"tags": ["raises-exception"]}
    write(folder / "n.ipynb", written)
    text = text_of((folder / "n.ipynb").read_text())
    assert [raising for _, _, raising in code_cells(text)] == [False, True, False]


@pytest.mark.parametrize(
    ("later", "reported"),
    [
        ("y = jax.random.normal(key)", 0),
        ("x = jax.random.normal(key)\nprint(x)", 0),
        ("y = jax.random.normal(key)\nprint(x + y)", 1),
        ("def f():\n    return x\ny = jax.random.normal(key)", 1),
    ],
)
def test_a_key_of_another_cell_counts_where_its_draws_are_read(
    folder: Path, capsys: pytest.CaptureFixture[str], later: str, reported: int
) -> None:
    cells = ["import jax\nkey = jax.random.key(0)", "x = jax.random.normal(key)\nprint(x)", later]
    write(folder / "n.ipynb", notebook(*cells))
    _, out = lint(capsys, "--output-format", "concise", "n.ipynb")
    assert out.count("JAX301") == reported, out


SCRIPT = """# -*- coding: utf-8 -*-
!pip install -q jax
%matplotlib inline
import jax
import jax.numpy as jnp
files = !ls
x = jnp.ones(3)
x[0] = 1  # sets it
%timeit jnp.sum(x)
"""


def test_a_notebook_that_was_saved_as_a_script(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(SCRIPT)
    assert "a.py:8:1: JAX505" in lint(capsys, "a.py")[1]
    assert "jaxlint: magic" not in lint(capsys, "a.py")[1]
    _, diff = lint(capsys, "a.py", "--diff")
    assert "-x[0] = 1  # sets it\n+x = x.at[0].set(1)  # sets it\n %timeit jnp.sum(x)\n" in diff
    lint(capsys, "a.py", "--fix")
    assert (folder / "a.py").read_text() == SCRIPT.replace("x[0] = 1", "x = x.at[0].set(1)")


def test_a_broken_script_is_no_notebook(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(SCRIPT + "def f(:\n")
    said = "a.py:10:7: JAX001 jaxlint skips this file, because it is not valid Python: invalid syntax"
    assert lint(capsys, "a.py", "--output-format", "concise")[1].startswith(said)


def test_what_is_wrong_with_a_cell_names_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "n.ipynb", notebook(SETUP, "x = 1", "y = 2\ndef f(a):\n\nf(3)"))
    _, out = lint(capsys, "n.ipynb", "--output-format", "concise")
    assert "expected an indented block after function definition on line 2 of cell 4" in out


@pytest.mark.parametrize(("cell", "found"), [("assert", (3, "info")), ("def f(:\n    pass", (4, "error"))])
def test_a_cell_of_one_word_stops_a_run_on_purpose(
    folder: Path, capsys: pytest.CaptureFixture[str], cell: str, found: tuple[int, str]
) -> None:
    write(folder / "n.ipynb", notebook(SETUP, "assert", cell))
    main(["check", "--isolated", "n.ipynb", "--output-format", "json"])
    (item,) = json.loads(capsys.readouterr().out)
    assert (item["cell"], item["severity"]) == found


BROKEN = "import jax.numpy as jnp\ndef f(x\n    return x"


def test_a_cell_that_is_no_python_costs_nothing_but_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = write(folder / "n.ipynb", notebook(SETUP, BROKEN, "!ls", "x = jnp.ones(3)\nx[0] = 1"))
    for _ in range(2):  # the second time from the cache
        capsys.readouterr()
        assert main(["check", "--isolated", "n.ipynb", "--output-format", "json"]) == 1
        found = [(item["cell"], item["code"], item["location"]["row"]) for item in json.loads(capsys.readouterr().out)]
        assert found == [(3, "JAX001", 2), (5, "JAX505", 2)]
    lint(capsys, "n.ipynb", "--fix")
    assert (folder / "n.ipynb").read_text(encoding="utf-8") == before.replace("x[0] = 1", "x = x.at[0].set(1)")


@pytest.mark.parametrize(
    ("cell", "row", "column", "after"),
    [
        ("  x = jnp.ones(3)\n  x[0] = 1\n", 2, 3, "  x = jnp.ones(3)\n  x = x.at[0].set(1)\n"),
        ("\n    %%time\n    !ls\n    x = jnp.ones(3)\n\n    x[0] = 1", 6, 5, None),
        ("    # a comment\n  x = jnp.ones(3)\n  x[0] = 1", 3, 3, None),  # newer versions alone run it
        ("    # a comment\nx = jnp.ones(3)\nif True:\n    x[0] = 1", 4, 5, None),
        ("    x = jnp.ones(3)\nx[0] = 1", 2, 1, "x = jnp.ones(3)\nx = x.at[0].set(1)"),  # older versions alone run it
        (
            "  x = jnp.ones(3)\n  if True:\n      x[0] = 1",
            3,
            7,
            "  x = jnp.ones(3)\n  if True:\n      x = x.at[0].set(1)",
        ),
    ],
)
def test_an_indented_cell_runs_as_in_ipython(
    folder: Path, capsys: pytest.CaptureFixture[str], cell: str, row: int, column: int, after: str | None
) -> None:
    write(folder / "n.ipynb", notebook(SETUP, "    import jax.numpy as jnp", cell))
    assert main(["check", "--isolated", "n.ipynb", "--output-format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["cell"], found["code"]) == (4, "JAX505")
    assert found["location"] == {"row": row, "column": column}
    shown = lint(capsys, "n.ipynb")[1]
    assert f"{row} | {cell.splitlines()[row - 1]}\n" in shown
    lint(capsys, "n.ipynb", "--fix")
    cells = json.loads((folder / "n.ipynb").read_text(encoding="utf-8"))["cells"]
    assert "".join(cells[2]["source"]) == "    import jax.numpy as jnp"
    if after is not None:
        assert "".join(cells[3]["source"]) == after


def test_a_pointer_of_git_lfs_is_nothing_to_lint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
    (folder / "a.ipynb").write_text(pointer)
    assert lint(capsys, "a.ipynb", "--fix") == (0, "All checks passed!\n")
    assert (folder / "a.ipynb").read_text() == pointer
