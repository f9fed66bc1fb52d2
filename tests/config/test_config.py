"""Settings: where they are found, what overrides what, and how wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_jax.config import DEFAULT_EXCLUDE, ConfigError, Options, Resolver, inline_options, option_documentation


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.jaxlint]\nselct = []\n", ":2: unknown key `selct`: did you mean `select`?"),
        ("[tool.jaxlint]\nselect = 'JAX1'\n", ":2: `select`: expected a list, got a string"),
        ("[tool.jaxlint]\nselect = [1]\n", ":2: `select`: expected a string, got a number"),
        ("[tool.jaxlint.per-file-ignores]\n'a.py' = 'JAX1'\n", ":1: `per-file-ignores`: expected a list"),
        ("[tool.jaxlint]\n\nunroll-threshold = 0\n", ":3: `unroll-threshold`: expected a number of iterations"),
        ("[tool.jaxlint]\ntarget-jax = 'new'\n", ":2: `target-jax`: `new` is neither a version"),
        ("[tool.jaxlint]\nrubric-threshold = 1\n", ":2: unknown key `rubric-threshold`: it belongs to the unrelated"),
        ("[tool.jaxlint]\nselect = [\n", ":2: invalid TOML"),
        ("tool.jaxlint = 3\n", ": `tool.jaxlint` has to be a table"),
    ],
)
def test_wrong_configurations_name_file_row_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "pyproject.toml", text)
    with pytest.raises(ConfigError) as info:
        Resolver(str(tmp_path)).settings_for(str(tmp_path))
    assert str(info.value).startswith(f"{path}{message}")


def test_jaxlint_toml_has_no_table_around_its_keys(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "[tool.jaxlint]\nselect = []\n")
    with pytest.raises(ConfigError, match="top level"):
        Resolver(str(tmp_path)).settings_for(str(tmp_path))


def test_nearest_configuration_counts(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.jaxlint]\npreview = true\n")
    write(tmp_path / "a" / "pyproject.toml", "[project]\nname = 'a'\n")
    write(tmp_path / "b" / "jaxlint.toml", "")
    write(tmp_path / "b" / "pyproject.toml", "[tool.jaxlint]\npreview = true\n")
    resolver = Resolver(str(tmp_path))
    assert resolver.settings_for(str(tmp_path / "a" / "c")).config_path == str(tmp_path / "pyproject.toml")
    assert resolver.settings_for(str(tmp_path / "b")).config_path == str(tmp_path / "b" / "jaxlint.toml")
    assert not resolver.settings_for(str(tmp_path / "b")).preview


def test_flags_go_over_inline_pairs_go_over_the_file(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "unroll-threshold = 8\ntarget-jax = '0.5'\noutput-format = 'json'\n")
    inline = inline_options(["unroll-threshold = 9", "output-format = 'full'"])
    settings = Resolver(str(tmp_path), inline=inline, flags=Options(output_format="concise")).settings_for(
        str(tmp_path)
    )
    assert (settings.unroll_threshold, settings.required["jax"], settings.output_format) == (9, "0.5", "concise")


def test_extend_exclude_adds(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "extend-exclude = ['x']\n")
    settings = Resolver(str(tmp_path), flags=Options(extend_exclude=["y"])).settings_for(str(tmp_path))
    assert settings.exclude == (*DEFAULT_EXCLUDE, "x", "y")


def test_supported_jax_comes_from_the_dependencies(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\ndependencies = ['jaxtyping>=1', 'jax[cuda]>=0.4.30,<0.8']\n")
    target = Resolver(str(tmp_path)).settings_for(str(tmp_path)).required["jax"]
    assert target is not None
    assert sorted(target.split(",")) == ["<0.8", ">=0.4.30"]
    assert Resolver(str(tmp_path), isolated=True).settings_for(str(tmp_path)).required == {}


def test_project_root(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    write(tmp_path / "repo" / "sub" / "setup.py", "")
    resolver = Resolver(str(tmp_path))
    assert resolver.settings_for(str(tmp_path / "repo" / "sub")).project_root == str(tmp_path / "repo")


def test_every_key_is_documented() -> None:
    documentation = option_documentation()
    assert list(documentation) == list(Options.__struct_encode_fields__)
    assert all(documentation.values())


def test_inline_pairs_are_checked() -> None:
    with pytest.raises(ConfigError, match="neither a file nor a TOML pair"):
        inline_options(["select = "])


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("pyproject.toml", "[tool.poetry.dependencies]\njax = '^0.4.30'\n", ">=0.4.30,<0.5"),
        ("pyproject.toml", "[tool.poetry.dependencies]\njax = { version = '0.4.30', extras = ['cpu'] }\n", "==0.4.30"),
        ("pyproject.toml", "[project]\noptional-dependencies = { jax = ['jaxlib>=0.5', 'jax>=0.4.27'] }\n", ">=0.4.27"),
        ("pyproject.toml", "[project]\ndependencies = ['jaxtyping>=0.2', 'jax']\n", None),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy>=1.2\n    jax >= 0.4.30, < 0.8\n", ">=0.4.30,<0.8"),
        ("setup.py", "setup(install_requires=['jaxlib>=0.4', \"jax[cpu]>=0.4.20\"])\n", ">=0.4.20"),
        ("requirements.txt", "# comment\njax[cuda12]==0.4.23 -f https://x.org  # pinned\n", "==0.4.23"),
        ("requirements.txt", "jax-md==0.2\njaxopt>=0.8\n", None),
    ],
)
def test_supported_jax_is_read_wherever_it_stands(tmp_path: Path, name: str, text: str, asked: str | None) -> None:
    write(tmp_path / name, text)
    (tmp_path / "package").mkdir()
    assert Resolver(str(tmp_path)).settings_for(str(tmp_path / "package")).required.get("jax") == asked
