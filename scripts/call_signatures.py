"""Writes knowledge/signatures/*.toml: the parameters of public functions and classes, in every release that is asked.

    python scripts/call_signatures.py [--check] PYTHON …

Every PYTHON is an interpreter that can import JAX, Flax, optax and Equinox; together they are some releases of each, with the
oldest and the newest that the tables are to cover. A function stands under the name that the knowledge tables give it, and
with each signature that some release gives it under any of its names. Left out are functions that take any arguments, and
classes whose constructor says nothing. ``--check`` writes nothing and exits with 1 if a file would change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from flake8_jax.knowledge import Knowledge, load
from flake8_jax.knowledge.call_signatures import LIBRARIES
from flake8_jax.knowledge.history import version_of

FOLDER = Path(__file__).resolve().parent.parent / "flake8_jax" / "knowledge" / "signatures"
TITLES = {"jax": "JAX", "flax": "Flax", "optax": "optax", "equinox": "Equinox"}
MODULES = (
    "jax", "jax.lax", "jax.nn", "jax.nn.initializers", "jax.numpy", "jax.numpy.fft", "jax.numpy.linalg", "jax.random",
    "jax.scipy.linalg", "jax.scipy.signal", "jax.scipy.special", "jax.tree", "jax.tree_util", "jax.image", "jax.ops",
    "equinox", "equinox.nn", "flax.core", "flax.jax_utils", "flax.linen", "flax.nnx", "flax.serialization",
    "flax.training.checkpoints", "flax.training.common_utils", "flax.training.train_state", "flax.traverse_util",
    "optax", "optax.contrib", "optax.losses", "optax.projections", "optax.schedules", "optax.tree", "optax.tree_utils",
)  # fmt: skip
PROBE = """
import importlib, inspect, json, sys, warnings
warnings.simplefilter("ignore")

def written(parameters):
    parts, star, slash = [], False, False
    for p in parameters:
        if slash and p.kind is not p.POSITIONAL_ONLY:
            parts.append("/")
        slash = p.kind is p.POSITIONAL_ONLY
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        parts.append(mark + p.name + ("" if mark or p.default is p.empty else "="))
    return ", ".join(parts + ["/"] if slash else parts)

def parameters(value):
    if not isinstance(value, type):
        return list(inspect.signature(value).parameters.values())
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return list(inspect.signature(value.__new__).parameters.values())[1:]
    if not inspect.isfunction(value.__init__):
        raise ValueError
    return list(inspect.signature(value.__init__).parameters.values())[1:]

found, versions = {}, {}
for path in json.load(sys.stdin):
    try:
        module = importlib.import_module(path)
    except ImportError:
        continue
    top = path.partition(".")[0]
    versions[top] = importlib.import_module(top).__version__
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("_") or not callable(value) or inspect.ismodule(value):
            continue
        if isinstance(value, type) and issubclass(value, BaseException):
            continue
        try:
            found[f"{path}.{name}"] = written(parameters(value))
        except (TypeError, ValueError):
            pass
json.dump([versions, found], sys.stdout)
"""


def probe(python: str) -> tuple[dict[str, str], dict[str, str]]:
    """The releases that an interpreter has, and the signatures of their functions."""
    done = subprocess.run([python, "-c", PROBE], input=json.dumps(MODULES), capture_output=True, text=True, check=True)
    versions, found = json.loads(done.stdout)
    return versions, found


def _is_open(signature: str) -> bool:
    """It takes any call."""
    return signature in ("*args, **kwargs", "*args, **kwds")


def merged(releases: list[dict[str, str]], knowledge: Knowledge) -> dict[str, list[str]]:
    """By canonical name, the signatures of all releases, those of the first release first."""
    signatures: dict[str, list[str]] = {}
    for found in releases:
        for name, signature in sorted(found.items()):
            known = signatures.setdefault(knowledge.canonical(name), [])
            if signature not in known:
                known.append(signature)
    return {name: known for name, known in signatures.items() if not any(map(_is_open, known))}


def table(library: str, versions: list[str], signatures: dict[str, list[str]]) -> str:
    """The text of one file."""
    lines = [
        f"# The parameters of {TITLES[library]}'s functions. Written by scripts/call_signatures.py.",
        "",
        "[releases]",
        f'"title" = "{TITLES[library]}"',
        f'"newest" = "{max(versions, key=version_of)}"',
        f'"oldest" = "{min(versions, key=version_of)}"',
        "",
        "[signatures]",
        *(f'"{name}" = "{" | ".join(known)}"' for name, known in sorted(signatures.items())),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    options = parser.parse_args()
    probed = sorted(map(probe, options.pythons), key=lambda answer: version_of(answer[0]["jax"]), reverse=True)
    signatures = merged([found for _, found in probed], load())
    changed = False
    for library in LIBRARIES:
        own = {name: known for name, known in signatures.items() if name.partition(".")[0] == library}
        text = table(library, [versions[library] for versions, _ in probed], own)
        path = FOLDER / f"{library}.toml"
        changed = changed or not path.exists() or path.read_text(encoding="utf-8") != text
        if not options.check:
            path.write_text(text, encoding="utf-8")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
