"""Programs for fixers, made of three parts: a line that has a finding, who calls its function, and with what.

site      a body of ``target(x)`` in which a rule has a finding where ``x`` is traced.
context   a way to call ``target``: staged, eagerly, mapped, differentiated, without jit, from another file, by a host
          callback. The first context of a program is staged, or eager for an eager site, or the rule would say nothing.
meant     what a staged case would show if JAX traced nothing: that of a case that raises because it is traced.
form      where ``target`` stands: in the file itself, in a class, in a function, in another module, under ``@jax.jit``.
input     an expression for ``x``: arrays of JAX and NumPy, dtypes from bool to bfloat16, weak types, empty arrays, NaN.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from flake8_jax.cli import main
from flake8_jax.fixers._announced import May, all_announced

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"
EIGHT_DEVICES = "--xla_force_host_platform_device_count=8"
"""What ``XLA_FLAGS`` holds where programs run: maps need devices."""
INPUTS = (
    "jnp.array([0.5, -1.5, 2.0])",
    "np.array([0.5, -1.5, 2.0])",
    "np.array([0.5, -1.5, 2.0], np.float32)",
    "jnp.array([3, 1, 2])",
    "np.array([3, 1, 2])",
    "np.array([True, False, True])",
    "jnp.array([True, False, True])",
    "jnp.array([0.5, 1.5, 2.0], jnp.bfloat16)",
    "jnp.array([jnp.nan, 1.0, jnp.inf])",
    "np.array([np.nan, 1.0, np.inf])",
    "jnp.zeros((0,))",
    "np.zeros((0,))",
    "jnp.array([200, 100, 3], jnp.uint8)",
    "np.array([100, -120, 90], np.int8)",
    "jnp.array([100, 90, -3], jnp.int8)",
    "jnp.full((3,), 2)  # weak",
    "jnp.ones((2, 3))",
    "np.arange(6.0).reshape(2, 3)",
)
STAGED = {
    "jit": "jax.jit(TARGET)(value)",
    "vmap": "jax.vmap(TARGET)(jnp.stack([value, value]))",
    "scan": "jax.lax.scan(lambda c, v: (c, TARGET(v)), 0, jnp.stack([value, value]))[1]",
    "grad": "jax.grad(lambda v: jnp.sum(TARGET(v)))(value)",
}
MEANT = {
    "jit": "TARGET(value)",
    "vmap": "jax.tree.map(lambda *v: jnp.stack(v), TARGET(value), TARGET(value))",
    "scan": "jax.tree.map(lambda *v: jnp.stack(v), TARGET(value), TARGET(value))",
    "second-jit": "TARGET(value)",
    "other-file-jit": "TARGET(value)",
}
"""What traced contexts compute, without tracing."""
EAGER = ("eager", "eager-named", "stored", "map", "partial")
OTHERS = {
    "eager": "TARGET(value)",
    "eager-named": "TARGET(x=value)",
    "without-jit": "without_jit(value)",
    "callback": "jax.jit(lambda v: jax.pure_callback(TARGET, v, v))(value)",
    "debug-callback": "jax.jit(lambda v: jax.debug.callback(TARGET, v))(value)",
    "stored": "TABLE['target'](value)",
    "map": "list(map(TARGET, [value]))",
    "partial": "functools.partial(TARGET)(value)",
    "second-jit": "jax.jit(lambda v: TARGET(v))(value)",
    "other-file": "other.use(value)",
    "other-file-jit": "other.use_jitted(value)",
    "lowered": "jax.jit(TARGET).lower(value).as_text()[:6]",
    "traced-only": "jax.eval_shape(TARGET, value)",
    "key-of-a-dict": "{float(np.asarray(TARGET(value)).sum()): 1}",
}
FORMS = ("plain", "method", "closure", "decorated", "module")


@dataclass(frozen=True)
class Site:
    rule: str
    body: str
    eager: bool = False
    first: tuple[str, ...] = ()
    """The contexts of which the first is one, where not any will do."""
    inputs: tuple[str, ...] = INPUTS
    reference: str = ""
    """A body that does what this one means, where this one raises in every context."""
    head: str = ""
    """What its file begins with."""
    needs: str = ""
    """A library that it imports and that may be missing."""


@dataclass(frozen=True)
class Made:
    """A program: its files, and the rule whose findings are fixed. meant: functions that are added to ``main.py`` where it
    is run, and that jaxlint does not see: each would be one more caller."""

    rule: str
    name: str
    files: dict[str, str]
    meant: str = ""
    reference: dict[str, str] | None = None
    """The files of a program that does what this one means, where this one raises."""

    @property
    def before(self) -> dict[str, str]:
        """The files to compare the fixed program with."""
        return self.run_with(self.files) if self.reference is None else self.reference

    def run_with(self, files: dict[str, str]) -> dict[str, str]:
        """The files to run, before or after the fix."""
        return {**files, "main.py": files["main.py"] + self.meant}


def drawn(sites: Sequence[Site], count: int, seed: int) -> Iterator[Made]:
    """Programs at random, each site as often as the others."""
    choose = random.Random(seed)
    runnable = [site for site in sites if not site.needs or importlib.util.find_spec(site.needs) is not None]
    for number in range(count):
        site = runnable[number % len(runnable)]
        others = choose.sample(sorted(OTHERS), choose.choice((0, 0, 1, 1, 2)))
        inputs = [choose.choice(site.inputs) for _ in range(1 + len(others))]
        staged = choose.choice(site.first or (EAGER if site.eager else ("jit", "jit", *STAGED)))
        form = choose.choice(FORMS)
        name = "-".join([str(number), form, staged, *others])
        contexts = [staged, *others]
        files = _files(site, form, contexts, inputs)
        if site.reference:
            plain = dataclasses.replace(site, body=site.reference)
            yield Made(site.rule, name, files, reference=_files(plain, form, contexts, inputs))
        else:
            yield Made(site.rule, name, files, _meant(site, form, contexts, inputs))


def _meant(site: Site, form: str, contexts: Sequence[str], inputs: Sequence[str]) -> str:
    """What the traced cases compute without tracing."""
    parts = []
    for number, (context, value) in enumerate(zip(contexts, inputs, strict=True)):
        if context in MEANT and not site.eager:
            plain = MEANT[context].replace("TARGET", _name(form))
            lines = f"    value = {value}\n    with jax.disable_jit():\n        return {plain}, value\n"
            parts.append(f"\n\ndef meant_{number}():\n{lines}")
    return "".join(parts)


def _name(form: str) -> str:
    return "model.target" if form == "method" else "target"


def _files(site: Site, form: str, contexts: Sequence[str], inputs: Sequence[str]) -> dict[str, str]:
    """The files of a program, with one case for each context and its input."""
    files = {}
    name = _name(form)
    text = _definition(site, form)
    if form == "module":
        files["module.py"] = f"{site.head}{HEAD}\n\n{text}"
        text = "from module import target\n"
    parts = [text]
    if "without-jit" in contexts:
        parts.append(f"def without_jit(v):\n    with jax.disable_jit():\n        return jax.jit({name})(v)\n")
    if "stored" in contexts:
        parts.append(f"TABLE = {{'target': {name}}}\n")
    imports = "import functools\n"
    if any(context.startswith("other-file") for context in contexts):
        imports += "import other\n"
        place = f"    from {'module' if form == 'module' else 'main'} import {name.partition('.')[0]}\n"
        files["other.py"] = (
            f"{HEAD}{_function('use', place, f'{name}(v)')}{_function('use_jitted', place, f'jax.jit({name})(v)')}"
        )
    calls = STAGED | OTHERS
    for number, (context, value) in enumerate(zip(contexts, inputs, strict=True)):
        call = calls[context].replace("TARGET", name)
        parts.append(f"def case_{number}():\n    value = {value}\n    return {call}, value\n")
    files["main.py"] = site.head + HEAD + imports + "\n\n" + "\n\n".join(parts)
    return files


def _function(name: str, body: str, result: str) -> str:
    return f"\n\ndef {name}(v):\n{body}    return {result}\n"


def _definition(site: Site, form: str) -> str:
    inside = indent(site.body, "    ") + "\n"
    if form == "method":
        return f"class Model:\n    def target(self, x):\n{indent(inside, '    ')}\n\nmodel = Model()\n"
    if form == "closure":
        return f"def make():\n    def target(x):\n{indent(inside, '    ')}\n    return target\n\n\ntarget = make()\n"
    decorator = "@jax.jit\n" if form == "decorated" else ""
    return f"{decorator}def target(x):\n{inside}"


def fixed(made: Made, folder: Path, *options: str) -> dict[str, str]:
    """The files of a program after ``jaxlint --fix`` with its rule alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    _checked(made, folder, "--fix", *options, "--quiet")
    return {name: (folder / name).read_text(encoding="utf-8") for name in made.files}


def announced(made: Made, folder: Path) -> May | None:
    """What the messages of a program's fixes say may change; None where it has no fixes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    findings = json.loads(_checked(made, folder, "--output-format", "json"))
    known = all_announced()
    messages = [one["fix"]["message"] for one in findings if one["fix"] is not None]
    if not messages:
        return None
    may = May.NOTHING
    for sentence in (s for message in messages for s in message.split("; ")[1:]):
        may |= known[sentence].may
    return may


def _checked(made: Made, folder: Path, *options: str) -> str:
    """What jaxlint says, with the program's rule alone."""
    said = io.StringIO()
    command = ["check", "--isolated", "--no-cache", "--preview", "--select", made.rule, *options, str(folder)]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        status = main(command)
    assert status in (0, 1), said.getvalue()
    return said.getvalue()
