"""Projects that try to be run, and what watches jaxlint while it lints, fixes, cleans and serves them.

Vocabulary
----------
payload  what stands in every file that something might run: it writes its name into the *marker*, a file outside.
watched  the audit events of Python (PEP 578) in jaxlint's process and in every Python that it starts, one a line.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.seeds import ROOT

_PAYLOAD = """\
import os
with open(os.environ["JAXLINT_MARKER"], "a") as marker:
    marker.write(__name__ + " " + __file__ + chr(10))
"""
_SHELL = '#!/bin/sh\necho "$0 $*" >> "$JAXLINT_MARKER"\ncat\n'
_PROGRAM = """\
import jax
import jax.numpy as jnp
import numpy as np
from helper import scale


@jax.jit
def step(x):
    print(x)
    return np.sin(scale(x))
"""
_PYPROJECT = """\
[tool.jaxlint]
src = ["..", "/", "."]

[build-system]
build-backend = "setup"
requires = ["jax @ https://example.org/x"]

[project]
name = "x"
dynamic = ["version", "dependencies"]

[tool.pytest.ini_options]
addopts = "-p conftest"
"""
_HOOKS = (
    "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-commit", "post-checkout", "pre-auto-gc",
)  # fmt: skip
_HELPER = "def scale(x):\n    return x if x > 0 else -x\n"

_SITECUSTOMIZE = """
import os, sys

def _install(log):
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    watched = {
        "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn", "os.fork",
        "socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request",
        "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
        "shutil.rmtree", "shutil.move", "shutil.copyfile", "open", "exec", "ctypes.dlopen",
    }

    def plain(value):
        if isinstance(value, bytes):
            return os.fsdecode(value)
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        return value if isinstance(value, (str, int, type(None))) else str(getattr(value, "co_filename", type(value)))

    def hook(event, args):
        if event not in watched:
            return
        if event == "open" and (not isinstance(args[0], (str, bytes)) or not (args[2] or 0) & writing):
            return
        if event == "exec" and not os.path.isabs(getattr(args[0], "co_filename", "")):
            return
        if event in ("os.remove", "os.rmdir") and args[1] != -1:
            try:  # a name in a directory that is known by a descriptor
                args = (os.path.join(os.readlink(f"/proc/self/fd/{args[1]}"), args[0]), -1)
            except OSError:
                pass
        os.write(handle, (json.dumps([event, plain(args), os.getcwd()]) + "\\n").encode("utf-8", "replace"))

    import json
    sys.addaudithook(hook)

if "JAXLINT_AUDIT" in os.environ:
    _install(os.environ["JAXLINT_AUDIT"])
"""
_ENTRY = "from flake8_jax.cli import script\n\nif __name__ == '__main__':\n    script()\n"


@dataclass(frozen=True)
class Event:
    """One audit event: its arguments as far as they are plain data, and the directory that the process was in."""

    name: str
    args: list[Any]
    cwd: str

    def path(self, index: int = 0) -> str:
        return os.path.realpath(os.path.join(self.cwd, str(self.args[index])))


@dataclass(frozen=True)
class Watched:
    """What ran, and what it did."""

    status: int
    output: str
    errors: str
    events: list[Event]


_DEPENDENCIES = (
    "libcst", "msgspec", "packaging", "pathspec", "rich", "tomli", "flake8", "lsprotocol", "pygls", "cattrs", "attr",
    "attrs", "watchfiles", "jax", "jaxlib", "numpy", "jaxlint", "pycodestyle", "yaml", "markdown_it", "pygments",
    "mdurl", "typing_extensions", "exceptiongroup",
)  # fmt: skip
_TOOLS = ("conftest", "setup", "sitecustomize", "usercustomize", "noxfile")


class Harness:
    """A folder beside the project with the marker, the log, a home and the command ``jaxlint``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.project = self.folder / "project"
        self.tools = self.folder / "tools"
        self.marker = self.folder / "marker"
        self.log = self.folder / "audit.jsonl"
        for made in (self.project, self.tools, self.folder / "home", self.folder / "tmp"):
            made.mkdir()
        (self.tools / "sitecustomize.py").write_text(textwrap.dedent(_SITECUSTOMIZE))
        (self.tools / "jaxlint").write_text(_ENTRY)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        return {
            **kept, "PYTHONPATH": os.pathsep.join([str(self.tools), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"), "JAXLINT_AUDIT": str(self.log),
            "JAXLINT_MARKER": str(self.marker), "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(self.tools / "jaxlint")]

    def run(self, *arguments: str, command: Sequence[str] | None = None, given: str = "") -> Watched:
        self.log.unlink(missing_ok=True)
        done = subprocess.run(
            [*(command or self.command), *arguments], cwd=self.project, env=self.environment, input=given,
            capture_output=True, text=True, timeout=60, errors="backslashreplace",
        )  # fmt: skip
        return Watched(done.returncode, done.stdout, done.stderr, list(self.events()))

    def events(self) -> Iterator[Event]:
        if self.log.exists():
            for line in self.log.read_text(encoding="utf-8").splitlines():
                yield Event(*json.loads(line))

    def executed(self) -> str:
        """The payloads that ran."""
        return self.marker.read_text() if self.marker.exists() else ""

    def git(self, *words: str) -> None:
        """Git as the user has it, before anything in the repository is hostile."""
        options = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(
            ["git", *options, *words], cwd=self.project, env=self.environment, check=True, capture_output=True
        )


def decoys() -> list[str]:
    """Names of modules that a process of jaxlint might import: the standard library's, and what jaxlint depends on."""
    standard = {name for name in sys.stdlib_module_names if not name.startswith("_")} - set(sys.builtin_module_names)
    return sorted({*standard, *_DEPENDENCIES, *_TOOLS})


def _notebook(*source: str) -> str:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
    kernel = {"name": "x", "language": "python", "argv": ["./git"]}
    return json.dumps({"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def fill(harness: Harness) -> None:
    """A project in which everything that might be run, when someone only looks at it, is a payload."""
    project = harness.project
    url = "https://example.org/x"
    files = {
        "train.py": _PROGRAM,
        "helper.py": _HELPER,
        "pkg/__init__.py": _PAYLOAD + _PROGRAM,
        "__init__.py": _PAYLOAD,
        "__main__.py": _PAYLOAD,
        "x.pth": f"import os; {_PAYLOAD!r}",
        "pyproject.toml": _PYPROJECT,
        "setup.cfg": f"[flake8:local-plugins]\nextension = X = setup:X\n[options]\ninstall_requires = jax @ {url}\n",
        "requirements.txt": f"-r {url}\n-e .\njax @ git+{url}\n",
        "n.ipynb": _notebook("!touch $JAXLINT_MARKER\n", "%run setup.py\n", "import jax\n"),
        "macro.py": "# coding: setup\nimport jax\n",
        "script.py": f"#!./git\n# /// script\n# dependencies = ['jax @ {url}']\n# ///\nimport jax\n",
        ".env": "PYTHONSTARTUP=setup.py\n",
        ".gitattributes": "* filter=evil diff=evil merge=evil\n",
        ".gitignore": "*.log\n",
    }
    for name in decoys():
        files.setdefault(f"{name}.py", _PAYLOAD)
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for name in ("git", "python", "python3", "ruff", "node"):
        (project / name).write_text(_SHELL)
        (project / name).chmod(0o755)
    (project / "loop").symlink_to("loop")
    (project / "up").symlink_to("..")
    os.mkfifo(project / "pipe.py")


def fill_git(harness: Harness) -> bool:
    """A history, and then a ``.git`` whose configuration, hooks and filters are payloads. False where there is no git."""
    if shutil.which("git") is None:
        return False
    project = harness.project
    harness.git("init", "-q", ".")
    harness.git("add", "train.py", "helper.py")
    harness.git("commit", "-q", "-m", "one")
    (project / "train.py").write_text(_PROGRAM + "\n\n@jax.jit\ndef other(x):\n    return float(x)\n")
    evil = harness.folder / "project" / "git"
    with (project / ".git" / "config").open("a") as config:
        config.write(textwrap.dedent(f"""
            [core]
                fsmonitor = {evil}
                hooksPath = {project / ".git" / "evil-hooks"}
                sshCommand = {evil}
                pager = {evil}
                editor = {evil}
                askPass = {evil}
                gitProxy = {evil}
                alternateRefsCommand = {evil}
            [diff]
                external = {evil}
            [diff "evil"]
                textconv = {evil}
                command = {evil}
            [filter "evil"]
                clean = {evil}
                smudge = {evil}
                process = {evil}
                required = true
            [merge "evil"]
                driver = {evil}
            [credential]
                helper = !{evil}
            [gpg]
                program = {evil}
            [log]
                showSignature = true
            [pager]
                diff = {evil}
                log = {evil}
            [alias]
                rev-parse = !{evil}
                diff = !{evil}
                ls-files = !{evil}
            [extensions]
                partialClone = evil
            [remote "evil"]
                url = ext::{evil} %S
                promisor = true
                partialclonefilter = blob:none
                uploadpack = {evil}
            [protocol "ext"]
                allow = always
            [include]
                path = {project / "included"}
        """))  # fmt: skip
    (project / "included").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    for folder in ("hooks", "evil-hooks"):
        hooks = project / ".git" / folder
        hooks.mkdir(exist_ok=True)
        for name in _HOOKS:
            (hooks / name).write_text(_SHELL)
            (hooks / name).chmod(0o755)
    return True
