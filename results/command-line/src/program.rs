//! Which program this is.

use std::io::Write;
use std::sync::OnceLock;

use kilocore_show::shell::shell_word;
use kilocore_show::{Generated, printable_document};

/// A program's name and version.
#[derive(Debug)]
struct Program {
    name: &'static str,
    version: &'static str,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Says which program this is: `begin(env!("CARGO_BIN_NAME"), env!("CARGO_PKG_VERSION"))` is the first
/// thing that `main` does. What is said again later changes nothing.
pub fn begin(name: &'static str, version: &'static str) {
    _ = PROGRAM.set(Program { name, version });
}

fn program() -> &'static Program {
    PROGRAM.get().expect("a program begins with `begin`")
}

/// Tells the user something on standard error, behind the program's name. Parts of it may come from a
/// file; of what steers a terminal only line ends are let through.
///
/// If nobody can read it, it is dropped: what is being done goes on.
pub fn say(message: &str) {
    let line = format!("{}: {}\n", program().name, printable_document(message));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Who makes a report, how, and when.
pub(crate) fn generated() -> Generated {
    let Program { name, version } = program();
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy())).collect();
    Generated {
        by: format!("{name} {version}"),
        command: format!("{name} {}", words.join(" ")),
        at: None,
    }
}
