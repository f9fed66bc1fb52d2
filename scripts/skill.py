"""Write ``skills/jax-development``: a skill for programs that develop JAX code, from the commands, rules and templates.

    python scripts/skill.py [--check]

Three pages come from ``scripts/skill_pages``. The other references list what the parsers of the commands, the registry of rules
and the templates say of themselves. With ``--check``, nothing is written, and the exit status is 1 if a file is not up to date.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from flake8_jax import templates
from flake8_jax.core.report import RuleInfo
from flake8_jax.pipeline.backend import default_backend

FOLDER = Path(__file__).resolve().parents[1] / "skills" / "jax-development"
PAGES = Path(__file__).resolve().parent / "skill_pages"
COMMANDS = (
    "env", "inspect", "verify", "prove", "mre", "record", "bench", "recompiles", "probe", "pytree", "hotspots", "locate",
    "template", "mcp",
)  # fmt: skip
_BY_HAND = {
    "SKILL.md": "SKILL.md",
    "references/tasks.md": "tasks.md",
    "references/transforms.md": "transforms.md",
}
_WRITTEN = "<!-- Written by scripts/skill.py; change scripts/skill_pages, or what the page lists. -->\n"


def documents(rules: Iterable[RuleInfo]) -> dict[str, str]:
    """The files of the skill by name."""
    made = {
        target: (PAGES / name).read_text(encoding="utf-8").replace("{written}", _WRITTEN)
        for target, name in _BY_HAND.items()
    }
    made["references/commands.md"] = commands()
    made["references/rules.md"] = rule_list(rules)
    made["references/templates.md"] = template_list()
    return made


def commands() -> str:
    """The commands with what they do and their examples."""
    parts = ["# Commands\n", _WRITTEN, "`jaxlint COMMAND --help` lists the options.\n"]
    for name in COMMANDS:
        parser: argparse.ArgumentParser = importlib.import_module(f"flake8_jax.cli.{name}").parser()
        _, _, examples = (parser.epilog or "").partition("examples:\n")
        lines = [line.strip() for line in examples.partition("\n\n")[0].splitlines()]
        shown = "".join(f"    {line}\n" for line in lines)
        parts.append(f"## {name}\n\n{parser.description}\n" + (f"\n{shown}" if shown else ""))
    return "\n".join(parts)


def rule_list(rules: Iterable[RuleInfo]) -> str:
    """The rules with one line each."""
    rows = "".join(f"- {rule.code} `{rule.name}`: {rule.summary}\n" for rule in rules)
    return f"# Rules\n\n{_WRITTEN}\n`jaxlint rule CODE` prints the manual page of a rule.\n\n{rows}"


def template_list() -> str:
    """The templates with their titles."""
    rows = "".join(f"- `{name}`: {templates.title(name)}\n" for name in templates.names())
    head = "`jaxlint template NAME --output FILE` writes one. Each runs on the CPU and checks its own result.\n"
    return f"# Templates\n\n{_WRITTEN}\n{head}\n{rows}"


def differing(made: Mapping[str, str]) -> list[str]:
    """The names of files that are missing or have another text."""
    paths = {name: FOLDER / name for name in made}
    return [
        name for name, path in paths.items() if not path.is_file() or path.read_text(encoding="utf-8") != made[name]
    ]


def main() -> int:
    """Write or check the files; returns the exit status."""
    parser = argparse.ArgumentParser(description="Write skills/jax-development.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is not up to date")
    args = parser.parse_args()
    if args.check:
        wrong = differing(documents(default_backend().rules.values()))
        print("".join(f"{name} is not up to date: run python scripts/skill.py\n" for name in wrong), end="")
        return int(bool(wrong))
    write()
    return 0


def write() -> None:
    """Write the files that are not up to date."""
    made = documents(default_backend().rules.values())
    for name in differing(made):
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[name], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
