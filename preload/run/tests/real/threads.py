"""Threads that pass work around by every means of the standard library, with known sums."""

import queue
import threading
import time

# A bounded queue between several producers and consumers.
work, results = queue.Queue(maxsize=5), queue.Queue()


def produce(first):
    for number in range(first, 3000, 3):
        work.put(number)


def consume():
    total = 0
    while (number := work.get()) is not None:
        total += number
        work.task_done()
    work.task_done()
    results.put(total)


consumers = [threading.Thread(target=consume) for _ in range(3)]
producers = [threading.Thread(target=produce, args=(first,)) for first in range(3)]
for thread in consumers + producers:
    thread.start()
for thread in producers:
    thread.join()
for _ in consumers:
    work.put(None)
work.join()
for thread in consumers:
    thread.join()
print("queue", sum(results.get() for _ in consumers))

# A condition with time-outs that pass and some that do not.
condition = threading.Condition()
turn, timeouts = 0, 0


def take_turns(mine):
    global turn
    for _ in range(200):
        with condition:
            while turn % 2 != mine:
                assert condition.wait(timeout=30)
            turn += 1
            condition.notify_all()


pair = [threading.Thread(target=take_turns, args=(mine,)) for mine in range(2)]
for thread in pair:
    thread.start()
for thread in pair:
    thread.join()
print("turns", turn)
with condition:
    begin = time.monotonic()
    for _ in range(5):
        timeouts += not condition.wait(timeout=0.01)
    assert time.monotonic() - begin >= 0.05
print("timeouts", timeouts)

# A semaphore, a barrier, an event and a lock that is reentrant.
semaphore, barrier, done = threading.Semaphore(2), threading.Barrier(4), threading.Event()
lock, count, inside, most = threading.RLock(), 0, 0, 0


def meet():
    global count, inside, most
    for _ in range(50):
        with semaphore:
            with lock:
                inside += 1
                most = max(most, inside)
            with lock, lock:
                count += 1
                inside -= 1
        barrier.wait(timeout=30)
    done.set()


crowd = [threading.Thread(target=meet) for _ in range(4)]
for thread in crowd:
    thread.start()
assert done.wait(timeout=30)
for thread in crowd:
    thread.join()
assert most <= 2
print("count", count, "inside", inside)
