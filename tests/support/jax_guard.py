"""Tests that are not marked ``jax`` do not run JAX: neither here nor in a child does ``import jax`` work for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.no_jax.sitecustomize import NOTES, Refusal

FOLDER = str(Path(__file__).with_name("no_jax"))


class Guard:
    """Refuses JAX to one test after the other, and keeps a record. ``notes``: a file of this process alone."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    @contextmanager
    def active(self) -> Iterator[None]:
        """Refuse JAX in this process and, whatever environment it is given, in every child that is a Python."""
        refusal: Any = Refusal()
        start, before = subprocess.Popen.__init__, {name: os.environ.get(name) for name in ("PYTHONPATH", NOTES)}

        def start_without_jax(self: subprocess.Popen[Any], *args: Any, **options: Any) -> None:
            if options.get("env") is not None and options["env"].get(NOTES) != "":
                options["env"] = {**options["env"], **changes(options["env"].get("PYTHONPATH"))}
            start(self, *args, **options)

        def changes(path: str | None) -> dict[str, str]:
            places = [place for place in (path or "").split(os.pathsep) if place and place != FOLDER]
            return {"PYTHONPATH": os.pathsep.join([FOLDER, *places]), NOTES: str(self._notes)}

        sys.meta_path.insert(0, refusal)
        subprocess.Popen.__init__ = start_without_jax  # type: ignore[method-assign]
        os.environ.update(changes(before["PYTHONPATH"]))
        try:
            yield
        finally:
            sys.meta_path.remove(refusal)
            subprocess.Popen.__init__ = start  # type: ignore[method-assign]
            for name, value in before.items():
                os.environ.pop(name, None)
                os.environ.update({} if value is None else {name: value})

    def take(self) -> str:
        """Return the imports of JAX recorded since the last call."""
        if not self._notes.exists():
            return ""
        recorded = self._notes.read_text(encoding="utf-8")
        self._notes.unlink()
        return recorded
