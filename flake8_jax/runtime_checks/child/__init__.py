"""The half of ``runtime_checks`` that runs in the child: standard library and JAX only, Python 3.10 and later.

The child may run under another interpreter than the linter's, so none of the linter's own libraries may be needed here.
"""
