"""The server under a real editor: Neovim without a screen, set up as the page on Neovim says, with nothing but its own client.

Neovim 0.7.2, as Debian 12 has it, takes the diagnostics that are sent and counts in UTF-16; 0.11 asks for them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import write_project
from support.editors import ROOT, blocks, environment

FILES = {
    "a.py": "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n"
    "    return '🙂', np.sin(x) + jnp.cos(x)\n",
    "b.py": "",
}
BEFORE_08 = 'vim.lsp.buf.code_action({ only = { "source.fixAll" } })'
PAGE = blocks("neovim", "lua")
SETUPS = {
    tuple(map(int, title.split()[1].split("."))): code
    for title, code in PAGE.items()
    if re.fullmatch(r"From \d+\.\d+ on", title)
}
SCRIPT = """
local found = {}
local function clients() return (vim.lsp.get_clients or vim.lsp.get_active_clients)() end
local function codes()
  return vim.tbl_map(function(d) return { d.code, d.lnum, d.col, d.end_col, d.source } end, vim.diagnostic.get(0))
end
local function wait(what, holds)
  if not vim.wait(40000, holds, 20) then error('waited in vain for ' .. what) end
end
local function text() return vim.api.nvim_buf_get_lines(0, 0, -1, true) end
local function run()
  wait('the first finding', function() return #vim.diagnostic.get(0) == 1 end)
  local client = clients()[1]
  found.encoding = client.offset_encoding
  found.root = client.config.root_dir
  found.first = codes()
  vim.api.nvim_buf_set_lines(0, 5, 5, true, { '# typed' })
  wait('the finding to move', function() local d = vim.diagnostic.get(0)[1]; return d and d.lnum == 8 end)
  found.moved = codes()
  local document = { uri = vim.uri_from_bufnr(0) }
  local function ask(method, params) return vim.lsp.buf_request_sync(0, method, params, 40000)[client.id].result end
  -- What is known of functions comes with the answer for the whole project, a moment after the findings.
  wait('hover to follow', function()
    local said = ask('textDocument/hover', { textDocument = document, position = { line = 7, character = 4 } })
    found.hover = said and said.contents.value
    return found.hover and found.hover:find('a.py:7', 1, true)
  end)
  vim.ui.select = function(items, _, choose) choose(items[1], 1) end
  local before = text()[9]
  loadstring(vim.env.FIX_ALL)()
  wait('the fix', function() return text()[9] ~= before end)
  found.fixed = text()
  wait('no finding', function() return #vim.diagnostic.get(0) == 0 end)
  vim.cmd('write')
  vim.cmd('edit b.py')
  wait('the second buffer to be attached', function() return vim.lsp.buf_is_attached(0, client.id) end)
  found.clients = #clients()
  vim.lsp.stop_client(client.id)
  wait('the server to end', function() return vim.lsp.client_is_stopped(client.id) end)
end
local fine, problem = pcall(run)
if not fine then
  found.failed = problem
  found.messages = vim.fn.execute('messages')
end
vim.fn.writefile({ vim.fn.json_encode(found) }, vim.env.RESULT)
vim.cmd('qall!')
"""


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _version() -> tuple[int, ...]:
    said = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", said)
    assert found is not None, said
    return tuple(map(int, found.groups()))


def test_the_page_says_what_is_run_here() -> None:
    assert set(SETUPS) >= {(0, 7), (0, 8), (0, 11)}
    assert f"`{BEFORE_08}`" in (ROOT / "docs" / "editors" / "neovim.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed (Debian: apt-get install neovim)")
@pytest.mark.slow
@pytest.mark.parametrize("since", sorted(SETUPS), ids=_dotted)
def test_neovim_shows_findings_moves_them_and_fixes_them(tmp_path: Path, since: tuple[int, ...]) -> None:
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    version = _version()
    if version < since:
        pytest.skip(f"Neovim is of version {_dotted(version)}, this is for {_dotted(since)} and later")
    root = write_project(tmp_path / "project", FILES)
    variables = environment(tmp_path)
    script, result = tmp_path / "script.lua", tmp_path / "result.json"
    script.write_text(SCRIPT, encoding="utf-8")
    setup = Path(variables["XDG_CONFIG_HOME"], "nvim", "init.lua")
    setup.parent.mkdir(parents=True)
    setup.write_text(SETUPS[since], encoding="utf-8")
    command = ["nvim", "--headless", "-n", "-c", f"luafile {script}", "a.py"]
    variables |= {"RESULT": str(result), "FIX_ALL": BEFORE_08 if version < (0, 8) else PAGE["Use"]}
    ended = subprocess.run(command, env=variables, cwd=root, capture_output=True, timeout=300, check=False)
    assert result.is_file(), ended.stderr.decode()
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    assert "failed" not in found, (found, ended.stderr.decode())
    # Neovim counts columns in bytes of UTF-8: behind the emoji that is four more than the characters before it.
    assert found["first"] == [["JAX203", 7, 19, 28, "jaxlint"]]
    assert found["moved"] == [["JAX203", 8, 19, 28, "jaxlint"]]
    assert "traced by `jax.jit at a.py:7" in found["hover"]
    assert found["fixed"][7] == "    return '🙂', jnp.sin(x) + jnp.cos(x)"
    assert found["clients"] == 1, "one server for all buffers"
    assert found["root"] == str(root)
    assert found["encoding"] == ("utf-16" if version < (0, 11) else "utf-8")
