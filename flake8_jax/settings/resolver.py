"""Find the configuration of a file, and combine the sources of its settings.

Vocabulary
----------
settings    the outcome for one project: options of the configuration file, overridden by inline ``--config``
            pairs, overridden by flags; paths are absolute.
project     the files under one configuration (or, without any, under one version-controlled directory).

The nearest configuration of a file counts, whole: it inherits nothing from one further up. In one directory
``jaxlint.toml`` goes before ``pyproject.toml``; a ``pyproject.toml`` without ``[tool.jaxlint]`` does not count.
Limitations: no user-wide configuration.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flake8_jax.core.reading import SizeLimits
from flake8_jax.core.style import CodeStyle
from flake8_jax.knowledge.requirement import COMPANIONS
from flake8_jax.settings.code_style import StyleReader
from flake8_jax.settings.options import (
    DEFAULT_EXCLUDE,
    FILE_NAMES,
    Options,
    Settings,
    load_options,
    override,
)
from flake8_jax.settings.requirements import (
    environments_below,
    instructions_below,
    may_enable_x64,
    supported_versions,
)
from flake8_jax.settings.selection import Layer
from flake8_jax.settings.tables import ConfigError, key_row, load_toml

_CONTROL = (".git", ".hg")
_PACKAGING = ("pyproject.toml", "setup.py", "setup.cfg")


def place_of(settings: Settings, keys: Sequence[str], value: str | None = None) -> str:
    """Return where one of these keys is set, as ``path:row`` for a file. value: find this item of a list."""
    path = settings.config_path
    if path is not None and value is not None:
        written = [key for key in keys if path in settings.origins.get(key, ())]
        rows = [row for key in written if (row := _row_in(path, key, value)) is not None]
        if rows:
            return f"{path}:{rows[0]}"
    origins = [(origin, key) for key in keys for origin in settings.origins.get(key, ())]
    origin, key = origins[-1] if origins else ("command line", "")
    row = _row_in(origin, key) if origin == path else None
    return f"{origin}:{row}" if row is not None else origin


def _row_in(path: str, key: str, value: str | None = None) -> int | None:
    """Return the row of a key in a configuration file, or of a string in its value."""
    try:
        _, text = load_toml(path)
    except ConfigError:  # it was there a moment ago
        return None
    row = key_row(text, key, "tool.jaxlint" if os.path.basename(path) == "pyproject.toml" else "")
    if row is None or value is None:
        return row
    lines = text.split("\n")
    quoted = (f'"{value}"', f"'{value}'")
    return next((n for n in range(row, len(lines) + 1) if any(one in lines[n - 1] for one in quoted)), None)


# --- finding -------------------------------------------------------------------------------------


def parents(path: str) -> list[str]:
    """Return the directory ``path`` and all directories above it, the nearest first."""
    found = [path]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found


def _looked_up(
    directory: str, known: dict[str, str | None], find: Callable[[str], str | None], top: str | None = None
) -> str | None:
    """Return the first result of ``find``, for this directory or a directory above it. top: the last directory to try."""
    passed: list[str] = []
    folder = directory
    while folder not in known:
        passed.append(folder)
        found = find(folder)
        above = os.path.dirname(folder)
        if found is not None or above == folder or folder == top:
            known[folder] = found
        else:
            folder = above
    known.update(dict.fromkeys(passed, known[folder]))
    return known[directory]


def _holds(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in names)


class Resolver:
    """The settings of files and directories. It reads each directory once.

    explicit: the configuration file for all files. isolated: use no configuration file. inline: ``--config`` pairs.
    flags: options of the command line. within: an absolute folder without links. Files outside of this folder do not count.
    Methods raise ConfigError.
    """

    def __init__(
        self,
        cwd: str,
        *,
        explicit: str | None = None,
        isolated: bool = False,
        inline: Options | None = None,
        flags: Options | None = None,
        within: str | None = None,
    ) -> None:
        self.within = within
        self.cwd = cwd
        self.isolated = isolated
        self.explicit = os.path.join(cwd, explicit) if explicit is not None else None
        self.inline = inline or Options()
        self.flags = flags or Options()
        self._configs: dict[str, str | None] = {}
        self._roots: dict[tuple[str, ...], dict[str, str | None]] = {}
        self._loaded: dict[str, Options | None] = {}
        self._settings: dict[tuple[str | None, str | None], Settings] = {}
        self._wide: dict[str, bool] = {}
        self._required: dict[tuple[str, str | None], dict[str, str]] = {}
        self._environments: dict[str, dict[str, str]] = {}
        self._style_reader = StyleReader()

    def config_of(self, directory: str) -> str | None:
        """Return the configuration file for an absolute directory."""
        if self.explicit is not None or self.isolated:
            return self.explicit
        return _looked_up(directory, self._configs, self._config_in, self.within)

    def leads_out(self, real: str) -> bool:
        """Return whether a path without links is outside of ``within``."""
        return self.within is not None and real != self.within and not real.startswith(os.path.join(self.within, ""))

    def _nearest(self, directory: str, names: tuple[str, ...]) -> str | None:
        """Return the nearest directory that contains one of these names: this directory or one above it."""
        known = self._roots.setdefault(names, {})
        return _looked_up(directory, known, lambda folder: folder if _holds(folder, names) else None, self.within)

    def project_root_of(self, directory: str) -> str | None:
        """Return the directory around ``directory`` that contains the version control, or else the packaging files."""
        return self._nearest(directory, _CONTROL) or self._nearest(directory, _PACKAGING)

    def _config_in(self, folder: str) -> str | None:
        for name in FILE_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not self.leads_out(os.path.realpath(path)) and self._load(path) is not None:
                return path
        return None

    def _load(self, path: str) -> Options | None:
        if path not in self._loaded:
            self._loaded[path] = load_options(path)
        return self._loaded[path]

    def _load_manifest(self, path: str) -> tuple[dict[str, Any], str]:
        """Read a pyproject.toml for its requirements. Do not report its mistakes if it does not configure jaxlint."""
        try:
            return load_toml(path)
        except ConfigError:
            if not self.isolated:
                raise
            return {}, ""

    def settings_for(self, directory: str) -> Settings:
        """Return the settings of an absolute directory."""
        config = self.config_of(directory)
        home = self.cwd if config is None or config == self.explicit else os.path.dirname(config)
        project_root = home if config is not None and config != self.explicit else self.project_root_of(directory)
        key = (config, project_root)
        if key not in self._settings:
            written = self._load(config) if config is not None else None
            sources = _Sources(config, written or Options(), self.inline, self.flags)
            root = home if config is not None else (project_root or home)
            self._settings[key] = sources.settings(root, project_root, self.cwd)
        return self._settings[key]

    def may_enable_x64(self, settings: Settings) -> bool:
        """Return whether the environment of the project may enable 64-bit dtypes."""
        top = settings.project_root
        if top is None:
            return False
        if top not in self._wide:
            self._wide[top] = may_enable_x64(top)
        return self._wide[top]

    def required_in(self, directory: str, settings: Settings) -> dict[str, str]:
        """Return the versions of JAX and of other libraries that the files of a directory support, by import name."""
        key = (directory, settings.project_root)
        if key not in self._required:
            asked = supported_versions(directory, settings.project_root, self._load_manifest)
            if "jax" not in asked and settings.project_root is not None:
                asked = {**self._environments_of(settings.project_root), **asked}
            self._required[key] = {library: bound for library, bound in asked.items() if bound}
        asked = self._required[key]
        if settings.target_jax is None:
            return asked
        return {library: bound for library, bound in asked.items() if library not in COMPANIONS} | {
            "jax": settings.target_jax
        }

    def style_in(self, directory: str, settings: Settings) -> CodeStyle:
        """Return the code style of the files in a directory."""
        return self._style_reader.style_in(directory, settings.project_root)

    def _environments_of(self, project_root: str) -> dict[str, str]:
        if project_root not in self._environments:
            found = environments_below(project_root)
            self._environments[project_root] = (
                found if "jax" in found else {**instructions_below(project_root), **found}
            )
        return self._environments[project_root]


@dataclass(frozen=True)
class _Sources:
    """The options of one project by their source. Later sources override earlier ones."""

    config: str | None
    written: Options
    inline: Options
    flags: Options

    def settings(self, root: str, project_root: str | None, cwd: str) -> Settings:
        """Combine the sources. cwd: the directory in which the command runs."""
        configured = override(self.written, self.inline)
        final = override(configured, self.flags)
        ignores = {**(configured.per_file_ignores or {}), **(self.flags.per_file_ignores or {})}
        # A cache directory on the command line refers to where the command runs, one in a file to the file.
        cache_home = cwd if self.flags.cache_dir is not None else root
        return Settings(
            root=root,
            config_path=self.config,
            project_root=project_root,
            layers=(_layer(configured), _layer(self.flags)),
            per_file_ignores=tuple((pattern, tuple(selectors)) for pattern, selectors in ignores.items()),
            test_files=_optional(final.test_files),
            fixable=_optional(final.fixable),
            unfixable=_several(final.unfixable),
            unsafe_fixes=bool(final.unsafe_fixes),
            exclude=self._exclude(final, configured),
            force_exclude=bool(final.force_exclude),
            respect_gitignore=final.respect_gitignore is not False,
            target_jax=final.target_jax,
            output_format=final.output_format or "full",
            preview=bool(final.preview),
            transforms=dict(final.transforms or {}),
            src=tuple(_path_in(root, entry) for entry in final.src or ()),
            unroll_threshold=final.unroll_threshold or 32,
            cache_dir=_path_in(cache_home, final.cache_dir) if final.cache_dir is not None else None,
            size_limits=_size_limits(final),
            origins=self._origins(),
        )

    def _exclude(self, final: Options, configured: Options) -> tuple[str, ...]:
        """Return the patterns to exclude. The ``extend-exclude`` of all sources count together."""
        chosen = DEFAULT_EXCLUDE if final.exclude is None else tuple(final.exclude)
        return chosen + _several(configured.extend_exclude) + _several(self.flags.extend_exclude)

    def _origins(self) -> dict[str, tuple[str, ...]]:
        """Return the sources that set each key."""
        found: dict[str, tuple[str, ...]] = {}
        for origin, options in ((self.config, self.written), ("--config", self.inline), ("command line", self.flags)):
            for name, key in zip(Options.__struct_fields__, Options.__struct_encode_fields__):
                if origin is not None and getattr(options, name) is not None:
                    found[key] = (*found.get(key, ()), origin)
        return found


def _layer(options: Options) -> Layer:
    return Layer(_optional(options.select), _several(options.extend_select), _several(options.ignore))


def _size_limits(options: Options) -> SizeLimits:
    return SizeLimits(options.max_file_size or SizeLimits.source, options.max_notebook_size or SizeLimits.notebook)


def _path_in(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


def _optional(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _several(values: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(values or ())
