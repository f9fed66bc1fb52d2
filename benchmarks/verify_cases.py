"""How many labelled defects ``jaxlint verify`` confirms, rule by rule.

    python benchmarks/verify_cases.py CASES [--python PATH] [--only RULE …] [-v]

CASES holds a folder for each rule with a folder for each case (see ``case_driver.py``); lines with a defect end in
``# expect: RULE``. Every case is linted and run under ``jaxlint verify`` with the driver as its command. Printed for every
rule: labelled findings, how many are confirmed, refuted (wrongly, since the labels prove themselves), and neither; and
findings confirmed at lines without a label. Exit code: 1 below ``--least``, or if anything was refuted or confirmed wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from flake8_jax.rules import all_rules

OPINIONS = {rule.name for rule in all_rules() if rule.opt_in}
"""Rules that one has to ask for: labelled in the folders of their own cases only."""
DRIVER = Path(__file__).with_name("case_driver.py")
_LABEL = re.compile(r"#\s*expect:\s*([a-z0-9-]+(?:,\s*[a-z0-9-]+)*)")


def labels(folder: Path) -> set[tuple[str, int, str]]:
    found = set()
    for path in folder.rglob("*.py"):
        if path.name == "oracle.py":
            continue
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = _LABEL.search(line)
            if match:
                found |= {(str(path), row, name.strip()) for name in match[1].split(",")}
    return found


def verdicts(folder: Path, python: str, *, driven: bool) -> tuple[list[dict[str, Any]], str]:
    """The findings of a case with their verdicts, and what was said besides."""
    files = sorted(str(path) for path in folder.rglob("*.py") if path.name != "oracle.py")
    driver = ["--", "python", str(DRIVER), str(folder)] if driven else []
    command = [
        sys.executable, "-m", "flake8_jax", "verify", "--isolated", "--no-cache", "--select", "ALL", "-j", "1",
        "--python", python, "--output-format", "json", "--timeout", "120", *files, *driver,
    ]  # fmt: skip
    environment = {"JAX_PLATFORMS": "cpu", **os.environ}
    out = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if out.returncode not in (0, 1):
        return [], out.stderr
    return json.loads(out.stdout), out.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has JAX")
    parser.add_argument("--only", nargs="*", default=[], metavar="RULE")
    parser.add_argument("--made-up", action="store_true", help="without the driver, on made-up inputs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.0, help="least share of the labelled findings confirmed")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    folders = sorted(path.parent.resolve() for path in args.cases.glob("*/*/oracle.py"))
    folders = [folder for folder in folders if not args.only or folder.parent.name in args.only]
    table: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for folder, (found, said) in zip(
            folders, pool.map(lambda f: verdicts(f, args.python, driven=not args.made_up), folders), strict=True
        ):
            wanted = labels(folder)
            by_place = {(d["filename"], d["location"]["row"], d["name"]): d for d in found}
            for place in sorted(wanted):
                row = table[folder.parent.name]
                row["labels"] += 1
                item = by_place.get(place)
                verdict = item["verdict"]["verdict"] if item is not None else "not found"
                row[verdict] += 1
                wrong += verdict == "refuted"
                if args.verbose and verdict != "confirmed":
                    reason = item["verdict"]["reason"] if item is not None else said.strip()[-300:]
                    print(f"{folder.parent.name}/{folder.name}:{place[1]} {verdict}: {reason}")
            for place, item in by_place.items():
                if place[2] in OPINIONS and place[2] != folder.parent.name:
                    continue
                if place not in wanted and item["verdict"]["verdict"] == "confirmed":
                    table[folder.parent.name]["unlabelled"] += 1
                    if folder.name.startswith("good") and place[2] == folder.parent.name:
                        wrong += 1
                    if args.verbose:
                        print(f"{folder.parent.name}/{folder.name}:{place[1]} {place[2]} confirmed without a label")
    total: Counter[str] = Counter()
    print(f"{'rule':30s} labels confirmed refuted other unlabelled")
    for rule, row in sorted(table.items()):
        total += row
        print(_line(rule, row))
    print(_line("all", total))
    share = total["confirmed"] / max(1, total["labels"])
    print(f"confirmed {share:.3f}")
    return int(share < args.least or wrong > 0)


def _line(name: str, row: Counter[str]) -> str:
    other = row["labels"] - row["confirmed"] - row["refuted"]
    return f"{name:30s} {row['labels']:6d} {row['confirmed']:9d} {row['refuted']:7d} {other:5d} {row['unlabelled']:10d}"


if __name__ == "__main__":
    sys.exit(main())
