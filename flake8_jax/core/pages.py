"""Where the page of a rule can be read: on the site, or else in the installed package.

Vocabulary
----------
site        the address of the documentation. It is the setting ``documentation`` of the build hook in ``pyproject.toml``. The
            build writes it into the file ``documentation.txt`` of this package; without that file, there is no site.

Limitations: a checkout that is installed with ``pip install -e`` has no site, since nothing is built.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import flake8_jax
from flake8_jax.core.report import RuleInfo

FILE = "documentation.txt"


@functools.cache
def site() -> str:
    """The address of the site without a slash at its end; empty if there is none."""
    try:
        return Path(flake8_jax.__file__).with_name(FILE).read_text(encoding="utf-8").strip().rstrip("/")
    except (OSError, UnicodeDecodeError):
        return ""


def page_address(rule: RuleInfo) -> str:
    """The URI of a rule's page; of a rule of another package, that of the Python file with the page. Empty if it is not
    known."""
    if rule.package:
        return Path(rule.file).as_uri() if os.path.isabs(rule.file) else ""
    return own_page(rule.name)


@functools.cache
def own_page(name: str) -> str:
    """The URI of the page of a rule of jaxlint: ``SITE/rules/NAME.html``, or the file that is named after the rule. Empty for a
    rule that has neither."""
    if site():
        return f"{site()}/rules/{name}.html"
    folder = Path(flake8_jax.__file__).resolve().parent
    files = (folder / "rules" / f"{name.replace('-', '_')}.py", folder / "pipeline" / "backend.py")
    return next((file.as_uri() for file in files[: 2 if name in _IN_BACKEND else 1] if os.path.isfile(file)), "")


_IN_BACKEND = frozenset({"invalid-syntax", "unused-noqa"})
"""Rules that are no analysis: their pages are in the module that declares them."""
