"""Make the pictures of the site from real output: a terminal, an editor, and a call chain across files.

    python scripts/site_pictures.py [--check]

Needs tmux and Neovim for the editor's picture; without them the one that is there stays. --check only says whether the chain is
what jaxlint prints today; the other two also depend on the versions of rich and Neovim.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
COMMAND = ["examples", "--select", "traced-branch", "--no-cache"]
_EDITOR = (128, 28)
"""Columns and rows of the editor's picture."""


def lint(*options: str) -> str:
    """What ``jaxlint`` prints about the branch in the example project."""
    command = [sys.executable, "-m", "flake8_jax", *COMMAND, *options]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "100", "TERM": "xterm-256color"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout


def terminal() -> str:
    """The session as SVG."""
    text = Text.from_ansi(f"$ jaxlint {' '.join(COMMAND[:-1])}\n{_without_links(lint())}")
    return _drawn(text, "jaxlint", width=112)


def _without_links(text: str) -> str:
    """Hyperlinks of terminals lead to this machine's files."""
    parts = text.split("\x1b]8;")
    return parts[0] + "".join(part.partition("\x1b\\")[2] for part in parts[1:])


def _drawn(text: Text, title: str, width: int) -> str:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=width, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(text, soft_wrap=False)
        return console.export_svg(title=title, unique_id=title.lower().replace(" ", "-"))


def chain() -> str:
    """The call chain of the finding as boxes, one file a column, from the JSON that jaxlint prints."""
    (finding,) = json.loads(lint("--output-format", "json"))
    steps = [(Path(s["filename"]).name, s["row"], s["message"].replace("`", "")) for s in finding["evidence"]]
    steps.append((Path(finding["filename"]).name, finding["location"]["row"], finding["message"].replace("`", "")))
    files = list(dict.fromkeys(name for name, _, _ in steps))
    width, high = 430, 74
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(files) + 20} {high * len(steps) + 60}" '
        'font-family="system-ui, sans-serif" font-size="14">',
        "<style>text{fill:#24292f}.f{font-weight:600}rect{fill:#f6f8fa;stroke:#8c959f}.bad rect{fill:#ffebe9;stroke:#cf222e}"
        "path{stroke:#57606a;fill:none;stroke-width:1.5}"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#161b22}.bad rect{fill:#3d1418}path{stroke:#8b949e}}"
        "</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8"/></marker></defs>',
    ]
    parts += [f'<text class="f" x="{20 + width * i}" y="28">{escape(name)}</text>' for i, name in enumerate(files)]
    for i, (name, row, text) in enumerate(steps):
        x, y = 20 + width * files.index(name), 44 + high * i
        lines = _wrapped(text, 52)
        bad = ' class="bad"' if i == len(steps) - 1 else ""
        rows = "".join(
            f'<text x="{x + 12}" y="{y + 20 + 16 * k}">{escape(line)}</text>' for k, line in enumerate(lines)
        )
        parts.append(
            f'<g{bad}><rect x="{x}" y="{y}" width="{width - 30}" height="{16 * len(lines) + 14}" rx="6"/>{rows}</g>'
        )
        parts.append(f'<text x="{x + width - 84}" y="{y - 5}" font-size="11">line {row}</text>')
        if i + 1 < len(steps):
            there = 20 + width * files.index(steps[i + 1][0])
            parts.append(
                f'<path marker-end="url(#tip)" d="M{x + 60},{y + 16 * len(lines) + 14} '
                f'L{there + 60},{44 + high * (i + 1) - 2}"/>'
            )
    return "\n".join([*parts, "</svg>", ""])


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width)[:3]


def editor() -> str | None:
    """Neovim with the language server and a finding, as SVG; None where the programs are missing."""
    if not (shutil.which("nvim") and shutil.which("tmux")):
        return None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(ROOT / "examples", home / "examples", ignore=shutil.ignore_patterns("__pycache__", ".*"))
        start = home / "init.lua"
        server = f'{{ "{sys.executable}", "-m", "flake8_jax", "server" }}'
        start.write_text(_INIT.format(server=server, root=home / "examples"), encoding="utf-8")
        columns, rows = _EDITOR
        socket = str(home / "tmux")

        def tmux(*words: str) -> str:
            done = subprocess.run(["tmux", "-S", socket, *words], capture_output=True, text=True, check=True)
            return done.stdout

        edit = f"cd {home} && nvim -u {start} '+25' '+normal zt' examples/spirals/model.py"
        environment = ["-e", f"PYTHONPATH={ROOT}", "-e", "TERM=tmux-256color"]
        tmux("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", str(rows), *environment, edit)
        try:
            for _ in range(120):
                time.sleep(0.5)
                shown = tmux("capture-pane", "-p", "-e")
                if "traced, so" in shown and "np.tanh() converts" in shown:
                    return _drawn(Text.from_ansi(shown.rstrip()), "Neovim", width=columns)
        finally:
            tmux("kill-server")
    return None


_INIT = """\
vim.o.background = "dark"
vim.o.number = true
vim.o.signcolumn = "yes"
vim.o.swapfile = false
vim.o.laststatus = 0
vim.o.ruler = false
vim.o.shortmess = vim.o.shortmess .. "F"
vim.cmd("syntax on")
vim.cmd("highlight SignColumn ctermbg=NONE | highlight LineNr ctermfg=242")
vim.api.nvim_create_autocmd("FileType", {{ pattern = "python", callback = function()
  local client = vim.lsp.start_client({{ name = "jaxlint", cmd = {server}, root_dir = "{root}" }})
  vim.lsp.buf_attach_client(0, client)
end }})
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the chain is old")
    args = parser.parse_args()
    if args.check:
        if (PICTURES / "chain.svg").read_text(encoding="utf-8") == chain():
            return 0
        print("docs/pictures/chain.svg is old: run python scripts/site_pictures.py")
        return 1
    made = {"terminal.svg": terminal(), "chain.svg": chain()}
    shown = editor()
    if shown is not None:
        made["editor.svg"] = shown
    for name, text in made.items():
        (PICTURES / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
