"""The pipeline: from paths and texts to diagnostics.

Vocabulary
----------
asked       the files whose findings are wanted. context: the files around them that belong to the same project.
import scan what the text of a file tells before it is parsed: its imports, and whether it uses JAX.
program     the files that are lowered and analyzed together.
request     what the analysis has to look for. Its digest, with that of the files, is the key in the cache.
diagnostic  a finding that is selected and not suppressed, with rows and columns.

::

    paths ─ discovery ─► files ─ import_scan ─► program ─ lowering ─► ir.Module ┐
                                    │                                │          ├─ backend ─► findings
                                  cache ◄────────────────────────────┘  request ┘               │
    reporters ◄──────────────────────────────────────────────── diagnostics ◄─ diagnosis ◄──────┘

``workspace`` runs these steps and keeps what the next question can use again. ``notebooks`` turns a notebook into one
text, and ``patterns`` matches gitignore patterns.
"""
