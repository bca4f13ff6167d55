"""The named steps of an execution's life, and how each process is killed right after one of them.

A step is a function that brings a rig to that step and kills; the time of the kill is its answer.
Steps with `traced` need strace.
"""

import dataclasses
import signal
import time
from collections.abc import Callable

from support.injection import Trace
from support.wait import wait_until

from crash.rig import FOREVER, Rig, send


@dataclasses.dataclass(frozen=True)
class Step:
    victim: str
    name: str
    kill: Callable[[Rig], float | None]
    traced: bool = False


STEPS: list[Step] = []


def step(victim: str, name: str, traced: bool = False):
    def note(kill: Callable[[Rig], float]) -> Callable[[Rig], float]:
        STEPS.append(Step(victim, name, kill, traced))
        return kill
    return note


def killed_at_call(rig: Rig, pid: int, call: str, when: int, effects: int = 2) -> float | None:
    """Submits one execution; the process dies as it enters its `when`-th such call.

    None where it ended without that many.
    """
    with Trace(pid, call, "KILL", when) as trace:
        number = rig.submit("a", effects)
        if wait_until(lambda: trace.has("killed by SIGKILL") or rig.has_ended(number), 30,
                      f"{call} number {when}, or the end", 0.005) == "ended":
            return None
        return time.time()


# ---- main pid: api and drainer. Its commits of one execution: admission, mint.


@step("main", "admission committed, not acknowledged", traced=True)
def _(rig):
    return killed_at_call(rig, rig.daemon.pid, "fdatasync", 1)


@step("main", "mint committed, not sent", traced=True)
def _(rig):
    return killed_at_call(rig, rig.daemon.pid, "fdatasync", 2)


def killed_with_dispatch_sent(rig: Rig, wake: Callable[[int], None]) -> float:
    worker = rig.idle_worker()
    send(worker, signal.SIGSTOP)
    with Trace(rig.daemon.pid, "sendto") as trace:
        rig.submit("a")
        trace.wait_for("POST /codeRunner/runAsync")
    now = time.time()
    rig.kill_main()
    wake(worker)
    return now


@step("main", "dispatch sent, begun by an orphan", traced=True)
def _(rig):
    return killed_with_dispatch_sent(rig, lambda worker: send(worker, signal.SIGCONT))


@step("main", "dispatch sent, read after the restart", traced=True)
def _(rig):
    def wake(worker):
        rig.restart()  # revokes every outstanding nonce before anything else
        send(worker, signal.SIGCONT)
    return killed_with_dispatch_sent(rig, wake)


@step("main", "begun")
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    rig.kill_main()
    return now


@step("main", "answer on its way")
def _(rig):
    number = rig.submit("a")
    rig.wait_begun(number)
    send(rig.daemon.pid, signal.SIGSTOP)
    rig.daemon.wait_finished(number, 15)
    now = time.time()
    rig.kill_main()
    return now


@step("main", "revoke committed", traced=True)
def _(rig):
    # Its worker dies before the begin, so that the revoke finds the row queued.
    worker = rig.idle_worker()
    send(worker, signal.SIGSTOP)
    with Trace(rig.daemon.pid, "sendto") as trace:
        rig.submit("a")
        trace.wait_for("POST /codeRunner/runAsync")
    with Trace(rig.daemon.pid, "fdatasync", "KILL", 1) as trace:
        send(worker, signal.SIGKILL)
        trace.wait_for("killed by SIGKILL")
        return time.time()


# ---- Worker. Its commits of a run with two effects: begin, sending, answered, sending, answered, finish.


@step("worker", "dispatch read, not begun", traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "pwrite64", 1)


@step("worker", "begin committed", traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "fdatasync", 1)


@step("worker", "sending line committed", traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "fdatasync", 2)


@step("worker", "effect sent, unanswered")
def _(rig):
    number = rig.submit("a")
    worker = rig.worker_of(number)
    rig.wait_effects(number)
    now = time.time()
    send(worker, signal.SIGKILL)
    return now


@step("worker", "request sent, effect after its death", traced=True)
def _(rig):
    worker = rig.idle_worker()
    send(rig.fake.process.pid, signal.SIGSTOP)
    try:
        with Trace(worker, "sendto") as trace:
            rig.submit("a")
            trace.wait_for("POST /a/api/v2/cards")
        now = time.time()
        send(worker, signal.SIGKILL)
    finally:
        send(rig.fake.process.pid, signal.SIGCONT)
    return now


@step("worker", "answered, script not told", traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "sendto", 3)  # the source, the call, the answer


@step("worker", "finish committed, not answered", traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "fdatasync", 2, effects=0)


# ---- Script


@step("script", "begun, first statement not reached")
def _(rig):
    return killed_script(rig, 0)


@step("script", "effect answered")
def _(rig):
    return killed_script(rig, 2)


def killed_script(rig: Rig, effects: int) -> float:
    number = rig.submit("a", effects, FOREVER)
    rig.wait_begun(number)
    rig.wait_effects(number, effects)
    scripts = wait_until(rig.daemon.scripts, 10, "a script process", 0.004)
    now = time.time()
    send(scripts[-1].pid, signal.SIGKILL)
    rig.daemon.wait_finished(number, 15)
    return now


# ---- Zygote


@step("zygote", "idle")
def _(rig):
    rig.idle_worker()
    now = time.time()
    send(rig.daemon.zygote().pid, signal.SIGKILL)
    return now


@step("zygote", "begun")
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    send(rig.daemon.zygote().pid, signal.SIGKILL)
    return now


# ---- Executor master


@step("master", "idle")
def _(rig):
    rig.idle_worker()
    now = time.time()
    send(rig.daemon.master().pid, signal.SIGKILL)
    return now


@step("master", "dispatch sent", traced=True)
def _(rig):
    worker = rig.idle_worker()
    send(worker, signal.SIGSTOP)
    with Trace(rig.daemon.pid, "sendto") as trace:
        rig.submit("a")
        trace.wait_for("POST /codeRunner/runAsync")
    now = time.time()
    send(rig.daemon.master().pid, signal.SIGKILL)
    send(worker, signal.SIGCONT)
    return now


@step("master", "begun")
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    send(rig.daemon.master().pid, signal.SIGKILL)
    return now


# ---- Everything at once


@step("group", "acknowledged")
def _(rig):
    rig.submit("a")
    now = time.time()
    rig.daemon.kill9_group()
    return now


@step("group", "begun")
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    rig.daemon.kill9_group()
    return now


@step("group", "effect sent, unanswered")
def _(rig):
    number = rig.submit("a")
    rig.wait_effects(number)
    now = time.time()
    rig.daemon.kill9_group()
    return now
