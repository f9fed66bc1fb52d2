"""Writes knowledge/versions/jax.toml: which names JAX removed, deprecated and introduced, and when.

    python scripts/jax_versions.py [--check] [--wheels WHEELS] PYTHON …

The history comes from ``jax_api_changes.json`` (changelogs and deprecation tables of JAX, read release by release) and
from ``jax_api_by_hand.toml``, which corrects and extends it. Every PYTHON is an interpreter that can import some release
of JAX; what they say is believed over the history: a name that a release still has is not removed there, and a name
that a release lacks was introduced later. Without any, the probed facts of the present file are kept.
WHEELS is a folder of wheels of JAX, as ``python -m pip download --no-deps -d WHEELS jax==0.4.31`` leaves them, one call a
release since 0.4.20: in them is the first release of each name that a probed release lacks. Without it, the first releases
of the present file are kept.
``--check`` writes nothing and exits with 1 when the file would change.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from library_versions import Release

from flake8_jax.knowledge.history import show, version_of

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "flake8_jax" / "knowledge" / "versions" / "jax.toml"
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
NEWEST = "0.12.0"
"""The newest release that the history was compared with: what is announced for a later one has not happened."""
OLDEST = "0.4.20"
"""The oldest one: of most that happened before, the history does not know when."""


def key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def plain(version: str | None) -> str:
    """A version as the file has it: 0 for "older than the history", - for none."""
    return "-" if version is None else "0" if version.startswith("<") else version


def read_history() -> dict[str, dict[str, Any]]:
    """Rows by name: deprecated, removed, since, how, replacement."""
    rows: dict[str, dict[str, Any]] = {}
    for row in json.loads((HERE / "jax_api_changes.json").read_text(encoding="utf-8")):
        if row["kind"] != "symbol" or not DOTTED.fullmatch(row["symbol"]):
            continue
        replacement = (row["replacement"] or "").replace('"', "'")
        renamed = row["mechanical_fix"] and DOTTED.fullmatch(replacement)
        rows[row["symbol"]] = {
            "deprecated": plain(row["deprecated_in"]),
            "removed": plain(row["removed_in"]),
            "since": plain(row["replacement_since"]),
            "how": "rename" if renamed else "hint" if replacement else "-",
            "replacement": replacement,
        }
    return rows


def read_by_hand() -> dict[str, Any]:
    with (HERE / "jax_api_by_hand.toml").open("rb") as stream:
        return tomllib.load(stream)


def apply_by_hand(rows: dict[str, dict[str, Any]], by_hand: dict[str, Any]) -> None:
    empty = {"deprecated": "-", "removed": "-", "since": "-", "how": "-", "replacement": ""}
    for name in by_hand["drop"]["names"]:
        rows.pop(name, None)
    for name in by_hand["gone"]["names"]:
        rows[name] = {**empty, "deprecated": "0", "removed": "0"}
    for name, fields in by_hand["changes"].items():
        rows[name] = {**empty, **rows.get(name, {}), **fields}


def ask(python: str, names: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [python, str(HERE / "jax_probe.py")], input=json.dumps(names), capture_output=True, text=True, check=False,
        env={"JAX_PLATFORMS": "cpu", "PATH": "/usr/bin:/bin", "HOME": "/tmp"},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def believe(rows: dict[str, dict[str, Any]], probes: list[dict[str, Any]]) -> None:
    """Correct the rows by what the releases have. ``probes``: oldest first."""
    for name, row in list(rows.items()):
        states = [(probe["version"], probe["states"][name]) for probe in probes]
        if row["removed"] not in ("-", "0"):
            kept = [v for v, state in states if state != "absent" and key(v) >= key(row["removed"])]
            if kept:
                later = [v for v, state in states if state == "absent" and key(v) > key(kept[-1])]
                note(f"{name}: {kept[-1]} still has it, removed {row['removed']} → {later[0] if later else '-'}")
                row["removed"] = later[0] if later else "-"
        elif row["removed"] == "0" and any(state != "absent" for _, state in states):
            note(f"{name}: not gone: {states}")
            del rows[name]
            continue
        elif row["removed"] == "-" and states[-1][1] == "absent":
            gone = [v for i, (v, _) in enumerate(states) if all(s == "absent" for _, s in states[i:])]
            note(f"{name}: absent since {gone[0]}")
            row["removed"] = gone[0]
        if row["removed"] == "-" and row["deprecated"] == "-":
            note(f"{name}: nothing to say")
            del rows[name]
        elif row["how"] == "rename":
            there = [probe["version"] for probe in probes if probe["states"][row["replacement"]] != "absent"]
            if not there or there[-1] != probes[-1]["version"]:
                note(f"{name}: {row['replacement']} does not exist")
                row["how"] = "hint"
            elif row["since"] == "-" or any(
                key(v) >= key(row["since"]) for v in (p["version"] for p in probes) if v not in there
            ):
                note(f"{name}: {row['replacement']} since {row['since']} → {there[0]}")
                row["since"] = there[0]


def note(text: str) -> None:
    print("  " + text, file=sys.stderr)


def introduced(probes: list[dict[str, Any]]) -> dict[str, str]:
    """Public names of the newest release, and the newest probed release that lacks each."""
    found: dict[str, str] = {}
    for name in probes[-1]["public"]:
        lacking = [probe["version"] for probe in probes if probe["states"][name] == "absent"]
        if lacking:
            found[name] = lacking[-1]
    return found


def first_releases(lacking: dict[str, str], wheels: Path) -> dict[str, str]:
    """The first release that has each name, where all later ones have it, too, and the one that lacks it is older. Of
    arguments, and of calls without a function, the wheels say nothing here."""
    releases = sorted(map(Release, wheels.glob("jax-*.whl")), key=lambda release: release.version)
    found: dict[str, str] = {}
    for name, without in lacking.items():
        having = [release.version for release in releases if "(" not in name and release.has(name)]
        later = [release.version for release in releases if having and release.version >= having[0]]
        if having and having == later and having[0] > version_of(without):
            found[name] = show(having[0])
    return found


def write(rows: dict[str, dict[str, Any]], by_hand: dict[str, Any], probed: dict[str, dict[str, str]]) -> str:
    lines = [
        "# What JAX removed, deprecated and introduced, and when.",
        "# Generated by scripts/jax_versions.py: edit that, not this.",
        "#",
        "# changes     deprecated removed since-when-the-replacement-exists rename|hint|- replacement; 0: before 0.4.20",
        "# arguments   the same, of keyword arguments",
        "# introduced  the newest release probed that lacks the name, and the first release that has it, where that is known;",
        "#             NAME() is calling it without its function",
        "# older       where every release since 0.4.20 has the same thing",
        "# modules     what `import jax` makes reachable (loaded), and what needs an import of its own (import)",
        "# requires-python, requires-numpy, requires-scipy  the oldest one from that release on",
        "",
        "[releases]",
        f'"newest" = "{NEWEST}"',
        f'"oldest" = "{OLDEST}"',
        '"title" = "JAX"',
    ]
    for section, entries in (("changes", rows), ("arguments", by_hand["arguments"])):
        lines += ["", f"[{section}]"]
        for name, row in sorted(entries.items()):
            fields = [row.get("deprecated", "-"), row.get("removed", "-"), row.get("since", "-")]
            fields += [row.get("how", "-"), row.get("replacement", "")]
            lines.append(f'"{name}" = "{" ".join(fields).rstrip()}"')
    required = [section for section in by_hand if section.startswith("requires-")]
    probed |= {section: by_hand[section] for section in ("older", *required)}
    for section in ("introduced", "older", "modules", *required):
        lines += ["", f"[{section}]", *[f'"{name}" = "{fact}"' for name, fact in sorted(probed[section].items())]]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="an interpreter that can import a release of JAX")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file would change")
    parser.add_argument(
        "--wheels", metavar="WHEELS", type=Path, help="a folder of wheels of JAX, as pip downloads them"
    )
    arguments = parser.parse_args()
    rows, by_hand = read_history(), read_by_hand()
    apply_by_hand(rows, by_hand)
    if arguments.pythons:
        names = sorted({*rows, *(row["replacement"] for row in rows.values() if row["how"] == "rename")})
        probes = sorted((ask(python, names) for python in arguments.pythons), key=lambda p: key(p["version"]))
        public = probes[-1]["public"]
        again = {p["version"]: p for p in (ask(python, public) for python in arguments.pythons)}
        for probe in probes:
            probe["states"] = {**again[probe["version"]]["states"], **probe["states"]}
        believe(rows, probes)
        new = introduced(probes)
        for name in probes[-1]["factories"]:
            lacking = [p["version"] for p in probes if name not in p["factories"]]
            if lacking:
                new[f"{name}()"] = lacking[-1]
        owners = {row["replacement"].rpartition(".")[0] for row in rows.values() if row["how"] == "rename"}
        owners |= {name.rpartition(".")[0] for name in by_hand["older"].values()}
        owners |= {row["replacement"] for row in rows.values() if row["how"] == "rename"}
        reachable = set.intersection(*(set(p["reachable"]) for p in probes[2:] or probes))
        states = probes[-1]["states"]
        mods = {o: "loaded" if o in reachable else "import" for o in owners if o == "jax" or states.get(o) == "module" or
                ask(arguments.pythons[-1], [o])["states"][o] == "module"}  # fmt: skip
        probed = {"introduced": new, "modules": mods}
    else:
        present = tomllib.loads(TARGET.read_text(encoding="utf-8"))
        for name, row in list(rows.items()):
            if name not in present["changes"]:
                del rows[name]
                continue
            fields = present["changes"][name].split(" ", 4)
            hinted = row["how"] == "hint"
            row.update(zip(("deprecated", "removed", "since", "how"), fields[:4], strict=True))
            if hinted and row["how"] == "-":  # a hint is no fact that is probed
                row["how"] = "hint"
        probed = {"introduced": present["introduced"], "modules": present["modules"]}
    known = tomllib.loads(TARGET.read_text(encoding="utf-8"))["introduced"]
    lacking = {name: fact.partition(" ")[0] for name, fact in probed["introduced"].items()}
    first = {
        name: fact.partition(" ")[2] for name, fact in known.items() if lacking.get(name) == fact.partition(" ")[0]
    }
    if arguments.wheels:
        first |= first_releases(lacking, arguments.wheels)
    first |= by_hand["first_releases"]
    probed["introduced"] = {name: f"{fact} {first.get(name, '')}".rstrip() for name, fact in lacking.items()}
    probed["introduced"] |= by_hand["introduced_arguments"]
    text = write(rows, by_hand, probed)
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    if not arguments.check:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")
    return int(arguments.check)


if __name__ == "__main__":
    sys.exit(main())
