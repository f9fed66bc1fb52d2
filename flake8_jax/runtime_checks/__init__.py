"""Running the user's code on JAX, to prove or refute what the linter says of it.

Only the commands that say so run anything: ``record``, ``verify``, ``prove``, ``mre``, ``recompiles``, ``bench``, ``probe``,
``hotspots``, ``locate`` and ``env``. All of them run it in a child process (``sandbox``), so that nothing it does can take
the linter along.

Vocabulary
----------
child        the process that imports JAX and the user's code. Its half of this package is ``child``: standard library
             and JAX only, because it may run under another interpreter than the linter's.
workload     what the child runs: the user's own command, or calls with inputs made for the purpose.
watch        a place of a finding, watched while the workload runs. observation: what was seen there.
oracle       what has to be among the observations for a finding of a rule to be true (``oracles``, made of ``judges``).
verdict      what the observations say of a finding (``verify``), or two runs say of a fix (``prove``).

::

    findings, workload ─ verify ─► watches ─ sandbox ─► child ─► observations ─ oracles ─► verdicts
    fixes, workload ─── prove ─► copies of the project ─ replays ─► child ─► results ─ fix_verdicts ─► verdicts
    a finding ───────── mre ─► flattening ─► script ─ reduction ─► smaller script ─ verify, linter ─► the smallest
    a command ───────── record, pytest_plugin ─► child ─► profile ─► check, inspect, verify
    a function ──────── bench, probe, recompiles ─► child ─► measurements
    a command ───────── hotspots ─► child: samples, compilations, trace ─► sums by line ─► text, flame
"""
