//! Calls that wait for something that is not simulated: other processes, terminals, networks.

use std::sync::atomic::{AtomicUsize, Ordering};

use libc::c_int;

use crate::descriptors::Of;

/// How many threads are in such calls.
static THERE: AtomicUsize = AtomicUsize::new(0);

/// A thread makes such a call.
pub(crate) fn goes() {
    THERE.fetch_add(1, Ordering::Relaxed);
}

/// It has returned.
pub(crate) fn returns() {
    THERE.fetch_sub(1, Ordering::Relaxed);
}

/// Whether a thread is in such a call.
pub(crate) fn is_anybody() -> bool {
    THERE.load(Ordering::Relaxed) > 0
}

/// Whether a call may wait for something outside. It is not asked of those that the simulator does.
pub(crate) fn may_wait(call: i64, [a, b, c, d, ..]: [u64; 6]) -> bool {
    let descriptor = a as c_int;
    match call {
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4 => !is_ready(descriptor, libc::POLLIN),
        libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg => {
            // Who reads its output is no concern of the machine: no simulated time passes until there is room.
            !is_ready(descriptor, libc::POLLOUT) && Of::the(descriptor) != Of::Output
        }
        // For ever: if there is a time, the simulator knows of it.
        libc::SYS_poll
        | libc::SYS_ppoll
        | libc::SYS_select
        | libc::SYS_pselect6
        | libc::SYS_epoll_wait
        | libc::SYS_epoll_pwait => true,
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
        | libc::SYS_mq_timedsend
        | libc::SYS_epoll_pwait2 => true,
        _ => false,
    }
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
