"""``jaxlint check``: statuses, output, input that is wrong, fixes, standard input."""

from __future__ import annotations

import errno
import importlib
import io
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.backend import Recorder, fake_backend

from flake8_jax.cli.check import run
from flake8_jax.reporters import formats

JAX = "import jax\n"


class Project:
    """A scratch project, and the command run in it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[bytes]) -> None:
        self.root = root
        self._capsys = capsys
        self.out = self.err = ""
        self.out_bytes = b""
        self.analyzed = Recorder()

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def check(self, *arguments: str, cache: bool = False) -> int:
        self._capsys.readouterr()
        options = [] if cache else ["--no-cache"]
        status = run([*options, *arguments], fake_backend(self.analyzed))
        self.out_bytes, err = self._capsys.readouterr()
        self.out, self.err = self.out_bytes.decode(errors="replace"), err.decode()
        return status

    def lint(self, *arguments: str) -> int:
        """Check with the real analysis and the cache."""
        self._capsys.readouterr()
        status = run([*arguments])
        out, err = self._capsys.readouterr()
        self.out, self.err = out.decode(), err.decode()
        return status

    def codes(self, *arguments: str) -> list[tuple[str, str]]:
        self.check("--output-format", "json", *arguments)
        return [(os.path.relpath(item["filename"], self.root), item["code"]) for item in json.loads(self.out)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Project:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsysbinary)


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# --- statuses and output -------------------------------------------------------------------------


def test_clean_run_says_so(project: Project) -> None:
    project.write("a.py", JAX)
    assert project.check(".") == 0
    assert project.out == "All checks passed!\n"


def test_findings_exit_1(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n")
    assert project.check("a.py", "--output-format", "concise") == 1
    assert project.out == "a.py:2:1: JAX101 found BAD in a\nFound 1 problem.\n"
    assert project.check("a.py", "--exit-zero") == 0


def test_quiet_and_silent(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n")
    assert project.check("-q", "--output-format", "concise") == 1
    assert project.out == "a.py:2:1: JAX101 found BAD in a\n"
    assert project.check("--silent") == 1
    assert project.out == ""


def test_json_of_a_clean_run(project: Project) -> None:
    assert project.check("--output-format", "json", ".") == 0
    assert json.loads(project.out) == []


def test_statistics(project: Project) -> None:
    project.write("a.py", JAX + "BAD; BAD; np.sin\n")
    assert project.check("--statistics") == 1
    assert project.out == "2  JAX101      traced-branch\n1  JAX203  [*] numpy-on-tracer\n"


def test_output_file(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n")
    assert project.check("-o", "out.json", "--output-format", "json") == 1
    assert project.out == ""
    assert len(json.loads((project.root / "out.json").read_text())) == 1


# --- wrong input ---------------------------------------------------------------------------------


def test_missing_path_exits_2_and_the_others_are_linted(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n")
    assert project.check("nowhere.py", "a.py", "--output-format", "concise") == 2
    assert "nowhere.py: there is no such file" in project.err
    assert "JAX101" in project.out


def test_syntax_error_is_a_finding(project: Project) -> None:
    project.write("a.py", JAX + "def f(:\n")
    project.write("b.py", JAX + "BAD\n")
    assert project.codes(".") == [("a.py", "JAX001"), ("b.py", "JAX101")]
    assert project.codes("--select", "JAX203", ".") == [("a.py", "JAX001")]


def test_a_template_of_a_project_is_a_note_on_its_syntax(project: Project) -> None:
    project.write("{{ cookiecutter.name }}/run.py", JAX + "from {{ cookiecutter.name }} import train\n")
    project.check("--output-format", "json", ".")
    (finding,) = json.loads(project.out)
    assert (finding["code"], finding["severity"]) == ("JAX001", "info")
    assert "`exclude`" in finding["message"]


def test_undecodable_file_is_a_finding(project: Project) -> None:
    project.write("a.py", b"import jax\nx = '\xff'\n")
    project.write("b.py", JAX + "BAD\n")
    assert project.codes(".") == [("a.py", "JAX001"), ("b.py", "JAX101")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_a_message(project: Project) -> None:
    project.write("a.py", JAX).chmod(0)
    assert project.check(".") == 1
    assert "a.py: cannot be read" in project.err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_file_names_may_be_no_text(project: Project) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    project.write(name, JAX + "BAD\n")
    for output_format in formats():
        assert project.check(".", "--output-format", output_format, cache=True) == 1
        assert "JAX101" in project.out


def test_crash_names_rule_and_file_and_the_others_report(project: Project) -> None:
    project.write("a.py", JAX + "CRASH\n")
    project.write("b.py", JAX + "BAD\n")
    assert project.check("--output-format", "concise", cache=True) == 2
    assert "traced-branch failed on a.py: KeyError" in project.err
    assert "b.py:2:1: JAX101" in project.out
    assert project.check(cache=True) == 2, "a crash must not hide in the cache"


def test_what_is_not_analyzed_to_its_end_is_named_from_the_cache_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flake8_jax.semantics.analysis.entries.MAX_STATEMENTS_PER_ENTRY", -150)
    project.write("a.py", "import jax\n\n\ndef long(x):\n" + "    x = x + 1\n" * 200)
    for _ in range(2):
        assert project.lint(".") == 1
        assert "a.py: jaxlint stopped analyzing `long`: it runs too many statements" in project.err
        assert project.out == "Found no problems, but some files or rules were not checked.\n"


def test_bad_configuration_exits_2_and_names_the_place(project: Project) -> None:
    project.write("a.py", JAX)
    project.write("pyproject.toml", "[project]\nname = 'x'\n\n[tool.jaxlint]\nselec = ['JAX1']\n")
    assert project.check(".") == 2
    assert "pyproject.toml:5: unknown key `selec`: did you mean `select`?" in project.err


def test_unknown_selector_exits_2(project: Project) -> None:
    project.write("a.py", JAX)
    assert project.check("--select", "JAX9999") == 2
    assert "command line: unknown rule selector `JAX9999`" in project.err
    assert project.check("--select", "I001", "--select", "I002") == 0, "ruff-lsp passes these"


def test_wrong_flag_exits_2(project: Project) -> None:
    with pytest.raises(SystemExit) as info:
        project.check("--no-such-flag")
    assert info.value.code == 2


# --- selection -----------------------------------------------------------------------------------


def test_the_more_specific_selector_wins(project: Project) -> None:
    project.write("a.py", JAX + "BAD\nnp.sin\nWORSE\n")
    assert project.codes("--select", "ALL", "--ignore", "JAX5") == [("a.py", "JAX101"), ("a.py", "JAX203")]
    assert project.codes("--select", "JAX505", "--ignore", "JAX5") == [("a.py", "JAX505")]
    assert project.codes("--select", "traced-branch") == [("a.py", "JAX101")]
    assert project.codes("--select", "JAX1", "--extend-select", "JAX203") == [("a.py", "JAX101"), ("a.py", "JAX203")]


def test_opt_in_rules(project: Project) -> None:
    project.write("a.py", JAX + "OLD\n")
    assert project.codes() == []
    assert project.codes("--extend-select", "JAX306") == [("a.py", "JAX306")]
    assert project.codes("--select", "ALL") == [("a.py", "JAX306")]


def test_per_file_ignores(project: Project) -> None:
    project.write("a.py", JAX + "BAD\nnp.sin\n")
    project.write("tests/b.py", JAX + "BAD\n")
    assert project.codes("--per-file-ignores", "tests/*:JAX1") == [("a.py", "JAX101"), ("a.py", "JAX203")]
    assert project.codes("--per-file-ignores", "!tests/*:JAX1,JAX2") == [("tests/b.py", "JAX101")]


def test_noqa(project: Project) -> None:
    project.write("a.py", JAX + "BAD  # noqa: JAX101\nBAD  # noqa: JAX203\nBAD  # noqa\n")
    assert len(project.codes()) == 1
    assert len(project.codes("--ignore-noqa")) == 3


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# noqa: traced-branch", "`# noqa: traced-branch` suppresses all findings on its line"),
        ("# NOQA:traced-branch, numpy-on-tracer", "write `# noqa: JAX101, JAX203`"),
        ("# noqa: traced-branch -- it is fine", "write `# noqa: JAX101`"),
        ("# noqa: JAX101 traced-branch", ""),
        ("# noqa: line-too-long", ""),
        ("# noqa: because it is fine", ""),
        ("# noqa", ""),
    ],
)
def test_a_name_in_a_comment_is_no_code(project: Project, comment: str, said: str) -> None:
    project.write("a.py", JAX + f"BAD  {comment}\n")
    for _ in range(2):  # the second time from the cache
        assert project.check(cache=True) == 0
        errors = project.err
        assert (errors.count("\n") == 1 and "a.py:2: " in errors and said in errors) if said else not errors
    assert project.check("--ignore-noqa") == 1
    assert not project.err


def test_a_name_in_a_comment_for_the_whole_file(project: Project) -> None:
    project.write("a.py", JAX + "# jaxlint: noqa: traced-branch\nBAD\n")
    assert project.check() == 0
    assert "suppresses all findings in the file" in project.err


def test_unused_noqa(project: Project) -> None:
    path = project.write(
        "a.py", JAX + "x = 1  # noqa: JAX101, E501\nBAD  # noqa: JAX101, JAX203, JAX999\n# noqa: JAX306\n"
    )
    assert project.codes() == []
    arguments = ("--extend-select", "unused-noqa")
    assert project.codes(*arguments) == [("a.py", "JAX002"), ("a.py", "JAX002")]
    assert project.check(*arguments, "--fix") == 0
    assert path.read_text() == JAX + "x = 1  # noqa: E501\nBAD  # noqa: JAX101\n# noqa: JAX306\n"


def test_nearest_configuration_wins_whole(project: Project) -> None:
    project.write("pyproject.toml", "[tool.jaxlint]\nignore = ['JAX1']\n")
    project.write("sub/jaxlint.toml", "ignore = ['JAX2']\n")
    project.write("a.py", JAX + "BAD\nnp.sin\n")
    project.write("sub/b.py", JAX + "BAD\nnp.sin\n")
    assert project.codes() == [("a.py", "JAX203"), ("sub/b.py", "JAX101")]
    assert len(project.codes("--isolated")) == 4
    assert project.codes("--config", "ignore = ['JAX']") == []
    assert len(project.codes("--config", "sub/jaxlint.toml", ".")) == 2


# --- fixes -------------------------------------------------------------------------------------


def test_fix(project: Project) -> None:
    path = project.write("a.py", JAX + "np.sin(np.sin)\nBAD\nUNSAFE\n")
    assert project.check("--fix", "--show-fixes") == 1
    assert path.read_text() == JAX + "jnp.sin(jnp.sin)\nBAD\nUNSAFE\n"
    assert "Found 4 problems (2 fixed, 2 remaining)." in project.out
    assert "2 × JAX203 (numpy-on-tracer)" in project.out
    assert project.check("--fix", "--unsafe-fixes", "--ignore", "JAX101") == 0
    assert "okay" in path.read_text()


def test_fix_only_and_status_on_fix(project: Project) -> None:
    path = project.write("a.py", JAX + "np.sin\nBAD\n")
    assert project.check("--fix-only") == 0
    assert "JAX101" not in project.out
    path.write_text(JAX + "np.sin\n")
    assert project.check("--fix", "--exit-non-zero-on-fix") == 1
    assert project.check("--fix", "--exit-non-zero-on-fix") == 0


def test_diff_changes_nothing(project: Project) -> None:
    path = project.write("a.py", JAX + "np.sin\n")
    assert project.check("--diff") == 1
    assert project.out.splitlines() == [
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -1,2 +1,2 @@",
        " import jax",
        "-np.sin",
        "+jnp.sin",
    ]
    assert "Would fix 1 problem." in project.err
    assert path.read_text() == JAX + "np.sin\n"
    project.write("a.py", JAX + "BAD\n")
    assert project.check("--diff") == 0


@pytest.mark.parametrize(
    ("word", "reason"),
    [("WORSE", "would add JAX101"), ("BROKEN", "no longer parse"), ("STUBBORN", "would still be there")],
)
def test_a_fix_that_does_harm_is_withdrawn(project: Project, word: str, reason: str) -> None:
    path = project.write("a.py", JAX + f"np.sin\n{word}\nnp.sin\n")
    assert project.check("--fix") == 1
    assert path.read_text() == JAX + f"jnp.sin\n{word}\njnp.sin\n"
    assert "was reverted" in project.err
    assert reason in project.err
    assert "[*]" not in project.out
    assert "fixable" not in project.out


UNCOVERING = """import jax
import jax.numpy as jnp


def relu(v):
    return v if v > 0 else 0.0


def twice(v):
    if v > 10:
        return relu(v)
    return 2.0 * v


@jax.jit
def f(x):
    return twice(float(x))


def stuck(v):
    if v < 0:
        raise ValueError(v)
    return v


@jax.jit
def g(x):
    return stuck(float(x))
"""
FIXED = (
    ("v if v > 0 else 0.0", "jnp.where(v > 0, v, 0.0)"),
    (
        "    if v > 10:\n        return relu(v)\n    return 2.0 * v\n",
        "    return jax.lax.cond(v > 10, lambda: relu(v), lambda: 2.0 * v)\n",
    ),
    ("twice(float(x))", "twice(x.astype(float))"),
)


OPINIONS = """\
import jax
import jax.numpy as jnp


def fit(batches, n):
    params, momentum = jnp.ones(n), jnp.zeros(n)
    step = jax.jit(lambda params, momentum, x: (params - momentum, 0.9 * momentum + x))
    for x in batches:
        params, momentum = step(params, momentum, x)
    return params


same = jax.pmap(lambda w, x: w - x, in_axes=(None, 0))


def copied(w, batches):
    for x in batches:
        w = same(w, x)
    return w
"""


def test_a_fix_is_not_refused_for_a_fix_of_another_rule_beside_it(project: Project) -> None:
    """What the new ``shard_map`` may donate is a matter of a rule that one has to ask for."""
    path = project.write("a.py", OPINIONS)
    options = ("--select", "JAX412,JAX601", "--fix", "--unsafe-fixes", "--no-cache")
    assert project.lint(*options) == 1
    fixed = path.read_text()
    assert "donate_argnames" in fixed and "shard_map" in fixed
    assert project.lint(*options) == 1
    assert path.read_text() == fixed


def test_a_fix_goes_with_those_of_what_it_uncovers(project: Project) -> None:
    path = project.write("a.py", UNCOVERING)
    assert project.lint("--fix", "--unsafe-fixes", "--no-cache") == 1
    wanted = UNCOVERING
    for before, after in FIXED:
        wanted = wanted.replace(before, after)
    assert path.read_text() == wanted
    assert "was reverted" in project.err  # of ``g``: what it uncovers has no fix
    assert "[*]" not in project.out
    assert "fixable" not in project.out
    assert project.lint("--unsafe-fixes", "--no-cache") == 1
    assert "[*] 1 fixable" in project.out  # nobody has tried it in this run


def test_a_fix_does_not_go_with_unsafe_ones_that_were_not_asked_for(project: Project) -> None:
    path = project.write("a.py", UNCOVERING)
    assert project.lint("--fix", "--unsafe-fixes", "--unfixable", "JAX101", "--no-cache") == 1
    assert path.read_text() == UNCOVERING


def test_blame_spares_analyses(project: Project) -> None:
    project.write("a.py", JAX + "np.sin\n" * 20 + "WORSE\n" + "np.sin\n" * 20)
    project.write("b.py", JAX + "np.sin\n" * 20 + "BROKEN\n" + "np.sin\n")
    assert project.check("--fix", "--show-fixes") == 1
    assert "Found 63 problems (61 fixed, 2 remaining)." in project.out
    assert len(project.analyzed.programs) <= 12


def test_unfixable(project: Project) -> None:
    path = project.write("a.py", JAX + "np.sin\n")
    assert project.check("--fix", "--unfixable", "JAX2") == 1
    assert path.read_text() == JAX + "np.sin\n"


def test_fix_keeps_mode_link_mark_and_newlines(project: Project) -> None:
    real = project.write("real.py", b"\xef\xbb\xbfimport jax\r\nnp.sin  # \xc3\xa9\r\n")
    real.chmod(0o755)
    link = project.root / "link.py"
    link.symlink_to("real.py")
    assert project.check("--fix", "link.py") == 0
    assert link.is_symlink()
    assert real.read_bytes() == b"\xef\xbb\xbfimport jax\r\njnp.sin  # \xc3\xa9\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o755
    assert sorted(path.name for path in project.root.glob("*.py")) == ["link.py", "real.py"]


def test_read_only_file_stays(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project.write("a.py", JAX + "np.sin\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert project.check("--fix", "--output-format", "concise") == 2
    assert path.read_text() == JAX + "np.sin\n"
    assert "read-only" in project.err
    assert "a.py:2:1: JAX203" in project.out


def test_a_full_disk_takes_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project.write("a.py", JAX + "np.sin\n")
    kept = project.write("b.py", JAX + "np.sin\n")
    replace = os.replace

    def full(source: str, target: str) -> None:
        if target == str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert project.check("--fix", "--output-format", "concise") == 2
    assert path.read_text() == JAX + "np.sin\n"
    assert kept.read_text() == JAX + "jnp.sin\n"
    assert "a.py:2:1: JAX203" in project.out
    assert "b.py" not in project.out
    assert "No space left on device" in project.err
    assert not list(project.root.glob(".jaxlint-*"))


@pytest.mark.parametrize("change", ["edited", "a folder"])
def test_a_file_that_changes_while_it_is_linted_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = project.write("a.py", JAX + "np.sin\n")
    passes = importlib.import_module("flake8_jax.fixing.passes")
    apply_fixes = passes.apply_fixes

    def meanwhile(*arguments: object, **options: object) -> object:
        outcome = apply_fixes(*arguments, **options)
        path.unlink()
        if change == "a folder":
            path.mkdir()
        else:
            path.write_text(JAX + "np.sin\nnp.sin\n")
        return outcome

    monkeypatch.setattr(passes, "apply_fixes", meanwhile)
    assert project.check("--fix", "--output-format", "concise") == 2
    assert "a.py: left as it is" in project.err
    if change == "edited":
        assert path.read_text() == JAX + "np.sin\nnp.sin\n"
        assert "a.py:3:1: JAX203" in project.out


def test_a_reverted_fix_is_not_offered_again_beside_a_refused_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.py"):
        project.write(name, JAX + "np.sin\nSTUBBORN\n")
    monkeypatch.setattr(os, "access", lambda path, *_: not str(path).endswith("a.py"))
    assert project.check("--fix") == 2
    marked = [line for line in project.out.splitlines() if "[*]" in line and ".py:" in line]
    assert [line.partition(":")[0] for line in marked] == ["a.py"]
    assert "[*] 1 fixable" in project.out


def test_what_is_written_beside_a_refused_file_counts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.py", JAX + "np.sin\n")
    other = project.write("b.py", JAX + "np.sin\n")
    monkeypatch.setattr(os, "access", lambda path, *_: not str(path).endswith("a.py"))
    assert project.check("--fix") == 2
    assert other.read_text() == JAX + "jnp.sin\n"
    assert "Found 2 problems (1 fixed, 1 remaining)." in project.out
    assert ("a.py:2:1" in project.out, "b.py:2:1" in project.out) == (True, False)


def test_file_that_cannot_take_the_fix_stays(project: Project) -> None:
    """The euro sign that the fix would write has no place in Latin-1."""
    path = project.write("a.py", b"# coding: latin-1\nimport jax\nEURO\n")
    assert project.check("--fix") == 2
    assert path.read_bytes() == b"# coding: latin-1\nimport jax\nEURO\n"
    assert "a.py:3:1" in project.out
    assert "a.py: left as it is: '\u20ac' cannot be written in" in project.err


def test_fixes_end_their_lines_like_the_file(project: Project) -> None:
    path = project.write("a.py", b"import jax\r\nLINES\r\n")
    assert project.check("--fix") == 0
    assert path.read_bytes() == b"import jax\r\none\r\ntwo\r\n"


def test_what_was_not_silenced_does_not_count(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.py", JAX + "BAD\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert project.check("--add-noqa") == 2
    assert (project.out, "read-only" in project.err) == ("Silenced 0 problems.\n", True)


def test_add_noqa(project: Project) -> None:
    path = project.write("a.py", JAX + "BAD; np.sin\nBAD\n")
    assert project.check("--add-noqa") == 0
    assert project.codes() == []
    assert "# noqa: JAX101" in path.read_text()


# --- standard input ------------------------------------------------------------------------------


def test_stdin(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, (JAX + "BAD\n").encode())
    assert project.check("-", "--stdin-filename", "a.py", "--output-format", "json") == 1
    assert [item["filename"] for item in json.loads(project.out)] == [str(project.root / "a.py")]


@pytest.mark.parametrize("data", [b"import jax\r\nx = 1\r\n", b"import jax\ndef f(:\n", b"\xff\xfe", b""])
def test_stdin_with_fix_echoes_what_it_cannot_fix(
    project: Project, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    feed(monkeypatch, data)
    project.check("--fix", "-", "--stdin-filename", "a.py")
    assert project.out_bytes == data


def test_stdin_with_fix_prints_the_source_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, (JAX + "np.sin\nBAD\n").encode())
    assert project.check("--no-fix", "--output-format", "json", "-", "--fix", "--stdin-filename", "a.py") == 1
    assert project.out_bytes == b"import jax\njnp.sin\nBAD\n"
    assert [item["code"] for item in json.loads(project.err)] == ["JAX101"]


def test_stdin_of_an_excluded_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"import jax\nnp.sin\n")
    assert project.check("--force-exclude", "--exclude", "a.py", "--fix", "-", "--stdin-filename", "a.py") == 0
    assert project.out_bytes == b"import jax\nnp.sin\n"


# --- the program around the files ------------------------------------------------------------------


def test_a_single_file_is_linted_with_its_program(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/helper.py", "BAD\n")
    project.write("train.py", JAX + "from pkg import helper\nBAD\n")
    project.write("plain.py", "BAD\n")
    assert project.codes("pkg/helper.py") == [("pkg/helper.py", "JAX101")]
    assert sorted(file.module_name for file in project.analyzed.programs[-1]) == ["pkg", "pkg.helper", "train"]
    assert project.codes() == [("pkg/helper.py", "JAX101"), ("train.py", "JAX101")]


def test_files_without_jax_are_parsed_only_when_named(project: Project) -> None:
    project.write("plain.py", "def f(:\n")
    assert project.codes() == []
    assert project.codes("plain.py") == [("plain.py", "JAX001")]


def test_show_files_and_settings(project: Project) -> None:
    path = project.write("a.py", JAX)
    assert project.check("--show-files") == 0
    assert project.out == f"{path}\n"
    assert project.check("--show-settings", "--target-jax", ">=0.4.30") == 0
    assert "required = {'jax': '>=0.4.30'}" in project.out


# --- the cache -------------------------------------------------------------------------------------


def test_a_warm_run_analyses_nothing(project: Project) -> None:
    path = project.write("a.py", JAX + "BAD\n")
    project.write("b.py", JAX)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    for _ in range(2):
        assert project.check("--output-format", "concise", cache=True) == 1
        assert "a.py:2:1: JAX101" in project.out
    assert len(project.analyzed.programs) == 1
    assert (project.root / ".jaxlint_cache" / ".gitignore").read_text() == "*\n"
    path.write_text(JAX + "\nBAD\n")
    assert project.check("--output-format", "concise", cache=True) == 1
    assert "a.py:3:1: JAX101" in project.out


def test_a_damaged_cache_is_rebuilt(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n")
    project.check(cache=True)
    for entry in (project.root / ".jaxlint_cache").rglob("*"):
        if entry.is_file() and len(entry.name) == 40:
            entry.write_bytes(entry.read_bytes()[:-3] + b"\x00\x01\x02")
    assert project.check("--output-format", "concise", cache=True) == 1
    assert "a.py:2:1: JAX101" in project.out
    assert project.err == ""


# --- starting --------------------------------------------------------------------------------------


def test_the_command_starts_without_heavy_imports() -> None:
    heavy = ("libcst", "rich", "jax", "packaging")
    code = f"import sys, flake8_jax.cli, flake8_jax.cli.check; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- files that are no files -------------------------------------------------------------------------


def test_a_file_beyond_the_limit_is_left_out_and_reported(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n")
    with (project.root / "big.py").open("wb") as file:
        file.truncate(3_000_000_000)
    big = project.root / "big.py"
    left_out = f"jaxlint: {big}: larger than 5,000,000 bytes; it was left out (`max-file-size` is the limit)"
    for cache in (False, True, True):
        assert project.check(".", "--output-format", "concise", cache=cache) == 1
        assert "a.py:2:1: JAX101" in project.out
        assert left_out in project.err
    assert project.check("big.py") == 1
    assert left_out in project.err
    assert project.check("a.py", "--output-format", "concise") == 1
    assert left_out in project.err  # the program is not seen whole


def test_the_limits_are_settings(project: Project) -> None:
    project.write("a.py", JAX + "BAD\n" + "#" * 1_000)
    assert project.check("--config", "max-file-size = 1000", "a.py", cache=True) == 1
    assert "larger than 1,000 bytes" in project.err
    assert project.check("--config", "max-file-size = 2000", "a.py", cache=True) == 1
    assert (project.err, "JAX101" in project.out) == ("", True)
    assert project.check("--config", "max-file-size = 1000", "a.py", cache=True) == 1
    assert "larger than 1,000 bytes" in project.err


def test_an_unsaved_text_beyond_the_limit_is_left_out_and_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, b"import jax\nBAD\n" + b"#" * 1_000)
    assert project.check("--config", "max-file-size = 1000", "-") == 1
    assert "larger than 1,000 bytes" in project.err
    assert "JAX101" not in project.out


def test_the_limit_of_a_notebook_counts_its_code(project: Project) -> None:
    def notebook(code: str, picture: int) -> str:
        cell = {"cell_type": "code", "metadata": {}, "outputs": [{"data": "x" * picture}], "source": [code]}
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    project.write("picture.ipynb", notebook(JAX + "BAD\n", 9_000))
    project.write("code.ipynb", notebook(JAX + "BAD\n" + "#" * 2_000, 0))
    project.write("both.ipynb", notebook(JAX, 20_000))
    limits = ("--config", "max-file-size = 1000", "--config", "max-notebook-size = 10_000")
    assert project.check(*limits, ".", "--output-format", "concise") == 1
    assert "picture.ipynb:cell 1:2:1: JAX101" in project.out
    assert "code.ipynb:" not in project.out
    shown = f"jaxlint: {project.root}{os.sep}"
    assert f"{shown}code.ipynb: larger than 1,000 bytes of code; it was left out (`max-file-size`" in project.err
    assert f"{shown}both.ipynb: larger than 10,000 bytes; it was left out (`max-notebook-size`" in project.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("options", [[], ["--fix"], ["--add-noqa"], ["--diff"]])
def test_pipes_devices_and_loops_that_are_named_are_reported(project: Project, options: list[str]) -> None:
    project.write("a.py", JAX)
    os.mkfifo(project.root / "fifo.py")
    (project.root / "zero.py").symlink_to("/dev/zero")
    (project.root / "loop.py").symlink_to("loop.py")
    assert project.check(*options, "a.py", "fifo.py", "zero.py", "loop.py") == 1
    for name in ("fifo.py", "zero.py"):
        assert f"{project.root / name}: cannot be read: not a regular file; it was left out" in project.err
    assert f"{project.root / 'loop.py'}: cannot be read: " in project.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_baseline_that_is_a_pipe_or_no_text_is_refused(project: Project) -> None:
    project.write("a.py", JAX)
    os.mkfifo(project.root / "fifo")
    assert project.check("--baseline", "fifo", ".") == 2
    assert "fifo: not a regular file" in project.err
    for data in (b'{"version": 1, "findings": "\xff"}', b"[" * 100_000):
        project.write("kept.json", data)
        assert project.check("--baseline", "kept.json", ".") == 2
        assert "kept.json: this is not a baseline" in project.err


# --- where a setting is wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "row"),
    [
        ("jaxlint.toml", "preview = true\nselect = ['JAX1', 'JAX9999']\n", 2),
        ("jaxlint.toml", "preview = true\nignore = [\n  'JAX1',\n  'JAX9999',\n]\n", 4),
        ("jaxlint.toml", "[per-file-ignores]\n'a.py' = ['JAX1']\n'b.py' = ['JAX9999']\n", 3),
        ("jaxlint.toml", "\nunfixable = ['JAX9999']\n", 2),
        ("pyproject.toml", "[tool.other]\nselect = ['JAX9999']\n[tool.jaxlint]\nselect = ['JAX9999']\n", 4),
        ("pyproject.toml", "[tool]\njaxlint.extend-select = ['JAX9999']\n", 2),
    ],
)
def test_unknown_selectors_are_reported_with_file_and_line(project: Project, name: str, text: str, row: int) -> None:
    project.write("a.py", JAX)
    path = project.write(name, text)
    assert project.check(".") == 2
    assert project.err.startswith(f"jaxlint: {path}:{row}: unknown rule selector `JAX9999`")


def test_unknown_selectors_of_a_pair_are_not_blamed_on_the_file(project: Project) -> None:
    project.write("a.py", JAX)
    project.write("jaxlint.toml", "select = ['JAX1']\n")
    assert project.check("--config", "select = ['JAX9999']", ".") == 2
    assert project.err.startswith("jaxlint: --config: unknown rule selector `JAX9999`")


@pytest.mark.parametrize("pattern", ["!", "/", "[a"])
def test_a_pattern_that_matches_nothing_is_reported_with_file_and_line(project: Project, pattern: str) -> None:
    project.write("a.py", JAX)
    path = project.write("jaxlint.toml", f"[per-file-ignores]\n'{pattern}' = ['JAX1']\n")
    assert project.check(".") == 2
    assert project.err.startswith(f"jaxlint: {path}:2: the pattern `{pattern}` matches nothing: ")


def test_many_per_file_ignores_are_fast(project: Project) -> None:
    project.write("jaxlint.toml", "[per-file-ignores]\n" + "".join(f"'x{n}*.py' = ['JAX1']\n" for n in range(10_000)))
    for number in range(20):
        project.write(f"x{number}.py", JAX + "BAD\n")
    project.write("y.py", JAX + "BAD\n")
    started = time.process_time()
    assert project.codes(".") == [("y.py", "JAX101")]
    assert time.process_time() - started < 2
