"""Writes the tables of jax.numpy, jax.lax, jax.nn, jax.random, jax.scipy, NumPy and SciPy.

    python scripts/generate_knowledge.py [--check] [TABLE …]

Signatures and whatever a probe can answer come from the installed packages; judgement (what is a key, a shape, a
size) from the tables in ``knowledge_*.py`` and from ``knowledge_by_hand.toml``. A role that a probe contradicts is
not written. Needs jax, numpy and scipy, and nothing else of the project; probing jax.numpy takes minutes.
``--check`` writes nothing and exits with 1 when a table would change.

The other tables are written by hand; tests/knowledge compares them with the installed libraries.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from knowledge_jax import jax_lax, jax_nn, jax_numpy, jax_random, jax_scipy, with_judgement
from knowledge_numpy import host_random_classes, numpy_table, scipy_table
from knowledge_writer import Writer

TABLES = Path(__file__).resolve().parent.parent / "flake8_jax" / "knowledge"

MAKERS: dict[str, Callable[[], str]] = {
    "jax.numpy": lambda: report(with_judgement(jax_numpy())),
    "jax.lax": lambda: report(with_judgement(jax_lax())),
    "jax.nn": lambda: report(with_judgement(jax_nn())),
    "jax.random": lambda: report(jax_random()),
    "jax.scipy": lambda: report(with_judgement(jax_scipy())),
    "numpy": lambda: report(numpy_table()) + host_random_classes(),
    "scipy": lambda: report(scipy_table()),
}


def report(writer: Writer) -> str:
    if writer.unsampled:
        print(f"  no sample runs: {' '.join(writer.unsampled)}", file=sys.stderr)
    return writer.text()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(MAKERS)}; all when none is named")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a table would change")
    arguments = parser.parse_args()
    changed = False
    for name in arguments.tables or MAKERS:
        print(name, file=sys.stderr)
        text = MAKERS[name]()
        path = TABLES / f"{name}.toml"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        changed = True
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
    return int(arguments.check and changed)


if __name__ == "__main__":
    sys.exit(main())
