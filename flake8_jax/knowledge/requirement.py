"""Requirements of JAX and of the libraries around it, as packaging files and scripts (PEP 723) write them.

Limitations: environment markers, several bounds on one library, the release that a git reference stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flake8_jax.core.cells import MAGIC

LIBRARIES = {
    "jax": "jax", "flax": "flax", "optax": "optax", "orbax": "orbax-checkpoint", "chex": "chex", "haiku": "dm-haiku",
    "numpyro": "numpyro", "equinox": "equinox", "diffrax": "diffrax",
}  # fmt: skip
"""The libraries whose history is known, by import name, and their distributions."""

NEEDED_BY_JAX = ("numpy", "scipy")
"""What each release of JAX needs a recent one of, so that an old one holds JAX back."""

NEEDING_JAX = (
    "blackjax", "brax", "distrax", "evosax", "gymnax", "jax-md", "jaxopt", "jraph", "lineax", "mctx",
    "objax", "optimistix", "rlax", "trax",
)  # fmt: skip
"""Libraries that bring JAX along: who asks for one of them asks for JAX, of any release."""

_IMPORT_NAMES = {distribution: name for name, distribution in LIBRARIES.items()} | {
    name: name for name in ("jaxlib", *NEEDED_BY_JAX, *NEEDING_JAX)
}
_NAME = "(" + "|".join(name.replace("-", "[-_.]") for name in _IMPORT_NAMES) + ")"
# No two runs of spaces stand next to each other, and all is on one line, so that matching takes linear time.
_SPACES = r"[^\S\n]*"
_CLAUSE = rf"(?:===|[<>=~!]=|[<>]){_SPACES}[\w.*+!]+"
_EXTRAS = rf"(?:\[[^\]\n]{{0,500}}\]{_SPACES})?"
_CLAUSES = rf"({_CLAUSE}(?:{_SPACES},{_SPACES}{_CLAUSE})*)"
_BOUND = rf"{_SPACES}{_EXTRAS}(?:\({_SPACES})?{_CLAUSES}"
_LITERAL = re.compile(rf"""["']{_SPACES}{_NAME}{_BOUND}""", re.IGNORECASE)
_LINE = re.compile(rf"""^{_SPACES}["']?{_NAME}{_BOUND}""", re.MULTILINE | re.IGNORECASE)
# ``jax``, ``"jax[cuda12]",``, ``jax  # any``: nothing but the name.
_OPEN = re.compile(
    rf"""^{_SPACES}(?:-{_SPACES})?["']?{_NAME}{_SPACES}{_EXTRAS}(?:["',;)]{{1,9}}{_SPACES})?(?:(?:#|-f |--).{{0,500}})?$""",
    re.MULTILINE | re.IGNORECASE,
)
_OPEN_LITERAL = re.compile(rf"""["']{_NAME}{_SPACES}{_EXTRAS}["']""", re.IGNORECASE)
# ``f"jax=={VERSION}"``, ``"jax<" + version``, ``"jaxlib==%s"``: an upper bound, and only running the script says which.
_COMPUTED = re.compile(
    rf"""["']{_SPACES}{_NAME}{_SPACES}{_EXTRAS}(?:{_CLAUSE}{_SPACES},{_SPACES}){{0,5}}(?:===?|~=|<=?){_SPACES}(?:["']|\{{|%)""",
    re.IGNORECASE,
)
# ``VERSION = "0.4.30"``, which an f-string may read; and a lower bound of one that reads anything else, which says nothing.
_CONSTANT = re.compile(r"""^[^\S\n]{0,20}(\w{1,60})[^\S\n]{0,5}=[^\S\n]{0,5}["']([\w.*+!]{1,40})["']""", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{(\w{1,60})\}")
_COMPUTED_LOWER = re.compile(r"(?<![<=>~!])>=?[^\S\n]{0,20}\{[^{}\n]{0,200}\}[^\S\n]{0,20},?")
_ARGUMENT = re.compile(rf"""(?<![\w.-]){_NAME}{_BOUND}""", re.IGNORECASE)
_INSTALLS = re.compile(r"\b(?:pip3?|conda|mamba|uv)\b.{0,100}?\b(?:install|add)\b(.{0,2000})")
# ``jax``, ``"jax[cuda12]"``, ``jax@git+https://…`` among the words of a command.
_NAMED = re.compile(rf"""(?<![\w./:-]){_NAME}(?:\[[^\]\n]{{0,500}}\])?(?=["'`\s@,;]|$)""", re.IGNORECASE)
# NVIDIA's images of JAX (``FROM nvcr.io/nvidia/jax:23.10-py3``) hold the JAX of their month.
_IMAGE = re.compile(r"^\s{0,20}(?:FROM|image:)\s{1,20}[\w./-]{0,200}\bjax:\d", re.MULTILINE | re.IGNORECASE)
# ``git+https://github.com/someone/flax.git@branch#egg=flax``
_GIT = re.compile(
    rf"""\bgit\+\w{{2,9}}://[^\s"'/]{{1,100}}[/:]([\w.-]{{1,100}})/{_NAME}(?:\.git)?(@[\w./-]{{1,100}})?(?![\w.-])""",
    re.IGNORECASE,
)
_OWNERS = frozenset({"google", "jax-ml", "deepmind", "google-deepmind", "patrick-kidger", "pyro-ppl"})
"""Who has the repositories of the libraries themselves: their newest commit is newer than the newest release."""
_SCRIPT_START = re.compile(r"^# /// script[^\S\n]*$", re.MULTILINE)
_SCRIPT_END = re.compile(r"^# ///[^\S\n]*$", re.MULTILINE)
_RELEASE = r"[0-9]{1,18}(?:\.[0-9]{1,18}){1,8}"
# ``jaxlib-0.4.7+cuda11.cudnn82-cp310-cp310-manylinux2014_x86_64.whl`` at the end of a URL, ``%2B`` for the plus sign.
_WHEEL = re.compile(rf"/{_NAME}-({_RELEASE})(?:(?:\+|%2B|[-.])[^\s/\"']{{0,200}})?\.(?:whl|tar\.gz|zip)", re.IGNORECASE)
# ``- conda-forge::jax=0.4.13=cuda*``, and the lines of its pip section.
_CONDA = re.compile(
    rf"""^{_SPACES}-{_SPACES}["']?(?:[\w-]{{1,100}}::)?{_NAME}{_EXTRAS}{_SPACES}=({_RELEASE}(?:\.\*)?)(?![\w.=*])""",
    re.MULTILINE | re.IGNORECASE,
)
_CONDA_BUILD = re.compile(
    rf"""^{_SPACES}-{_SPACES}["']?(?:[\w-]{{1,100}}::)?{_NAME}{_SPACES}=({_RELEASE})=(?!=)""",
    re.MULTILINE | re.IGNORECASE,
)
# ``jax=0.2.12=pypi_0``, as ``conda list --export`` writes it.
_EXPORTED = re.compile(rf"""^{_NAME}=({_RELEASE})=[\w.]{{1,100}}{_SPACES}$""", re.MULTILINE | re.IGNORECASE)
_ITEM = re.compile(rf"""^{_SPACES}-{_SPACES}["']?(?:[\w-]{{1,100}}::)?{_NAME}{_BOUND}""", re.MULTILINE | re.IGNORECASE)
_LOCKED = re.compile(rf"""^name = "{_NAME}"\nversion = "({_RELEASE})[^"\n]{{0,100}}"$""", re.MULTILINE)
_PIPFILE = re.compile(rf""""{_NAME}":\s{{0,50}}\{{[^{{}}]{{0,20000}}"version":\s{{0,50}}"=={{1,2}}({_RELEASE})""")
_PYTHON_KEYWORD = re.compile(
    rf"""\bpython_requires{_SPACES}={_SPACES}["']?{_SPACES}({_CLAUSE}(?:{_SPACES},{_SPACES}{_CLAUSE})*)"""
)
_PYTHON_CONDA = re.compile(
    rf"""^{_SPACES}-{_SPACES}["']?(?:[\w-]{{1,100}}::)?python{_SPACES}(?:=({_RELEASE}(?:\.\*)?)(?![\w.*])|{_CLAUSES})""",
    re.MULTILINE,
)
# ``conda create -n train python=3.10``, ``uv venv --python 3.10``, ``python3.10 -m venv``.
_PYTHON_COMMAND = re.compile(
    r"\b(?:conda|mamba)\b.{0,60}?\bcreate\b.{0,200}?\bpython={1,2}(3\.\d{1,3}(?:\.\d{1,3})?)(?![\w.*])"
    r"|\buv\b.{0,20}?\bvenv\b.{0,80}?(?:--python|-p)[ =](3\.\d{1,3})\b|\bpython(3\.\d{1,3})\s{1,9}-m\s{1,9}venv\b"
)
COMPUTED = "===?"
"""The specifier of a pin, or of an upper bound, whose release is not written down."""
PYTHON = "python"
"""The key of what a project asks of Python, beside the import names of the libraries."""
COMPANIONS = (PYTHON, *NEEDED_BY_JAX)
"""The keys of what says nothing of JAX itself, but which JAX there can be."""
_LONGEST = 200
"""Characters of a bound. Python does not even convert versions of thousands of digits."""


def library_of(distribution: str) -> str | None:
    """The import name of a distribution; None for one that nothing is known of."""
    return _IMPORT_NAMES.get(re.sub(r"[-_.]+", "-", distribution).lower())


def required(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every bound in lines such as ``jax[cpu] >= 0.4.30, < 0.8``."""
    yield from _found(_LINE, text)
    for exported in _EXPORTED.finditer(text):
        library = library_of(exported[1])
        if library is not None:
            yield library, f"=={exported[2]}"
    for reference in _GIT.finditer(text):
        library = library_of(reference[2])
        if library is not None and (reference[3] or reference[1].lower() not in _OWNERS):
            yield library, COMPUTED
    yield from _wheels(text)


def required_by_commands(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every bound in commands such as ``pip install -q jax==0.3.25 flax``."""
    for command in _INSTALLS.finditer(text):
        yield from _found(_ARGUMENT, command[1])
        yield from _wheels(command[1])


def required_by_instructions(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of what a README, a script, a workflow or a Dockerfile installs; an empty specifier for any
    release, ``COMPUTED`` for the JAX that comes with an image."""
    text = re.sub(r"^[^\S\n]*#.*$", "", text, flags=re.MULTILINE)
    commands = re.sub(r"\\\r?\n", " ", text)
    bounds = list(required_by_commands(commands))
    yield from bounds
    for command in _INSTALLS.finditer(commands):
        for found in _NAMED.finditer(command[1]):
            library = library_of(found[1])
            if library is not None and not any(library == bound for bound, _ in bounds):
                yield library, ""
    for made in _PYTHON_COMMAND.finditer(commands):
        release = next(filter(None, made.groups()))
        yield PYTHON, f"=={release}{'.*' if release.count('.') < 2 else ''}"
    if _IMAGE.search(text) and not any(library == "jax" for library, _ in bounds):
        yield "jax", COMPUTED


def mentioned(text: str) -> Iterator[str]:
    """Every library that a list of requirements, an environment, or a string literal of a script asks for without a bound."""
    for pattern in (_OPEN, _OPEN_LITERAL):
        for found in pattern.finditer(text):
            library = library_of(found[1])
            if library is not None:
                yield library


def required_by_conda(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every bound in an environment of conda, its pip section included."""
    for pattern, suffix in ((_CONDA_BUILD, ""), (_CONDA, ".*")):
        for found in pattern.finditer(text):
            library, release = library_of(found[1]), found[2].removesuffix(".*")
            if library is not None:  # ``jax=0.4`` stands for all of 0.4, ``jax=0.4.13`` for one release
                yield library, f"=={release}{suffix if release.count('.') < 2 else ''}"
    yield from _found(_ITEM, text)
    yield from _wheels(text)


def python_required(text: str) -> Iterator[tuple[str, str]]:
    """What setup.cfg or setup.py asks of Python (``python_requires``)."""
    for found in _PYTHON_KEYWORD.finditer(text):
        yield from _python(found[1])


def python_in_conda(text: str) -> Iterator[tuple[str, str]]:
    """What an environment of conda asks of Python; ``python=3.9`` stands for all of 3.9."""
    for found in _PYTHON_CONDA.finditer(text):
        if found[2]:
            yield from _python(found[2])
        else:
            release = found[1].removesuffix(".*")
            yield PYTHON, f"=={release}{'.*' if release.count('.') < 2 else ''}"


def _python(bound: str) -> Iterator[tuple[str, str]]:
    bound = re.sub(r"\s", "", bound)
    if len(bound) <= _LONGEST:
        yield PYTHON, bound


def locked(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every library in a lock file of uv, Poetry, PDM or pipenv."""
    for pattern in (_LOCKED, _PIPFILE):
        for found in pattern.finditer(text):
            library = library_of(found[1])
            if library is not None:
                yield library, f"=={found[2]}"


def is_computed(specifier: str) -> bool:
    """The specifier holds a pin whose release is not written down (``COMPUTED``)."""
    return COMPUTED[-1] in specifier


def has_upper_bound(specifier: str) -> bool:
    """Not every newer release fits."""
    return any(clause.startswith(("<", "==", "~=")) for clause in specifier.split(","))


def _wheels(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of what a URL of a distribution pins."""
    for found in _WHEEL.finditer(text):
        library = library_of(found[1])
        if library is not None:
            yield library, f"=={found[2]}"


def required_in_literals(text: str) -> Iterator[tuple[str, str]]:
    """(library, specifier) of every bound that starts a string literal; ``COMPUTED`` where the script computes it."""
    constants = dict(_CONSTANT.findall(text))
    text = _PLACEHOLDER.sub(lambda found: constants.get(found[1], found[0]), text)
    text = _COMPUTED_LOWER.sub("", text)
    for computed in _COMPUTED.finditer(text):
        library = library_of(computed[1])
        if library is not None and library not in COMPANIONS:
            yield library, COMPUTED
    yield from _found(_LITERAL, text)


def required_in_file(text: str) -> dict[str, str]:
    """What a file asks for itself, by library: a notebook by its commands, a script by its metadata (PEP 723)."""
    commands = "\n".join(line for line in text.splitlines() if MAGIC in line) if MAGIC in text else ""
    start = _SCRIPT_START.search(text)
    end = _SCRIPT_END.search(text, start.end()) if start is not None else None
    script = text[start.end() : end.start()] if start is not None and end is not None else ""
    return {**dict(required_by_commands(commands)), **dict(required_in_literals(script))}


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    for found in pattern.finditer(text):
        library = library_of(found[1])
        bound = re.sub(r"\s", "", found[2]).rstrip(",")
        if library is not None and len(bound) <= _LONGEST:
            yield library, bound
