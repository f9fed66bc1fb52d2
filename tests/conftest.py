"""Settings for every test: a busy machine is no failure, and only what is marked ``jax`` runs JAX."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.jax_guard import Guard
from support.jax_programs import compiled, on_jax, programs_of

__all__ = ["compiled", "on_jax"]
pytest_plugins = ["support.groups"] if importlib.util.find_spec("xdist") else []

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Tests start hundreds of children, which spend half of their time on compiling jaxlint where no bytecode may be written.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

JAX_INSTALLED = importlib.util.find_spec("jax") is not None


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


NO_JAX = pytest.StashKey[Guard]()


def pytest_configure(config: pytest.Config) -> None:
    guard = Guard(Path(tempfile.gettempdir()) / f"jaxlint-tests-{os.getpid()}-imported-jax")
    guard.take()  # of an earlier run that was killed, whose process had the same number
    config.stash[NO_JAX] = guard


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Refuse JAX to what is collected: tests import it when they run."""
    guard = session.config.stash[NO_JAX]
    with guard.active():
        result = yield
    imports = guard.take()
    if imports:
        raise pytest.UsageError(f"collecting the tests runs JAX:\n{imports}")
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """Refuse JAX to what is not marked, fixtures included."""
    if item.get_closest_marker("jax") is not None:
        return (yield)
    with item.config.stash[NO_JAX].active():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    yield
    imports = item.config.stash[NO_JAX].take()
    if imports:
        pytest.fail(f"runs JAX, but is not marked `jax`:\n{imports}", pytrace=False)


@pytest.fixture
def no_jax(request: pytest.FixtureRequest) -> Guard:
    """The guard of this test; whoever takes its notes does not fail by them."""
    return request.config.stash[NO_JAX]
