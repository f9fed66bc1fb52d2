"""From bytes to the intermediate representation and back: the only package that knows LibCST.

Vocabulary
----------
source      a file's decoded text and what is needed to write it back byte for byte (``source``).
lowering    one parse and one walk that turn a text into an ``ir.Module`` (``lower``).
cursor      the place that the walk has reached in the text. LibCST's tree says *what* comes next, the text says
            *where* (``cursor``).
chain       a long row of operators, attributes or calls, which LibCST cannot parse in reasonable time (``chains``).
trivia      what separates tokens: blanks, comments, newlines, backslash continuations.
directive   a suppression comment (``noqa``).
edit        a replacement of a slice of the text (``edits``).

::

    bytes ─ source ─► text ─ chains ─► LibCST's tree ─ lower ─► ir.Module ─► semantics, fixers
                       │                                │
                       │                  statements, expressions, literals, patterns, with the cursor
                       ├─ noqa ─► directives
                       └─ edits ─► new text ─ source ─► bytes

Importing this package does not import LibCST; importing ``lower`` does.
"""
