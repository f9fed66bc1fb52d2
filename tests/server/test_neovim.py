"""The server under a real editor: Neovim without a screen, with nothing but its own client.

Neovim 0.7.2, as Debian has it, counts in UTF-16 and does not ask for diagnostics; it takes those that are sent.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import ROOT, write_project

NUMPY = (
    "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n"
    "    return '🙂', np.sin(x) + jnp.cos(x)\n"
)
SCRIPT = """
local found = {}
local server = vim.lsp.start_client({
  name = 'jaxlint', cmd = vim.fn.json_decode(vim.env.JAXLINT), root_dir = vim.env.PROJECT,
})
vim.lsp.buf_attach_client(0, server)
local function codes()
  return vim.tbl_map(function(d) return { d.code, d.lnum, d.col, d.end_col, d.source } end, vim.diagnostic.get(0))
end
local function wait(what, holds)
  if not vim.wait(40000, holds, 20) then found.failed = what; found.log = vim.fn.execute('messages') end
end
local function text() return vim.api.nvim_buf_get_lines(0, 0, -1, true) end
wait('the first finding', function() return #vim.diagnostic.get(0) == 1 end)
found.first = codes()
vim.api.nvim_buf_set_lines(0, 5, 5, true, { '# typed' })
wait('the finding to move', function() local d = vim.diagnostic.get(0)[1]; return d and d.lnum == 8 end)
found.moved = codes()
local document = { uri = vim.uri_from_bufnr(0) }
local function ask(method, params) return vim.lsp.buf_request_sync(0, method, params, 40000)[server].result end
found.hover = ask('textDocument/hover', { textDocument = document, position = { line = 7, character = 4 } }).contents.value
local place = { line = 8, character = 0 }
local actions = ask('textDocument/codeAction', {
  textDocument = document, range = { start = place, ['end'] = place },
  context = { diagnostics = {}, only = { 'source.fixAll' } },
})
found.action = actions[1].title
local resolved = actions[1].edit and actions[1] or ask('codeAction/resolve', actions[1])
vim.lsp.util.apply_workspace_edit(resolved.edit, vim.lsp.get_client_by_id(server).offset_encoding)
found.repaired = text()
wait('no finding', function() return #vim.diagnostic.get(0) == 0 end)
found.encoding = vim.lsp.get_client_by_id(server).offset_encoding
vim.lsp.stop_client(server)
wait('the server to end', function() return vim.lsp.client_is_stopped(server) end)
vim.fn.writefile({ vim.fn.json_encode(found) }, vim.env.RESULT)
vim.cmd('qall!')
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed (Debian: apt-get install neovim)")
def test_neovim_shows_findings_moves_them_and_repairs_them(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    root = write_project(tmp_path / "project", {"a.py": NUMPY})
    script, result = tmp_path / "script.lua", tmp_path / "result.json"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "JAXLINT": json.dumps([sys.executable, "-m", "flake8_jax", "server"]),
        "PROJECT": str(root),
        "RESULT": str(result),
        **{f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
    }
    command = ["nvim", "--headless", "-u", "NONE", "-n", "-c", f"luafile {script}", str(root / "a.py")]
    ended = subprocess.run(command, env=environment, cwd=root, capture_output=True, timeout=120, check=False)
    assert result.is_file(), ended.stderr.decode()
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    assert "failed" not in found, found
    # Neovim counts columns in bytes of UTF-8: behind the emoji that is four more than the characters before it.
    assert found["first"] == [["JAX203", 7, 19, 28, "jaxlint"]]
    assert found["moved"] == [["JAX203", 8, 19, 28, "jaxlint"]]
    assert "traced by `jax.jit at a.py:7" in found["hover"]
    assert found["action"] == "jaxlint: apply all safe fixes"
    assert found["repaired"][8] == "    return '🙂', jnp.sin(x) + jnp.cos(x)"
    assert found["encoding"] == "utf-16"
