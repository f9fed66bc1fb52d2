"""``jaxlint prove``: what is said of fixes that preserve, enable, differ, change results as meant, or were never reached."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from runtime.spoiled_fixes import PROGRAMS
from runtime.spoiling import judge
from support.backend import fake_backend

from flake8_jax.cli.check import run as check
from flake8_jax.cli.prove import run
from flake8_jax.fixing.passes import apply_fixes
from flake8_jax.pipeline.backend import Backend
from flake8_jax.pipeline.workspace import Question, Workspace
from flake8_jax.runtime_checks.project_copy import CopyError, copy_project, outermost
from flake8_jax.runtime_checks.replays import Variant, added_names
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

    def said(self) -> str:
        return self._capsys.readouterr().out

    def prove(self, *options: str, command: str = "main.py", backend: Backend | None = None) -> Proved:
        self._capsys.readouterr()
        given = ["--no-cache", "--output-format", "json", *options, ".", "--", "python", *command.split()]
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
    assert (never["verdict"], never["reason"]) == (
        "inconclusive",
        "the line did not run; use a command that runs it",
    )
    assert said.status == 1
    written = path.read_text()
    assert "jnp.sin(x)" in written and "jax.random.split" in written
    assert written.count("jax.debug.print") == 1 and 'print("sum", x.sum())\n    return x\n' in written
    assert sorted(p.name for p in project.root.iterdir()) == [".git", "main.py"]  # the command ran elsewhere


# The stand-in for an analysis replaces ``np.sin`` by ``jnp.sin``, ``EURO`` by a string, and ``UNSAFE``, by a rule for
# unstable expressions, by ``okay``, which is no nearer to the right value.
DIFFERING = """\
import jax
import jax.numpy as jnp
import numpy as np

okay = 3.0
globals()["UNSA" + "FE"] = globals()["EU" + "RO"] = 2.0


def good():
    return jnp.asarray(np.sin(jnp.arange(3.0)))


def bad(x):
    return x * EURO


def meant(x):
    return x * UNSAFE


print(good(), bad(jnp.ones(3)), meant(jnp.ones(3)))
"""


def without_numpy(text: str) -> str:
    """The fixed program: nothing needs NumPy any more."""
    return text.replace("np.sin", "jnp.sin").replace("import numpy as np\n", "")


@pytest.mark.jax
def test_a_batch_that_differs_is_taken_apart(project: Project) -> None:
    (project.root / "main.py").write_text(DIFFERING)
    said = project.prove("--write", backend=fake_backend())
    good, bad, meant = (finding["fix_verdict"] for finding in said.findings)
    assert good["verdict"] == "preserved", good
    assert bad["verdict"] == "differs" and "call 1 of `bad`: it raises TypeError" in bad["reason"], bad
    assert meant["verdict"] == "differs" and "measured by float64: call 1 of `meant`" in meant["reason"], meant
    assert said.status == 1
    assert (project.root / "main.py").read_text() == without_numpy(DIFFERING)


NEEDED = """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w):
    return jax.grad(lambda w: np.tanh(w).sum())(w)


def noise(key):
    return jax.random.normal(key, (4,)) + jax.random.normal(key, (4,))


noise(jax.random.key(0))
step(jnp.ones(3))
"""


@pytest.mark.jax
def test_what_needs_a_fix_that_is_not_proved_is_not_written(project: Project) -> None:
    (project.root / "main.py").write_text(NEEDED)
    said = project.prove("--write")
    verdicts = said.verdict("numpy-on-tracer")["verdict"], said.verdict("key-reuse")["verdict"]
    assert verdicts == ("inconclusive", "intended-change")
    assert "the program needs the fix of JAX203 in line 8 of main.py, too, and this is not proved" in said.err
    assert (project.root / "main.py").read_text() == NEEDED


PRINTING = """
import jax


def main():
    key = jax.random.key(0)
    print(jax.random.normal(key, (3,)))
    print("output:", jax.random.uniform(key, (3,)))


main()
"""


@pytest.mark.jax
def test_numbers_that_are_only_printed_change_too(project: Project) -> None:
    (project.root / "main.py").write_text(PRINTING)
    verdict = project.prove("--select", "JAX301").verdict("key-reuse")
    assert verdict["verdict"] == "intended-change" and "the same text" in verdict["reason"], verdict


@pytest.mark.jax
def test_an_import_that_fails_inside_of_pytest_was_raised_there(project: Project) -> None:
    test = "from jax.config import config\n\nconfig.update('jax_enable_x64', True)\n\n\ndef test_it():\n    assert config\n"
    (project.root / "test_it.py").write_text(test)
    verdict = project.prove(command="-m pytest -q test_it.py").verdict("removed-api")
    assert verdict["verdict"] == "inconclusive", verdict
    assert verdict["reason"].startswith("the original raised ModuleNotFoundError here, the fix runs"), verdict


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


REJECTING = """\
import jax


def draw(key, spare):
    noise = jax.random.normal(key, (3,))
    scale = jax.random.uniform(key, (3,))
    seen = set()
    while len(seen) < 2:
        spare, subkey = jax.random.split(spare)
        seen.add(float(jax.random.normal(subkey)))
    return noise * scale, seen


def look(key):
    return jax.random.normal(key), jax.random.normal(key)


print(draw(jax.random.key(0), jax.random.key(1)), look(jax.random.key(2)))
"""


@pytest.mark.jax
def test_a_program_that_never_ends_with_one_key_everywhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flake8_jax.runtime_checks.replays.LEAST_BLIND", 1.0)
    monkeypatch.setattr("flake8_jax.runtime_checks.replays._TIMES_BLIND", 2)
    (project.root / "main.py").write_text(REJECTING)
    said = project.prove("--select", "key-reuse")
    verdicts = [found["fix_verdict"] for found in said.findings if found["name"] == "key-reuse"]
    assert len(verdicts) == 2
    for verdict in verdicts:
        assert verdict["verdict"] == "inconclusive", verdict
        assert "with the same key everywhere, it had not ended after" in verdict["reason"], verdict
    assert said.err.count("(with the same key everywhere)") == 1  # the original is the same for both fixes


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
    assert path.read_text() == without_numpy(text)  # the unsafe fix was not asked for
    assert check(["--prove", "main.py", "--", "python", "main.py"], fake_backend()) == 2


def test_a_command_that_is_no_python_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (project.root / "main.py").write_text(PROGRAM)
    assert run(["--no-cache", ".", "--", "ls"]) == 2
    assert "`ls` is not a Python program" in capsys.readouterr().err
    assert run(["--no-cache", "."]) == 2
    assert "there is no command" in capsys.readouterr().err


# --- the parts -----------------------------------------------------------------------------------------------------


def test_fixes_of_some_findings_alone(project: Project) -> None:
    path = str(project.root / "main.py")
    text = "import jax\n# np.sin UNSAFE np.sin\n"
    (project.root / "main.py").write_text(text)
    workspace = Workspace(fake_backend(), Resolver(str(project.root)), use_cache=False)
    second, unsafe = text.rindex("np.sin"), text.index("UNSAFE")
    question = Question((path,), {})
    whole = apply_fixes(workspace, question, unsafe=True)
    assert len(whole.applied) == 3 and whole.left == {}
    some = apply_fixes(workspace, question, unsafe=True, only={(path, "JAX703", unsafe)})
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
    assert not small.claimed and "1.05x, not enough for a claim" in sentence(small)
    same = judged("f", [1.0] * 20, [1.1] * 20, [1.05] * 20)
    assert not same.claimed and "no difference beyond the noise (1.10x" in sentence(same)
    noisy = judged("f", [1.0] * 10 + [3.0] * 10, [1.0] * 20, [0.5] * 20)
    assert noisy.band == 3.0 and not noisy.claimed
    few = judged("f", [1.0], [1.0], [0.85])
    assert not few.claimed
    slower = judged("f", [1.0] * 20, [1.0] * 20, [2.0] * 20)
    assert "2 times as slow" in sentence(slower)
    assert (
        confirmed(quiet, quiet).claimed and not confirmed(quiet, small).claimed and not confirmed(quiet, slower).claimed
    )


SAMPLE = {
    "key-reuse": ("what no key decides",),
    "discarded-update": ("index",),
    "print-in-staged": ("printed value",),
    "tiny-gradient": ("small beside large",),
    "boxed-result": ("attribute of self",),
}


@pytest.mark.jax
@pytest.mark.parametrize("name", SAMPLE)
def test_a_spoiled_fix_is_not_accepted(name: str, tmp_path: Path) -> None:
    program = next(program for program in PROGRAMS if program.name == name)
    for spoil in program.spoils:
        if spoil.what in SAMPLE[name]:
            folder = tmp_path / spoil.what
            folder.mkdir()
            judged = judge(program, spoil, folder)
            assert not judged.accepted, (spoil, judged)


@pytest.mark.jax
@pytest.mark.parametrize("name", ["discarded-update", "boxed-result"])
def test_the_same_fix_as_it_is_is_accepted(name: str, tmp_path: Path) -> None:
    program = next(program for program in PROGRAMS if program.name == name)
    judged = judge(program, None, tmp_path)
    assert judged.accepted, judged


# Its first statement stands below its first line, and pytest puts statements of its own into it.
WITH_A_HEADER = """\
# Copyright of somebody
# and what it allows.

import jax
import jax.numpy as jnp
import numpy as np


def test_wave():
    def wave(x):
        return np.sin(x[0])

    assert jax.jit(wave)(jnp.array([0.5])) < 1
"""


def test_variables_that_a_fix_adds_are_no_difference(tmp_path: Path) -> None:
    path = str(tmp_path / "main.py")
    Path(path).write_text("key = 1\na = draw(key)\n")
    fixed = Variant({path: b"key = 1\nkey, subkey = split(key)\na = draw(subkey)\n"})
    assert added_names(path, "<module>", fixed) == ["subkey"]
    assert added_names(path, "main", fixed) == added_names(path, "<module>", Variant()) == []
    renamed = Variant({path: b"key = 1\nb = draw(key)\n"})
    assert added_names(path, "<module>", renamed) == ["b"], "and `a` is missed, which is a difference"


@pytest.mark.jax
def test_a_command_that_fails_is_named(project: Project) -> None:
    (project.root / "test_main.py").write_text(
        WITH_A_HEADER.replace("import numpy as np", "import numpy as np, nowhere")
    )
    options = ["--no-cache", ".", "--", "python", "-m", "pytest", "-q", "test_main.py"]
    assert run(options) == 1
    said = project.said()
    assert "blocked" in said and "No module named 'nowhere'" in said, said
    (project.root / "test_main.py").write_text(WITH_A_HEADER)
    assert run(options) == 0, project.said()


class Runs:
    """Runs of one function, as ``replay`` writes them: of each call what went in and what came out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def run(self, *calls: tuple[Any, Any], entered: int = 0) -> Any:
        from flake8_jax.runtime_checks.child.compare import Captured
        from flake8_jax.runtime_checks.child.snapshots import Snapshots, Store

        self.count += 1
        home = self.folder / str(self.count)
        home.mkdir()
        store = Store()
        take = Snapshots(store, lambda cls: cls.__module__ == __name__).take
        data = [
            {"function": 0, "index": number, "depth": 0, "raised": None, "inputs": take(((given,), {})),
             "outputs": take(result), "state": [], "settings": []}
            for number, (given, result) in enumerate(calls)
        ]  # fmt: skip
        said = {"calls": data, "counts": {"0": len(calls)}, "entered": {"0": entered or len(calls)}, "printed": ""}
        (home / "calls.json").write_text(json.dumps(said))
        store.save(str(home))
        return Captured(str(home))


class Box:
    """A plain object of the user's, whose properties nobody may ask."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def trap(self) -> None:
        raise AssertionError("a property was asked")

    def __getattr__(self, name: str) -> None:
        raise AssertionError(f"{name} was asked")


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    pytest.importorskip("numpy")
    return Runs(tmp_path)


def compared(first: Any, second: Any, again: Any = None, wide: Any = None, allowed: Any = ()) -> dict[str, Any]:
    from flake8_jax.runtime_checks.child.compare import compare

    found: dict[str, Any] = compare(first, second, again, wide, allowed)[0]
    return found


def test_results_are_compared_in_units_in_the_last_place(runs: Runs) -> None:
    import numpy

    one = numpy.array([1.0, -2.0], numpy.float32)
    near = numpy.nextafter(one, numpy.float32(9))
    far = one * numpy.float32(1.1)
    same = compared(runs.run((1.0, one)), runs.run((1.0, one)))
    assert (same["status"], same["ulp"], same["leaves"]) == ("equal", 0, 1)
    close = compared(runs.run((1.0, one)), runs.run((1.0, near)))
    assert (close["status"], close["ulp"]) == ("close", 1.0) and 0 < close["relative"] < 2e-7
    differing = compared(runs.run((1.0, one), (1.0, one)), runs.run((1.0, one), (1.0, far)))
    assert differing["status"] == "differs" and differing["first"]["call"] == 1
    assert "differs by 0.1 of its largest value" in differing["first"]["what"]
    # Inputs that had moved as far excuse it; inputs that had hardly moved do not.
    assert compared(runs.run((one, one)), runs.run((far, far)))["status"] == "drift"
    assert compared(runs.run((one, one)), runs.run((near, far)))["status"] == "differs"
    # What differs from run to run of the reference itself is no witness.
    noisy = compared(runs.run((1.0, one)), runs.run((1.0, far)), runs.run((1.0, near)))
    assert (noisy["status"], noisy["noisy"], noisy["leaves"]) == ("equal", 1, 0)
    wider = compared(runs.run((1.0, one)), runs.run((1.0, one.astype(numpy.float64))))
    assert wider["status"] == "differs" and "float64[2] instead of float32[2]" in wider["first"]["what"]
    nan = numpy.array([numpy.nan, 1.0], numpy.float32)
    assert compared(runs.run((1.0, nan)), runs.run((1.0, nan.copy())))["status"] == "equal"
    assert compared(runs.run((1.0, one)), runs.run((1.0, nan)))["status"] == "differs"
    # NaN may become a number where the fix is for that, and no number may change, or become NaN.
    healed = numpy.array([0.0, 1.0], numpy.float32)
    assert compared(runs.run((1.0, nan)), runs.run((1.0, healed)), allowed=["finite"])["status"] != "differs"
    assert compared(runs.run((1.0, nan)), runs.run((1.0, healed * 2)), allowed=["finite"])["status"] == "differs"
    assert compared(runs.run((1.0, healed)), runs.run((1.0, nan)), allowed=["finite"])["status"] == "differs"


def test_a_small_element_beside_a_large_one_counts_and_rounding_does_not(runs: Runs) -> None:
    import numpy

    def pair(small: float, other: float, dtype: Any) -> tuple[Any, Any]:
        return tuple(runs.run((1.0, numpy.array([1e6, value], dtype))) for value in (small, other))

    single, double = numpy.float32, numpy.float64
    unsure = compared(*pair(1e-3, 1.001e-3, single))
    assert unsure["status"] == "unsure"  # a run in float64 has to tell
    changed = compared(*pair(1e-3, 1.001e-3, single), wide=pair(1e-3, 1.001e-3, double))
    assert changed["status"] == "differs", changed
    rounded = compared(*pair(5.6e-8, 2.8e-8, single), wide=pair(1.1e-16, 0.6e-16, double))
    assert (rounded["status"], rounded["rounding"]) == ("rounding", 1), rounded
    # Without one, the largest number around says how large rounding may be; types that stay narrow are no such run.
    for wide in ((None, None), pair(5.6e-8, 2.8e-8, single)):
        scaled = compared(*pair(5.6e-8, 2.8e-8, single), wide=wide)
        assert (scaled["status"], scaled["scaled"]) == ("scaled", 1), scaled
    drift = [runs.run((numpy.float32(value), numpy.float32(value))) for value in (1.0, 1.001)]
    wide = [runs.run((numpy.float64(value), numpy.float64(value))) for value in (1.0, 1.001)]
    assert compared(*drift)["status"] == "drift" and compared(*drift, wide=wide)["status"] == "differs"


def test_nothing_is_left_out_in_silence(runs: Runs) -> None:
    import numpy

    one = numpy.ones(2, numpy.float32)

    def what(first: Any, second: Any) -> str:
        found = compared(runs.run((1.0, first)), runs.run((1.0, second)))
        return str(found["first"]["what"]) if found["first"] else str(found["status"])

    assert what(Box(one), Box(one * 2)) == "result.value differs by 1 of its largest value"
    assert what({"a": one, "b": 1}, {"b": 1, "a": one}) == "result has its parts in another order"
    assert what({"a": one}, {"a": one, "b": 1}) == "result has 2 parts instead of 1"
    assert what([one], (one,)) == "result is a tuple instead of a list"
    assert what(3, 3.0) == "result is a float instead of an int"
    assert what("a", "b") == "result is 'b' instead of 'a'"
    half = compared(runs.run((1.0, (one, open))), runs.run((1.0, (one, open))))
    assert (half["leaves"], half["unseen"]) == (1, 0)
    half = compared(runs.run((1.0, (one, iter(())))), runs.run((1.0, (one, iter(())))))
    assert (half["leaves"], half["unseen"]) == (1, 1)
    fewer = compared(runs.run((1.0, one), (1.0, one)), runs.run((1.0, one)))
    assert fewer["miscalled"] == "1 times instead of 2"
    traced = compared(runs.run((1.0, one), (1.0, one)), runs.run((1.0, one), entered=2))
    assert (traced["miscalled"], traced["calls"]) == ("", 0)  # the other call was traced and has no values
    assert compared(runs.run((1.0, one)), runs.run((1.0, one)), allowed=())["retyped"] == ""
    number = compared(runs.run((1.0, numpy.float32(1))), runs.run((1.0, 1.0)))
    assert number["retyped"] == "result is a Python number instead of a NumPy number"


def test_calls_are_sampled_over_the_whole_run() -> None:
    from flake8_jax.runtime_checks.child.captures import is_sampled

    kept = [index for index in range(1_000_000) if is_sampled(index)]
    assert kept[:200] == list(range(200)) and len(kept) < 2000
    assert max(after - before for before, after in itertools.pairwise(kept)) < 20_000 and kept[-1] > 980_000


def test_what_is_printed_is_compared_as_far_as_it_means_anything() -> None:
    from flake8_jax.runtime_checks.child.printed import printed_difference

    def status(*texts: Any, allowed: Any = ()) -> str:
        one, two, *more = texts
        return str(printed_difference(one, two, *(more or [None]), None, allowed)["status"])

    assert status("loss 0.5\n", "loss  0.500001\n") == "same"
    assert status("loss 0.5\n", "loss 0.6\n") == status("a\nb\n", "b\na\n") == status("a\n", "a\na\n") == "differs"
    assert status("a\nb\n", "b\na\n", allowed=("unordered",)) == "same"
    assert status("took 1 s\na\n", "took 3 s\na\n", "took 2 s\na\n") == "same"
    assert status("took 1 s\nloss 1\n", "took 3 s\nloss 2\n", "took 2 s\nloss 1\n") == "differs"
    assert status("grad nan\n", "grad 0.0\n") == "differs"
    assert status("grad nan\n", "grad 0.0\n", allowed=("finite",)) == "same"
    timed = ("loss 2\nepoch 0 took 7 s\n", "epoch 0 took 9 s\nloss 2\n", None, None, ("unordered",))
    assert printed_difference(*timed)["status"] == "differs"
    again = ("loss Tracer<x>\nepoch 0 took 5 s\n", "loss Tracer<x>\nepoch 0 took 6 s\n")
    assert printed_difference(*timed, again)["status"] == "same"
    assert status("", "") == "nothing" and status(None, "") == "unseen"


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
        (rewriting.MODULE, lambda number, variables: seen.append(("module", variables.get("z")))),
    ):
        monkeypatch.setattr(builtins, name, probe, raising=False)
    monkeypatch.setattr(builtins, "compile", builtins.compile)  # put back at the end
    plan = rewriting.Plan({"A.f": 7, "<module>": 8}, [(1, 10, 13), (2, 9, 15), (3, 6, 17)])
    definitions: dict[int, int] = {}
    rewriting.hook_compile({str(path.resolve()): plan}, definitions.__setitem__)
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    assert seen == [("module", None), ("call", 7), ("visit", 2), ("visit", 1)]
    assert definitions == {3: 7} and names["__doc__"] == "Doc."
    assert eval(compile("1 + 1", str(path), "eval")) == 2


ONE_KEY = """\
import jax
from flake8_jax.runtime_checks.child.blind_keys import install

install(jax)
for make in (jax.random.PRNGKey, jax.random.key):
    one, two = make(1), make(2)
    assert jax.random.split(one).shape[0] == 2 and jax.random.split(one, 3).shape[0] == 3
    first, second = jax.random.split(two)
    used = [jax.random.normal(key) for key in (one, two, first, second, jax.random.fold_in(second, 7))]
    staged = jax.jit(lambda key: jax.random.normal(jax.random.split(key, num=4)[3]))(one)
    assert len({float(draw) for draw in (*used, staged)}) == 1
    jax.random.split(one).delete()  # as a donation does
    assert not jax.random.split(two).is_deleted()
"""


@pytest.mark.jax
def test_one_key_stands_for_all() -> None:
    done = subprocess.run([sys.executable, "-c", ONE_KEY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
