"""``jaxlint prove``: what is said of fixes that preserve, enable, differ, change results as meant, or were never reached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.backend import fake_backend

from flake8_jax.cli.check import run as check
from flake8_jax.cli.prove import run
from flake8_jax.pipeline.backend import Backend
from flake8_jax.pipeline.workspace import Question, Workspace
from flake8_jax.repair.passes import repair
from flake8_jax.runtime_checks.project_copy import CopyError, copy_project, outermost
from flake8_jax.runtime_checks.speed import confirmed, judged, sentence
from flake8_jax.settings.resolver import Resolver

PROGRAM = """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def loud(x):
    print("sum", x.sum())
    return x * 2


@jax.jit
def wave(x):
    return np.sin(x) + 1


def noise(key):
    return jax.random.normal(key, (4,)) + jax.random.normal(key, (4,))


@jax.jit
def never(x):
    print("sum", x.sum())
    return x


def main():
    x = jnp.arange(4.0)
    for _ in range(10):
        x = loud(x) / 2
    total = wave(x) + noise(jax.random.key(0))
    with open("made.txt", "a") as file:
        file.write("x")
    return total


if __name__ == "__main__":
    main()
"""


class Proved:
    """What the command said: the fix verdicts by rule and row."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.err = status, err
        self.findings: list[dict[str, Any]] = json.loads(out) if out.startswith("[") else []

    def verdict(self, name: str, row: int | None = None) -> Mapping[str, Any]:
        found = [f for f in self.findings if f["name"] == name and row in (None, f["location"]["row"])]
        assert len(found) == 1, (name, self.findings, self.err)
        verdict: Mapping[str, Any] = found[0]["fix_verdict"]
        return verdict


class Project:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def prove(self, *options: str, command: str = "main.py", backend: Backend | None = None) -> Proved:
        self._capsys.readouterr()
        given = ["--no-cache", "--output-format", "json", *options, ".", "--", "python", command]
        status = run(given, backend)
        out, err = self._capsys.readouterr()
        return Proved(status, out, err)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


@pytest.mark.jax
def test_each_fix_gets_its_verdict_and_what_is_proved_is_written(project: Project) -> None:
    path = project.root / "main.py"
    path.write_text(PROGRAM)
    said = project.prove("--write")
    loud = said.verdict("print-in-staged", 8)
    assert loud["verdict"] == "preserved", loud
    assert loud["details"]["calls"] == 11 and loud["details"]["max_ulp"] == 0  # ten of `loud`, one of `main`
    assert [speed["name"] for speed in loud["details"]["speed"]] == ["loud"]
    wave = said.verdict("numpy-on-tracer")
    assert wave["verdict"] == "enables", wave
    assert wave["details"]["exception"]["type"] == "TracerArrayConversionError"
    assert wave["details"]["reference"] == "jax_disable_jit" and wave["details"]["results"] >= 1
    noise = said.verdict("key-reuse")
    assert noise["verdict"] == "intended-change" and "`noise`" in noise["reason"], noise
    never = said.verdict("print-in-staged", 23)
    assert (never["verdict"], never["reason"]) == ("inconclusive", "the line did not run")
    assert said.status == 1
    written = path.read_text()
    assert "jnp.sin(x)" in written and "jax.random.split" in written
    assert written.count("jax.debug.print") == 1 and 'print("sum", x.sum())\n    return x\n' in written
    assert sorted(p.name for p in project.root.iterdir()) == [".git", "main.py"]  # the command ran elsewhere


# The stand-in for an analysis replaces ``np.sin`` by ``jnp.sin``, ``EURO`` by a string, and ``UNSAFE``, by a rule that may
# change results, by ``okay``.
DIFFERING = """\
import jax
import jax.numpy as jnp
import numpy as np

okay = 3.0
globals()["UNSA" + "FE"] = globals()["EU" + "RO"] = 2.0


def good():
    return np.sin(jnp.arange(3.0))


def bad(x):
    return x * EURO


def meant(x):
    return x * UNSAFE


print(good(), bad(jnp.ones(3)), meant(jnp.ones(3)))
"""


@pytest.mark.jax
def test_a_batch_that_differs_is_taken_apart(project: Project) -> None:
    (project.root / "main.py").write_text(DIFFERING)
    said = project.prove("--write", backend=fake_backend())
    good, bad, meant = (finding["fix_verdict"] for finding in said.findings)
    assert good["verdict"] == "preserved", good
    assert bad["verdict"] == "differs" and "call 1 of `bad`: it raises TypeError" in bad["reason"], bad
    assert meant["verdict"] == "intended-change" and "differs by 0.5 of its largest value" in meant["reason"], meant
    assert said.status == 1
    assert (project.root / "main.py").read_text() == DIFFERING.replace("np.sin", "jnp.sin").replace(" UNSAFE", " okay")


@pytest.mark.jax
def test_a_command_that_fails_first_blocks(project: Project) -> None:
    (project.root / "main.py").write_text('import model\nraise RuntimeError("no data here")\n')
    (project.root / "model.py").write_text(PROGRAM)
    said = project.prove("--write", "--select", "numpy-on-tracer")
    verdict = said.verdict("numpy-on-tracer")
    assert verdict["verdict"] == "blocked" and "no data here" in verdict["reason"], verdict
    assert (project.root / "model.py").read_text() == PROGRAM


@pytest.mark.jax
def test_a_command_that_takes_too_long_proves_nothing(project: Project) -> None:
    (project.root / "main.py").write_text(PROGRAM + "\nwhile True:\n    pass\n")
    said = project.prove("--timeout", "1.5", "--select", "numpy-on-tracer")
    verdict = said.verdict("numpy-on-tracer")
    assert verdict["verdict"] == "inconclusive" and "longer than 1.5 s" in verdict["reason"], verdict
    (project.root / "main.py").write_text("import time\n\ntime.sleep(60)\n" + PROGRAM)
    said = project.prove("--timeout", "0.5", "--select", "numpy-on-tracer")
    verdict = said.verdict("numpy-on-tracer")
    assert verdict["verdict"] == "inconclusive" and verdict["reason"].startswith("it ran longer than 0.5 s"), verdict


@pytest.mark.jax
def test_a_device_that_is_not_here_proves_nothing(project: Project) -> None:
    (project.root / "main.py").write_text(PROGRAM)
    verdict = project.prove("--target", "tpu", "--select", "numpy-on-tracer").verdict("numpy-on-tracer")
    assert verdict["verdict"] == "unsupported-target" and "no tpu device here" in verdict["reason"], verdict


@pytest.mark.jax
def test_check_can_prove_what_it_fixes(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    path = project.root / "main.py"
    text = DIFFERING.replace(" EURO", " okay")
    path.write_text(text)
    options = ["--no-cache", "--fix", "--prove", "main.py", "--", "python", "main.py"]
    assert check(options, fake_backend()) == 0
    out = capsys.readouterr().out
    assert "preserved [" in out and out.endswith("Wrote 1 fix.\n")
    assert path.read_text() == text.replace("np.sin", "jnp.sin")  # the unsafe fix was not asked for
    assert check(["--prove", "main.py", "--", "python", "main.py"], fake_backend()) == 2


def test_a_command_that_is_no_python_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (project.root / "main.py").write_text(PROGRAM)
    assert run(["--no-cache", ".", "--", "ls"]) == 2
    assert "`ls` is no Python program" in capsys.readouterr().err
    assert run(["--no-cache", "."]) == 2
    assert "there is no command" in capsys.readouterr().err


# --- the parts -----------------------------------------------------------------------------------------------------


def test_repairs_of_some_findings_alone(project: Project) -> None:
    path = str(project.root / "main.py")
    text = "import jax\n# np.sin UNSAFE np.sin\n"
    (project.root / "main.py").write_text(text)
    workspace = Workspace(fake_backend(), Resolver(str(project.root)), use_cache=False)
    second, unsafe = text.rindex("np.sin"), text.index("UNSAFE")
    question = Question((path,), {})
    whole = repair(workspace, question, unsafe=True)
    assert len(whole.applied) == 3 and whole.left == {}
    some = repair(workspace, question, unsafe=True, only={(path, "JAX703", unsafe)})
    assert some.report.changes[0].after == text.replace("UNSAFE", "okay")
    assert some.applied == ((path, "JAX703", unsafe),)
    assert some.left[path, "JAX203", second] == second - 2  # "okay" is shorter by two


def test_the_copy_leaves_out_what_no_program_needs_and_links_what_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "mine"
    for name in ("pkg/a.py", ".git/config", "pkg/__pycache__/a.pyc", "env/pyvenv.cfg", "data.bin"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x" * 100 if name == "data.bin" else b"old")
    monkeypatch.setattr("flake8_jax.runtime_checks.project_copy.LINKED_FROM", 50)
    made = copy_project([str(root)], {str(root / "pkg" / "a.py"): b"new"}, str(tmp_path / "copy"))
    target = Path(made.copied(str(root)))
    assert sorted(str(p.relative_to(target)) for p in target.rglob("*")) == ["data.bin", "pkg", "pkg/a.py"]
    assert (target / "pkg/a.py").read_bytes() == b"new" and (root / "pkg/a.py").read_bytes() == b"old"
    assert (target / "data.bin").is_symlink()
    assert made.command(["python", str(root / "pkg/a.py"), "mine"]) == ["python", str(target / "pkg/a.py"), "mine"]
    inside = str(root / "env/bin/pytest")  # was not copied
    assert made.command([inside]) == [inside]
    assert made.original(str(target / "pkg/a.py")) == str(root / "pkg/a.py")
    monkeypatch.setattr("flake8_jax.runtime_checks.project_copy.MOST_FILES", 0)
    with pytest.raises(CopyError, match="too large to copy"):
        copy_project([str(root)], {}, str(tmp_path / "again"))


def test_folders_in_others_are_not_copied_twice() -> None:
    assert outermost(["/a/b", "/a", "/ab"]) == ["/a", "/ab"]


def test_faster_is_only_said_beyond_the_noise() -> None:
    quiet = judged("f", [1.0] * 20, [1.02] * 20, [0.5] * 20)
    assert quiet.claimed and "2 times as fast" in sentence(quiet)
    small = judged("f", [1.0] * 20, [1.0] * 20, [0.95] * 20)
    assert not small.claimed and "no difference beyond the noise" in sentence(small)
    noisy = judged("f", [1.0] * 10 + [3.0] * 10, [1.0] * 20, [0.5] * 20)
    assert noisy.band == 3.0 and not noisy.claimed
    few = judged("f", [1.0], [1.0], [0.85])
    assert not few.claimed
    slower = judged("f", [1.0] * 20, [1.0] * 20, [2.0] * 20)
    assert "2 times as slow" in sentence(slower)
    assert (
        confirmed(quiet, quiet).claimed and not confirmed(quiet, small).claimed and not confirmed(quiet, slower).claimed
    )


class Captured:
    """Two runs of one function, as ``replay`` writes them: values by call, and inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def run(self, *calls: tuple[Any, Any]) -> Any:
        import numpy

        from flake8_jax.runtime_checks.child.compare import _Run

        self.count += 1
        home = self.folder / str(self.count)
        home.mkdir()
        arrays: dict[str, Any] = {}

        def leaf(value: Any) -> dict[str, Any]:
            if not isinstance(value, numpy.ndarray):
                return {"path": "", "kind": "value", "type": type(value).__name__, "value": value}
            arrays[f"a{len(arrays)}"] = numpy.frombuffer(value.tobytes(), numpy.uint8)
            kept = {"dtype": str(value.dtype), "shape": list(value.shape), "at": f"a{len(arrays) - 1}"}
            return {"path": "", "kind": "array", **kept}

        data = [
            {"function": 0, "depth": 0, "raised": None, "inputs": [leaf(given)], "outputs": [leaf(result)]}
            for given, result in calls
        ]
        (home / "calls.json").write_text(json.dumps(data))
        numpy.savez(home / "arrays.npz", **arrays)
        return _Run(str(home))


def test_results_are_compared_in_units_in_the_last_place(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    from flake8_jax.runtime_checks.child.compare import compare

    made = Captured(tmp_path)
    one = numpy.array([1.0, -2.0], numpy.float32)
    near = numpy.nextafter(one, numpy.float32(9))
    far = one * numpy.float32(1.1)

    def status(first: Any, second: Any, again: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = compare(first, second, again)["functions"][0]
        return found

    same = status(made.run((1.0, one)), made.run((1.0, one)))
    assert (same["status"], same["ulp"], same["leaves"]) == ("equal", 0, 1)
    close = status(made.run((1.0, one)), made.run((1.0, near)))
    assert (close["status"], close["ulp"]) == ("close", 1.0) and 0 < close["relative"] < 2e-7
    differing = status(made.run((1.0, one), (1.0, one)), made.run((1.0, one), (1.0, far)))
    assert differing["status"] == "differs" and differing["first"]["call"] == 1
    assert "differs by 0.1 of its largest value" in differing["first"]["what"]
    # Inputs that had moved as far excuse it; inputs that had hardly moved do not.
    assert status(made.run((one, one)), made.run((far, far)))["status"] == "drift"
    assert status(made.run((one, one)), made.run((near, far)))["status"] == "differs"
    # What differs from run to run of the reference itself is no witness.
    noisy = status(made.run((1.0, one)), made.run((1.0, far)), made.run((1.0, near)))
    assert (noisy["status"], noisy["noisy"], noisy["leaves"]) == ("equal", 1, 0)
    wider = status(made.run((1.0, one)), made.run((1.0, one.astype(numpy.float64))))
    assert wider["status"] == "differs" and "float64[2] instead of float32[2]" in wider["first"]["what"]
    nan = numpy.array([numpy.nan, 1.0], numpy.float32)
    assert status(made.run((1.0, nan)), made.run((1.0, nan.copy())))["status"] == "equal"
    assert status(made.run((1.0, one)), made.run((1.0, nan)))["status"] == "differs"


def test_probes_leave_rows_and_meaning_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    from flake8_jax.runtime_checks.child import rewriting

    path = tmp_path / "m.py"
    path.write_text(
        '"""Doc."""\nfrom __future__ import annotations\n\nclass A:\n    @property\n    def f(self) -> Nowhere:\n'
        "        if False:\n            pass\n        elif (y := 3):\n            return y\n\nz = A().f\n"
    )
    seen: list[tuple[str, Any]] = []

    def capture(number: int) -> Any:
        return lambda function: lambda *arguments: seen.append(("call", number)) or function(*arguments)

    for name, probe in (
        (rewriting.CAPTURE, capture),
        (rewriting.VISIT, lambda number: seen.append(("visit", number))),
        (rewriting.MODULE, lambda number, variables: seen.append(("module", variables["z"]))),
    ):
        monkeypatch.setattr(builtins, name, probe, raising=False)
    monkeypatch.setattr(builtins, "compile", builtins.compile)  # put back at the end
    plan = rewriting.Plan({"A.f": 7, "<module>": 8}, [(1, 10, 13), (2, 9, 15), (3, 6, 17)])
    definitions: dict[int, int] = {}
    rewriting.hook_compile({str(path.resolve()): plan}, definitions.__setitem__)
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    assert seen == [("call", 7), ("visit", 2), ("visit", 1), ("module", 3)]
    assert definitions == {3: 7} and names["__doc__"] == "Doc."
    assert eval(compile("1 + 1", str(path), "eval")) == 2
