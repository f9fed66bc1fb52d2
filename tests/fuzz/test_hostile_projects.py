"""A hostile project is linted, fixed, silenced, compared, cleaned and served, and nothing of it runs.

No process but jaxlint's own Python and git, no socket to anywhere, no write but to the cache and to what was asked for.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.hostile import Event, Harness, Watched, fill, fill_git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the project has a FIFO"),
]

_FIXING = ("train.py", "helper.py", "pkg/__init__.py", "n.ipynb")


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    made = Harness(tmp_path)
    fill(made)
    return made


def _wrong(event: Event, harness: Harness, written: tuple[str, ...]) -> bool:
    """Whether jaxlint had no business to do that. ``written``: files below the project that may be replaced."""
    project = str(harness.project)
    if event.name in ("os.fork", "ctypes.dlopen"):
        return False
    if event.name == "os.mkdir" and project.startswith(event.path()):
        return False  # it is there
    if event.name == "exec":
        return event.path().startswith(project + os.sep)
    if event.name in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn"):
        program = os.path.basename(str(event.args[0]))
        return not (os.path.isabs(shutil.which(program) or "") and program in ("git", os.path.basename(sys.executable)))
    if event.name == "socket.__new__":
        return int(event.args[1]) != socket.AF_UNIX
    if event.name.startswith(("socket.", "urllib.")):
        return not str(event.args[-1]).startswith(("/", "\x00"))
    if event.name in ("os.system", "pty.spawn", "os.startfile"):
        return True
    return not all(_may_be_written(path, harness, written) for path in _paths(event))


def _paths(event: Event) -> list[str]:
    """The files that an event changes."""
    count = 2 if event.name in ("os.rename", "os.link", "shutil.move") else 1
    paths = [event.args[index] for index in range(count)]
    if event.name == "os.symlink":
        paths = [event.args[1]]
    return [os.path.realpath(os.path.join(event.cwd, path)) for path in paths if isinstance(path, str)]


def _may_be_written(path: str, harness: Harness, written: tuple[str, ...]) -> bool:
    if path == os.devnull or path.startswith((str(harness.folder / "tmp"), "/dev/shm")):
        return True
    relative = os.path.relpath(path, harness.project)
    if relative.split(os.sep)[0].startswith(".jaxlint_cache"):
        return True
    return relative in written or (bool(written) and os.path.basename(path).startswith(".jaxlint-"))


def _check(watched: Watched, harness: Harness, written: tuple[str, ...] = ()) -> None:
    assert not harness.executed()
    assert not [event for event in watched.events if _wrong(event, harness, written)]
    assert "Traceback" not in watched.errors
    assert watched.status in (0, 1), watched.errors


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "."),
        (
            "check",
            "--no-cache",
            "--output-format",
            "sarif",
            "train.py",
            "macro.py",
            "script.py",
            "n.ipynb",
            "--select",
            "ALL",
        ),
        ("check", "--diff", "--unsafe-fixes", "."),
        ("check", "--show-settings"),
        ("inspect", "."),
        ("config",),
        ("rule", "JAX101"),
    ],
    ids=" ".join,
)
def test_looking_runs_nothing_and_writes_the_cache_alone(harness: Harness, arguments: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in harness.project.glob("*.py") if path.is_file()}
    _check(harness.run(*arguments), harness)
    assert {path: path.read_bytes() for path in before} == before


def test_fixing_writes_what_it_fixes(harness: Harness) -> None:
    before = {path: path.read_bytes() for path in harness.project.glob("*.py") if path.is_file()}
    watched = harness.run("check", "--fix", "--unsafe-fixes", ".")
    _check(watched, harness, _FIXING)
    changed = {path.name for path, data in before.items() if path.read_bytes() != data}
    assert changed == {"train.py", "helper.py"}
    _check(harness.run("check", "--add-noqa", "."), harness, ("train.py", "helper.py", "pkg/__init__.py", "n.ipynb"))
    _check(harness.run("clean"), harness)


def test_comparing_with_a_revision_runs_git_alone(harness: Harness) -> None:
    if not fill_git(harness):
        pytest.skip("there is no git")
    watched = harness.run("check", "--since", "HEAD", ".")
    _check(watched, harness)
    assert "train.py" in watched.output


def test_unknown_revisions_fetch_nothing(harness: Harness) -> None:
    if not fill_git(harness):
        pytest.skip("there is no git")
    watched = harness.run("check", "--since", "a" * 40, ".")
    assert watched.status == 2
    assert not harness.executed()
    assert [event for event in watched.events if _wrong(event, harness, ())] == []


def test_a_pool_of_processes_imports_nothing_from_the_project(harness: Harness) -> None:
    for number in range(4):
        text = "import jax\n" + "".join(f"x{i} = {number} + {i} * 2\n" for i in range(6000))
        (harness.project / f"large_{number}.py").write_text(text)
    spawning = harness.tools / "spawning"
    spawning.write_text(
        "import multiprocessing, sys\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.set_start_method('spawn')\n"
        "    from flake8_jax.cli import main\n"
        "    sys.exit(main(sys.argv[1:]))\n"
    )
    names = [f"large_{number}.py" for number in range(4)]
    watched = harness.run("check", "--no-cache", "--jobs", "2", *names, command=[sys.executable, str(spawning)])
    _check(watched, harness)
    assert "parser's process" not in watched.errors


def test_the_module_as_a_command_imports_nothing_from_the_project(harness: Harness) -> None:
    # What Python itself imports before the first line of ours is beyond our reach, as is a project with our own name.
    loaded = "import runpy, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True, cwd=harness.tools)
    for name in done.stdout.split():
        (harness.project / f"{name}.py").unlink(missing_ok=True)
    watched = harness.run("train.py", "--no-cache", command=[sys.executable, "-m", "flake8_jax"])
    _check(watched, harness)
    assert "JAX" in watched.output


def test_the_server_runs_nothing(harness: Harness) -> None:
    pytest.importorskip("pygls")
    from support.language_client import LanguageClient

    path = harness.project / "train.py"
    uri = path.as_uri()
    settings = [f"{name}={value}" for name, value in harness.environment.items()]
    with LanguageClient(harness.project, ["env", *settings, *harness.command, "server"]) as client:
        client.initialize(harness.project)
        client.open(uri, path.read_text())
        client.published(uri, lambda params: bool(params["diagnostics"]))
        client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 9, "character": 4}})
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 12, "character": 0}}
        asked = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}}
        client.request("textDocument/codeAction", asked)
    assert not harness.executed()
    events = list(harness.events())
    assert events
    assert [event for event in events if _wrong(event, harness, ())] == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
@pytest.mark.parametrize("arguments", [("check", "--fix", "."), ("check", "--since", "HEAD", ".")], ids=" ".join)
def test_the_kernel_sees_no_other_program_and_no_network(harness: Harness, arguments: tuple[str, ...]) -> None:
    if not fill_git(harness):
        pytest.skip("there is no git")
    log = harness.folder / "strace.log"
    tracer = ["strace", "-f", "-qq", "-s", "300", "-e", "trace=execve,execveat,socket,connect", "-o", str(log)]
    if subprocess.run([*tracer, "true"], capture_output=True).returncode:
        pytest.skip("strace may not trace here")
    log.unlink()
    watched = harness.run(*arguments, command=[*tracer, *harness.command])
    assert watched.status in (0, 1), watched.errors
    traced = log.read_text(errors="backslashreplace")
    programs = {os.path.basename(name) for name in re.findall(r'execve\("([^"]+)".*= 0$', traced, re.MULTILINE)}
    assert {name for name in programs if not re.match(r"(python[\d.]*|git(-[\w-]+)?)$", name)} == set()
    assert str(harness.project) not in "".join(re.findall(r'execve\("([^"]+)"', traced))
    assert re.findall(r"AF_INET\w*", traced) == []
    assert not harness.executed()
