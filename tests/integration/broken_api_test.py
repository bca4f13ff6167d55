"""Runs against an API that fails in every way it can: what may have taken effect is never sent twice,
and whatever was cut off names what it had sent."""

import collections
import re

from support.case import DaemonCase

RUNS, CHANGES = 50, 2
# One run in five never comes to its own end.
SCRIPT = """
local name = execution.identifier
for i = 1, %d do
  local made, card = pcall(api.post, "/cards", {title = name .. "-" .. i, column_id = 1, lane_id = 1})
  pcall(api.get, "/cards")
  if made then
    local id = (card.data[1] or card.data).card_id
    pcall(api.patch, "/cards/" .. id, {description = name .. "-" .. i})
    pcall(api.delete, "/cards/" .. id)
  end
end
while event.stays do pcall(api.get, "/me") end
""" % CHANGES


class BrokenApiTest(DaemonCase):
    time_limit = 240.0

    def test_fifty_runs_against_failures_of_every_kind_send_no_change_twice(self):
        # A "minute" of half a second and four runs of a key: quotas are met, and waited for.
        fakes = {form: self.start_fake(form, fail_rate=0.1, reset_rate=0.1, per_minute=4, window_ms=500,
                                       retry_after=form)
                 for form in ("both", "date", "html", "negative")}
        daemons = {form: self.start_daemon(
            {"queue.concurrency": 4, "queue.per_account": 4, "gate.margin": "100ms", "gate.minute": "500ms",
             "executor.wall": "15s", "reaper.running_after": "60s"},
            name=form, fake=fake) for form, fake in fakes.items()}
        share = {form: RUNS // len(fakes) + (at < RUNS % len(fakes)) for at, form in enumerate(fakes)}
        numbers = {form: [daemon.submit("acme", SCRIPT, "stays" if at % 5 == 0 else "goes", identifier=f"run-{at}",
                                        payload={"stays": at % 5 == 0})
                          for at in range(share[form])] for form, daemon in daemons.items()}
        for form, daemon in daemons.items():
            with self.subTest(form):
                rows = [daemon.wait_finished(number, 120) for number in numbers[form]]
                self.judge(daemon, fakes[form], rows)

    def judge(self, daemon, fake, rows):
        effects = collections.Counter((effect["method"], effect["path"],
                                       (effect["body"] or {}).get("title") if effect["method"] == "POST" else "")
                                      for effect in fake.effects())
        self.assertTrue(effects)
        self.assertEqual([effect for effect, times in effects.items() if times > 1], [])
        self.assertGreater(fake.ledger()["limited"], 0, "no quota was met")
        ended = collections.Counter((row["status"], row["error_code"]) for row in rows)
        self.assertEqual(ended[("error", 303)], sum(1 for at in range(len(rows)) if at % 5 == 0), ended)
        self.assertEqual(set(ended) - {("success", None), ("error", 303)}, set(), "every call was pcall'ed")
        for row in rows:
            announced = [line["message"].removeprefix("sending ") for line in daemon.store.logs(row["execution_id"])
                         if line["message"].startswith("sending ")]
            self.assertTrue(announced)
            if row["error_code"] == 303:
                told = re.search(r"it had sent (\d+): (.*)$", row["error_message"])
                self.assertIsNotNone(told, row["error_message"])
                self.assertEqual(int(told[1]), len(announced))
                for at, call in zip(told[2].split(", "), announced):
                    self.assertTrue(at.startswith(call + ": "), (at, call))
