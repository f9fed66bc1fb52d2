"""The machine: the running path, its memory, the program, and the tables that say how code runs.

    dispatch: IR node ─► the function that runs it     core: path, journal, merge, emission     program: modules, classes

Vocabulary
----------
path        the call stack, the loops and the conditions of what runs now.
journal     all writes, with the old contents, so that one branch can be reverted and merged.
emission    a rule's report with the call stack at that moment.
entry       where the interpreter starts: a module body, or a function with unknown arguments.
"""
