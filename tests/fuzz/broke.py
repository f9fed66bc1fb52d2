"""The corpus: small programs that once broke jaxlint. The first comment of each says what it broke.

A text that is no UTF-8 is in ``corpus`` as its bytes, a program of several files as a folder.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from pathlib import Path

from flake8_jax.pipeline.lowering import decode_text
from fuzz import running
from fuzz.case import Case, Kind, Outcome
from fuzz.judging import judge_texts

CORPUS = Path(__file__).parent / "corpus"


@functools.cache
def programs() -> tuple[Path, ...]:
    return tuple(sorted(path for path in CORPUS.iterdir() if path.name != "__pycache__"))


def generate(rng: random.Random, number: int) -> Case:
    program = programs()[number]
    if program.is_dir():
        return Case({str(path.relative_to(program)): path.read_bytes() for path in sorted(program.rglob("*.py"))})
    return Case({program.name: program.read_bytes()}, program.name)


def judge(case: Case) -> Outcome:
    decoded = {name: decode_text(data, name) for name, data in case.files.items()}
    texts = {name: text for name, (text, problem) in decoded.items() if problem is None}
    outcome: Outcome = Counter({"undecodable": len(decoded) - len(texts)})
    return +(outcome + judge_texts(texts))


KIND = Kind("broke", generate, judge)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("broke", seed, min(count, len(programs())))
