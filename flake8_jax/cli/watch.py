"""``jaxlint check --watch``: lint again whenever a file changes, until interrupted."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from flake8_jax.core.printable import one_line
from flake8_jax.pipeline.discovery import SUFFIXES
from flake8_jax.settings.requirements import says_versions
from flake8_jax.settings.tables import ConfigError

_WATCHED = (*SUFFIXES, ".toml")
_PULSE = 200  # milliseconds
_CLEAR = "\x1b[2J\x1b[H"


def watch(lint: Callable[[], int], paths: Sequence[str]) -> int:
    """Lint now and after every change below the paths (absolute); returns 0 once the user interrupts.

    Raises ConfigError where the package that watches files is missing.
    """
    try:
        from watchfiles import Change, DefaultFilter
        from watchfiles import watch as changes
    except ImportError as error:
        raise ConfigError('--watch needs the package watchfiles: `pip install "flake8-jax[watch]"`') from error

    class Filter(DefaultFilter):
        def __call__(self, change: Change, path: str) -> bool:
            return (path.endswith(_WATCHED) or says_versions(os.path.basename(path))) and super().__call__(change, path)

    begun = False
    try:
        # The first, empty answer says that the watching has begun: what changes while the first run is on is not lost.
        for changed in changes(
            *paths, watch_filter=Filter(), rust_timeout=_PULSE, yield_on_timeout=True, raise_interrupt=True
        ):
            if changed:
                if sys.stdout.isatty():
                    print(_CLEAR, end="")
                names = sorted({Path(path).name for _, path in changed})
                _say(f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} changed")
            if changed or not begun:
                lint()
            if not begun:
                _say("watching for changes; interrupt to end")
                begun = True
    except KeyboardInterrupt:
        pass
    return 0


def _say(text: str) -> None:
    sys.stdout.flush()
    print(f"[{time.strftime('%H:%M:%S')}] {one_line(text)}", file=sys.stderr, flush=True)
