"""tools/clang_tidy on a tiny tree: red on a bad name, and never clean because it was clean before."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path in (".clang-tidy", "tools/clang_tidy"):
            (self.root / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        self.write("src/base/x.h", "#pragma once\nint twice(int number);\n")
        self.write("src/base/x.cc",
                   '#include "base/x.h"\nint twice(int number) { return 2 * number; }\n')
        source = str(self.root / "src/base/x.cc")
        self.write("build/compile_commands.json", json.dumps([{
            "directory": str(self.root), "file": source,
            "command": f"g++ -std=c++20 -I{self.root}/src -c {source}"}]))

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def check(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, self.root / "tools/clang_tidy", "--build",
                               self.root / "build", *options], capture_output=True, text=True,
                              timeout=100, check=False)

    def test_a_clean_source_is_clean_twice(self):
        self.assertEqual(0, self.check("--all").returncode)
        self.assertEqual(0, self.check("--all").returncode)

    def test_a_bad_name_is_red_and_stays_red(self):
        self.write("src/base/x.cc", "int TwiceAsMuch(int number) { return 2 * number; }\n")
        for _ in range(2):
            ended = self.check("--all")
            self.assertEqual(1, ended.returncode)
            self.assertRegex(ended.stdout, r"^src/base/x\.cc:1:5: error: .*TwiceAsMuch")

    def test_a_header_that_turns_bad_makes_its_clean_source_red(self):
        self.assertEqual(0, self.check("--all").returncode)
        self.write("src/base/x.h", "#pragma once\nint twice(int number);\nextern int number_;\n"
                   "struct Base { virtual int f(); ~Base(); };\n")
        self.assertEqual(1, self.check("--all").returncode)

    def test_a_tree_that_is_not_configured_is_no_success(self):
        (self.root / "build/compile_commands.json").unlink()
        self.assertEqual(1, self.check("--all").returncode)

    def test_only_what_changed_is_looked_at(self):
        git = ["git", "-C", str(self.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for command in (["init", "--quiet"], ["add", "src"], ["commit", "--quiet", "-m", "x"]):
            subprocess.run([*git, *command], check=True, timeout=30)
        self.assertIn("0 files", self.check().stderr)
        self.write("src/base/x.h", "#pragma once\nint twice(int count);\n")
        self.assertIn("1 files", self.check().stderr)


if __name__ == "__main__":
    unittest.main()
