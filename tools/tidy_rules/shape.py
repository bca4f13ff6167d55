"""How a file is built: its opening, its first include, its length, its name."""

import ast
import re
from collections.abc import Iterator

from .tree import Finding, SourceFile, Tree

MAX_COLUMNS = 100          # of C++
MAX_OTHER_COLUMNS = 120
MAX_FILE_LINES = 600       # a review starts to ask at 400
MAX_FUNCTION_LINES = 80    # and at 50
MAX_STORY_LINES = 6
CODE_SUFFIXES = (".h", ".cc", ".py", ".cmake", ".lua", ".sql", ".sh", ".txt", "")
EMPTY_WORDS = ("manager", "helper", "helpers", "util", "utils", "common", "data", "info")
EMPTY_TYPE = re.compile(
    r"\b(?:class|struct|using)\s+(\w*(?:Manager|Helpers?|Utils?|Common|Data|Info))\b"
    r"(?=\s*(?:final\b|[:{;=]))")


def header_opens_with_its_story(tree: Tree) -> Iterator[Finding]:
    """A header opens with at most six comment lines, then #pragma once."""
    for file in tree.cpp():
        if file.suffix != ".h":
            continue
        story = 0
        while story < len(file.lines) and file.lines[story].startswith("//"):
            story += 1
        following = next((line for line in file.lines[story:] if line.strip()), "")
        if following.strip() != "#pragma once":
            yield file.finding(story + 1, "pragma-once", "#pragma once is not the first thing "
                               "after the opening comment")
        if story == 0:
            yield file.finding(1, "story", "no opening comment (use at most six lines: what it is, "
                               "who calls it, what it must never do)")
        elif story > MAX_STORY_LINES:
            yield file.finding(1, "story", f"the opening comment has {story} lines (use at most "
                               f"{MAX_STORY_LINES}; more belongs into docs/)")


def own_header_first(tree: Tree) -> Iterator[Finding]:
    """A source includes its own header first, so that the header stands by itself."""
    for file in tree.cpp("src"):
        own = file.path.removeprefix("src/").removesuffix(".cc") + ".h"
        if file.suffix != ".cc" or f"src/{own}" not in tree.files:
            continue
        if not file.includes or file.includes[0].target != own:
            line = file.includes[0].line if file.includes else 1
            yield file.finding(line, "own-header", f'the first include is not its own header (use '
                               f'"{own}" first)')


def line_length(tree: Tree) -> Iterator[Finding]:
    """Lines of C++ end at 100 columns, those of everything else at 120."""
    for file in tree.files.values():
        if file.suffix not in CODE_SUFFIXES or file.path.startswith("tests/data/"):
            continue
        most = MAX_COLUMNS if file.is_cpp else MAX_OTHER_COLUMNS
        for number, line in enumerate(file.lines, 1):
            if len(line) > most and "https://" not in line:
                yield file.finding(number, "columns", f"{len(line)} columns (use at most {most})")


def white_space(tree: Tree) -> Iterator[Finding]:
    """No tabs, no carriage returns, no blanks at line ends, one newline at the end."""
    for file in tree.files.values():
        if file.path.startswith("tests/data/") or not file.text:
            continue
        for number, line in enumerate(file.lines, 1):
            if line != line.rstrip():
                yield file.finding(number, "white-space", "blanks at the end of the line")
            elif "\t" in line and file.suffix in CODE_SUFFIXES:
                yield file.finding(number, "white-space", "a tab (use blanks, or \\t)")
        if not file.text.endswith("\n"):
            yield file.finding(len(file.lines), "white-space", "no newline at the end of the file")


def file_length(tree: Tree) -> Iterator[Finding]:
    """A file over 600 lines is two files."""
    for file in tree.files.values():
        count = len(file.lines) - 1
        if file.suffix in (".h", ".cc", ".py", ".lua", ".js", "") and count > MAX_FILE_LINES:
            yield file.finding(1, "file-length", f"{count} lines (use a second file)")


def function_length(tree: Tree) -> Iterator[Finding]:
    """A function over 80 lines is two functions."""
    for file in tree.cpp():
        for line, length in cpp_functions(file):
            if length > MAX_FUNCTION_LINES:
                yield file.finding(line, "function-length",
                                   f"{length} lines (use a second function)")
    for file in tree.files.values():
        if not (file.suffix == ".py" or file.text.startswith("#!/usr/bin/env python3")):
            continue
        try:
            module = ast.parse(file.text)
        except SyntaxError as error:
            yield file.finding(error.lineno or 1, "python", f"does not parse: {error.msg}")
            continue
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    yield file.finding(node.lineno, "function-length",
                                       f"{length} lines (use a second function)")


CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b(?!.*\))", re.DOTALL)


def cpp_functions(file: SourceFile) -> Iterator[tuple[int, int]]:
    """(first line, number of lines) of each function body's head to its closing brace.

    A heuristic over braces: outside of every function, a block whose head holds a parenthesis is a
    function; the braces of an initializer list do not end a head.
    """
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda match: re.sub(r"[^\n]", " ", match[0]),
                  file.code, flags=re.MULTILINE)
    head = 0
    stack: list[int | None] = []  # of open blocks: the head's start of a function, None otherwise
    inside = 0                    # of how many functions
    for match in re.finditer(r"[{};]", code):
        at, brace = match.start(), match[0]
        if brace == ";":
            if not inside:
                head = at + 1
        elif brace == "{":
            text = code[head:at]
            function = not inside and ")" in text and not CONTAINER.search(text)
            stack.append(head if function else None)
            inside += function
            if not inside:
                head = at + 1
        elif stack:
            start = stack.pop()
            if start is not None:
                inside -= 1
                following = code[at + 1:].lstrip()[:1]
                if following in ("{", ",", ")"):
                    head = start  # an initializer's braces: the body is yet to come
                    continue
                first = start + len(code[start:at]) - len(code[start:at].lstrip())
                yield file.line_of(first), code.count("\n", first, at) + 1
            if not inside:
                head = at + 1


def empty_names(tree: Tree) -> Iterator[Finding]:
    """A name says what a thing is; manager, helper, util, common, data and info do not."""
    for file in tree.files.values():
        if file.suffix not in (".h", ".cc", ".py", ".lua", ".sh", ".cmake"):
            continue
        word = file.stem.removesuffix("_test").rsplit("_", 1)[-1]
        if word in EMPTY_WORDS:
            yield file.finding(1, "empty-name", f"'{file.name}' (use a word of the glossary)")
    for file in tree.cpp():
        for match in EMPTY_TYPE.finditer(file.code):
            yield file.finding(file.line_of(match.start(1)), "empty-name",
                               f"'{match[1]}' (use a word of the glossary)")


RULES = [header_opens_with_its_story, own_header_first, line_length, white_space, file_length,
         function_length, empty_names]
