"""The message of JAX801 and JAX802 for every row of the tables of versions: it is complete, and its advice has a release."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from support.wording import private_words

from flake8_jax.core import ir
from flake8_jax.knowledge.history import History, Support, load_histories, show
from flake8_jax.knowledge.requirement import LIBRARIES
from flake8_jax.rules.deprecated_api import deprecated_api
from flake8_jax.rules.removed_api import removed_api
from flake8_jax.semantics.events.events import ApiUse

_ADVICE = re.compile(r"; (use \S|leave it out$|no replacement is known, so rewrite the code that uses it)")
_CUT_OFF = re.compile(r"\s$|\s\s|below [A-Z]\w+$|(?:JAX|since|Since|below) *(?:[;,)]|or newer|removed)")


def _messages(history: History, name: str, asked: str | None) -> list[tuple[str, Support, Any]]:
    """What the rules say of the name in a project that asks for these releases."""
    change, support = history.change(name), history.support(asked)
    assert change is not None
    context: Any = SimpleNamespace(scope=SimpleNamespace(text=""))
    found = []
    for rule, verdict, when in (
        (removed_api, "removed", change.removed),
        (deprecated_api, "deprecated", change.deprecated),
    ):
        if when is None or not support.reaches(when or history.oldest):
            continue
        at = ir.Name(0, 0, name)
        event = ApiUse(
            context, at, name, 0, 0, verdict, change, None, support, is_import=False, keyword=None, postponed=False
        )  # fmt: skip
        report = rule(event)
        assert report is not None
        found.append((report.message, support, change))
    return found


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("asked", [None, ">=0.4.30", ">=0.3"])
def test_every_message_of_a_change_is_complete(library: str, asked: str | None) -> None:
    history = load_histories().of(f"{library}.x")
    assert history is not None
    wrong = {}
    for name in (*history._changes, *history._methods, *history._gone):
        for message, support, change in _messages(history, name, asked):
            problems = private_words(message)
            if not _ADVICE.search(message) or _CUT_OFF.search(message) or message.count("(") != message.count(")"):
                problems.append("cut off")
            since = change.since
            if change.replacement and since and support.lowest is not None and since > support.lowest:
                older = history.older(change.replacement)
                if f"{show(since)} or newer" not in message and (older is None or f"use {older}" not in message):
                    problems.append("without the release that first has the replacement")
            if problems:
                wrong[message] = problems
    assert wrong == {}


def test_a_replacement_is_advised_with_its_release() -> None:
    history = load_histories().of("jax")
    assert history is not None
    said = {name: [m for m, _, _ in _messages(history, name, None)] for name in (
        "jax.core.set_current_trace", "jax.experimental.shard_map.shard_map", "jax.tree_map", "jax.random.PRNGSequence",
    )}  # fmt: skip
    assert "use jax.extend.core.set_current_trace (JAX 0.10.0 or newer)" in said["jax.core.set_current_trace"][0]
    assert "use jax.shard_map (JAX 0.6.1 or newer; mesh and " in said["jax.experimental.shard_map.shard_map"][0]
    assert said["jax.tree_map"][0].endswith("; use jax.tree.map")
    assert said["jax.random.PRNGSequence"][0].endswith(", or stay below JAX 0.4.20")
