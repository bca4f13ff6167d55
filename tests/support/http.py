"""A small HTTP client: one request, one answer, no retries, never longer than its time limit."""

import dataclasses
import http.client
import json
import socket
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """`address` is HOST:PORT or unix:PATH. Refused and reset connections raise OSError."""

    def __init__(self, address: str, timeout: float = 15, headers: Mapping[str, str] | None = None):
        self.address = address
        self.timeout = timeout
        self.headers = dict(headers or {})

    def request(self, method: str, path: str, body: bytes | str | None = None,
                headers: Mapping[str, str] | None = None) -> Answer:
        if self.address.startswith("unix:"):
            connection = _UnixConnection(self.address.removeprefix("unix:"), self.timeout)
        else:
            connection = http.client.HTTPConnection(self.address, timeout=self.timeout)
        try:
            connection.request(method, path, body=body, headers=self.headers | dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status,
                          {name.lower(): value for name, value in response.getheaders()},
                          response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, headers=headers)

    def send(self, method: str, path: str, value: Any,
             headers: Mapping[str, str] | None = None) -> Answer:
        """`value` as JSON."""
        return self.request(method, path, json.dumps(value),
                            {"Content-Type": "application/json"} | dict(headers or {}))

    def post(self, path: str, value: Any = None,
             headers: Mapping[str, str] | None = None) -> Answer:
        return self.send("POST", path, value, headers)
