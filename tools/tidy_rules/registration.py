"""Every source is built and every test is run: nothing lies about unlisted."""

import re
from collections.abc import Iterator

from .tree import Finding, SourceFile, Tree

PYTHON_TEST_FOLDERS = ("tests/integration/", "tests/crash/", "tests/tools/")
MIGRATION = re.compile(r"sql/[a-z0-9_]+/\d{4}_[a-z0-9_]+\.sql")


def _listed(tree: Tree, file: SourceFile) -> bool:
    """Whether some CMakeLists.txt at or above the file's folder names it."""
    folder = file.folder
    while True:
        lists = tree.files.get(f"{folder}/CMakeLists.txt" if folder else "CMakeLists.txt")
        relative = file.path.removeprefix(folder + "/") if folder else file.path
        if lists is not None:
            text = re.sub(r"#[^\n]*", "", lists.text)
            if re.search(rf"(?<![\w./-]){re.escape(relative)}(?![\w./-])", text):
                return True
        if not folder:
            return False
        folder = folder.rpartition("/")[0]


def sources_are_built(tree: Tree) -> Iterator[Finding]:
    """Every .cc of src, tests and bench is in a CMakeLists.txt."""
    for file in tree.cpp():
        if file.suffix == ".cc" and not _listed(tree, file):
            what = "test" if file.path.endswith("_test.cc") else "source"
            yield file.finding(1, "unregistered", f"this {what} is in no CMakeLists.txt (use "
                               f"{'coderunner_test' if what == 'test' else 'coderunner_folder'}"
                               f" in the one of its folder)")


def python_tests_are_found(tree: Tree) -> Iterator[Finding]:
    """Every Python test is named and placed so that tests/run discovers it."""
    for file in tree.under("tests", suffixes=(".py",)):
        is_test = re.search(r"^class \w+\(.*(?:TestCase|Case)\)", file.text, re.MULTILINE) and \
            re.search(r"^    def test_", file.text, re.MULTILINE)
        if file.path.endswith("_test.py"):
            if not file.path.startswith(PYTHON_TEST_FOLDERS):
                yield file.finding(1, "unregistered", "no suite discovers this folder (use "
                                   f"{' or '.join(PYTHON_TEST_FOLDERS)})")
        elif is_test or file.name.startswith("test_"):
            yield file.finding(1, "unregistered", "no suite discovers this name (use NAME_test.py)")


def migrations_are_numbered(tree: Tree) -> Iterator[Finding]:
    """SQL lives in sql/DIALECT/NNNN_name.sql, one number once."""
    seen: dict[str, str] = {}
    for file in tree.files.values():
        if file.suffix != ".sql" or not file.path.startswith(("sql/", "src/")):
            continue
        if not MIGRATION.fullmatch(file.path):
            yield file.finding(1, "migration", "not of the form sql/DIALECT/NNNN_name.sql")
            continue
        number = file.path[:file.path.index("_", file.path.rindex("/"))]
        if number in seen:
            yield file.finding(1, "migration", f"same number as {seen[number]} (use the next one)")
        seen[number] = file.path


RULES = [sources_are_built, python_tests_are_found, migrations_are_numbered]
