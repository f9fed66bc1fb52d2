"""An analysis that enters one part of a program only.

Vocabulary
----------
focus   the files whose top level, functions and roots are entries: the wanted ones and those known to reach them.

All files of the program can be imported and called; those that nothing in the focus imports are not even run. What is
found is what the whole analysis finds on the same paths; what only entries elsewhere would show is not found, and a
report that a path elsewhere would take back stays. ``merging`` makes up for both.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable

from flake8_jax.backend import AnalysisRequest, AnalysisResult, ProgramFile
from flake8_jax.core.stack import on_stack
from flake8_jax.fixers import all_fixers
from flake8_jax.fixers._source import FixSource
from flake8_jax.knowledge import load
from flake8_jax.knowledge.history import load_histories
from flake8_jax.rules import all_rules
from flake8_jax.semantics import project
from flake8_jax.semantics.events import ApiUse
from flake8_jax.semantics.machine import Machine
from flake8_jax.semantics.modules import Modules
from flake8_jax.semantics.scopes import ModuleScope
from flake8_jax.semantics.settings import Settings
from flake8_jax.semantics.versions import Versions


def analyse_focused(files: list[ProgramFile], request: AnalysisRequest, reaching: frozenset[str]) -> AnalysisResult:
    """The findings in the wanted files, as far as entries in them and in ``reaching`` show them."""
    focus = reaching | (request.wanted if request.wanted is not None else {file.path for file in files})

    def work() -> AnalysisResult:
        was_on = gc.isenabled()
        gc.disable()
        try:
            return _analyse(files, request, focus)
        finally:
            if was_on:
                gc.enable()

    old_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(old_limit, project.RECURSION_LIMIT))
    try:
        return on_stack(project.STACK_BYTES, work)
    finally:
        sys.setrecursionlimit(old_limit)


def _analyse(files: list[ProgramFile], request: AnalysisRequest, focus: frozenset[str]) -> AnalysisResult:
    knowledge = load()
    if request.transforms:
        knowledge = knowledge.with_user_transforms(request.transforms)
    rules = [rule for rule in all_rules() if rule.code in request.codes]
    machine = Machine(knowledge, tuple(rules), None)
    machine.unroll_threshold = request.unroll_threshold
    scopes = [ModuleScope(f.path, f.module_name, is_package=f.is_package, tree=f.tree, text=f.text) for f in files]
    machine.modules, machine.settings = Modules(machine, scopes), Settings()
    if machine.wants(ApiUse):
        machine.versions = Versions(load_histories(), request.required, scopes)
        machine.versioned = machine.versions.parts
    _run_entries(machine, scopes, lambda scope: scope.path in focus)
    options = project.AnalysisOptions(
        rules=rules,
        preview=request.preview,
        wanted=request.wanted,
        fixers=all_fixers(),
        fix_source=FixSource,
    )
    findings = project._findings(machine, options)
    return AnalysisResult(tuple(findings), (), tuple(dict.fromkeys(machine.crashes)), machine.counters)


def _run_entries(m: Machine, scopes: list[ModuleScope], counts: Callable[[ModuleScope], bool]) -> None:
    """The entries of the whole analysis, in its order, as far as they are in the focus."""
    for scope in scopes:
        if counts(scope):
            project._guarded(m, scope, functools.partial(m.modules.ensure_run, scope))
    decorated = {id(project._underlying(tv.operand)) for tv, *_ in m.roots}
    for func in list(m.deferred_functions):
        if counts(func.scope) and func.owner is None and func.closure is None and id(func) not in decorated:
            project._guarded(m, func.scope, functools.partial(project._entry, m, func))
    for cls in list(m.modules.classes):
        if counts(cls.scope):
            project._guarded(m, cls.scope, functools.partial(project._class_entries, m, cls, decorated))
    m.roots[:] = [root for root in m.roots if counts(root[2])]
    m.partial_roots[:] = [root for root in m.partial_roots if counts(root[2])]
    m.deferred_functions[:] = [func for func in m.deferred_functions if counts(func.scope)]
    m.modules.classes[:] = [cls for cls in m.modules.classes if counts(cls.scope)]
    project._run_pending(m, scopes)
    project._check_custom_rules(m)
