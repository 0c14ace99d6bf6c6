"""Threads of Python, of which one at a time runs; with "processes", processes instead."""

import sys
from multiprocessing import Process
from threading import Thread


def work(steps):
    sum(step * step % 7 for step in range(steps))


if __name__ == "__main__":
    kind = Process if sys.argv[1] == "processes" else Thread
    workers, steps = int(sys.argv[2]), int(sys.argv[3])
    all = [kind(target=work, args=(steps // workers,)) for _ in range(workers)]
    for each in all:
        each.start()
    for each in all:
        each.join()
