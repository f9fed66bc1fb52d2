"""The half of ``runtime_checks`` that runs in the child: standard library and JAX only, Python 3.10 and later.

The child may run under another interpreter than the linter's, so none of the linter's own libraries may be needed here.

Vocabulary
----------
task        a module here that answers one kind of request: ``observe``, ``replay``, ``compare``, ``bench``, ``probe`` …
request     what the linter asks, as JSON. message: a part of the answer, one line of JSON in a file of its own.
instrument  a hook into JAX or Python that sees compilations, waits, keys or lines while the user's code runs.

::

    request ─ main ─► task ─► targets, inputs, or the command (workload) ─► the user's code on JAX
                        ▲                                                      │
                        └─ watching, tracing, instruments, recorder ◄──────────┘ ─► messages
"""
