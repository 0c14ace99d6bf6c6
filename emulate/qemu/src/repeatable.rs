//! Which calls of the system tell the same each time.
//!
//! Files are noted, and so is where there was none. What else is the same stands in `same_each_time.rs`.

use std::fmt::Display;
use std::fs::File;
use std::os::fd::RawFd;

use kilocore_emulation_orders::{Found, SeenFile, Stamp, is_null_device};
use libc::c_int;

use crate::call::ERESTARTSYS;
use crate::descriptors::Of;
use crate::internal::{self, Kind};
use crate::{depends, same_each_time, threads, timers};

/// Flags of `open` with which something may become another.
const WRITES: c_int = libc::O_WRONLY
    | libc::O_RDWR
    | libc::O_CREAT
    | libc::O_TRUNC
    | libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Files that QEMU makes up for the program, or that tell it of itself only.
const OWN: [&str; 6] = [
    "/proc/self/maps",
    "/proc/self/auxv",
    "/proc/self/exe",
    "/proc/self/cmdline",
    "/proc/self/environ",
    "/proc/self/comm",
];

/// A call has returned, in which the program has named this path. Notes what was found out by it.
pub(crate) fn returned(call: i64, arguments: [u64; 6], path: Option<&str>, result: i64) {
    // What QEMU does not have is the same each time, and a call that it has not made yet tells nothing.
    let is_not_made = [-i64::from(libc::ENOSYS), ERESTARTSYS].contains(&result);
    if depends::is_for_once() || is_not_made {
        return;
    }
    let [a, b, c, d, e, _] = arguments;
    let descriptor = a as RawFd;
    match call {
        libc::SYS_open => opened(path, b as c_int, result),
        libc::SYS_openat => opened(path, c as c_int, result),
        libc::SYS_stat | libc::SYS_access => looked(path, true, result),
        libc::SYS_lstat => looked(path, false, result),
        libc::SYS_newfstatat => looked_from(descriptor, path, d as c_int, result),
        libc::SYS_statx => looked_from(descriptor, path, c as c_int, result),
        // It has flags where the system's own function has none.
        libc::SYS_faccessat => looked(path, true, result),
        libc::SYS_faccessat2 => looked_from(descriptor, path, d as c_int, result),
        libc::SYS_readlink | libc::SYS_readlinkat => read_link(path, result),
        libc::SYS_statfs => match path {
            Some(path) if is_nothing(result) => found_nothing(path, true),
            path => cannot_repeat(path, "it asks how much room there is at"),
        },
        libc::SYS_chdir if result == 0 => went_to(path),
        libc::SYS_fstat => examined(descriptor),
        libc::SYS_read
        | libc::SYS_pread64
        | libc::SYS_readv
        | libc::SYS_preadv
        | libc::SYS_getdents
        | libc::SYS_getdents64 => read(descriptor, result),
        libc::SYS_lseek => asked_where_it_stands(descriptor, result),
        libc::SYS_mmap if d as c_int & libc::MAP_ANONYMOUS == 0 => read(e as RawFd, result),
        libc::SYS_write
        | libc::SYS_writev
        | libc::SYS_pwrite64
        | libc::SYS_pwritev
        | libc::SYS_ftruncate
        | libc::SYS_fallocate => wrote(descriptor, result),
        libc::SYS_copy_file_range => copied(descriptor, c as RawFd),
        libc::SYS_sendfile => copied(b as RawFd, descriptor),
        libc::SYS_ioctl => controlled(descriptor, b, result),
        libc::SYS_fcntl => commanded(descriptor, b as c_int),
        // Noted where they begin.
        libc::SYS_poll
        | libc::SYS_ppoll
        | libc::SYS_select
        | libc::SYS_pselect6
        | libc::SYS_epoll_wait
        | libc::SYS_epoll_pwait => {}
        libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_shutdown
            if is_simulated(descriptor) => {}
        libc::SYS_prctl if is_own_affair(a) => {}
        libc::SYS_prlimit64 | libc::SYS_kill | libc::SYS_tgkill if is_itself(a) => {}
        libc::SYS_clone if threads::is_thread(a) => {}
        libc::SYS_clone | libc::SYS_fork | libc::SYS_vfork | libc::SYS_clone3 => {
            depends::also("it starts another process");
        }
        libc::SYS_execve | libc::SYS_execveat => depends::also("it starts another program"),
        libc::SYS_socketpair if a as c_int == libc::AF_UNIX => {}
        libc::SYS_socket | libc::SYS_socketpair => depends::also("it makes a socket"),
        libc::SYS_getrusage if a as c_int != libc::RUSAGE_CHILDREN => {}
        libc::SYS_getrusage | libc::SYS_times => {
            depends::also("it asks how much processor time it has taken here");
        }
        libc::SYS_unlink
        | libc::SYS_unlinkat
        | libc::SYS_rename
        | libc::SYS_renameat
        | libc::SYS_renameat2
        | libc::SYS_mkdir
        | libc::SYS_mkdirat
        | libc::SYS_rmdir
        | libc::SYS_link
        | libc::SYS_linkat
        | libc::SYS_symlink
        | libc::SYS_symlinkat
        | libc::SYS_chmod
        | libc::SYS_fchmod
        | libc::SYS_fchmodat
        | libc::SYS_utimensat
        | libc::SYS_truncate => depends::also("it changes files"),
        libc::SYS_setitimer | libc::SYS_getitimer if timers::is_simulated(arguments[0]) => {}
        libc::SYS_setitimer | libc::SYS_timer_create | libc::SYS_timerfd_create => {
            depends::also("it sets a timer of a kind that is not simulated");
        }
        call if same_each_time::is(call) => {}
        call => depends::also(format_args!("it makes the system call {call}")),
    }
}

/// Whether a result is one of these errors.
fn is_error(result: i64, errors: &[c_int]) -> bool {
    errors.iter().any(|&error| result == -i64::from(error))
}

/// Whether a result says that there is nothing at the path.
fn is_nothing(result: i64) -> bool {
    is_error(result, &[libc::ENOENT, libc::ENOTDIR])
}

fn failed(result: i64) -> bool {
    (-4095..0).contains(&result)
}

/// Whether what a descriptor tells is only what the program's own threads have done.
fn is_simulated(descriptor: RawFd) -> bool {
    Kind::of(descriptor).is_some() && !internal::are_shared()
}

/// What the program asked about a path cannot be asked again.
fn cannot_repeat(path: Option<&str>, what: impl Display) {
    depends::also(format_args!("{what} {}", path.unwrap_or("a path that cannot be told later")));
}

fn opened(path: Option<&str>, flags: c_int, result: i64) {
    let Some(path) = path else { return cannot_repeat(path, "it opens") };
    if OWN.contains(&path) && flags & WRITES == 0 {
        return;
    }
    let follows = flags & libc::O_NOFOLLOW == 0;
    if is_nothing(result) {
        return found_nothing(path, follows);
    }
    if failed(result) {
        return cannot_repeat(Some(path), "it may not open");
    }
    depends::with_file(result as RawFd, |file| {
        if flags & WRITES != 0 {
            if !is_for_dropping(file) {
                cannot_repeat(Some(path), "it opens for writing");
            }
            return;
        }
        let seen = SeenFile::opened(path, follows, file);
        // QEMU may have opened another one, if it was told where to look first.
        let is_there = match seen.as_ref().map(|seen| &seen.found) {
            Ok(Found::Stamped(stamp)) => is_at(path, follows, stamp),
            _ => true,
        };
        if is_there {
            depends::saw(path, seen)
        } else {
            cannot_repeat(Some(path), "it opens another file than")
        }
    });
}

fn is_at(path: &str, follows: bool, stamp: &Stamp) -> bool {
    SeenFile::at(path, follows).is_ok_and(|seen| seen.found == Found::Stamped(*stamp))
}

/// Whether what is written there is nobody's input: `/dev/null`, or a terminal.
fn is_for_dropping(file: &File) -> bool {
    use std::io::IsTerminal as _;
    file.is_terminal() || file.metadata().is_ok_and(|is| is_null_device(&is))
}

/// Nothing was found at a path.
fn found_nothing(path: &str, follows: bool) {
    let seen = SeenFile::at(path, follows);
    match &seen {
        Ok(SeenFile { found: Found::Nothing, .. }) => depends::saw(path, seen),
        // It has come since, or what was looked for was one of several things.
        _ => cannot_repeat(Some(path), "it does not find"),
    }
}

/// `stat` and the like, and `access`.
fn looked(path: Option<&str>, follows: bool, result: i64) {
    let Some(path) = path else { return cannot_repeat(path, "it looks at") };
    if OWN.contains(&path) {
        return;
    }
    if is_nothing(result) {
        return found_nothing(path, follows);
    }
    // Who may do what is a part of the stamp, and who this is, whoever keeps the result knows.
    if failed(result) && !is_error(result, &[libc::EACCES]) {
        return cannot_repeat(Some(path), "it cannot look at");
    }
    let seen = SeenFile::at(path, follows);
    if seen.as_ref().is_ok_and(|seen| seen.found == Found::Nothing) {
        return cannot_repeat(Some(path), "it looks at");
    }
    depends::saw(path, seen);
}

/// The same from a folder, or of a descriptor.
fn looked_from(descriptor: RawFd, path: Option<&str>, flags: c_int, result: i64) {
    if path.is_none() && flags & libc::AT_EMPTY_PATH != 0 && descriptor >= 0 {
        return examined(descriptor);
    }
    looked(path, flags & libc::AT_SYMLINK_NOFOLLOW == 0, result);
}

/// `fstat`. What its output is, whoever keeps the result knows.
fn examined(descriptor: RawFd) {
    if Of::the(descriptor) == Of::Inherited {
        depends::also(format_args!(
            "it looks at what it was started with as descriptor {descriptor}"
        ));
    }
}

fn read_link(path: Option<&str>, result: i64) {
    match path {
        Some(path) if is_error(result, &[libc::EINVAL]) => {
            depends::saw(path, Ok(SeenFile::no_link(path)));
        }
        // Links of the kernel's lead elsewhere each time.
        Some(path) if !failed(result) && is_of_kernel(path) => {
            cannot_repeat(Some(path), "it asks where it is led by")
        }
        path => looked(path, false, result),
    }
}

fn is_of_kernel(path: &str) -> bool {
    let is = |seen: SeenFile| matches!(seen.found, Found::OfKernel(_));
    !OWN.contains(&path) && SeenFile::at(path, false).is_ok_and(is)
}

fn went_to(path: Option<&str>) {
    match path {
        Some(path) => depends::saw(path, SeenFile::folder(path)),
        None => cannot_repeat(path, "it goes to"),
    }
}

/// The program has read, or mapped a file.
fn read(descriptor: RawFd, result: i64) {
    if failed(result) {
        // What cannot be read at one time may be there at another: a terminal, for example.
        let is_always = [libc::EBADF, libc::ESPIPE, libc::EISDIR, libc::EINVAL, libc::EFAULT];
        let is_told_here =
            is_error(result, &[libc::EAGAIN, libc::EINTR]) && is_simulated(descriptor);
        if !is_error(result, &is_always) && !is_told_here {
            depends::also(format_args!("it cannot read its descriptor {descriptor}"));
        }
        return;
    }
    match Of::the(descriptor) {
        Of::Nothing | Of::Null | Of::Own => {}
        Of::Device => depends::also("it reads from a device"),
        Of::Output | Of::Inherited => {
            depends::also(format_args!(
                "it reads what it was started with as descriptor {descriptor}"
            ));
        }
    }
}

/// `lseek`. A pipe and a terminal have no place in which anything stands.
fn asked_where_it_stands(descriptor: RawFd, result: i64) {
    if !failed(result) && matches!(Of::the(descriptor), Of::Output | Of::Inherited) {
        depends::also(format_args!(
            "it asks how far the file has been written that is its descriptor {descriptor}"
        ));
    }
}

fn wrote(descriptor: RawFd, result: i64) {
    match Of::the(descriptor) {
        Of::Output if failed(result) => depends::also("its output cannot be written"),
        Of::Nothing | Of::Null | Of::Own | Of::Device | Of::Output => {}
        Of::Inherited => {
            depends::also(format_args!(
                "it writes to what it was started with as descriptor {descriptor}"
            ));
        }
    }
}

/// The program has had the system copy from one file to another one, or was told that it cannot, which follows from what
/// they are.
fn copied(from: RawFd, to: RawFd) {
    read(from, 0);
    wrote(to, 0);
}

/// `ioctl`. Whoever keeps the result knows what terminal its output is.
fn controlled(descriptor: RawFd, request: u64, result: i64) {
    const TCGETS2: libc::Ioctl = 0x802c_542a;
    let request = request as libc::Ioctl;
    let of = Of::the(descriptor);
    let is_known = match request {
        libc::TCGETS | TCGETS2 | libc::TIOCGWINSZ => {
            of == Of::Output || is_error(result, &[libc::ENOTTY, libc::EBADF])
        }
        libc::FIOCLEX | libc::FIONCLEX => true,
        libc::FIONBIO => of == Of::Own,
        libc::FIONREAD => is_simulated(descriptor),
        _ => false,
    };
    if !is_known {
        depends::also(format_args!("it controls its descriptor {descriptor} by {request:#x}"));
    }
}

/// `fcntl`.
fn commanded(descriptor: RawFd, command: c_int) {
    let is_known = match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC | libc::F_GETFD | libc::F_SETFD | libc::F_GETFL => {
            true
        }
        // How its output is written is a part of its output.
        libc::F_SETFL => !matches!(Of::the(descriptor), Of::Inherited | Of::Device),
        _ => false,
    };
    if !is_known {
        depends::also(format_args!("it commands its descriptor {descriptor} by {command}"));
    }
}

/// Whether this `prctl` concerns the program's names only.
fn is_own_affair(what: u64) -> bool {
    const PR_SET_VMA: c_int = 0x5356_4d41;
    matches!(what as c_int, libc::PR_SET_NAME | libc::PR_GET_NAME | PR_SET_VMA)
}

/// Whether a number of a process is that of this one, or 0 for it.
fn is_itself(process: u64) -> bool {
    process == 0 || process == u64::from(std::process::id())
}
