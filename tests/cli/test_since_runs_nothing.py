"""``--since`` in a repository whose configuration, attributes and hooks name programs: none of them runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax.cli import main
from flake8_jax.history import git as flake8_jax_git

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the marker is a shell script")

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
UNKNOWN = "1234567890123456789012345678901234567890"
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change", "post-merge",
    "post-rewrite", "pre-auto-gc", "pre-commit", "pre-push", "proc-receive", "push-to-checkout", "query-watchman",
    "reference-transaction",
)  # fmt: skip
COMMANDS = ("rev-parse", "merge-base", "diff", "ls-files", "ls-tree", "check-ignore", "cat-file", "config", "fetch")
PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "credential.helper", "diff.external", "diff.evil.command", "diff.evil.textconv",
    "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "gpg.program",
    "gpg.ssh.program", "interactive.diffFilter", "sequence.editor", "uploadpack.packObjectsHook",
    "remote.origin.uploadpack", "remote.origin.receivepack", "trace2.eventTarget",
)  # fmt: skip
VARIABLES = ("EXTERNAL_DIFF", "SSH_COMMAND", "SSH", "PAGER", "EDITOR", "ASKPASS", "PROXY_COMMAND", "SEQUENCE_EDITOR")


class Hostile:
    """A repository with a commit and a change, and with a program that leaves a mark in everything that names one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.marks = folder / "marks"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.marks}\nexit 1\n')
        self.program.chmod(0o755)
        (self.folder / "hooks").mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        (self.folder / "a.py").write_text(BRANCH)
        (self.folder / "gone.py").write_text("# gone\n" + BRANCH)
        (self.folder / ".gitattributes").write_text("*.py diff=evil filter=evil merge=evil\n")
        self.git("add", "-A")
        self.git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "c")
        (self.folder / "a.py").write_text(BRANCH.replace("x > 0", "x > 1"))
        (self.folder / "gone.py").rename(self.folder / "moved.py")
        (self.folder / "new.py").write_text(BRANCH.replace("x > 0", "x < 0"))

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def arm(self) -> None:
        """Name the program everywhere."""
        for hook in HOOKS:
            for place in (self.folder / "hooks", self.folder / ".git" / "hooks"):
                place.mkdir(exist_ok=True)
                (place / hook).unlink(missing_ok=True)
                (place / hook).symlink_to(self.program)
        lines = [f"[include]\n\tpath = {self.folder / 'more.config'}"]
        lines += [self._setting(name) for name in PROGRAMS]
        lines += [self._setting(f"alias.{name}", "!") + "\n" + self._setting(f"pager.{name}") for name in COMMANDS]
        lines.append('[submodule "s"]\n\tupdate = !' + str(self.program))
        lines.append(f"[core]\n\thooksPath = {self.folder / 'hooks'}")
        lines.append(
            f'[remote "origin"]\n\turl = ext::{self.program} %S\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
            "\tpromisor = true\n\tpartialCloneFilter = blob:none"
        )
        lines.append('[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always')
        lines.append(
            "[extensions]\n\tpartialClone = origin\n\tworktreeConfig = true\n[core]\n\trepositoryFormatVersion = 1"
        )
        with open(self.folder / ".git" / "config", "a") as stream:
            stream.write("\n".join(lines) + "\n")
        (self.folder / "more.config").write_text(self._setting("core.fsmonitor") + "\n")
        (self.folder / ".git" / "config.worktree").write_text(self._setting("core.fsmonitor") + "\n")

    def _setting(self, name: str, before: str = "") -> str:
        section, _, key = name.rpartition(".")
        kind, _, rest = section.partition(".")
        heading = f'[{kind} "{rest}"]' if rest else f"[{kind}]"
        return f"{heading}\n\t{key} = {before}{self.program}"

    def executed(self) -> list[str]:
        """What the program was called with since the last question."""
        found = self.marks.read_text().splitlines() if self.marks.exists() else []
        self.marks.unlink(missing_ok=True)
        return found


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    found = Hostile(tmp_path)
    monkeypatch.chdir(found.folder)
    found.arm()
    return found


def plainly(*words: str) -> None:
    """Git as a user would call it."""
    subprocess.run(["git", *words], capture_output=True, check=False, timeout=60)


def test_the_marks_work(hostile: Hostile) -> None:
    plainly("-c", "alias.x=", "ls-files", "--others")
    assert hostile.executed(), "core.fsmonitor"
    plainly("-c", "core.fsmonitor=", "--no-pager", "diff", "--no-ext-diff", "--no-textconv", "HEAD")
    assert hostile.executed(), "filter.clean"
    plainly("-c", "core.fsmonitor=", "--no-pager", "cat-file", "-e", UNKNOWN)
    assert any("git-upload-pack" in line for line in hostile.executed()), "a remote with ext::"


def test_none_runs(hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(f"GIT_{name}", str(hostile.program))
    for name in ("GIT_TRACE", "GIT_TRACE2", "GIT_TRACE_SETUP"):
        monkeypatch.setenv(name, str(hostile.marks))
    status = main(["check", "--no-cache", "--output-format", "json", "--since", "HEAD"])
    found = [(Path(item["filename"]).name, item["location"]["row"]) for item in json.loads(capsys.readouterr().out)]
    assert (status, found) == (1, [("a.py", 6), ("new.py", 6)])
    assert hostile.executed() == []


@pytest.mark.parametrize("old", [False, True], ids=["git that knows GIT_NO_LAZY_FETCH", "git that does not"])
def test_nothing_is_fetched(
    hostile: Hostile, old: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = flake8_jax_git._environment
    if old:
        monkeypatch.setattr(
            flake8_jax_git,
            "_environment",
            lambda given: {name: value for name, value in made(given).items() if name != "GIT_NO_LAZY_FETCH"},
        )
    assert main(["check", "--no-cache", "--since", UNKNOWN]) == 2
    said = capsys.readouterr().err
    assert f"git knows no revision `{UNKNOWN}`" in said
    assert "this clone is partial and jaxlint fetches nothing: `git diff --stat" in said
    assert hostile.executed() == []


def test_a_missing_blob_is_named(hostile: Hostile, capsys: pytest.CaptureFixture[str]) -> None:
    blob = subprocess.run(["git", "rev-parse", "HEAD:a.py"], capture_output=True, text=True, check=True).stdout.strip()
    (hostile.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    hostile.executed()
    assert main(["check", "--no-cache", "--since", "HEAD"]) == 2
    said = capsys.readouterr().err
    assert f"the repository lacks the object {blob}; this clone is partial" in said
    assert hostile.executed() == []


def test_git_in_a_folder_of_the_project_is_not_git(
    hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (hostile.folder / "git").symlink_to(hostile.program)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert main(["check", "--no-cache", "--since", "HEAD"]) == 1
    assert hostile.executed() == []
    monkeypatch.setenv("PATH", ".")
    assert main(["check", "--no-cache", "--since", "HEAD"]) == 2
    assert "git cannot be started: no folder of PATH holds it" in capsys.readouterr().err
    assert hostile.executed() == []


def test_the_environment_of_a_hook_means_no_other_repository(
    hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "elsewhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "elsewhere/index")
    assert main(["check", "--no-cache", "--since", "HEAD", "--output-format", "concise"]) == 1
    assert "a.py:6" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_git_that_hangs_is_ended(
    hostile: Hostile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flake8_jax_git, "_SECONDS", 0.3)
    pipe = hostile.folder / "pipe"
    os.mkfifo(pipe)
    with open(hostile.folder / ".git" / "config", "a") as stream:
        stream.write(f"[include]\n\tpath = {pipe}\n")
    assert main(["check", "--no-cache", "--since", "HEAD"]) == 2
    assert "gave no answer within 0.3 seconds" in capsys.readouterr().err
