"""Threads that compute, of which Python runs one at a time: the lock is the interpreter's own.

A thread holds that lock for HOLD_US while it computes in Python. It lets go of the lock while it
hashes a block of bytes, which takes it THINK_US. Blocks below 2 KiB, some microseconds, are hashed
with the lock held. All that a thread does between two hashes counts as hold, its book-keeping too.
See ../c/planted.h for what a program does.
"""

import hashlib
import json
import os
import signal
import sys
import threading
from time import monotonic_ns, thread_time_ns

SECOND_NS = 1_000_000_000
BLOCK_MOST = 1 << 24
LEAST_RELEASED = 2048


class Worker(threading.Thread):
    def __init__(self, number, run):
        super().__init__()
        self.run_ = run
        self.random = 0x9E3779B97F4A7C15 * (number + 1) & (1 << 64) - 1
        self.acquisitions = self.hold_ns = self.hold_wall_ns = 0
        self.thinks = self.think_ns = 0
        self.per_second = [0] * (run.seconds_most + 1)

    def draw(self):
        """A number from 0.5 to 1.5."""
        random = self.random
        random ^= random << 13 & (1 << 64) - 1
        random ^= random >> 7
        random ^= random << 17 & (1 << 64) - 1
        self.random = random
        return 0.5 + (random >> 11) / (1 << 53)

    def run(self):
        run = self.run_
        run.gate.wait()
        block = run.block
        size = run.think_size(self.draw())
        while True:
            released = thread_time_ns()
            hashlib.sha256(block[:size])
            hashed = thread_time_ns()
            self.thinks += 1
            self.think_ns += hashed - released
            if run.over():
                return
            taken, taken_wall = hashed, monotonic_ns()
            size = run.think_size(self.draw())
            planted_section(taken + run.hold_ns)
            second = (taken_wall - run.start_ns) // SECOND_NS
            if second < len(self.per_second):
                self.per_second[second] += 1
            self.acquisitions += 1
            # The next hash begins right after these lines.
            self.hold_wall_ns += monotonic_ns() - taken_wall
            self.hold_ns += thread_time_ns() - taken


def planted_section(until_ns):
    """Computes until the thread's clock says `until_ns`."""
    work = 1
    while thread_time_ns() < until_ns:
        for _ in range(20):
            work = work * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1


def number(text, least, most):
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        sys.exit(f"planted: {text} is no number from {least} to {most}")
    return number


def hash_ns_per_byte():
    block = bytes(1 << 18)
    begin = thread_time_ns()
    for _ in range(8):
        hashlib.sha256(block)
    return (thread_time_ns() - begin) / 8 / len(block)


class Run:
    def __init__(self, words):
        idle_start = len(words) == 5 and words[4] == "--idle-start"
        if len(words) != (5 if idle_start else 4):
            sys.exit("usage: gil.py THREADS HOLD_US THINK_US SECONDS [--idle-start]")
        self.threads = int(number(words[0], 1, 1000))
        self.hold_ns = int(1e3 * number(words[1], 0, 1e9))
        self.think_ns = 1e3 * number(words[2], 0, 1e9)
        self.run_ns = int(1e9 * number(words[3], 0, 3600))
        self.idle_start = idle_start
        self.seconds_most = self.run_ns // SECOND_NS + 60
        self.bytes_per_ns = 1 / hash_ns_per_byte()
        size = min(int(1.5 * self.think_ns * self.bytes_per_ns) + 1, BLOCK_MOST)
        self.block = memoryview(bytes(max(size, LEAST_RELEASED)))
        self.gate = threading.Event()
        self.stop = self.awaits_line = False
        self.start_ns = self.deadline_ns = 0

    def think_size(self, part):
        return int(self.think_ns * part * self.bytes_per_ns)

    def over(self):
        return self.stop or monotonic_ns() >= self.deadline_ns

    def terminate(self, _signal, _frame):
        self.stop = True
        if self.awaits_line:
            raise InterruptedError

    def wait_for_line(self):
        try:
            self.awaits_line = True
            while os.read(0, 1) not in (b"\n", b""):
                pass
            self.awaits_line = False
        except InterruptedError:
            pass


def main():
    run = Run(sys.argv[1:])
    workers = [Worker(i, run) for i in range(run.threads)]
    for worker in workers:
        worker.start()
    signal.signal(signal.SIGTERM, run.terminate)
    print("ready", os.getpid(), flush=True)
    if run.idle_start:
        run.wait_for_line()
    run.start_ns = monotonic_ns()
    run.deadline_ns = run.start_ns + run.run_ns
    if run.idle_start:
        print("begun", flush=True)
    run.gate.set()
    for worker in workers:
        # With a timeout, since a signal that comes just before a wait would be noticed only behind it.
        while worker.is_alive():
            worker.join(0.1)
    wall_ns = monotonic_ns() - run.start_ns
    seconds = min(wall_ns // SECOND_NS, run.seconds_most)
    acquisitions = sum(worker.acquisitions for worker in workers)
    thinks = sum(worker.thinks for worker in workers)

    def mean(name, count):
        return sum(getattr(worker, name) for worker in workers) / max(count, 1)

    truth = {
        "language": "python",
        "lock": "gil",
        "threads": run.threads,
        "acquisitions": acquisitions,
        "hold_ns_mean": round(mean("hold_ns", acquisitions), 1),
        "hold_wall_ns_mean": round(mean("hold_wall_ns", acquisitions), 1),
        "think_ns_mean": round(mean("think_ns", thinks), 1),
        "wall_ns": wall_ns,
        "per_second": [sum(w.per_second[s] for w in workers) for s in range(seconds)],
    }
    print(json.dumps(truth, separators=(",", ":")), flush=True)


main()
