"""How a wrong call is reported: in one line that names the word, what was probably meant, and where to read on.

Limitations: a misspelt option is compared with the options of its own command only.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable
from typing import NoReturn

from flake8_jax.core.printable import one_line

_UNKNOWN = "unrecognized arguments: "


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line, where argparse prints the whole usage first. Exits with status 2."""

    def error(self, message: str) -> NoReturn:
        if message.startswith(_UNKNOWN):
            message = self._unknown(message.removeprefix(_UNKNOWN))
        self.exit(2, f"{self.prog}: {one_line(message)} (see `{self.prog} --help`)\n")

    def _unknown(self, words: str) -> str:
        word = words.split()[0].partition("=")[0]
        if not word.startswith("-"):
            return f"`{words}` is one argument too many"
        return f"there is no option `{word}`{did_you_mean(word, self._option_string_actions)}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean `check`?``, or nothing where no known word is similar."""
    similar = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"; did you mean `{similar[0]}`?" if similar else ""
