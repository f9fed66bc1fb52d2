"""What a package of rules imports, in one place: see docs/rule-packages.md.

Vocabulary
----------
event rule  ``def name(event: LibraryCall) -> Report | None``: it gets what the analysis meets, with abstract values.
node rule   ``def name(node: cst.Call, facts: NodeFacts) -> NodeReport | None``: it sees LibCST nodes, and asks for facts.

Modules of jaxlint that are not named here may change with any version. Everything else about events and values is in
``flake8_jax.semantics.events.events`` and ``flake8_jax.semantics.domain.values``.
"""

from __future__ import annotations

from flake8_jax.core.findings import Edit, Fix, Step
from flake8_jax.core.registry import NodeReport, Report, Subscription, rule
from flake8_jax.fixers._source import FixSource, fixer
from flake8_jax.rules._tracers import contains_tracer, is_reportable, quote, raises_on_host
from flake8_jax.semantics.domain.values import Array, Const, External, Unknown, Value, is_traced_array, is_tracer
from flake8_jax.semantics.events.events import (
    Context,
    Discarded,
    Formatting,
    Indexing,
    KeyUse,
    LibraryCall,
    MethodCall,
    NameUse,
    TruthTest,
)
from flake8_jax.semantics.events.node_facts import NodeFacts, NodeRun

__all__ = [
    "Array",
    "Const",
    "Context",
    "Discarded",
    "Edit",
    "External",
    "Fix",
    "FixSource",
    "Formatting",
    "Indexing",
    "KeyUse",
    "LibraryCall",
    "MethodCall",
    "NameUse",
    "NodeFacts",
    "NodeReport",
    "NodeRun",
    "Report",
    "Step",
    "Subscription",
    "TruthTest",
    "Unknown",
    "Value",
    "contains_tracer",
    "fixer",
    "is_reportable",
    "is_traced_array",
    "is_tracer",
    "quote",
    "raises_on_host",
    "rule",
]
