#!/usr/bin/env python3
"""Run the programs of the rules' tests on JAX, and see whether ``verify`` confirms what jaxlint says of them.

    python scripts/confirm_findings.py [PROGRAM...]       default: every program under tests/rules/data that JAX alone runs

``certain`` means: on a path that the program takes, JAX raises or the result is silently wrong. The programs carry
their own calls (``# raises NAME: expression``, ``# runs: expression``); one process imports all programs and makes
every call, and ``jaxlint verify`` watches it.

Vocabulary
----------
confirmed      the run showed what the finding says.
refuted        the line ran, and the run showed the contrary.
inconclusive   the line did not run, or the run does not tell.

Takes some minutes: JAX compiles what is called. Exit code: 0; 1 where an error of which jaxlint is certain is refuted,
or was not confirmed although its line ran; 2 where ``verify`` itself fails.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DRIVER = """
import importlib
import re
import sys

CLAIM = re.compile(r"^# (?:raises \\w+|runs|reuses keys|keeps keys): (.+)$", re.MULTILINE)
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    with open(module.__file__, encoding="utf-8") as file:
        claims = CLAIM.findall(file.read())
    for expression in claims:
        try:
            eval(expression, dict(vars(module)))
        except Exception as error:
            print(f"{name}: {expression}: {type(error).__name__}")
"""


def verdicts(programs: list[Path]) -> list[dict[str, Any]]:
    """What ``verify`` says of the programs, as its JSON. Raises RuntimeError where it fails."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for program in programs:
            shutil.copy(program, folder)
        (folder / "drive.py").write_text(DRIVER, encoding="utf-8")
        command = [sys.executable, "-m", "flake8_jax", "verify", "--isolated", "--timeout", "1200"]
        command += ["--output-format", "json", "-o", "verdicts.json", *(program.name for program in programs)]
        command += ["--", sys.executable, "drive.py", *(program.stem for program in programs)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if run.returncode > 1:
            raise RuntimeError(run.stderr[-2000:])
        found: list[dict[str, Any]] = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
        return found


def is_wrong(finding: dict[str, Any]) -> bool:
    """An error of which jaxlint is certain, and that the run does not bear out."""
    if finding["severity"] != "error" or finding["confidence"] != "certain":
        return False
    verdict, reason = finding["verdict"]["verdict"], finding["verdict"].get("reason")
    return bool(verdict == "refuted" or (verdict == "inconclusive" and reason != "the line did not run"))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("programs", nargs="*", type=Path, metavar="PROGRAM")
    given: list[Path] = parser.parse_args().programs
    data = sorted((ROOT / "tests" / "rules" / "data").glob("*.py"))
    programs = [path.resolve() for path in given] or [path for path in data if "_with_" not in path.stem]
    try:
        found = verdicts(programs)
    except RuntimeError as error:
        print(f"verify failed: {error}", file=sys.stderr)
        return 2
    counts = Counter((finding["severity"], finding["confidence"], finding["verdict"]["verdict"]) for finding in found)
    for (severity, confidence, verdict), count in sorted(counts.items()):
        print(f"{severity:8} {confidence:8} {verdict:13} {count}")
    wrong = [finding for finding in found if is_wrong(finding)]
    for finding in wrong:
        place = f"{Path(finding['filename']).name}:{finding['location']['row']}"
        print(f"{place}: {finding['code']} {finding['verdict']['verdict']}: {finding['verdict'].get('reason', '')}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
