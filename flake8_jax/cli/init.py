"""``jaxlint init``: the files that a project needs, shown as a diff before they are written.

Vocabulary
----------
part        one file that is set up: ``config``, ``pre-commit`` or ``ci``.
plan        the new text of the file of a part, or the reason why nothing is to be done.

A file that exists gets lines at its end, or at the end of a list, and keeps all that it has. It is only understood as far as
that needs: where the place for new lines is in doubt, the plan says what to add by hand.

Limitations: other services than GitHub and GitLab.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import say, tell
from flake8_jax.core.reading import read_regular
from flake8_jax.core.writing import write_whole
from flake8_jax.settings.tables import ConfigError, TomlError, decoded_toml

PARTS = ("config", "pre-commit", "ci")
_LARGEST = 1_000_000

CONFIGURATION = """\
# Versions of JAX that this code supports. Without this key, jaxlint reads them from the dependencies.
# target-jax = ">=0.4.30"

# Rules that are off: codes (JAX101), prefixes (JAX1) or names (traced-branch). `jaxlint rules` lists them.
# ignore = []

# Rules that are off unless they are selected here by code or name.
# extend-select = ["legacy-prng-key"]

# Rules that are off in some files.
# per-file-ignores = { "scripts/**" = ["JAX206"] }

# Files that are not linted. Files that git ignores are not linted anyway.
# extend-exclude = ["third_party"]

# Also report less certain findings.
# preview = true

# All keys: `jaxlint config`.
"""
_HOOK = """\
- repo: local
  hooks:
    - id: jaxlint
      name: jaxlint
      entry: jaxlint check --force-exclude
      language: python
      additional_dependencies: [flake8-jax]
      types_or: [python, pyi, jupyter]
      require_serial: true
"""
_GITHUB = """\
# Lint with jaxlint: findings appear beside the lines of a pull request.
name: jaxlint
on: [push, pull_request]
permissions:
  contents: read
jobs:
  jaxlint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install flake8-jax
      - run: jaxlint check --output-format github .
"""
_GITLAB = """\
# Lint with jaxlint: findings appear in merge requests as code quality.
jaxlint:
  image: python:3.12-slim
  script:
    - python -m pip install flake8-jax
    - jaxlint check --exit-zero --output-format gitlab -o gl-code-quality-report.json .
    - jaxlint check --output-format concise .
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""


@dataclass(frozen=True)
class Plan:
    """path: relative to the project. before: None if there is no such file. after: None if nothing is to be done; note: why."""

    path: str
    before: str | None = None
    after: str | None = None
    note: str = ""


def parser() -> CommandParser:
    """The options of ``init``."""
    made = CommandParser(
        prog="jaxlint init",
        description="Set jaxlint up in a project: a commented configuration, a pre-commit hook and a CI job. "
        "jaxlint shows each change as a diff, and writes it if you agree.",
        epilog="Exit status: 0 if all is set up, 1 if something is not written, 2 for a usage error or an unusable file.",
    )
    made.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="DIRECTORY",
        help="set jaxlint up in the project in this directory (default: .)",
    )
    made.add_argument("-y", "--yes", action="store_true", help="write the files without asking")
    made.add_argument(
        "--skip", action="append", choices=PARTS, default=[], help="do not set up this part; may be repeated"
    )
    made.add_argument(
        "--ci",
        choices=("github", "gitlab"),
        help="set up CI for this service (default: the one whose files the project has, else github)",
    )
    return made


def run(arguments: Sequence[str], ask: Callable[[str], str] = input) -> int:
    """Set up a project; returns the exit status. ask: reads an answer."""
    args = parser().parse_args(arguments)
    if not os.path.isdir(args.folder):
        tell(f"{args.folder}: there is no such directory")
        return 2
    try:
        plans = [plan for part, plan in _plans(args).items() if part not in args.skip]
    except ConfigError as error:
        tell(error)
        return 2
    for plan in plans:
        if plan.note:
            say(f"{plan.path}: {plan.note}\n")
    changes = [plan for plan in plans if plan.after is not None]
    for plan in changes:
        say(_diff(plan))
    if changes and not args.yes and not sys.stdin.isatty():
        tell("nothing is written, because there is no terminal to ask on; add --yes to write these changes")
        return 1
    agreed = [plan for plan in changes if args.yes or _agrees(plan, ask)]
    for plan in agreed:
        try:
            _write(args.folder, plan)
        except (OSError, ConfigError) as error:
            tell(error if isinstance(error, ConfigError) else f"{plan.path}: cannot be written: {error.strerror}")
            return 2
        say(f"{plan.path}: written\n")
    return 0 if len(agreed) == len(changes) else 1


def _plans(args: argparse.Namespace) -> dict[str, Plan]:
    """What is to be done, by part. Raises ConfigError for a file that cannot be read."""
    folder: str = args.folder
    service = args.ci or ("gitlab" if os.path.isfile(os.path.join(folder, ".gitlab-ci.yml")) else "github")
    makers: dict[str, Callable[[str], Plan]] = {
        "config": _plan_configuration,
        "pre-commit": _plan_hook,
        "ci": _plan_gitlab if service == "gitlab" else _plan_github,
    }
    return {part: make(folder) for part, make in makers.items() if part not in args.skip}


# --- the parts ------------------------------------------------------------------------------------


def _plan_configuration(folder: str) -> Plan:
    if _read(folder, "jaxlint.toml") is not None:
        return Plan("jaxlint.toml", note="jaxlint is configured here; unchanged")
    before = _read(folder, "pyproject.toml")
    if before is None:
        return Plan("jaxlint.toml", None, CONFIGURATION)
    path = os.path.join(folder, "pyproject.toml")
    try:
        table = decoded_toml(before)
    except TomlError as error:
        raise ConfigError(f"{path}:{error.row}: invalid TOML: {error}") from error
    tool = table.get("tool")
    if isinstance(tool, dict) and "jaxlint" in tool:
        return Plan("pyproject.toml", before, note="jaxlint is configured here; unchanged")
    after = _appended(before, "[tool.jaxlint]\n" + CONFIGURATION)
    try:
        decoded_toml(after)
    except TomlError:  # `tool = {…}` takes no further table
        return Plan("pyproject.toml", before, note="add `jaxlint = {}` to the table `tool` by hand; unchanged")
    return Plan("pyproject.toml", before, after)


def _plan_hook(folder: str) -> Plan:
    path = ".pre-commit-config.yaml"
    before = _read(folder, path)
    if before is None:
        return Plan(path, None, "repos:\n" + _indented(_HOOK, "  "))
    if re.search(r"^\s*-?\s*id:\s*['\"]?jaxlint(-fix)?\b", before, re.MULTILINE):
        return Plan(path, before, note="the hook is here; unchanged")
    lines = before.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if re.match(r"repos:\s*(#.*)?$", line)), None)
    items = _list_items(lines, start + 1) if start is not None else None
    if items is None:
        return Plan(
            path, before, note=f"its `repos` are written in a way that is not changed safely; add by hand:\n{_HOOK}"
        )
    end, indentation = items
    head = "".join(lines[:end])
    hook = _with_newlines_of(before, _indented(_HOOK, indentation))
    newline = "" if head.endswith(("\n", "\r")) else _newline(before)
    return Plan(path, before, head + newline + hook + "".join(lines[end:]))


def _list_items(lines: list[str], start: int) -> tuple[int, str] | None:
    """Where a block list that starts at a line ends, and how its items are indented; None where there is no such list."""
    indentation: str | None = None
    end = start
    for number in range(start, len(lines)):
        line = lines[number]
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        blanks = line[: len(line) - len(line.lstrip(" "))]
        if (text == "-" or text.startswith("- ")) and (indentation is None or blanks == indentation):
            indentation = blanks
        elif indentation is None or len(blanks) <= len(indentation):
            break
        end = number + 1
    return (end, indentation) if indentation is not None else None


def _plan_github(folder: str) -> Plan:
    path = os.path.join(".github", "workflows", "jaxlint.yml")
    before = _read(folder, path)
    return Plan(path, None, _GITHUB) if before is None else Plan(path, before, note="this file exists; unchanged")


def _plan_gitlab(folder: str) -> Plan:
    path = ".gitlab-ci.yml"
    before = _read(folder, path)
    if before is None:
        return Plan(path, None, _GITLAB)
    if re.search(r"^['\"]?jaxlint['\"]?\s*:", before, re.MULTILINE):
        return Plan(path, before, note="the job is here; unchanged")
    if re.search(r"^(\.\.\.|---\s*$)", before.partition("\n")[2], re.MULTILINE) or before.lstrip().startswith("{"):
        return Plan(path, before, note=f"it is written in a way that is not changed safely; add by hand:\n{_GITLAB}")
    return Plan(path, before, _appended(before, _GITLAB))


# --- texts and files ------------------------------------------------------------------------------


def _read(folder: str, path: str) -> str | None:
    """The text of a file with its newlines; None if there is none. Raises ConfigError."""
    whole = os.path.join(folder, path)
    if not os.path.lexists(whole):
        return None
    try:
        return read_regular(whole, _LARGEST).decode("utf-8")
    except OSError as error:
        raise ConfigError(
            f"{whole}: cannot be read: {error.strerror}; fix it, or leave this part out (--skip)"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{whole}: not UTF-8; fix it, or leave this part out (--skip)") from error


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with_newlines_of(text: str, added: str) -> str:
    return added.replace("\n", _newline(text))


def _appended(before: str, added: str) -> str:
    """The text, a blank line and the addition."""
    gap = "" if not before.strip() else "\n" if before.endswith("\n") else "\n\n"
    return before + _with_newlines_of(before, gap + added)


def _indented(text: str, indentation: str) -> str:
    return "".join(f"{indentation}{line}" for line in text.splitlines(keepends=True))


def _diff(plan: Plan) -> str:
    assert plan.after is not None
    before, after = (text.replace("\r\n", "\n").splitlines(keepends=True) for text in (plan.before or "", plan.after))
    old = f"a/{plan.path}" if plan.before is not None else "/dev/null"
    lines = difflib.unified_diff(before, after, old, f"b/{plan.path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _agrees(plan: Plan, ask: Callable[[str], str]) -> bool:
    verb = "Change" if plan.before is not None else "Write"
    try:
        return ask(f"{verb} {plan.path}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _write(folder: str, plan: Plan) -> None:
    """Write the file. Raises OSError, and ConfigError if it is no longer what the diff showed."""
    assert plan.after is not None
    whole = os.path.join(folder, plan.path)
    if _read(folder, plan.path) != plan.before:
        raise ConfigError(f"{whole}: it changed in the meantime, so it is left as it is; run again")
    os.makedirs(os.path.dirname(whole) or ".", exist_ok=True)
    write_whole(whole, plan.after.encode("utf-8"))
