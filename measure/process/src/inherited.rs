//! What the program inherits although this process changed it for itself.
//!
//! A program that its starter made ignore a signal (`nohup`, a supervisor, a shell's `trap '' PIPE`)
//! relies on that. Rust's runtime ignores broken pipes from the start and lets every program that
//! it starts be killed by them again; this process wants its children's ends for itself, and to be
//! told of files that may not grow instead of dying of it.

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

/// Makes writing beyond the limit of a file's size (`ulimit -f`) an error of this process instead
/// of its death. Programs that [`run`](crate::run) starts are not affected.
pub fn survive_full_files() {
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Lets the command ignore the signals that this process was started with ignored, if it is
/// started or executed.
pub fn keep_ignored_signals(command: &mut Command) {
    keep(command, is_ignored(libc::SIGCHLD));
}

/// The same, where this process has already changed what it does about its children's ends.
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
