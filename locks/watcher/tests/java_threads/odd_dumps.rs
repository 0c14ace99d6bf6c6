//! Dumps that say less than the planted ones, or say it otherwise.

use kilocore_lock_watcher::java_threads::{Dump, HeldKind, JavaThread, State, WaitKind};

/// The only thread of a dump.
fn thread(state: &str, lines: &str) -> JavaThread {
    let text = format!("\"a\" #1 nid=0x7 x\n   java.lang.Thread.State: {state}\n{lines}\n");
    let mut threads = Dump::parse(text.as_bytes()).threads;
    assert_eq!(threads.len(), 1);
    threads.remove(0)
}

fn waited(thread: &JavaThread) -> (WaitKind, Option<u64>, Option<&str>) {
    let waited = thread.waits_for.as_ref().expect("it waits");
    (waited.kind, waited.address, waited.class.as_deref())
}

fn held(thread: &JavaThread) -> Vec<(u64, Option<usize>)> {
    thread.holds.iter().map(|held| (held.address, held.frame)).collect()
}

#[test]
fn a_notified_thread_waits_for_the_monitor() {
    let lines = "\tat java.lang.Object.wait(Native Method)
\t- waiting to re-lock in wait() <0x5> (a B)
\tat A.f(A.java:1)
\t- waiting to re-lock in wait() <0x5> (a B)
\t- locked <0x6> (a C)";
    let thread = thread("BLOCKED (on object monitor)", lines);
    assert_eq!(waited(&thread), (WaitKind::Monitor, Some(5), Some("B")));
    assert_eq!(held(&thread), [(6, Some(1))]);
}

#[test]
fn the_frame_below_says_what_is_waited_on() {
    let lines = "\tat java.lang.Object.wait(Native Method)
\t- waiting on <no object reference available>
\tat A.f(A.java:1)
\t- waiting to re-lock in wait() <0x5> (a B)";
    let thread = thread("WAITING (on object monitor)", lines);
    assert_eq!(waited(&thread), (WaitKind::Notification, Some(5), Some("B")));
}

#[test]
fn the_only_monitor_is_that_which_is_waited_on() {
    let lines = "\tat java.lang.Object.wait0(java.base@21/Native Method)
\t- waiting on <no object reference available>
\tat A.f(A.java:1)
\tat A.g(A.java:2)
\t- locked <0x5> (a B)
   Locked ownable synchronizers:
\t- <0x9> (a L)";
    let thread = thread("WAITING (on object monitor)", lines);
    assert_eq!(waited(&thread), (WaitKind::Notification, Some(5), Some("B")));
    assert_eq!(held(&thread), [(9, None)]);
}

#[test]
fn which_of_two_monitors_is_waited_on_stays_unknown() {
    let lines = "\tat java.lang.Object.wait0(java.base@21/Native Method)
\t- waiting on <no object reference available>
\tat A.f(A.java:1)
\t- locked <0x5> (a B)
\t- locked <0x6> (a C)
   Locked ownable synchronizers:
\t- <0x9> (a L)";
    let thread = thread("TIMED_WAITING (on object monitor)", lines);
    assert_eq!(thread.state, Some(State::TimedWaiting));
    assert_eq!(waited(&thread), (WaitKind::Notification, None, None));
    assert_eq!(held(&thread), [(9, None)]);
}

#[test]
fn a_monitor_entered_twice_is_held_once_by_the_outermost_frame() {
    let lines = "\tat A.f(A.java:1)
\t- locked <0x5> (a B)
\t- eliminated <0x6> (a C)
\tat A.g(A.java:2)
\tat A.h(A.java:3)
\t- locked <0x5> (a B)";
    let thread = thread("RUNNABLE", lines);
    assert_eq!(held(&thread), [(5, Some(2))]);
    assert_eq!(thread.holds[0].kind, HeldKind::Monitor);
    assert_eq!(thread.taken_at(&thread.holds[0]).unwrap().to_string(), "A.h (A.java:3)");
}

#[test]
fn a_condition_is_waited_on_and_not_for() {
    let class = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";
    let lines = format!("\tat A.f(A.java:1)\n\t- parking to wait for  <0x5> (a {class})");
    let thread = thread("WAITING (parking)", &lines);
    assert_eq!(waited(&thread), (WaitKind::Notification, Some(5), Some(class)));
}

#[test]
fn the_initialization_of_a_class_is_waited_for() {
    let lines = "\tat A.f(A.java:1)\n\t- waiting on the Class initialization monitor for a.B";
    let thread = thread("RUNNABLE", lines);
    assert_eq!(waited(&thread), (WaitKind::ClassInitialization, None, Some("a.B")));
}

#[test]
fn stacks_of_a_deadlock_are_no_threads_of_their_own() {
    let text = "\"a\" #1 nid=1 x
   java.lang.Thread.State: RUNNABLE
\tat A.f(A.java:1)

Found one Java-level deadlock:
=============================
\"a\":
  waiting to lock monitor 0x1 (object 0x2, a B),
  which is held by \"b\"

Java stack information for the threads listed above:
\"a\":
\tat A.f(A.java:1)
\t- waiting to lock <0x2> (a B)
";
    let dump = Dump::parse(text.as_bytes());
    assert_eq!(dump.threads.len(), 1);
    assert_eq!((dump.threads[0].frames.len(), &dump.threads[0].waits_for), (1, &None));
}

#[test]
fn what_follows_a_name_of_two_lines_is_nobodys() {
    let text = "\"a\" nid=1 x\n\tat A.f(A.java:1)\n\n\"b\nc\" nid=2 x\n\tat B.g(B.java:2)\n";
    let dump = Dump::parse(text.as_bytes());
    assert_eq!(dump.threads.len(), 1);
    assert_eq!((&*dump.threads[0].name, dump.threads[0].frames.len()), ("a", 1));
}

#[test]
fn a_virtual_thread_stands_on_the_thread_that_carries_it() {
    // As JDK 25 writes it, shortened. It gives no `nid` here.
    let text = "\"ForkJoinPool-1-worker-1\" #23 [25601] daemon prio=5 tid=0x00007feb  [0x00007fea]
   Carrying virtual thread #24
\tat java.lang.VirtualThread.runContinuation(java.base@25.0.3/VirtualThread.java:297)
\t- locked <0x5> (a B)
   Mounted virtual thread #24
\tat Shop.sell(Shop.java:4)
\t- waiting to lock <0x6> (a C)
\tat Shop.open(Shop.java:5)
\t- locked <0x7> (a D)

   Locked ownable synchronizers:
\t- <0x9> (a L)
";
    let dump = Dump::parse(text.as_bytes());
    let thread = dump.thread(25601).expect("it has an id");
    assert_eq!(thread.carries, Some(24));
    assert_eq!(waited(thread), (WaitKind::Monitor, Some(6), Some("C")));
    assert_eq!(thread.place().unwrap().to_string(), "Shop.sell (Shop.java:4)");
    assert_eq!(thread.frames.len(), 3);
    assert_eq!(held(thread), [(7, Some(1)), (9, None), (5, Some(2))]);
}

#[test]
fn a_thread_that_carries_one_may_show_its_own_stack_only() {
    // As JDK 21 writes it, shortened.
    let text = "\"ForkJoinPool-1-worker-1\" #19 [25549] daemon prio=5 tid=0x00007f8e  [0x00007f8e]
   Carrying virtual thread #18
\tat java.lang.VirtualThread.runContinuation(java.base@21.0.8/Unknown Source)
";
    let dump = Dump::parse(text.as_bytes());
    let thread = dump.thread(25549).expect("it has an id");
    assert_eq!((thread.carries, thread.place(), &thread.waits_for), (Some(18), None, &None));
}
