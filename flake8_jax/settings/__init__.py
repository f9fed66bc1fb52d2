"""Settings: the files, the rules and the versions of JAX that a run uses.

Vocabulary
----------
options     the keys of ``[tool.jaxlint]`` in one source (``options``).
settings    the result for one project. Flags override ``--config`` pairs, which override the configuration file.
layer       the rule selectors of one source (``selection``).
required    the versions of JAX and of other libraries that the project asks for (``requirements``).

::

    jaxlint.toml, pyproject.toml ─┐
    --config 'key = value'       ─┼─► options ─ override ─► settings of one project ─► pipeline
    flags of the command line    ─┘                             ▲
    pyproject.toml, setup.cfg, requirements, locks … ─► required versions
"""
