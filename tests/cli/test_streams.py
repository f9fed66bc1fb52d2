"""Standard streams that are closed, full, or whose reader is gone: a message or nothing, never a traceback."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax.cli import main
from flake8_jax.core.writing import write_whole

ROOT = Path(__file__).parents[2]
WRONG = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
posix = pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(WRONG)
    (tmp_path / "jaxlint.toml").write_text("")
    return tmp_path


def shell(project: Path, words: str, *, module: str = "-m flake8_jax") -> tuple[int, str, str]:
    """Status, output and errors of a command line. ``JAXLINT`` in it is the command."""
    command = words.replace("JAXLINT", f"{sys.executable} {module}")
    done = subprocess.run(
        ["bash", "-c", command], cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("check a.py -n", 1),
        ("rule JAX101", 0),
        ("--version", 0),
        ("check --nonsense", 2),
    ],
)
def test_closed_output(project: Path, words: str, status: int) -> None:
    """The null device takes the place of a closed stream, and no other file its number."""
    assert shell(project, f"JAXLINT {words} >&-")[:2] == (status, "")
    assert shell(project, f"JAXLINT {words} 2>&-")[::2] == (status, "")
    assert shell(project, f"JAXLINT {words} <&- >&- 2>&-") == (status, "", "")


@posix
def test_closed_input(project: Path) -> None:
    assert shell(project, "JAXLINT check a.py -n <&-")[0] == 1
    for words in ("check -", "check - --fix", "format -"):
        status, out, err = shell(project, f"JAXLINT {words} <&-")
        assert (status, out) == (2, "")
        assert "standard input is closed" in err
    status, out, err = shell(project, "JAXLINT server <&-")
    assert (status, out) == (2, "")
    assert "reads standard input, which is closed" in err


@posix
def test_input_without_an_end(project: Path) -> None:
    status, out, err = shell(project, "JAXLINT check - < /dev/zero")
    assert (status, out) == (2, "")
    assert "standard input holds more than 100,000,000 bytes" in err


@posix
@full
@pytest.mark.parametrize(
    "words", ["check a.py -n", "rules", "rule --all", "--help", "check --help", "config", "inspect a.py -n"]
)
def test_a_full_disk(project: Path, words: str) -> None:
    status, _, err = shell(project, f"JAXLINT {words} > /dev/full")
    assert (status, err) == (2, "jaxlint: standard output cannot be written: No space left on device\n")


@posix
@full
def test_a_full_log(project: Path) -> None:
    assert shell(project, "JAXLINT check a.py -n -q 2> /dev/full")[0] == 1
    assert shell(project, "JAXLINT check nosuch.py 2> /dev/full")[0] == 2


@posix
@pytest.mark.parametrize("words", ["check a.py -n", "rule --all"])
def test_a_reader_that_left(project: Path, words: str) -> None:
    status, _, err = shell(project, f"JAXLINT {words} | true; exit ${{PIPESTATUS[0]}}")
    assert (status in (0, 1), err) == (True, "")


@posix
def test_a_pipe_that_does_not_wait(project: Path) -> None:
    """Other programs make terminals and pipes non-blocking."""
    slow = "import os, sys, time; os.set_blocking(0, True); time.sleep(1); print(len(sys.stdin.read()))"
    code = "import os; os.set_blocking(1, False); from flake8_jax.cli import script; script()"
    _, out, err = shell(project, f'JAXLINT "{code}" rule --all | {sys.executable} -c "{slow}"', module="-c")
    assert (int(out) > 70_000, err) == (True, "")


def test_an_output_file_is_whole_or_as_it_was(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = project / "report.txt"
    assert main(["check", "-n", "-o", str(target), str(project / "a.py")]) == 1
    assert "JAX101" in target.read_text()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    target.chmod(0o640)
    (project / "link").symlink_to(target)
    write_whole(str(project / "link"), b"new")
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o640)
    assert (project / "link").is_symlink()
    assert sorted(path.name for path in project.glob(".jaxlint-*")) == []
    for path in ("no/such/folder/x", str(project)):
        assert main(["check", "-n", "-o", path, str(project / "a.py")]) == 2
        assert f"--output-file {path}: cannot be written: " in capsys.readouterr().err


@posix
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_an_output_file_that_is_a_pipe(project: Path) -> None:
    """By a link as ``/dev/stdout`` is one: the machine's own may be another thing."""
    (project / "stdout").symlink_to("/proc/self/fd/1")
    _, out, err = shell(project, "JAXLINT -n -o stdout a.py | cat")
    assert ("JAX101" in out, err, (project / "stdout").is_symlink()) == (True, "", True)


@pytest.mark.parametrize("name", ["a.py", "other.PY", "link", "notes"])
def test_an_output_file_takes_the_place_of_no_source(
    project: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """``-o *.py`` in a shell, or a forgotten name."""
    (project / "other.PY").write_text("x = 1\n")
    (project / "notes").write_text("import jax\n")
    (project / "link").symlink_to("a.py")
    before = (project / name).read_bytes()
    for words in (["check", "-n"], ["verify"]):
        end = ["--", "true"] if words == ["verify"] else []
        assert main([*words, "-o", str(project / name), str(project / "notes"), str(project / "a.py"), *end]) == 2
        assert "a source file is there, and it would be overwritten" in capsys.readouterr().err
    assert (project / name).read_bytes() == before


@posix
@pytest.mark.parametrize(
    "words", ["check .", "clean", "inspect .", "check -w", "check --show-settings", "env", "verify -- true"]
)
def test_a_current_directory_that_is_gone(project: Path, words: str) -> None:
    gone = f'mkdir gone && cd gone && rmdir "$PWD" && JAXLINT {words}'
    status, out, err = shell(
        project, gone, module="-P -m flake8_jax" if sys.version_info >= (3, 11) else "-m flake8_jax"
    )
    assert (status, out) == (2, "")
    assert err.startswith("jaxlint: the current directory cannot be used: ")


@posix
def test_too_little_memory_is_no_defect(project: Path) -> None:
    code = "from flake8_jax.cli import process; process.run_to_the_end(lambda: bytearray(1 << 60))"
    assert shell(project, f'JAXLINT "{code}"', module="-c") == (2, "", "jaxlint: there is not enough memory\n")
    if sys.platform == "linux":
        status, _, err = shell(project, "ulimit -v 500000; JAXLINT -n a.py")
        assert (status, err) == (2, "jaxlint: there is not enough memory: the system refuses a stack of 512 MiB\n")


@full
def test_an_output_file_that_is_a_device(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-n", "-o", "/dev/null", str(project / "a.py")]) == 1
    assert main(["check", "-n", "-o", "/dev/full", str(project / "a.py")]) == 2
    assert "--output-file /dev/full: cannot be written: No space left on device" in capsys.readouterr().err
    assert not Path("/dev/full").is_file()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_read_only_places(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = project / "report.txt"
    target.write_text("old")
    target.chmod(0o444)
    assert main(["check", "-n", "-o", str(target), str(project / "a.py")]) == 2
    assert target.read_text() == "old"
    target.chmod(0o644)
    project.chmod(0o555)
    try:
        assert main(["check", "-n", "-o", str(target), str(project / "a.py")]) == 1
        assert main(["check", "-n", "-o", str(project / "new"), str(project / "a.py")]) == 2
    finally:
        project.chmod(0o755)
    assert "JAX101" in target.read_text()
