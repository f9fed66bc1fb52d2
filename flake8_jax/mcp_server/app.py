"""The server itself: the only module that knows the SDK of the protocol.

Limitations: only standard input and output are served. Two jobs run at the same time; more of them wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from flake8_jax import __version__
from flake8_jax.mcp_server.folder import OutsideError
from flake8_jax.mcp_server.jobs import Finished, run_jobs
from flake8_jax.mcp_server.pages import Page, Pages, UnknownResult
from flake8_jax.mcp_server.tools import (
    MORE,
    RUNS_CODE,
    RUNS_JAX,
    TOOLS,
    WRITES,
    Job,
    More,
    ToolError,
    read_arguments,
    schema,
)

_AT_ONCE = 2
_LOG_LENGTH = 4000
_INSTRUCTIONS = """\
jaxlint finds and fixes mistakes in the use of JAX in {folder}. Start with check, read explain for a rule that you do \
not know, and see with inspect what is traced. fix returns a patch and writes only with write=true. verify, prove, \
recompiles and probe run the project's code on JAX. A long output comes in pages: call more with the result and the \
offset that the footer names."""


class JaxlintServer:
    """folder: an absolute path without links. read_only: whether tools that run code or change files are left out. python: the
    interpreter that has JAX, None for what the commands choose."""

    def __init__(self, folder: str, *, read_only: bool, python: str | None = None) -> None:
        self.folder = folder
        self.python = python
        self.read_only = read_only
        self.pages = Pages()
        self._running = anyio.Semaphore(_AT_ONCE)

    def names(self) -> list[str]:
        """Return the names of the tools that are offered."""
        return [name for name in TOOLS if not (self.read_only and name in RUNS_CODE)] + [MORE]

    async def list_tools(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Answer ``tools/list``."""
        return ListToolsResult(tools=[_tool(name) for name in self.names()])

    async def call_tool(self, context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        """Answer ``tools/call``; what is wrong with the arguments is a result that says so."""
        try:
            return await self._call(context, params.name, params.arguments or {})
        except (ToolError, OutsideError, UnknownResult) as error:
            return _refused(str(error))
        except OSError as error:
            return _refused(f"jaxlint cannot be started: {error.strerror or error}")

    async def _call(self, context: ServerRequestContext[Any], name: str, given: dict[str, Any]) -> CallToolResult:
        if name not in self.names():
            raise ToolError(f"there is no tool `{name}`; the tools are {', '.join(self.names())}")
        if name == MORE:
            asked = read_arguments(More, given)
            return _shown(self.pages.page(asked.result, asked.offset), None)
        arguments = read_arguments(TOOLS[name], given)
        if self.read_only and getattr(arguments, "write", False):
            raise ToolError("this server is read-only, so write=true is refused")
        jobs: list[Job] = arguments.jobs(self.folder)
        if any("\0" in word for job in jobs for word in job.words):
            raise ToolError("an argument has a NUL character, which no command can have")
        if self.python is not None and name in RUNS_JAX:
            extra = f"--python={self.python}"
            jobs = [msgspec.structs.replace(job, words=[job.words[0], extra, *job.words[1:]]) for job in jobs]

        async def report(seconds: float, limit: float | None, message: str) -> None:
            await context.session.report_progress(seconds, limit, f"{name}: {seconds:.0f} s, {message}"[:200])

        async with self._running:
            finished = await run_jobs(jobs, self.folder, report)
        return _shown(self.pages.keep(finished.output), finished)


def _tool(name: str) -> Tool:
    cls: type[msgspec.Struct] = More if name == MORE else TOOLS[name]
    runs, writes = name in RUNS_CODE, name in WRITES
    return Tool(
        name=name,
        description=(cls.__doc__ or "").strip(),
        input_schema=schema(cls),
        annotations=ToolAnnotations(
            read_only_hint=not runs and not writes,
            destructive_hint=runs or writes,
            idempotent_hint=not runs,
            open_world_hint=runs,
        ),
    )


def _refused(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def _shown(page: Page, finished: Finished | None) -> CallToolResult:
    """A page with a footer: the exit status, what was said on standard error, and where the rest is."""
    text = page.text
    facts: dict[str, Any] = {
        "result": page.result,
        "offset": page.offset,
        "next_offset": page.next_offset,
        "length": page.length,
    }
    failed = False
    if finished is not None:
        failed = finished.status not in (0, 1)
        facts["exit_status"] = finished.status
        log = finished.log.strip()[-_LOG_LENGTH:]
        facts["log"] = log
        text += f"\n[standard error]\n{log}\n" if log else ""
        text += f"\n[exit status {finished.status}]\n" if finished.status else ""
    if page.next_offset is not None:
        text += (
            f"\n[characters {page.offset} to {page.next_offset} of {page.length}; "
            f'for the rest call more with result="{page.result}" and offset={page.next_offset}]\n'
        )
    return CallToolResult(content=[TextContent(text=text or "[no output]")], structured_content=facts, is_error=failed)


def serve(folder: str, *, read_only: bool, python: str | None) -> None:
    """Serve one client over standard input and output, until it is gone. See ``JaxlintServer`` for the arguments."""
    anyio.run(_serve, JaxlintServer(folder, read_only=read_only, python=python))


async def _serve(mine: JaxlintServer) -> None:
    server: Server[Any] = Server(
        "jaxlint",
        version=__version__,
        title="jaxlint",
        instructions=_INSTRUCTIONS.format(folder=mine.folder),
        on_list_tools=mine.list_tools,
        on_call_tool=mine.call_tool,
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def tool_names() -> Sequence[str]:
    """Return the names of all tools."""
    return [*TOOLS, MORE]
