"""How text that users read is worded: no private words, and a message that names what it is about.

Vocabulary
----------
private word   a word that only the source code of jaxlint uses, or one that a reader has to guess: ``PRIVATE`` gives the plain
               one for each.
line           the lines of source on which a finding stands, from its start to its end.
"""

from __future__ import annotations

import re

PRIVATE = {
    "alike": "equal, in the same way",
    "anew": "again",
    "ambient": "inside tracing",
    "behind it": "after it",
    "believes?": "infers",
    "blamed?": "names",
    "doors?": "entry point",
    "eager(ly)?": "outside tracing",
    "given back": "returned",
    "gravest": "most severe",
    "hands? over": "pass",
    "handed": "passed",
    "(?-i:is none)": "is not one",
    "kin": "similar functions",
    "lanes?": "batch element, mapped axis",
    "moot": "superseded",
    "nobody": "no code",
    "no pytree": "not a pytree",
    "objections?": "regression",
    "outlives?": "is invalid after",
    "repairs?": "fix",
    "somebody": "a caller",
    "staged": "traced",
    "stages": "traces",
    "taken back": "reverted",
    "tells? apart": "distinguish",
    "to_tracers": "to tracers",
    "twins?": "equivalent",
    "vanish": "become zero",
    "whatever": "any",
    "whoever": "a caller",
}
"""Words that are not plain English or terms of JAX, each as a pattern, with what to write instead."""
_PRIVATE = re.compile(rf"(?<![\w`.-])(?:{'|'.join(PRIVATE)})(?![\w`-])", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`]+)`")
_CALLED = re.compile(r"([\w.\]\[…]+)\(")
_CODE = re.compile(
    r"[`.]|[\w.]+\(|\w+\.\w|(?:jax|jit|np|numpy|math|optax|chex|flax|equinox|haiku|numpyro|orbax|distrax|rlax)\b"
)
_LEFT_OUT = re.compile(r"[(\[]?…[)\]]?$")
"""How a quoted expression ends of which a part is left out: ``table[…]``."""
LONGEST = 200


def private_words(text: str) -> list[str]:
    """The private words of a text, in order; code in backquotes is no text."""
    return [found[0] for found in _PRIVATE.finditer(_QUOTED.sub("``", text))]


def problems_of_message(message: str, line: str) -> list[str]:
    """What is wrong with a finding's message, given the source it stands on."""
    wrong = [f"private word {word!r}" for word in private_words(message)]
    if message.endswith(".") or "\n" in message:
        wrong.append("a final period, or several lines")
    if not (message[0].isupper() or _CODE.match(message)):
        wrong.append("begins with a small letter")
    if len(message) > LONGEST:
        wrong.append(f"{len(message)} characters")
    if not names_an_expression(message, line):
        wrong.append("names nothing that stands on the line")
    return wrong


def names_an_expression(message: str, line: str) -> bool:
    """The message quotes or calls something that the source holds."""
    source = "".join(line.split())
    parts = [*_QUOTED.findall(message), *_CALLED.findall(message), *re.findall(r"\b[\w.]*\.\w+\b", message)]
    for part in parts:
        text = "".join(_LEFT_OUT.sub("", part).split())
        if text.strip(".[]") and (text in source or text.rpartition(".")[2] in re.findall(r"\w+", line)):
            return True
    return False
