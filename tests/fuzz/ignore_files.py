"""Ignore files: generated patterns over generated trees; what is linted is what git would not ignore.

The tree is in a folder of its own: patterns that leave out all of a folder that was asked for do not count.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from fuzz import running
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.judging import command

_PARTS = ("a", "b", "ab", "aab", "a b", "abc.py", "[x]", "x", "é", "a" * 60, ".hidden", "a*b")
_WORDS = (
    "*", "**", "?", "/", "a", "b", "ab", ".py", "x", "[ab]", "[!a]", "[^a]", "[a-b]", "[]a]", "[[:alpha:]]", "\\*",
    "\\", " ", "\\ ", "\t", "!", "#", "\\!", "\\#", ".", "..", "./", "**/", "/**", "/**/", "é", "[", "]", "{a,b}",
    "a*a*a*a*a*", "\r", "[b-a]", "[\\]]", "(a)", "|", "+", "$", "^",
)  # fmt: skip
_LIST = (
    "git", "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false", "ls-files", "-z", "--others",
    "--exclude-standard",
)  # fmt: skip


def _pattern(rng: random.Random) -> str:
    return "".join(rng.choice(_WORDS) for _ in range(rng.choice((1, 1, 2, 3, 3, 4, 6))))


def _patterns(rng: random.Random) -> bytes:
    lines = [_pattern(rng) for _ in range(rng.choice((1, 2, 3, 8)))]
    data = rng.choice(("\n", "\n", "\n", "\r\n")).join(lines).encode()
    roll = rng.random()
    if roll < 0.05:
        data = b"\xef\xbb\xbf" + data
    elif roll < 0.1:
        data += rng.choice((b"\n\xff", b"\n\x00", b"\n\xff*.py"))
    return data + rng.choice((b"\n", b""))


def generate(rng: random.Random, number: int) -> Case:
    folders = [""]
    for _ in range(rng.choice((2, 4, 6))):
        folders.append(f"{rng.choice(folders)}{rng.choice(_PARTS).removesuffix('.py')}/")
    files: dict[str, bytes] = {}
    for folder in dict.fromkeys(folders):
        for _ in range(rng.choice((1, 2, 3))):
            files[f"{folder}{rng.choice(_PARTS).removesuffix('.py')}.py"] = b""
        if rng.random() < 0.3:
            files[f"{folder}.gitignore"] = _patterns(rng)
    files[".gitignore"] = _patterns(rng)
    case = {f"top/{name}": data for name, data in files.items()}
    if rng.random() < 0.4:
        case[".git/info/exclude"] = b"".join(b"top/" + line for line in _patterns(rng).splitlines(keepends=True))
    return Case(case)


def judge(case: Case) -> Outcome:
    if shutil.which("git") is None:
        return Counter({"not tried: no git": 1})
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True, capture_output=True)
        case.write(folder)
        (folder / "jaxlint.toml").write_text('exclude = [".git"]\n')
        listed = subprocess.run(_LIST, cwd=folder, check=True, capture_output=True).stdout.split(b"\0")
        expected = {os.fsdecode(name) for name in listed if name.endswith(b".py")}
        status, out, err = command(folder, "check", "--show-files", ".", raw=True)
        shown = {os.path.relpath(line, folder) for line in out.splitlines() if line}
        if shown != expected and "not a valid gitignore pattern" not in err:
            ours, gits = sorted(shown - expected), sorted(expected - shown)
            raise Broken("git ignores other files", f"only git lists {gits}\nonly jaxlint lists {ours}\n{err}")
        return Counter({f"status {status}": 1})


KIND = Kind("ignore_files", generate, judge, wall=90)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("ignore_files", seed, count)
