"""Why no run shows that a finding of ``overwritten-host-buffer`` is true."""

from __future__ import annotations

UNPROVED = "whether the device reads the array before or after the write is a matter of time, which watching changes"
