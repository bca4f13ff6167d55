"""An executor from outside (contract section 3) that can be told to misbehave.

It speaks the contract's own statements to the SQLite file, and HTTP by hand, so that it can break
off wherever a network, a proxy or a crash may. What it does with a dispatch is a function that is
given the Call; after the functions it was given it does what is right: begin, finish, answer 200.
"""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import secrets
import socket
import sqlite3
import struct
import threading
import urllib.parse
from collections.abc import Callable

ANSWER_LIMIT = 30.0  # seconds one connection may take
FREE_OF_CHARGE = struct.pack("ii", 1, 0)  # SO_LINGER: close sends a reset


def stored_time(offset_s: float = 0.0) -> str:
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=offset_s)
    return now.strftime("%Y-%m-%d %H:%M:%S.") + f"{now.microsecond // 1000:03}"


def identity_of(pid: int) -> str:
    """`executor_id` of a living process, as the contract spells it."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return f"{os.uname().nodename}|{boot}|{namespace}|{pid}|{fields[19]}"


@dataclasses.dataclass(frozen=True)
class Begun:
    execution: int
    run: str


class Call:
    """One dispatch as it arrived. The request is read when somebody asks for it."""

    def __init__(self, connection: socket.socket, executor: "HostileExecutor"):
        self.connection = connection
        self.executor = executor
        self._form: dict[str, str] | None = None

    @property
    def form(self) -> dict[str, str]:
        if self._form is None:
            head, _, body = self._received(b"\r\n\r\n").partition(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                          if line.lower().startswith(b"content-length:"))
            while len(body) < length:
                body += self._more()
            self._form = dict(urllib.parse.parse_qsl(body.decode()))
            self.executor.received.append(self._form)
        return self._form

    def _received(self, mark: bytes) -> bytes:
        data = b""
        while mark not in data:
            data += self._more()
        return data

    def _more(self) -> bytes:
        data = self.connection.recv(4096)
        if not data:
            raise ConnectionError("the drainer closed the connection")
        return data

    @property
    def job(self) -> int:
        return int(self.form["jobId"])

    @property
    def nonce(self) -> str:
        return self.form["asyncNonce"]

    def begin(self, executor_id: str | None = None) -> Begun | None:
        return self.executor.begin(self.job, self.nonce, executor_id)

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def answer(self, status: int, value: object = None, cut: int = 0) -> None:
        """The whole answer, or all but its last `cut` bytes."""
        body = json.dumps(value if value is not None else {}).encode()
        head = (f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
        whole = head + body
        self.send(whole[:len(whole) - cut])

    def answer_success(self, begun: Begun) -> None:
        self.answer(200, {"execution_id": begun.execution, "status": "success",
                          "error_code": None})

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, FREE_OF_CHARGE)
        self.connection.close()

    def wait_hung_up(self) -> None:
        """Until the drainer gives the connection up."""
        assert self.form
        with contextlib.suppress(ConnectionError):
            while True:
                self._more()


Behaviour = Callable[[Call], None]


def obey(call: Call) -> None:
    begun = call.begin()
    if begun is None:
        return call.answer(403, {"error": {"code": 113, "message": "the nonce is not valid"}})
    call.executor.finish(begun)
    call.answer_success(begun)


class HostileExecutor:
    """Bound to a port from the start, so that nobody else has it; refuses until listen()."""

    def __init__(self, store: pathlib.Path):
        self.store = store
        self.begun: list[Begun] = []       # every begin that was granted, in order
        self.refused = 0                   # begins that met 113
        self.received: list[dict[str, str]] = []
        self._misdeeds: list[Behaviour] = []
        self._otherwise: Behaviour = obey
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._failures: list[str] = []
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._port = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/codeRunner/runAsync"

    def listen(self) -> "HostileExecutor":
        self._socket.listen(64)
        self._socket.settimeout(0.1)
        self._start(self._accept)
        return self

    def misbehave(self, *misdeeds: Behaviour) -> None:
        """One for each of the next dispatches, in the order in which they arrive."""
        with self._lock:
            self._misdeeds += misdeeds

    def always(self, behaviour: Behaviour) -> None:
        with self._lock:
            self._otherwise = behaviour

    def close(self) -> None:
        self._stopping.set()
        self._socket.close()
        for thread in list(self._threads):
            thread.join(ANSWER_LIMIT)
        assert not self._failures, self._failures

    # ---- The contract's statements

    def begin(self, job: int, nonce: str, executor_id: str | None = None) -> Begun | None:
        """None where it is refused: 113, nothing runs."""
        run = secrets.token_hex(16)
        hashed = hashlib.sha256(nonce.encode()).hexdigest()
        with self._transaction() as store:
            queued = store.execute("SELECT execution_id FROM codeRunner_executions WHERE job_id = ?"
                                   " AND status = 'queued'", [job]).fetchone()
            execution = queued[0] if queued else -1
            started = store.execute(
                "UPDATE codeRunner_executions SET status='running', started_at=?, run_id=?, "
                "executor_id=? WHERE execution_id=? AND status='queued'",
                [stored_time(), run, executor_id or identity_of(os.getpid()), execution]).rowcount
            spent = store.execute(
                "UPDATE codeRunner_jobs SET nonce_hash=NULL WHERE job_id=? AND nonce_hash=? AND "
                "started_at>=?", [job, hashed, stored_time(-300)]).rowcount
            if (started, spent) != (1, 1):
                store.execute("ROLLBACK")
                self.refused += 1
                return None
            store.execute("COMMIT")
            begun = Begun(execution, run)
            self.begun.append(begun)
            return begun

    def finish(self, begun: Begun) -> bool:
        """False where the row is not that run's any more."""
        with self._transaction() as store:
            ended = store.execute(
                "UPDATE codeRunner_executions SET status='success', error_code=NULL, "
                "error_message=NULL, finished_at=? WHERE execution_id=? AND status='running' AND "
                "run_id=?", [stored_time(), begun.execution, begun.run]).rowcount
            store.execute("UPDATE codeRunner_jobs SET apikey=NULL WHERE ? = 1 AND job_id = (SELECT "
                          "job_id FROM codeRunner_executions WHERE execution_id=?)",
                          [ended, begun.execution])
            store.execute("COMMIT")
            return ended == 1

    @contextlib.contextmanager
    def _transaction(self):
        with self._lock, contextlib.closing(
                sqlite3.connect(self.store, timeout=10, isolation_level=None)) as store:
            store.execute("BEGIN IMMEDIATE")
            yield store

    # ---- Connections

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            behaviour = self._misdeeds.pop(0) if self._misdeeds else self._otherwise
        connection.settimeout(ANSWER_LIMIT)
        try:
            behaviour(Call(connection, self))
        except ConnectionError:
            pass  # the daemon was killed, or gave up: that is what half of the tests are about
        except Exception as error:
            self._failures.append(repr(error))
        finally:
            connection.close()
