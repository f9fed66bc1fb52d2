"""Words by which authors say that draws are equal on purpose: whether a rule reports them, and whether a fix changes them.

Vocabulary
----------
stated      a comment at the use says that the key, or what it draws, is the same. The rules then report no error.
mentioned   a text mentions equal draws in any way, in names and strings as well. Then no fix gives them other keys: a wrong
            guess costs one fix that is not offered. What is stated is mentioned, too, unless a comment denies it.

copy        one array starts as another one does: a target network, a teacher, a moving average. Names say so: ``target_q``
            beside ``q``.

Limitations: English words only.
"""

from __future__ import annotations

import re

_ALIKE = r"(?:fixed|same|constant|shared|identical|common)"
_SOURCE = r"(?:key|rng|seed|noise|random)"
_DRAWN = r"(?:draw|sample|number|dropout|mask|batch|stream|perturbation|initial|weights|parameters)"
_STATED = re.compile(
    rf"#.*\b{_ALIKE}\b.{{0,30}}\b{_SOURCE}|#.*\bpaired\b|#.*\b(?:key|rng|seed|noise)s?\b.{{0,20}}\b(?:fixed|shared|the same)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|avoid|no|todo|fixme|bug|wrong|instead)\b|n't\b", re.IGNORECASE)
_MENTIONED = re.compile(
    r"common[ _]random|\bcrn\b|\bone (?:mask|noise|key) for|variational dropout|antithetic|\bpaired\b|determinis|reproducib|"
    rf"(?:equal|identical|same)[ _\w]{{0,12}}[ _](?:{_SOURCE}|{_DRAWN})|"
    r"(?:\bno need|not? (?:need|necessary)\w*|n['’]?t (?:bother|need|have|matter)\w*)[^\n]{0,24}\b(?:split|(?:new|own) key)",
    re.IGNORECASE,
)


_COPIES = frozenset({"target", "targ", "tgt", "teacher", "ema", "slow", "frozen", "momentum"})


def is_copy(one: str, other: str) -> bool:
    """The name of one variable is that of the other with a word such as ``target``, or in place of ``online``."""
    words, others = (set(name.lower().strip("_").split("_")) for name in (one, other))
    if words ^ others == {"target", "online"}:
        return True
    return words != others and words ^ others <= _COPIES and bool(words & others)


def states_equal_draws(comments: str) -> bool:
    """Whether the comments in some lines say that the key, or what it draws, is the same on purpose."""
    said = _STATED.search(comments)
    return said is not None and _DENIED.search(said.string[said.start() :].partition("\n")[0]) is None


def mentions_equal_draws(text: str) -> bool:
    """Whether a text mentions equal draws in names, strings or comments."""
    return _MENTIONED.search(text) is not None or any(states_equal_draws(line) for line in text.splitlines())
