"""Codes lead to the pages of their rules: on the site, or in the installed package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import flake8_jax
from flake8_jax.cli.arguments import wants_links
from flake8_jax.core import pages
from flake8_jax.core.findings import Finding
from flake8_jax.core.report import Diagnostic, RuleInfo, RunReport
from flake8_jax.reporters import View, render

ROOT = Path(flake8_jax.__file__).parents[1]
OURS = RuleInfo("JAX101", "traced-branch", "error", "A test.")
OTHER = RuleInfo("ACM101", "explicit-inverse", "error", "A test.", package="acme 1.0", file="/site/acme/a b.py")
FINDINGS = [Finding(rule.code, rule.name, "error", "/work/a.py", 0, 1, "why") for rule in (OURS, OTHER)]
REPORT = RunReport(
    diagnostics=tuple(Diagnostic(finding, 1, 1, 1, 2, 1) for finding in FINDINGS),
    texts={"/work/a.py": "x\n"},
    rules={rule.code: rule for rule in (OURS, OTHER)},
)


@pytest.fixture(params=["", "https://example.org/jaxlint"])
def site(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(pages, "site", lambda: request.param)
    pages.own_page.cache_clear()
    yield request.param
    pages.own_page.cache_clear()


def test_every_format_with_links_has_the_same_addresses(site: str) -> None:
    ours = f"{site}/rules/traced-branch.html" if site else (ROOT / "flake8_jax/rules/traced_branch.py").as_uri()
    wanted = [ours, "file:///site/acme/a%20b.py"]
    sarif = json.loads(render("sarif", REPORT, View("/work")))
    assert [rule["helpUri"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]] == wanted[::-1]
    assert [item["url"] for item in json.loads(render("json", REPORT, View("/work")))] == wanted
    for name in ("concise", "full", "grouped"):
        shown = render(name, REPORT, View("/work", color=True, links=True))
        assert f"\x1b]8;;{ours}\x1b\\\x1b[1;31mJAX101\x1b[0m\x1b]8;;\x1b\\" in shown
        assert "\x1b]8" not in render(name, REPORT, View("/work", color=True))


def test_the_language_server_says_them_too(site: str) -> None:
    pytest.importorskip("lsprotocol")
    from flake8_jax.server.messages import placed_diagnostics

    said = placed_diagnostics("/gone.py", REPORT.diagnostics, "utf-16", lambda finding: pages.own_page(finding.name))
    assert [item.code_description is not None for item in said] == [True, bool(site)]


@pytest.mark.parametrize(
    ("variables", "links"),
    [
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "7600"}, True),
        ({"VTE_VERSION": "4202"}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "vscode"}, False),
        ({"TERM": "xterm-256color", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM_PROGRAM": "WezTerm", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_terminals_that_show_links(variables: dict[str, str], links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TERM", "TERM_PROGRAM", "VTE_VERSION", "FORCE_HYPERLINK", "DOMTERM", "KITTY_WINDOW_ID",
                 "KONSOLE_VERSION", "WT_SESSION"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_links(color=True, is_terminal=True) is links
    assert not wants_links(color=False, is_terminal=True)


def hook() -> ModuleType:
    pytest.importorskip("hatchling")
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    "address", ["jaxlint", "ftp://example.org", "https://", "https://a b", "https://a/?q", 3, "https://a#b"]
)
def test_a_site_that_is_no_address_is_named(address: object) -> None:
    with pytest.raises(
        ValueError, match=r"pyproject\.toml: tool\.hatch\.build\.hooks\.custom\.documentation: .* is no address"
    ):
        hook().checked(address)
