"""Names of variables that hold keys, and of functions that keep a key as it is.

Vocabulary
----------
keeping     a callee that stores, shows, copies or places what it is given, or makes other keys of it.

Limitations: English words only.
"""

from __future__ import annotations

import re

NAMED = re.compile(r"(.*_)?(key|rng|prng|rngs|seed)(_?[0-9])?|prng_?key|rng_?key|(rng|key)_[a-z0-9_]+|_(rng|key)")
"""Names of parameters and variables that hold keys."""
_KEEPING = frozenset({
    "add", "append", "array", "as", "asarray", "assert", "block", "broadcast", "carry", "cast", "check", "clone", "compile",
    "concat", "concatenate", "cond", "convert", "copy", "create", "debug", "deepcopy", "device", "dict", "dump",
    "encode", "ensure", "equal", "eval", "extend", "flatten", "fold", "from", "get", "global", "grad", "hash", "host",
    "id", "identity", "info", "insert", "is", "isinstance", "jit", "key", "keys", "len", "list", "load", "local", "log",
    "lower", "make", "map", "next", "pack", "partial", "place", "plot", "pmap", "pop", "print", "prng", "push", "put", "ravel",
    "record", "replace", "replicate", "report", "repr", "reshape", "restore", "return", "rng", "rngs", "save", "seed",
    "select", "serialize", "set", "setdefault", "shape", "shard", "sharded", "show", "spec", "split", "stack", "store",
    "str", "struct", "tile", "to", "trace", "tree", "tuple", "type", "unflatten", "unreplicate", "unwrap", "update",
    "validate", "visualize", "vmap", "warning", "where", "wrap", "write", "yield",
})  # fmt: skip
"""Words of names of callees that keep a key."""


def keeps_key(name: str) -> bool:
    """A function of this name does not draw from a key that it gets."""
    bare = name.lstrip("_")
    return bare[:1].isupper() or not _KEEPING.isdisjoint(re.findall("[a-z]+", re.sub("([A-Z])", r"_\1", bare).lower()))
