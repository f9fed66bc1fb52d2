"""The exception by which a signal ends a command.

It stands here, because what runs a child process has to tell it from failures, whichever command started the child.
"""

from __future__ import annotations


class Terminated(BaseException):
    """A signal asks the process to end. No handler of ordinary errors catches it. status: the exit status for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
