"""A small file system of its own, to be filled up or made read-only under a running daemon."""

import contextlib
import os
import pathlib
import subprocess
import unittest

CHUNK = 64 * 1024


class SmallDisk:
    """A tmpfs at `folder`; where mounting is not permitted the test is skipped, and says so."""

    def __init__(self, folder: pathlib.Path, mebibytes: int):
        self.folder = folder
        self._ballast = folder / "ballast"
        folder.mkdir(parents=True)
        self._mount("-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs")

    def _mount(self, *arguments: str) -> None:
        mounted = subprocess.run(["mount", *arguments, str(self.folder)], capture_output=True,
                                 text=True, timeout=30, check=False)
        if mounted.returncode != 0:
            raise unittest.SkipTest(f"mount is not permitted here: {mounted.stderr.strip()}")

    def free_bytes(self) -> int:
        figures = os.statvfs(self.folder)
        return figures.f_bavail * figures.f_frsize

    def fill(self, leave: int = 0) -> None:
        """Until nothing but about `leave` bytes is free."""
        with open(self._ballast, "ab", buffering=0) as file:
            with contextlib.suppress(OSError):
                while (room := self.free_bytes() - leave) > 0:
                    file.write(bytes(min(room, CHUNK)))

    def give_back(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def make_read_only(self) -> None:
        self._mount("-o", "remount,ro")

    def make_writable(self) -> None:
        self._mount("-o", "remount,rw")

    def unmount(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, timeout=30,
                       check=False)
