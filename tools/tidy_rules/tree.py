"""The tree as the rules see it: which files there are, and C++ text without its comments."""

import dataclasses
import functools
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator

SKIPPED_FOLDERS = {".git", "build", "var", "__pycache__", "node_modules"}
CPP_SUFFIXES = (".h", ".cc")
INPUTS = "tests/fuzz/corpus/"  # bytes as a stranger may send them
TEXT_SUFFIXES = (
    *CPP_SUFFIXES, ".py", ".sh", ".sql", ".lua", ".cmake", ".txt", ".md", ".json", ".toml",
    ".csv", ".yml", ".yaml", ".html", ".css", ".js", ".php", ".service", ".conf", ".in", ".supp", "",
)

# Comments, then literals; a quote after a digit is a digit separator (1'000).
TOKENS = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      |(?P<raw>R"(?P<mark>[^()\s\\]{0,16})\((?P<rawtext>.*?)\)(?P=mark)")
      |(?P<string>"(?P<text>(?:\\.|[^"\\\n])*)")
      |(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    quoted: bool
    target: str


@dataclasses.dataclass(frozen=True)
class Literal:
    line: int
    text: str


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class SourceFile:
    def __init__(self, path: str, text: str):
        self.path = path
        self.text = text

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def folder(self) -> str:
        return self.path.rsplit("/", 1)[0] if "/" in self.path else ""

    @property
    def stem(self) -> str:
        return self.name.split(".", 1)[0]

    @property
    def suffix(self) -> str:
        return "." + self.name.rsplit(".", 1)[1] if "." in self.name[1:] else ""

    @property
    def is_cpp(self) -> bool:
        return self.suffix in CPP_SUFFIXES

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    @functools.cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @functools.cached_property
    def without_comments(self) -> str:
        """Same length, same lines; only C++ comments are blanked."""
        return TOKENS.sub(
            lambda match: _blank(match[0]) if match["comment"] else match[0], self.text)

    @functools.cached_property
    def code(self) -> str:
        """Same length, same lines; comments and the insides of literals are blanked."""
        return TOKENS.sub(
            lambda match: _blank(match[0]) if match["comment"]
            else match[0][0] + _blank(match[0][1:-1]) + match[0][-1], self.text)

    @functools.cached_property
    def literals(self) -> list[Literal]:
        found = []
        for match in TOKENS.finditer(self.text):
            inside = match["rawtext"] if match["raw"] else match["text"]
            if inside is not None:
                found.append(Literal(self.line_of(match.start()), inside))
        return found

    @functools.cached_property
    def includes(self) -> list[Include]:
        return [Include(self.line_of(match.start(1)), match[1] == '"', match[2])
                for match in INCLUDE.finditer(self.without_comments)]

    def finding(self, line: int, rule: str, message: str) -> Finding:
        return Finding(self.path, line, rule, message)


class Tree:
    def __init__(self, root: pathlib.Path, files: dict[str, SourceFile]):
        self.root = root
        self.files = files

    @classmethod
    def read(cls, root: pathlib.Path) -> "Tree":
        files = {}
        for path in _paths(root):
            full = root / path
            if path.startswith(INPUTS) or not full.is_file() or \
                    pathlib.PurePosixPath(path).suffix not in TEXT_SUFFIXES:
                continue
            try:
                files[path] = SourceFile(path, full.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                continue  # not text: no rule reads it
            except FileNotFoundError:
                continue  # removed while the list was being read
        return cls(root, files)

    def under(self, *folders: str, suffixes: tuple[str, ...] = ()) -> Iterator[SourceFile]:
        for path, file in self.files.items():
            if any(path.startswith(folder + "/") for folder in folders):
                if not suffixes or path.endswith(suffixes):
                    yield file

    def cpp(self, *folders: str) -> Iterator[SourceFile]:
        return self.under(*(folders or ("src", "tests", "bench")), suffixes=CPP_SUFFIXES)


def _paths(root: pathlib.Path) -> list[str]:
    """What git tracks or would track; where there is no git, everything not built."""
    if (root / ".git").exists():
        try:
            listed = subprocess.run(
                ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                 "--exclude-standard"], capture_output=True, check=True)
            return sorted(set(filter(None, listed.stdout.decode().split("\0"))))
        except (OSError, subprocess.CalledProcessError):
            pass  # no git, or a tree it refuses to read: walk it
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        paths += [(pathlib.Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(paths)
