"""Why no run shows that a finding of ``callback-work`` is true."""

from __future__ import annotations

UNPROVED = "the time that a callback takes depends on the machine, and a program deadlocks only sometimes"
