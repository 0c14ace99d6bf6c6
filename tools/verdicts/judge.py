"""Whether an answer is right, going by what limits the program and by the stopwatch."""

from programs import Limit

# A program that does less than this much more on two cores than on one does not use the second.
USES = 1.4

# Verdicts that leave it open.
OPEN = {"unknown", "too-little-evidence", "no answer"}
# What an answer says that knows what more cores bring here, and not why.
UNEXPLAINED = "Why is not known."
RIGHT = {
    Limit.NOTHING: {"not-by-locks"},
    Limit.LOCK: {"limited-by-locks"},
    # An interpreter's lock is a lock, and threads that wait for it leave cores unused.
    Limit.TURNS: {"cores-unused", "limited-by-locks"},
    Limit.KERNEL: {"limited-by-kernel-locks"},
    Limit.ELSEWHERE: {"not-by-locks", "cores-unused"},
}


def judged(program, answer, measured):
    """`right`, `open` or `wrong`, and why where it is not plain."""
    verdict = answer.verdict
    if verdict in OPEN:
        return "open", ""
    if verdict == "not-by-locks" and not answer.scaling_known:
        # It says what was measured here, and no more.
        here = program.limit in (Limit.NOTHING, Limit.ELSEWHERE)
        return ("right" if here else "wrong"), ""
    if verdict == "not-by-locks" and answer.on_two is not None:
        # It says by its forecast what a second core brings.
        if (answer.on_two >= USES) != (measured >= USES):
            return "wrong", f"{answer.on_two:.2f} times on two cores"
    if program.limit is Limit.LOCK and verdict == "cores-unused" and UNEXPLAINED in answer.text:
        return "open", "why is not known"
    if verdict not in RIGHT[program.limit]:
        return "wrong", ""
    if verdict.startswith("limited") and program.names:
        if not any(name in answer.text for name in program.names):
            return "wrong", "another lock"
    return "right", ""
