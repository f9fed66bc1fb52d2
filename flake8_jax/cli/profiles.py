"""Reading the profile that ``--profile`` names, for all commands that take one."""

from __future__ import annotations

from flake8_jax.runtime_checks.profile import Profile, ProfileError, load
from flake8_jax.settings.tables import ConfigError


def read_profile(path: str) -> Profile:
    """A recorded run. Raises ConfigError."""
    try:
        return load(path)
    except ProfileError as error:
        raise ConfigError(str(error)) from error
