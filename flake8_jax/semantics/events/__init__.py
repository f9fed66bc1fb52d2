"""What rules hear, and what they can ask of it.

    interpreter, trackers ─► event ─► rules
                             fact ─► reports that hold unless it is recorded

Vocabulary
----------
event       one thing that happens while a program runs: a truth test, a call, a second use of a key.
context     how the code ran at that moment: staged, in a loop, in a function.
fact        what some path has shown of a place; see ``facts``.
"""
