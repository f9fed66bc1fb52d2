"""The cache: where it is kept, what is believed of it, and what `jaxlint clean` removes."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from support.backend import Recorder, fake_backend

import flake8_jax
from flake8_jax.cli import main
from flake8_jax.cli.check import run
from flake8_jax.pipeline import cache
from flake8_jax.pipeline.cache import Cache, _make, cache_home, remove
from flake8_jax.pipeline.workspace import Question, Workspace, _key_of
from flake8_jax.semantics.analysis.request import AnalysisRequest
from flake8_jax.settings.resolver import Resolver

TAG = "CACHEDIR.TAG"
STANDARD_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n"


def everything(root: Path) -> dict[str, bytes | None]:
    """Every path below a folder, with the contents of files."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))
    }


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "a.py").write_text("import jax\nBAD\nnp.sin\n")
    (tmp_path / "neighbor").mkdir()
    (tmp_path / "neighbor" / "thesis.tex").write_text("years of work")
    os.utime(root / "a.py", (1_000_000_000, 1_000_000_000))
    monkeypatch.chdir(root)
    return root


def lint(*arguments: str) -> int:
    return run(["--output-format", "concise", *arguments], fake_backend(Recorder()))


# --- where it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize("configured", [".", "..", "", "./", "new/one", "../neighbor"])
def test_the_cache_has_a_folder_of_its_own_and_cleaning_removes_nothing_else(project: Path, configured: str) -> None:
    (project / "jaxlint.toml").write_text(f"cache-dir = '{configured}'\n")
    before = everything(project.parent)
    assert lint() == 1
    home = Path(cache_home(str(project / configured)))
    assert "jaxlint" in (home / TAG).read_text()
    made = set(everything(project.parent)) - set(before)
    inside = os.path.relpath(home, project.parent)
    folders = {"project/new", "project/new/one"} if "new" in configured else set()
    assert {path for path in made if path != inside and not path.startswith(inside + os.sep)} == folders
    assert main(["clean"]) == 0
    after = everything(project.parent)
    assert {path: data for path, data in after.items() if path not in folders} == before


def test_a_cache_directory_on_the_command_line_is_that_of_clean(project: Path) -> None:
    assert lint("--cache-dir", "kept") == 1
    assert (project / "kept" / ".jaxlint_cache" / TAG).is_file()
    assert main(["clean"]) == 0
    assert (project / "kept" / ".jaxlint_cache" / TAG).is_file()
    assert main(["clean", "--cache-dir", "kept"]) == 0
    assert list((project / "kept").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('cache-dir = "a\\u0000b"', "it contains a null byte"),
        ("cache-dir = 'a.py'", "is not a directory"),
        ("cache-dir = 'a.py/below'", "is not a directory"),
        ("cache-dir = '" + "a/" * 1_500 + "'", "more than 100 folders of it do not exist"),
    ],
)
def test_a_cache_directory_that_cannot_be_used_is_a_configuration_error(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    path = project / "jaxlint.toml"
    path.write_text(f"# where\n\n{text}\n")
    assert lint() == 2
    said = capsys.readouterr().err
    assert said.startswith(f"jaxlint: {path}:3: `cache-dir`: ")
    assert reason in said
    assert lint("--no-cache") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_directory_that_is_read_only_is_a_configuration_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "sealed").mkdir(mode=0o500)
    (project / "jaxlint.toml").write_text("cache-dir = 'sealed'\n")
    assert lint() == 2
    assert f"{project / 'jaxlint.toml'}:1: `cache-dir`: `{project / 'sealed'}` is not writable" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("tag", [None, "", STANDARD_TAG])
def test_a_folder_that_jaxlint_did_not_make_is_neither_used_nor_removed(
    project: Path, capsys: pytest.CaptureFixture[str], tag: str | None
) -> None:
    home = project / ".jaxlint_cache"
    home.mkdir()
    (home / "notes.txt").write_text("mine")
    if tag is not None:
        (home / TAG).write_text(tag)
    before = everything(home)
    assert lint() == 1
    assert f"{home}: jaxlint does not use this as its cache, because it lacks the tag" in capsys.readouterr().err
    assert main(["clean"]) == 0
    assert everything(home) == before


def test_two_runs_may_make_the_cache_at_once(tmp_path: Path) -> None:
    home = cache_home(str(tmp_path))
    _make(home)
    Cache(home).write("ir", "a" * 40, b"one")
    _make(home)
    assert Cache(home).read("ir", "a" * 40) == b"one"
    assert [path.name for path in tmp_path.iterdir()] == [".jaxlint_cache"]


def test_each_phase_of_a_run_is_reported_with_its_project(project: Path) -> None:
    reported: list[tuple[str, int, int]] = []
    workspace = Workspace(
        fake_backend(Recorder()), Resolver(str(project)), jobs=1, progress=lambda *seen: reported.append(seen)
    )
    workspace.check(Question((str(project),)))
    phases = dict.fromkeys(phase for phase, _, _ in reported)
    assert len(list(project.glob("**/*.py"))) == 1
    name = project.name
    assert list(phases) == [
        f"Scanning {name}",
        f"Reading {name}",
        f"Analyzing 1 file of {name}",
        f"Analyzing {name}",
    ]
    assert reported[-1] == (f"Analyzing {name}", 1, 1)


def test_a_link_in_the_place_of_the_cache_is_not_followed(project: Path) -> None:
    assert lint("--cache-dir", "../neighbor") == 1
    home = project.parent / "neighbor" / ".jaxlint_cache"
    (project / ".jaxlint_cache").symlink_to(home)
    before = everything(home)
    assert lint() == 1
    assert main(["clean"]) == 0
    assert everything(home) == before
    assert (project / ".jaxlint_cache").is_symlink()


# --- cleaning ----------------------------------------------------------------------------------------


def test_cleaning_leaves_and_names_what_the_cache_did_not_write(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint() == 1
    home = project / ".jaxlint_cache"
    stamped = next(path for path in home.iterdir() if path.is_dir())
    kinds = sorted(path for path in stamped.iterdir())
    kept = {
        home / "notes.txt": "mine",
        stamped / "0123456789abcdef0123456789abcdef01234567": "a name of an entry, elsewhere",
        kinds[0] / "data" / "weights.bin": "mine too",
    }
    for path, text in kept.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    link = next(kinds[0].glob("??")) / ("f" * 40)
    link.symlink_to(project.parent / "neighbor")
    assert main(["clean"]) == 0
    said = capsys.readouterr().err
    for path, text in kept.items():
        assert path.read_text() == text
        assert f"{path if path.parent.name != 'data' else path.parent}: left" in said
    assert link.is_symlink()
    assert f"{link}: left" in said
    assert (project.parent / "neighbor" / "thesis.tex").read_text() == "years of work"
    files = {path for path in home.rglob("*") if path.is_file() and not path.is_symlink()}
    assert files == {*kept, home / TAG}
    for path in kept:
        path.unlink()
    link.unlink()
    (kinds[0] / "data").rmdir()
    assert main(["clean"]) == 0
    assert not home.exists()


def test_cleaning_removes_what_killed_runs_left(project: Path) -> None:
    assert lint() == 1
    home = project / ".jaxlint_cache"
    folder = next(home.glob("*/*/??"))
    (folder / ".tmp-abc").write_bytes(b"half")
    half = project / ".jaxlint_cache.new-xyz"
    half.mkdir()
    (half / TAG).write_bytes((home / TAG).read_bytes())
    assert main(["clean"]) == 0
    assert not home.exists()
    assert not half.exists()


def test_there_is_nothing_to_clean(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for directory in ("nowhere", "a.py", "../neighbor"):
        assert main(["clean", "--cache-dir", directory]) == 0
        assert "there is no cache" in capsys.readouterr().out


# --- what is believed --------------------------------------------------------------------------------


def entries(cache: Cache) -> list[Path]:
    assert cache.home is not None
    return [path for path in Path(cache.home).rglob("*") if path.is_file() and len(path.name) == 40]


def test_an_entry_under_another_key_or_kind_is_none(tmp_path: Path) -> None:
    cache = Cache(cache_home(str(tmp_path)))
    first, second = "a" * 40, "b" * 40
    cache.write("ir", first, b"one")
    cache.write("ir", second, b"two")
    cache.write("findings", first, b"three")
    one, two = (path for path in sorted(entries(cache)) if path.parent.parent.name == "ir")
    three = next(path for path in entries(cache) if path.parent.parent.name == "findings")
    assert cache.read("ir", first) == b"one"
    texts = [path.read_bytes() for path in (one, two, three)]
    one.write_bytes(texts[1])
    two.write_bytes(texts[0])
    assert (cache.read("ir", first), cache.read("ir", second)) == (None, None)
    one.write_bytes(texts[2])
    assert cache.read("ir", first) is None
    one.write_bytes(texts[0])
    assert cache.read("ir", first) == b"one"


@pytest.mark.parametrize("payload", [b"\xa2\xff\xfe", b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b""])
def test_payloads_that_cannot_be_decoded_are_absent(tmp_path: Path, payload: bytes) -> None:
    cache = Cache(cache_home(str(tmp_path)))
    cache.write("ir", "a" * 40, payload)
    assert cache.load_module("a" * 40) is None
    assert cache.load("ir", "a" * 40, str) is None
    assert cache.load("ir", "a" * 40, list[str]) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_an_entry_that_is_a_pipe_or_a_link_is_absent(tmp_path: Path) -> None:
    cache = Cache(cache_home(str(tmp_path)))
    cache.write("ir", "a" * 40, b"one")
    (path,) = entries(cache)
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert cache.read("ir", "a" * 40) is None
    path.unlink()
    os.mkfifo(path)
    assert cache.read("ir", "a" * 40) is None
    path.unlink()
    path.symlink_to("/dev/zero")
    assert cache.read("ir", "a" * 40) is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes mean nothing here")
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_cache_that_others_can_write_is_not_used(
    project: Path, capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    home = project / ".jaxlint_cache"
    assert lint() == 1
    home.chmod(mode)
    before = everything(home)
    analyse = Recorder()
    capsys.readouterr()
    assert run(["--output-format", "concise", "-q"], fake_backend(analyse)) == 1
    assert "another user" not in capsys.readouterr().err
    assert len(analyse.programs) == 1
    assert lint("-v") == 1
    assert f"{home}: jaxlint does not use this cache, because another user owns it" in capsys.readouterr().err
    assert everything(home) == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes mean nothing here")
def test_an_entry_or_a_folder_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    home = cache_home(str(tmp_path))
    Cache(home).write("ir", "a" * 40, b"one")
    (path,) = entries(Cache(home))
    for target in (path, path.parent, path.parent.parent):
        target.chmod(0o777)
        cache = Cache(home)
        assert cache.read("ir", "a" * 40) is None
        assert target is path or (cache.distrust is not None and cache.distrust.startswith(f"{target}: "))
        target.chmod(0o700)
    assert Cache(home).read("ir", "a" * 40) == b"one"


@pytest.mark.skipif(not hasattr(os, "umask"), reason="modes mean nothing here")
def test_the_cache_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Cache(cache_home(str(tmp_path))).write("ir", "a" * 40, b"one")
    finally:
        os.umask(before)
    assert Cache(cache_home(str(tmp_path))).read("ir", "a" * 40) == b"one"


def test_a_cache_that_is_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    cache = Cache(cache_home(str(tmp_path)))
    cache.write("ir", "a" * 40, b"one")
    removed = remove(str(tmp_path))
    assert removed is not None and not removed.left
    cache.write("ir", "b" * 40, b"two")
    assert cache.trouble is None
    assert Cache(cache.home).read("ir", "b" * 40) == b"two"


# --- stored fixes ------------------------------------------------------------------------------------


def poison(home: Path) -> None:
    """Write another text into every stored fix, with a checksum that is right."""
    cache = Cache(str(home))
    poisoned = 0
    for path in entries(cache):
        kind = path.parent.parent.name
        payload = cache.read(kind, path.name)
        assert payload is not None
        if kind == "findings":
            data = msgspec.msgpack.decode(payload)
            for finding in data[0]:
                for edit in (finding.get("fix") or {}).get("edits", ()):
                    edit["content"] = "__import__('os').system('true')"
                    poisoned += 1
            cache.write(kind, path.name, msgspec.msgpack.encode(data))
    assert poisoned


@pytest.mark.parametrize("options", [["--fix"], ["--diff"]])
def test_fixes_are_not_taken_from_the_cache(
    project: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert lint() == 1
    poison(project / ".jaxlint_cache")
    capsys.readouterr()
    assert lint(*options) == 1
    said = capsys.readouterr().out + (project / "a.py").read_text()
    assert "jnp.sin" in said
    assert "system" not in said


def test_a_warm_run_that_has_nothing_to_fix_analyzes_nothing(project: Path) -> None:
    (project / "a.py").write_text("import jax\nBAD\n")
    os.utime(project / "a.py", (1_000_000_000, 1_000_000_000))
    assert lint() == 1
    analyse = Recorder()
    assert run(["--fix", "-q"], fake_backend(analyse)) == 1
    assert analyse.programs == []


def test_every_module_of_jaxlint_is_in_the_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: set[str] = set()
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **options: looked_at.add(str(path)) or stat(path, **options))
    assert cache.stamp.__wrapped__() == cache.stamp()
    package = Path(flake8_jax.__file__).parent
    assert {str(path) for path in package.rglob("*.py")} <= looked_at


def test_a_module_that_changes_changes_the_stamp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = tmp_path / "rule.py"
    module.write_text("a = 1\n")
    monkeypatch.setattr(cache, "PACKAGE", str(tmp_path))
    stamps = [cache.stamp.__wrapped__()]
    for size, moment in ((6, 1), (7, 1), (7, 2)):
        module.write_text("#" * size)
        os.utime(module, (moment, moment))
        stamps.append(cache.stamp.__wrapped__())
    assert len(set(stamps)) == 4


@pytest.mark.parametrize("option", AnalysisRequest.__struct_fields__)
def test_every_option_of_a_request_is_in_its_key(option: str) -> None:
    default = getattr(AnalysisRequest(), option)
    other = {bool: True, int: 7, dict: {"a": "b"}, tuple: ("a\udc80",)}.get(type(default), frozenset({"a\udc80"}))
    assert _key_of(AnalysisRequest(**{option: other}), [], "") != _key_of(AnalysisRequest(), [], "")


def test_the_key_of_a_request_does_not_depend_on_the_order_of_sets() -> None:
    names = [f"JAX{n}" for n in range(100)]
    assert len({_key_of(AnalysisRequest(frozenset(some)), [], "") for some in (names, names[::-1])}) == 1
