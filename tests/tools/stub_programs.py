"""Stand-ins for the programs, so that the harness is tested without them.

`install(folder)` writes `coderunner` and `fake-businessmap`; the environment variable STUB chooses
how serve behaves: "" serves, "refuses" exits 2, "silent" never says ready.
"""

import pathlib

CODERUNNER = '''#!/usr/bin/env python3
import http.server, json, os, pathlib, signal, sqlite3, subprocess, sys, time

role, mode = sys.argv[1], os.environ.get("STUB", "")


def forever():
    time.sleep(300)


def executor():
    if role == "executor-master":
        for child in ("executor-worker", "executor-zygote"):
            subprocess.Popen([sys.executable, __file__, child])
    elif role == "executor-zygote":
        os.fork()
    forever()


def make_store():
    pathlib.Path("var").mkdir(exist_ok=True)
    with sqlite3.connect("var/coderunner.db") as store:
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("CREATE TABLE IF NOT EXISTS codeRunner_executions (execution_id INTEGER "
                      "PRIMARY KEY AUTOINCREMENT, job_id INT, status TEXT, subdomain TEXT)")
        store.execute("CREATE TABLE IF NOT EXISTS codeRunner_jobs (job_id INTEGER PRIMARY KEY)")


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not fields["account"]:
            return self.answer(400, {"error": {"code": 400}})
        with sqlite3.connect("var/coderunner.db") as store:
            row = store.execute("INSERT INTO codeRunner_executions (job_id, status, subdomain) "
                                "VALUES (1, 'success', ?)", [fields["account"]])
        return self.answer(202, {"execution_id": row.lastrowid})

    def do_GET(self):
        self.answer(200, {"execution_id": int(self.path.rsplit("/", 1)[1]), "state": "succeeded"})


def serve():
    print("starting", file=sys.stderr, flush=True)
    if mode == "refuses":
        print("unknown key 'queue.colour'", file=sys.stderr)
        sys.exit(2)
    master = subprocess.Popen([sys.executable, __file__, "executor-master"])
    make_store()
    if mode == "silent":
        forever()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    signal.signal(signal.SIGTERM, lambda *_: (master.kill(), os._exit(0)))
    print(f"ready http=127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if role.startswith("executor-"):
    executor()
elif role == "serve":
    serve()
else:
    print(json.dumps({"arguments": sys.argv[1:], "url": os.environ.get("CODERUNNER_URL")}))
'''

FAKE = '''#!/usr/bin/env python3
import http.server, json, signal, sys

calls = []


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        body = json.dumps({"calls": len(calls), "limited": 0, "effects": [
            {"path": path} for path in calls], "flags": sys.argv[1:]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        calls.clear() if self.path == "/_reset" else calls.append(self.path)
        self.send_response(204)
        self.end_headers()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
'''


def install(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("coderunner", CODERUNNER), ("fake-businessmap", FAKE)):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
