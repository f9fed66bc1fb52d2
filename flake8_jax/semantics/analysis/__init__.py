"""The analysis of a whole program: from lowered files and a request to reports.

Vocabulary
----------
request     what to look for: rules, versions, files and functions to enter.
entry       where the interpreter starts: the top level of a module, a function that it calls with unknown arguments, a
            transform call, a recorded call.
presumed    an entry that runs a function of a library as its users might trace it; only ``inspect`` shows the result.
emission    one report of a rule with the call chain at that moment.
finding     the best of the emissions of one rule at one place.

::

    files, request ─ analyze ─► Machine ─ entries, recorded, presumed ─► emissions ─ findings ─► Reported
                                               │                                                    │
                                          interpreter                              fixers.proposals adds fixes
"""
