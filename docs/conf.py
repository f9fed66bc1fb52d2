"""The site of the documentation: Sphinx with MyST and furo. The texts are those of this folder; the pages of rules, settings
and commands are generated (``scripts/site_pages.py``).

    sphinx-build -W --keep-going -b html docs build/site
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

import flake8_jax  # noqa: E402
from scripts.site_pages import on_site, write_llms, write_pages  # noqa: E402

project = "jaxlint"
author = "The authors of flake8-jax"
copyright = "the authors of flake8-jax"
release = version = flake8_jax.__version__
extensions = ["myst_parser"]
exclude_patterns = ["rule-package/**"]
html_theme = "furo"
html_title = f"jaxlint {release}"
html_static_path = ["pictures"]
html_favicon = "../editors/vscode/icon.png"
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# Blocks of documented programs hold what no lexer knows: `…` for any lines, marks of tests.
suppress_warnings = ["misc.highlighting_failure"]

write_pages(DOCS)


def _read(app: Any, docname: str, source: list[str]) -> None:
    source[0] = on_site(docname, source[0])


def _finish(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        write_llms(Path(app.outdir), {name: app.env.titles[name].astext() for name in app.env.found_docs})


def setup(app: Any) -> None:
    app.connect("source-read", _read)
    app.connect("build-finished", _finish)
