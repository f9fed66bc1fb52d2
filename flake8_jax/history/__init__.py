"""History: which findings are new.

Vocabulary
----------
base        the git revision from which the work started. changed: the rows that differ from this revision.
baseline    a file with findings that the project accepts for now. jaxlint reports all other findings.

::

    revision ─ git ─► texts of the base ─ row_diff ─► changed rows ─ changes ──┐
                                                                  diagnostics ─┼─► new ones
    baseline file ──────────────────────────────────────────────── baseline ───┘
"""
