"""Which function a target names, and what is said where it names none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flake8_jax.runtime_checks.child.targets import TargetError, load, module_name, resolve

CODE = """\
import functools

def decorated(function):
    return functools.wraps(function)(lambda *args: function(*args))

@decorated
def step(x):
    def inner(y):
        return y
    return inner(x)

class Model:
    def forward(self, x):
        return x
    double = staticmethod(lambda x: 2 * x)

fast = functools.partial(step, 1)
number = 3

# nothing here
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = dict(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - set(before):
        del sys.modules[name]
    sys.modules.update(before)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("target", "qualname", "line"),
    [
        ("shapes.py:step", "step", 6),
        ("shapes:step", "step", 6),
        ("shapes.py:6", "step", 6),
        ("shapes.py:9", "step", 6),  # inner cannot be reached
        ("shapes.py:Model.forward", "Model.forward", 13),
        ("shapes.py:14", "Model.forward", 13),
        ("shapes.py:15", "Model.double", 15),
        ("shapes.py:17", "fast", 0),
    ],
)
def test_targets(project: Path, target: str, qualname: str, line: int) -> None:
    write(project, {"shapes.py": CODE})
    found = resolve(target, [str(project)])
    assert (found.qualname, found.line, found.module.__name__) == (qualname, line, "shapes")
    assert callable(found.object)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("shapes.py:stepp", "shapes.py has no stepp; did you mean step?"),
        ("shapes.py:inner", "it is defined inside step (line 7)"),
        ("shapes.py:zzz", "it has decorated, step, Model"),
        ("shapes.py:number", "number is an int, and cannot be called"),
        ("shapes.py:20", "no function of the module or of a class is around line 20; near it: fast (lines 17–17)"),
        ("shapes.py", "say which function, as in shapes.py:NAME or shapes.py:LINE (it has decorated, step"),
        ("shapes", "a target is module:function, file.py:function or file.py:LINE"),
        ("gone.py:f", "there is no file gone.py"),
        ("gone_module:f", "there is no module gone_module"),
        ("broken.py:f", "cannot be imported: ModuleNotFoundError: No module named 'flaxx' (at "),
        ("exits.py:f", "cannot be imported: SystemExit: 3"),
        ("twice.py:1", "f is defined again at line 3, which hides this one"),
    ],
)
def test_what_is_said_of_targets_that_name_nothing(project: Path, target: str, message: str) -> None:
    write(
        project,
        {
            "shapes.py": CODE,
            "broken.py": "import os\nimport flaxx\n",
            "exits.py": "raise SystemExit(3)\n",
            "twice.py": "def f(x):\n    return 1\ndef f(x):\n    return 2\n",
        },
    )
    with pytest.raises(TargetError) as raised:
        resolve(target, [str(project)])
    assert message in str(raised.value)


def test_a_file_in_a_package_has_the_name_that_its_imports_need(project: Path) -> None:
    write(
        project,
        {
            "package_one/__init__.py": "",
            "package_one/sub/__init__.py": "",
            "package_one/sub/deep.py": "from ..near import value\nimport sibling_of_it\ndef f():\n    return value\n",
            "package_one/near.py": "value = 3\n",
            "sibling_of_it.py": "",
        },
    )
    found = resolve("package_one/sub/deep.py:f", [str(project)])
    assert found.module.__name__ == "package_one.sub.deep"
    assert found.object() == 3
    assert module_name("package_one/sub/__init__.py") == ("package_one.sub", str(project))


def test_the_folder_src_is_importable(project: Path) -> None:
    write(project, {"src/package_two/__init__.py": "def f():\n    return 4\n"})
    assert resolve("package_two:f", [str(project)]).object() == 4
    assert resolve("src/package_two/__init__.py:1", [str(project)]).module.__name__ == "package_two"


def test_files_named_like_the_standard_library_do_not_hide_it(project: Path) -> None:
    import code

    write(project, {"code.py": "def f():\n    return 5\n", "colorsys.py": "def f():\n    return 6\n"})
    assert resolve("code.py:f", [str(project)]).object() == 5
    assert sys.modules["code"] is code
    sys.modules.pop("colorsys", None)
    assert load("colorsys.py").f() == 6
    import colorsys

    assert hasattr(colorsys, "rgb_to_hsv")


def test_a_package_named_like_one_of_the_standard_library_is_imported_whole(project: Path) -> None:
    write(
        project,
        {
            "sqlite3/__init__.py": "",
            "sqlite3/one.py": "from . import two\ndef f():\n    return two.value\n",
            "sqlite3/two.py": "value = 7\n",
        },
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "sqlite3"]:
        del sys.modules[name]
    assert resolve("sqlite3/one.py:f", [str(project)]).object() == 7


def test_a_file_is_imported_once(project: Path) -> None:
    write(project, {"counted.py": "made = object()\ndef f():\n    return made\n"})
    assert resolve("counted.py:f", [str(project)]).object() is resolve("counted:f", [str(project)]).object()
