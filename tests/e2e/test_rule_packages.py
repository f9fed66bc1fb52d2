"""Rules of other packages: found through their entry points, run beside ours, and named where they cannot be used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import flake8_jax
from flake8_jax.cli import main
from flake8_jax.pipeline import installed

EXAMPLE = Path(__file__).parents[2] / "docs" / "rule-package"
PROGRAM = """\
import jax
import jax.numpy as jnp


@jax.jit
def predict(a, b):
    return 2 * (jnp.linalg.inv(a) @ b)
"""
RULE = '''\
from flake8_jax.authoring import LibraryCall, Report, rule

@rule("{code}", "warning")
def {name}(event: LibraryCall) -> Report | None:
    """Text."""
    return Report(event.at, "{message}") if event.name == "jax.numpy.linalg.inv" else None
'''

Package = Callable[..., Path]


def write_package(site: Path, name: str, entry: str, files: dict[str, str]) -> Path:
    """An installed package called ``name`` with these files, as pip leaves it."""
    for file, text in files.items():
        path = site / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[flake8_jax.rules]\n{entry}\n", encoding="utf-8")
    return site / name


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """``package(name, entry, files)`` installs a package for this interpreter. The test runs in a project with PROGRAM."""
    site, project = tmp_path / "site", tmp_path / "project"
    site.mkdir()
    project.mkdir()
    (project / "pyproject.toml").write_text("[tool.jaxlint]\n", encoding="utf-8")
    (project / "linear.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(installed, "site_folders", lambda: [str(site)])
    before = set(sys.modules)
    for cached in (installed.load, installed._offers_in):
        cached.cache_clear()

    def install(name: str, entry: str, files: dict[str, str]) -> Path:
        return write_package(site, name, entry, {"__init__.py": "", **files})

    yield install
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(site)):
            del sys.modules[name]
    for cached in (installed.load, installed._offers_in):
        cached.cache_clear()


@pytest.fixture
def acme(package: Package) -> Path:
    """The documented package."""
    source = EXAMPLE / "src" / "acme_jax_rules"
    files = {str(path.relative_to(source)): path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    return package("acme_jax_rules", "ACM = acme_jax_rules.rules", files)


def test_both_kinds_of_rules_report_with_chain_and_fix(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--no-cache", "."]) == 1
    said = capsys.readouterr().out
    assert "linear.py:7:17: ACM101 (explicit-inverse) Inverting `a` is slow" in said
    assert "linear.py:7:17: ACM201 (inverse-product) `jnp.linalg.inv(a) @ b` inverts" in said
    assert said.count("= linear.py:5: `jax.jit` traces `predict`") == 2
    assert main(["check", "--no-cache", "--fix", "--unsafe-fixes", "."]) == 0
    assert "return 2 * jnp.linalg.solve(a, b)\n" in Path("linear.py").read_text(encoding="utf-8")


def test_the_document_shows_the_package(acme: Path) -> None:
    page = (EXAMPLE.parent / "rule-packages.md").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in acme.rglob("*.py"))
    shown = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert shown
    assert all(block in code for block in shown)
    project = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    lines = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0].splitlines()
    assert not [line for line in lines if line not in project.splitlines()]


def test_selection_and_comments_know_the_codes(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-n", "-q", "--select", "JAX", "."]) == 0
    assert main(["check", "-n", "-q", "--select", "ACM1,inverse-product", "--output-format", "concise", "."]) == 1
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["ACM101", "ACM201"]
    Path("linear.py").write_text(PROGRAM[:-1] + "  # noqa: ACM101, ACM201\nx = 1  # noqa: ACM201\n", encoding="utf-8")
    assert main(["check", "-n", "--extend-select", "unused-noqa", "--output-format", "concise", "."]) == 1
    assert "linear.py:8:8: JAX002" in capsys.readouterr().out


def test_rules_are_listed_with_their_package(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "explicit-inverse"]) == 0
    assert "Installed by acme_jax_rules 1.0." in capsys.readouterr().out
    assert main(["rules"]) == 0
    assert "ACM201  inverse-product" in capsys.readouterr().out


def test_findings_of_a_changed_package_are_not_taken_from_the_cache(
    package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = package("other", "OTH = other.rules", {"rules.py": RULE.format(code="OTH101", name="one", message="old")})
    assert [main(["check", "."]), main(["check", "."])] == [1, 1]
    assert capsys.readouterr().out.count("OTH101 (one) old") == 2
    (folder / "rules.py").write_text(RULE.format(code="OTH101", name="one", message="newer"), encoding="utf-8")
    del sys.modules["other.rules"]
    installed.load.cache_clear()
    assert main(["check", "."]) == 1
    assert "OTH101 (one) newer" in capsys.readouterr().out


def test_a_package_that_fails_to_import_is_named_and_the_rest_goes_on(
    package: Package, acme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package("broken", "BRO = broken.rules", {"rules.py": "import no_such_module\n"})
    package("absent", "ABS = absent.missing", {})
    package("empty", "EMP = empty", {})
    for _ in range(2):  # a warm run names them as well
        assert main(["check", "."]) == 2
        said = capsys.readouterr()
        assert "ACM101" in said.out
        assert "broken.rules of broken 1.0 (BRO = broken.rules) cannot be imported: ModuleNotFoundError" in said.err
        assert "absent.missing of absent 1.0" in said.err
        assert "empty 1.0 (EMP = empty) has no rules" in said.err


@pytest.mark.parametrize(
    ("entry", "code", "reason"),
    [
        ("JAX = odd.rules", "JAX999", "two or three capital letters, not JAX"),
        ("toolong = odd.rules", "ODD101", "two or three capital letters, not JAX"),
        ("ODD = odd.rules:one", "ODD101", "`odd.rules:one` is not the name of a module or package"),
        ("ODD = odd.rules", "JAX999", "its code JAX999 must be ODD and three digits"),
        ("ODD = odd.rules", "ODD1", "its code ODD1 must be ODD and three digits"),
    ],
)
def test_codes_have_the_prefix_of_their_entry_point(
    entry: str, code: str, reason: str, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    package("odd", entry, {"rules.py": RULE.format(code=code, name="one", message="said")})
    assert main(["check", "-n", "."]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(("code", "name"), [("ACM101", "another"), ("ACM999", "traced_branch")])
def test_two_rules_with_one_code_or_name_are_an_error_at_start(
    code: str, name: str, package: Package, acme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package("twin", "ACM = twin.rules", {"rules.py": RULE.format(code=code, name=name, message="said")})
    label = code if name == "another" else "traced-branch"
    for command in (["check", "-n", "."], ["rules"]):
        assert status_of(command) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert f"two rules are called {label}: " in said.err
        assert f"twin.rules.{name}" in said.err


def status_of(command: list[str]) -> int:
    try:
        return main(command)
    except SystemExit as error:
        return int(str(error.code))


def test_a_rule_that_fails_is_named_and_the_rest_goes_on(
    package: Package, acme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = RULE.format(code="BAD101", name="bad_event", message="said").replace(
        "    return", "    raise OSError('lost')\n    return"
    )
    node = """\
import libcst as cst
from flake8_jax.authoring import NodeFacts, NodeReport, rule

@rule("BAD201", "warning")
def bad_node(node: cst.Call, facts: NodeFacts) -> NodeReport | None:
    '''Text.'''
    return NodeReport(cst.Name("elsewhere"), "said")
"""
    package("bad", "BAD = bad", {"event.py": event, "node.py": node})
    assert main(["check", "-n", "--output-format", "concise", "."]) == 2
    said = capsys.readouterr()
    assert "ACM101" in said.out
    assert "bad-event failed on linear.py: TypeError: OSError: lost" in said.err
    assert "bad-node failed on linear.py: LookupError" in said.err
    assert said.err.count("(a defect of bad 1.0; report it to its authors)") == 2


def test_a_project_cannot_bring_rules_along(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(Path.cwd(), "evil", "EVI = evil", {"__init__.py": "from pathlib import Path\nPath('ran').touch()\n"})
    write_package(Path(installed.site_folders()[0]), "good", "GOO = good", {"__init__.py": ""})
    (Path.cwd() / "good.py").write_text("from pathlib import Path\nPath('ran').touch()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(Path.cwd()))  # as `python -m flake8` does
    main(["check", "-n", "."])
    assert not Path("ran").exists()


@pytest.mark.slow
def test_a_package_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """The documented package with flake8, in worker processes, and with its own tests, as its author runs them."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=os.name != "nt")
    python = tmp_path / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = tmp_path / "env" / ("Lib/site-packages" if os.name == "nt" else f"lib/{version}/site-packages")
    ours = [sysconfig.get_path("purelib"), str(Path(flake8_jax.__file__).parents[1])]
    (site / "ours.pth").write_text("\n".join(ours) + "\n", encoding="utf-8")
    project = shutil.copytree(EXAMPLE, tmp_path / "acme")
    source = project / "src"
    (site / "acme.pth").write_text(f"{source}\n", encoding="utf-8")
    write_package(site, "acme_jax_rules", "ACM = acme_jax_rules.rules", {})
    (tmp_path / "linear.py").write_text(PROGRAM, encoding="utf-8")

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [str(python), "-m", *arguments]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)

    done = run("flake8", "--isolated", "--jobs=2", "linear.py", "linear.py")
    assert "linear.py:7:17: ACM101" in done.stdout, done.stderr
    done = run("pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout
    page = source / "acme_jax_rules" / "rules" / "explicit_inverse.py"
    page.write_text(page.read_text(encoding="utf-8").replace("# expect: explicit-inverse", ""), encoding="utf-8")
    done = run("pytest", "-q", "-p", "no:cacheprovider", str(page), cwd=project)
    assert "example.py:6: explicit-inverse is reported and not expected" in done.stdout
    assert "no example on its page has a line that ends in `# expect: explicit-inverse`" in done.stdout
