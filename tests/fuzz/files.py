"""Files that exist: every Python file below given folders, each linted alone. Nothing is skipped, whatever its size.

A seed plays no part. Files that are no text, or do not parse, count as well.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path

from flake8_jax.pipeline.lowering import decode_text
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.judging import judge_texts

LISTED = "JAXLINT_FUZZ_FILES"
"""The environment variable with the name of the list that ``listed`` wrote."""


def listed(folders: list[str], to: Path) -> int:
    """Write the list of files for the children; how many there are."""
    found = sorted(
        os.path.join(top, name)
        for folder in folders
        for top, _, names in os.walk(folder)
        for name in names
        if name.endswith((".py", ".pyi", ".ipynb"))
    )
    to.write_text(json.dumps(found), encoding="utf-8")
    os.environ[LISTED] = str(to)
    return len(found)


def generate(_: random.Random, number: int) -> Case:
    paths = json.loads(Path(os.environ[LISTED]).read_text(encoding="utf-8"))
    path = Path(paths[number])
    return Case({path.name: path.read_bytes()}, str(path))


def judge(case: Case) -> Outcome:
    outcome: Outcome = Counter()
    for name, data in case.files.items():
        try:
            text, problem = decode_text(data, name)
        except Exception as error:
            raise Broken(f"decoding raises {type(error).__name__}: {error}") from error
        if problem is not None:
            outcome["undecodable"] += 1
        else:
            outcome += judge_texts({name if not name.endswith(".ipynb") else name + ".py": text})
    return outcome


KIND = Kind("files", generate, judge)
