"""Which files are found: exclusions, gitignore, links, and the program around the files asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flake8_jax.pipeline.discovery import Walker, context_files, discover
from flake8_jax.settings.options import Options
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.tables import ConfigError


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


def test_missing_paths_are_reported(tmp_path: Path) -> None:
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


# --- hostile projects ---------------------------------------------------------------------------------


def test_a_link_to_itself_is_no_directory(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "pkg/b.py")
    for place in ("loop", "loop.py", "pkg/loop"):
        (tmp_path / place).symlink_to(Path(place).name)
    assert found(tmp_path) == ["a.py", "pkg/b.py"]
    resolver = Resolver(str(tmp_path))
    files, _ = context_files([str(tmp_path / "a.py")], resolver.settings_for(str(tmp_path)), Walker(resolver))
    assert [Path(file).name for file in files] == ["a.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_and_devices_in_the_place_of_ignore_files_are_reported_and_not_read(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "pkg/b.py")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    os.mkfifo(tmp_path / ".gitignore")
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "pkg" / ".gitignore").mkdir()
    (tmp_path / ".git" / "info" / "exclude").symlink_to("/dev/zero")
    result = discover([str(tmp_path)], Walker(Resolver(str(tmp_path))))
    assert sorted(Path(path).name for path in result.asked) == ["a.py", "b.py"]
    wrong = [tmp_path / ".git" / "info" / "exclude", tmp_path / ".gitignore", tmp_path / "pkg" / ".gitignore"]
    assert [message.partition(": ")[0] for message in result.messages] == list(map(str, wrong))
    assert all("not a regular file" in message for message in result.messages)


def test_an_endless_ignore_file_is_reported_and_not_read(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    (tmp_path / ".git").mkdir()
    with (tmp_path / ".gitignore").open("wb") as file:
        file.truncate(3_000_000_000)
    result = discover([str(tmp_path)], Walker(Resolver(str(tmp_path))))
    assert [Path(path).name for path in result.asked] == ["a.py"]
    assert "larger than 10,000,000 bytes" in result.messages[0]


def test_a_gitignore_that_is_a_link_is_not_followed_as_by_git(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / "patterns").write_text("a.py\n")
    (tmp_path / ".gitignore").symlink_to("patterns")
    assert found(tmp_path) == ["a.py"]


def test_gitignore_files_count_from_the_top_down_for_named_files(tmp_path: Path) -> None:
    tree(tmp_path, "gen/keep.py", "gen/other.py", "out/keep.py", "src/a.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/gen/*\nout/\n")
    (tmp_path / "gen" / ".gitignore").write_text("!keep.py\n")
    (tmp_path / "out" / ".gitignore").write_text("!keep.py\n")  # too late: git does not look into `out`
    paths = ("gen/keep.py", "gen/other.py", "out/keep.py", "src/a.py")
    assert found(tmp_path, *paths, force=True) == ["gen/keep.py", "src/a.py"]
    assert found(tmp_path) == ["gen/keep.py", "src/a.py"]


def test_negated_exclusions_hold_for_named_files(tmp_path: Path) -> None:
    tree(tmp_path, "gen/keep.py", "gen/other.py", "a.py")
    flags = Options(exclude=["*.py", "!keep.py"])
    assert found(tmp_path, "gen/keep.py", "gen/other.py", "a.py", force=True, flags=flags) == ["gen/keep.py"]
    assert found(tmp_path, flags=flags) == ["gen/keep.py"]


@pytest.mark.parametrize("pattern", ["lib", "lib/", "/lib/**", "l*", "**/lib"])
def test_a_folder_that_is_asked_for_is_not_left_out_by_what_leaves_out_all_of_it(tmp_path: Path, pattern: str) -> None:
    tree(tmp_path, "lib/a.py", "lib/sub/b.py")
    assert found(tmp_path, "lib", flags=Options(exclude=[pattern])) == ["lib/a.py", "lib/sub/b.py"]
    assert found(tmp_path, flags=Options(exclude=[pattern])) == []


@pytest.mark.parametrize("key", ["exclude", "extend-exclude"])
@pytest.mark.parametrize("pattern", ["!", "/", "[a"])
def test_an_exclusion_that_matches_nothing_is_a_configuration_error(tmp_path: Path, key: str, pattern: str) -> None:
    path = tmp_path / "jaxlint.toml"
    path.write_text(f"preview = true\n{key} = [\n  'build',\n  '{pattern}',\n]\n")
    with pytest.raises(ConfigError, match="matches nothing") as info:
        found(tmp_path)
    assert str(info.value).startswith(f"{path}:4: the pattern `{pattern}` ")


def test_many_named_files_need_no_look_at_ignore_files_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"pkg/m{number}.py" for number in range(200)]
    tree(tmp_path, *names, ".gitignore")
    (tmp_path / ".git").mkdir()
    asked: list[str] = []
    original = Walker._ignore_file
    monkeypatch.setattr(Walker, "_ignore_file", lambda *given, **more: asked.append("") or original(*given, **more))
    assert len(found(tmp_path, *names, force=True)) == 200
    assert len(asked) < 10
