"""What jaxlint knows about code that it does not read: facts about libraries, as TOML tables behind look-ups.

Vocabulary
----------
table       the facts about one library, ``<library>.toml``. Scripts in ``scripts/`` generate those of JAX and NumPy.
fact        what is known of one qualified name: a function, a transform, a class, a module's default (``model``).
line        a function's fact in one line: ``key: consume, shape: shape -> float; pure`` (``notation``).
descriptor  the result of a call in the small language of ``model``: ``array``, ``like(x)``, ``tuple(key, array)``.
history     the names that releases of JAX and of libraries around it removed, deprecated or introduced.

::

    <library>.toml ─ notation, model ─► facts ─ loader ─► Knowledge ─► semantics, rules, fixers
    versions/<library>.toml ─ history ─► changes of names ─────────────┤
    pyproject.toml … ─ requirement ─► versions that a project asks for ┘
    equivalents/numpy.toml ─ equivalents ─► which calls of NumPy a jax.numpy function takes ─► fixers
"""

from flake8_jax.knowledge.loader import Knowledge, KnowledgeError, load

__all__ = ["Knowledge", "KnowledgeError", "load"]
