"""Taking manual pages apart."""

from __future__ import annotations

from support.pages import ExampleFile, Label, labels_of, parse_page

PAGE = """Something happens.

More about it. ## is not a heading here.

## Why is this bad?

Because.

## Example

In one file.

```python
def demonstrate():
    broken()  # expect: first-rule, second-rule
    raise ValueError  # raises: ValueError
```

```python
# file: main.py
import pkg.helper

# file: pkg/helper.py
x = 1  # expect: first-rule
def demonstrate():
    assert x
```

## Use instead

```python
## a comment, not a heading
x = 3
```

## Fix safety

Safe.
It helps.

## How it is verified

It raises.
"""


def test_summary_and_sections() -> None:
    page = parse_page(PAGE)
    assert page.summary == "Something happens."
    assert page.section("Fix safety") == "Safe.\nIt helps."
    assert page.section("How it is verified") == "It raises."
    assert page.section("Not reported") is None
    assert page.sections[0].text == "More about it. ## is not a heading here."


def test_examples() -> None:
    bad, several, good = parse_page(PAGE).examples
    assert (bad.kind, bad.raises, bad.oracle_file) == ("bad", "ValueError", "example.py")
    assert bad.labels == {Label("example.py", 2, "first-rule"), Label("example.py", 2, "second-rule")}
    assert [file.name for file in several.files] == ["main.py", "pkg/helper.py"]
    assert several.labels == {Label("pkg/helper.py", 1, "first-rule")}
    assert (several.raises, several.oracle_file) == (None, "pkg/helper.py")
    assert good.files == (ExampleFile("example.py", "## a comment, not a heading\nx = 3\n"),)
    assert good.oracle_file is None


def test_indented_fences_are_dedented() -> None:
    page = parse_page("S.\n\n## Use instead\n\n    ```python\n    if x:\n        y\n    ```\n")
    assert page.examples[0].files[0].text == "if x:\n    y\n"


def test_labels_stand_at_the_end_of_their_line() -> None:
    text = "x  # expect: one\ny  # expect: two here\nz = '# expect: three'\n"
    assert labels_of("a.py", text) == [Label("a.py", 1, "one")]


def test_a_page_of_one_line() -> None:
    page = parse_page("Only a summary.")
    assert (page.summary, page.sections, page.examples) == ("Only a summary.", (), ())
