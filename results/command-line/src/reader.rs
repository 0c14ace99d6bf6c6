//! A reader of what is printed that goes away, as in `kilocore list locks | head -1`.
//!
//! Other programs die of the signal `SIGPIPE` at once. This one may have more to do than to print: a file to
//! write, a program's affinity to put back. So it goes on, prints no more, and dies of the same signal at
//! its end.

use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;

use crate::Failure;

static GONE: AtomicBool = AtomicBool::new(false);

/// Notes that nobody reads any more what is printed.
pub fn reader_is_gone() {
    GONE.store(true, Ordering::Relaxed);
}

/// Ends a program with what its command came to: the last thing that `main` does. A failure is told. If
/// all went well, but nobody has read it to its end, this process dies of `SIGPIPE`, as others do.
#[must_use]
pub fn end(result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(status) if status == ExitCode::SUCCESS && GONE.load(Ordering::Relaxed) => die(),
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}

/// Reads the arguments that this process was started with. Help that is asked for is printed, what is wrong
/// is told, and either ends this process.
#[must_use]
pub fn parse<P: Parser>() -> P {
    P::try_parse().unwrap_or_else(|said| match said.print() {
        Err(error) if error.kind() == ErrorKind::BrokenPipe && !said.use_stderr() => die(),
        _ => std::process::exit(said.exit_code()),
    })
}

fn die() -> ! {
    // SAFETY: no handler is involved, and nothing is asked of the signal but its usual end.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::raise(libc::SIGPIPE);
    }
    // It is blocked here.
    std::process::exit(128 + libc::SIGPIPE)
}
