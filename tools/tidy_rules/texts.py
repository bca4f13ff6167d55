"""What may not stand in the text of a file: SQL that thinks for itself, paths of a machine,
unfinished work, words that mean nothing outside."""

import re
from collections.abc import Iterator

from .tree import Finding, Tree

# Function names with their parenthesis, so that prose passes.
SQL_CLOCK = re.compile(
    r"(?<![\w.])(?:NOW|SYSDATE|CURDATE|CURTIME|LOCALTIME|UNIX_TIMESTAMP|GETDATE)\(|"
    r"\b(?:CURRENT_TIMESTAMP|CURRENT_DATE|CURRENT_TIME|LOCALTIMESTAMP)\b|"
    r"\bUTC_(?:TIMESTAMP|DATE|TIME)\b|"
    r"\b(?:datetime|date|time|julianday|unixepoch|strftime)\s*\([^()]*'now'|"
    r"\b(?:datetime|date|time|julianday|unixepoch)\s*\(\s*\)", re.IGNORECASE)
SQL_CHANCE = re.compile(
    r"(?<![\w.])(?:RANDOM|RAND|RANDOMBLOB|UUID|UUID_SHORT|GEN_RANDOM_UUID)\s*\(", re.IGNORECASE)
SQL_WORD = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|VALUES|SET|CREATE|ORDER BY|DEFAULT)\b", re.IGNORECASE)
SQL_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)

# Spelled in parts, so that this file does not break its own rule.
MACHINE_PATH = re.compile(
    r"(?<![\w.\-/~}])/(?:" + "|".join(["home", "root", "work", "Users", "mnt", "media"])
    + r")/")
TEMPORARY = re.compile(r"(?<![\w.\-}])/tm" + r"p(?:/|\b)")
ABSOLUTE = re.compile(
    r"(?<![\w.\-/}:])/(?:bin|boot|dev|etc|lib|lib64|opt|proc|run|sbin|srv|sys|usr|var)"
    r"(?:/[\w.+-]+)+")
ABSOLUTE_ALLOWED = re.compile(
    r"/proc/|/dev/(?:null|urandom|shm)\b|/sys/fs/cgroup\b|/etc/(?:machine-id|hostname)\b")
UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"])
                        + r")\b")


def sql_clock_and_chance(tree: Tree) -> Iterator[Finding]:
    """SQL calls no clock and no random function: times and ids are bound parameters."""
    use = "(use a bound parameter, from the Clock or Entropy seam)"
    for file in tree.files.values():
        if file.suffix == ".sql":
            text = SQL_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), file.text)
            for pattern in (SQL_CLOCK, SQL_CHANCE):
                for match in pattern.finditer(text):
                    yield file.finding(text.count("\n", 0, match.start()) + 1, "sql",
                                       f"{match[0].rstrip('(')} in SQL {use}")
        elif file.is_cpp and file.path.startswith("src/"):
            for literal in file.literals:
                for pattern in (SQL_CLOCK, SQL_CHANCE):
                    match = pattern.search(literal.text)
                    if match and (SQL_WORD.search(literal.text)
                                  or file.path.startswith("src/adapters/sql/")):
                        line = literal.line + literal.text.count("\n", 0, match.start())
                        yield file.finding(line, "sql", f"{match[0].rstrip('(')} in SQL {use}")


def machine_paths(tree: Tree) -> Iterator[Finding]:
    """No path of one machine anywhere; in src only paths that every Linux has."""
    for file in tree.files.values():
        for number, line in enumerate(file.lines, 1):
            if match := MACHINE_PATH.search(line):
                yield file.finding(number, "machine-path", f"'{match[0]}' names one machine "
                                   "(use a relative path, a setting or an argument)")
            product = file.path.startswith(("src/", "sql/", "cmake/"))
            if product and (match := TEMPORARY.search(line)):
                yield file.finding(number, "machine-path", f"'{match[0]}' in product code (use a "
                                   "setting, or a memfd)")
        if file.is_cpp and file.path.startswith("src/"):
            for literal in file.literals:
                for match in ABSOLUTE.finditer(literal.text):
                    if not ABSOLUTE_ALLOWED.match(match[0]):
                        yield file.finding(literal.line, "machine-path", f"'{match[0]}' is fixed "
                                           "in the program (use a setting)")


def unfinished_work(tree: Tree) -> Iterator[Finding]:
    """What is not done is in no file: it is an issue."""
    for file in tree.files.values():
        for number, line in enumerate(file.lines, 1):
            if match := UNFINISHED.search(line):
                yield file.finding(number, "unfinished", f"{match[0]} (use an issue, or finish it)")


SKIP_WITHOUT_REASON = re.compile(r"\bGTEST_SKIP\s*\(\s*\)\s*;")
DISABLED = re.compile(r"\bDISABLED" + r"_\w+")
PYTHON_SKIP = re.compile(r"@unittest\.skip\s*$|\bSkipTest\s*\(\s*\)|\.skipTest\s*\(\s*\)|"
                         r"\bSkipTest\s*$|@unittest\.expectedFailure")
BARE_SILENCER = re.compile(r"\bNOLINT(?:NEXTLINE|BEGIN)?\b(?!\s*\([\w\-.,* ]+\)\s*:?\s*\S)")


def silenced_checks(tree: Tree) -> Iterator[Finding]:
    """A skipped test and a silenced check say why; a disabled test does not exist."""
    for file in tree.cpp():
        for pattern, message in (
            (SKIP_WITHOUT_REASON, "GTEST_SKIP without a reason (use GTEST_SKIP() << \"why\")"),
            (DISABLED, "a disabled test (use a fix, or delete it)"),
        ):
            for match in pattern.finditer(file.code):
                yield file.finding(file.line_of(match.start()), "silenced", message)
        for number, line in enumerate(file.lines, 1):
            if BARE_SILENCER.search(line):
                yield file.finding(number, "silenced", "NOLINT without check and reason "
                                   "(use NOLINT(check-name): why)")
    for file in tree.under("tests", suffixes=(".py",)):
        if file.path.startswith("tests/tools/"):
            continue  # these quote what they forbid
        for number, line in enumerate(file.lines, 1):
            if match := PYTHON_SKIP.search(line):
                yield file.finding(number, "silenced", f"{match[0].strip()} (use a skip with a "
                                   "reason)")


RULES = [sql_clock_and_chance, machine_paths, unfinished_work, silenced_checks]
