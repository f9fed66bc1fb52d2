"""``jaxlint template``: every template runs and is clean, and no file is overwritten."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax import templates
from flake8_jax.cli import main

FOLDER = Path(templates.__file__).parent
# One process for all of them: importing JAX takes longer than most templates.
RUN_ALL = """
import json, runpy, sys, traceback
failures = {}
paths = sys.argv[1:]
for path in paths:
    sys.argv[:] = [path]
    try:
        runpy.run_path(path, run_name="__main__")
    except BaseException:
        failures[path] = traceback.format_exc()
print(json.dumps(failures))
"""


@pytest.mark.jax
@pytest.mark.slow
def test_every_template_runs_and_checks_its_result(tmp_path: Path) -> None:
    files = [str(FOLDER / f"{name.replace('-', '_')}.py") for name in templates.names()]
    if importlib.util.find_spec("flatbuffers") is None:
        files.remove(str(FOLDER / "export.py"))
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "TMPDIR": str(tmp_path),
    }
    ran = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *files],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=True,
    )
    assert json.loads(ran.stdout.splitlines()[-1]) == {}


def test_no_rule_has_a_finding_in_a_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are linted where users put them: in jaxlint's own project, all of jaxlint would be analyzed with them."""
    for name in templates.names():
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(templates.read(name), encoding="utf-8")
    status = main(["check", "--isolated", "--no-cache", "--select", "ALL", "--preview", str(tmp_path)])
    assert status == 0, capsys.readouterr().out


def test_the_list_and_a_template(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(templates.names()) >= 13
    assert any(line.startswith("train-step ") and "Compiled training step: parameters" in line for line in listed)
    assert main(["template", "train_step.py"]) == 0
    assert capsys.readouterr().out == (FOLDER / "train_step.py").read_text(encoding="utf-8")


def test_names_and_files_that_are_not_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", "train-stp"]) == 2
    assert "did you mean `train-step`?" in capsys.readouterr().err
    target = tmp_path / "mine.py"
    assert main(["template", "scan-loop", "--output", str(target)]) == 0
    target.write_text("mine", encoding="utf-8")
    assert main(["template", "scan-loop", "--output", str(target)]) == 2
    assert "does not overwrite it" in capsys.readouterr().err and target.read_text(encoding="utf-8") == "mine"
    assert main(["template", "scan-loop", "--output", str(tmp_path / "nowhere" / "mine.py")]) == 2
