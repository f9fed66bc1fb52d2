"""Writes knowledge/versions/gone.toml: the public names that releases of the libraries had, and the newest ones lack.

    python scripts/gone_names.py [--check] WHEELS PYTHON …

WHEELS is a folder of wheels, as ``python -m pip download --no-deps -d WHEELS jax==0.4.31`` leaves them, one call a release.
They are read, not installed. Every PYTHON is an interpreter that can import the newest releases, or older ones: a name that one
of them has went after it, whatever the wheels say. Left out are names that the hand-written tables explain, and those of a
module that is gone itself. A release between two that are in the folder is taken to have what both have.
Of JAX, what was gone before the oldest release of its table has no release: the wheels before it are few.
``--check`` writes nothing and exits with 1 when the file would change.

Limitations: names that a module makes at run time; arguments; attributes of classes.
"""

from __future__ import annotations

import argparse
import builtins
import json
import subprocess
import sys
import typing
from pathlib import Path

from library_versions import Release

from flake8_jax.knowledge.history import History, Version, show, version_of
from flake8_jax.knowledge.requirement import LIBRARIES as DISTRIBUTIONS

LIBRARIES = ("jax", "flax", "optax", "numpyro", "haiku")
VERSIONS = Path(__file__).resolve().parent.parent / "flake8_jax" / "knowledge" / "versions"
TARGET = VERSIONS / "gone.toml"
INSTEAD = {
    "jax.experimental.optix": "optax",
    "jax.lib.xla_bridge": "jax.extend.backend",
    "jax.test_util.JaxTestCase": "absl.testing.absltest.TestCase with the functions of numpy.testing",
    "jax.tools.colab_tpu": "the runtime as it is, because TPU runtimes of Colab need no set-up now",
    "numpyro.contrib.autoguide": "numpyro.infer.autoguide",
    "numpyro.hmc_util": "numpyro.infer.hmc_util",
    "numpyro.infer.init_to_prior": "numpyro.infer.init_to_sample",
    "numpyro.infer.util.init_to_median": "numpyro.infer.init_to_median",
    "numpyro.infer_util": "numpyro.infer.util",
    "numpyro.mcmc": "numpyro.infer",
    "numpyro.svi": "numpyro.infer",
    "optax._src.loss": "optax.losses",
    "optax._src.transform.bias_correction": "optax.tree.bias_correction",
    "optax._src.transform.update_moment": "optax.tree.update_moment",
    "optax._src.utils.cast_tree": "optax.tree.cast",
}
"""What replaces some of them."""
PRIVATE = ("optax._src",)
"""Private packages that much code imports from."""
UNUSED = ("jax.experimental.mosaic", "jax.experimental.pallas.ops")
"""Packages that only JAX itself imports from."""
FOREIGN = frozenset(
    {*dir(builtins), *sys.stdlib_module_names, *typing.__all__, "partial", "onp", "scipy", "contextmanager"}
)
"""What a module that imports everything from another has of Python's."""
NO_API = ("tests", "conftest", "examples")
SHORTEST = 3
"""Shorter names are those of type variables and aliases."""
PROBE = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")

def has(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            if error.name is not None and not name.startswith(error.name):
                return True  # it is there, and needs something else
            continue
        except Exception:
            continue
        try:
            for part in parts[cut:]:
                value = getattr(value, part)
        except AttributeError:
            return False
        return True
    return False

library, names = json.load(sys.stdin)
try:
    version = importlib.import_module(library).__version__
except ImportError:
    version = ""
print(json.dumps([version, [name for name in names if has(name)] if version else []]))
"""


def present(python: str, library: str, names: list[str]) -> tuple[Version, set[str]]:
    """The installed release of a library, () for none, and the names that it has."""
    question = json.dumps([library, names])
    done = subprocess.run([python, "-c", PROBE], input=question, capture_output=True, text=True, check=True)
    version, found = json.loads(done.stdout.splitlines()[-1])
    return (version_of(version) if version else ()), set(found)


def corrected(
    gone: dict[str, Version], releases: list[Release], probed: tuple[Version, set[str]]
) -> dict[str, Version]:
    """``gone`` without what an installed release has after all: made at run time, it went later than the files say."""
    installed, names = probed
    later = [release.version for release in releases if release.version > installed]
    return {
        name: later[0] if name in names and release <= installed else release
        for name, release in gone.items()
        if name not in names or later
    }


def is_public(module: str) -> bool:
    """No part of the name says that it is private, or a test."""
    if any(module.startswith(unused + ".") for unused in UNUSED):
        return False
    for private in PRIVATE:
        if module == private or module.startswith(private + "."):
            module = module.removeprefix(private)
    parts = module.split(".")
    return not any(
        part.startswith("_") or part in ("tests", "conftest", "examples") or part.endswith("_test") for part in parts
    )


def lost(releases: list[Release], library: str) -> dict[str, Version]:
    """The names that an older release has, and the newest lacks, with the release after the last that has them."""
    gone: dict[str, Version] = {}
    before: frozenset[str] = frozenset()
    for release in releases:
        names = frozenset(
            f"{module}.{name}"
            for module in release.modules(library)
            if is_public(module)
            for name in release.defined(module)
            if len(name) >= SHORTEST and name.isidentifier() and not name.startswith("_") and name not in FOREIGN
        ) | frozenset(filter(is_public, release.modules(library)))
        for name in before - names:
            gone[name] = release.version
        for name in names.intersection(gone):
            del gone[name]
        before = names
    return gone


def explained(name: str, history: History, gone: dict[str, Version]) -> bool:
    """A table says what became of the name, or one of the modules around it is gone."""
    if history.change(name) is not None:
        return True
    owner = name.rpartition(".")[0]
    while "." in owner:
        change = history.change(owner)
        if owner in gone or (change is not None and change.removed is not None):
            return True
        owner = owner.rpartition(".")[0]
    return False


def section(history: History, gone: dict[str, Version]) -> list[str]:
    """The lines of one library: by module, the releases and what each lacks."""
    modules: dict[str, dict[Version, list[str]]] = {}
    for name, release in gone.items():
        owner, _, last = name.rpartition(".")
        dated = () if release <= history.oldest else release
        modules.setdefault(owner, {}).setdefault(dated, []).append(last)
    lines = []
    for owner, by_release in sorted(modules.items()):
        parts = [
            " ".join([show(release) if release else "0", *sorted(names)])
            for release, names in sorted(by_release.items())
        ]
        lines.append(f'"{owner}" = "{" | ".join(parts)}"')
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheels", metavar="WHEELS", type=Path, help="a folder of wheels, as pip downloads them")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="an interpreter that has the newest releases")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file would change")
    arguments = parser.parse_args()
    lines = [
        "# The public names that releases had and the newest ones lack, beside those that the other tables explain.",
        "# Generated by scripts/gone_names.py: edit that, not this.",
        "#",
        "# By module: the first release that lacks a name, and the names; 0: before the oldest release of the table.",
        "# instead      what replaces some of them",
    ]
    instead: dict[str, str] = {}
    for library in LIBRARIES:
        history = History((VERSIONS / f"{library}.toml").read_text(encoding="utf-8"))
        wheels = arguments.wheels.glob(f"{DISTRIBUTIONS[library].replace('-', '_')}-*.whl")
        releases = sorted(map(Release, wheels), key=lambda release: release.version)
        releases = [release for release in releases if release.version <= history.newest]
        if not releases or releases[-1].version != history.newest:
            parser.error(f"no wheel of {library} {show(history.newest)}")
        gone = lost(releases, library)
        for python in arguments.pythons:
            gone = corrected(gone, releases, present(python, library, sorted(gone)))
        kept = {name: release for name, release in gone.items() if not explained(name, history, gone)}
        lines += ["", f"[{library}]", *section(history, kept)]
        instead.update((name, INSTEAD[name]) for name in kept if name in INSTEAD)
    lines += ["", "[instead]", *[f'"{name}" = "{new}"' for name, new in sorted(instead.items())]]
    text = "\n".join(lines) + "\n"
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    if not arguments.check:
        TARGET.write_text(text, encoding="utf-8")
    return int(arguments.check)


if __name__ == "__main__":
    sys.exit(main())
