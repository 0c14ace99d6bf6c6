"""Keeps of a profile what forecasts use: keep.py PROFILE KEPT.

The process images that took most locks, one in each run; of their locks the most used ones, as many
as make up 999 thousandths of the acquisitions and of the time held, so that what is left out is at
most a thousandth in all, however many locks share it; condition variables with at least a hundredth of
the time waited. Barriers all stay; where locks are taken is left out. Long names of functions are cut short.
"""

import json
import os
import sys

with open(sys.argv[1]) as file:
    profile = json.load(file)


def uses(lock):
    return lock["acquisitions"] + lock.get("read", {}).get("acquisitions", 0)


def held(lock):
    return lock["hold"]["sum_ns"] + lock.get("read", {}).get("hold", {}).get("sum_ns", 0)


def most(locks, amount):
    """The ids of the locks that have most, until they have 999 thousandths of it all."""
    left = sum(map(amount, locks)) * 0.999
    ids = set()
    for lock in sorted(locks, key=amount, reverse=True):
        if left <= 0:
            break
        ids.add(lock["id"])
        left -= amount(lock)
    return ids


for run in profile["runs"]:
    process = max(run["processes"], key=lambda process: sum(map(uses, process["locks"])))
    run["processes"] = [process]
    wanted = most(process["locks"], uses) | most(process["locks"], held)
    kept = [lock for lock in process["locks"] if lock["id"] in wanted]
    ids = {lock["id"] for lock in kept}
    for lock in kept:
        lock.pop("callers", None)
        if "nested_in" in lock:
            lock["nested_in"] = [outer for outer in lock["nested_in"] if outer["outer"] in ids]
    process["locks"] = kept
    waited = sum(condition["wait"]["sum_ns"] for condition in process["conditions"])
    process["conditions"] = [
        condition for condition in process["conditions"]
        if condition["wait"]["sum_ns"] >= waited / 100 > 0
    ]

# Names of C++ templates run to thousands of characters; their beginning tells what they are.
LONGEST = 100


def shortened(value):
    if isinstance(value, dict):
        name = value.get("function")
        if name and len(name) > LONGEST:
            value["function"] = name[: LONGEST - 1] + "…"
        for inner in value.values():
            shortened(inner)
    elif isinstance(value, list):
        for inner in value:
            shortened(inner)


shortened(profile)

top = os.path.abspath(os.path.join(os.path.dirname(sys.argv[0]), "..", "..")) + os.sep


def below_top(value):
    """The same with paths of the project as seen from its top, wherever that was."""
    if isinstance(value, str):
        return value.removeprefix(top)
    if isinstance(value, list):
        return [below_top(part) for part in value]
    if isinstance(value, dict):
        return {name: below_top(part) for name, part in value.items()}
    return value


with open(sys.argv[2], "w") as file:
    json.dump(below_top(profile), file, separators=(",", ":"), ensure_ascii=False)
    file.write("\n")
