//! Where an answer for people is printed.
//!
//! A command that starts a program has one standard output for two: for what the program prints, and for
//! its own answer. On a terminal somebody reads both, one below the other. Into a pipe or a file nobody
//! wants them mixed, so what the program prints goes there alone, as if Kilocore were not there.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use crate::{reader_is_gone, say, screen};

/// Where an answer for people is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// On standard output.
    Stdout,
    /// On standard error.
    Stderr,
}

impl Destination {
    /// Where the answer goes of a command that starts a program whose standard output is this process's:
    /// beside what it prints on a terminal, else to standard error.
    #[must_use]
    pub fn beside_a_program() -> Self {
        if stdout().is_terminal() { Self::Stdout } else { Self::Stderr }
    }

    /// Prints text for people, in characters that can be shown there.
    pub fn print(self, text: &str) {
        self.print_as_is(&screen::shown(text));
    }

    /// Prints text. See [`output::print_as_is`](crate::output::print_as_is).
    pub(crate) fn print_as_is(self, text: &str) {
        let written = match self {
            Self::Stdout => write(&mut stdout().lock(), text),
            Self::Stderr => write(&mut stderr().lock(), text),
        };
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => reader_is_gone(),
            Err(error) => {
                say(&format!("cannot write the result: {error}; send it where there is room"));
                std::process::exit(2);
            }
        }
    }

    /// The width that tables may take there.
    #[must_use]
    pub fn width(self) -> u16 {
        match self {
            Self::Stdout => screen::width(stdout()),
            Self::Stderr => screen::width(stderr()),
        }
    }
}

fn write(place: &mut impl Write, text: &str) -> std::io::Result<()> {
    place.write_all(text.as_bytes())?;
    place.flush()
}
