"""What the analysis remembers of one concern each, while code runs.

    interpreter, models ── "this happened" ──► tracker ── memory of it ──► events

One module a concern: keys, donated buffers, device work and clocks, allocations that outlive a trace, versions of JAX
behind a test, and so on. A tracker knows the machine and the values, never how a statement runs.

Vocabulary
----------
tracker     the state of one concern, with what is done to it on branches, loops, calls and remembered runs.
record      what a remembered run keeps of it, so that a later call can replay it.
"""
