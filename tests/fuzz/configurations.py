"""Settings: every key with values of every type, hostile strings and huge numbers, in every file that is read for settings.

A folder of the case is left as it was, but for a folder of the cache that was not there before.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

from flake8_jax.settings.options import option_names
from fuzz import running, seeds
from fuzz.case import Broken, Case, Kind, Outcome
from fuzz.judging import command

_STRINGS = (
    "", " ", ".", "..", "/", "./.", "../..", "a/../..", "m.py", "m.py/x", "nul\\u0000byte", "*", "**", "**/", "!",
    "!!", "!*", "#", "[", "[!", "[]]", "[z-a]", "\\\\", "a\\\\", "a*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/b",
    "?" * 300, "a" * 100_000, "(?P<x>", "(a+)+$", "{a,b}", "ALL", "JAX", "JAX1", "JAX101", "jax101", "JAX９",
    "traced-branch", "E501", "JAX101,JAX102", " JAX101 ", "\\u202e", "\\u001b[2J", "é", ">=0.4.30,<0.8", "0.6.2",
    "==", ">=", "^1.0", "~=1", "1.0.dev0+local", "^" + "9" * 3000, "latest", "0.4.30; python_version<'3'", "jax",
    "full", "json", "jax.jit", "jax.nothing", "os.system", "jax..jit", "a.b.c", "x = 1", "\\U0001F600", "-", "--fix",
    "https://example.org",
)  # fmt: skip
_SCALARS = (
    "true", "false", "0", "1", "-1", "32", "9223372036854775807", "9223372036854775808", "1e400", "nan", "-inf",
    "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "0x1F", "1_000", "1" + "0" * 400, "3.5",
)  # fmt: skip
_BROKEN_TOML = (
    "select = ", "select = [", "[tool.jaxlint", "[[tool.jaxlint]]", "select = 'a\nb'", "= 1", "a" * 10_000,
    "[tool.jaxlint]\n[tool.jaxlint]", "select = ['JAX1']\nselect = ['JAX2']", "\x00", "\ufeff",
    "x = " + "[" * 2000 + "]" * 2000, "x = " + "9" * 5000, "x = {a={a={a={}}}}",
    "\n".join(f"a{i}.b.c = 1" for i in range(500)), ".".join(["a"] * 500) + " = 1", "[" + ".".join(["a"] * 500) + "]",
    "tool = 1", "tool.jaxlint = 1", "[tool]\njaxlint = []", "project = 1", "[project]\ndependencies = 1",
    "[project]\nrequires-python = 3", "# \x1b[31m", "x = \"\\ud800\"",
)  # fmt: skip
_REQUIREMENTS = (
    "jax", "jax==0.4.30", "jax>=0.4,<1", "jax[cuda12]>=0.5 ; python_version > '3.9'",
    "jax @ https://example.org/jax.whl", "jax===x", "jax>=", "jax" + " " * 20_000, "-r requirements.txt",
    "-r ../../x", "-e .", "jax>=" + "9" * 4000, "jax==*", "jax~=1", "\x00", "é", "jax>=1,>=2,<1", "[",
    "jax==0.4.30 --hash=sha256:x", "\\\n" * 50, "jax" + "[a]" * 500, "jaxlib", "flax>=0", "optax!=0.1",
    "numpyro==999",
)  # fmt: skip


def _string(rng: random.Random) -> str:
    return '"' + rng.choice(_STRINGS).replace('"', '\\"') + '"'


def _value(rng: random.Random, depth: int = 0) -> str:
    roll = rng.random()
    if roll < 0.45 or depth > 3:
        return _string(rng)
    if roll < 0.6:
        return rng.choice(_SCALARS)
    parts = [_value(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 3)))]
    if roll < 0.85:
        return f"[{', '.join(parts)}]"
    return f"{{ {', '.join(f'{_string(rng)} = {part}' for part in parts)} }}"


_SELECTORS = ("ALL", "JAX", "JAX1", "JAX101", "key-reuse")
_GOOD = {
    "per-file-ignores": ("JAX101", "JAX1", "ALL", "traced-branch"),
    "target-jax": (">=0.4.30,<0.8", "0.6.2", ">=0.4.30", "!=0.5.*", "0.4.30rc1"),
    "output-format": ("full", "json", "sarif", "markdown", "github"),
    "transforms": ("jax.jit", "jax.vmap", "jax.grad"),
    **dict.fromkeys(("select", "extend-select", "ignore", "fixable", "unfixable"), _SELECTORS),
}  # fmt: skip
"""Strings that some keys have to be told; all others take any."""


def _fitting(rng: random.Random, key: str) -> str:
    """A value of the right type: one that means something, where the key asks for that, or with a hostile string in it."""

    def nested() -> str:
        return f'"{rng.choice(_GOOD[key])}"' if key in _GOOD and rng.random() < 0.8 else _string(rng)

    if key == "per-file-ignores":
        return f"{{ {_string(rng)} = [{nested()}] }}"
    if key == "transforms":
        return f"{{ {_string(rng)} = {nested()} }}"
    if key in ("target-jax", "output-format", "cache-dir"):
        return nested()
    if key in ("unsafe-fixes", "force-exclude", "respect-gitignore", "preview"):
        return rng.choice(("true", "false"))
    if key == "unroll-threshold" or key.startswith("max-"):
        return rng.choice(_SCALARS)
    return f"[{', '.join(nested() for _ in range(rng.choice((1, 1, 2, 4))))}]"


def _table(rng: random.Random) -> str:
    keys = list(option_names())
    if rng.random() < 0.2:
        keys += ["unknown", "Select", "cache_dir", "", "tool.jaxlint"]
    chosen = rng.sample(keys, rng.choice((1, 1, 2, 4)))
    fitting = 0.95 if rng.random() < 0.7 else 0.4
    return "\n".join(
        f"{key if key.replace('-', '').replace('_', '').isalnum() else repr(key)} = "
        f"{_fitting(rng, key) if rng.random() < fitting else _value(rng)}"
        for key in chosen
    )  # fmt: skip


def _toml(rng: random.Random, name: str) -> bytes:
    roll = rng.random()
    header = "[tool.jaxlint]\n" if name == "pyproject.toml" else ""
    if roll < 0.15:
        text = header + rng.choice(_BROKEN_TOML)
    elif roll < 0.3 and name == "pyproject.toml":
        listed = ", ".join('"' + one.encode("unicode_escape").decode().replace("\\x", "\\u00").replace('"', "'") + '"'
                           for one in rng.sample(_REQUIREMENTS, 3))  # fmt: skip
        text = f"{header}{_table(rng)}\n[project]\nname = {_value(rng)}\ndependencies = [{listed}]\n"
        if rng.random() < 0.4:
            text += f"[tool.poetry.dependencies]\njax = {_value(rng)}\n"
    else:
        text = header + _table(rng)
    data = text.encode("utf-8", "surrogatepass")
    return _spoiled(rng, data)


def _spoiled(rng: random.Random, data: bytes) -> bytes:
    roll = rng.random()
    if roll < 0.85:
        return data
    if roll < 0.9:
        place = rng.randrange(len(data) + 1)
        return data[:place] + rng.choice((b"\xff", b"\x00", b"\r", b"\x1b", b"\xef\xbb\xbf")) + data[place:]
    return rng.choice(
        (data.decode("utf-8", "replace").encode("utf-16"), data[: len(data) // 2], data.replace(b"\n", b"\r\n"))
    )


def generate(rng: random.Random, number: int) -> Case:
    files = {"a/b/m.py": rng.choice(seeds.texts()).encode("utf-8")}
    name = rng.choice(("pyproject.toml", "pyproject.toml", "jaxlint.toml"))
    files[f"a/b/{name}"] = _toml(rng, name)
    if rng.random() < 0.4:
        name = rng.choice(("requirements.txt", "setup.py", "setup.cfg"))
        lines = rng.sample(_REQUIREMENTS, 3)
        text = {
            "requirements.txt": "\n".join(lines),
            "setup.py": f"from setuptools import setup\nsetup(install_requires={lines!r}, python_requires=1)\n",
            "setup.cfg": "[options]\ninstall_requires =\n    " + "\n    ".join(lines) + "\n",
        }[name]
        files[f"a/b/{name}"] = _spoiled(rng, text.encode("utf-8", "surrogatepass"))
    if rng.random() < 0.15:
        head = "\n".join(f"# {line}" for line in rng.sample(_REQUIREMENTS, 2) if "\n" not in line)
        files["a/b/m.py"] = f"# /// script\n# dependencies = [{head!r}]\n# ///\n".encode() + files["a/b/m.py"]
    if rng.random() < 0.2:
        files["a/b/c/jaxlint.toml"] = _toml(rng, "jaxlint.toml")
        files["a/b/c/n.py"] = b"import jax\n"
    return Case(files)


def judge(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as made:
        top = Path(made)
        case.write(top)
        folder = top / "a" / "b"
        before = _snapshot(top)
        statuses = [
            command(folder, *words)[0] for words in (("check", "--jobs", "1", "."), ("check", "m.py", "--jobs", "1"))
        ]
        for words in (("check", "--show-settings"), ("check", "--show-files"), ("config",), ("inspect", "m.py")):
            command(folder, *words)
        _only_a_cache(top, before)
        command(folder, "clean")
        after = _snapshot(top)
        if lost := [name for name in before if after.get(name) != before[name]]:
            raise Broken(f"clean changed {lost}")
        status, _, err = command(folder, "check", "--no-cache", "m.py")
        if status == 2 and not any(file.split("/")[-1] in err for file in case.files):
            raise Broken("an error that names no file", err)
        return Counter({("clean", "findings", "a configuration error")[max(statuses)]: 1})


def _snapshot(top: Path) -> dict[str, bytes]:
    return {str(path.relative_to(top)): path.read_bytes() if path.is_file() else b"" for path in sorted(top.rglob("*"))}


def _only_a_cache(top: Path, before: dict[str, bytes]) -> None:
    """Raises Broken where a file of the case changed, or something new is in a folder that was there before."""
    after = _snapshot(top)
    for name, data in before.items():
        if after.get(name) != data:
            raise Broken(f"linting changed {name}")
    for name in after.keys() - before.keys():
        if str(Path(name).parent) in before or "/" not in name:
            if not (top / name).is_dir() or not (
                list((top / name).rglob("CACHEDIR.TAG")) or not any((top / name).iterdir())
            ):
                raise Broken(f"linting left {name} outside of a cache")


KIND = Kind("configurations", generate, judge, wall=90)


def run(seed: int, count: int) -> dict[str, int]:
    return running.run("configurations", seed, count)
