"""What library calls do: JAX's transforms and control flow, builtins, the standard library, other libraries.

    name ─► library ─► transform: transforms ─► staging, control_flow, tree_map, boundaries ─► value
                   ├─► function with a fact: facts ─► array_results                         ─► value
                   └─► function with a handler: functions, stdlib, haiku, setters …          ─► value
    builtin ─► builtins; method of a builtin value ─► methods, array_methods                 ─► value

Vocabulary
----------
fact        what the knowledge tables say of one library function.
application a library function with its fact and its arguments by parameter.
operand     the function that a transform stages, and *stage* running it the way the transform would.
handler     a function that models one library function, where a fact cannot say it.

A new handler, method or model is a decorated function; ``tables`` has the decorators.
"""
