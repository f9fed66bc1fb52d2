"""Everything that CI checks, one session a line: `pipx run nox -s lint`. Without `-s`, lint, types and the fast tests run."""

from __future__ import annotations

import shutil

import nox

nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "uv|virtualenv"


def _run(session: nox.Session, *command: str) -> None:
    session.install("-e", ".[dev]")
    session.run(*command, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style with ruff."""
    _run(session, "ruff", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy."""
    _run(session, "mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests that need neither JAX nor an editor: about eight minutes."""
    _run(session, "pytest", "-q", "-n", "auto", "-m", "not slow")


@nox.session(python=["3.10", "3.11", "3.12", "3.13", "3.14"])
def tests_versions(session: nox.Session) -> None:
    """Run the fast tests on every supported Python that is installed."""
    _run(session, "pytest", "-q", "-n", "auto", "-m", "not slow")


@nox.session
def tests_all(session: nox.Session) -> None:
    """Run all tests: about twenty minutes on two cores."""
    _run(session, "pytest", "-q", "-n", "auto")


@nox.session
def spoiled(session: nox.Session) -> None:
    """Count how many fixes with a mistake `jaxlint prove` accepts (half an hour; one program: `-- --only NAME`)."""
    session.install("-e", ".[dev]")
    session.run("python", "benchmarks/prove_spoiled.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Run the commands that the documentation shows, and compare what they print."""
    _run(session, "python", "scripts/consoles.py")


@nox.session
def site(session: nox.Session) -> None:
    """Build the site of the documentation into build/site; a warning is an error."""
    _run(session, "sphinx-build", "-W", "--keep-going", "-q", "-b", "html", "docs", "build/site")


@nox.session
def pictures(session: nox.Session) -> None:
    """Make the pictures of the site from what jaxlint prints today."""
    _run(session, "python", "scripts/site_pictures.py")


@nox.session
def rules(session: nox.Session) -> None:
    """Write docs/rules.md from the pages of the rules."""
    _run(session, "python", "scripts/rule_index.py")


@nox.session
def build(session: nox.Session) -> None:
    """Build the wheel and the source distribution into dist/."""
    session.install("build")
    session.run("python", "-m", "build", *session.posargs)


@nox.session(python=False)
def vscode(session: nox.Session) -> None:
    """Pack the VS Code extension as a .vsix; needs npm."""
    if shutil.which("npm") is None:
        session.skip("npm is not installed")
    session.chdir("editors/vscode")
    for command in (["ci"], ["run", "check"], ["test"], ["run", "package"]):
        session.run("npm", *command, external=True)
