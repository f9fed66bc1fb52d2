"""``jaxlint probe``, ``env`` and ``locate``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import msgspec
import pytest
from runtime.measured import Command, command, data

from flake8_jax.cli.probe import described
from flake8_jax.runtime_checks.child.collectives import collectives, devices_of
from flake8_jax.runtime_checks.measurements import Probe

pytestmark = pytest.mark.jax
jaxlint = pytest.fixture(command)

KERNELS = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def printing(x):
    jax.debug.print("{}", x)
    return x

def kernel(x):
    def body(source, target):
        target[...] = source[...] * 2
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def summed(xs):
    return jax.lax.scan(lambda carry, x: (carry + x, jnp.sin(carry)), xs[0], xs)
"""


def installed(*names: str) -> bool:
    return any(importlib.util.find_spec(name) for name in names)


def test_more_than_fits_in_memory(jaxlint: Command, tmp_path: Path) -> None:
    status, found = data(
        jaxlint, "probe", "train.py:long", "--case", "f32[n,n], 0", "--dim", "n=400000", "--target", "cpu",
        "--write", "texts/here",
    )  # fmt: skip
    case = found["cases"][0]
    assert status == 0 and case["output"] == "f32[400000,400000]"
    assert case["primitives"] == {"dot_general": 60, "tanh": 60} and case["equations"] == 120
    stage = case["stages"][0]
    assert (stage["platform"], stage["mode"], stage["state"]) == ("cpu", "device", "ok")
    assert stage["memory"]["argument"] >= 4 * 400_000**2 and stage["cost"]["flops"] > 60 * 2 * 400_000.0**3 * 0.9
    written = {Path(file).name: Path(file).read_text() for file in found["files"]}
    assert sorted(written) == ["long_1.cpu.hlo.txt", "long_1.cpu.stablehlo.mlir", "long_1.jaxpr.txt"]
    assert "stablehlo.tanh" in written["long_1.cpu.stablehlo.mlir"] and "HloModule" in written["long_1.cpu.hlo.txt"]
    assert (tmp_path / "texts/here/long_1.jaxpr.txt").is_file()


@pytest.mark.skipif(installed("libtpu", "jax_cuda12_plugin"), reason="a compiler for an accelerator is installed")
def test_platforms_that_are_not_here_are_lowered_for(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    status, found = data(jaxlint, "probe", "kernels.py:kernel", "--case", "f32[128,128]", "--target", "cpu,tpu,cpu")
    here, away = found["cases"][0]["stages"]
    assert status == 1
    assert (here["platform"], here["mode"], here["state"]) == ("cpu", "device", "failed")
    assert "interpret" in here["problem"]
    assert (away["platform"], away["mode"], away["state"]) == ("tpu", "lower", "ok")
    assert "runtime-tpu" in away["problem"] and away["texts"]["stablehlo"] > 5
    status, out, _ = jaxlint("probe", "kernels.py:printing", "--target", "cuda")
    assert status == 0 and "cuda: inconclusive [mode lower]" in out


SHARDED = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))

@jax.jit
def step(w, x):
    return w - jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

def cases():
    yield (
        jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=NamedSharding(mesh, P())),
        jax.ShapeDtypeStruct((256, 64), jnp.float32, sharding=NamedSharding(mesh, P("data", None))),
    )
"""


def test_several_devices(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "sharded.py").write_text(SHARDED)
    words = ["sharded.py:step", "--cases", "sharded.py", "--devices", "4", "--dialect", "stablehlo", "--lines", "3"]
    status, out, _ = jaxlint("probe", *words)
    assert status == 0
    assert "memory  each device: arguments 32 KiB, results 16 KiB" in out
    assert "split   over 4 devices, which send each other:" in out and "1 all-reduce of 16 KiB among 4" in out
    assert "    module @jit_step" in out and "more lines (--lines, or --write DIR)" in out


def test_collectives_of_other_versions() -> None:
    text = """HloModule jit_f, num_partitions=8
  %all-gather-start = (f32[4,2]{1,0}, f32[8,2]{1,0}) all-gather-start(f32[4,2] %p), replica_groups=[4,2]<=[8]
  %all-gather-done = f32[8,2]{1,0} all-gather-done(%all-gather-start)
  ROOT %r = (f32[8]{0}, bf16[3]{0}) all-reduce(%a, %b), channel_id=1, replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=%add
  %p = pred[3] collective-permute(%c), source_target_pairs={{0,1}}
"""
    assert devices_of(text) == 8
    assert [tuple(one.values()) for one in collectives(text)] == [
        ("all-gather", 1, 64, 2), ("all-reduce", 1, 38, 4), ("collective-permute", 1, 3, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--topology", "v9:2x2"], "--topology v9:2x2: it is unknown; TPUs are v2, v3, v4, v5e"),
        (["--topology", "h100", "--target", "tpu"], "this is for cuda, and --target says tpu"),
        (["--topology", "v5e", "--devices", "2"], "virtual devices are of the processor"),
        (["--dialect", "llvm"], "texts are jaxpr, stablehlo, hlo, unoptimized-hlo"),
        (["--donate", "w"], "--donate w: train.py:step is jitted already"),
    ],
)
def test_wrong_calls_of_probe(jaxlint: Command, words: list[str], message: str) -> None:
    status, out, err = jaxlint("probe", "train.py:step", "--case", "f32[8,8], f32[4,8]", *words)
    assert (status, out) == (2, "")
    assert message in err


def test_donated_memory_is_shared(jaxlint: Command) -> None:
    _, found = data(jaxlint, "probe", "train.py:long", "--case", "f32[8,8], 0", "--donate", "w")
    assert found["cases"][0]["stages"][0]["memory"]["alias"] == 256
    assert "It runs on 1 of 3 devices" in described(msgspec.convert(found, Probe), 3)


WRAPPER = """\
import jax
import jax.numpy as jnp

class Filtered:  # as equinox.filter_jit: functions among the arguments and results, and no shapes
    def __init__(self, function):
        self.function = function

    def __call__(self, state, x):
        activation, w = state
        return (activation, w), jax.jit(lambda w, x: self.function(activation, w, x))(w, x)

    def lower(self, state, x):
        raise TypeError("no shapes")

step = Filtered(lambda activation, w, x: activation(w @ x))

def cases():
    yield (jnp.tanh, jnp.ones((3, 3))), jnp.ones(3)
"""


def test_functions_that_another_library_jits(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "wrapped.py").write_text(WRAPPER)
    status, found = data(jaxlint, "probe", "wrapped.py:step", "--cases", "wrapped.py", "--target", "cpu")
    case = found["cases"][0]
    assert status == 0 and case["stages"][0]["state"] == "ok", case
    assert case["output"].endswith("f32[3,3]), f32[3])") and "tanh" in case["output"]
    assert case["primitives"]["dot_general"] == 1


SLOWLY_TRACED = """\
import time

import jax

@jax.jit
def f(x):
    time.sleep(0.2)
    return x
"""


def test_the_time_of_a_trace_is_that_of_a_new_one(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "slowly.py").write_text(SLOWLY_TRACED)
    _, found = data(jaxlint, "probe", "slowly.py:f", "--case", "f32[7]", "--case", "f32[7]", "--target", "cpu")
    seconds = [case["stages"][0]["seconds"] for case in found["cases"]]
    assert len(seconds) == 2 and all(one.get("trace", 0) + one["lower"] >= 0.2 for one in seconds), seconds


def test_inner_jaxprs_count(jaxlint: Command, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    _, found = data(jaxlint, "probe", "kernels.py:summed", "--case", "f32[7]")
    primitives = found["cases"][0]["primitives"]
    assert primitives["scan"] == primitives["sin"] == primitives["add"] == 1
    assert found["cases"][0]["output"] == "(f32[], f32[7])"


def test_env(jaxlint: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    monkeypatch.setenv("JAX_SECRET_TOKEN", "hidden")
    monkeypatch.setenv("MY_PASSWORD", "hidden")
    status, found = data(jaxlint, "env")
    assert status == 0 and found["python"]["executable"] == sys.executable
    assert found["packages"]["jax"] == found["jax"]
    assert found["backend"] == found["devices"][0]["platform"] == found["smoke"]["platform"] == "cpu"
    assert found["smoke"]["ok"] and found["smoke"]["error"] < 1e-5
    assert found["config"]["jax_enable_x64"]["value"] is True
    assert found["variables"]["JAX_PLATFORMS"] == "cpu" and found["variables"]["JAX_SECRET_TOKEN"] == "(not shown)"
    assert "MY_PASSWORD" not in found["variables"]
    assert found["targets"]["cpu"]["present"] and not found["targets"]["tpu"]["present"]
    assert (found["process_index"], found["process_count"]) == (0, 1) and "jax_debug_nans" not in found["config"]


def test_env_writes_every_setting_to_a_file(jaxlint: Command, tmp_path: Path) -> None:
    status, out, _ = jaxlint("env", "--all", "--output", "environment.txt")
    text = (tmp_path / "environment.txt").read_text(encoding="utf-8")
    assert (status, out) == (0, "") and "jax_debug_nans" in text and "process" in text
    status, _, err = jaxlint("env", "--output", "nowhere/environment.txt")
    assert status == 2 and "--output nowhere/environment.txt: there is no folder nowhere" in err


@pytest.mark.skipif(installed("libtpu"), reason="libtpu is installed")
def test_a_target_that_is_missing(jaxlint: Command) -> None:
    status, out, _ = jaxlint("env", "--target", "tpu")
    assert status == 1
    assert "no backend can be started" in out and "pip install 'flake8-jax[runtime-tpu]'" in out
    status, _, err = jaxlint("bench", "train.py:step", "--target", "tpu")
    assert status == 2 and "JAX finds no device for JAX_PLATFORMS=tpu" in err


def test_locate_an_error_by_name_and_by_message(jaxlint: Command) -> None:
    status, found = data(jaxlint, "locate", "TracerBoolConversionError")
    first = found["hits"][0]
    assert status == 0 and first["text"].startswith("class TracerBoolConversionError(")
    assert Path(first["path"]).read_text().splitlines()[first["line"] - 1].strip() == first["text"]
    status, out, _ = jaxlint(
        "locate", "Attempted boolean conversion of traced array with shape bool[].", "--limit", "1"
    )
    assert status == 0 and "Attempted boolean conversion of" in out and out.count("\n") == 1


def test_locate_a_function_and_nothing(jaxlint: Command) -> None:
    status, out, err = jaxlint("locate", "jax.lax.scan")
    lines = out.splitlines()
    assert status == 0 and "def scan" in lines[0] and len(lines) == 20 and "more places" in err
    status, out, err = jaxlint("locate", "zzzqqqxyz")
    assert (status, out) == (1, "") and "has no text like `zzzqqqxyz`" in err


@pytest.mark.parametrize(
    ("platform", "wheel", "topology"), [("tpu", "libtpu", "v5e:2x2"), ("cuda", "jax_cuda12_plugin", "h100")]
)
def test_the_compiler_of_an_accelerator_that_is_not_here(
    jaxlint: Command, platform: str, wheel: str, topology: str
) -> None:
    if not installed(wheel):
        pytest.skip(f"{wheel} is not installed: `pip install 'flake8-jax[runtime-{platform}]'`")
    words = ["train.py:long", "--case", "f32[256,256], 0", "--target", platform, "--topology", topology]
    status, found = data(jaxlint, "probe", *words)
    (stage,) = found["cases"][0]["stages"]
    assert (status, stage["platform"], stage["mode"], stage["state"]) == (0, platform, "topology", "ok"), stage
    assert stage["texts"]["hlo"] > 5
