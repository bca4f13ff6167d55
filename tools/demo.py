#!/usr/bin/env python3
"""The demo behind `./dev run`: CodeRunner on SQLite beside the fake API, three accounts, one of which floods.

Starts both programs, submits real scripts, shows a live status line until everything has drained, and judges what it
saw: every execution succeeded, the flood held at most two slots, the others waited at most one service time, a spent
minute closed a gate and the work resumed by itself. Exits 0 after the drain with --once, else serves until Ctrl-C.
"""

import argparse
import calendar
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "examples" / "scripts"

# One "minute" of the fake API lasts six seconds here, and the margins shrink with it, so that a drain which would take
# ten minutes against the real quota takes about one.
MINUTE_MS = 6000
CALLS_A_MINUTE = 30
DRAIN_LIMIT_S = 240
START_LIMIT_S = 30

FLOOD = "acme"
FLOOD_EXECUTIONS = 45
QUIET = ("globex", "initech")
QUIET_EXECUTIONS = 5
QUIET_EVERY_S = 6.0

SETTINGS = f"""\
[store]
url = "sqlite:{{folder}}/coderunner.db"
[secrets]
salt_file = "{{folder}}/salt"
key_file = "{{folder}}/key"
[http]
listen = "127.0.0.1:{{port}}"
[api]
base_url = "{{api}}/{{{{account}}}}/api/v2"
method_limit_wait = "2s"
[gate]
margin = "500ms"
minute = "{MINUTE_MS}ms"
[executor]
wall = "60s"
loop_budget = "30s"
"""


class Failed(Exception):
    """Something the demo needs did not happen."""


def http(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


class Program:
    """One program of ours, in its own session; its first line with `mark` holds its address."""

    def __init__(self, arguments, mark, log):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=self.log, start_new_session=True)
        self.name = pathlib.Path(arguments[0]).name
        self.log_path = log
        self.address = self._read_address(mark)

    def _read_address(self, mark):
        line = b""
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline and not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], 0.2)
            if ready:
                byte = os.read(self.process.stdout.fileno(), 1)
                if not byte:
                    break
                line += byte
        text = line.decode(errors="replace").strip()
        if not text.startswith(mark):
            self.stop()
            raise Failed(f"{self.name} did not start (it said {text!r}); its log is {self.log_path}")
        return text[len(mark):]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        return self.process.returncode


def submission(account, script, payload, number):
    return {
        "account": account,
        "apikey": f"demo-key-of-{account}",
        "source": (SCRIPTS / script).read_text(),
        "identifier": f"{script} #{number}",
        "payload": payload,
    }


def flood_submissions():
    for number in range(1, FLOOD_EXECUTIONS + 1):
        yield submission(FLOOD, "welcome_card.lua", {
            "customer": f"customer {number}", "column_id": 1, "lane_id": 1, "steps": ["Call", "Contract", "Invoice"],
        }, number)


def quiet_submission(account, number):
    if number % 2:
        return submission(account, "move_done.lua", {
            "title": f"Order {number}", "from_column": 1, "to_column": 2, "lane_id": 1}, number)
    return submission(account, "nightly_report.lua", {"rule": "nightly"}, number)


def status_line(queue, done, total, started):
    gated = ", ".join(f"{gate['key'][:6]} until {gate['until'][11:19]}" for gate in queue["gated_keys"]) or "none"
    holders = " ".join(f"{a['account']}:{a['queued']}+{a['in_flight']}" for a in queue["accounts"])
    return (f"{time.monotonic() - started:5.1f} s  {queue['drainer']['state']:<9} done {done:>3}/{total}  "
            f"queued {queue['depth']:>3}  in flight {queue['in_flight']}/{queue['concurrency']}  "
            f"gated: {gated}  {holders}")


class Screen:
    """A line that is rewritten on a terminal, and printed now and then elsewhere."""

    def __init__(self):
        self.live = sys.stdout.isatty()
        self.last = 0.0

    def show(self, line):
        if self.live:
            print(f"\r\x1b[K{line[:os.get_terminal_size().columns - 1]}", end="", flush=True)
        elif time.monotonic() - self.last >= 5:
            self.last = time.monotonic()
            print(line, flush=True)

    def end(self):
        if self.live:
            print()


def drain(url, screen):
    """Submits everything on its schedule and follows the queue until it is empty; answers the ids and gates seen."""
    started = time.monotonic()
    ids = [http("POST", f"{url}/codeRunner", body)["execution_id"] for body in flood_submissions()]
    total = FLOOD_EXECUTIONS + len(QUIET) * QUIET_EXECUTIONS
    sent, gates, next_quiet = 0, set(), started + 1
    while time.monotonic() - started < DRAIN_LIMIT_S:
        if sent < QUIET_EXECUTIONS and time.monotonic() >= next_quiet:
            sent += 1
            next_quiet += QUIET_EVERY_S
            for account in QUIET:
                ids.append(http("POST", f"{url}/codeRunner", quiet_submission(account, sent))["execution_id"])
        queue = http("GET", f"{url}/queue/data")
        gates.update((gate["key"], gate["until"]) for gate in queue["gated_keys"])
        done = len(ids) - queue["depth"] - queue["in_flight"]
        screen.show(status_line(queue, max(done, 0), total, started))
        if len(ids) == total and queue["depth"] == 0 and queue["in_flight"] == 0:
            screen.end()
            return ids, gates, time.monotonic() - started
        time.sleep(0.1)
    screen.end()
    raise Failed(f"not drained after {DRAIN_LIMIT_S} s")


def seconds(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{fraction or 0}")


def most_at_once(executions):
    edges = sorted((at, step) for e in executions
                   for at, step in ((seconds(e["started_at"]), 1), (seconds(e["finished_at"]), -1)))
    held = most = 0
    for _, step in edges:
        held += step
        most = max(most, held)
    return most


def judge(executions, gates, ledger, took):
    """Prints the summary; answers whether everything was as promised."""
    by_account = {name: [e for e in executions if e["account"] == name] for name in (FLOOD, *QUIET)}
    succeeded = sum(e["state"] == "succeeded" for e in executions)
    waits = {name: [seconds(e["started_at"]) - seconds(e["queued_at"]) for e in rows if e["started_at"]]
             for name, rows in by_account.items()}
    ended_by_themselves = [e for e in executions  # a reaped row's end is the time it was reaped at
                           if e["started_at"] and not (e["error_message"] or "").startswith("reaped: ")]
    service = max(seconds(e["finished_at"]) - seconds(e["started_at"]) for e in ended_by_themselves)
    quiet_wait = max(max(waits[name]) for name in QUIET)
    flood_most = most_at_once([e for e in by_account[FLOOD] if e["started_at"]])
    print(f"\n{'account':<10}{'executions':>11}{'succeeded':>11}{'longest wait':>14}{'most at once':>14}")
    for name, rows in by_account.items():
        ok = sum(e["state"] == "succeeded" for e in rows)
        print(f"{name:<10}{len(rows):>11}{ok:>11}{max(waits[name]):>12.2f} s{most_at_once(rows):>14}")
    checks = [
        (succeeded == len(executions), f"{succeeded} of {len(executions)} executions succeeded"),
        (flood_most <= 2, f"the flooding account held at most {flood_most} slots at once (cap 2)"),
        (quiet_wait <= service, f"the others waited at most {quiet_wait:.2f} s; one service time is {service:.2f} s"),
        (len(gates) > 0,
         f"gates closed {len(gates)} times ({ledger['limited']} calls met a rate limit first), and the work resumed "
         "by itself"),
    ]
    print()
    for good, text in checks:
        print(f"  {'ok  ' if good else 'FAIL'}  {text}")
    print(f"\n{len(executions)} executions, {ledger['calls']} API calls, {len(ledger['effects'])} effects "
          f"in {took:.0f} s.")
    return all(good for good, _ in checks)


def run(options):
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    screen, programs = Screen(), []
    try:
        fake = Program([options.bin / "fake-businessmap", "--port", "0", "--per-minute", str(CALLS_A_MINUTE),
                        "--per-hour", "100000", "--window-ms", str(MINUTE_MS), "--latency-ms", "30"],
                       "listening on ", folder / "fake-businessmap.log")
        programs.append(fake)
        config = folder / "coderunner.toml"
        config.write_text(SETTINGS.format(folder=folder, port=options.port, api=f"http://{fake.address}"))
        daemon = Program([options.bin / "coderunner", "serve", "--config", config], "ready http=",
                         folder / "coderunner.log")
        programs.append(daemon)
        url = f"http://{daemon.address}"
        print(f"CodeRunner serves at {url}, the fake API at http://{fake.address}; logs in {folder}", flush=True)
        ids, gates, took = drain(url, screen)
        executions = [http("GET", f"{url}/executions/{number}") for number in ids]
        good = judge(executions, gates, http("GET", f"http://{fake.address}/_ledger"), took)
        if not options.once:
            print(f"\nStill serving at {url} until Ctrl-C. Try: build/bin/coderunner status --url {url}", flush=True)
            signal.pause()
        return 0 if good else 1
    except Failed as failed:
        print(f"\ndemo: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopping")
        return 0
    finally:
        for program in reversed(programs):
            program.stop()


def main():
    parser = argparse.ArgumentParser(prog="./dev run", description="The demo: admit, queue, drain, execute.")
    parser.add_argument("--once", action="store_true", help="exit after the drain instead of serving on")
    parser.add_argument("--port", type=int, default=0, help="port of CodeRunner (default: the kernel picks)")
    parser.add_argument("--folder", default=ROOT / "build" / "demo", help="where store, secrets and logs are kept")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin", help=argparse.SUPPRESS)
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
