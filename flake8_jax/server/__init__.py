"""The language server: jaxlint in an editor.

Vocabulary
----------
buffer      a text as the editor has it, saved or not, with a version. A notebook is one buffer: its Python cells,
            one below the other.
whole       the answer of an analysis of the whole project, as ``jaxlint check`` gives it. It takes seconds for a large
            project, so a process of its own finds it once the user pauses.
focused     the answer of an analysis that enters only one buffer, and the files known to reach it. It takes a fraction
            of a second and is what is shown while the user types, laid over the last whole answer (``merging``).

``positions``, ``documents`` and ``notebooks`` know texts; ``merging`` and ``checker`` find answers,
``background`` and ``schedule`` find them in time; ``messages``, ``actions`` and ``functions`` turn answers into what the
protocol says; ``state`` keeps what the handlers in ``lifecycle`` and ``requests`` share, and ``app`` wires all of it to
pygls. Only this package imports pygls.

::

    editor ─ lifecycle ─► documents, state ─► schedule ─┬─► worker: focused answers ─┬─ merging ─► messages ─► editor
           ─ requests ──► actions, functions            └─► background: whole answers ┘
"""
