"""Write ``docs/rules.md``, the index of the rules, from what the rules say of themselves, and the skill, which lists them too.

python scripts/rule_index.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from flake8_jax.core.report import RuleInfo
from flake8_jax.pipeline.backend import default_backend

INDEX = Path(__file__).resolve().parents[1] / "docs" / "rules.md"

GROUPS = {
    "JAX0": "jaxlint itself",
    "JAX1": "Tracing: Python needs a concrete value",
    "JAX2": "Host synchronization",
    "JAX3": "Randomness",
    "JAX4": "Recompilation and compile cost",
    "JAX5": "Purity and mutation",
    "JAX6": "Parallelism and sharding",
    "JAX7": "Differentiation, numerics, structured control flow",
    "JAX8": "Versions of JAX",
    "JAX9": "Measuring and configuration",
}
_HEAD = """\
# Rules

<!-- Written by scripts/rule_index.py from the docstrings of the rules. -->

`jaxlint rule NAME` prints the page of a rule: why the code is bad, examples, and what its fix does.

**Level.** An *error* means that JAX raises or computes a wrong result on the path shown. A *warning* means that the code works
but wastes time or memory, or is not reliable. A *note* means that there is a better way, that the code is probably intended,
or that jaxlint is not sure. JSON output calls a note `info`. The table shows the usual level of each rule; a single finding can
have a lower one.

**Off by default.** A rule with the mark *opt-in* runs only if you select it by its code, its name or `ALL`:
`--extend-select JAX306`. A rule with the mark *preview* runs only with the option `--preview`.

**Fix.** The column says whether jaxlint can fix a finding: always, sometimes, or never (–). A fix that may change values needs
`--unsafe-fixes`.
"""

_COLUMNS = "| code | name | level | fix | what it reports |\n|---|---|---|---|---|\n"


def index(rules: Iterable[RuleInfo]) -> str:
    """The text of the index."""
    parts = [_HEAD]
    group = ""
    for rule in rules:
        if rule.package:  # of a package that happens to be installed here
            continue
        if rule.code[:4] != group:
            group = rule.code[:4]
            parts.append(f"\n## {group}xx: {GROUPS[group]}\n\n{_COLUMNS}")
        off = ", opt-in" if rule.opt_in else ", preview" if rule.needs_preview else ""
        level = f"{rule.shown_level}{off}"
        fix = {"never": "–"}.get(rule.fixable, rule.fixable)
        parts.append(f"| {rule.code} | `{rule.name}` | {level} | {fix} | {_escaped(rule.summary)} |\n")
    return "".join(parts)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    from skill import write  # beside this file

    INDEX.write_text(index(default_backend().rules.values()), encoding="utf-8")
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
