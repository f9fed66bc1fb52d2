"""``jaxlint mcp``: a Model Context Protocol server, through which programs use jaxlint.

Vocabulary
----------
folder   the one folder that the server works in, given at start. Every path of a client is below it, links resolved.
tool     one of jaxlint's commands with typed arguments (``tools``). job: a run of it, as a process of its own (``jobs``).
page     a part of a job's output. A result has one, and names the result and the offset of the rest (``pages``).

::

    client ── stdio ──► app ── arguments ──► tools ── words ──► jobs ──► jaxlint COMMAND
                         ▲                     │ folder                        │
                         └──── page ◄──── pages ◄────────────── output ────────┘

Limitations: the tools that run the project's code (``verify``, ``prove``, ``recompiles``, ``probe``) run it with the rights
of the server; the folder bounds jaxlint, not that code. ``--read-only`` leaves them out.
"""
