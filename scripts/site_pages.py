"""Pages of the site that are generated, and how the texts of ``docs`` are changed for it.

Vocabulary
----------
generated   pages written below ``docs`` that git ignores: one for each rule, the settings, the commands, and copies of texts
            that stand elsewhere in the checkout.
outside     a link to a file that is no page of the site: on the site its text stays and the link goes.

Limitations: anchors of headings in pages outside of ``docs`` are not checked.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from unittest import mock

from flake8_jax import authoring
from flake8_jax.cli import COMMANDS, main
from flake8_jax.cli.rules import page
from flake8_jax.core.report import RuleInfo
from flake8_jax.pipeline.backend import default_backend
from flake8_jax.settings.options import (
    DEFAULT_EXCLUDE,
    DEFAULT_TEST_FILES,
    option_documentation,
    option_examples,
    option_types,
)

ROOT = Path(__file__).resolve().parents[1]
COPIED = {"CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing", "examples/README.md": "example"}
"""Texts of the checkout, and the pages that they become."""
_LINK = re.compile(r"\[(?P<text>[^\]\n]*(?:\n[^\]\n]*)?)\]\((?P<target>[^)\s]+)\)")
_ROW = re.compile(r"^\| (?P<code>JAX\d+) \| `(?P<name>[\w-]+)` \|", re.MULTILINE)


def write_pages(docs: Path) -> None:
    """Write the generated pages below ``docs``."""
    rules = default_backend().rules
    for rule in rules.values():
        _write(docs / "rules" / f"{rule.name}.md", _rule_page(rule, rules.values()))
    for path, name in COPIED.items():
        if (ROOT / path).exists():
            _write(docs / f"{name}.md", (ROOT / path).read_text(encoding="utf-8"))
    _write(docs / "settings.md", _settings())
    _write(docs / "commands.md", _commands())
    _write(docs / "authoring.md", _authoring())


def _write(path: Path, text: str) -> None:
    """Replace a page, unless it says that already: Sphinx reads again what is newer."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _rule_page(rule: RuleInfo, rules: Iterable[RuleInfo]) -> str:
    """The manual page of a rule, with links to the rules that it names and to those beside it."""
    names = {other.name for other in rules} | {other.code for other in rules}
    by_code = {other.code: other.name for other in rules}

    def linked(match: re.Match[str]) -> str:
        name = by_code.get(match["name"], match["name"])
        return f"[`{match['name']}`]({name}.md)" if match["name"] in names and name != rule.name else match[0]

    parts = re.split(r"(^```.*?^```$)", page(rule), flags=re.MULTILINE | re.DOTALL)
    text = "".join(part if part.startswith("```") else re.sub(r"`(?P<name>[\w-]+)`", linked, part) for part in parts)
    for term, target in _TERMS.items():
        text = text.replace(term, f"[{term}]({target})", 1)
    return f"{text}\n[All rules](../rules.md)\n"


_TERMS = {
    "Level": "../rules.md",
    "`--preview`": "../settings.md#preview",
    "`target-jax`": "../settings.md#target-jax",
    "`unroll-threshold`": "../settings.md#unroll-threshold",
    "`jaxlint verify`": "../running.md",
    "`docs/pmap.md`": "../pmap.md",
}
"""Terms of jaxlint and the pages that explain them: the page of a rule links each of them once."""


def _settings() -> str:
    """Every key of ``[tool.jaxlint]``, from the descriptions that ``jaxlint config`` prints."""
    types, examples = option_types(), option_examples()
    lists = {"exclude": DEFAULT_EXCLUDE, "test-files": DEFAULT_TEST_FILES}
    parts = []
    for name, text in option_documentation().items():
        default = ", ".join(f"`{item}`" for item in lists.get(name, ()))
        more = f" The default list is {default}." if default else ""
        parts.append(f"## `{name}`\n\n{text}{more}\n\nType: {types[name]}.\n\n```toml\n{examples[name]}\n```\n\n")
    return (
        "# Settings\n\nThese are the keys of the table `[tool.jaxlint]` in `pyproject.toml`, or of a file `jaxlint.toml` "
        "(without a table). [Configuration](configuration.md) says which file counts for a linted file, and which value wins "
        "if several places set a key. `jaxlint config KEY` prints the description of one key. [The list of rules](rules.md) "
        "marks the opt-in rules.\n\n" + "".join(parts)
    )


def _commands() -> str:
    """What each command says with ``--help``."""
    parts = [
        f"## jaxlint {name}\n\n```text\n{_help_of(name).rstrip()}\n```\n"
        for name in COMMANDS
        if name not in ("format", "version")
    ]
    return (
        "# Commands\n\nThis page shows what `jaxlint help COMMAND` prints for each command. `jaxlint --help` lists the "
        "commands. [Running](running.md) and [measuring](measuring.md) explain the commands that run your code.\n\n"
        + "\n".join(parts)
    )


_AUTHORING = """\
# API for rule authors

A package of rules imports `flake8_jax.authoring` and no other module of jaxlint. [Packages of rules](rule-packages.md) shows
whole packages with both kinds of rules: rules on *events*, which see what the code does, and rules on *nodes*, which see how
the code is written.

*IR* is jaxlint's own syntax tree. An *abstract value* says what jaxlint knows about a value of the program without running it.
The *canonical name* of a library object is the name under which the library documents it, even if the file imports it under
another name. Every event has a field `context`, which says how the code runs, and a field `at`: the IR node at which a finding
is reported.

"""
_GROUPS = {
    "Declaring rules and fixers": ("rule", "fixer", "Subscription"),
    "Events": (
        "Context", "Discarded", "Formatting", "Indexing", "KeyUse", "LibraryCall", "MethodCall", "NameUse", "TruthTest",
    ),
    "Abstract values": ("Value", "Array", "Const", "External", "Unknown"),
    "Questions about values": (
        "is_reportable", "contains_tracer", "is_tracer", "is_traced_array", "raises_on_host", "quote",
    ),
    "Facts about nodes": ("NodeFacts", "NodeRun"),
    "Results": ("Report", "NodeReport", "Step", "Fix", "Edit", "FixSource"),
}  # fmt: skip
"""The names of ``authoring`` in the order of the page."""
_WITH_METHODS = ("NodeFacts",)


def _authoring() -> str:
    """What ``flake8_jax.authoring`` gives to packages of rules: signatures and docstrings."""
    unknown = set(authoring.__all__) ^ {name for names in _GROUPS.values() for name in names}
    assert not unknown, f"give these a place in _GROUPS: {unknown}"
    parts = [_AUTHORING]
    for title, names in _GROUPS.items():
        parts.append(f"## {title}\n")
        for name in names:
            thing = getattr(authoring, name)
            call = f"\n```python\n{name}{_signature(thing)}\n```\n" if inspect.isfunction(thing) else ""
            parts.append(f"### `{name}`\n{call}\n{inspect.getdoc(thing) or ''}\n")
            parts += _methods(thing) if name in _WITH_METHODS else []
    return "\n".join(parts)


def _methods(cls: type) -> list[str]:
    """A row for each public method and property of a class."""
    rows = []
    for name, member in vars(cls).items():
        if not name.startswith("_"):
            function = member.fget if isinstance(member, property) else member
            call = (
                name
                if isinstance(member, property)
                else f"{name}({', '.join([*inspect.signature(member).parameters][1:])})"
            )
            rows.append(f"- ``{call}``: {' '.join((inspect.getdoc(function) or '').split())}")
    return ["\n".join(rows) + "\n"]


class _Plain(str):
    """An annotation that a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(function: Callable[..., object]) -> inspect.Signature:
    """A signature for readers: annotations without quotes, and a default object by the name of its class."""
    found = inspect.signature(function)
    parameters = [
        parameter.replace(
            annotation=_Plain(parameter.annotation),
            default=_Plain("Subscription()")
            if isinstance(parameter.default, authoring.Subscription)
            else parameter.default,
        )
        for parameter in found.parameters.values()
    ]
    return found.replace(parameters=parameters, return_annotation=_Plain(found.return_annotation))


def _help_of(command: str) -> str:
    printed = io.StringIO()
    wide = mock.patch.dict(os.environ, {"COLUMNS": "100"})
    with wide, contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([command, "--help"])
    return printed.getvalue()


def on_site(docname: str, text: str) -> str:
    """A text as the site shows it: links to other texts lead to their pages, links to code are plain."""
    if docname == "rules":
        text = _ROW.sub(lambda m: f"| {m['code']} | [`{m['name']}`](rules/{m['name']}.md) |", text)
        text += "\n```{toctree}\n:hidden:\n:glob:\n\nrules/*\n```\n"
    folder = Path(next((path for path, name in COPIED.items() if name == docname), f"docs/{docname}")).parent
    return _LINK.sub(lambda match: _link_on_site(match, folder, docname), text)


def _link_on_site(match: re.Match[str], folder: Path, docname: str) -> str:
    target, _, anchor = match["target"].partition("#")
    if "://" in target or target.startswith("mailto:") or not target:
        return match[0]
    path = (ROOT / folder / target).resolve()
    try:
        there = path.relative_to(ROOT).as_posix()
    except ValueError:
        return match["text"]
    up = "../" * docname.count("/")
    mark = f"#{anchor}" if anchor else ""
    if there in COPIED:
        return f"[{match['text']}]({up}{COPIED[there]}.md{mark})"
    if there == "README.md":
        return f"[{match['text']}]({up}index.md)"
    if there.startswith("docs/") and path.suffix:
        return f"[{match['text']}]({up}{there.removeprefix('docs/')}{mark})"
    return match["text"]


def write_llms(site: Path, titles: Mapping[str, str]) -> None:
    """``llms.txt``: the list of the pages, for programs that read the site (https://llmstxt.org)."""
    first = [name for name in ("index", "start", "tutorial", "rules", "settings", "commands") if name in titles]
    rest = sorted(name for name in titles if name not in first and not name.startswith("rules/"))
    rules = sorted(name for name in titles if name.startswith("rules/"))
    lines = ["# jaxlint", "", "> Finds and fixes mistakes in JAX code, across a whole project.", ""]
    for heading, names in (("Documentation", [*first, *rest]), ("Rules", rules)):
        lines += [f"## {heading}", "", *(f"- [{titles[name]}]({name}.html)" for name in names), ""]
    (site / "llms.txt").write_text("\n".join(lines), encoding="utf-8")
