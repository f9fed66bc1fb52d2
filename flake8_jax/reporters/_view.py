"""How a report is looked at: from which directory, in colour or not.

Vocabulary
----------
style   a word for an appearance (``error``, ``path`` …); plain text has none.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from flake8_jax.core.findings import Finding
from flake8_jax.core.report import as_text

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "upgrade": "1;36",
    "path": "1",
    "code": "1;31",
    "gutter": "34",
    "note": "36",
    "removed": "31",
    "added": "32",
    "fixable": "36",
}


# Control characters, line ends of Unicode, and marks that turn the direction of writing.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def one_line(text: str) -> str:
    """Text for readers, on one line: what would act on a terminal is spelled out (``\\x1b``)."""
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


@dataclass(frozen=True)
class View:
    """cwd: the directory that shown paths are relative to. unsafe_fixes: whether unsafe fixes would be applied."""

    cwd: str
    color: bool = False
    unsafe_fixes: bool = False

    def path(self, path: str) -> str:
        """``path`` as a reader at ``cwd`` would write it; absolute where that would climb."""
        path = as_text(path)
        prefix = self.cwd.rstrip(os.sep) + os.sep
        return path[len(prefix) :] if path.startswith(prefix) else path

    def shown(self, path: str) -> str:
        """``path`` for a reader, on one line that no CI takes for a command (``::error``, ``##vso[…]``)."""
        shown = one_line(self.path(path))
        return f"./{shown}" if shown.startswith((":", "#")) else shown

    def would_fix(self, finding: Finding) -> bool:
        """Whether ``--fix`` would repair the finding."""
        fix = finding.fix
        return fix is not None and (fix.applicability == "safe" or self.unsafe_fixes)

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text
