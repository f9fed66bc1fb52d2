"""Write the files of a new rule: a rule that works, with its page, program and oracle, to be changed into yours.

    python scripts/new_rule.py NAME --group 4 [--fixer]
    python scripts/new_rule.py NAME --code JAX416 [--fixer]

NAME says what is wrong in the code, in small letters and hyphens: ``jit-in-loop``. A released rule keeps its code and its name,
and a code is never used twice: --group takes the next free one of a group. --fixer adds a fixer and its fixtures.

The new rule reports jnp.around in traced code, and all of its tests pass. Change the example on its page first, see its test
fail, then write the check. Files that exist are never overwritten.

Exit status: 0, or 2 for a usage error.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rule_index import GROUPS  # beside this file

from flake8_jax import __version__ as VERSION

ROOT = Path(__file__).resolve().parents[1]

RULE = '''\
"""{code}: see the page of ``{function}``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.rules._tracers import contains_tracer, is_reportable, quote
from flake8_jax.semantics.events.events import LibraryCall


@rule("{code}", "warning"{fixable}, only=Subscription(where=frozenset({{"staged"}}), arrays=True))
def {function}(event: LibraryCall) -> Report | None:
    """TODO `jnp.around` is called in traced code.

    ## Why is this bad?

    TODO say what JAX does.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def coarse(x):
        return jnp.around(x)  # expect: {name}


    def demonstrate():
        assert coarse(jnp.array([0.4]))[0] == 0.0
    ```

    ## Use instead

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def coarse(x):
        return jnp.round(x)
    ```

    ## Not reported

    Calls outside tracing.

    ```python
    import jax.numpy as jnp

    rounded = jnp.around(jnp.array([0.4]))
    ```

    ## Limitations

    TODO say what the rule does not see.

    ## Fix safety

    {fix}

    ## How it is verified

    TODO say how running the example shows the mistake.

    ## Since

    {version}
    """
    if event.name != "jax.numpy.around" or not is_reportable(event.context):
        return None
    if not event.args or not contains_tracer(event.args[0]):
        return None
    subject = quote(event.context, event.nodes[0], "the array")
    return Report(event.at, f"jnp.around({{subject.strip('`')}}) runs in traced code; use jnp.round")
'''
PROGRAM = '''\
"""TODO `jnp.around` in traced code: lines that the rule reports, and lines that look alike."""

import jax
import jax.numpy as jnp


@jax.jit
def coarse(x):
    return jnp.around(x * 2) + jnp.around(1.5)  # expect: {name}


# runs: coarse(jnp.ones(2))


def eager(x):
    return jnp.around(x)


# runs: eager(jnp.ones(2))
'''
ORACLE = '''\
"""How a run shows that a finding of ``{name}`` is true."""

from __future__ import annotations

from flake8_jax.runtime_checks.judges import Oracle, runs_staged

ORACLE = Oracle(runs_staged("jnp.around"))
'''
FIXER = '''\
"""{code}: TODO ``jnp.around(x)`` becomes ``jnp.round(x)``. Limitations: TODO."""

from __future__ import annotations

from flake8_jax.core import ir
from flake8_jax.core.findings import Edit, Fix
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.semantics.events.events import LibraryCall


@fixer("{name}")
def fix(event: LibraryCall, source: FixSource) -> Fix | None:
    func = event.at.func
    if not isinstance(func, ir.Attribute):
        return None
    return Fix("Call `round`", "safe", (Edit(func.attr_start, func.end, "round"),))
'''
FIXTURES = """\
#### rounded
import jax
import jax.numpy as jnp


@jax.jit
def coarse(x):
    return jnp.around(x, 1)  # to one digit


def main():
    return coarse(jnp.array([0.44]))
#### becomes, safe
import jax
import jax.numpy as jnp


@jax.jit
def coarse(x):
    return jnp.round(x, 1)  # to one digit


def main():
    return coarse(jnp.array([0.44]))
#### imported-name-stays
import jax
import jax.numpy as jnp
from jax.numpy import around


@jax.jit
def coarse(x):
    return around(x)


def main():
    return coarse(jnp.array([0.44]))
"""


def main() -> int:
    """Write the files; returns the exit status."""
    groups = "\n".join(f"  {group[3:]}  {title}" for group, title in GROUPS.items() if group != "JAX0")
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"groups:\n{groups}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--group", metavar="N", choices=[group[3:] for group in GROUPS if group != "JAX0"])
    parser.add_argument("--code", metavar="CODE")
    parser.add_argument("--fixer", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args()
    root: Path = given.root
    taken = codes_in(root)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", given.name):
        parser.error(f"`{given.name}` is no name of a rule: use small letters, digits and hyphens, as in jit-in-loop")
    if (given.group is None) == (given.code is None):
        parser.error("give --group N for the next free code of a group, or --code CODE")
    code = given.code or next_code(given.group, taken)
    if not re.fullmatch(r"JAX[1-9]\d\d", code):
        parser.error(f"`{code}` is no code of a rule: use JAX and three digits, the first of which is the group")
    if code in taken:
        parser.error(f"{code} is taken by {taken[code]}; --group {code[3]} takes the next free one")
    files = files_of(given.name, code, fixer=given.fixer)
    existing = [path for path in files if (root / path).exists()]
    if existing:
        parser.error(f"{existing[0]} exists; choose another name")
    for path, text in files.items():
        (root / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    function = given.name.replace("-", "_")
    print(
        "\nNext: replace what says TODO, the example on the page first; then run\n"
        f"  pytest tests/rules{' tests/fixers' if given.fixer else ''} -k {function}\n"
        "  python scripts/rule_index.py     # adds the rule to docs/rules.md"
    )
    return 0


def codes_in(root: Path) -> dict[str, str]:
    """The codes that rules have, each with its file."""
    found: dict[str, str] = {}
    for path in sorted((root / "flake8_jax").rglob("*.py")):
        for code in re.findall(r"(?:@rule\(\s*|code=)\"(JAX\d{3})\"", path.read_text(encoding="utf-8")):
            found[code] = path.relative_to(root).as_posix()
    return found


def next_code(group: str, taken: dict[str, str]) -> str:
    """The code behind the last one of a group."""
    last = max((int(code[4:]) for code in taken if code[3] == group), default=0)
    return f"JAX{group}{last + 1:02}"


def next_minor(version: str) -> str:
    """The next version that may add a rule (`docs/versions.md`)."""
    major, minor = version.split(".")[:2]
    return f"{major}.{int(minor) + 1}.0"


def files_of(name: str, code: str, *, fixer: bool) -> dict[str, str]:
    """The texts of the new files by path."""
    function = name.replace("-", "_")
    words = {
        "name": name,
        "code": code,
        "function": function,
        "fixable": ', fixable="sometimes"' if fixer else "",
        "fix": "TODO say what the fix does, and that it is safe: why nothing changes."
        if fixer
        else "No fix. TODO say why.",
        "version": f"{next_minor(VERSION)}, not released yet.",
    }
    files = {
        f"flake8_jax/rules/{function}.py": RULE,
        f"tests/rules/data/{function}.py": PROGRAM,
        f"flake8_jax/runtime_checks/oracles/{function}.py": ORACLE,
    }
    texts = {path: text.format(**words) for path, text in files.items()}
    if fixer:
        texts[f"flake8_jax/fixers/{function}.py"] = FIXER.format(**words)
        texts[f"tests/fixers/fixtures/{name}.txt"] = FIXTURES
    return texts


if __name__ == "__main__":
    raise SystemExit(main())
