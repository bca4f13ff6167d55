"""tools/tidy: each rule is broken once by a tiny tree, and left alone by one that keeps it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from tidy_rules import RULES, Tree, findings
from tidy_rules.shape import cpp_functions
from tidy_rules.tree import SourceFile

HEADER = "// What it is.\n#pragma once\n"
WORK = "TO" + "DO"  # spelled in parts: this file is checked too
HOME = "/" + "home" + "/someone"
TEMPORARY = "/tm" + "p/x"


def found_in(files: dict[str, str], dead: bool = False) -> list[str]:
    """`path:line: rule` of each finding in a tree that holds exactly these files.

    In a tree of one file that file is dead: only the tests of that rule want to hear it.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return [f"{one.path}:{one.line}: {one.rule}" for one in findings(Tree.read(root))
                if dead or one.rule != "dead"]


class TidyCase(unittest.TestCase):
    def assert_red(self, expected: str, files: dict[str, str]) -> None:
        """`expected` ("path:line: rule") is found, and nothing else."""
        self.assertEqual([expected], found_in(files))

    def assert_green(self, files: dict[str, str]) -> None:
        self.assertEqual([], found_in(files))

    def code(self, room: str, body: str) -> dict[str, str]:
        """A source below src/ (or tests/) with its CMakeLists.txt."""
        base = room if room.startswith("tests/") else f"src/{room}"
        name = "x_test.cc" if room.startswith("tests/") else "x.cc"
        return {f"{base}/{name}": body, f"{base}/CMakeLists.txt": f"something({name})\n"}


class Floors(TidyCase):
    def test_an_include_up_a_floor_is_red(self):
        self.assert_red("src/domain/x.cc:1: floors",
                        self.code("domain", '#include "seams/clock.h"\n'))
        self.assert_red("src/services/x.cc:1: floors",
                        self.code("services", '#include "app/config.h"\n'))

    def test_an_include_down_a_floor_is_green(self):
        self.assert_green(self.code("seams", '#include "domain/state.h"\n#include "base/ids.h"\n'))
        self.assert_green(self.code("app", '#include "executor/master.h"\n'))

    def test_siblings_never_include_each_other(self):
        for own, other in (("services", "executor"), ("executor", "adapters/sql"), ("app", "fake"),
                           ("adapters/sql", "adapters/log"), ("adapters/sql", "services")):
            self.assert_red(f"src/{own}/x.cc:1: floors",
                            self.code(own, f'#include "{other}/y.h"\n'))

    def test_a_room_includes_itself_and_sim_includes_services(self):
        self.assert_green(self.code("adapters/sql", '#include "adapters/sql/session.h"\n'))
        self.assert_green(self.code("sim", '#include "services/drainer.h"\n'))

    def test_a_folder_that_is_no_room_is_red(self):
        self.assert_red("src/stuff/x.cc:1: floors", self.code("stuff", "int x;\n"))

    def test_product_code_never_includes_tests(self):
        self.assert_red("src/app/x.cc:1: floors",
                        self.code("app", '#include "tests/support/fake_clock.h"\n'))

    def test_an_include_relative_to_its_folder_is_red(self):
        self.assert_red("src/base/x.cc:1: include-path",
                        self.code("base", '#include "y.h"\n') | {"src/base/y.h": HEADER})

    def test_an_include_in_a_comment_is_none(self):
        self.assert_green(self.code("base", '// #include "app/config.h"\n'))


class ThirdParty(TidyCase):
    ROOMS = {
        "boost/beast.hpp": ("adapters/http_server", "app"),
        "boost/asio.hpp": ("adapters/http_server", "fake"),
        "curl/curl.h": ("adapters/http_transport", "app"),
        "soci/soci.h": ("adapters/sql", "services"),
        "sqlite3.h": ("adapters/sql", "sim"),
        "seccomp.h": ("executor", "app"),
        "libmemcached/memcached.h": ("adapters/memcached_gate", "adapters/sql"),
        "sodium.h": ("adapters/secrets", "executor"),
        "spdlog/spdlog.h": ("adapters/log", "app"),
        "prometheus/registry.h": ("adapters/metrics", "services"),
        "CLI/CLI.hpp": ("app", "executor"),
        "toml++/toml.h": ("app", "fake"),
        "nlohmann/json.hpp": ("app", "base"),
        "systemd/sd-daemon.h": ("adapters/system", "app"),
    }

    def test_a_header_in_its_room_is_green_and_elsewhere_red(self):
        for header, (room, other) in self.ROOMS.items():
            with self.subTest(header):
                self.assert_green(self.code(room, f"#include <{header}>\n"))
                self.assertIn(f"src/{other}/x.cc:1: third-party",
                              found_in(self.code(other, f"#include <{header}>\n")))

    def test_a_room_may_be_a_few_files_of_a_folder(self):
        lua = "#include <lua.hpp>\n"
        lists = {"src/executor/CMakeLists.txt": "something(lua_host.cc worker.cc)\n"}
        self.assert_green({"src/executor/lua_host.cc": lua} | lists)
        self.assert_red("src/executor/worker.cc:1: third-party",
                        {"src/executor/worker.cc": lua} | lists)

    def test_a_test_framework_is_for_tests_only(self):
        self.assert_red("src/app/x.cc:1: third-party",
                        self.code("app", "#include <gtest/gtest.h>\n"))
        self.assert_green(self.code("tests/unit", "#include <gtest/gtest.h>\n"))

    def test_a_library_without_a_room_is_red(self):
        self.assert_red("src/app/x.cc:1: third-party",
                        self.code("app", "#include <openssl/evp.h>\n"))

    def test_the_standard_library_and_the_kernel_have_no_room(self):
        self.assert_green(self.code("executor", "#include <poll.h>\n#include <vector>\n"
                                                "#include <sys/wait.h>\n"))


class Walls(TidyCase):
    def test_domain_includes_only_base_and_std(self):
        for header in ("unistd.h", "thread", "mutex", "iostream"):
            self.assert_red("src/domain/x.cc:1: walls",
                            self.code("domain", f"#include <{header}>\n"))
        self.assert_green(self.code("domain", "#include <map>\n#include <fmt/format.h>\n"))

    def test_services_know_no_threads_sockets_or_files(self):
        for header in ("thread", "sys/socket.h", "poll.h", "fstream"):
            self.assert_red("src/services/x.cc:1: walls",
                            self.code("services", f"#include <{header}>\n"))
        self.assert_green(self.code("services", "#include <mutex>\n"))


class BannedCalls(TidyCase):
    RED = {
        "clock": ["auto t = std::chrono::steady_clock::now();", "auto t = time(nullptr);",
                  "auto t = std::time(nullptr);", "clock_gettime(CLOCK_REALTIME, &t);",
                  "gettimeofday(&t, nullptr);", "auto t = ::time(nullptr);",
                  "return time(nullptr);"],
        "sleep": ["std::this_thread::sleep_for(1s);", "usleep(5);", "nanosleep(&t, nullptr);",
                  "std::this_thread::sleep_until(t);", "sleep(1);", "else sleep(1);"],
        "chance": ["std::random_device device;", "int r = rand();", "std::mt19937 engine{7};"],
        "environment": ['auto v = std::getenv("HOME");', 'auto v = getenv("HOME");'],
        "shell": ['system("ls");', 'auto f = popen("ls", "r");'],
        "memory": ["auto* x = new Thing;", "auto* x = new int[3];", "delete x;", "delete[] x;",
                   "void* x = malloc(3);"],
        "text": ["sprintf(buffer, \"%d\", 3);", "int n = atoi(text);"],
        "process": ["std::exit(1);", "exit(1);"],
        "thread": ["worker.detach();"],
        "lock": ["std::recursive_mutex mutex;"],
        "assert": ["assert(x > 0);"],
        "locale": ['setlocale(LC_ALL, "");'],
    }
    GREEN = [
        "auto t = clock.mono_now();", "row.time(3);", "queue->sleep(3);", "Timer::sleep(3);",
        "// steady_clock::now() is banned", 'auto t = "time(nullptr)";', "T(const T&) = delete;",
        "void operator delete(void*) noexcept;", "int new_rows = 3;",
        "auto s = run_time(3);",
        'auto t = time("api.timeout", 3);', "UtcTime time(const Row& row);", "Entropy& random();",
        "static_assert(sizeof(int) == 4);", "_exit(1);", "ecosystem(3);", "random_hex(entropy);",
        "Store(Store&&) =delete;", "#include <new>", "snprintf(b, 3, \"x\");",
    ]

    def test_each_banned_call_is_red(self):
        for rule, calls in self.RED.items():
            for one in calls:
                with self.subTest(one):
                    self.assert_red(f"src/executor/x.cc:2: {rule}",
                                    self.code("executor", f"#include <map>\n{one}\n"))

    def test_what_only_looks_like_one_is_green(self):
        for one in self.GREEN:
            with self.subTest(one):
                self.assert_green(self.code("executor", one + "\n"))

    def test_the_system_adapter_may_ask_clocks_sleep_and_draw(self):
        self.assert_green(self.code("adapters/system", "auto t = steady_clock::now();\n"
                                    "nanosleep(&t, nullptr);\ngetrandom(b, 3, 0);\n"))

    def test_app_reads_the_environment(self):
        self.assert_green(self.code("app", 'auto v = std::getenv("HOME");\n'))

    def test_sim_and_fake_may_hold_a_seeded_engine(self):
        self.assert_green(self.code("fake", "std::mt19937_64 engine{seed};\n"))

    def test_unit_tests_never_sleep_and_integration_tests_may(self):
        sleep = "std::this_thread::sleep_for(1s);\n"
        self.assert_red("tests/unit/x_test.cc:1: sleep", self.code("tests/unit", sleep))
        self.assert_green(self.code("tests/integration", sleep))

    def test_tests_may_use_a_seeded_engine_but_no_random_device(self):
        self.assert_green(self.code("tests/unit", "std::mt19937 engine{7};\n"))
        self.assert_red("tests/unit/x_test.cc:1: chance",
                        self.code("tests/unit", "std::random_device device;\n"))

    def test_a_finding_names_the_replacement(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in self.code("app", "usleep(3);\n").items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            ended = subprocess.run([ROOT / "tools/tidy", "--root", root], capture_output=True,
                                   text=True, timeout=30, check=False)
        self.assertEqual(1, ended.returncode)
        self.assertRegex(ended.stdout, r"^src/app/x.cc:1: sleep: usleep \(use a poll .*\)\n$")


class Sql(TidyCase):
    def test_a_clock_or_chance_in_a_migration_is_red(self):
        for call in ("NOW()", "CURRENT_TIMESTAMP", "utc_timestamp(3)", "datetime('now')",
                     "strftime('%s','now')", "RANDOM()", "randomblob(16)", "UUID()",
                     "unix_timestamp()", "julianday()"):
            with self.subTest(call):
                self.assert_red("sql/sqlite/0001_initial.sql:2: sql", {
                    "sql/sqlite/0001_initial.sql": f"-- NOW() in a comment\nSELECT {call};\n"})

    def test_a_clock_in_a_statement_of_the_program_is_red(self):
        self.assert_red("src/adapters/sql/x.cc:1: sql", self.code(
            "adapters/sql", 'auto q = "UPDATE t SET a = CURRENT_TIMESTAMP";\n'))
        self.assert_red("src/adapters/sql/x.cc:2: sql", self.code(
            "adapters/sql", 'auto q = R"(SELECT x\nFROM t WHERE a < NOW())";\n'))

    def test_bound_times_and_prose_are_green(self):
        self.assert_green(self.code(
            "adapters/sql", 'auto q = "UPDATE t SET started_at = :now, time_known = 1";\n'))
        self.assert_green(self.code("executor", 'auto q = "return math.random()";\n'))
        self.assert_green({"sql/sqlite/0001_initial.sql": "SELECT datetime(started_at) FROM t;\n"})


class Texts(TidyCase):
    def test_a_path_of_one_machine_is_red_in_every_file(self):
        self.assert_red("docs/notes.md:1: machine-path", {"docs/notes.md": f"see {HOME}/x\n"})
        self.assert_red("tests/support/x.py:1: machine-path",
                        {"tests/support/x.py": f'PATH = "{HOME}/x"\n'})

    def test_a_fixed_path_in_the_program_is_red(self):
        self.assert_red("src/app/x.cc:1: machine-path",
                        self.code("app", 'auto p = "/etc/coderunner.toml";\n'))
        self.assert_red("src/app/x.cc:1: machine-path",
                        self.code("app", f'auto p = "{TEMPORARY}";\n'))

    def test_what_every_linux_has_and_request_paths_are_green(self):
        self.assert_green(self.code("executor", 'auto p = "/proc/self/stat";\n'
                                    'auto n = "/dev/null";\nauto r = "/codeRunner/runAsync";\n'
                                    'auto u = "{account}/run/x/y";\n'))

    def test_tests_may_use_temporary_folders(self):
        self.assert_green(self.code("tests/unit", f'auto p = "{TEMPORARY}";\n'))

    def test_unfinished_work_is_red(self):
        self.assert_red("src/app/x.cc:1: unfinished", self.code("app", f"// {WORK}: later\n"))


class Silenced(TidyCase):
    def test_a_skip_without_a_reason_is_red(self):
        self.assert_red("tests/unit/x_test.cc:1: silenced",
                        self.code("tests/unit", "GTEST_SKIP();\n"))
        self.assert_green(self.code("tests/unit", 'GTEST_SKIP() << "no namespaces here";\n'))

    def test_a_disabled_test_is_red(self):
        self.assert_red("tests/unit/x_test.cc:1: silenced",
                        self.code("tests/unit", "TEST(A, DISABLED" + "_does_it) {}\n"))

    def test_a_python_skip_without_a_reason_is_red(self):
        self.assert_red("tests/crash/x_test.py:1: silenced",
                        {"tests/crash/x_test.py": "raise unittest.SkipTest()\n"})
        self.assert_green({"tests/crash/x_test.py": 'raise unittest.SkipTest("no root")\n'})

    def test_a_silenced_check_says_which_and_why(self):
        self.assert_red("src/app/x.cc:1: silenced", self.code("app", "int x;  // NOLINT\n"))
        self.assert_red("src/app/x.cc:1: silenced",
                        self.code("app", "int x;  // NOLINT(bugprone-x)\n"))
        self.assert_green(self.code("app", "int x;  // NOLINT(bugprone-x): the C API asks\n"))


class Dead(TidyCase):
    def dead(self, files: dict[str, str]) -> list[str]:
        return [found for found in found_in(files, dead=True) if found.endswith(" dead")]

    def test_a_header_nobody_includes_is_red(self):
        self.assertEqual(["src/base/x.h:1: dead"],
                         self.dead({**self.code("base", "int x;  // x.h\n"), "src/base/x.h": HEADER}))
        self.assertEqual([], self.dead({**self.code("app", '#include "base/x.h"\n'),
                                        "src/base/x.h": HEADER}))

    def test_a_header_is_not_kept_alive_by_itself(self):
        self.assertEqual(["src/base/x.h:1: dead"],
                         self.dead({"src/base/x.h": HEADER + '#include "base/x.h"\n'}))

    def test_a_script_a_module_or_a_page_nobody_names_is_red(self):
        for path in ("tools/x", "tests/support/x.py", "docs/x.md", "tests/data/y/x.csv"):
            self.assertEqual([f"{path}:1: dead"], self.dead({path: "x\n"}))

    def test_what_is_named_imported_or_listed_with_its_folder_is_green(self):
        self.assertEqual([], self.dead({"dev": "tools/x y\n", "tools/x": "a\n"}))
        self.assertEqual([], self.dead({"tests/support/x.py": "a\n",
                                        "tests/crash/a_test.py": "from support.x import a\n"}))
        self.assertEqual([], self.dead({"docs/x.md": "a\n", "README.md": "see (docs/x.md).\n"}))
        self.assertEqual([], self.dead({"tests/data/y/x.csv": "1\n",
                                        "tests/unit/a_test.py": 'DATA / "y"\n'}))

    def test_a_limit_that_bounds_nothing_is_red(self):
        limits = HEADER + "inline constexpr int kMost = 1;\nconstexpr int twice(int a) { return a; }\n"
        use = self.code("app", '#include "domain/limits.h"\nint x = kMost + twice(1);\n')
        self.assertEqual([], self.dead({**use, "src/domain/limits.h": limits}))
        unused = self.code("app", '#include "domain/limits.h"\n')
        self.assertEqual(["src/domain/limits.h:3: dead", "src/domain/limits.h:4: dead"],
                         self.dead({**unused, "src/domain/limits.h": limits}))


class Registration(TidyCase):
    def test_a_source_that_is_not_built_is_red(self):
        self.assert_red("src/app/x.cc:1: unregistered",
                        {"src/app/x.cc": "int x;\n", "src/app/CMakeLists.txt": "y(max.cc)\n"})

    def test_a_test_that_is_not_built_is_red(self):
        self.assert_red("tests/unit/a_test.cc:1: unregistered", {
            "tests/unit/a_test.cc": "int x;\n", "tests/unit/CMakeLists.txt": "# a_test.cc\n"})

    def test_a_list_of_a_folder_above_counts(self):
        self.assert_green({"tests/unit/deep/a_test.cc": "int x;\n",
                           "tests/unit/CMakeLists.txt": "coderunner_test(a deep/a_test.cc)\n"})

    def test_a_python_test_that_no_suite_discovers_is_red(self):
        text = "class A(unittest.TestCase):\n    def test_a(self):\n        pass\n"
        self.assert_red("tests/unit/a_test.py:1: unregistered", {"tests/unit/a_test.py": text})
        self.assert_red("tests/crash/test_a.py:1: unregistered", {"tests/crash/test_a.py": text})
        self.assert_red("tests/crash/a.py:1: unregistered", {"tests/crash/a.py": text})
        self.assert_green({"tests/crash/a_test.py": text})

    def test_migrations_are_numbered_once(self):
        self.assert_red("sql/sqlite/0001_b.sql:1: migration", {
            "sql/sqlite/0001_a.sql": "SELECT 1;\n", "sql/sqlite/0001_b.sql": "SELECT 1;\n"})
        self.assert_red("sql/first.sql:1: migration", {"sql/first.sql": "SELECT 1;\n"})
        self.assert_green({"sql/sqlite/0001_a.sql": "SELECT 1;\n",
                           "sql/mysql/0001_a.sql": "SELECT 1;\n"})


class Shape(TidyCase):
    def test_a_header_opens_with_its_story_and_pragma_once(self):
        self.assert_red("src/base/x.h:1: story", {"src/base/x.h": "#pragma once\n"})
        self.assert_red("src/base/x.h:1: story", {"src/base/x.h": "// a\n" * 7 + "#pragma once\n"})
        self.assert_red("src/base/x.h:2: pragma-once",
                        {"src/base/x.h": "// a\n#include <map>\n#pragma once\n"})
        self.assert_green({"src/base/x.h": HEADER})

    def test_a_source_includes_its_own_header_first(self):
        header = {"src/base/x.h": HEADER}
        self.assert_red("src/base/x.cc:1: own-header", header | self.code(
            "base", '#include <map>\n#include "base/x.h"\n'))
        self.assert_green(header | self.code("base", '#include "base/x.h"\n\n#include <map>\n'))

    def test_a_long_line_is_red(self):
        self.assert_red("src/base/x.cc:1: columns", self.code("base", "// " + "x" * 98 + "\n"))
        self.assert_green(self.code("base", "// " + "é" * 97 + "\n"))
        self.assert_red("tools/x.py:1: columns", {"tools/x.py": "# " + "x" * 119 + "\n"})
        self.assert_green({"tools/x.py": "# " + "x" * 118 + "\n"})

    def test_white_space_is_clean(self):
        self.assert_red("docs/a.md:1: white-space", {"docs/a.md": "a \n"})
        self.assert_red("docs/a.md:1: white-space", {"docs/a.md": "a"})
        self.assert_red("src/base/x.cc:1: white-space", self.code("base", "\tint x;\n"))

    def test_a_long_file_is_red(self):
        self.assert_red("src/base/x.cc:1: file-length", self.code("base", "int x;\n" * 601))
        self.assert_green(self.code("base", "int x;\n" * 600))

    def test_a_long_function_is_red(self):
        for head in ("int f(int a)", "Thing::Thing(int a) : a_{a}, b_{{a}}",
                     "TEST(Thing, does_it)", "auto Thing::f() const -> std::vector<int>"):
            body = head + " {\n" + "  { g(); }\n" * 79 + "}\n"
            with self.subTest(head):
                self.assert_red("src/base/x.cc:2: function-length", self.code("base", "\n" + body))
                self.assert_green(self.code("base", body.replace("  { g(); }\n", "", 1)))

    def test_a_long_class_of_short_functions_is_green(self):
        self.assert_green(self.code("base", "class A : public B {\n"
                                    + "  int f() { return 1; }\n" * 90 + "};\n"))

    def test_functions_are_found_in_namespaces_and_classes(self):
        file = SourceFile("x.cc", "namespace a {\nstruct B {\n  B() : b{1} {}\n  int f() const {\n"
                          "    return 1;\n  }\n  int b = 0;\n};\nint g(int x = int{3}) {\n}\n}\n")
        self.assertEqual([(3, 1), (4, 3), (9, 2)], list(cpp_functions(file)))

    def test_a_long_python_function_is_red(self):
        text = "def f():\n" + "    pass\n" * 80
        self.assert_red("tools/x.py:1: function-length", {"tools/x.py": text})
        self.assert_green({"tools/x.py": text.replace("    pass\n", "", 1)})

    def test_an_empty_name_is_red(self):
        self.assert_red("src/base/text_util.h:1: empty-name", {"src/base/text_util.h": HEADER})
        self.assert_red("tests/support/common.py:1: empty-name", {"tests/support/common.py": "\n"})
        for name in ("class QueueManager {", "struct RowInfo final {", "struct Manager;"):
            self.assert_red("src/base/x.cc:1: empty-name", self.code("base", name + "\n"))
        self.assert_green(self.code("base", "struct Information {};\nenum class L { info };\n"))


class Program(unittest.TestCase):
    def test_every_rule_has_a_name_and_a_sentence(self):
        for rule in RULES:
            self.assertTrue((rule.__doc__ or "").strip(), rule.__name__)

    def test_a_clean_tree_exits_0(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([ROOT / "tools/tidy", "--root", folder], capture_output=True,
                                   timeout=30, check=False)
        self.assertEqual(0, ended.returncode)


if __name__ == "__main__":
    unittest.main()
