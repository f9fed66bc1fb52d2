"""``jaxlint mcp``, asked by the client of the protocol's own SDK over standard input and output."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.lazily import Lazy

anyio, mcp_client, stdio = Lazy("anyio"), Lazy("mcp.client.client"), Lazy("mcp.client.stdio")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="needs the extra `mcp`"),
]

PROGRAM = """\
import jax


@jax.jit
def step(x):
    if x > 0:
        return x
    return -x


@jax.jit
def pair(key):
    return jax.random.PRNGKey(0), jax.tree_map(abs, key)
"""
Work = Callable[[Any], Awaitable[None]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project, beside a file that is none of its business."""
    made = tmp_path / "project"
    made.mkdir()
    (made / "train.py").write_text(PROGRAM, encoding="utf-8")
    (made / "pyproject.toml").write_text("[tool.jaxlint]\ntarget-jax = '0.10.2'\n", encoding="utf-8")
    (tmp_path / "secret.py").write_text(PROGRAM.replace("step", "secret_step"), encoding="utf-8")
    return made


def serve(folder: Path, work: Work, *options: str) -> None:
    """Run ``work`` with a client of a server in this folder."""

    async def connected() -> None:
        words = ["-m", "flake8_jax", "mcp", str(folder), *options]
        server = stdio.StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ), cwd=str(folder))
        async with mcp_client.Client(server) as client:
            await work(client)

    anyio.run(connected)


def text_of(result: Any) -> str:
    return "".join(part.text for part in result.content)


def test_findings_fixes_and_pages(folder: Path) -> None:
    async def work(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {
            "check", "explain", "inspect", "fix", "verify", "prove", "recompiles", "probe", "env", "locate", "more",
        }  # fmt: skip
        assert tools["check"].annotations.read_only_hint and tools["prove"].annotations.destructive_hint
        assert tools["prove"].input_schema["required"] == ["command"]

        found = await client.call_tool("check", {"paths": ["train.py"]})
        assert not found.is_error and "JAX101" in text_of(found) and found.structured_content["exit_status"] == 1
        assert "traced-branch" in text_of(await client.call_tool("explain", {"rule": "JAX101"}))
        assert "step" in text_of(await client.call_tool("inspect", {}))

        before = (folder / "train.py").read_text(encoding="utf-8")
        patch = text_of(await client.call_tool("fix", {"select": ["JAX801"]}))
        assert "+    return jax.random.PRNGKey(0), jax.tree.map(abs, key)" in patch
        assert (folder / "train.py").read_text(encoding="utf-8") == before
        written = text_of(await client.call_tool("fix", {"select": ["JAX801"], "write": True}))
        assert "+    return jax.random.PRNGKey(0), jax.tree.map(abs, key)" in written
        assert "jax.tree.map" in (folder / "train.py").read_text(encoding="utf-8")

        many = "import jax\n\n" + "".join(
            f"@jax.jit\ndef step_{number}(x):\n    return 1 if x > 0 else 2\n\n\n" for number in range(300)
        )
        (folder / "many.py").write_text(many, encoding="utf-8")
        page = await client.call_tool("check", {"paths": ["many.py"], "as_json": True})
        whole, facts = text_of(page).split("\n[", 1)[0], page.structured_content
        assert len(whole) < 21_000 < facts["length"] and "for the rest call more with" in text_of(page)
        while facts["next_offset"] is not None:
            page = await client.call_tool("more", {"result": facts["result"], "offset": facts["next_offset"]})
            whole, facts = whole.rstrip("\n") + "\n" + text_of(page).split("\n[", 1)[0], page.structured_content
        assert whole.count('"JAX101"') == 300

    serve(folder, work)


def test_wrong_clients_get_errors(folder: Path) -> None:
    os.symlink(folder.parent / "secret.py", folder / "link.py")
    os.symlink(folder.parent, folder / "above")

    async def work(client: Any) -> None:
        async def refused(tool: str, arguments: dict[str, Any]) -> str:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, text_of(result)
            return text_of(result)

        assert "Expected `array`, got `str` - at `arguments.paths`" in await refused("check", {"paths": "train.py"})
        assert "Expected `str`, got `int` - at `arguments.paths[1]`" in await refused(
            "check", {"paths": ["train.py", 3]}
        )
        assert "Expected `bool`, got `str`" in await refused("fix", {"write": "yes"})
        assert "unknown field `path`" in await refused("check", {"path": "train.py"})
        assert "missing required field `command`" in await refused("prove", {"paths": ["train.py"]})
        assert "is no rule" in await refused("explain", {"rule": "--help"})
        assert "no rule" in await refused("check", {"select": ["JAX1 --fix"]})
        for path in ("../secret.py", str(folder.parent / "secret.py"), "link.py", "above", "above/secret.py", ".."):
            assert f"{path} is outside of {folder}" in await refused("check", {"paths": [path]})
        assert "nothing.py does not exist" in await refused("check", {"paths": ["nothing.py"]})
        assert "is not a path" in await refused("check", {"paths": ["train.py\0"]})
        assert "has a NUL character" in await refused("verify", {"command": ["python", "train.py\0"]})
        assert "does not exist" in await refused("inspect", {"paths": ["--config=/etc/passwd"]})
        assert "is outside of" in await refused("probe", {"target": "../secret.py:secret_step"})
        assert "is not a target" in await refused("probe", {"target": "--write=/tmp"})
        assert "there is no result `r99`" in await refused("more", {"result": "r99", "offset": 0})
        assert "there is no tool `shell`" in await refused("shell", {"command": ["ls"]})
        # A walk does not follow links that lead out, and configuration above the folder does not count.
        everything = text_of(await client.call_tool("check", {}))
        assert "train.py" in everything and "secret" not in everything

    serve(folder, work)


def test_a_server_that_only_reads(folder: Path) -> None:
    async def work(client: Any) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "check" in names and not names & {"verify", "prove", "recompiles", "probe"}
        refused = await client.call_tool("fix", {"write": True})
        assert refused.is_error and "read-only" in text_of(refused)
        assert "there is no tool `verify`" in text_of(await client.call_tool("verify", {"command": ["ls"]}))

        environment = await client.call_tool("env", {})
        assert environment.is_error and "nowhere/python cannot be started" in text_of(environment)

    serve(folder, work, "--read-only", "--python", "/nowhere/python")


@pytest.mark.jax
def test_a_long_run_reports_progress_and_ends_when_it_is_cancelled(folder: Path) -> None:
    (folder / "sleeper.py").write_text(
        "import os, pathlib, time, train\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(120)\n",
        encoding="utf-8",
    )

    async def work(client: Any) -> None:
        reported: list[tuple[float, float | None, str | None]] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            reported.append((done, total, message))

        async with anyio.create_task_group() as group:

            async def call() -> None:
                words = {"command": ["python", "sleeper.py"], "timeout": 100.0}
                await client.call_tool("verify", words, progress_callback=progress)

            group.start_soon(call)
            with anyio.fail_after(90):
                while not (folder / "pid").exists() or len(reported) < 2:
                    await anyio.sleep(0.2)
            group.cancel_scope.cancel()
        assert reported[-1][1] == 100.0 and "verify:" in (reported[-1][2] or "")
        pid = int((folder / "pid").read_text(encoding="utf-8"))
        with anyio.fail_after(30):
            while _is_running(pid):
                await anyio.sleep(0.2)
        assert "JAX101" in text_of(await client.call_tool("check", {"paths": ["train.py"]}))

    serve(folder, work)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
