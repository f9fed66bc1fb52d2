"""File names, source text and settings made to act on a terminal or on a CI service, through the whole command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax.cli import main
from flake8_jax.reporters import formats

ROOT = Path(__file__).parents[2]
ESCAPE = "\x1b]0;x\x07\x9b31m\x7f\u202e\u2066"
TEXT = f'''import jax

A = """
::error::pwned
 ::stop-commands::x
##vso[task.complete result=Failed;]##[error] {ESCAPE}
"""


@jax.jit
def f(x):
    """{ESCAPE}
::error::pwned
    """
    return float(x)  # ##vso[task.setvariable variable=a;] {ESCAPE}
'''
NAMES = (" ::error::x.py", "##vso[task.complete result=Failed;]x.py", "a\n::error::x.py", f"b{ESCAPE}.py", "c\udcff.py")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no such file names")


def assert_harmless(text: str, own: str = "") -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", text)
    for line in text.splitlines():
        if own and line.startswith(own):
            line = line[len(own) :]
        else:
            assert not line.strip().startswith("::")
            assert not re.search(r"##\w*\[", line), line


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jaxlint.toml").write_text("")
    for name in NAMES:
        Path(os.fsencode(name).decode("utf-8", "surrogateescape")).write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("form", formats())
def test_every_format(project: Path, form: str, capfd: pytest.CaptureFixture[str]) -> None:
    own = {"github": "::", "azure": "##vso[task.logissue"}.get(form, "")
    missing = "\x1b[2Jmissing\n::error::y.py"
    status = main(["check", "-n", "-v", "--output-format", form, ".", missing])
    out, err = capfd.readouterr()
    assert status == 2
    assert_harmless(out, own)
    assert_harmless(err)
    assert "All checks passed!" not in out
    assert "\\x1b[2Jmissing\\n::error::y.py" in err
    status = main(["check", "-n", "--output-format", form, "-o", "report", "."])
    assert_harmless(Path("report").read_text(encoding="utf-8"), own)


@pytest.mark.parametrize(
    "words",
    [
        ["--show-files"],
        ["--statistics"],
        ["--show-settings"],
        ["--fix", "--unsafe-fixes", "--show-fixes"],
        ["--add-noqa", "-v"],
    ],
)
def test_other_output(project: Path, words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    main(["check", "-n", *words, "."])
    out, err = capfd.readouterr()
    assert_harmless(out)
    assert_harmless(err)


def test_inspect(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for form in ("text", "json"):
        assert main(["inspect", "-n", "--output-format", form, "."]) == 0
        assert_harmless(capfd.readouterr().out)


def test_a_patch_is_exact_in_a_file_and_harmless_in_a_log(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q"], check=True)
    assert main(["check", "-n", "--diff", "--unsafe-fixes", "."]) == 1
    patch = capfd.readouterr().out
    before = {path: path.read_bytes() for path in project.glob("*.py")}
    assert main(["check", "-n", "-s", "--fix", "--unsafe-fixes", "."]) in (0, 1)
    fixed = {path: path.read_bytes() for path in before}
    assert fixed != before
    for path, data in before.items():
        path.write_bytes(data)
    subprocess.run(["git", "apply", "-"], input=os.fsencode(patch), check=True)
    assert {path: path.read_bytes() for path in before} == fixed
    for path, data in before.items():
        path.write_bytes(data)
    monkeypatch.setenv("CI", "true")
    assert main(["check", "-n", "--diff", "--unsafe-fixes", "."]) == 1
    out, err = capfd.readouterr()
    assert_harmless(out)
    assert_harmless(err)
    assert "this patch contains escape sequences; redirect it to a file to apply it" in err


@pytest.mark.parametrize(
    "settings",
    [
        '"a\\u001b]0;x\\u0007\\u009b\\n::error::y" = 1\n',
        'select = ["\\u001b[2J\\n::error::y"]\n',
        'output-format = "\\u001b[2J\\n::error::y"\n',
        'target-jax = "\\u001b[2J\\n::error::y"\n',
        'exclude = ["\\u001b[2J\\n::error::y"]\nper-file-ignores = 3\n',
        "\x1b = 3",
    ],
)
def test_configuration_errors(project: Path, settings: str, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "jaxlint.toml").write_text(settings)
    assert main(["check", "-n", "."]) == 2
    out, err = capfd.readouterr()
    assert_harmless(out)
    assert_harmless(err)
    assert err.count("\n") == 1


def test_settings_and_the_cache(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Names from the configuration, on standard output too."""
    name = '"\\u001b]0;x##vso[task.complete result=Failed;]\\u009b\\n::error::x"'
    (project / "jaxlint.toml").write_text(
        f"cache-dir = {name}\nexclude = [{name}]\ntransforms = {{ {name} = 'jax.jit' }}\n"
    )
    for words in (["check", "--show-settings"], ["check"], ["clean"], ["clean"]):
        assert main(words) in (0, 1)
        out, err = capfd.readouterr()
        assert "vso[task.complete" in out + err or words == ["check"]
        assert_harmless(out)
        assert_harmless(err)


def test_arguments_and_defects(project: Path) -> None:
    """The log of the whole process is harmless whatever writes to it: argparse, and a failure of ours."""
    code = (
        "import sys; from flake8_jax.cli import process;"
        "process.run_to_the_end(lambda: (_ for _ in ()).throw(ValueError('\\x1b[2J\\n::error::x')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in (["-c", code], ["-m", "flake8_jax", "--\x1b[2J\n::error::x"]):
        done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert_harmless(done.stderr)
        assert "\\x1b[2J" in done.stderr


def test_unreadable_files_are_no_clean_run(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in project.glob("*.py"):
        path.unlink()
    (project / "a.py").write_text("import jax\n")
    assert main(["check", "-n", "a.py", "b.py"]) == 2
    assert capfd.readouterr().out == "Found no problems, but some files or rules were not checked.\n"
    (project / "empty").mkdir()
    assert main(["check", "-n", "empty"]) == 0
    assert capfd.readouterr().out == "Found no files to check.\n"
