"""Programs that hypothesmith makes from Python's grammar and from LibCST's nodes: layouts that no person would write."""

from __future__ import annotations

import random

from fuzz import running
from fuzz.case import Case, Kind, Outcome
from fuzz.judging import judge_texts

PROGRAMS = 10
"""In one case: a strategy needs a few to get beyond the simplest ones."""
_HEAD = "import jax\nimport jax.numpy as jnp\n"


def programs(seed: int, count: int) -> list[str]:
    """So many different texts, half from the grammar and half from nodes."""
    import hypothesis
    import hypothesmith

    found: dict[str, None] = {}

    def collect(text: str) -> None:
        if len(found) < count:
            found[text] = None

    strategy = hypothesmith.from_grammar() if seed % 2 else hypothesmith.from_node()
    wanted = hypothesis.settings(
        max_examples=3 * count, database=None, deadline=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    hypothesis.seed(seed)(wanted(hypothesis.given(strategy)(collect)))()
    return list(found)


def generate(rng: random.Random, number: int) -> Case:
    texts = programs(rng.randrange(1 << 30) * 2 + number % 2, PROGRAMS)
    files = {f"m{index}.py": (rng.choice((_HEAD, "")) + text) for index, text in enumerate(texts)}
    return Case({name: text.encode("utf-8", "surrogatepass") for name, text in files.items()})


def judge(case: Case) -> Outcome:
    return judge_texts({name: data.decode("utf-8", "surrogatepass") for name, data in case.files.items()})


KIND = Kind("generated", generate, judge, seconds=40)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("generated", seed, -(-count // PROGRAMS))
