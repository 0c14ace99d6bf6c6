//! Signals that the program inherits as ignored, although this process handles them itself.
//!
//! If a program is started with a signal ignored (by `nohup`, a supervisor, or a shell's `trap ''
//! PIPE`), it relies on that. But this process changes what it does about signals, for three
//! reasons. Rust's runtime ignores broken pipes from the start, and makes every program that it
//! starts die of them again. This process wants to be told when its children end. And it wants an
//! error, not its death, if a file may not grow any more.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process was started with broken pipes ignored.
static BROKEN_PIPES_IGNORED: AtomicBool = AtomicBool::new(false);

/// Whether it was started with the limit of files' sizes ignored.
static FULL_FILES_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's runtime does.
extern "C" fn look() {
    BROKEN_PIPES_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
    FULL_FILES_IGNORED.store(is_ignored(libc::SIGXFSZ), Ordering::Relaxed);
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zero bytes are a valid sigaction.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    // SAFETY: `action` is ours to be written; nothing is changed.
    let result = unsafe { libc::sigaction(signal, core::ptr::null(), &raw mut action) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// From now on, writing beyond the limit of a file's size (`ulimit -f`) is an error and does not
/// end this process. Programs that [`run`](crate::run) starts are not affected.
pub fn survive_full_files() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Makes the command ignore the signals that this process was started with ignored. This takes
/// effect when the command is started or executed.
pub fn keep_ignored_signals(command: &mut Command) {
    keep(command, is_ignored(libc::SIGCHLD));
}

/// The same, for use after this process has changed what it does about its children's ends.
pub(crate) fn keep(command: &mut Command, children_ignored: bool) {
    let signals = [
        (libc::SIGPIPE, BROKEN_PIPES_IGNORED.load(Ordering::Relaxed)),
        (libc::SIGXFSZ, FULL_FILES_IGNORED.load(Ordering::Relaxed)),
        (libc::SIGCHLD, children_ignored),
    ];
    let ignore = move || -> io::Result<()> {
        for (signal, ignored) in signals {
            // SAFETY: no handler is involved.
            unsafe { libc::signal(signal, if ignored { libc::SIG_IGN } else { libc::SIG_DFL }) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec, calls only what is async-signal-safe and allocates nothing.
    unsafe { command.pre_exec(ignore) };
}
