"""Settings made before and after JAX reads them."""

import argparse
import os
import subprocess
import sys
from os import environ

os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"
os.environ.setdefault("JAX_TRACEBACK_FILTERING", "off")


def in_time():
    os.environ["JAX_ENABLE_CHECKS"] = "0"


in_time()

import jax
import jax.numpy as jnp
import numpy as np

from contextlib import contextmanager

os.environ["JAX_ENABLE_X64"] = "1"  # expect: late-configuration
environ["JAX_DEBUG_NANS"] = "true"  # expect: late-configuration
os.environ.setdefault("JAX_DEBUG_INFS", "true")  # expect: late-configuration
os.environ.update(JAX_DISABLE_JIT="1")  # expect: late-configuration
os.environ.update({"JAX_LOG_COMPILES": "1", "RUN_NAME": "a"})  # expect: late-configuration
os.environ |= {"JAX_TRANSFER_GUARD": "disallow"}  # expect: late-configuration

# JAX has computed nothing yet: these act.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=1"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
jax.config.update("jax_platforms", "cpu")
DTYPE = jnp.float32
SPEC = jax.ShapeDtypeStruct((3,), DTYPE)


@jax.jit
def double(x):
    return 2 * x


GRID = jnp.linspace(0.0, 1.0, 4)

os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=8"  # expect: late-configuration
os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".5"  # expect: late-configuration
jax.config.update("jax_platforms", "nowhere")  # expect: late-configuration
jax.config.update("jax_platform_name", "nowhere")  # expect: late-configuration, deprecated-api


def nothing_took_effect():
    assert GRID.dtype == jnp.float32 and not jax.config.jax_debug_nans and not jax.config.jax_debug_infs
    assert not jax.config.jax_disable_jit and not jax.config.jax_log_compiles
    assert jax.config.jax_transfer_guard is None
    assert jax.device_count() == 1 and jax.default_backend() == "cpu"
    return double(GRID)


def more_devices(n):
    jax.config.update("jax_num_cpu_devices", n)  # expect: late-configuration


def join():
    jax.distributed.initialize("localhost:1234", 1, 0)  # expect: late-configuration


def only_if(args):
    if args.wide:
        os.environ["JAX_NUMPY_DTYPE_PROMOTION"] = "strict"  # expect: late-configuration


# runs: nothing_took_effect(), only_if(argparse.Namespace(wide=False))
# raises RuntimeError: more_devices(4)
# raises RuntimeError: join()


# --- never flagged -------------------------------------------------------------


def other_options():
    jax.config.update("jax_default_matmul_precision", "float32")
    jax.config.update("jax_compilation_cache_dir", None)
    os.environ["RUN_NAME"] = "baseline"
    os.environ["JAX_HOUSE_STYLE"] = "ours"
    os.environ["CUDA_HOME"] = "/usr/local/cuda"


def option_of_that_name():
    os.environ["JAX_NUMPY_RANK_PROMOTION"] = "warn"
    jax.config.update("jax_numpy_rank_promotion", "warn")


def reads():
    assert os.environ.get("JAX_PLATFORMS") != "tpu"
    return "XLA_FLAGS" in os.environ


def other_mapping():
    flags = dict(os.environ)
    flags["JAX_PLATFORMS"] = "cpu"
    return flags


def cleans_up():
    os.environ.pop("JAX_PLATFORM_NAME", None)


def variable_of_unknown_name(name):
    os.environ[name] = "1"


# runs: other_options(), option_of_that_name(), reads(), other_mapping(), cleans_up()


# --- names that JAX does not read -----------------------------------------------


def misnamed():
    os.environ["JAX_BACKEND"] = "gpu"  # expect: late-configuration
    os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTON", "0.5")  # expect: late-configuration
    os.environ["JAX_PLATFORM"] = "cpu"
    return os.environ.get("JAX_PLATFORM")


def of_driver():
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"  # expect: late-configuration


# runs: misnamed(), of_driver()
