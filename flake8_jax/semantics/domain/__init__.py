"""Values of the abstract interpreter of JAX tracing, and questions about them that need nothing else.

    values ─ joining (two paths meet) ─ boundary (into a trace and out) ─ memo_keys (have we seen this?)
      │
    scopes, stack      where code runs: modules, frames, links, loops

A floor of its own: nothing here knows the machine, a rule or a library by name. ``values``, ``scopes`` and ``stack``
import each other, as a value knows the scope that it was made in; nothing else in the analysis does.

Vocabulary
----------
value       what is known of one Python object: an array of some level, a constant, an instance, *unknown*.
level       how much of a tracer an array is, from a concrete array to an abstract tracer.
pytree      containers and registered classes that JAX takes apart; a *leaf* is what is not.
"""
