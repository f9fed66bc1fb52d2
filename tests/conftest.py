"""Settings for every test: a busy machine is no failure, and what runs JAX is marked, kept together and left out."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import HealthCheck, settings
from support.jax_programs import on_jax, programs_of

__all__ = ["on_jax"]

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

JAX_INSTALLED = importlib.util.find_spec("jax") is not None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With ``-n`` of xdist, tests of one group share a worker, so that their fixtures are made once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist in ("no", "load"):
        config.option.dist = "loadgroup"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs JAX as slow; tests that share a process with JAX share a worker.

    ``-k key_reuse`` selects also what is called key-reuse.
    """
    for item in items:
        item.extra_keyword_matches.add(item.name.replace("-", "_"))
        programs = list(programs_of(item))
        if programs:
            item.add_marker("jax")
            item.add_marker(pytest.mark.xdist_group(programs[0].batch))
            missing = sorted({name for program in programs for name in program.missing()})
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))
        if item.get_closest_marker("jax") is not None:
            item.add_marker("slow")
            if not JAX_INSTALLED:
                item.add_marker(pytest.mark.skip(reason="JAX is not installed"))
