"""Applying fixes: from findings with fixes to changed files.

Vocabulary
----------
pass        fixes that do not overlap, applied together to the texts in memory, and a new analysis of the result.
settled     a fix that stays: the file parses, the finding is gone, and the fix added no finding.
withdrawn   a fix that does not stay. It is not tried again.

::

    findings ─► fixes that go together ─► texts ─ pipeline ─► findings of the new texts
        ▲                                                            │ settled, or withdrawn
        └────────────────────── next pass ◄──────────────────────────┤
                                                                     └─► texts ─ writing ─► files

``passes`` changes texts in memory only; ``noqa`` makes changes that suppress findings; ``writing`` replaces files.
"""
