"""Every place where a death changes what is stored has a name, a row in the table and a test."""

import re
from collections.abc import Iterator

from .tree import Finding, Tree

TABLE = "docs/crash-safety.md"
# A name may be broken from its words by a line's end, never in itself.
NAMED = re.compile(r"\bCrash\s+(?://\s*)?window\s+(?://\s*)?([a-z]+(?:-[a-z]+)+)\b")
ROW = re.compile(r"^\| `([a-z]+(?:-[a-z]+)+)` \|(.*)\|\s*$", re.MULTILINE)
TEST_NAME = re.compile(r"`([A-Z]\w+)\.(\w+)`")


def _tests(tree: Tree) -> set[str]:
    """All test names of the tree: `Suite.Name` of gtest, `Class.test_name` of Python."""
    names: set[str] = set()
    for file in tree.under("tests", suffixes=(".cc", ".py")):
        if file.suffix == ".cc":
            names |= {f"{suite}.{name}" for suite, name in
                      re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", file.text, re.MULTILINE)}
            continue
        owner = ""
        for kind, name in re.findall(r"^(class |    def )(\w+)", file.text, re.MULTILINE):
            if kind == "class ":
                owner = name
            elif name.startswith("test_"):
                names.add(f"{owner}.{name}")
    return names


def crash_windows_are_told(tree: Tree) -> Iterator[Finding]:
    """A crash window of the code is a row of docs/crash-safety.md, and that row names its tests."""
    table = tree.files.get(TABLE)
    rows = {match[1]: match for match in ROW.finditer(table.text)} if table else {}
    named: set[str] = set()
    for file in tree.cpp("src"):
        for match in NAMED.finditer(file.text):
            named.add(match[1])
            if match[1] not in rows:
                yield file.finding(file.line_of(match.start()), "crash-window",
                                   f"{match[1]} has no row (use one in {TABLE})")
    if table is None:
        return
    known = _tests(tree)
    for name, row in rows.items():
        line = table.line_of(row.start())
        if name not in named:
            yield table.finding(line, "crash-window", f"no code opens {name} (use `Crash window "
                                f"{name}` where it opens, or delete the row)")
        if not TEST_NAME.search(row[2]):
            yield table.finding(line, "crash-window", f"{name} names no test (use `Suite.name`)")
    for match in TEST_NAME.finditer(table.text):
        if f"{match[1]}.{match[2]}" not in known:
            yield table.finding(table.line_of(match.start()), "crash-window",
                                f"there is no test {match[1]}.{match[2]} (use one of tests/)")


RULES = [crash_windows_are_told]
