"""What commands mean: launchers, variables, options of the interpreter; and what a profile keeps of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from flake8_jax.cli import main
from flake8_jax.cli.running import find_python
from flake8_jax.runtime_checks.commands import Command, CommandError, has_jax, parse_command
from flake8_jax.runtime_checks.profile import shown_command


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("python train.py --steps 3", Command(("python", "train.py", "--steps", "3"))),
        ("env -u B A=1 python -m app", Command(("python", "-m", "app"), (), {"B": None, "A": "1"})),
        ("A=x=y pytest -q", Command(("pytest", "-q"), (), {"A": "x=y"})),
        ("uv run train.py -x", Command(("train.py", "-x"))),
        ("uv run --with einops --frozen -- pytest -q", Command(("pytest", "-q"))),
        ("uv run -m app", Command(("python", "-m", "app"))),
        ("nice -n 5 poetry run pytest", Command(("pytest",))),
        ("python -X dev -Bu -Werror -W ignore -OO a.py", Command(
            ("python", "a.py"), ("-X", "dev", "-Bu", "-W", "error", "-W", "ignore", "-OO"))),
        ("python -um app x", Command(("python", "-m", "app", "x"), ("-u",))),
        ("python - x", Command(("python", "-", "x"))),
        ("jupyter nbconvert --execute a.ipynb", Command(("a.ipynb",))),
    ],
)  # fmt: skip
def test_what_a_command_means(given: str, meant: Command, tmp_path: Path) -> None:
    assert parse_command(given.split(), str(tmp_path)) == meant


def test_torchrun_is_one_process(tmp_path: Path) -> None:
    found = parse_command(["torchrun", "--standalone", "--nproc-per-node", "1", "-m", "app", "x"], str(tmp_path))
    assert found.words == ("python", "-m", "app", "x") and found.variables["WORLD_SIZE"] == "1"
    with pytest.raises(CommandError, match="--nproc-per-node 1"):
        parse_command(["torchrun", "--nproc_per_node=4", "a.py"], str(tmp_path))


@pytest.mark.parametrize(
    ("given", "said"),
    [("python -i a.py", "cannot be watched"), ("env A=1", "no program behind"), ("uv sync", "`uv run …`"),
     ("env -i python a.py", "is not understood"), ("uv run", "no program behind"), ("jupyter lab", "with a notebook")],
)  # fmt: skip
def test_what_is_refused(given: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=said):
        parse_command(given.split(), str(tmp_path))


def test_the_interpreter_of_an_environment_and_of_a_script(tmp_path: Path) -> None:
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name, text in (
        ("python", ""),
        ("train", f"#!{folder}/python\n"),
        ("long", f'#!/bin/sh\n\'\'\'exec\' "{folder}/python" "$0" "$@"\n'),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    python = str(folder / "python")
    assert parse_command(["uv", "run", "train.py"], str(tmp_path)).python == python
    assert parse_command([".venv/bin/python", "a.py"], str(tmp_path)).python == python
    assert parse_command([".venv/bin/train", "x"], str(tmp_path)) == Command((".venv/bin/train", "x"), python=python)
    assert parse_command([".venv/bin/long"], str(tmp_path)).python == python


def test_a_profile_keeps_no_secrets_and_no_paths_of_the_machine() -> None:
    words = [
        "env", "WANDB_API_KEY=0123", "STEPS=3", "/home/ada/p/.venv/bin/python", "/home/ada/p/train.py", "--token", "abc",
        "--data=/mnt/disk/set", "--password=x", "hf_abcdefgh", "https://ada:pw@host/x", "--lr", "3e-4",
    ]  # fmt: skip
    assert shown_command(words, "/home/ada/p") == [
        "env", "WANDB_API_KEY=***", "STEPS=3", ".venv/bin/python", "train.py", "--token", "***",
        "--data=…/set", "--password=***", "***", "https://***@host/x", "--lr", "3e-4",
    ]  # fmt: skip
    assert shown_command(["python", "-c", "key = 'x'"], "/") == ["python", "-c", "…"]
    assert shown_command(["/opt/env/bin/python3.11", "/data/train.py"], "/home/ada") == ["python3.11", "…/train.py"]


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        pytest.param(
            "PYTHONPATH=/home/ada/p/a:/home/ada/p/b:src:/opt/x", "PYTHONPATH=a:b:src:…/x",
            marks=pytest.mark.skipif(os.pathsep != ":", reason="there, a semicolon separates paths"),
        ),
        ("data=[/mnt/one,/home/ada/p/two]", "data=[…/one,two]"),
        ("-I/usr/include", "-I…/include"),
        ("src/a/b.py", "src/a/b.py"),
        ("./a/b", "./a/b"),
        ("--url=http://host/a/b:/c", "--url=http://host/a/b:/c"),
    ],
)  # fmt: skip
def test_a_profile_keeps_no_path_of_the_machine_within_a_word(word: str, shown: str) -> None:
    assert shown_command([word], "/home/ada/p") == [shown]


def test_the_interpreter_is_the_one_of_the_shell_where_it_has_jax(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interpreter(folder: Path, *, with_jax: bool) -> str:
        (folder / "bin").mkdir(parents=True)
        path = folder / "bin" / "python"
        path.write_text(f"#!/bin/sh\nexit {int(not with_jax)}\n")
        path.chmod(0o755)
        return str(path)

    mine = interpreter(tmp_path / "mine", with_jax=True)
    bare = interpreter(tmp_path / "bare", with_jax=False)
    script = Path(mine).with_name("pytest")
    script.write_text(f"#!{mine}\n")
    script.chmod(0o755)
    python, tests = Command(("python", "a.py")), Command(("pytest", "-q"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("PATH", f"{Path(mine).parent}:/usr/bin:/bin")
    assert find_python(None, python) == mine, "not the one that jaxlint runs under, which lacks the user's packages"
    assert find_python(None, tests) == mine, "pytest names its own"
    assert find_python("/other", python) == "/other"
    monkeypatch.setenv("PATH", f"{Path(bare).parent}:/usr/bin:/bin")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "mine"))
    assert find_python(None, python) == mine, "that of the shell has no JAX"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "bare"))
    found = find_python(None, python)
    assert found == (sys.executable if has_jax(sys.executable) else bare)


@pytest.mark.parametrize(
    "words", ["record", "hotspots main.py", "verify -o out.txt main.py", "mre main.py:1 --issue a/b.md"]
)
def test_a_place_that_is_read_only_is_known_before_anything_runs(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.py").write_text("open('ran', 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or "tmp" not in os.fspath(path))
    command = [] if words.startswith("mre") else ["--", sys.executable, "main.py"]
    assert main([*words.split(), *command]) == 2
    assert f"cannot be written, because {tmp_path} is read-only" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["main.py"]
