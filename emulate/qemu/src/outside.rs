//! Calls that really wait, in the host's kernel: for other processes, terminals, networks, or because the simulator cannot do
//! their wait (`waits.rs`).

use std::sync::atomic::{AtomicUsize, Ordering};

use libc::c_int;

use crate::descriptors::Of;
use crate::internal;

/// What a call does outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It waits for something that is not simulated, or only looks.
    ForOthers,
    /// It takes something from a descriptor of the program's own, or puts something there, at a moment that the simulator
    /// does not know.
    AtOwn,
}

/// How many threads are in such calls.
static THERE: AtomicUsize = AtomicUsize::new(0);
/// How many of them use a descriptor of the program's own there.
static AT_OWN: AtomicUsize = AtomicUsize::new(0);

/// A thread makes such a call.
pub(crate) fn goes(waits: Waits) {
    THERE.fetch_add(1, Ordering::Relaxed);
    if waits == Waits::AtOwn {
        AT_OWN.fetch_add(1, Ordering::Relaxed);
    }
}

/// It has returned.
pub(crate) fn returns(waits: Waits) {
    THERE.fetch_sub(1, Ordering::Relaxed);
    if waits == Waits::AtOwn {
        AT_OWN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a thread is in such a call.
pub(crate) fn is_anybody() -> bool {
    THERE.load(Ordering::Relaxed) > 0
}

/// Whether a thread is in such a call that uses a descriptor of the program's own.
pub(crate) fn is_anybody_at_own() -> bool {
    AT_OWN.load(Ordering::Relaxed) > 0
}

/// What a call does outside, if it may wait there. It is not asked of those that the simulator does.
pub(crate) fn waits(call: i64, [a, b, c, d, ..]: [u64; 6]) -> Option<Waits> {
    let descriptor = a as c_int;
    let moves = match call {
        // They move what no call of the simulator's knows of.
        libc::SYS_recvmmsg | libc::SYS_sendmmsg => d as c_int & libc::MSG_DONTWAIT == 0,
        libc::SYS_splice | libc::SYS_tee | libc::SYS_vmsplice => true,
        libc::SYS_sendfile => {
            let may_be_full = internal::is_pipe(descriptor) || internal::is_socket(descriptor);
            may_be_full && Of::the(descriptor) != Of::Output
        }
        _ => false,
    };
    if moves {
        return Some(Waits::AtOwn);
    }
    let waits = match call {
        libc::SYS_accept | libc::SYS_accept4 => !is_ready(descriptor, libc::POLLIN),
        libc::SYS_wait4 => c as c_int & libc::WNOHANG == 0,
        libc::SYS_waitid => d as c_int & libc::WNOHANG == 0,
        libc::SYS_fcntl => b as c_int == libc::F_SETLKW,
        libc::SYS_flock => b as c_int & libc::LOCK_NB == 0,
        libc::SYS_pause
        | libc::SYS_rt_sigsuspend
        | libc::SYS_rt_sigtimedwait
        | libc::SYS_connect
        | libc::SYS_semop
        | libc::SYS_semtimedop
        | libc::SYS_msgrcv
        | libc::SYS_msgsnd
        | libc::SYS_mq_timedreceive
        | libc::SYS_mq_timedsend => true,
        _ => false,
    };
    waits.then_some(Waits::ForOthers)
}

/// Whether something can be read or written at once. A descriptor that is none fails at once.
pub(crate) fn is_ready(descriptor: c_int, what: i16) -> bool {
    are_ready(&mut [libc::pollfd { fd: descriptor, events: what, revents: 0 }])
}

/// Whether one of these is ready, or fails at once.
pub(crate) fn are_ready(descriptors: &mut [libc::pollfd]) -> bool {
    // SAFETY: descriptions that live meanwhile. It only looks.
    unsafe { libc::poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, 0) != 0 }
}
