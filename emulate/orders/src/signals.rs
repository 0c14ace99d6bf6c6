//! Signals by which a program says where it is.

/// Those that a program can send itself and go on after, with their numbers on Linux for x86-64.
const SIGNALS: [(&str, i32); 25] = [
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGTRAP", 5),
    ("SIGABRT", 6),
    ("SIGUSR1", 10),
    ("SIGUSR2", 12),
    ("SIGPIPE", 13),
    ("SIGALRM", 14),
    ("SIGTERM", 15),
    ("SIGSTKFLT", 16),
    ("SIGCHLD", 17),
    ("SIGCONT", 18),
    ("SIGTSTP", 20),
    ("SIGTTIN", 21),
    ("SIGTTOU", 22),
    ("SIGURG", 23),
    ("SIGXCPU", 24),
    ("SIGXFSZ", 25),
    ("SIGVTALRM", 26),
    ("SIGPROF", 27),
    ("SIGWINCH", 28),
    ("SIGIO", 29),
    ("SIGPWR", 30),
    ("SIGSYS", 31),
];

/// Whether a text is written as signals are.
pub(crate) fn is_named(text: &str) -> bool {
    let rest = text.strip_prefix("SIG");
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    })
}

/// The number of the signal of this name.
pub(crate) fn number(name: &str) -> Option<i32> {
    SIGNALS.iter().find(|(one, _)| *one == name).map(|(_, number)| *number)
}

/// The name of the signal of this number.
pub(crate) fn name(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(_, one)| *one == number).map(|(name, _)| *name)
}
