"""What the documentation shows is what happens: its sessions run, its links lead somewhere, its rules exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flake8_jax.cli import COMMANDS
from flake8_jax.pipeline.backend import default_backend
from flake8_jax.reporters import formats
from flake8_jax.settings.options import option_names
from scripts.consoles import DOCUMENTS, ROOT, agrees, commands_of, rerun

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#([^)\s]*))?\)")


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_sessions_print_what_is_shown(document: str) -> None:
    _, differences = rerun(document)
    assert not differences, "\n\n".join(map(str, differences))


@pytest.mark.parametrize("document", [*DOCUMENTS, "CHANGELOG.md"])
def test_links_lead_to_files_and_headings(document: str) -> None:
    path = ROOT / document
    for target, heading in _LINK.findall(path.read_text(encoding="utf-8")):
        found = (path.parent / target).resolve()
        assert found.exists(), f"{document}: {target}"
        assert not heading or heading in _headings(found), f"{document}: {target}#{heading}"


def _headings(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_codes_are_those_of_rules(document: str) -> None:
    rules = default_backend().rules
    text = (ROOT / document).read_text(encoding="utf-8")
    assert set(re.findall(r"\bJAX\d{3}\b", text)) <= set(rules)


def test_every_key_command_and_format_is_documented() -> None:
    configuration = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in option_names() if f"`{name}`" not in configuration] == []
    assert [name for name in formats() if f"`{name}`" not in readme] == []
    assert [name for name in COMMANDS if f"`{name}`" not in readme and f"jaxlint {name}" not in readme] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_sessions_are_read_and_compared() -> None:
    commands = list(commands_of("$ a\nx\ny\n$ b\n"))
    assert [(command.text, command.printed) for command in commands] == [("a", "x\ny\n"), ("b", "")]
    assert agrees("x\n…\nz\n", "x\ny\ny\nz\n")
    assert not agrees("x\n…\nz\n", "x\ny\n")
    assert agrees("", "") and not agrees("", "x\n")
    with pytest.raises(ValueError):
        list(commands_of("no command\n"))
