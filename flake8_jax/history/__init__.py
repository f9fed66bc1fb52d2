"""History: which findings are new.

Vocabulary
----------
base        the git revision that the work started from. changed: rows that differ from it.
baseline    a file of findings that the project accepts for now; only others are reported.

::

    revision ─ git ─► texts of the base ─ row_diff ─► changed rows ─ changes ──┐
                                                                  diagnostics ─┼─► new ones
    baseline file ──────────────────────────────────────────────── baseline ───┘
"""
