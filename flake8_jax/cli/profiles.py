"""Reading the profile that ``--profile`` names, for all commands that take one."""

from __future__ import annotations

from flake8_jax.runtime_checks.profile import Profile, ProfileError, interpreter_of, load
from flake8_jax.settings.tables import ConfigError


def read_profile(path: str) -> Profile:
    """A recorded run. Raises ConfigError."""
    try:
        return load(path)
    except ProfileError as error:
        raise ConfigError(str(error)) from error


def recorded_python(named: str | None, profile: Profile) -> str | None:
    """The interpreter for a run that uses a profile: the one that the user names, or the one that recorded it, if it is known
    and there."""
    return named or interpreter_of(profile) or None
