"""Conditions that ask for the devices of a platform: lines that the rule reports, and lines that look alike."""

import contextlib
import unittest

import jax


def direct():
    return "half" if jax.devices("gpu") else "single"  # expect: devices-as-condition


# raises RuntimeError: direct()


def negated():
    return not jax.local_devices(backend="tpu")  # expect: devices-as-condition


# raises RuntimeError: negated()


def named():
    gpus = jax.devices("cuda")  # expect: devices-as-condition
    if gpus and len(gpus) > 1:
        return gpus[0]
    return jax.devices()[0]


# raises RuntimeError: named()


class NeedsGpu(unittest.TestCase):
    @unittest.skipIf(not jax.default_backend() == "gpu", "no GPU")
    def test(self):
        self.assertTrue(jax.devices("gpu"))


def on_cpu():
    return bool(jax.devices("cpu"))


# runs: on_cpu()


def any_platform(platform):
    return bool(jax.devices(platform))


# runs: any_platform("cpu")


def expected():
    with contextlib.suppress(RuntimeError):
        if jax.devices("gpu"):
            return "half"
    return "single"


# runs: expected()


def counted(n):
    try:
        gpus = jax.devices("gpu")
    except RuntimeError:
        gpus = []
    return len(gpus) >= n if gpus else False


# runs: counted(1)


def compared(n):
    if len(jax.devices("gpu")) != n:
        raise ValueError("another number of devices")


def wanted():
    gpu = jax.devices("gpu")[0]
    return jax.device_put(1.0, gpu) if gpu.id else None


def below_a_test():
    if jax.default_backend() == "gpu":
        return "half" if jax.devices("gpu") else "single"
    return "single"


# runs: below_a_test()
