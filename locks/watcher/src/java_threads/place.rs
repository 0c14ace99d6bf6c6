//! Where the program waits, and not the library that it calls.

use std::fmt;

use crate::java_threads::dump::{Held, JavaFrame, JavaThread};

/// How the names of the packages begin that come with Java.
const LIBRARY: [&str; 3] = ["java.", "jdk.", "sun."];

impl JavaFrame {
    /// Whether the method belongs to the program, and not to a package `java.*`, `jdk.*` or `sun.*`.
    #[must_use]
    pub fn is_own(&self) -> bool {
        !LIBRARY.iter().any(|package| self.class.starts_with(package))
    }
}

/// Shows the frame as stack traces of Java do: `Class.method (File.java:line)`, with less in
/// brackets if less is known.
impl fmt::Display for JavaFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} ", self.class, self.method)?;
        match (&self.file, self.line) {
            _ if self.native => f.write_str("(native)"),
            (Some(file), Some(line)) => write!(f, "({file}:{line})"),
            (Some(file), None) => write!(f, "({file})"),
            (None, _) => f.write_str("(unknown source)"),
        }
    }
}

impl JavaThread {
    /// Returns where in the program the thread is: its first frame outside of Java's own packages,
    /// or `None` if it has none, as a thread that waits for work in a pool of Java's.
    ///
    /// While the interpreter enters a monitor, it says that it is at the first line inside; code
    /// that was compiled is at the line of the word `synchronized`.
    #[must_use]
    pub fn place(&self) -> Option<&JavaFrame> {
        self.frames.iter().find(|frame| frame.is_own())
    }

    /// Returns where in the program the thread took what it holds, as far as the dump tells: it
    /// tells it of monitors only.
    #[must_use]
    pub fn taken_at(&self, held: &Held) -> Option<&JavaFrame> {
        self.frames.get(held.frame?..)?.iter().find(|frame| frame.is_own())
    }

    /// Returns all frames as text, the innermost first.
    pub fn stack(&self) -> impl Iterator<Item = String> {
        self.frames.iter().map(ToString::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::java_threads::dump::HeldKind;

    fn frame(class: &str, file: Option<&str>, line: Option<u32>, native: bool) -> JavaFrame {
        let (class, method) = (class.to_owned(), "run".to_owned());
        JavaFrame { class, method, file: file.map(str::to_owned), line, native }
    }

    #[test]
    fn frames_read_as_java_writes_them() {
        let text = |file, line, native| frame("a.B$C", file, line, native).to_string();
        assert_eq!(text(Some("B.java"), Some(7), false), "a.B$C.run (B.java:7)");
        assert_eq!(text(Some("B.java"), None, false), "a.B$C.run (B.java)");
        assert_eq!(text(None, None, false), "a.B$C.run (unknown source)");
        assert_eq!(text(None, None, true), "a.B$C.run (native)");
    }

    #[test]
    fn a_place_is_in_the_program() {
        let held = |frame| Held { kind: HeldKind::Monitor, address: 1, class: None, frame };
        let mut thread = JavaThread {
            frames: ["java.lang.Object", "javax.Mine", "jdk.X", "sun.Y", "sunny.Z"]
                .map(|class| frame(class, None, None, false))
                .to_vec(),
            ..JavaThread::default()
        };
        assert_eq!(thread.place().unwrap().class, "javax.Mine");
        assert_eq!(thread.taken_at(&held(Some(2))).unwrap().class, "sunny.Z");
        assert_eq!(thread.taken_at(&held(Some(9))), None);
        assert_eq!(thread.taken_at(&held(None)), None);
        assert_eq!(thread.stack().nth(4).unwrap(), "sunny.Z.run (unknown source)");
        thread.frames.truncate(1);
        assert_eq!(thread.place(), None);
    }
}
