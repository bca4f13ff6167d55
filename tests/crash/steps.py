"""The named steps of an execution's life, and how each process is killed right after one of them.

A step is a function that brings a rig to that step and kills; the time of the kill is its answer.
Steps with `traced` need strace.
"""

import dataclasses
import signal
import threading
import time
from collections.abc import Callable

from support.injection import Trace
from support.wait import wait_until

from crash.rig import FOREVER, Rig, send


@dataclasses.dataclass(frozen=True)
class Leaves:
    """What the kill makes of the execution: by it a kill is known to have met its step."""

    code: int | None                 # None: success
    announced: int | None = None     # None: any number
    effects: int | None = None


WHOLE = Leaves(None, 2, 2)


@dataclasses.dataclass(frozen=True)
class Step:
    victim: str
    name: str
    kill: Callable[[Rig], float | None]
    leaves: Leaves | None = None
    traced: bool = False
    kills: bool = True               # False: the victim is only stopped, and woken


STEPS: list[Step] = []
AFTER_THE_END = 0.3  # what a process may still do with a run that has its end


def step(victim: str, name: str, leaves: Leaves | None, traced: bool = False):
    def note(kill: Callable[[Rig], float]) -> Callable[[Rig], float]:
        STEPS.append(Step(victim, name, kill, leaves, traced))
        return kill
    return note


def killed_at_call(rig: Rig, pid: int, call: str, when: int, follow: bool = True) -> float | None:
    """Submits one execution; the process dies as it (with `follow`: a thread of it) enters its
    `when`-th such call.

    None where it ended without that many.
    """
    with Trace(pid, call, "KILL", when, follow) as trace:
        number = rig.submit("a")
        wait_until(lambda: trace.has("killed by SIGKILL") or rig.has_ended(number), 30,
                   f"{call} number {when}, or the end", 0.005)
        end = time.monotonic() + AFTER_THE_END
        while not trace.has("killed by SIGKILL"):
            if time.monotonic() > end:
                return None
            time.sleep(0.005)
        return time.time()


def stopped_at_call(rig: Rig, pid: int, call: str, when: int, pause: float) -> float | None:
    """The same, but it lies still there for `pause` seconds, the store's lock perhaps in its hand,
    and wakes. The time it woke."""
    with Trace(pid, call, "STOP", when) as trace:
        client = threading.Thread(target=rig.submit, args=["a"])
        client.start()
        before = len(rig.acknowledged)
        wait_until(lambda: trace.has("stopped by SIGSTOP") or
                   (len(rig.acknowledged) > before and rig.has_ended(rig.acknowledged[-1])),
                   30, f"{call} number {when}, or the end", 0.005)
    time.sleep(pause)
    send(pid, signal.SIGCONT)
    client.join(30)
    return time.time()


# ---- main pid: api and drainer. Its commits of one execution: admission, mint, perhaps a revoke.


@step("main", "admission committed, not acknowledged", WHOLE, traced=True)
def _(rig):
    return killed_at_call(rig, rig.daemon.pid, "sendto", 1)  # which wakes the drainer


def drainer_thread(rig: Rig) -> int:
    """The one that sends dispatches."""
    with Trace(rig.daemon.pid, "sendto") as trace:
        rig.idle_worker()
        trace.wait_for("POST /codeRunner/runAsync")
        line = next(one for one in trace.lines() if "POST /codeRunner/runAsync" in one)
        return int(line.split()[0])


@step("main", "mint committed, not sent", WHOLE, traced=True)
def _(rig):
    return killed_at_call(rig, drainer_thread(rig), "sendto", 1, follow=False)


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


@step("main", "dispatch sent, begun by an orphan", WHOLE, traced=True)
def _(rig):
    return killed_with_dispatch_sent(rig, lambda worker: send(worker, signal.SIGCONT))


@step("main", "dispatch sent, read after the restart", WHOLE, traced=True)
def _(rig):
    def wake(worker):
        rig.restart()  # revokes every outstanding nonce before anything else
        send(worker, signal.SIGCONT)
    return killed_with_dispatch_sent(rig, wake)


@step("main", "begun", WHOLE)
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    rig.kill_main()
    return now


@step("main", "answer on its way", WHOLE)
def _(rig):
    number = rig.submit("a")
    rig.wait_begun(number)
    send(rig.daemon.pid, signal.SIGSTOP)
    rig.daemon.wait_finished(number, 15)
    now = time.time()
    rig.kill_main()
    return now


@step("main", "revoke committed", WHOLE, traced=True)
def _(rig):
    # Its worker dies before the begin, so that the revoke finds the row queued.
    drainer = drainer_thread(rig)
    worker = rig.idle_worker()
    send(worker, signal.SIGSTOP)
    with Trace(rig.daemon.pid, "sendto") as trace:
        rig.submit("a")
        trace.wait_for("POST /codeRunner/runAsync")
    # What follows the commit is the line in the log.
    with Trace(drainer, "write", "KILL", 1, follow=False) as trace:
        send(worker, signal.SIGKILL)
        trace.wait_for("killed by SIGKILL")
        return time.time()


# ---- Worker. A run: spawn, begin, source to the script; then for each effect: sending line, call,
# answer to the script; then finish, answer to the drainer.


@step("worker", "dispatch read, not begun", WHOLE, traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "pwrite64", 1)


@step("worker", "begin committed", Leaves(303, 0, 0), traced=True)
def _(rig):
    return killed_after_begin(rig)


def killed_after_begin(rig: Rig) -> float | None:
    return killed_at_call(rig, rig.idle_worker(), "sendto", 1)


@step("worker", "sending line committed", Leaves(303, 1, 0), traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "sendto", 2)


@step("worker", "effect sent, unanswered", Leaves(303, 1, 1))
def _(rig):
    number = rig.submit("a")
    worker = rig.worker_of(number)
    rig.wait_effects(number)
    now = time.time()
    send(worker, signal.SIGKILL)
    return now


@step("worker", "request sent, effect after its death", Leaves(303, 1, 1), traced=True)
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


@step("worker", "answered, script not told", Leaves(303, 1, 1), traced=True)
def _(rig):
    return killed_at_call(rig, rig.idle_worker(), "sendto", 3)


@step("worker", "finish committed, not answered", WHOLE, traced=True)
def _(rig):
    return killed_after_finish(rig)


def killed_after_finish(rig: Rig) -> float | None:
    return killed_at_call(rig, rig.idle_worker(), "sendmsg", 2)  # to the zygote, to the drainer


# ---- Script


@step("script", "begun, first statement not reached", Leaves(302, 0, 0))
def _(rig):
    return killed_script(rig, 0)


@step("script", "effect answered", Leaves(302, 2, 2))
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


@step("zygote", "idle", None)
def _(rig):
    rig.idle_worker()
    now = time.time()
    send(rig.daemon.zygote().pid, signal.SIGKILL)
    return now


@step("zygote", "begun", Leaves(303))
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    send(rig.daemon.zygote().pid, signal.SIGKILL)
    return now


# ---- Executor master


@step("master", "idle", None)
def _(rig):
    rig.idle_worker()
    now = time.time()
    send(rig.daemon.master().pid, signal.SIGKILL)
    return now


@step("master", "dispatch sent", WHOLE, traced=True)
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


@step("master", "begun", WHOLE)
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    send(rig.daemon.master().pid, signal.SIGKILL)
    return now


# ---- Everything at once


@step("group", "acknowledged", None)
def _(rig):
    rig.submit("a")
    now = time.time()
    rig.daemon.kill9_group()
    return now


@step("group", "begun", Leaves(303))
def _(rig):
    rig.wait_begun(rig.submit("a"))
    now = time.time()
    rig.daemon.kill9_group()
    return now


@step("group", "effect sent, unanswered", Leaves(303, 1, 1))
def _(rig):
    number = rig.submit("a")
    rig.wait_effects(number)
    now = time.time()
    rig.daemon.kill9_group()
    return now
