"""Floors and walls: who may include whom, and which room a third-party header belongs to."""

import fnmatch
import re
from collections.abc import Iterator

from .tree import Finding, SourceFile, Tree

FLOORS = {
    "base": 0,
    "domain": 1,
    "seams": 2,
    "services": 3, "adapters": 3, "executor": 3, "sim": 3,
    "app": 4, "fake": 4,
}
SAME_FLOOR_ALLOWED = {("sim", "services")}

# header pattern -> the rooms (globs below src/) it may be included from
THIRD_PARTY = [
    (r"boost/(beast|asio)\b", ["adapters/http_server/*"]),
    (r"boost/optional", ["adapters/http_server/*", "adapters/sql/*"]),  # SOCI's nullable values
    (r"boost/", ["adapters/http_server/*"]),
    (r"curl/", ["adapters/http_transport/*", "adapters/http_client/*", "executor/*api_client*"]),
    (r"(soci/|sqlite3\.h|mysql|mariadb|libpq)", ["adapters/sql/*"]),
    (r"(lua5\.4/|lua\.h|lauxlib\.h|lualib\.h|luaconf\.h)", ["executor/lua_*"]),
    (r"seccomp\.h", ["executor/*"]),
    (r"libmemcached", ["adapters/memcached_gate/*"]),
    (r"sodium", ["adapters/secrets/*"]),
    (r"spdlog/", ["adapters/log/*"]),
    (r"prometheus/", ["adapters/metrics/*"]),
    (r"CLI/", ["app/*", "fake/*"]),
    (r"toml\+\+/|toml\.hpp", ["app/*"]),
    (r"nlohmann/", ["adapters/*", "executor/*", "sim/*", "app/*", "fake/*"]),
    (r"systemd/", ["adapters/system/*"]),
    (r"fmt/", ["*"]),
    (r"(gtest|gmock|rapidcheck)\b", []),  # tests only
]
# The C library and the kernel, where no C++ header carries what is needed.
SYSTEM = re.compile(
    r"(sys|linux|netinet|arpa|net|asm)/[\w/]+\.h|"
    r"(unistd|fcntl|poll|signal|spawn|sched|pthread|netdb|grp|pwd|dirent|termios|syslog|dlfcn|sysexits)"
    r"\.h")
STANDARD = re.compile(r"[a-z0-9_]+")

# room -> (pattern of headers it never includes, why)
ROOM_FORBIDS = {
    "domain": (r"(?!fmt/).*[./].*|thread|mutex|shared_mutex|condition_variable|future|atomic|"
               r"fstream|iostream|random|filesystem|cstdio",
               "domain holds pure decisions over base and std; pass the value in as an argument"),
    "seams": (r".*/.*|thread|iostream|fstream|random",
              "seams are abstract classes; put the doing into an adapter"),
    "services": (r"(sys|linux|netinet|arpa|net)/.*|(unistd|fcntl|poll|signal|pthread|netdb)\.h|"
                 r"thread|condition_variable|future|fstream|iostream|random",
                 "services know no threads, sockets, files or JSON; use a seam"),
}


def room_of(path_below_src: str) -> str:
    """'adapters/sql/store.h' -> 'adapters/sql', 'domain/state.h' -> 'domain'."""
    parts = path_below_src.split("/")
    return "/".join(parts[:2]) if parts[0] == "adapters" and len(parts) > 2 else parts[0]


def _floor(room: str) -> int | None:
    return FLOORS.get(room.split("/")[0])


def include_direction(tree: Tree) -> Iterator[Finding]:
    """Includes go down a floor; siblings on one floor never include each other."""
    for file in tree.cpp("src"):
        own = room_of(file.path.removeprefix("src/"))
        floor = _floor(own)
        if floor is None:
            yield file.finding(1, "floors", f"'{own}' is no room of the house "
                               f"(use one of {', '.join(FLOORS)})")
            continue
        for include in file.includes:
            if not include.quoted:
                continue
            target = room_of(include.target)
            if target == own:
                continue
            target_floor = _floor(target)
            if target_floor is None:
                yield from _outside(tree, file, include.line, include.target)
            elif target_floor > floor:
                yield file.finding(include.line, "floors",
                                   f"{own} (floor {floor}) includes {target} (floor "
                                   f"{target_floor}); includes go down (use a seam)")
            elif target_floor == floor and (own, target) not in SAME_FLOOR_ALLOWED:
                yield file.finding(include.line, "floors",
                                   f"{own} includes its sibling {target} (use a seam, and let app "
                                   "compose them)")


def _outside(tree: Tree, file: SourceFile, line: int, target: str) -> Iterator[Finding]:
    if target.startswith("tests/"):
        yield file.finding(line, "floors", f"src includes {target}; product code never knows tests "
                           "(use a seam)")
    elif target.startswith(".") or f"{file.folder}/{target}" in tree.files:
        yield file.finding(line, "include-path", f'"{target}" is relative to its own folder '
                           "(use the path below src/)")


def third_party_rooms(tree: Tree) -> Iterator[Finding]:
    """A third-party header stays in its room, and is listed here before it is used."""
    for file in tree.cpp("src"):
        below = file.path.removeprefix("src/")
        for include in file.includes:
            rooms = next((rooms for pattern, rooms in THIRD_PARTY
                          if re.match(pattern, include.target)), None)
            if rooms is None:
                if include.quoted or SYSTEM.fullmatch(include.target):
                    continue
                if STANDARD.fullmatch(include.target):
                    continue
                yield file.finding(include.line, "third-party",
                                   f"<{include.target}> has no room (use a listed library, or add "
                                   "its room to tools/tidy_rules/includes.py)")
            elif not any(fnmatch.fnmatch(below, room) for room in rooms):
                where = ", ".join("src/" + room for room in rooms) or "tests"
                yield file.finding(include.line, "third-party",
                                   f"<{include.target}> outside its room (use it in {where})")


def room_walls(tree: Tree) -> Iterator[Finding]:
    """What a whole room may never know, whatever the library."""
    for file in tree.cpp("src"):
        room = room_of(file.path.removeprefix("src/"))
        if room not in ROOM_FORBIDS:
            continue
        pattern, why = ROOM_FORBIDS[room]
        for include in file.includes:
            if not include.quoted and re.fullmatch(pattern, include.target):
                yield file.finding(include.line, "walls", f"<{include.target}> in {room}: {why}")


RULES = [include_direction, third_party_rooms, room_walls]
