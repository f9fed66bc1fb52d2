"""``jaxlint rule`` and ``jaxlint rules``: the manual pages of the rules, and their list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from flake8_jax.cli.parsing import CommandParser
from flake8_jax.cli.said import print_json, tell
from flake8_jax.core.report import RuleInfo


def page(rule: RuleInfo) -> str:
    """The manual page of a rule in markdown."""
    meaning = "" if rule.code.startswith("JAX0") else f" ({_LEVELS[rule.level]})"
    facts = [f"Level: {rule.shown_level}{meaning}.", _FIXES.get(rule.fixable, "")]
    facts.append(f"Off by default: select the rule with `--extend-select {rule.name}`." if rule.opt_in else "")
    facts.append(f"Installed by {rule.package}." if rule.package else "")
    text = rule.doc.strip()
    if "`--preview`" in text:
        facts.append(_ONLY_PREVIEW if rule.needs_preview else _PREVIEW)
    title = "## What it does\n\n" if "\n## " in text else ""
    marks = _RAISES if "  # raises: " in text else _SHOWS
    text = text.replace("## Example\n\n", f"## Example\n\n{marks}\n\n", 1)
    return f"# {rule.name} ({rule.code})\n\n{' '.join(fact for fact in facts if fact)}\n\n{title}{text}\n"


_LEVELS = {
    "error": "JAX raises an error or computes a wrong result",
    "warning": "the code works, but it wastes time or memory, or it is not reliable",
    "info": "the code is probably intended, or there is a better way",
}
_FIXES = {"always": "jaxlint can fix every finding.", "sometimes": "jaxlint can fix some of the findings."}
_PREVIEW = "The option `--preview` turns on further findings, which are less certain."
_ONLY_PREVIEW = "Off without the option `--preview`, which turns on less certain findings."
_SHOWS = (
    "The comment `# expect:` marks a line that jaxlint reports. The function `demonstrate` runs the code and checks that the "
    "mistake happens."
)
_RAISES = (
    "The comment `# expect:` marks a line that jaxlint reports. The function `demonstrate` runs the code: the line with "
    "`# raises:` raises the error that the comment names."
)


def _print_markdown(text: str, color: bool) -> None:
    if not color:
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(force_terminal=True).print(Markdown(text))


def known_rules() -> dict[str, RuleInfo]:
    """The rules of jaxlint and of installed packages; what is left out of these is reported. Ends where two have one code."""
    from flake8_jax.pipeline.backend import default_backend
    from flake8_jax.settings.tables import ConfigError

    try:
        backend = default_backend()
    except ConfigError as error:
        tell(error)
        raise SystemExit(2) from error
    for trouble in backend.troubles:
        tell(trouble)
    return backend.rules


def _as_data(rule: RuleInfo, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """A rule as JSON data; its package where it is not ours."""
    left_out = {"file", *without, *(() if rule.package else ("package",))}
    return {key: value for key, value in msgspec.to_builtins(rule).items() if key not in left_out}


def rule_parser() -> CommandParser:
    made = CommandParser(prog="jaxlint rule", description="Explain a rule.")
    made.add_argument("rule", nargs="?", metavar="CODE|NAME", help="explain the rule with this code or name")
    made.add_argument("--all", action="store_true", help="explain all rules")
    made.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="print text or JSON (default: text)"
    )
    return made


def run_rule(arguments: Sequence[str]) -> int:
    """``jaxlint rule CODE|NAME`` and ``jaxlint rule --all``."""
    parser = rule_parser()
    args = parser.parse_args(arguments)
    if args.all == (args.rule is not None):
        parser.error("name one rule, or give --all")
    from flake8_jax.settings.selection import SelectorError, matching

    rules = known_rules()
    if args.all:
        chosen = list(rules.values())
    else:
        try:
            _, codes = matching(args.rule, rules)
        except SelectorError as error:
            tell(error)
            return 2
        chosen = [rules[code] for code in sorted(codes)]
        if args.rule.upper() not in codes and len(chosen) != 1:
            tell(f"`{args.rule}` is not one rule; use a code or a name")
            return 2
    if args.output_format == "json":
        data = [_as_data(rule) for rule in chosen]
        encoded = msgspec.json.encode(data if args.all else data[0])
        print(msgspec.json.format(encoded, indent=2).decode())
        return 0
    _print_markdown("\n".join(page(rule) for rule in chosen), sys.stdout.isatty())
    return 0


def rules_parser() -> CommandParser:
    made = CommandParser(prog="jaxlint rules", description="List the rules.")
    made.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="print text or JSON (default: text)"
    )
    return made


def run_rules(arguments: Sequence[str]) -> int:
    """``jaxlint rules``: one line a rule."""
    args = rules_parser().parse_args(arguments)
    rules = list(known_rules().values())
    if args.output_format == "json":
        data = [_as_data(rule, without=("doc",)) for rule in rules]
        print_json(data)
        return 0
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        marks = "opt-in" if rule.opt_in else "preview" if rule.needs_preview else ""
        fix = {"always": "[*]", "sometimes": "[~]"}.get(rule.fixable, "   ")
        print(f"{rule.code}  {rule.name:<{width}}  {rule.shown_level:<8} {fix}  {marks:<7}  {rule.summary}".rstrip())
    print("\n[*] always fixable   [~] sometimes fixable")
    print("opt-in: off unless you select the rule   preview: off without --preview")
    return 0
