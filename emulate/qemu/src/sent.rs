//! Signals that the program sends by calls of the system.

/// A signal and to whom it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) signal: u64,
    pub(crate) to: Receiver,
}

/// Who is to get a signal, as the call names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A process, or several of them if it is 0 or less.
    Process(u64),
    /// A thread, of this process where the call names one.
    Thread { process: Option<u64>, number: u64 },
}

/// What a call sends, if it sends a signal.
pub(crate) fn sent(call: i64, [a, b, c, ..]: [u64; 6]) -> Option<Sent> {
    let thread = |process, number| Receiver::Thread { process, number };
    let (signal, to) = match call {
        libc::SYS_kill | libc::SYS_rt_sigqueueinfo => (b, Receiver::Process(a)),
        libc::SYS_tkill => (b, thread(None, a)),
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => (c, thread(Some(a), b)),
        _ => return None,
    };
    Some(Sent { signal, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_a_process_or_a_thread() {
        let of = |call| sent(call, [7, 8, 9, 0, 0, 0]);
        let thread = Receiver::Thread { process: None, number: 7 };
        let thread_of = Receiver::Thread { process: Some(7), number: 8 };
        assert_eq!(of(libc::SYS_kill), Some(Sent { signal: 8, to: Receiver::Process(7) }));
        assert_eq!(of(libc::SYS_tkill), Some(Sent { signal: 8, to: thread }));
        assert_eq!(of(libc::SYS_tgkill), Some(Sent { signal: 9, to: thread_of }));
        assert_eq!(of(libc::SYS_getpid), None);
    }
}
