"""Which files are found: exclusions, gitignore, links, and the program around the files asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_jax.config import Options, Resolver
from flake8_jax.discovery import Walker, context_files, discover


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(root: Path, *paths: str, force: bool | None = None, flags: Options | None = None) -> list[str]:
    result = discover(
        [str(root / path) for path in paths or (".",)], Walker(Resolver(str(root), flags=flags)), force_exclude=force
    )
    return sorted(str(Path(path).relative_to(root)) for path in result.asked)


def test_directories_give_python_files(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "b.pyi", "c.txt", "pkg/d.py", ".venv/e.py", "build/f.py", "lib/site-packages/g.py")
    assert found(tmp_path) == ["a.py", "b.pyi", "pkg/d.py"]


def test_named_files_are_taken_unless_exclusion_is_forced(tmp_path: Path) -> None:
    tree(tmp_path, "build/f.py", "script")
    assert found(tmp_path, "build/f.py", "script") == ["build/f.py", "script"]
    assert found(tmp_path, "build/f.py", "script", force=True) == ["script"]


def test_a_directory_that_is_asked_for_is_walked_even_if_excluded(tmp_path: Path) -> None:
    tree(tmp_path, "lib/site-packages/pkg/a.py", "lib/site-packages/pkg/build/b.py")
    assert found(tmp_path, "lib/site-packages/pkg") == ["lib/site-packages/pkg/a.py"]
    assert found(tmp_path, "lib/site-packages") == ["lib/site-packages/pkg/a.py"]


def test_exclusion_patterns(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "x/a.py", "x/y/b.py", "z/b_pb2.py")
    assert found(tmp_path, flags=Options(exclude=["/a.py", "x/y", "*_pb2.py"])) == ["x/a.py"]


def test_gitignore_files_nest(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "gen/a.py", "gen/keep.py", "sub/b.py", "sub/out/c.py", "other/out/d.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("gen/*\n")
    (tmp_path / "gen" / ".gitignore").write_text("!keep.py\n")
    (tmp_path / "sub" / ".gitignore").write_text("# comment\n/out/\n")
    assert found(tmp_path) == ["a.py", "gen/keep.py", "other/out/d.py", "sub/b.py"]
    assert found(tmp_path, "sub") == ["sub/b.py"]
    assert "gen/a.py" in found(tmp_path, flags=Options(respect_gitignore=False))
    assert found(tmp_path, "gen/a.py", force=True) == []


def test_links_do_not_loop_or_repeat(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    (tmp_path / "pkg" / "self").symlink_to(tmp_path / "pkg")
    (tmp_path / "pkg" / "b.py").symlink_to(tmp_path / "pkg" / "a.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    assert found(tmp_path) == ["pkg/a.py"]


def test_missing_paths_are_told(tmp_path: Path) -> None:
    result = discover([str(tmp_path / "no.py")], Walker(Resolver(str(tmp_path))))
    assert result.missing == [str(tmp_path / "no.py")]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("pkg/sub/a.py", ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/a.py"]), ("one.py", None)],
)
def test_the_program_without_a_project_is_the_package_or_the_neighbours(
    tmp_path: Path, asked: str, expected: list[str] | None
) -> None:
    tree(tmp_path, "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/a.py", "one.py", "two.py", "data/three.py")
    resolver = Resolver(str(tmp_path), isolated=True)
    path = str(tmp_path / asked)
    files, more = context_files([path], resolver.settings_for(str(Path(path).parent)), Walker(resolver))
    names = sorted(str(Path(file).relative_to(tmp_path)) for file in files)
    assert not more
    assert names == (expected or ["one.py", "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/a.py", "two.py"])
