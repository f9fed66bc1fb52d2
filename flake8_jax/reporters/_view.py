"""How a report is looked at: from which directory, in color or not.

Vocabulary
----------
style   a word for an appearance (``error``, ``path`` …); plain text has none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from flake8_jax.core.findings import Finding
from flake8_jax.core.pages import page_address
from flake8_jax.core.printable import one_line, starts_a_command
from flake8_jax.core.report import RunReport, as_text

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "path": "1",
    "code": "1;31",
    "gutter": "34",
    "note": "36",
    "removed": "31",
    "added": "32",
    "fixable": "36",
}


@dataclass(frozen=True)
class View:
    """cwd: the directory that shown paths are relative to. unsafe_fixes: whether unsafe fixes would be applied. links:
    whether the terminal shows links."""

    cwd: str
    color: bool = False
    unsafe_fixes: bool = False
    links: bool = False

    def path(self, path: str) -> str:
        """``path`` as a reader at ``cwd`` would write it; absolute where that would climb."""
        return as_text(self.relative(path))

    def relative(self, path: str) -> str:
        """The same in the bytes of the file system, which need be no text."""
        prefix = self.cwd.rstrip(os.sep) + os.sep
        return path[len(prefix) :] if path.startswith(prefix) else path

    def shown(self, path: str) -> str:
        """``path`` for a reader, on one line that no CI takes for a command (``::error``, ``##vso[…]``)."""
        shown = one_line(self.path(path))
        return f"./{shown}" if starts_a_command(shown) else shown

    def would_fix(self, finding: Finding) -> bool:
        """Whether ``--fix`` would fix the finding."""
        fix = finding.fix
        return fix is not None and (fix.applicability == "safe" or self.unsafe_fixes)

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text

    def code(self, finding: Finding, report: RunReport) -> str:
        """The code of a finding in the color of its level and, on a terminal that shows links, as a link to the rule's page."""
        shown = self.styled(finding.code, finding.level)
        address = page_address(report.rule(finding)) if self.links else ""
        return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\" if address else shown
