"""How Python runs on abstract values: statements, expressions, calls, classes.

    statement ─► RUN ─► expression ─► EVALUATE ─► call ─► CALL ─► frame, body, summary of the run ─► value

Modules register what they run in the tables of ``machine.dispatch``; so the order of their imports does not matter.

Vocabulary
----------
frame       the local bindings of one run of a function or class body.
summary     what a run of a function left behind, kept so that an equal call need not run it again.
"""
