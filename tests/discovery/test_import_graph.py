"""Import lines, module names, and which files belong together."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from flake8_jax.pipeline.import_scan import Imported, ImportScan, Modules, imports_of, relevant_files, scan_imports


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a, b.c as d  # e\n", [Imported(0, "a"), Imported(0, "b.c")]),
        ("from a.b import c as d, e\n", [Imported(0, "a.b", ("c", "e"))]),
        ("from . import x\n", [Imported(1, "", ("x",))]),
        ("from .import x\n", [Imported(1, "", ("x",))]),
        ("from ..a.b import (\n    c,  # d\n    e as f,\n)\n", [Imported(2, "a.b", ("c", "e"))]),
        ("from a import b, \\\n    c\n", [Imported(0, "a", ("b", "c"))]),
        ("if x: import a\n", [Imported(0, "a")]),
        ("x = 1; import a; y = 2\n", [Imported(0, "a")]),
        ("def f():\n\tfrom a import *\n", [Imported(0, "a")]),
        ("important = 1\nfromage = 2\n", []),
    ],
)
def test_imports(text: str, expected: list[Imported]) -> None:
    assert list(imports_of(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "from" + " " * 200_000, "from a" + " " * 200_000 + "x", "from a import (\n" * 50_000, "import a\\\n" * 50_000,
        "import " + "a." * 100_000 + "a", "from " + "a" * 100_000 + " import " + "b, " * 100_000, ":from a" * 50_000,
        "import a" + " as" * 50_000, ";" * 200_000, " \n" * 100_000,
    ],
)  # fmt: skip
def test_imports_are_found_in_linear_time(text: str) -> None:
    started = time.process_time()
    imports_of(text)
    assert time.process_time() - started < 1


def project(root: Path, files: dict[str, str]) -> tuple[dict[str, ImportScan], Modules, dict[str, set[str]]]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    scans = {str(root / name): scan_imports(text, name, frozenset({"flax"})) for name, text in files.items()}
    modules = Modules(scans, str(root))
    return scans, modules, {path: modules.imported_paths(path, seen.imports) for path, seen in scans.items()}


def names(root: Path, modules: Modules) -> dict[str, str]:
    return {str(Path(path).relative_to(root)): name for path, name in modules.names.items()}


def test_module_names(tmp_path: Path) -> None:
    _, modules, _ = project(
        tmp_path,
        {
            "src/pkg/__init__.py": "",
            "src/pkg/sub/__init__.py": "",
            "src/pkg/sub/a.py": "",
            "train.py": "",
            "examples/a.b.py": "",
            "lib/tools/x.py": "",
            "lib/main.py": "import tools.x\n",
            "space/rel/y.py": "from . import z\n",
            "space/rel/z.py": "",
        },
    )
    assert names(tmp_path, modules) == {
        "src/pkg/__init__.py": "pkg",
        "src/pkg/sub/__init__.py": "pkg.sub",
        "src/pkg/sub/a.py": "pkg.sub.a",
        "train.py": "train",
        "examples/a.b.py": "a.b",
        "lib/tools/x.py": "tools.x",
        "lib/main.py": "main",
        "space/rel/y.py": "rel.y",
        "space/rel/z.py": "rel.z",
    }


def test_src_settings_root_the_names(tmp_path: Path) -> None:
    scans, _, _ = project(tmp_path, {"code/deep/a.py": "", "code/deep/pkg/__init__.py": ""})
    modules = Modules(scans, str(tmp_path), [str(tmp_path / "code")])
    assert names(tmp_path, modules) == {"code/deep/a.py": "deep.a", "code/deep/pkg/__init__.py": "deep.pkg"}


def test_imports_lead_to_files(tmp_path: Path) -> None:
    _, _, edges = project(
        tmp_path,
        {
            "pkg/__init__.py": "from .a import f\n",
            "pkg/a.py": "from . import b\nimport os\n",
            "pkg/b.py": "",
            "main.py": "import pkg.b\n",
        },
    )
    shown = {Path(p).name: sorted(Path(q).name for q in found) for p, found in edges.items()}
    assert shown == {
        "__init__.py": ["a.py"],
        "a.py": ["__init__.py", "b.py"],
        "b.py": [],
        "main.py": ["__init__.py", "b.py"],
    }


def test_an_import_may_start_at_another_folder(tmp_path: Path) -> None:
    files = {
        "src/world/board.py": "x = 1\n",
        "src/training/train.py": "from world.board import x\nimport helper\n",
        "src/training/helper.py": "",
        "tool/__init__.py": "",
        "tool/main.py": "import parts\nfrom other import thing\n",
        "tool/parts.py": "",
        "run.py": "from src.world import board\nimport src.world.board\n",
    }
    _scans, _modules, edges = project(tmp_path, files)
    found = {
        str(Path(path).relative_to(tmp_path)): sorted(str(Path(p).relative_to(tmp_path)) for p in others)
        for path, others in edges.items()
        if others
    }
    assert found["run.py"] == ["src/world/board.py"]
    assert found["src/training/train.py"] == ["src/training/helper.py", "src/world/board.py"]
    assert found["tool/main.py"] == ["tool/parts.py"]


def test_two_modules_of_one_name_are_both_meant(tmp_path: Path) -> None:
    _, _, edges = project(tmp_path, {"a/utils.py": "", "b/utils.py": "", "b/main.py": "import utils\n"})
    assert len(edges[str(tmp_path / "b/main.py")]) == 2


def test_relevance(tmp_path: Path) -> None:
    scans, _, edges = project(
        tmp_path,
        {
            "model.py": "import flax\nimport helper\n",
            "helper.py": "",
            "driver.py": "import model, report\n",
            "report.py": "",
            "cli.py": "import driver\n",
            "plain.py": "import other\n",
            "other.py": "",
        },
    )
    everything = relevant_files(scans, edges, scans)
    assert sorted(Path(path).stem for path in everything) == ["cli", "driver", "helper", "model", "report"]
    of_helper = relevant_files(scans, edges, [str(tmp_path / "helper.py")])
    assert of_helper == everything
    of_plain = relevant_files(scans, edges, [str(tmp_path / "plain.py")])
    assert of_plain == set()
