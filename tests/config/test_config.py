"""Settings: where they are found, what overrides what, and how wrong ones are refused."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from flake8_jax.settings.options import (
    DEFAULT_EXCLUDE,
    Options,
    inline_options,
    option_documentation,
    option_examples,
    option_types,
)
from flake8_jax.settings.requirements import may_enable_x64
from flake8_jax.settings.resolver import Resolver
from flake8_jax.settings.tables import ConfigError


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def required_in(cwd: Path, directory: Path, *, isolated: bool = False) -> dict[str, str]:
    """What the files of a directory are for."""
    resolver = Resolver(str(cwd), isolated=isolated)
    return resolver.required_in(str(directory), resolver.settings_for(str(directory)))


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
        ("[tool.jaxlint]\na = " + "[" * 5_000, ":2: invalid TOML: nested too deeply"),
        ("\na = " + "{a=" * 5_000, ":2: invalid TOML: nested too deeply"),
        ("\n\na = " + "9" * 5_000, ":3: invalid TOML: a number with too many digits"),
        ("\n" + "a." * 50_000 + "a = 1\n", ":2: invalid TOML: a key with more than 32 parts"),
        ("[" + "'a'. " * 50_000 + "a]\n", ":1: invalid TOML: a key with more than 32 parts"),
        ("a = { " + "a." * 50_000 + "a = 1 }\n", ":1: invalid TOML: a key with more than 32 parts"),
        ("[tool.jaxlint]\nunroll-threshold = 0x" + "f" * 5_000, ":2: `unroll-threshold`: expected a number"),
        ("[tool.jaxlint]\nmax-file-size = 0\n", ":2: `max-file-size`: expected a number of bytes, at least 1"),
        ("[tool.jaxlint]\nmax-notebook-size = '1'\n", ":2: `max-notebook-size`: expected a number, got a string"),
        ("[tool.jaxlint]\ntarget-jax = '" + "9" * 5_000 + "'\n", ":2: `target-jax`: expected at most 200 char"),
        ("[tool]\njaxlint.preview = 1\n", ":2: `preview`: expected true or false"),
        ("tool.jaxlint.preview = 1\n", ":1: `preview`: expected true or false"),
        ("[tool]\njaxlint = { preview = 1 }\n", ":2: `preview`: expected true or false"),
        ("[tool.jaxlint]\n" + "k" * 1_000 + " = 1\n", ":2: unknown key `" + "k" * 100 + "…`"),
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


def test_bytes_that_are_no_text_are_reported_with_their_row(tmp_path: Path) -> None:
    (tmp_path / "jaxlint.toml").write_bytes(b"preview = true\n# \xff\n")
    with pytest.raises(ConfigError, match=":2: not UTF-8"):
        Resolver(str(tmp_path)).settings_for(str(tmp_path))


def test_a_configuration_that_is_endless_or_a_pipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jaxlint.toml"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)
    with pytest.raises(ConfigError, match="larger than 1,000,000 bytes"):
        Resolver(str(tmp_path)).settings_for(str(tmp_path))
    with pytest.raises(ConfigError, match="not a regular file"):
        Resolver(str(tmp_path), explicit=os.devnull).settings_for(str(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"a.b{number} = 1\n" for number in range(20_000)),
        'a = """\n' + "x.\n" * 50_000 + '"""\n',
        "a = [" + "1.5, " * 50_000 + "]\n",
        "a = '" + ".a" * 50_000 + "'  # " + ".a" * 50_000 + "\n",
        'a = "' + '\\".' * 50_000 + '"\n',
    ],
)
def test_large_files_are_read_in_linear_time(tmp_path: Path, text: str) -> None:
    write(tmp_path / "pyproject.toml", text + "\n[tool.jaxlint]\npreview = true\n")
    started = time.process_time()
    assert Resolver(str(tmp_path)).settings_for(str(tmp_path)).preview
    assert time.process_time() - started < 2


def test_rows_of_a_key_are_found_in_linear_time(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", 'src = ["""\n[' + " " * 300_000 + '\n"""]\n\nwrong = 1\n')
    started = time.process_time()
    with pytest.raises(ConfigError, match=":5: unknown key"):
        Resolver(str(tmp_path)).settings_for(str(tmp_path))
    assert time.process_time() - started < 1


def test_an_error_in_a_configuration_further_up_is_none_of_ours(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "wrong = 1\n")
    write(tmp_path / "a" / "jaxlint.toml", "preview = true\n")
    assert Resolver(str(tmp_path)).settings_for(str(tmp_path / "a" / "b")).preview


def test_settings_are_found_however_deep_a_folder_is(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "preview = true\n")
    deep = os.path.join(tmp_path, *["d"] * 2_000)
    assert Resolver(str(tmp_path)).settings_for(deep).preview
    assert Resolver(str(tmp_path), isolated=True).settings_for(deep).project_root is None


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
    assert (settings.unroll_threshold, settings.target_jax, settings.output_format) == (9, "0.5", "concise")


def test_extend_exclude_adds(tmp_path: Path) -> None:
    write(tmp_path / "jaxlint.toml", "extend-exclude = ['x']\n")
    settings = Resolver(str(tmp_path), flags=Options(extend_exclude=["y"])).settings_for(str(tmp_path))
    assert settings.exclude == (*DEFAULT_EXCLUDE, "x", "y")


def test_supported_jax_comes_from_the_dependencies(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\ndependencies = ['jaxtyping>=1', 'jax[cuda]>=0.4.30,<0.8']\n")
    target = required_in(tmp_path, tmp_path)["jax"]
    assert target is not None
    assert sorted(target.split(",")) == ["<0.8", ">=0.4.30"]
    assert required_in(tmp_path, tmp_path, isolated=True) == {"jax": target}


def test_isolated_passes_over_a_manifest_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project\n")
    write(tmp_path / "requirements.txt", "jax==0.4.30\n")
    assert required_in(tmp_path, tmp_path, isolated=True) == {"jax": "==0.4.30"}


def test_project_root(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    write(tmp_path / "repo" / "sub" / "setup.py", "")
    resolver = Resolver(str(tmp_path))
    assert resolver.settings_for(str(tmp_path / "repo" / "sub")).project_root == str(tmp_path / "repo")


def test_every_key_is_documented() -> None:
    documentation = option_documentation()
    assert list(documentation) == list(Options.__struct_encode_fields__)
    assert all(documentation.values())
    assert list(option_types()) == list(documentation)


@pytest.mark.parametrize("key", option_examples())
def test_the_example_of_a_key_sets_this_key(key: str) -> None:
    options = inline_options([option_examples()[key]])
    set_ = [name for name in Options.__struct_fields__ if getattr(options, name) is not None]
    assert set_ == [key.replace("-", "_")]


def test_inline_pairs_are_checked() -> None:
    with pytest.raises(ConfigError, match="neither a file nor a TOML pair"):
        inline_options(["select = "])


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("pyproject.toml", "[tool.poetry.dependencies]\njax = '^0.4.30'\n", ">=0.4.30,<0.5"),
        ("pyproject.toml", "[tool.poetry.dependencies]\njax = { version = '0.4.30', extras = ['cpu'] }\n", "==0.4.30"),
        (
            "pyproject.toml",
            "[project]\noptional-dependencies = { jax = ['jaxlib>=0.5', 'jax>=0.4.27'] }\n",
            ">=0.4.27,>=0.5",
        ),
        ("requirements.txt", "jax>=0.7.0; platform_system == 'Darwin'\njaxlib>=0.9.0\n", ">=0.7.0,>=0.9.0"),
        ("requirements.txt", "jax>=0.4.1,<0.5\njaxlib>=0.6\n", ">=0.4.1,<0.5"),
        ("pyproject.toml", "[project]\ndependencies = ['jaxtyping>=0.2', 'jax']\n", None),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy>=1.2\n    jax >= 0.4.30, < 0.8\n", ">=0.4.30,<0.8"),
        ("setup.py", "setup(install_requires=['jaxlib>=0.4', \"jax[cpu]>=0.4.20\"])\n", ">=0.4.20"),
        ("setup.py", "setup(install_requires=[f'jax=={VERSION}', 'numpy'])\n", "===?"),
        ("requirements.txt", "git+https://git@github.com/someone/jax.git@old-branch#egg=jax\n", "===?"),
        ("requirements.txt", "jax @ git+https://github.com/jax-ml/jax@0123abc\n", "===?"),
        ("setup.py", "setup(install_requires=['jax<' + NEWEST, 'numpy'])\n", "===?"),
        ("setup.py", "setup(install_requires=['jax>=0.4,<' + NEWEST])\n", "===?"),
        ("setup.py", "V = '0.2.27'\nsetup(install_requires=[f'jax >= {V},<0.4.0'])\n", ">=0.2.27,<0.4.0"),
        ("setup.py", "setup(install_requires=[f'jax >= {oldest()}, <0.4.0'])\n", "<0.4.0"),
        ("setup.py", "setup(install_requires=['jax>=0.4', 'jaxlib==' + VERSION])\n", ">=0.4,===?"),
        ("requirements.txt", "# comment\njax[cuda12]==0.4.23 -f https://x.org  # pinned\n", "==0.4.23"),
        ("requirements.txt", '"jax[tpu]==0.3.25" -f https://x.org/libtpu_releases.html\n', "==0.3.25"),
        ("requirements.txt", "jax-md==0.2\njaxopt>=0.8\n", None),
        ("requirements.txt", "  jax [cpu] ( >= 0.4.30 )\n", ">=0.4.30"),
        ("requirements-gpu.txt", "jax==0.4.13\n", "==0.4.13"),
        ("requirements/base.txt", "jax==0.4.13\n", "==0.4.13"),
        ("requirements.txt", "jax>=0.1.55\njaxlib==0.3.0\n", ">=0.1.55,<0.4"),
        ("requirements.txt", "jax==0.4.7\njaxlib==0.4.6\n", "==0.4.7"),
        ("requirements.txt", "jaxlib @ https://x.org/cuda/jaxlib-0.4.7+cuda11-cp310-x86_64.whl\n", "==0.4.7"),
        ("requirements.txt", "https://x.org/jax-releases/jaxlib-0.3.15%2Bcuda11-cp38-none-any.whl\n", "==0.3.15"),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\njax = { url = 'https://x.org/jax-0.4.13.tar.gz' }\n",
            "==0.4.13",
        ),
        ("pyproject.toml", "[tool.poetry.dependencies]\njax = '~0.4.13'\n", ">=0.4.13,<0.5"),
        ("pyproject.toml", "[dependency-groups]\ndev = ['jax<0.7']\n", "<0.7"),
        ("environment.yml", "dependencies:\n  - conda-forge::jax=0.4.13\n  - python=3.10\n", "==0.4.13"),
        ("requirements.txt", "absl-py=0.12.0=pypi_0\njax=0.2.12=pypi_0\njaxlib=0.1.65=pypi_0\n", "==0.2.12"),
        ("neurons.yml", "dependencies:\n  - pip:\n      - jax==0.4.13\n", "==0.4.13"),
        ("mkdocs.yml", "plugins:\n  - jax==0.4.13\n", None),
        ("environment-gpu.yaml", "dependencies:\n  - jaxlib=0.4.13=cuda112py310\n", "==0.4.13"),
        ("environment.yml", "dependencies:\n  - jax=0.4\n", "==0.4.*"),
        ("environment.yml", "dependencies:\n  - pip:\n      - jax[cuda]==0.4.13\n", "==0.4.13"),
        ("environment.yml", "dependencies:\n  - jax-md=0.4.13\n", None),
        ("uv.lock", '[[package]]\nname = "jax"\nversion = "0.4.38"\nsource = {}\n', "==0.4.38"),
        ("poetry.lock", '[[package]]\nname = "jaxlib"\nversion = "0.4.20+cuda"\n', "==0.4.20"),
        ("Pipfile", '[packages]\njax = {version = "0.4.33", extras = ["cuda12"]}\nnumpy = "*"\n', "==0.4.33"),
        ("Pipfile", '[packages]\njax = "*"\n[dev-packages]\nblack = "==24.1"\n', None),
        ("Pipfile", "pipeline { agent any }\n", None),
        ("pixi.toml", '[dependencies]\njax = ">=0.4.28,<0.4.29"\n', ">=0.4.28,<0.4.29"),
        (
            "pixi.toml",
            '[feature.gpu.pypi-dependencies]\njax = { version = "==0.4.33", extras = ["cuda12"] }\n',
            "==0.4.33",
        ),
        ("pixi.toml", "dependencies: none\n", None),
        ("pyproject.toml", '[project]\nname = "x"\n[tool.pixi.dependencies]\njax = "0.4.28.*"\n', "==0.4.28.*"),
        ("Pipfile.lock", '{"default": {"jax": {"hashes": ["a"], "version": "==0.4.1"}}}', "==0.4.1"),
        ("requirements.txt", f"jax>={'9' * 5_000}\n", None),
        ("pyproject.toml", f"[tool.poetry.dependencies]\njax = '^{'9' * 5_000}'\n", None),
        ("pyproject.toml", f"[tool.poetry.dependencies]\njax = '^1{'.0' * 5_000}'\n", None),
    ],
)
def test_supported_jax_is_read_wherever_it_stands(tmp_path: Path, name: str, text: str, asked: str | None) -> None:
    write(tmp_path / name, text)
    (tmp_path / "package").mkdir()
    assert required_in(tmp_path, tmp_path / "package").get("jax") == asked


def test_a_lock_bounds_what_the_manifest_leaves_open(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\ndependencies = ['jax>=0.4.20', 'flax<0.9']\n")
    write(tmp_path / "requirements-dev.txt", "jax>=0.4.25,<0.6\nflax==0.8.0\n")
    locked = '[[package]]\nname = "{}"\nversion = "{}"\n'
    write(tmp_path / "uv.lock", locked.format("jax", "0.4.30") + locked.format("optax", "0.2.0"))
    required = required_in(tmp_path, tmp_path)
    assert required == {"jax": ">=0.4.20,<0.6", "flax": "<0.9", "optax": "==0.2.0"}


def test_lists_for_several_machines_require_a_range(tmp_path: Path) -> None:
    write(tmp_path / "requirements_2004.txt", "jax==0.4.28\njaxlib==0.4.28\noptax==0.2.2\n")
    write(tmp_path / "requirements_2204.txt", "jax==0.4.9\njaxlib==0.4.9+cuda12.cudnn89\noptax==0.2.2\n")
    assert required_in(tmp_path, tmp_path) == {"jax": ">=0.4.9,<=0.4.28", "optax": "==0.2.2"}


def test_a_list_for_another_purpose_leaves_the_question_to_the_project(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "jax==0.4.30\n")
    write(tmp_path / "docs" / "requirements.txt", "sphinx\n")
    (tmp_path / ".git").mkdir()
    assert required_in(tmp_path, tmp_path / "docs") == {"jax": "==0.4.30"}


def test_a_part_of_the_project_with_requirements_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "setup.py", "setup(install_requires=['jax>=0.4.30', 'flax==0.8.0'])\n")
    write(tmp_path / "pinned" / "requirements.txt", "jax[tpu]==0.4.33\n")
    write(tmp_path / "loose" / "requirements.txt", "jax\noptax==0.2.0\n")
    write(tmp_path / "alone" / "setup.py", "setup(install_requires=['jax>=0.5'])\n")
    assert required_in(tmp_path, tmp_path) == {"jax": ">=0.4.30", "flax": "==0.8.0"}
    assert required_in(tmp_path, tmp_path / "pinned" / "x") == {"jax": "==0.4.33", "flax": "==0.8.0"}
    assert required_in(tmp_path, tmp_path / "loose") == {"jax": ">=0.4.30", "flax": "==0.8.0", "optax": "==0.2.0"}
    assert required_in(tmp_path, tmp_path / "alone") == {"jax": ">=0.5"}


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("", "==0.3.24"), ("jax\n", None), ("flax\njax[cuda12]  # any\n", None), ("jax==0.5\n", "==0.5"),
        ("jaxopt\n", "==0.3.24"),
    ],
)  # fmt: skip
def test_environments_in_folders_count_where_nothing_else_speaks_of_jax(
    tmp_path: Path, named: str, asked: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "setup.py", "setup(name='x')\n")
    write(tmp_path / "requirements.txt", named)
    write(tmp_path / "docker" / "environment_tpu.yml", "  - pip:\n      - jax[tpu]==0.3.14\n      - jaxlib==0.3.14\n")
    write(tmp_path / "docker" / "environment_local.yml", "  - pip:\n      - jax==0.3.24\n      - jaxlib==0.3.24\n")
    write(tmp_path / "package" / "a.py", "")
    assert required_in(tmp_path, tmp_path / "package").get("jax") == asked
    write(tmp_path / "ci" / "requirements.txt", "jax>=0.3.20\n")
    assert required_in(tmp_path, tmp_path / "package").get("jax") == (None if asked == "==0.3.24" else asked)


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("pyproject.toml", "[project]\nrequires-python = '>=3.9, <3.11'\n", ">=3.9,<3.11"),
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = '~3.9'\n", ">=3.9,<3.10"),
        ("setup.py", "setup(python_requires='>=3.7,<3.10')\n", ">=3.7,<3.10"),
        ("setup.cfg", "[options]\npython_requires = >=3.7, <3.10\n", ">=3.7,<3.10"),
        ("environment.yml", "dependencies:\n  - python=3.9.12\n  - jax\n", "==3.9.12"),
        ("environment.yml", "dependencies:\n  - python=3.9\n  - jax\n", "==3.9.*"),
        ("environment.yml", "dependencies:\n  - conda-forge::python>=3.9,<3.11\n", ">=3.9,<3.11"),
        ("environment.yml", "dependencies:\n  - python-dateutil=2.8\n", None),
    ],
)
def test_the_python_asked_for_is_read_wherever_it_stands(
    tmp_path: Path, name: str, text: str, asked: str | None
) -> None:
    write(tmp_path / name, text)
    assert required_in(tmp_path, tmp_path).get("python") == asked


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"requirements.txt": "numpy==1.22.4\nflax==0.6.4\n"}, "==1.22.4"),
        ({"setup.py": "setup(install_requires=['jax>=0.4', 'numpy<2'])\n"}, "<2"),
        (
            {
                "pyproject.toml": "[project]\ndependencies = ['jax', 'numpy>=1.24']\n",
                "requirements.txt": "jax\nnumpy<2\n",
            },
            ">=1.24",
        ),
        ({"requirements.txt": "jax\n", "requirements-docs.txt": "sphinx\nnumpy<2\n"}, None),
        ({"setup.py": "setup(install_requires=['gym', 'numpy<1.22', 'brax>=0.0.12'])\n"}, "<1.22"),
    ],
)
def test_numpy_counts_where_a_file_asks_for_it_beside_jax(
    tmp_path: Path, files: dict[str, str], asked: str | None
) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    assert required_in(tmp_path, tmp_path).get("numpy") == asked


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        (
            {"README.md": 'Then run `pip install --upgrade "jax[cuda11_pip]==0.4.20" -f https://x.org/jax`.\n'},
            "==0.4.20",
        ),
        ({"README.md": "pip install jax\n", "prepare.sh": "pip install jax==0.4.20\n"}, None),
        ({"prepare.sh": "# pip install jax\npip install -q \\\n  flax \\\n  jax==0.4.20\n"}, "==0.4.20"),
        (
            {".github/workflows/ci.yml": "run: pip install jax==0.4.13\n", "tpu.sh": "pip install jax==0.4.10\n"},
            "==0.4.13",
        ),
        ({".devcontainer/Dockerfile": "FROM nvcr.io/nvidia/jax:23.05-py3\nRUN pip install optax\n"}, "===?"),
        ({"Dockerfile": "FROM nvcr.io/nvidia/jax:23.05-py3\nRUN pip install -U jax\n"}, None),
        ({"README.md": "pip install jax==0.4.20\n", "requirements.txt": "jax\n"}, None),
        ({"README.md": "pip install jaxopt==0.4.20 git+https://x.org/google/jax\n"}, None),
    ],
)
def test_instructions_count_where_no_packaging_file_speaks_of_jax(
    tmp_path: Path, files: dict[str, str], asked: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "setup.py", "setup(name='x')\n")
    for name, text in files.items():
        write(tmp_path / name, text)
    write(tmp_path / "package" / "a.py", "")
    assert required_in(tmp_path, tmp_path / "package").get("jax") == asked


def test_an_environment_does_not_close_a_package_that_is_open_to_new_pythons(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\nrequires-python = '>=3.9'\n")
    write(tmp_path / "environment.yml", "dependencies:\n  - python=3.9\n")
    assert required_in(tmp_path, tmp_path)["python"] == ">=3.9"


@pytest.mark.parametrize(
    "name", ["requirements.txt", "setup.py", "setup.cfg", "environment.yml", "uv.lock", "README.md"]
)
@pytest.mark.parametrize(
    "text",
    [
        "jax" + " " * 200_000, "\n" * 200_000, " \n" * 100_000, "jax[\n" * 50_000, "jax[" * 50_000, '"jax[' * 50_000,
        "jax>=" + " " * 200_000, "jax>=1" + " ," * 100_000, '"' + " " * 200_000, '" ' * 100_000,
    ],
)  # fmt: skip
def test_requirements_are_read_in_linear_time(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path / name, text)
    started = time.process_time()
    assert "flax" not in required_in(tmp_path, tmp_path)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("readme", "library", "asked"),
    [
        ("```\nconda create --name train python=3.10\npip install -r requirements.txt\n```\n", "python", "==3.10.*"),
        ("uv venv --python 3.9\n", "python", "==3.9.*"),
        ("python3.8 -m venv env\n", "python", "==3.8.*"),
        ("Works with python=3.9 as well.\n", "python", None),
        ("pip install flax==0.5.3\n", "flax", ">=0.5,<=0.5.3"),
    ],
)
def test_a_readme_adds_what_the_lists_beside_it_leave_open(
    tmp_path: Path, readme: str, library: str, asked: str | None
) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "requirements.txt", "jax\nflax>=0.5\n")
    write(tmp_path / "README.md", readme)
    assert required_in(tmp_path, tmp_path).get(library) == asked


def test_a_readme_does_not_close_a_package_that_is_open_upwards(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\ndependencies = ['jax>=0.4']\n")
    write(tmp_path / "README.md", "pip install jax==0.4.20\n")
    assert required_in(tmp_path, tmp_path)["jax"] == ">=0.4"


@pytest.mark.parametrize("name", ["flake.nix", "Dockerfile", ".github/workflows/tests.yml", "scripts.sh"])
def test_the_environment_of_a_project_may_enable_64_bits(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("JAX_ENABLE_X64=1")
    assert not may_enable_x64(str(tmp_path))
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("JAX_ENABLE_X64=1\n")
    assert may_enable_x64(str(tmp_path))
