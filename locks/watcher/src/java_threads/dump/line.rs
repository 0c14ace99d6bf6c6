//! The lines of a dump, one by one, as JDK 8 to 25 write them:
//!
//! ```text
//! "main" #1 [4711] daemon prio=5 os_prio=0 cpu=1.2ms elapsed=3.25s tid=0x7f69 nid=0x19a4 runnable  [0x7f6]
//!    java.lang.Thread.State: BLOCKED (on object monitor)
//!         at Shop.sell(Shop.java:12)
//!         - waiting to lock <0x000000069eb478f0> (a java.lang.Object)
//!    Locked ownable synchronizers:
//!         - <0x000000069eb47a58> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
//! ```

use super::{JavaFrame, State};

/// The highest thread id that Linux gives.
const HIGHEST_TID: u32 = 1 << 22;

/// A line below that with a thread's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    State(Option<State>),
    Frame(JavaFrame),
    Lock(Lock, Object<'a>),
    /// What follows are synchronizers that the thread holds.
    Synchronizers,
    /// It carries the virtual thread of this number. Its own stack follows.
    Carrying(u64),
    /// What follows is the stack of the virtual thread that it carries.
    Mounted,
    /// Something else, of which nothing is made.
    Other,
}

/// What a thread has to do with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// It waits to enter its monitor.
    Enter,
    /// It was notified, or will be, and enters its monitor again then.
    EnterAgain,
    /// It waits in `Object.wait`.
    Wait,
    /// It is parked by `LockSupport`, for the sake of this object.
    Park,
    /// It waits until the class is initialized.
    Initialization,
    /// It holds its monitor.
    Locked,
    /// It holds the synchronizer.
    Owned,
}

/// An object, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Object<'a> {
    pub(super) address: Option<u64>,
    pub(super) class: Option<&'a str>,
}

/// How lines about objects begin. Monitors that the compiler has eliminated are not among them:
/// nobody waits for these.
const LOCKS: [(&str, Lock); 6] = [
    ("waiting to lock ", Lock::Enter),
    ("waiting to re-lock in wait() ", Lock::EnterAgain),
    ("waiting on the Class initialization monitor for ", Lock::Initialization),
    ("waiting on ", Lock::Wait),
    ("parking to wait for ", Lock::Park),
    ("locked ", Lock::Locked),
];

/// Returns the name and the id of the thread whose description a line begins, or `None` if it begins
/// none. A name may have any characters in it; what follows has no quotes. JDK 19 and later give the
/// id in brackets and again as `nid`, but they leave the latter out for a thread that carries a
/// virtual one.
pub(super) fn header(line: &str) -> Option<(&str, Option<u32>)> {
    let (name, attributes) = line.strip_prefix('"')?.rsplit_once("\" ")?;
    let words = || attributes.split_ascii_whitespace();
    words().find(|word| word.starts_with("nid=") || word.starts_with("tid="))?;
    let id = words().find_map(|word| number(word.strip_prefix("nid=")?));
    let bracketed =
        || words().find_map(|word| word.strip_prefix('[')?.strip_suffix(']')?.parse().ok());
    Some((name, id.or_else(bracketed).filter(is_tid)))
}

fn is_tid(id: &u32) -> bool {
    (1..=HIGHEST_TID).contains(id)
}

/// JDK 8 to 20 write hexadecimal numbers, later ones write decimal ones.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Understands a line below that with a thread's name.
pub(super) fn line(text: &str) -> Line<'_> {
    let text = text.trim();
    if let Some(frame) = text.strip_prefix("at ") {
        return frame_of(frame).map_or(Line::Other, Line::Frame);
    }
    if let Some(lock) = text.strip_prefix("- ") {
        return lock_of(lock).map_or(Line::Other, |(lock, object)| Line::Lock(lock, object));
    }
    if let Some(state) = text.strip_prefix("java.lang.Thread.State: ") {
        return Line::State(state_of(state));
    }
    if let Some(number) = text.strip_prefix("Carrying virtual thread #") {
        return number.parse().map_or(Line::Other, Line::Carrying);
    }
    match text {
        "Locked ownable synchronizers:" => Line::Synchronizers,
        _ if text.starts_with("Mounted virtual thread #") => Line::Mounted,
        _ => Line::Other,
    }
}

/// The words in parentheses say on what.
fn state_of(text: &str) -> Option<State> {
    Some(match text.split_ascii_whitespace().next()? {
        "NEW" => State::New,
        "RUNNABLE" => State::Runnable,
        "BLOCKED" => State::Blocked,
        "WAITING" => State::Waiting,
        "TIMED_WAITING" => State::TimedWaiting,
        "TERMINATED" => State::Terminated,
        _ => return None,
    })
}

/// `java.lang.Thread.run(java.base@17.0.15/Thread.java:840)`; JDK 8 has no module. A class may have
/// any characters in its name, a class of a lambda has an address.
fn frame_of(text: &str) -> Option<JavaFrame> {
    let (name, source) = text.strip_suffix(')')?.rsplit_once('(')?;
    let (class, method) = name.rsplit_once('.')?;
    let source = source.rsplit_once('/').map_or(source, |(_module, source)| source);
    let (file, line) = match source.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (source, None),
    };
    let native = source == "Native Method";
    let unknown = native || file.is_empty() || source == "Unknown Source";
    Some(JavaFrame {
        class: class.to_owned(),
        method: method.to_owned(),
        file: (!unknown).then(|| file.to_owned()),
        line,
        native,
    })
}

fn lock_of(text: &str) -> Option<(Lock, Object<'_>)> {
    if text.starts_with('<') {
        return Some((Lock::Owned, object(text)));
    }
    let (rest, lock) =
        LOCKS.iter().find_map(|(words, lock)| Some((text.strip_prefix(words)?, *lock)))?;
    let object = match lock {
        Lock::Initialization => Object { address: None, class: Some(rest) },
        _ => object(rest),
    };
    Some((lock, object))
}

/// `<0x000000069eb478f0> (a java.lang.Object)`, or words in place of the address.
fn object(text: &str) -> Object<'_> {
    let address = text.trim_start().strip_prefix("<0x").and_then(|text| text.split_once('>'));
    let class = text.split_once("(a ").and_then(|(_, class)| class.strip_suffix(')'));
    Object { address: address.and_then(|(digits, _)| u64::from_str_radix(digits, 16).ok()), class }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_each_way_of_writing_them() {
        let id = |attributes: &str| header(&format!("\"a\" {attributes}")).map(|(_, id)| id);
        assert_eq!(
            id("#1 prio=5 os_prio=0 tid=0x00 nid=0x1a2b runnable [0x7]"),
            Some(Some(0x1a2b))
        );
        assert_eq!(id("#1 [6] prio=5 tid=0x00 nid=1234 runnable [0x7]"), Some(Some(1234)));
        assert_eq!(id("#1 [1234] prio=5 tid=0x00 nid=NA runnable"), Some(Some(1234)));
        assert_eq!(id("os_prio=0 tid=0x00 nid=NA runnable"), Some(None));
        assert_eq!(id("nid=4294967295"), Some(None));
        assert_eq!(id("nid=0x0"), Some(None));
        assert_eq!(id("#19 [255] daemon tid=0x00  [0x00007f8e8c78a000]"), Some(Some(255)));
        assert_eq!(id("prio=5"), None);
    }

    #[test]
    fn names_may_have_quotes() {
        assert_eq!(header("\"a \"b\" nid=\" nid=0x10 x"), Some(("a \"b\" nid=", Some(16))));
        assert_eq!(header("\"\" nid=0x10 x"), Some(("", Some(16))));
        // As below "Found one Java-level deadlock".
        assert_eq!(header("\"Thread-1\":"), None);
        assert_eq!(header("\""), None);
    }

    #[test]
    fn frames_are_read_with_and_without_a_module() {
        let read = |text| match line(text) {
            Line::Frame(frame) => (frame.class, frame.method, frame.file, frame.line, frame.native),
            other => panic!("{other:?}"),
        };
        let expect = |class: &str, method: &str, file: Option<&str>, line, native| {
            (class.to_owned(), method.to_owned(), file.map(str::to_owned), line, native)
        };
        assert_eq!(
            read("\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)"),
            expect("java.lang.Thread", "run", Some("Thread.java"), Some(840), false)
        );
        assert_eq!(
            read("\tat a.B$C.<init>(B.java)"),
            expect("a.B$C", "<init>", Some("B.java"), None, false)
        );
        assert_eq!(
            read("\tat java.lang.Object.wait(Native Method)"),
            expect("java.lang.Object", "wait", None, None, true)
        );
        assert_eq!(
            read("\tat P$$Lambda$219/0x00007f6908148408.run(Unknown Source)"),
            expect("P$$Lambda$219/0x00007f6908148408", "run", None, None, false)
        );
        assert_eq!(line("\tat nonsense"), Line::Other);
        assert_eq!(line("\tat "), Line::Other);
    }

    #[test]
    fn objects_are_read_as_far_as_they_are_known() {
        let read = |text| match line(text) {
            Line::Lock(lock, object) => (lock, object.address, object.class),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            read("\t- parking to wait for  <0x00000000e1> (a a.B$C)"),
            (Lock::Park, Some(0xe1), Some("a.B$C"))
        );
        assert_eq!(
            read("\t- waiting to lock <0x1> (a java.lang.Class for a.B)"),
            (Lock::Enter, Some(1), Some("java.lang.Class for a.B"))
        );
        assert_eq!(
            read("\t- waiting to re-lock in wait() <0x1> (a A)"),
            (Lock::EnterAgain, Some(1), Some("A"))
        );
        assert_eq!(
            read("\t- waiting on <no object reference available>"),
            (Lock::Wait, None, None)
        );
        assert_eq!(
            read("\t- waiting on the Class initialization monitor for a.B"),
            (Lock::Initialization, None, Some("a.B"))
        );
        assert_eq!(read("\t- <0x2> (a A)"), (Lock::Owned, Some(2), Some("A")));
        assert_eq!(line("\t- eliminated <owner is scalar replaced> (a A)"), Line::Other);
        assert_eq!(line("\t- None"), Line::Other);
    }
}
