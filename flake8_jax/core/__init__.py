"""Plain data that all other packages use, and the registry of rules and fixers. It imports no other package of jaxlint.

Vocabulary
----------
IR          the small intermediate representation of one file (``ir``); offsets are code points in the decoded text.
finding     one defect at one place, with the call chain that leads to it, and a fix where there is one (``findings``).
diagnostic  a finding with rows and columns. report: the diagnostics of one run (``report``).
rule        a function from an event to a report. fixer: a function from an event to a fix (``registry``).

::

    syntax ─► IR ─► semantics, rules ─► findings ─► fixers ─► pipeline ─► report ─► reporters, server
"""
