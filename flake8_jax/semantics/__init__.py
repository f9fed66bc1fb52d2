"""The abstract interpreter of JAX tracing: it runs the IR of a whole program on abstract values.

Vocabulary
----------
value       what an expression can evaluate to, as far as it is known. tracer: an array without a value.
staged      runs while JAX traces it. root: the call or decorator that stages a function.
event       something that rules can subscribe to, such as a truth test or a call of a library function.
tracker     what the analysis remembers of one concern, such as the uses of PRNG keys.
entry       where the interpreter starts.
report      what a rule says of an event.

::

    ir.Module ─► analysis ─ entries ─► interpreter ─ values ─► models ─ library calls
                    ▲                      │ writes               │
                    │                   machine ◄─── trackers ◄───┘
                    └──── reports ◄──── rules ◄──── events

Each package imports itself and those before it: ``domain``, ``events``, ``machine``, ``trackers``, ``interpreter``,
``models``, ``analysis``.
"""
