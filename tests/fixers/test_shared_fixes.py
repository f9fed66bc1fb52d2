"""Fixes that several findings have in common, and those of very long lines."""

from __future__ import annotations

import ast

import pytest

from flake8_jax.core.findings import Finding
from flake8_jax.fixers import proposals
from flake8_jax.fixers.proposals import propose_fixes
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.edits import apply_edits
from flake8_jax.syntax.lower import lower

HEAD = "import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef f(x):\n    return "


def fixed(text: str) -> list[Finding]:
    return fixed_together({"example.py": text})


def fixed_together(texts: dict[str, str]) -> list[Finding]:
    files = [
        SourceFile(path, path.removesuffix(".py").replace("/", "."), path.endswith("__init__.py"), lower(text), text)
        for path, text in texts.items()
    ]
    found = analyze(files, AnalysisRequest(), all_rules())
    return propose_fixes(
        [(one.finding, one.event) for one in found.reports],
        [(file.path, file.text, file.tree) for file in files],
        beside={id(one.event): one.beside for one in found.reports},
    ).findings


def conjunction(size: int) -> str:
    return HEAD + " and ".join(f"x[{i}] > {i}" for i in range(size)) + "\n"


def test_all_operands_have_the_fix_of_the_whole_test() -> None:
    findings = fixed(conjunction(4))
    assert len(findings) == 3
    assert all(finding.fix is not None and finding.fix is findings[0].fix for finding in findings)


def test_a_finding_that_stands_for_others_has_one_fix_for_all_that_no_comment_excepts() -> None:
    text = (
        HEAD
        + "(\n        jnp.log(1 + x)\n        + jnp.log(1 + 2 * x)\n        + jnp.log(1 + 3 * x)  # noqa: JAX703\n    )\n"
    )
    [finding] = fixed(text)
    assert finding.fix is not None
    assert finding.fix.message.startswith("Use `jnp.log1p` in 2 places; ")
    new = apply_edits(text, finding.fix.edits)
    assert "jnp.log1p(x)\n        + jnp.log1p(2 * x)\n        + jnp.log(1 + 3 * x)  # noqa" in new


def test_two_removed_arguments_of_a_call_get_their_new_names_together() -> None:
    text = HEAD + "jnp.clip(x, a_min=0, a_max=1)\n"
    findings = fixed(text)
    assert [finding.code for finding in findings] == ["JAX801", "JAX801"]
    for finding in findings:
        assert finding.fix is not None
        assert finding.fix.message == "Use `min` and `max`"
        assert apply_edits(text, finding.fix.edits).endswith("jnp.clip(x, min=0, max=1)\n")


def test_the_import_of_a_module_goes_with_the_only_name_that_is_used_of_it() -> None:
    text = "from jax.lib import xla_bridge\n\nprint(xla_bridge.get_backend())\n"
    [finding] = fixed(text)
    assert finding.fix is not None
    new = apply_edits(text, finding.fix.edits)
    assert new == "import jax.extend.backend\n\nprint(jax.extend.backend.get_backend())\n"


@pytest.mark.parametrize(("folder", "name"), [("lib/", "jax.tree_util.tree_map"), ("", "jax.tree.map")])
def test_a_name_of_an_older_flax_counts_in_its_whole_package(folder: str, name: str) -> None:
    findings = fixed_together(
        {
            "lib/__init__.py": "",
            f"{folder}steps.py": "import jax\n\nprint(jax.tree_map(abs, [1]))\n",
            "lib/parts/__init__.py": "",
            "lib/parts/train.py": "from flax import optim\n\nprint(optim.Adam)\n",
        }
    )
    [fix] = [finding.fix for finding in findings if finding.path.endswith("steps.py")]
    assert fix is not None
    assert (fix.message, fix.applicability) == (f"Use `{name}`", "safe")


def test_a_fix_of_very_many_operands_is_one_that_python_reads() -> None:
    text = conjunction(700)
    fix = fixed(text)[0].fix
    assert fix is not None
    after = apply_edits(text, fix.edits)
    ast.parse(after)
    assert after.count("jnp.logical_and(") == 699


def test_a_shared_fix_is_repeated_until_it_has_taken_too_much_room(monkeypatch: pytest.MonkeyPatch) -> None:
    text = conjunction(10)
    length = sum(len(edit.content) for edit in fixed(text)[0].fix.edits)  # type: ignore[union-attr]
    monkeypatch.setattr(proposals, "MAX_REPEATED", 3 * length)
    assert [finding.fix is not None for finding in fixed(text)] == [True] * 3 + [False] * 6
    monkeypatch.setattr(proposals, "MAX_REPEATED", 0)
    assert [finding.fix is not None for finding in fixed(text)] == [True] + [False] * 8


LATE = 'import jax\nimport os\n\nos.environ["JAX_ENABLE_X64"] = "1"\n'


@pytest.mark.parametrize(
    ("path", "start", "is_offered"),
    [
        ("lib/train.py", "", True),
        ("lib/potentials.py", "", False),
        ("lib/train.py", 'import os\n\nos.environ["JAX_ENABLE_X64"] = "1"\n', False),
    ],
)
def test_a_setting_moves_only_where_it_counts_for_a_program(path: str, start: str, *, is_offered: bool) -> None:
    findings = fixed_together({"lib/__init__.py": start, path: LATE})
    [finding] = [finding for finding in findings if finding.path == path]
    assert (finding.code, finding.fix is not None) == ("JAX903", is_offered)


def test_the_setting_of_a_package_that_the_file_imports_comes_first() -> None:
    start = 'import os\n\nos.environ["JAX_ENABLE_X64"] = "1"\nimport jax\n'
    text = LATE.replace("import jax\n", "from lib import potentials\nimport jax\n")
    findings = fixed_together(
        {"lib/__init__.py": start, "lib/potentials.py": "import jax\n", "tests/test_lib.py": text}
    )
    text += 'os.environ["JAX_PLATFORM_NAME"] = "cpu"\n'
    findings = fixed_together(
        {"lib/__init__.py": start, "lib/potentials.py": "import jax\n", "tests/test_lib.py": text}
    )
    assert [(finding.path, finding.fix) for finding in findings] == [("tests/test_lib.py", None)] * 2


@pytest.mark.parametrize(("folder", "is_offered"), [("lib", True), ("deprecated", False)])
def test_code_in_a_retired_folder_gets_safe_fixes_alone(folder: str, *, is_offered: bool) -> None:
    text = HEAD + "jnp.log(1 + x)\n\n\ntree = jax.tree_map(abs, [1])\n"
    findings = fixed_together({f"{folder}/steps.py": text, "train.py": "import jax\n"})
    assert {finding.code: finding.fix is not None for finding in findings} == {"JAX703": is_offered, "JAX801": True}


@pytest.mark.parametrize(
    ("other", "is_offered"),
    [
        ("x = jax.device_put(1.0, jax.devices()[0])\n", True),
        ("x = jax.device_put(1.0, cpu)\n", False),
        ('f = partial(jax.jit, static_argnums=0, backend="cpu")(g)\n', False),
        ("with jax.default_device(cpu):\n    g()\n", False),
    ],
)
def test_pmap_stays_where_the_project_puts_arrays_on_the_cpu(other: str, *, is_offered: bool) -> None:
    text = "import jax\n\n\ndef main(x):\n    return jax.pmap(lambda y: y.mean())(x)\n"
    findings = fixed_together({"step.py": text, "data.py": "import jax\n" + other})
    [finding] = [finding for finding in findings if finding.code == "JAX601"]
    assert (finding.fix is not None) == is_offered
