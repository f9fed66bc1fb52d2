"""What is still to be entered, and what was cut off.

Vocabulary
----------
root        a call or decorator that stages a function. partial: one that got only some of its arguments.
deferred    functions that were defined and may have no caller that we know.
cut         an entry that was not analyzed to its end.
crowded     a method that more subclasses override than one run can follow: a call of it on an instance of the class, of which
            no more is known, gave something unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flake8_jax.core.call_graph import FunctionName
    from flake8_jax.semantics.domain.scopes import ModuleScope
    from flake8_jax.semantics.domain.stack import Link
    from flake8_jax.semantics.domain.values import ClassValue, PartialValue, TransformedValue
    from flake8_jax.semantics.machine.limits import Cut


class Worklist:
    """Filled while code runs, worked off between entries. rule_settings: custom derivative rules that were set.
    skipped: functions that no request enters. named_in: of a function, by its identity, the names that its body reads or
    binds, and how many decorators each function in it has. steps_of_file: statements run by the entries of each file.
    crowded: names of crowded methods by class. outer_lambdas: those at the top level of a module, which only previews enter."""

    __slots__ = (
        "crowded", "cuts", "deferred_functions", "named_in", "outer_lambdas", "partial_roots", "roots", "rule_settings",
        "skipped", "steps_of_file",
    )  # fmt: skip

    def __init__(self) -> None:
        self.roots: list[tuple[TransformedValue, Any, ModuleScope, tuple[Link, ...], bool]] = []
        self.partial_roots: list[tuple[PartialValue, Any, ModuleScope, tuple[Link, ...]]] = []
        self.rule_settings: list[tuple[TransformedValue, str, Any, Any, ModuleScope]] = []
        self.deferred_functions: list[Any] = []
        self.outer_lambdas: list[Any] = []
        self.skipped: frozenset[FunctionName] = frozenset()
        self.steps_of_file: dict[str, int] = {}
        self.cuts: list[Cut] = []
        self.named_in: dict[int, tuple[frozenset[str], dict[int, int]]] = {}
        self.crowded: dict[ClassValue, dict[str, None]] = {}
