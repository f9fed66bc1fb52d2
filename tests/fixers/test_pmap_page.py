"""The programs of ``docs/pmap.md``: the second of a pair is what the fixer makes of the first. They run on eight devices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.jax_programs import Program, Runner

from flake8_jax.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "pmap.md"
BEFORE, AFTER, LATE_BEFORE, LATE_AFTER, BY_HAND = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
SCRIPT = Path(__file__).with_name("pmaps_on_jax.py")
BOTH = {"before.py": BEFORE, "after.py": AFTER}
FORMS = Program(
    "pmap/forms",
    Path(__file__).parents[2] / "benchmarks" / "pmap_forms.py",
    "pmap",
    arguments={"names": ["matrix product", "convolution", "fft", "while_loop until a traced number"]},
    texts=(BEFORE,),
)
PROGRAMS = [
    Program("pmap/page", SCRIPT, "pmap", files=BOTH, arguments={"rounding": True}),
    Program("pmap/page, by hand", SCRIPT, "pmap", files={"by_hand.py": BY_HAND}, arguments={"learns": True}),
]


IMPORTS = "import functools\n\nimport jax\n\n\n"
CALL = "\n\ndef run(model, params, images):\n    return predict(model, params, images)\n"


@pytest.mark.parametrize(
    ("before", "after"), [(BEFORE, AFTER), (IMPORTS + LATE_BEFORE + CALL, IMPORTS + LATE_AFTER + CALL)]
)
def test_second_is_the_first_rewritten(before: str, after: str, tmp_path: Path) -> None:
    file = tmp_path / "step.py"
    file.write_text(before, encoding="utf-8")
    main(["check", "--isolated", "--no-cache", "--select", "JAX601", "--fix", "--unsafe-fixes", "--quiet", str(file)])
    assert file.read_text(encoding="utf-8") == after


@pytest.mark.parametrize("program", [FORMS], ids=["forms"])
def test_only_shardings_make_devices_communicate(program: Program, on_jax: Runner) -> None:
    found = on_jax(program)
    assert {name: bool(ways) for name, ((_, ways), _) in found.items()} == {
        "matrix product": False,
        "convolution": True,
        "fft": True,
        "while_loop until a traced number": True,
    }
    assert all(mapped == [True, []] for _, mapped in found.values())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_on_eight_devices(program: Program, on_jax: Runner) -> None:
    assert on_jax(program) == ""
