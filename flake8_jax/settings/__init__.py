"""Settings: which files, which rules and which versions of JAX a run is about.

Vocabulary
----------
options     the keys of ``[tool.jaxlint]`` as one source writes them (``options``).
settings    the outcome for one project: configuration file, ``--config`` pairs and flags, the last of which wins.
layer       the rule selectors of one source (``selection``).
required    the versions of JAX and of other libraries that the project asks for (``requirements``).

::

    jaxlint.toml, pyproject.toml ─┐
    --config 'key = value'       ─┼─► options ─ override ─► settings of one project ─► pipeline
    flags of the command line    ─┘                             ▲
    pyproject.toml, setup.cfg, requirements, locks … ─► required versions
"""
