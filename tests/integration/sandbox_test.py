"""What a running script's process holds and may do, looked at from outside, as root."""

import base64
import os
import pathlib
import re
import unittest

from support import injection, wait
from support.case import DaemonCase

API_KEY = "the-key-of-a-customer-0123456789abcdef"
MARKER = "a-marker-only-the-source-has-7f3a"
# Runs until it is ended, with its own source in its memory.
ENDLESS = f'local marker = "{MARKER}" log("begun") while true do marker = marker:sub(1) end'


def memory_of(pid: int) -> bytes:
    """Every byte of its memory that can be read."""
    parts = []
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps.splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
            if not found or line.endswith(("[vvar]", "[vvar_vclock]", "[vsyscall]")):
                continue
            begin, end = int(found[1], 16), int(found[2], 16)
            memory.seek(begin)
            parts.append(memory.read(end - begin))
    return b"\n".join(parts)


def status_of(pid: int) -> dict[str, str]:
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return {name: value.strip() for name, _, value in
            (line.partition(":") for line in text.splitlines())}


@unittest.skipUnless(os.geteuid() == 0, "only root can read another user's process")
class RunningScript(DaemonCase):
    def start_script(self):
        daemon = self.start_daemon()
        execution = daemon.submit("acme", ENDLESS, apikey=API_KEY)
        wait.wait_until(lambda: daemon.store.logs(execution), 30, "its first line")
        scripts = daemon.scripts()
        self.assertEqual(len(scripts), 1, scripts)
        return daemon, execution, scripts[0].pid

    def test_its_memory_holds_no_secret(self):
        """Neither the API key, nor the salt, nor the key file; though all are in the worker's."""
        daemon, execution, script = self.start_script()
        key_text = (daemon.folder / "var/key").read_bytes().strip()
        salt = (daemon.folder / "var/salt").read_bytes().strip()
        sealed = str((daemon.store.job_of(execution) or {})["apikey"])
        secrets = {"the API key": API_KEY.encode(), "the sealed API key": sealed.encode(),
                   "its sealed bytes": base64.b64decode(sealed + "=="),
                   "the key file": key_text, "the key": bytes.fromhex(key_text.decode()),
                   "the salt": salt, "half a key": key_text[:32]}
        held = memory_of(script)
        self.assertIn(MARKER.encode(), held, "the reader sees nothing")
        for name, secret in secrets.items():
            self.assertGreaterEqual(len(secret), 16, name)
            self.assertNotIn(secret, held, name)
        worker = b"".join(memory_of(one.pid) for one in daemon.workers())
        for name in ("the API key", "the key", "the salt"):
            self.assertIn(secrets[name], worker, f"{name} would not be found where it is")
        zygote = memory_of(daemon.zygote().pid)
        for name, secret in secrets.items():
            self.assertNotIn(secret, zygote, f"the zygote: {name}")

    def test_it_has_one_descriptor_and_no_right(self):
        _, _, script = self.start_script()
        proc = pathlib.Path(f"/proc/{script}")
        self.assertEqual(os.listdir(proc / "fd"), ["3"])
        self.assertTrue(os.readlink(proc / "fd/3").startswith("socket:"))
        self.assertEqual((proc / "environ").read_bytes(), b"")
        self.assertEqual((proc / "cmdline").read_bytes(), b"coderunner\0executor-zygote\0")
        status = status_of(script)
        self.assertNotIn("0", status["Uid"].split())
        self.assertNotIn("0", status["Gid"].split())
        self.assertEqual(status["Groups"], "")
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[kind], 16), 0, kind)
        self.assertEqual(status["Threads"], "1")

    def test_it_lives_in_namespaces_of_its_own(self):
        """No network, an empty root and nobody else's processes, where root may make them here."""
        daemon, _, script = self.start_script()
        if "event=sandbox_incomplete" in daemon.log_tail():
            self.skipTest("this machine permits not every namespace")
        for kind in ("net", "mnt", "pid", "ipc", "uts"):
            self.assertNotEqual(os.readlink(f"/proc/{script}/ns/{kind}"),
                                os.readlink(f"/proc/self/ns/{kind}"), kind)
        self.assertEqual(os.listdir(f"/proc/{script}/root"), [])
        self.assertNotEqual(status_of(script)["NSpid"].split()[-1], str(script))

    def test_a_forbidden_system_call_ends_the_run_and_the_row_says_so(self):
        if why := injection.why_not():
            self.skipTest(why)
        daemon = self.start_daemon()
        execution = daemon.submit(
            "acme", 'log("begun") for i = 1, 1e10 do if i % 1e6 == 0 then log(i) end end')
        wait.wait_until(lambda: daemon.store.logs(execution), 30, "its first line")
        # A patched script process: it asks for its user where it would have sent a line.
        with injection.Trace(daemon.scripts()[0].pid, "sendto", call="getuid"):
            row = daemon.wait_finished(execution)
        self.assertEqual((row["status"], row["error_code"]), ("error", 302))
        self.assertIn("made a forbidden system call", row["error_message"])

    def test_a_zygote_without_its_init_makes_room_for_another(self):
        daemon, execution, _ = self.start_script()
        if "event=sandbox_incomplete" in daemon.log_tail():
            self.skipTest("this machine permits not every namespace")
        zygote = daemon.zygote().pid
        inits = [one for one in daemon.all_processes() if one.name == "cr-script-init"]
        self.assertEqual(len(inits), 1)
        os.kill(inits[0].pid, 9)
        row = daemon.wait_finished(execution)
        self.assertEqual(row["status"], "error")
        after = daemon.submit("acme", 'log("after")')
        self.assertEqual(daemon.wait_finished(after)["status"], "success")
        self.assertNotEqual(daemon.zygote().pid, zygote)
