"""``verify`` confirms what the rules' own pages demonstrate."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.jax_programs import Program
from support.pages import Example, parse_page

from flake8_jax.cli.verify import words_of
from flake8_jax.rules import all_rules
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.oracles import all_oracles
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.verify import Asked, Workload, verify

DRIVER = """
import importlib, pathlib, sys

for folder in sorted(pathlib.Path(__file__).parent.glob("*/")):
    if not (folder / "ENTRY").exists():
        continue
    sys.path.insert(0, str(folder))
    entry = (folder / "ENTRY").read_text()
    try:
        importlib.import_module(entry).demonstrate()
    except Exception as error:
        print(folder.name, type(error).__name__, error)
    sys.path.remove(str(folder))
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
"""


def examples(mode: str) -> list[tuple[str, Example]]:
    """The examples that show a defect on JAX, of the rules that are proved in this way."""
    return [
        (rule.name, example)
        for rule in all_rules()
        if rule.name in all_oracles() and all_oracles()[rule.name].mode == mode
        for example in parse_page(rule.doc).examples
        if example.kind == "bad" and example.oracle_file is not None and not _missing(example)
    ]


def _missing(example: Example) -> list[str]:
    """Libraries that the example imports and that are not installed."""
    return Program("", Path(__file__), "", texts=tuple(file.text for file in example.files)).missing()


SHOWN_OTHERWISE = {
    "removed-api": "the names are gone only in the newest JAX, and the first that fails ends the import",
    "deprecated-api": "whether JAX warns depends on its version",
    "leftover-debug": "the page shows what one of its three lines leads to",
    "sync-in-loop": "on a CPU, the arrays of its small examples are ready before they are read",
}
"""Rules whose page demonstrates the defect in another way than by running every labelled line."""
JUDGED_BY_NAMES = {"unhashable-static"}
"""Rules that a run confirms by the names in the statement, too."""


def _asked(rule: str, path: Path, row: int) -> Asked:
    spot = Spot(str(path), row, row)
    words = words_of(path.read_text(encoding="utf-8"), spot) if rule in JUDGED_BY_NAMES else frozenset()
    return Asked(rule, spot, words=words)


@pytest.mark.jax
@pytest.mark.parametrize("mode", sorted({oracle.mode for oracle in all_oracles().values()}))
def test_examples_of_the_manual_are_confirmed(mode: str, tmp_path: Path) -> None:
    asked: list[Asked] = []
    for number, (rule, example) in enumerate(examples(mode)):
        if rule in SHOWN_OTHERWISE:
            continue
        folder = tmp_path / f"{number:02}-{rule}"
        for file in example.files:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")
        assert example.oracle_file is not None
        (folder / "ENTRY").write_text(example.oracle_file.removesuffix(".py").replace("/", "."))
        labels = [label for label in example.labels if label.rule == rule]
        labels = sorted(labels, key=lambda label: (label.file, label.row))
        labels = labels[:1] if mode == "nans" else labels  # JAX stops at the first NaN
        asked += [_asked(rule, folder / label.file, label.row) for label in labels]
    (tmp_path / "driver.py").write_text(DRIVER)
    workload = Workload(("python", str(tmp_path / "driver.py")), (str(tmp_path),), str(tmp_path), target="cpu",
                        limits=Limits(240, enough=240 if mode == "keys" else None))  # fmt: skip
    found = verify(asked, workload)
    wrong = [
        f"{Path(one.spot.path).parent.name}:{one.spot.first} {verdict.verdict}: {verdict.reason}"
        for one, verdict in zip(asked, found.verdicts, strict=True)
        if verdict.verdict not in ("confirmed", *(["confirmed-elsewhere"] if mode == "nans" else []))
    ]
    assert asked
    assert not wrong, "\n".join([*wrong, *found.notes])
