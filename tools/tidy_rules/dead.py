"""Nothing lies about unused: every file is reached from another one, every limit bounds something."""

import re
from collections.abc import Iterator

from .tree import Finding, SourceFile, Tree

# Read by their place, not by their name.
ROOTS = re.compile(r"\.[^/]*|\.ci/run|(?:.*/)?README\.md|ARCHITECTURE\.md|(?:.*/)?CMakeLists\.txt|"
                   r"CMakePresets\.json|dev|cmake/[^/]+|(?:.*/)?__init__\.py|.*_test\.(?:cc|py)|"
                   r"sql/.*\.sql")
# A folder whose files are read by listing it: it is enough that another file names the folder.
LISTED_FOLDERS = ("examples/scripts", "tests/data", "tests/fuzz", "bench")
LIMITS = "src/domain/limits.h"
LIMIT = re.compile(r"^(?:inline )?constexpr [\w:]+(?: [\w:]+)*? (k\w+|\w+(?=\())", re.MULTILINE)


def _reached(tree: Tree, file: SourceFile, words: dict[str, set[str]]) -> bool:
    if file.suffix == ".h":
        own = file.path.removeprefix("src/")
        return any(include.target in (own, file.path, file.name)
                   for other in tree.cpp() if other is not file for include in other.includes)
    names = {file.name}
    if file.suffix == ".py":
        names = {file.stem}
    folder = next((one for one in LISTED_FOLDERS if file.path.startswith(one + "/")), None)
    if folder is not None:
        names |= {part for part in file.path.split("/")[1:-1]}
    return any(path != file.path and names & found for path, found in words.items())


def files_are_used(tree: Tree) -> Iterator[Finding]:
    """A file that no other file includes, imports or names is dead."""
    words = {path: set(re.findall(r"[\w.-]+", file.text)) for path, file in tree.files.items()}
    for found in words.values():
        found.update([part for word in found for part in re.split(r"[.-]", word)]
                     + [word.strip(".") for word in found])
    for file in tree.files.values():
        if ROOTS.fullmatch(file.path) or (file.suffix == ".cc"):  # a source: see registration
            continue
        if not _reached(tree, file, words):
            yield file.finding(1, "dead", "no other file includes, imports or names this one "
                               "(use it, or delete it)")


def limits_bound_something(tree: Tree) -> Iterator[Finding]:
    """A limit that nothing reads bounds nothing."""
    limits = tree.files.get(LIMITS)
    if limits is None:
        return
    for match in LIMIT.finditer(limits.code):
        name = re.compile(rf"\b{match[1]}\b")
        used = any(name.search(file.code) for file in tree.cpp() if file is not limits)
        if not used and len(name.findall(limits.code)) < 2:
            yield limits.finding(limits.line_of(match.start(1)), "dead",
                                 f"nothing reads {match[1]} (use it, or delete it)")


RULES = [files_are_used, limits_bound_something]
