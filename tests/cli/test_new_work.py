"""New findings only: ``--since``, ``--baseline``, ``--write-baseline``."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from flake8_jax.cli import main

BRANCH = """import jax


@jax.jit
def {name}(x):
    if x > 0:
        return x
    return -x
"""
HELPER = """def positive(x):
    if x > 0:
        return x
    return -x
"""
CALLER = """from helper import positive


def caller(x):
    return positive(x)
"""


class Repository:
    """A git repository in a folder of its own, which is the working directory."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self.git("init", "-q", "-b", "main")
        self.write("jaxlint.toml", "")

    def git(self, *words: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *words], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "c")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def lint(self, *arguments: str) -> tuple[int, list[tuple[str, int, str]]]:
        """The exit status and the findings: file, row, code."""
        status = main(["check", "--no-cache", "--output-format", "json", *arguments])
        report = json.loads(self._capsys.readouterr().out)
        place = os.path.realpath(self.folder)
        return status, [
            (os.path.relpath(item["filename"], place), item["location"]["row"], item["code"]) for item in report
        ]

    def said(self, *arguments: str) -> tuple[int, str, str]:
        status = main(["check", "--no-cache", *arguments])
        shown = self._capsys.readouterr()
        return status, shown.out, shown.err


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Repository:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Repository(folder, capsys)


# --- since -------------------------------------------------------------------------------------------


def test_only_changed_rows_count(repository: Repository) -> None:
    repository.write("old.py", BRANCH.format(name="old"))
    repository.write("both.py", BRANCH.format(name="kept"))
    repository.commit()
    assert repository.lint("--since", "HEAD") == (0, [])
    repository.write("both.py", BRANCH.format(name="kept") + "\n\n" + BRANCH.format(name="added")[12:])
    repository.write("über neu.py", BRANCH.format(name="fresh"))
    assert repository.lint("--since", "HEAD") == (1, [("both.py", 14, "JAX101"), ("über neu.py", 6, "JAX101")])
    repository.commit()
    assert repository.lint("--since", "HEAD") == (0, [])
    assert len(repository.lint("--since", "HEAD~1")[1]) == 2


def test_a_helper_becomes_a_defect_by_what_its_caller_gets(repository: Repository) -> None:
    repository.write("helper.py", HELPER)
    repository.write("caller.py", CALLER)
    repository.commit()
    repository.write("caller.py", "import jax\n" + CALLER.replace("def caller", "@jax.jit\ndef caller"))
    assert repository.lint("--since", "HEAD") == (1, [("helper.py", 2, "JAX101")])


def test_what_stands_around_deleted_lines_counts(repository: Repository) -> None:
    draws = "import jax\n\n\ndef f(key):\n    a = jax.random.normal(key)\n    key, _ = jax.random.split(key)\n"
    draws += "    return a + jax.random.normal(key)\n"
    repository.write("a.py", draws)
    repository.commit()
    assert repository.lint("--since", "HEAD") == (0, [])
    repository.write("a.py", draws.replace("    key, _ = jax.random.split(key)\n", ""))
    assert repository.lint("--since", "HEAD") == (1, [("a.py", 6, "JAX301")])


def test_a_renamed_file_is_not_new(repository: Repository) -> None:
    repository.write("old.py", BRANCH.format(name="f"))
    repository.commit()
    repository.git("mv", "old.py", "new.py")
    assert repository.lint("--since", "HEAD") == (0, [])
    repository.write("new.py", BRANCH.format(name="f").replace("x > 0", "x > 1"))
    assert repository.lint("--since", "HEAD") == (1, [("new.py", 6, "JAX101")])


def test_a_file_that_was_moved_without_git_is_not_new(repository: Repository) -> None:
    repository.write("old.py", BRANCH.format(name="f"))
    repository.write("copied.py", "import os\n\n" + BRANCH.format(name="g") * 3)
    repository.commit()
    (repository.folder / "old.py").rename(repository.folder / "new.py")
    assert repository.lint("--since", "HEAD") == (0, [])
    (repository.folder / "copied.py").unlink()
    repository.write("one.py", "import os\n\n" + BRANCH.format(name="g") * 2)
    repository.write("other.py", "import os\n\n" + BRANCH.format(name="g") * 2)
    _, found = repository.lint("--since", "HEAD")
    assert {path for path, _, _ in found} == {"other.py"}, "one deleted file becomes one new file"


@pytest.mark.parametrize("attribute", ["-diff", "binary", "text eol=crlf", "filter=none", "ident"])
def test_attributes_hide_no_change(repository: Repository, attribute: str) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    repository.write(".gitattributes", f"*.py {attribute}\n")
    repository.commit()
    repository.write("a.py", BRANCH.format(name="f").replace("x > 0", "x > 1"))
    assert repository.lint("--since", "HEAD") == (1, [("a.py", 6, "JAX101")])


def test_line_ends_are_no_change(repository: Repository) -> None:
    path = repository.write("a.py", BRANCH.format(name="f"))
    repository.commit()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert repository.lint("--since", "HEAD") == (0, [])
    path.write_bytes(path.read_bytes().replace(b"x > 0", b"x > 1"))
    assert repository.lint("--since", "HEAD") == (1, [("a.py", 6, "JAX101")])
    repository.commit()
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    assert repository.lint("--since", "HEAD") == (0, [])


def test_running_a_notebook_changes_no_code(repository: Repository) -> None:
    def notebook(code: str, outputs: list[object]) -> str:
        cell = {
            "cell_type": "code",
            "source": code,
            "outputs": outputs,
            "metadata": {},
            "execution_count": len(outputs),
        }
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    code = BRANCH.format(name="f")
    repository.write("a.ipynb", notebook(code, []))
    repository.commit()
    repository.write("a.ipynb", notebook(code, [{"output_type": "stream", "name": "stdout", "text": "1"}]))
    assert repository.lint("--since", "HEAD") == (0, [])
    repository.write("a.ipynb", notebook(code + "\n1\n", []))
    assert len(repository.lint("--since", "HEAD")[1]) == 1


def test_ignored_files_are_not_new(repository: Repository) -> None:
    repository.write(".gitignore", "ignored*.py\n")
    repository.write("ignored_and_known.py", BRANCH.format(name="f"))
    repository.git("add", "-f", "ignored_and_known.py")
    repository.commit()
    repository.write("ignored.py", BRANCH.format(name="g"))
    repository.write(":(top)new.py", BRANCH.format(name="h"))
    repository.write("ignored_and_known.py", BRANCH.format(name="f").replace("x > 0", "x > 1"))
    paths = ["ignored.py", "ignored_and_known.py", ":(top)new.py"]
    found = {path for path, _, _ in repository.lint("--since", "HEAD", *paths)[1]}
    assert found == {"ignored_and_known.py", ":(top)new.py"}


def test_a_link_that_became_a_file_is_new(repository: Repository) -> None:
    repository.write("kept.py", BRANCH.format(name="f"))
    (repository.folder / "a.py").symlink_to("kept.py")
    repository.commit()
    (repository.folder / "a.py").unlink()
    repository.write("a.py", BRANCH.format(name="f"))
    assert repository.lint("--since", "HEAD") == (1, [("a.py", 6, "JAX101")])


def test_repositories_with_sha256(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository.folder / "other"
    folder.mkdir()
    monkeypatch.chdir(folder)
    repository.folder = folder
    repository.git("init", "-q", "-b", "main", "--object-format=sha256")
    repository.write("a.py", BRANCH.format(name="f"))
    repository.write("b.py", BRANCH.format(name="f"))
    repository.commit()
    assert repository.lint("--since", "HEAD") == (0, [])
    repository.write("a.py", BRANCH.format(name="f").replace("x > 0", "x > 1"))
    (folder / "b.py").rename(folder / "c.py")
    assert repository.lint("--since", "HEAD") == (1, [("a.py", 6, "JAX101")])


def test_what_others_did_meanwhile_is_not_ours(repository: Repository) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    repository.commit()
    repository.git("checkout", "-q", "-b", "work")
    repository.write("b.py", BRANCH.format(name="g"))
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("a.py", BRANCH.format(name="f").replace("x > 0", "x < 0"))
    repository.commit()
    repository.git("checkout", "-q", "work")
    assert repository.lint("--since", "main") == (1, [("b.py", 6, "JAX101")])


def test_only_new_findings_are_fixed(repository: Repository) -> None:
    old = "import jax\n\n\n@jax.jit\ndef f(x):\n    return float(x)\n"
    path = repository.write("a.py", old)
    repository.commit()
    path.write_text(old + "\n\n@jax.jit\ndef g(x):\n    return float(x)\n")
    status, out, _ = repository.said("--fix", "--unsafe-fixes", "--since", "HEAD", "--output-format", "concise")
    assert (status, path.read_text().count("float(x)")) == (0, 1), out
    assert path.read_text().startswith(old)


@pytest.mark.parametrize(
    ("revision", "said"), [("no-such", "git knows no revision `no-such`"), ("--output=x", "git knows no revision")]
)
def test_unknown_revisions(repository: Repository, revision: str, said: str) -> None:
    repository.commit()
    status, _, err = repository.said(f"--since={revision}")
    assert status == 2
    assert said in err
    assert not (repository.folder / "x").exists()


def test_a_shallow_clone_is_said(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What CI checks out has neither the branch nor the commits before."""
    repository.write("a.py", "")
    repository.commit()
    repository.git("checkout", "-q", "-b", "work")
    repository.write("b.py", BRANCH.format(name="g"))
    repository.commit()
    clone = tmp_path / "clone"
    source = repository.folder.as_uri()
    repository.git("clone", "-q", "--depth", "1", "--branch", "work", source, str(clone))
    monkeypatch.chdir(clone)
    for revision in ("origin/main", "HEAD~1"):
        status, out, err = repository.said("--since", revision)
        assert (status, out) == (2, "")
        assert f"git knows no revision `{revision}`" in err
        assert "shallow" in err and "`git fetch --unshallow`" in err and "`fetch-depth: 0`" in err
    repository.folder = clone
    repository.git("fetch", "-q", "--depth", "1", "origin", "main")
    status, out, err = repository.said("--since", "FETCH_HEAD", "--output-format", "concise")
    assert status == 1
    assert out.startswith("b.py:6:8: JAX101")
    assert "where HEAD and `FETCH_HEAD` parted" in err and "shallow" in err
    repository.git("fetch", "-q", "--unshallow", "origin", "main")
    assert repository.said("--since", "FETCH_HEAD", "--output-format", "concise") == (1, out, "")


def test_outside_of_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["check", "--since", "HEAD"]) == 2
    assert "not a git repository" in capsys.readouterr().err


# --- baseline ----------------------------------------------------------------------------------------


def test_what_is_kept_is_not_reported(repository: Repository) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    assert repository.said("--write-baseline")[:2] == (0, ".jaxlint-baseline.json: 1 finding kept\n")
    assert repository.lint("--baseline", ".jaxlint-baseline.json") == (0, [])
    _, out, _ = repository.said("--baseline", ".jaxlint-baseline.json", "--output-format", "full")
    assert out == "All checks passed!\n1 problem in the baseline not shown.\n"
    for output_format in ("json", "sarif", "github"):
        _, _, errors = repository.said("--baseline", ".jaxlint-baseline.json", "--output-format", output_format)
        assert errors == "jaxlint: 1 problem in the baseline not shown.\n"
    assert len(repository.lint()[1]) == 1


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
@pytest.mark.parametrize("there", [False, True])
def test_a_link_of_the_project_leads_nothing_out_of_it(repository: Repository, tmp_path: Path, there: bool) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    target = tmp_path / "elsewhere.json"
    if there:
        target.write_text('{"version": 1, "findings": []}')
    (repository.folder / ".jaxlint-baseline.json").symlink_to(target)
    status, _, err = repository.said("--write-baseline")
    assert (status, "this is a symbolic link" in err) == (2, True)
    assert target.read_text() == '{"version": 1, "findings": []}' if there else not target.exists()
    assert repository.said("--write-baseline", "--baseline", ".jaxlint-baseline.json")[0] == 0
    assert target.exists()


def test_entries_survive_moves_and_other_layouts(repository: Repository) -> None:
    path = repository.write("a.py", BRANCH.format(name="f"))
    repository.said("--write-baseline", "--baseline", "known.json")
    text = "# one\n# two\n" + BRANCH.format(name="f").replace("if x > 0:", "if (\n        x\n            > 0\n    ):")
    path.write_text(text)
    assert repository.lint("--baseline", "known.json") == (0, [])
    path.rename(path.with_name("b.py"))
    assert repository.lint("--baseline", "known.json") == (0, [])
    path.with_name("b.py").write_text(text.replace("> 0", "> 1"))
    assert len(repository.lint("--baseline", "known.json")[1]) == 1


def test_as_many_as_there_were(repository: Repository) -> None:
    path = repository.write("a.py", BRANCH.format(name="f"))
    repository.said("--write-baseline")
    path.write_text(BRANCH.format(name="f") + "\n\n" + BRANCH.format(name="g")[12:])
    assert len(repository.lint("--baseline", ".jaxlint-baseline.json")[1]) == 1


def test_what_is_gone_is_said(repository: Repository) -> None:
    repository.write("other.py", BRANCH.format(name="g"))
    path = repository.write("a.py", BRANCH.format(name="f"))
    repository.said("--write-baseline")
    path.write_text("import jax\n")
    status, out, err = repository.said("--baseline", ".jaxlint-baseline.json", "a.py")
    assert status == 0
    assert "1 of its findings is gone" in out + err


def test_entries_of_files_that_were_not_asked_for_stay(repository: Repository) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    repository.write("b.py", BRANCH.format(name="g"))
    repository.said("--write-baseline")
    repository.write("a.py", "import jax\n")
    repository.said("--write-baseline", "a.py")
    kept = json.loads((repository.folder / ".jaxlint-baseline.json").read_text())
    assert [entry["path"] for entry in kept["findings"]] == ["b.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "make one with `--write-baseline`"),
        ("[", "this is not a baseline"),
        ('{"version": 9, "findings": []}', "version 9"),
    ],
)
def test_files_that_are_no_baseline(repository: Repository, text: str | None, said: str) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    if text is not None:
        repository.write("known.json", text)
    status, _, err = repository.said("--baseline", "known.json")
    assert status == 2
    assert said in err
    if text is not None:
        assert repository.said("--write-baseline", "--baseline", "known.json")[0] == 2
        assert (repository.folder / "known.json").read_text() == text


def test_other_rules_and_broken_files_keep_their_entries(repository: Repository) -> None:
    path = repository.write("a.py", BRANCH.format(name="f"))
    repository.said("--write-baseline")
    _, out, err = repository.said("--baseline", ".jaxlint-baseline.json", "--select", "JAX302")
    assert "gone" not in out + err
    repository.said("--write-baseline", "--select", "JAX302")
    assert repository.lint("--baseline", ".jaxlint-baseline.json") == (0, [])
    path.write_text(BRANCH.format(name="f") + "x = (\n")
    _, out, err = repository.said("--baseline", ".jaxlint-baseline.json")
    assert "gone" not in out + err
    repository.said("--write-baseline")
    path.write_text(BRANCH.format(name="f"))
    assert repository.lint("--baseline", ".jaxlint-baseline.json") == (0, [])


def test_a_folder_by_another_name(repository: Repository) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    repository.said("--write-baseline")
    link = repository.folder.parent / "link"
    link.symlink_to(repository.folder)
    assert repository.lint("--baseline", ".jaxlint-baseline.json", str(link))[0] == 0


def test_names_that_are_no_text(repository: Repository) -> None:
    name = os.fsdecode(b"\xff.py")
    (repository.folder / name).write_text(BRANCH.format(name="f"))
    assert repository.said("--write-baseline")[0] == 0
    assert repository.said("--baseline", ".jaxlint-baseline.json")[0] == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--add-noqa", "--since", "HEAD"], ["--add-noqa", "--baseline", "x.json"], ["--since", "HEAD", "-"],
        ["--write-baseline", "--fix"], ["--write-baseline", "--since", "HEAD"],
    ],
)  # fmt: skip
def test_what_does_not_go_together(repository: Repository, options: list[str]) -> None:
    path = repository.write("a.py", BRANCH.format(name="f"))
    repository.commit()
    status, _, err = repository.said(*options)
    assert status == 2
    assert "jaxlint: --" in err
    assert path.read_text() == BRANCH.format(name="f")


def test_a_repository_in_the_repository(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository.write("inner/a.py", BRANCH.format(name="f"))
    identity = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "c"]):
        subprocess.run([*identity, *words], cwd=path.parent, check=True, capture_output=True)
    repository.commit()
    assert repository.lint("--since", "HEAD", "inner") == (0, [])
    path.write_text(BRANCH.format(name="f").replace("x > 0", "x > 1"))
    assert repository.lint("--since", "HEAD", "inner") == (1, [("inner/a.py", 6, "JAX101")])
    monkeypatch.chdir("/")
    assert repository.lint("--since", "HEAD", str(path))[0] == 1


def test_a_link_does_not_make_its_target_new(repository: Repository) -> None:
    repository.write("a.py", BRANCH.format(name="f"))
    repository.commit()
    (repository.folder / "link.py").symlink_to("a.py")
    assert repository.lint("--since", "HEAD")[0] == 0
