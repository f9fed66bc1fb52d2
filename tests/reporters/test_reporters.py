"""The formats: found by their modules, and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_jax.core.findings import Edit, Finding, Fix, Positions, Step, Verdict
from flake8_jax.core.pages import own_page
from flake8_jax.core.report import RuleInfo, RunReport, line_starts, place
from flake8_jax.reporters import View, formats, render
from flake8_jax.reporters._fingerprint import line_fingerprints
from flake8_jax.syntax.edits import apply_edits

TEXT = "import jax\n\n\tif x > 0:  # 日本\n\t\tpass\n"
PATH = "/work/a.py"


def report(text: str = TEXT, fix: Fix | None = None) -> RunReport:
    start = text.index("x > 0")
    evidence = (
        Step("/work/b.py", 0, 40, "root", "step", "jax.jit stages step"),
        Step(PATH, 0, 7, "call", "body", "step calls body"),
    )
    finding = Finding("JAX101", "traced-branch", "error", PATH, start, start + 5, "no truth", evidence, fix)
    return RunReport(diagnostics=(place(finding, Positions(line_starts(text)), 3),), texts={PATH: text})


def test_formats_are_the_modules() -> None:
    import flake8_jax.reporters

    files = Path(flake8_jax.reporters.__file__).parent.glob("[!_]*.py")
    assert list(formats()) == sorted(file.stem.replace("_", "-") for file in files)
    assert {"full", "concise", "json"} <= set(formats())
    with pytest.raises(ValueError, match="unknown output format"):
        render("xml", RunReport(), View("/work"))


@pytest.mark.parametrize("name", formats())
def test_every_format_renders_an_empty_and_a_full_report(name: str) -> None:
    assert isinstance(render(name, RunReport(), View("/work")), str)
    assert "JAX101" in render(name, report(), View("/work"))


def test_concise() -> None:
    fix = Fix("ask where", "safe", (Edit(16, 21, "y"),))
    assert render("concise", report(fix=fix), View("/work")) == "a.py:3:5: JAX101 [*] no truth\n"
    assert render("concise", report(), View("/other")) == "/work/a.py:3:5: JAX101 no truth\n"
    unsafe = Fix("ask where", "unsafe", fix.edits)
    assert "[*]" not in render("concise", report(fix=unsafe), View("/work"))
    assert "[*]" in render("concise", report(fix=unsafe), View("/work", unsafe_fixes=True))


def test_full() -> None:
    fix = Fix("ask where", "unsafe", (Edit(16, 21, "y"),))
    assert render("full", report(fix=fix), View("/work")).splitlines() == [
        "a.py:3:5: JAX101 (traced-branch) no truth",
        "  |",
        "1 | import jax",
        "2 |",
        "3 |     if x > 0:  # 日本",
        "  |        ^^^^^ JAX101",
        "4 |         pass",
        "  |",
        "  = b.py:40: jax.jit stages step",
        "  = a.py:7: step calls body",
        "  unsafe fix: ask where",
        "    -     if x > 0:  # 日本",
        "    +     if y:  # 日本",
    ]


def test_full_shows_of_a_very_long_line_what_is_near_to_the_finding_and_the_fix() -> None:
    text = f"y = {'a + ' * 300}(x > 0){' + b' * 300}\n"
    start = text.index("x > 0")
    shown = render("full", report(text, Fix("ask z", "unsafe", (Edit(start, start + 5, "z"),))), View("/work"))
    removed, added = (next(line for line in shown.splitlines() if line.startswith(f"    {mark} ")) for mark in "-+")
    assert "a + (x > 0) + b" in removed
    assert "a + (z) + b" in added
    assert removed.startswith("    - …") and added.endswith("…")
    assert max(len(line) for line in shown.splitlines()) < 500


def test_full_shows_of_a_fix_the_lines_between_those_that_change() -> None:
    kept = [f"    line{number}" for number in range(9)]
    text = "\n".join(["for x > 0:", kept[0], "", kept[1], "for y:", *kept[2:], "for z:"]) + "\n"
    starts = [text.index(head) for head in ("for x", "for y", "for z")]
    fix = Fix("turn around", "safe", tuple(Edit(start, start + 3, "while") for start in starts))
    shown = render("full", report(text, fix), View("/work")).splitlines()
    near = [
        "    - for x > 0:",
        "    + while x > 0:",
        "          line0",
        "",
        "          line1",
        "    - for y:",
        "    + while y:",
    ]
    assert shown[shown.index("  fix: turn around") + 1 :] == [*near, "    - for z:", "    + while z:"]
    whole = Fix("turn around", "safe", (Edit(0, len(text), text.replace("for", "while")),))
    shown = render("full", report(text, whole), View("/work")).splitlines()
    assert shown[shown.index("  fix: turn around") + 1 :] == [*near, "      …", "    - for z:", "    + while z:"]


def test_full_looks_at_a_fix_that_findings_share_once() -> None:
    one = report(fix=Fix("ask where", "unsafe", (Edit(16, 21, "y"),)))
    alone = render("full", one, View("/work"))
    twice = msgspec.structs.replace(one, diagnostics=one.diagnostics * 2)
    assert render("full", twice, View("/work")) == f"{alone}\n{alone}"


def test_full_shows_no_control_characters() -> None:
    assert "\x1b" not in render("full", report(TEXT.replace("pass", "'\x1b[31m'")), View("/work"))
    assert "\x1b[1;31m" in render("full", report(), View("/work", color=True))


def test_json() -> None:
    fix = Fix("ask where", "safe", (Edit(16, 21, "y"),))
    (item,) = json.loads(render("json", report(fix=fix), View("/work")))
    assert item == {
        "cell": None,
        "code": "JAX101",
        "name": "traced-branch",
        "severity": "error",
        "filename": PATH,
        "message": "no truth",
        "url": own_page("traced-branch"),
        "noqa_row": 3,
        "location": {"row": 3, "column": 5},
        "end_location": {"row": 3, "column": 10},
        "fix": {
            "applicability": "safe",
            "message": "ask where",
            "edits": [{"content": "y", "location": {"row": 3, "column": 5}, "end_location": {"row": 3, "column": 10}}],
        },
        "evidence": [
            {"filename": "/work/b.py", "row": 40, "kind": "root", "function": "step", "message": "jax.jit stages step"},
            {"filename": PATH, "row": 7, "kind": "call", "function": "body", "message": "step calls body"},
        ],
        "confidence": "certain",
    }
    assert render("json", RunReport(), View("/work")) == "[]\n"


# --- formats for other programs --------------------------------------------------------------------


def test_json_lines() -> None:
    lines = render("json-lines", report(), View("/work")).splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["JAX101"]
    assert render("json-lines", RunReport(), View("/work")) == ""


def test_github() -> None:
    assert render("github", report(), View("/work")) == (
        "::error title=jaxlint (JAX101),file=a.py,line=3,col=5,endLine=3,endColumn=10::a.py:3:5: JAX101 no truth\n"
    )


def test_github_escapes_and_gives_no_columns_on_several_lines() -> None:
    finding = Finding("JAX101", "traced-branch", "warning", "/work/a,b.py", 0, 14, "100%\nsure")
    several = RunReport(diagnostics=(place(finding, Positions(line_starts(TEXT)), 1),))
    assert render("github", several, View("/work")) == (
        "::warning title=jaxlint (JAX101),file=a%2Cb.py,line=1,endLine=3::a,b.py:1:1: JAX101 100%25%0Asure\n"
    )


def test_azure_and_pylint() -> None:
    assert render("pylint", report(), View("/work")) == "a.py:3: [JAX101] no truth\n"
    assert render("azure", report(), View("/work")) == (
        "##vso[task.logissue type=error;sourcepath=a.py;linenumber=3;columnnumber=5;code=JAX101;]no truth\n"
    )


def test_gitlab_fingerprints_differ_and_survive_moves() -> None:
    (item,) = report().diagnostics
    twice = RunReport(diagnostics=(item, item), root="/work")
    first, second = json.loads(render("gitlab", twice, View("/")))
    assert first["fingerprint"] != second["fingerprint"]
    assert first["location"]["path"] == "a.py"
    moved = report("\n\n" + TEXT)
    assert (
        json.loads(render("gitlab", msgspec.structs.replace(moved, root="/work"), View("/")))[0]["fingerprint"]
        == (first["fingerprint"])
    )


def test_junit_is_well_formed() -> None:
    finding = Finding("JAX101", "traced-branch", "error", "/work/<a>.py", 0, 1, 'a "<b>" & \x00')
    odd = RunReport(diagnostics=(place(finding, Positions([0]), 1),))
    suites = ElementTree.fromstring(render("junit", odd, View("/work")))
    assert suites.get("failures") == "1"
    (case,) = suites.iter("testcase")
    assert case.get("name") == "jaxlint.JAX101"
    assert len(list(ElementTree.fromstring(render("junit", RunReport(), View("/"))).iter("failure"))) == 0


def test_rdjson_counts_bytes() -> None:
    text = "é = '日'; x > 0\n"
    found = json.loads(render("rdjson", report(text, Fix("f", "safe", (Edit(10, 11, "y"),))), View("/work")))
    (item,) = found["diagnostics"]
    assert item["location"]["range"] == {"start": {"line": 1, "column": 13}, "end": {"line": 1, "column": 18}}
    assert item["suggestions"][0]["range"]["start"] == {"line": 1, "column": 14}
    (line,) = render("rdjsonl", report(text), View("/work")).splitlines()
    assert json.loads(line)["source"] == {"name": "jaxlint"}


def test_rdjson_offers_a_fix_as_a_whole() -> None:
    """Suggestions of one finding are alternatives to a reader: half of a fix must not be one of them."""
    edits = (Edit(16, 21, "sin(x)"), Edit(0, 0, "é\n"), Edit(0, 6, "from"))
    (item,) = json.loads(render("rdjson", report(fix=Fix("f", "safe", edits)), View("/work")))["diagnostics"]
    (suggestion,) = item["suggestions"]
    assert suggestion["text"] == "é\nfrom jax\n\n\tif sin(x)"
    assert suggestion["range"] == {"start": {"line": 1, "column": 1}, "end": {"line": 3, "column": 10}}
    far = "#\n" * 1000 + TEXT
    edits = (Edit(far.index("x > 0"), far.index(" > 0"), "y"), Edit(0, 0, "import y\n"))
    (item,) = json.loads(render("rdjson", report(far, Fix("f", "safe", edits)), View("/work")))["diagnostics"]
    assert "suggestions" not in item


@given(
    st.text("aé日🚀\n", max_size=12),
    st.lists(st.integers(0, 12), min_size=2, max_size=6),
    st.text("xü\n", max_size=3),
)
def test_a_suggestion_in_bytes_is_the_fix(text: str, cuts: list[int], content: str) -> None:
    places = sorted(min(cut, len(text)) for cut in cuts)
    edits = tuple({Edit(start, end, content) for start, end in zip(places[::2], places[1::2])})
    finding = Finding("JAX101", "traced-branch", "error", PATH, 0, 0, "m", (), Fix("f", "safe", edits))
    shown = RunReport(diagnostics=(place(finding, Positions(line_starts(text)), 1),), texts={PATH: text})
    (item,) = json.loads(render("rdjson", shown, View("/work")))["diagnostics"]
    (suggestion,) = item["suggestions"]
    lines = text.encode().splitlines(keepends=True)
    start, end = (
        sum(map(len, lines[: spot["line"] - 1])) + spot["column"] - 1
        for spot in (suggestion["range"]["start"], suggestion["range"]["end"])
    )
    applied = text.encode()[:start] + suggestion["text"].encode() + text.encode()[end:]
    assert applied.decode() == apply_edits(text, edits)


def test_rdjsonl_has_no_line_that_reviewdog_cannot_read() -> None:
    long = Fix("f", "safe", (Edit(16, 21, "y" * 70_000),))
    for fix, kept in ((long, False), (Fix("f", "safe", (Edit(16, 21, "y" * 60_000),)), True)):
        (line,) = render("rdjsonl", report(fix=fix), View("/work")).splitlines()
        assert len(line) < 64 * 1024
        assert ("suggestions" in json.loads(line)) is kept
        assert json.loads(line)["related_locations"][0]["message"] == "jax.jit stages step"
    assert "suggestions" in json.loads(render("rdjson", report(fix=long), View("/work")))["diagnostics"][0]


def sarif(shown: RunReport, cwd: str = "/") -> dict[str, Any]:
    """The one run in the document, which the schema allows."""
    schema = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text())
    document = json.loads(render("sarif", shown, View(cwd)))
    jsonschema.Draft4Validator(schema).validate(document)
    (run,) = document["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("fix", [None, Fix("ask where", "unsafe", (Edit(16, 21, "y"),))])
def test_sarif_is_valid(fix: Fix | None) -> None:
    assert sarif(RunReport())["results"] == []
    (result,) = sarif(msgspec.structs.replace(report(fix=fix), root="/work", version="1.0"))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.py"
    assert set(result["locations"][0]["physicalLocation"]["region"]) == {
        "startLine",
        "startColumn",
        "endLine",
        "endColumn",
    }
    assert len(result["relatedLocations"]) == 2


def test_sarif_has_the_evidence_as_a_flow_to_the_finding() -> None:
    """GitHub shows flows; related locations only where a message links to them."""
    (result,) = sarif(msgspec.structs.replace(report(), root="/work"))["results"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    assert [
        (place["artifactLocation"]["uri"], place["region"]["startLine"], said)
        for place, said in (
            (step["location"]["physicalLocation"], step["location"]["message"]["text"]) for step in flow["locations"]
        )
    ] == [("b.py", 40, "jax.jit stages step"), ("a.py", 7, "step calls body"), ("a.py", 3, "no truth")]
    assert flow["locations"][-1]["location"]["physicalLocation"] == result["locations"][0]["physicalLocation"]


def test_sarif_says_how_the_run_went() -> None:
    assert sarif(RunReport(version="1.2.3"))["invocations"] == [{"executionSuccessful": True}]
    assert sarif(RunReport(version="1.2.3"))["tool"]["driver"]["semanticVersion"] == "1.2.3"
    assert "semanticVersion" not in sarif(RunReport(version="1.2.3.dev4"))["tool"]["driver"]
    went = RunReport(
        root="/work",
        messages=("/work/a.py: cannot be read",),
        missing=("ü no.py",),
        crashes=(("JAX101", "/work/b.py", "Traceback\nValueError: x\n"),),
        notes=("by the way",),
    )
    (invocation,) = sarif(went, "/work/below")["invocations"]
    assert invocation["executionSuccessful"] is False
    notifications = invocation["toolExecutionNotifications"]
    assert [(item["level"], item["message"]["text"]) for item in notifications] == [
        ("error", "/work/a.py: cannot be read"),
        ("error", "there is no such file or directory"),
        ("error", "JAX101 failed: ValueError: x (a defect of jaxlint)"),
        ("note", "by the way"),
    ]
    assert [
        item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for item in notifications
        if "locations" in item
    ] == ["below/%C3%BC%20no.py", "b.py"]


@pytest.mark.slow
def test_sarif_stays_within_the_limits_of_code_scanning() -> None:
    (item,) = report().diagnostics
    minor = msgspec.structs.replace(item, finding=msgspec.structs.replace(item.finding, code="JAX900", level="info"))
    page = "First.\n\n" + "Second. " * 60 + "\n\n" + "Third. " * 100 + "\n\nBad:\n\n```python\nx\n```\n"
    rules = {
        "JAX101": RuleInfo("JAX101", "n" * 300, "error", "s" * 2_000, page),
        "JAX900": RuleInfo("JAX900", "n", "info", "s", "Look:\n\n```python\nx\n```\n"),
    }
    many = RunReport(diagnostics=(minor, *[item] * 24_999, minor), rules=rules)
    run = json.loads(render("sarif", many, View("/")))["runs"][0]  # too many for a check against the schema
    assert [result["ruleId"] for result in run["results"]] == ["JAX101"] * 24_999 + ["JAX900"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1 more findings were left out")
    long, short = run["tool"]["driver"]["rules"]
    assert (len(long["name"]), len(long["shortDescription"]["text"])) == (255, 1024)
    assert long["fullDescription"]["text"] == "First.\n\n" + "Second. " * 60
    assert long["help"] == {"text": page, "markdown": page}
    assert short["fullDescription"]["text"] == "Look:"


def test_line_fingerprints() -> None:
    assert line_fingerprints("") == {1: "c129715d7a2bc9a3:1"}
    assert line_fingerprints("a b\r\nc") == line_fingerprints("ab\n\tc")
    repeated = line_fingerprints("x\n" * 300)
    assert repeated[1].endswith(":1")
    assert repeated[2] == repeated[1].replace(":1", ":2")


def test_markdown_stays_within_a_comment() -> None:
    (item,) = report().diagnostics
    many = RunReport(diagnostics=(item,) * 5_000, texts={PATH: TEXT})
    text = render("markdown", many, View("/work"))
    assert len(text) < 65_536
    assert text.rstrip().endswith("more.")
    assert "`b.py:40` jax.jit stages step" in text


def test_verdicts_are_shown() -> None:
    plain = report()
    verdict = Verdict("confirmed", "TracerBoolConversionError: no *value*", "cpu")
    item = plain.diagnostics[0]
    shown = msgspec.structs.replace(item, finding=msgspec.structs.replace(item.finding, verdict=verdict))
    run = msgspec.structs.replace(plain, diagnostics=(shown,))
    view = View("/work")
    assert "  confirmed [cpu]: TracerBoolConversionError: no *value*\n" in render("full", run, view)
    assert "Run on cpu: **confirmed**: TracerBoolConversionError: no \\*value\\*" in render("markdown", run, view)
    (found,) = json.loads(render("json", run, view))
    assert found["verdict"]["verdict"] == "confirmed"
    (result,) = json.loads(render("sarif", run, view))["runs"][0]["results"]
    assert result["properties"] == {"verdict": "confirmed", "reason": verdict.reason, "target": "cpu"}
