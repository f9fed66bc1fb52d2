"""What library calls do: JAX's transforms and control flow, builtins, the standard library, other libraries.

    name ─► knowledge (a fact of TOML) ─► library, staging, transforms, control_flow ─► value
    name ─► a handler here, where a fact cannot say it ─► value

Vocabulary
----------
fact        what the knowledge tables say of one library function.
operand     the function that a transform stages, and *stage* running it the way the transform would.
handler     a function that models one library function.
"""
