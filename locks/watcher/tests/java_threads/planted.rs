//! What every dump of the program `Planted.java` has to say, whichever JDK writes it.

use kilocore_lock_watcher::java_threads::{Dump, HeldKind, JavaThread, State, WaitKind};

/// The source of the program that the dumps are of.
const SOURCE: &str = include_str!("Planted.java");

/// The line of the program with the comment `// planted: NAME`.
fn line_of(name: &str) -> u32 {
    let comment = format!("// planted: {name}");
    let index = SOURCE.lines().position(|line| line.ends_with(&comment));
    u32::try_from(index.expect("the program has the comment")).expect("it is short") + 1
}

/// How the frame of a method at a planted line is shown: `Planted.METHOD (Planted.java:LINE)`.
fn at(method: &str, name: &str) -> String {
    format!("Planted.{method} (Planted.java:{})", line_of(name))
}

fn named<'a>(dump: &'a Dump, name: &str) -> &'a JavaThread {
    let thread = dump.threads.iter().find(|thread| thread.name == name);
    thread.unwrap_or_else(|| panic!("no thread {name} in {dump:#?}"))
}

fn place(thread: &JavaThread) -> String {
    thread.place().expect("it is in the program").to_string()
}

/// Checks all but who holds the lock, which is told on demand. Returns the lock's address.
pub(crate) fn check_waits(dump: &Dump) -> u64 {
    assert!(dump.complete);
    let monitor = named(dump, "waits for \"the\" monitor");
    assert_eq!(monitor.state, Some(State::Blocked));
    assert_eq!(place(monitor), at("enterMonitor", "monitor"));
    assert_eq!(monitor.holds, []);
    let waited = monitor.waits_for.as_ref().expect("it waits");
    assert_eq!(
        (waited.kind, waited.class.as_deref()),
        (WaitKind::Monitor, Some("java.lang.Object"))
    );
    let (holder, held) = dump.holder(waited.address.expect("it is known")).expect("it is held");
    assert_eq!((&*holder.name, held.kind), ("main", HeldKind::Monitor));
    assert_eq!(holder.taken_at(held).expect("a frame").to_string(), at("main", "main"));

    let bell = named(dump, "waits for the bell");
    assert_eq!(bell.state, Some(State::Waiting));
    assert_eq!(place(bell), at("listen", "bell"));
    assert_eq!(bell.waits_for.as_ref().expect("it waits").kind, WaitKind::Notification);
    assert_eq!(bell.holds, [], "whoever waits to be notified has given up the monitor");

    let lock = named(dump, "waits for the lock");
    assert_eq!(lock.state, Some(State::Waiting));
    assert_eq!(place(lock), at("takeLock", "lock"));
    assert!(lock.frames[0].native && !lock.frames[0].is_own());
    let waited = lock.waits_for.as_ref().expect("it waits");
    assert_eq!(waited.kind, WaitKind::Synchronizer);
    let class = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
    assert_eq!(waited.class.as_deref(), Some(class));
    waited.address.expect("it is known")
}

/// Checks all of it.
pub(crate) fn check(dump: &Dump) {
    let lock = check_waits(dump);
    let (holder, held) = dump.holder(lock).expect("it is held");
    assert_eq!((&*holder.name, held.kind, held.frame), ("main", HeldKind::Synchronizer, None));
    assert_eq!(holder.taken_at(held), None);
}
