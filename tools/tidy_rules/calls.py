"""Calls with one right place: clocks, sleeps, chance, the environment, shells, bare memory."""

import dataclasses
import re
from collections.abc import Iterator

from .tree import Finding, Tree

SYSTEM_ROOM = "src/adapters/system/"
STEPPED_TESTS = ("tests/unit/", "tests/property/", "tests/contract/", "tests/simulation/")


@dataclasses.dataclass(frozen=True)
class Banned:
    rule: str
    pattern: str              # over code without comments and literals
    use: str                  # the replacement
    where: tuple[str, ...]    # path prefixes it holds in
    but: tuple[str, ...] = () # path prefixes it does not hold in


def call(names: str) -> str:
    """A call of the C library's or std's function, not of a member or another namespace's."""
    return rf"(?<![\w.>])(?:std::|(?<!:)::|(?<![\w:]))(?:{names})\s*\("



BANNED = [
    Banned("clock", r"\b(?:system|steady|high_resolution|utc|file|tai|gps)_clock\s*::\s*now\b",
           "the Clock seam; now is an argument", ("src/",), (SYSTEM_ROOM,)),
    Banned("clock", call("gettimeofday|clock_gettime|ftime|timespec_get")
           + r"|(?<![\w.>])(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&)|\bstd::clock\s*\(",
           "the Clock seam; now is an argument", ("src/",), (SYSTEM_ROOM,)),
    Banned("clock", call("localtime|localtime_r|mktime|strftime"),
           "base/time.h; everything is UTC", ("src/",)),
    Banned("sleep", r"\bsleep_(?:for|until)\b|" + call("sleep|usleep|nanosleep|clock_nanosleep"),
           "a poll with a time-out, or the pause of adapters/system passed in by app", ("src/",),
           (SYSTEM_ROOM,)),
    Banned("sleep", r"\bsleep_(?:for|until)\b|" + call("sleep|usleep|nanosleep|clock_nanosleep"),
           "a fake Clock, or wait on a condition with a limit", STEPPED_TESTS),
    Banned("chance", r"\brandom_device\b|" + call("rand|srand|random|srandom|drand48|rand_r|"
                                                  "getrandom|getentropy|arc4random"),
           "the Entropy seam; in tests an engine with a stated seed", ("src/", "tests/", "bench/"),
           (SYSTEM_ROOM,)),
    Banned("chance",
           r"\b(?:mt19937(?:_64)?|minstd_rand0?|default_random_engine|ranlux\w+|knuth_b)\b",
           "the Entropy seam; a seeded engine belongs to sim, fake or tests", ("src/",),
           (SYSTEM_ROOM, "src/sim/", "src/fake/")),
    Banned("environment", call("getenv|secure_getenv|setenv|putenv|unsetenv"),
           "a setting passed down by app", ("src/",), ("src/app/",)),
    Banned("shell", call("system|popen|wordexp"), "fork and exec of a named program",
           ("src/", "tests/", "bench/")),
    Banned("memory", r"(?<!operator )\bnew\s+(?:\(|::|[A-Za-z_])",
           "std::make_unique or a container", ("src/", "tests/", "bench/")),
    Banned("memory", r"(?<!operator )\bdelete\b\s*(?:\[\s*\])?\s*[\w(*:]",
           "std::unique_ptr or a container", ("src/", "tests/", "bench/")),
    Banned("memory", call("malloc|calloc|realloc|strdup|strndup"), "a container or std::string",
           ("src/",), ("src/executor/lua_",)),  # Lua's allocator is a realloc by its contract
    Banned("text", call("sprintf|vsprintf|strcpy|strcat|gets|strtok|atoi|atol|atof"),
           "fmt::format, std::string or std::from_chars", ("src/", "tests/", "bench/")),
    Banned("locale", call("setlocale") + r"|\bstd::locale\b", "base/text.h; no locale anywhere",
           ("src/",)),
    Banned("process", call("vfork|exit|quick_exit"),
           "a return from main; _exit in a forked child", ("src/",)),
    Banned("thread", r"\bdetach\s*\(\s*\)", "a thread that its owner joins", ("src/", "tests/")),
    Banned("lock", r"\b(?:std::)?(?:recursive_mutex|recursive_timed_mutex)\b",
           "one lock taken in one place", ("src/",)),
    Banned("assert", r"(?<![\w])assert\s*\(", "ensure(), which stays on in release builds",
           ("src/",)),
]


DECLARES = re.compile(r"(?:(\w+)|>|(?<!&)&|\*)\s+$")
KEYWORDS = {"return", "else", "do", "case", "throw", "co_return", "co_await", "co_yield"}


def _is_declaration(code: str, at: int) -> bool:
    """Whether a type stands before the name at `at`: `UtcTime sleep(` declares one of our own."""
    before = DECLARES.search(code, code.rfind("\n", 0, at) + 1, at)
    return before is not None and before[1] not in KEYWORDS


def banned_calls(tree: Tree) -> Iterator[Finding]:
    """A banned call names its replacement."""
    for banned in BANNED:
        pattern = re.compile(banned.pattern)
        for file in tree.cpp():
            if not file.path.startswith(banned.where) or file.path.startswith(banned.but):
                continue
            for match in pattern.finditer(file.code):
                line = file.line_of(match.start())
                if file.lines[line - 1].lstrip().startswith("#"):
                    continue  # the preprocessor: #include <new>
                if match[0].endswith("(") and _is_declaration(file.code, match.start()):
                    continue
                what = " ".join(match[0].split()).rstrip("(").strip()
                yield file.finding(line, banned.rule, f"{what} (use {banned.use})")


RULES = [banned_calls]
