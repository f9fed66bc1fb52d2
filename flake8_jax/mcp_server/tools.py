"""The tools: their arguments with types, and the words of the command that each stands for.

An argument that a client sends under another name or with another type is refused by name. No argument becomes an option of
the command: paths get ``./``, values follow ``=``, and a topic goes to standard input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta

from flake8_jax.mcp_server.folder import all_inside, target_inside

Paths = Annotated[list[str], Meta(description="files or folders, relative to the server's folder; default: all of it")]
Rules = Annotated[
    list[str], Meta(description="codes or names of rules, prefixes of codes, or ALL; default: the project's")
]
Command = Annotated[
    list[str], Meta(description="a command of the project as a list of words, such as ['python', 'train.py']")
]
Cases = Annotated[list[str], Meta(description="inputs of one call each, such as 'f32[64,64], n=3'; default: made up")]
Target = Annotated[str, Meta(description="file.py:function, file.py:LINE or module:function")]
Names = Annotated[list[str], Meta(description="parameters to make static, if the function is not jitted yet")]
Seconds = Annotated[float, Meta(gt=0, le=86_400, description="end the run after so many seconds")]
Preview = Annotated[bool, Meta(description="also report less certain findings")]
AsJson = Annotated[bool, Meta(description="data instead of text")]


class ToolError(ValueError):
    """Arguments that no command can be made of; the message says what is wrong."""


class Job(msgspec.Struct, frozen=True):
    """words: those behind ``jaxlint``. text: standard input. seconds: the time limit that the command keeps itself."""

    words: list[str]
    text: str = ""
    seconds: float | None = None


class _Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of a tool; a name that it does not have is an error."""


class Check(_Arguments, frozen=True):
    """Lint files: list mistakes in their use of JAX, with the chain of calls that makes each true."""

    paths: Paths = []
    select: Rules = []
    preview: Preview = False
    as_json: AsJson = False

    def jobs(self, folder: str) -> list[Job]:
        form = "json-lines" if self.as_json else "full"
        return [Job(_lint("check", folder, self.paths, self.select, self.preview, f"--output-format={form}"))]


class Explain(_Arguments, frozen=True):
    """Show the manual page of a rule: what it finds, why that is bad, examples, limitations."""

    rule: Annotated[str, Meta(description="a code or a name, such as JAX101 or traced-branch")]

    def jobs(self, folder: str) -> list[Job]:
        return [Job(["rule", *_rules([self.rule])])]


class Inspect(_Arguments, frozen=True):
    """Show for every function whether JAX traces it, from where, and which of its parameters are traced."""

    paths: Paths = []
    as_json: AsJson = False

    def jobs(self, folder: str) -> list[Job]:
        form = "json" if self.as_json else "text"
        return [Job(_lint("inspect", folder, self.paths, [], False, f"--output-format={form}"))]


class Fix(_Arguments, frozen=True):
    """Show fixes as a patch. Files are changed only with write=true; then the patch shows what was written."""

    paths: Paths = []
    select: Rules = []
    unsafe: Annotated[bool, Meta(description="also fixes that may change values, dtypes or effects")] = False
    write: Annotated[bool, Meta(description="write the fixes to the files")] = False
    preview: Preview = False

    def jobs(self, folder: str) -> list[Job]:
        extra = ["--unsafe-fixes"] if self.unsafe else []
        lint = _lint("check", folder, self.paths, self.select, self.preview, *extra)
        shown = [Job([*lint, "--diff"])]
        return [*shown, Job([*lint, "--fix", "--fix-only", "--show-fixes"])] if self.write else shown


class Verify(_Arguments, frozen=True):
    """Run the project's code on JAX and say which findings are true. Without a command, functions get made-up inputs."""

    paths: Paths = []
    command: Command = []
    select: Rules = []
    timeout: Seconds = 300.0

    def jobs(self, folder: str) -> list[Job]:
        lint = _lint("verify", folder, self.paths, self.select, False, f"--timeout={self.timeout:g}")
        return [Job([*lint, *_after(self.command)], seconds=self.timeout)]


class Prove(_Arguments, frozen=True):
    """Run a command of the project with and without each fix, and compare. Files are changed only with write=true."""

    command: Annotated[Command, Meta(min_length=1)]
    paths: Paths = []
    select: Rules = []
    safe_only: Annotated[bool, Meta(description="safe fixes only")] = False
    write: Annotated[bool, Meta(description="write the fixes that are proved")] = False
    timeout: Seconds = 300.0

    def jobs(self, folder: str) -> list[Job]:
        extra = [f"--timeout={self.timeout:g}"]
        extra += ["--safe-only"] if self.safe_only else []
        extra += ["--write"] if self.write else []
        lint = _lint("prove", folder, self.paths, self.select, False, *extra)
        return [Job([*lint, *_after(self.command)], seconds=self.timeout)]


class Recompiles(_Arguments, frozen=True):
    """Run inputs in turn through a jitted function and say which of them recompile, why, and how to avoid it."""

    target: Target
    cases: Cases = []
    static: Names = []
    command: Command = []
    timeout: Seconds = 300.0
    as_json: AsJson = False

    def jobs(self, folder: str) -> list[Job]:
        return [_measured("recompiles", folder, self)]


class Probe(_Arguments, frozen=True):
    """Trace, lower and compile a function without running it: operations, cost, memory, and what fails."""

    target: Target
    cases: Cases = []
    static: Names = []
    command: Command = []
    platforms: Annotated[list[Literal["cpu", "cuda", "tpu"]], Meta(description="default: what JAX has here")] = []
    timeout: Seconds = 300.0
    as_json: AsJson = False

    def jobs(self, folder: str) -> list[Job]:
        extra = [f"--target={','.join(self.platforms)}"] if self.platforms else []
        return [_measured("probe", folder, self, extra)]


class Env(_Arguments, frozen=True):
    """Show the JAX that the other tools run: versions, devices, settings, and whether it works."""

    all: Annotated[bool, Meta(description="every setting of JAX")] = False
    as_json: AsJson = False

    def jobs(self, folder: str) -> list[Job]:
        return [Job(["env", *(["--all"] if self.all else []), _form(self.as_json)], seconds=300.0)]


class Locate(_Arguments, frozen=True):
    """Find where the installed JAX treats a topic, or raises the error of a pasted message or traceback."""

    topic: Annotated[str, Meta(min_length=1, max_length=200_000, description="a name, words, an error or a traceback")]
    kinds: Annotated[list[Literal["errors", "definitions", "docs", "tests"]], Meta(description="default: all")] = []
    limit: Annotated[int, Meta(ge=1, le=1000)] = 20
    as_json: AsJson = False

    def jobs(self, folder: str) -> list[Job]:
        kinds = [f"--kind={','.join(self.kinds)}"] if self.kinds else []
        words = ["locate", "-", *kinds, f"--limit={self.limit}", _form(self.as_json)]
        return [Job(words, text=self.topic, seconds=300.0)]


class More(_Arguments, frozen=True):
    """Get the rest of an output that was too long for one result."""

    result: Annotated[str, Meta(description="the name of the result")]
    offset: Annotated[int, Meta(ge=0, description="where to go on")]


Running = Union[Check, Explain, Inspect, Fix, Verify, Prove, Recompiles, Probe, Env, Locate]
TOOLS: Mapping[str, type[Running]] = {
    cls.__name__.lower(): cls for cls in (Check, Explain, Inspect, Fix, Verify, Prove, Recompiles, Probe, Env, Locate)
}
MORE = "more"
RUNS_CODE = frozenset({"verify", "prove", "recompiles", "probe"})
"""Tools that run code of the project."""
RUNS_JAX = RUNS_CODE | {"env", "locate"}
"""Tools that start the interpreter that has JAX."""
WRITES = frozenset({"fix", "prove"})
"""Tools that change files if they are asked to."""

_RULE = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


def schema(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    _, components = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
    return {key: value for key, value in components[cls.__name__].items() if key not in ("title", "description")}


def read_arguments(cls: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Return the arguments of a client as data of this class. Raises ToolError, which names the argument."""
    try:
        return msgspec.convert(dict(given), cls, strict=True)
    except msgspec.ValidationError as error:
        raise ToolError(
            str(error).replace("`$", "`arguments").replace("Object ", "The object of arguments ")
        ) from error


def _lint(command: str, folder: str, paths: list[str], select: list[str], preview: bool, *extra: str) -> list[str]:
    words = [command, "--within=.", *extra]
    words += [f"--select={','.join(_rules(select))}"] if select else []
    words += ["--preview"] if preview else []
    return [*words, *all_inside(folder, paths)]


def _rules(names: list[str]) -> list[str]:
    for name in names:
        if not _RULE.fullmatch(name):
            raise ToolError(f"{name!r} is no rule; write a code such as JAX101, a name, a prefix or ALL")
    return names


def _measured(command: str, folder: str, asked: Recompiles | Probe, extra: list[str] | None = None) -> Job:
    words = [command, target_inside(folder, asked.target), f"--timeout={asked.timeout:g}", _form(asked.as_json)]
    words += [f"--case={case}" for case in asked.cases]
    words += [f"--static={','.join(asked.static)}"] if asked.static else []
    return Job([*words, *(extra or []), *_after(asked.command)], seconds=asked.timeout)


def _form(as_json: bool) -> str:
    return f"--output-format={'json' if as_json else 'text'}"


def _after(command: list[str]) -> list[str]:
    """The user's command behind ``--``, where nothing is an option of ours."""
    return ["--", *command] if command else []
