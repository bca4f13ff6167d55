"""Every example of docs/scripting.md runs, as it is printed, against fake-businessmap."""

import pathlib
import re

from support.case import DaemonCase

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "scripting.md"
BLOCK = re.compile(r"^```lua\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class ScriptingDocumentTest(DaemonCase):
    def test_every_example_succeeds(self):
        text = DOCUMENT.read_text(encoding="utf-8")
        fake = self.start_fake(per_minute=10000, per_hour=100000)
        daemon = self.start_daemon(fake=fake)
        runs = [(text.count("\n", 0, block.start()) + 1,
                 daemon.submit("acme", block[1], payload={"card_id": 7}))
                for block in BLOCK.finditer(text)]
        self.assertGreaterEqual(len(runs), 8)
        for line, number in runs:
            with self.subTest(line=line):
                row = daemon.wait_finished(number)
                self.assertEqual((row["status"], row["error_message"]), ("success", None))
        self.assertGreater(len(fake.effects()), 10)

    def test_every_function_of_the_module_is_in_the_document(self):
        source = (DOCUMENT.parent.parent / "src" / "executor" / "api_module.lua").read_text(encoding="utf-8")
        names = set(re.findall(r"^(?:function )?module\.(\w+)", source, re.MULTILINE))
        self.assertGreater(len(names), 20)
        text = DOCUMENT.read_text(encoding="utf-8")
        for name in sorted(names):
            self.assertIn(f"api.{name}", text)
