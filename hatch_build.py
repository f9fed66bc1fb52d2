"""The build writes the address of the documentation into the package, where ``pyproject.toml`` has one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SETTING = "tool.hatch.build.hooks.custom.documentation"


def checked(address: object) -> str:
    """The address as it is. Raises ValueError if it is none."""
    if address == "":
        return ""
    wrong = f'pyproject.toml: {SETTING}: {address!r} is no address of a site; write one like https://example.org/jaxlint, or ""'
    if not isinstance(address, str) or any(c.isspace() or not c.isprintable() for c in address):
        raise ValueError(wrong)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(wrong)
    return address


class DocumentationHook(BuildHookInterface[Any]):
    """Adds ``flake8_jax/documentation.txt`` to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        address = checked(self.config.get("documentation", ""))
        if address and self.target_name == "wheel" and version != "editable":
            self._folder = tempfile.TemporaryDirectory()
            written = Path(self._folder.name, "documentation.txt")
            written.write_text(f"{address}\n", encoding="utf-8")
            build_data["force_include"][str(written)] = "flake8_jax/documentation.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
