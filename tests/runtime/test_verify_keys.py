"""``verify`` says which keys a program used again, wherever in it that happens."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.verify import Asked, Workload, verify

KEYS = """
import jax
from lib import rows


def noise(key, extra):
    a = 0.0
    if extra:
        a = jax.random.normal(key)
    return a + jax.random.uniform(key)


def main(extra):
    data = rows()
    for seed in range(2):
        data = data + noise(jax.random.PRNGKey(seed), extra)


main(EXTRA)
"""


@pytest.mark.jax
def test_equal_seeds_in_two_places_are_no_reused_key(tmp_path: Path) -> None:
    lib = "import jax\n\n\ndef rows():\n    return jax.random.normal(jax.random.PRNGKey(0), (3,))\n"
    (tmp_path / "lib.py").write_text(lib)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [Asked("key-reuse", Spot(str(tmp_path / "main.py"), 10, 10))]
    (tmp_path / "main.py").write_text(KEYS.replace("EXTRA", "False"))
    (verdict,) = verify(asked, workload).verdicts
    assert (verdict.verdict, verdict.reason) == ("refuted", "every key consumed here was new")
    (tmp_path / "main.py").write_text(KEYS.replace("EXTRA", "True"))
    (verdict,) = verify(asked, workload).verdicts
    assert verdict.verdict == "confirmed" and "normal on line 9, then uniform here" in verdict.reason, verdict


HIDDEN = """
import jax
import lib

jitted = [jax.jit(getattr(lib, name)) for name in ("noise", "fine")]
for number in range(COUNT):
    for function in jitted:
        function(
            jax.random.key(number),
        )
"""


@pytest.mark.jax
@pytest.mark.parametrize(("count", "runs"), [(1, 2), (2, 1)])
def test_jit_is_off_only_where_keys_of_findings_are_used(count: int, runs: int, tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(
        "import jax\n\n\ndef noise(key):\n    return jax.random.normal(key) + jax.random.uniform(key)\n\n\n"
        "def fine(key):\n    a = jax.random.normal(key)\n    return a\n"
    )
    (tmp_path / "main.py").write_text(HIDDEN.replace("COUNT", str(count)))
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu",
                        limits=Limits(enough=200))  # fmt: skip
    reported: list[str] = []
    asked = [Asked("key-reuse", Spot(str(tmp_path / "lib.py"), row, row)) for row in (5, 9)]
    verdicts = verify(asked, workload, reported.append).verdicts
    assert [verdict.verdict for verdict in verdicts] == ["confirmed", "refuted"], verdicts
    assert len(reported) == runs, reported


KILLED = """
import os, signal
import jax
import lib

lib.noise(jax.random.key(0))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.jax
def test_what_happened_just_before_a_program_is_killed_counts(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(
        "import jax\n\n\ndef noise(key):\n    return jax.random.normal(key) + jax.random.uniform(key)\n"
    )
    (tmp_path / "main.py").write_text(KILLED)
    lib, limits = str(tmp_path / "lib.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    found = verify([Asked("key-reuse", Spot(lib, 5, 5)), Asked("key-reuse", Spot(lib, 9, 9))], workload)
    used, unseen = found.verdicts
    assert used.verdict == "confirmed", used
    assert unseen.verdict == "inconclusive" and "not seen to run; it was killed by SIGKILL" in unseen.reason, unseen


DEEP = """
import jax
def draw(key, depth):
    return jax.random.normal(key) if depth == 0 else draw(key, depth - 1)
key = jax.random.key(0)
first = draw(key, 20)
again = draw(key, 20)
"""


@pytest.mark.jax
def test_a_key_that_is_used_far_below_the_line(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(DEEP.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    (found,) = verify([Asked("key-reuse", Spot(main, 6, 6))], workload).verdicts
    assert found.reason == "the same key was consumed twice (normal on line 3, then normal here)", found


BEHIND = """
import jax

key = jax.random.key(0)
for step in range(2100):
    jax.random.bits(jax.random.fold_in(key, step))

other = jax.random.key(1)
first = jax.random.bits(other)
second = jax.random.bits(other)
print(first, second)
"""


@pytest.mark.jax
def test_a_line_behind_a_long_loop_is_watched(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BEHIND.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200, enough=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    (found,) = verify([Asked("key-reuse", Spot(main, 9, 9))], workload).verdicts
    assert found.reason == "the same key was consumed twice (bits on line 8, then bits here)", found


DEFAULTS = """
import jax
class Layer:
    def __init__(self, n, *, key=jax.random.key(0)):
        self.w = jax.random.normal(key, (n,))
def noise(x, key=jax.random.key(0)):
    return x + jax.random.normal(key)
def unused(x, key=jax.random.key(0)):
    return jax.random.normal(key)
Layer(3, key=jax.random.key(1))
jax.jit(noise)(1.0)
noise(1.0, key=jax.random.key(2))
"""


@pytest.mark.jax
def test_calls_that_use_a_default_are_counted(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(DEFAULTS.strip("\n"))
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [
        Asked("constant-key", Spot(str(tmp_path / "main.py"), row, row), column=column)
        for row, column in ((3, 34), (5, 18), (7, 19))
    ]
    found = [f"{verdict.verdict}: {verdict.reason}" for verdict in verify(asked, workload).verdicts]
    assert found[0] == "refuted: the function was called once, each time with `key`"
    assert found[1] == "confirmed: the function was called once without `key`"
    assert found[2].startswith("inconclusive: the function was not called")
