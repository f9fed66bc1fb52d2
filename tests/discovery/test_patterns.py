"""Gitignore patterns: the same verdicts as git's, in linear time."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake8_jax.pipeline.discovery import Patterns
from flake8_jax.pipeline.patterns import PatternSet, complaint

needs_git = pytest.mark.skipif(shutil.which("git") is None or os.name == "nt", reason="needs git and any file name")

# --- the verdicts of git ------------------------------------------------------------------------------

NAMES = ["a", "b", "ab", "aab", "c", ".a", "a b", "#a", "!b", "[", "a-", "*", "é", "]"]
PIECES = [
    "a", "b", "ab", "*", "**", "***", "/", "**/", "/**", "/**/", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a\\-c]",
    "[--a]", "[[:alpha:]]", "[[:punct:]b]", "[[:none:]]", "[[:a]", "[/]", "[é]", "[", "]", "\\*", "\\/", "\\a", "\\", " ",
    "\\ ", "!", "#", "-", ".", "é", "\r",
]  # fmt: skip
LINES = st.builds(
    lambda negation, pieces: negation + "".join(pieces),
    st.sampled_from(["", "", "", "!"]),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6),
)


class Repository:
    """A repository with files of all kinds of names, and what git ignores in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        subprocess.run(["git", "init", "-q"], cwd=root, check=True, env=self._environment())
        folders = ["", "a/", "ab/", "a/b/", "c/", "c/a/", "c/a/ab/", "é/", "a b/"]
        for folder in folders:
            (root / folder).mkdir(exist_ok=True)
        for folder in folders:
            for name in NAMES:
                path = root / folder / name
                if not path.exists():
                    path.write_text("")
        below = [path for path in root.rglob("*") if ".git" not in path.parts]
        self.paths = {os.fsencode(path.relative_to(root)): path.is_dir() for path in below}

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": str(self.root)}

    def ignored(self, text: bytes) -> set[bytes]:
        (self.root / ".gitignore").write_bytes(text)
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"],
            cwd=self.root,
            input=b"\0".join(self.paths),
            capture_output=True,
            env=self._environment(),
        )
        assert done.returncode in (0, 1), done.stderr
        return set(filter(None, done.stdout.split(b"\0")))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    yield Repository(tmp_path_factory.mktemp("repository"))


def ignored(text: bytes, paths: dict[bytes, bool]) -> set[bytes]:
    patterns = Patterns.of_file("/r", text)
    found = set()
    for path, is_directory in paths.items():
        full = "/r/" + os.fsdecode(path)
        if patterns.matches_above(full) or patterns.matches(full, is_directory=is_directory):
            found.add(path)
    return found


@needs_git
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(lines=st.lists(LINES, min_size=1, max_size=4))
def test_verdicts_are_those_of_git(repository: Repository, lines: list[str]) -> None:
    text = "\n".join(lines).encode()
    assert ignored(text, repository.paths) == repository.ignored(text)


@needs_git
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(lines=st.lists(LINES, min_size=60, max_size=120))
def test_verdicts_of_many_patterns_are_those_of_git(repository: Repository, lines: list[str]) -> None:
    """So many patterns are looked up in an index."""
    text = "\n".join(lines).encode()
    assert ignored(text, repository.paths) == repository.ignored(text)


@needs_git
@pytest.mark.parametrize(
    "text",
    [
        "a**/b\n", "a/b**\n", "/a**\n", "c/**/ab/a\n", "c/**\\/a\n", "**/**\n", "a/**/\n", "*\n!*/\n!a\n", "a \\ \n",
        "\ufeffa\n", "a\0b\n", "a\r\nb\r", "\r\n", "a/\n!a/b\n", "/\n//\n!\n#a\n\\#a\n\\!b\n",
        "[[:alnum:]]\n", "[[:cntrl:][:space:]]\n", "[![:print:]]*\n", "[[:graph:]-]\n", "[]-a]\n", "[^]]\n", "[a-]\n",
        "[[:punct:]]\n[![:upper:][:lower:]]\n", "??\n", "[\\]]\n",
    ],
)  # fmt: skip
def test_odd_files_are_read_as_git_reads_them(repository: Repository, text: str) -> None:
    assert ignored(text.encode(), repository.paths) == repository.ignored(text.encode())


# --- time ---------------------------------------------------------------------------------------------

LONG = b"a" * 250
DEEP = b"/".join([b"a"] * 1_500)


def seconds(lines: list[bytes], paths: list[bytes]) -> float:
    started = time.process_time()
    patterns = PatternSet(lines)
    for path in paths:
        patterns.verdict(path, is_directory=False)
    return time.process_time() - started


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"a*a*a*a*a*a*a*a*a*b", LONG),
        (b"*a" * 100 + b"*b", LONG),
        (b"*a?" * 80 + b"b", LONG),
        (b"*[ab]" * 80 + b"c", LONG),
        (b"*" * 5_000 + b"b", LONG),
        (b"**/a/" * 500 + b"b", DEEP),
        (b"**/" + b"a/" * 700 + b"b/**/c", DEEP),
        (b"**/" + b"?/" * 700 + b"b/**/c", DEEP),
        (b"**/*a*/" * 300 + b"b", DEEP),
        (b"/" + b"**/" * 1_000 + b"b", DEEP),
        (b"[" * 20_000, LONG),
        (b"[[:alpha:]" * 5_000, LONG),
        (b"[" + b"[:" * 100_000 + b"x]", LONG),
    ],
)
def test_no_pattern_backtracks(line: bytes, path: bytes) -> None:
    assert seconds([line], [path]) < 1


@pytest.mark.parametrize(
    "form", [b"name%d", b"*.ext%d", b"dir%d/*.tmp", b"/a/b%d/**", b"*x%dx*", b"**/d%d/**/*.py", b"module_*%d*", b"![a-z]*%d"]
)  # fmt: skip
def test_many_patterns_are_not_tried_one_by_one(form: bytes) -> None:
    paths = [b"src/pkg%d/module_%d.py" % (number % 7, number) for number in range(300)]
    lines = [form % number for number in range(20_000)]
    assert any(seconds(lines, paths) < 1 for _ in range(3)), "6,000,000 tests of a path take more than that"


# --- patterns of the configuration ---------------------------------------------------------------------


@pytest.mark.parametrize("line", ["!", "/", "//", "!/", "[a", "a[[:none:]]", "a\\", "a/[!]", "\\"])
def test_patterns_that_can_match_nothing(line: str) -> None:
    assert complaint(line) is not None


@pytest.mark.parametrize("line", ["", "  ", "# note", "a", "!a", "/a/", "[a]", "\\!", "é", "\ud800", "**", "*"])
def test_patterns_that_may_match(line: str) -> None:
    assert complaint(line) is None


def test_names_that_are_no_text_match() -> None:
    assert Patterns("/r", [b"*.py"]).matches("/r/\udcff.py")
    assert Patterns("/r", [b"[\x80-\xff].py"]).matches("/r/\udcff.py")
    assert Patterns("/r", ["\ud800".encode("utf-8", "surrogatepass")]).matches("/r/\ud800")
