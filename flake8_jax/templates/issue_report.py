"""Issue report: run a reproducer and print all that a maintainer asks for, as Markdown.

Replace `reproducer`. The report holds its source, the error with JAX's own frames in the traceback, versions,
devices and the settings of JAX that come from the environment, so that maintainers need not ask for them. Read it before
you send it: a traceback shows paths of your machine.
"""

import inspect
import os
import platform
import sys
import traceback

os.environ.setdefault("JAX_TRACEBACK_FILTERING", "off")  # before JAX is imported

import jax
import jax.numpy as jnp
import numpy as np

TITLE = "jnp.reshape: message of a size that does not fit"


def reproducer():
    return jnp.reshape(jnp.arange(6), (4, 2))


def run(function):
    """What happened: the result, or the traceback."""
    try:
        return f"Result: {jax.block_until_ready(function())}"
    except Exception:
        return traceback.format_exc()


def report(function):
    facts = {
        "jax": jax.__version__,
        "numpy": np.__version__,
        "Python": sys.version.split()[0],
        "platform": platform.platform(),
        "devices": ", ".join(str(device) for device in jax.devices()),
        "processes": str(jax.process_count()),
        **{name: value for name, value in os.environ.items() if name.startswith(("JAX_", "XLA_FLAGS"))},
    }
    lines = [f"# {TITLE}", "", "## Code", "", "```python", inspect.getsource(function).rstrip(), "```", ""]
    lines += ["## What happens", "", "```text", run(function).rstrip(), "```", ""]
    lines += ["## What I expect", "", "(one sentence)", "", "## Environment", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join(lines)


def main():
    text = report(reproducer)
    print(text)
    assert "TypeError: cannot reshape array" in text


if __name__ == "__main__":
    main()
