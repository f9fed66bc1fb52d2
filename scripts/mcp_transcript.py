"""Write the transcript in docs/mcp.md: what a client of the SDK asks ``jaxlint mcp``, and what comes back.

    python scripts/mcp_transcript.py

The project of the transcript is a folder with one file, made here. Times and the paths of this machine are not in it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

PAGE = Path(__file__).resolve().parents[1] / "docs" / "mcp.md"
BEGIN, END = "<!-- transcript: begin -->\n", "<!-- transcript: end -->\n"
PROGRAM = """\
import jax
import jax.numpy as jnp


@jax.jit
def relu(x):
    if x > 0:
        return x
    return jnp.zeros_like(x)


print(relu(jnp.float32(2.0)))
"""
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("check", {"paths": ["model.py"]}),
    ("fix", {"paths": ["model.py"], "unsafe": True}),
    ("verify", {"paths": ["model.py"], "command": ["python", "model.py"]}),
    ("fix", {"paths": ["model.py"], "unsafe": True, "write": True}),
    ("check", {"paths": ["../other.py"]}),
    ("check", {"paths": "model.py"}),
)


async def transcript(folder: Path) -> str:
    """Run the calls in a folder and return them with their results."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "flake8_jax", "mcp", str(folder)],
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        cwd=folder,
    )
    lines = []
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        lines += ["> tools/list", ", ".join(tool.name for tool in tools), ""]
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments)
            text = "".join(getattr(part, "text", "") for part in result.content).replace(str(folder), "/project")
            error = " (error)" if result.is_error else ""
            lines += [f"> tools/call {name} {json.dumps(arguments)}{error}", text.rstrip(), ""]
    return "\n".join(lines)


def main() -> None:
    """Make the transcript again."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        project.mkdir()
        (project / "model.py").write_text(PROGRAM, encoding="utf-8")
        text = anyio.run(transcript, project)
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.partition(BEGIN)[0], page.partition(END)[2]
    shown = f"{BEGIN}\n```python\n{PROGRAM}```\n\n```text\n{text.rstrip()}\n```\n\n{END}"
    PAGE.write_text(head + shown + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
