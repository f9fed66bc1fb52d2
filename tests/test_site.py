"""The site: what its generated pages hold, and how the texts of docs are changed for it. CI builds it with Sphinx."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from flake8_jax import authoring
from flake8_jax.pipeline.backend import default_backend
from flake8_jax.settings.options import option_documentation
from scripts.site_pages import ROOT, on_site, write_llms, write_pages


def test_every_rule_setting_and_command_has_a_place(tmp_path: Path) -> None:
    write_pages(tmp_path)
    rules = default_backend().rules.values()
    assert {path.stem for path in (tmp_path / "rules").iterdir()} == {rule.name for rule in rules}
    page = (tmp_path / "rules" / "key-reuse.md").read_text(encoding="utf-8")
    assert page.startswith("# key-reuse (JAX301)\n") and "[`key-reuse-in-loop`](key-reuse-in-loop.md)" in page
    assert page.count("[`--preview`](../settings.md#preview)") == 1
    settings = (tmp_path / "settings.md").read_text(encoding="utf-8")
    assert all(f"## `{name}`\n" in settings for name in option_documentation())
    commands = (tmp_path / "commands.md").read_text(encoding="utf-8")
    assert "## jaxlint verify\n\n```text\nusage: jaxlint verify" in commands
    api = (tmp_path / "authoring.md").read_text(encoding="utf-8")
    assert [name for name in authoring.__all__ if f"### `{name}`\n" not in api] == []
    assert "only: Subscription = Subscription()" in api and "- ``value(node)``: Return" in api


def test_links_lead_to_pages_or_are_plain_text() -> None:
    assert on_site("ci", "[a](../README.md) [b](../flake8_jax/rules/pmap.py)") == "[a](index.md) b"
    kept = "[c](fixing.md#safe) [d](https://docs.jax.dev) "
    assert on_site("ci", f"{kept}[e](../CHANGELOG.md)") == f"{kept}[e](changelog.md)"
    assert on_site("changelog", "[rules](docs/rules.md)") == "[rules](rules.md)"
    assert "[`pmap`](rules/pmap.md)" in on_site("rules", "| JAX601 | `pmap` | warning | – | A call. |\n")


def test_llms_lists_the_pages(tmp_path: Path) -> None:
    write_llms(tmp_path, {"index": "jaxlint", "rules/pmap": "pmap (JAX601)", "ci": "CI"})
    written = (tmp_path / "llms.txt").read_text(encoding="utf-8")
    assert "## Documentation\n\n- [jaxlint](index.html)\n- [CI](ci.html)\n" in written
    assert "## Rules\n\n- [pmap (JAX601)](rules/pmap.html)\n" in written


def test_the_picture_of_the_chain_shows_what_jaxlint_says() -> None:
    command = [sys.executable, ROOT / "scripts" / "site_pictures.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
