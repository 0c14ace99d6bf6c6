//! A place in a program's code, as people know it.

use std::fmt::{self, Display, Formatter};

/// A function, and where it calls another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    /// Its demangled name, which is empty if it is not known.
    pub function: String,
    /// The program or library that it is in, which is empty if it is in none.
    pub module: String,
    /// The call's address in that file's own numbering, which `addr2line -e` takes. If there is no file, it
    /// is the address in memory. Functions that were inlined there have the same address.
    pub offset: u64,
    /// Source file and line, if the debugging information has them.
    pub line: Option<String>,
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Longer names are cut.
const LONGEST: usize = 60;

/// A function's name without its arguments, and without those of templates.
fn short(function: &str) -> String {
    let short = if has_marks(function) { function.to_owned() } else { without_arguments(function) };
    match short.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &short[..end]),
        None => short,
    }
}

/// Whether a name has parts that look like arguments: operators, closures, methods of Go's, and types of
/// Rust's.
fn has_marks(function: &str) -> bool {
    function.starts_with('<') || ["operator", "{", "(*"].iter().any(|mark| function.contains(mark))
}

fn without_arguments(function: &str) -> String {
    const UNNAMED: &str = "(anonymous namespace)";
    let mut depth = 0_u32;
    let mut left = String::new();
    for (index, part) in function.split(UNNAMED).enumerate() {
        if index > 0 && depth == 0 {
            left.push_str(UNNAMED);
        }
        for character in part.chars() {
            match character {
                '<' | '(' => depth += 1,
                '>' | ')' => depth = depth.saturating_sub(1),
                _ if depth == 0 => left.push(character),
                _ => {}
            }
        }
    }
    left.trim().to_owned()
}

/// As in `build_table (placed.c:31)`, or what is known of it.
impl Display for Frame {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (module, offset) = (file_name(&self.module), self.offset);
        match (self.function.as_str(), &self.line) {
            ("", _) if module.is_empty() && offset == 0 => f.write_str("an unknown place"),
            ("", _) if module.is_empty() => write!(f, "code at {offset:#x}"),
            ("", _) => write!(f, "{module}+{offset:#x}"),
            (function, Some(line)) => write!(f, "{} ({})", short(function), file_name(line)),
            (function, None) => write!(f, "{} ({module}+{offset:#x})", short(function)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_without_their_arguments() {
        for (whole, expected) in [
            ("main", "main"),
            ("build(unsigned long)", "build"),
            ("Table<int, std::less<int> >::Table(unsigned long)", "Table::Table"),
            ("(anonymous namespace)::fill(int*)", "(anonymous namespace)::fill"),
            ("Work::operator()(int) const", "Work::operator()(int) const"),
            ("main::{lambda()#1}::f(int)", "main::{lambda()#1}::f(int)"),
            ("runtime.(*mheap).sysAlloc", "runtime.(*mheap).sysAlloc"),
            ("<A as B>::make", "<A as B>::make"),
        ] {
            assert_eq!(short(whole), expected);
        }
        assert_eq!(short(&"x".repeat(100)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn what_is_known_is_said() {
        let mut frame = Frame { offset: 0x1234, ..Frame::default() };
        assert_eq!(frame.to_string(), "code at 0x1234");
        frame.module = "/usr/bin/sort".into();
        assert_eq!(frame.to_string(), "sort+0x1234");
        frame.function = "main".into();
        assert_eq!(frame.to_string(), "main (sort+0x1234)");
        frame.line = Some("/src/sort.c:77".into());
        assert_eq!(frame.to_string(), "main (sort.c:77)");
    }
}
