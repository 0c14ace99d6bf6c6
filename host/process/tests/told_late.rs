//! A program that has ended of Ctrl-C before this process has taken the signal that it was sent as well.
//!
//! A process of its own, as signals and their handlers are the process's.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread;

use kilocore_process::{Start, run};

fn pipe() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: just made, and nobody else's.
    let [read, write] = ends.map(|end| File::from(unsafe { OwnedFd::from_raw_fd(end) }));
    (read, write)
}

/// Waits in another process until something is written, or nobody can write any more.
extern "C" fn wait_for_a_byte(pipe: *mut libc::c_void) -> libc::c_int {
    let mut byte = 0u8;
    // It holds the other end as well. If the test fails, nobody writes.
    // SAFETY: an integer.
    unsafe { libc::alarm(60) };
    // SAFETY: a byte of this stack; the number is that of a descriptor.
    (unsafe { libc::read(pipe as libc::c_int, (&raw mut byte).cast(), 1) }) as libc::c_int
}

fn main() {
    // Shells start what runs in the background with this signal ignored.
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    let ((wait, mut go_on), (mut computes, mut begin)) = (pipe(), pipe());
    let runner = thread::spawn(move || {
        // The main thread is in the kernel by then, or soon. It is the one that the kernel picks for a signal.
        computes.read_exact(&mut [0]).expect("a byte");
        let parent = std::process::id();
        let script = format!(
            "while ! grep -q 'State:.*D' /proc/{parent}/task/{parent}/status; do :; done; \
             kill -INT {parent}; exit 3"
        );
        let command = ["sh", "-c", script.as_str()].map(Into::into);
        let end = run(Start { command: &command, ..Start::default() }).expect("a shell");
        go_on.write_all(&[1]).expect("somebody reads");
        end
    });
    begin.write_all(&[1]).expect("somebody reads");
    let mut stack = vec![0u8; 64 << 10];
    // A thread that waits for such a child takes no signal.
    // SAFETY: the child has a copy of all that is here, and a stack that grows down from its end.
    let child = unsafe {
        let top = stack.as_mut_ptr().add(stack.len());
        let argument = wait.as_raw_fd() as usize as *mut libc::c_void;
        libc::clone(wait_for_a_byte, top.cast(), libc::CLONE_VFORK | libc::SIGCHLD, argument)
    };
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let end = runner.join().expect("it does not panic");
    assert_eq!((end.told_by, end.status.code()), (Some(libc::SIGINT), Some(3)));
}
