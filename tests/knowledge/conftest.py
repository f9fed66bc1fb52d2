"""JAX in the process of the tests, as its functions are called by the hundred with all kinds of arguments."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def quick_jax(compiled: dict[str, str]) -> Iterator[None]:
    """JAX on the CPU; XLA would spend most of its time on code that runs once, and each error on shortening its traceback."""
    jax = importlib.import_module("jax")
    settings = {
        "jax_platforms": "cpu",
        "jax_disable_most_optimizations": True,
        "jax_traceback_filtering": "off",
        "jax_compilation_cache_dir": compiled["JAX_COMPILATION_CACHE_DIR"],
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: jax.config.values[name] for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    yield
    for name, value in before.items():
        jax.config.update(name, value)
