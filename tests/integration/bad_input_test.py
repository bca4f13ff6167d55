"""Whatever is sent: the contract's answer, and nothing else changes."""

import json

from support.case import DaemonCase

GOOD = {"account": "acme", "apikey": "k", "source": "return"}
JSON = {"Content-Type": "application/json"}


class BadSubmissionTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon({"queue.concurrency": 1})

    def send(self, body, headers=None):
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        return self.daemon.client.request("POST", "/codeRunner", data, headers or JSON)

    def assert_refused(self, answer, status, field=None):
        self.assertEqual(answer.status, status, answer.text)
        error = answer.json["error"]
        self.assertEqual(error["code"], status)
        self.assertTrue(error["message"])
        if field:
            self.assertEqual(error["details"]["field"], field)

    def test_each_bad_field_is_named_and_no_row_is_kept(self):
        for field, value in [
                ("account", ""), ("account", "x.evil/"), ("account", 7), ("account", None), ("account", "-a"),
                ("apikey", ""), ("apikey", ["k"]), ("apikey", "a\r\nb"), ("source", ""), ("source", {}),
                ("identifier", 5), ("identifier", "x" * 256), ("debug", "yes"), ("payload", "x" * 262144)]:
            with self.subTest(field=field, value=str(value)[:20]):
                self.assert_refused(self.send(GOOD | {field: value}), 400, field)
        for field in ("account", "apikey", "source"):
            with self.subTest(missing=field):
                self.assert_refused(self.send({k: v for k, v in GOOD.items() if k != field}), 400, field)
        self.assertEqual(self.daemon.store.executions(), [])

    def test_what_is_no_json_object_is_400(self):
        for body in ("", "{", "[]", '"x"', "null", '{"account":"a",}', b'{"account":"\xff"}',
                     b'{"account":"acme","apikey":"k","source":"return \xff"}', "[" * 100000):
            with self.subTest(body=body[:20]):
                self.assert_refused(self.send(body), 400)
        self.assertEqual(self.daemon.store.executions(), [])

    def test_a_body_of_2_mib_is_413_and_the_client_hears_it(self):
        self.assert_refused(self.send(GOOD | {"source": "-" * (2 << 20)}), 413)
        self.assertEqual(self.daemon.store.executions(), [])

    def test_another_media_type_is_415(self):
        self.assert_refused(self.send("<x/>", {"Content-Type": "text/xml"}), 415)

    def test_a_script_that_does_not_parse_is_422_201_with_its_line_and_a_row(self):
        answer = self.send(GOOD | {"source": "local x = 1\nlocal = 2"})
        self.assertEqual(answer.status, 422, answer.text)
        error = answer.json["error"]
        self.assertEqual((error["code"], error["details"]["line"]), (201, 2))
        shown = self.daemon.execution(error["details"]["execution_id"])
        self.assertEqual((shown["state"], shown["error_code"]), ("invalid", 201))
        self.assertIsNone(shown["started_at"])

    def test_bytecode_is_no_script(self):
        answer = self.send(GOOD | {"source": "\x1bLua"})
        self.assertEqual((answer.status, answer.json["error"]["code"]), (422, 201))

    def test_a_form_is_as_good_as_json_and_bad_escapes_are_400(self):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        good = self.send("account=ACME&apikey=k&source=log%28event.a%29&payload=%7B%22a%22%3A1%7D", form)
        self.assertEqual(good.status, 202, good.text)
        self.assertEqual(self.daemon.wait_finished(good.json["execution_id"])["status"], "success")
        self.assert_refused(self.send("account=%zz&apikey=k&source=x", form), 400)
        self.assert_refused(self.send("account=a&apikey=k&source=x&payload=%7B", form), 400, "payload")

    def test_the_payload_is_kept_verbatim(self):
        payload = '{"b":1.00, "a" : 12345678901234567890123,"u":"\\u00e9"}'
        body = '{"account":"acme","payload": %s ,"apikey":"k","source":"return"}' % payload
        answer = self.send(body)
        self.assertEqual(answer.status, 202, answer.text)
        kept = self.daemon.client.get(f"/executions/{answer.json['execution_id']}?source=1").json
        self.assertEqual(kept["payload"], payload)
        self.assertEqual(kept["source"], "return")

    def test_a_byte_order_mark_is_no_part_of_the_body(self):
        body = b'\xef\xbb\xbf{"x":"p\\n","payload":{"n":1},"account":"a","apikey":"k","source":"return"}'
        answer = self.send(body)
        self.assertEqual(answer.status, 202, answer.text)
        kept = self.daemon.client.get(f"/executions/{answer.json['execution_id']}?source=1").json
        self.assertEqual(kept["payload"], '{"n":1}')

    def test_nothing_hides_behind_a_nul_byte(self):
        self.assert_refused(self.send(json.dumps(GOOD) + "\0 and more"), 400)
        self.assert_refused(self.send(GOOD | {"identifier": "a\0b"}), 400, "identifier")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        self.assert_refused(self.send("account=a&apikey=k&source=x&payload=1%00", form), 400, "payload")

    def test_a_source_of_thousands_of_gotos_is_refused_without_parsing_it(self):
        source = "do " + " ".join(f"goto a{i}" for i in range(30000)) + " end"
        answer = self.send(GOOD | {"source": source})
        self.assertEqual((answer.status, answer.json["error"]["code"]), (422, 201))

    def test_unknown_fields_are_ignored(self):
        self.assertEqual(self.send(GOOD | {"colour": "red"}).status, 202)

    def test_unknown_paths_methods_and_ids(self):
        client = self.daemon.client
        self.assertEqual(client.get("/nothing").status, 404)
        self.assertEqual(client.get("/executions/999999").status, 404)
        self.assertEqual(client.get("/executions/abc").status, 404)
        self.assertEqual(client.get("/executions/99999999999999999999").status, 404)
        self.assertEqual(client.request("DELETE", "/codeRunner").status, 405)
        self.assertEqual(client.get("/codeRunner/logs/data?limit=0").status, 400)
        self.assertEqual(client.get("/codeRunner/logs/data?state=nope").status, 400)
        self.assertEqual(client.get("/codeRunner/logs/data?before=x").status, 400)

    def test_request_ids_come_back(self):
        answer = self.daemon.client.get("/healthz", **{"X-Request-Id": "abc-1"})
        self.assertEqual(answer.headers.get("x-request-id"), "abc-1")


class BadConfigurationTest(DaemonCase):
    def serve(self, settings):
        daemon = self.make_daemon(settings)
        daemon.launch()
        return daemon.wait_ended(15), daemon.log_tail()

    def test_an_unknown_key_is_named_and_ends_2(self):
        status, said = self.serve({"queue.concurency": 4})
        self.assertEqual(status, 2)
        self.assertIn("queue.concurency", said)
        self.assertIn("queue.concurrency", said)

    def test_impossible_values_end_2_and_name_the_key(self):
        for key, value in [("queue.poll_interval", "3s"), ("queue.concurrency", 0), ("queue.per_account", "two"),
                           ("http.listen", "0.0.0.0:0"), ("executor.wall", "soon"), ("reaper.running_after", "1m"),
                           ("store.url", "postgres:x")]:
            with self.subTest(key=key):
                status, said = self.serve({key: value})
                self.assertEqual(status, 2, said)
                self.assertIn(key, said)

    def test_a_file_that_is_no_toml_ends_2(self):
        daemon = self.make_daemon()
        for text in ("[[[", "a = ", "\x00", "[queue\n"):
            with self.subTest(text=text):
                (daemon.folder / "coderunner.toml").write_text(text)
                self.assertEqual(daemon.command("serve", "--config", "coderunner.toml").returncode, 2)

    def test_a_file_that_is_no_database_ends_2_and_stays_as_it_was(self):
        daemon = self.make_daemon()
        path = daemon.folder / "var" / "coderunner.db"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"this is no database, it is a letter to my aunt" * 100)
        before = path.read_bytes()
        daemon.launch()
        self.assertEqual(daemon.wait_ended(15), 2)
        self.assertIn("coderunner.db", daemon.log_tail())
        self.assertEqual(path.read_bytes(), before)

    def test_a_lost_key_file_is_never_replaced_beside_old_rows(self):
        daemon = self.start_daemon()
        daemon.wait_finished(daemon.submit("acme", "return"))
        daemon.stop()
        (daemon.folder / "var" / "key").unlink()
        daemon.launch()
        self.assertEqual(daemon.wait_ended(15), 2)
        self.assertIn("var/key", daemon.log_tail())
        self.assertFalse((daemon.folder / "var" / "key").exists())
