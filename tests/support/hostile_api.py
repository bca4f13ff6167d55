"""An API that answers what no API should: never, without end, too much, too deep, not JSON.

/never, /drip (a byte a tick), /slow (1 s), /giant (beyond the broker's limit), /wide (within it, but
beyond a script's memory), /deep, /html, /bytes, /close, /redirect, /empty (204), /cards (pages
without end); anything else is a 404. The account's segment and /api/v2 stand before each.
"""

import http.server
import json
import threading

MIB = 1024 * 1024
LIFE = 60.0  # seconds one answer may take, whatever it is


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        place = self.path.partition("/api/v2")[2].partition("?")[0].strip("/")
        try:
            getattr(self, f"answer_{place}", self.answer_nothing)()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def say(self, status: int, body: bytes, media: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def answer_nothing(self) -> None:
        self.say(404, b'{"error":{"code":"C101","message":"no such","reference":"GE-C101"}}')

    def answer_never(self) -> None:
        self.server.ended.wait(LIFE)
        self.close_connection = True

    def answer_slow(self) -> None:
        self.server.ended.wait(1.0)
        self.say(200, b"{}")

    def answer_drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(MIB))
        self.end_headers()
        for _ in range(int(LIFE * 20)):
            self.wfile.write(b" ")
            if self.server.ended.wait(0.05):
                break
        self.close_connection = True

    def answer_giant(self) -> None:
        self.say(200, b'{"data":"' + b"x" * (20 * MIB) + b'"}')

    def answer_wide(self) -> None:
        self.say(200, b"[" + b"0," * (3 * MIB) + b"0]")

    def answer_deep(self) -> None:
        self.say(200, b"[" * 100_000 + b"]" * 100_000)

    def answer_html(self) -> None:
        self.say(200, b"<html><body>proxy</body></html>", "text/html")

    def answer_bytes(self) -> None:
        self.say(200, bytes(range(256)))

    def answer_close(self) -> None:
        self.close_connection = True

    def answer_empty(self) -> None:
        self.say(204, b"")

    def answer_redirect(self) -> None:
        self.say(302, b"", Location="http://127.0.0.1:9/key")

    def answer_cards(self) -> None:
        page = {"all_pages": 10**9, "current_page": 1, "results_per_page": 1}
        self.say(200, json.dumps({"data": {"pagination": page, "data": [{"card_id": 1}]}}).encode())


class HostileApi(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True)

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that was killed in the middle is what this is for

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{{account}}/api/v2"

    def start(self) -> "HostileApi":
        self._thread.start()
        return self

    def stop(self) -> None:
        self.ended.set()
        self.shutdown()
        self._thread.join(10)
        self.server_close()
