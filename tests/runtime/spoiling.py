"""``jaxlint prove`` on a program whose fixes are spoiled between fix and run."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from runtime.spoiled.kinds import Spoil, Spoiled

from flake8_jax.cli import prove
from flake8_jax.core.report import Change


class NotJudged(AssertionError):
    """``prove`` failed, judged no fix, or the mistake has no place in the repaired text."""


class Judged(NamedTuple):
    """accepted: every fix is proved. verdicts and reasons: of the fixes, in order."""

    accepted: bool
    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]


def judge(program: Spoiled, spoil: Spoil | None, folder: Path) -> Judged:
    """What ``prove`` says of the program's fixes, one of them spoiled. Raises NotJudged."""
    (folder / ".git").mkdir()
    (folder / "main.py").write_text(program.text, encoding="utf-8")
    printed, said = io.StringIO(), io.StringIO()
    options = ["--preview"] * program.is_preview + [
        "--no-cache",
        "--select",
        "ALL",
        "--quiet",
        "--output-format",
        "json",
        "main.py",
    ]
    with _inside(folder), _spoiled(spoil), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        status = prove.run([*options, "--", "python", "main.py"])
    if status not in (0, 1):
        raise NotJudged(said.getvalue())
    found = [finding.get("fix_verdict") for finding in json.loads(printed.getvalue())]
    verdicts = [verdict for verdict in found if verdict is not None]
    if not verdicts:
        raise NotJudged("no fix was judged")
    return Judged(status == 0, tuple(v["verdict"] for v in verdicts), tuple(v["reason"] for v in verdicts))


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


@contextlib.contextmanager
def _spoiled(spoil: Spoil | None) -> Iterator[None]:
    encoded = prove._encoded
    found = []

    def spoiled(change: Change) -> bytes:
        data = encoded(change)
        if spoil is None:
            return data
        old = spoil.old.encode()
        found.append(data.count(old))
        return data.replace(old, spoil.new.encode())

    with mock.patch.object(prove, "_encoded", spoiled):
        yield
    if spoil is not None and 1 not in found:
        raise NotJudged(f"{spoil.old!r} does not occur once in the repaired text")
