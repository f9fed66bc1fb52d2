"""JAX805: see the page of ``relative_checkpoint_path``."""

from __future__ import annotations

from flake8_jax.core.registry import Report, rule
from flake8_jax.rules._facts import is_test
from flake8_jax.rules._tracers import quote
from flake8_jax.semantics.events.refused import RelativePath


@rule("JAX805", "error", raises="another error")
def relative_checkpoint_path(event: RelativePath) -> Report | None:
    """The code saves a checkpoint of Flax or Orbax to a relative path, or restores it from one.

    The finding is a warning for `CheckpointManager(path)`: this call raises no error, but saving or restoring arrays
    with the manager does.

    With `--preview`, the rule also warns about `restore_checkpoint`, as in the second example. This function raises an
    error only if it finds a checkpoint that Orbax wrote. Checkpoints that Flax before 0.7 wrote can be read from a
    relative path.

    With `--preview`, the rule also warns about options whose default is a relative path, as in the third example.

    ## Why is this bad?

    Orbax reads and writes arrays only below an absolute path. For a relative path, it raises `ValueError: Checkpoint
    path should be absolute`, often after hours of training. `flax.training.checkpoints` uses Orbax since Flax 0.7.
    Make the path absolute with `os.path.abspath`.

    ## Example

    ```python
    import jax.numpy as jnp
    from flax.training import checkpoints


    def save(params, step):
        checkpoints.save_checkpoint("checkpoints", params, step)  # expect: relative-checkpoint-path


    def demonstrate():
        save({"w": jnp.ones(3)}, 0)  # raises: ValueError
    ```

    ```python
    import os

    import jax.numpy as jnp
    from flax.training import checkpoints


    def load(params, name):
        checkpoints.save_checkpoint(os.path.abspath(f"runs/{name}"), params, 0)
        path = f"./runs/{name}"
        return checkpoints.restore_checkpoint(path, params)  # expect: relative-checkpoint-path


    def demonstrate():
        load({"w": jnp.ones(3)}, "first")  # raises: ValueError
    ```

    ```python
    import argparse

    import jax.numpy as jnp
    from flax.training import checkpoints

    parser = argparse.ArgumentParser()
    parser.add_argument("--ckpt_dir", default="checkpoints")


    def save(params, step):
        args = parser.parse_args([])
        checkpoints.save_checkpoint(args.ckpt_dir, params, step)  # expect: relative-checkpoint-path


    def demonstrate():
        save({"w": jnp.ones(3)}, 0)  # raises: ValueError
    ```

    ## Use instead

    ```python
    import os

    from flax.training import checkpoints


    def save(params, step):
        checkpoints.save_checkpoint(os.path.abspath("checkpoints"), params, step)
    ```

    ## Not reported

    jaxlint does not report a path whose start it does not know, such as a parameter without a default. It does not
    report a path that starts with `/`, `~`, a drive or the name of a bucket.

    jaxlint reports nothing in these projects:

    - The project switches off Orbax (`flax_use_orbax_checkpointing`).
    - The project requires Flax before 0.8.5 or Orbax before 0.5.0. The rule covers only newer releases.
    - The project replaces the class or the function, for example with `mock.patch.object(ocp, "PyTreeCheckpointer")`.

    ```python
    import pathlib

    from flax.training import checkpoints

    HERE = pathlib.Path(__file__).parent


    def save(params, step, folder):
        checkpoints.save_checkpoint(folder, params, step)
        checkpoints.save_checkpoint(HERE / "checkpoints", params, step)
        checkpoints.save_checkpoint(f"/tmp/{step}", params, step)
    ```

    ## Limitations

    The rule follows strings, f-strings, `os.path.join` and `pathlib.Path`. It knows the defaults that the program
    writes for options: in `add_argument`, in `flags.DEFINE_string`, in a field of a class, and in an assignment to an
    attribute. It misses paths from a configuration file, and options without a default. It knows only these classes
    of Orbax: `PyTreeCheckpointer`, `StandardCheckpointer` and `CheckpointManager`.

    ## Fix safety

    No fix. The author has to decide which folder the path is relative to.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the call raises `ValueError`.

    ## Since

    0.3.0, not released yet.

    ## Related rules

    JAX801 (`removed-api`), JAX804 (`library-call-mismatch`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/working-with-pytrees.html>
    """
    if event.context.presumed or event.context.caught or is_test(event.context):
        return None
    shown = quote(event.context, event.at, "this path")
    if event.default:
        what = f"Orbax takes only absolute paths, but the default `{event.default}` of {shown} is relative"
        return Report(event.at, f"{what}; use os.path.abspath", level="warning", preview=True)
    when = "so this call raises ValueError" if event.certain else "so saving or restoring arrays raises ValueError"
    return Report(
        event.at,
        f"Orbax takes only absolute paths, but {shown} is relative, {when}; use os.path.abspath",
        level=None if event.certain else "warning",
        preview=event.name.endswith(".restore_checkpoint"),
    )
