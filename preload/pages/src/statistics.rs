//! What the pool has done, for who asks for it.
//!
//! If `KILOCORE_PAGES_STATISTICS` names a file, each process that had a pool adds a line to it as it ends,
//! for example `pid=7 name=sort mappings=3 blocks=10 …`. Processes that a signal ends, or that execute
//! another program, add none. Nor do forked children: what they inherit is counted already, and one that
//! shares its parent's memory (`vfork`) must not speak for its parent.

use core::ffi::c_int;
use core::fmt::Write as _;
use core::sync::atomic::{AtomicI32, AtomicU8, Ordering};

use kilocore_preload_common::{RealFunction, errno, exit_by};

use crate::make;
use crate::memory::Memory;
use crate::settings::{Line, value_of};
use crate::shares::Count;

/// The name of the file, as it was in the environment when the program began.
static FILE: [AtomicU8; 1024] = [const { AtomicU8::new(0) }; 1024];
/// The process that began the program, or 0 once it has written its line.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// The functions that end the process at once.
static EXITS: [RealFunction; 2] = [RealFunction::new(c"_exit"), RealFunction::new(c"_Exit")];

/// Looks up what the library needs as the process ends. A thread may end it while another one holds the dynamic
/// linker's lock.
pub(crate) fn find_all() {
    EXITS.iter().for_each(|exit| {
        exit.address();
    });
}

/// Notes the name of the file before the program can change its environment.
pub(crate) fn prepare() {
    let Some(name) = value_of(c"KILOCORE_PAGES_STATISTICS").map(|name| name.to_bytes()) else {
        return;
    };
    if name.len() < FILE.len() {
        FILE.iter().zip(name).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        OWNER.store(process(), Ordering::Relaxed);
    }
}

fn process() -> i32 {
    // SAFETY: the function has no arguments.
    unsafe { libc::getpid() }
}

/// Writes the line, if one is asked for, and none was written.
pub(crate) fn write() {
    let Some(memory) = make::existing() else { return };
    let process = process();
    if OWNER.compare_exchange(process, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    let mut name = [0_u8; FILE.len()];
    name.iter_mut().zip(&FILE).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
    errno::preserved(|| {
        let file = open(&name);
        if file >= 0 {
            let mut line = Line::new();
            // Text that does not fit is cut off.
            let _ = describe(memory, &mut line);
            line.print(file);
            // SAFETY: the file was opened above.
            unsafe { libc::close(file) };
        }
    });
}

/// Opens the file for adding to it, or makes it. A process that outlives whoever asked for its line may
/// find something else by that name, in a folder where anybody can put it: so a link is not followed,
/// nothing waits for a pipe, and what is there must be a file of this process's user. A new file is that
/// user's alone. Returns -1 if there is no such file.
fn open(name: &[u8; FILE.len()]) -> c_int {
    const ADD: c_int = libc::O_WRONLY
        | libc::O_APPEND
        | libc::O_NOFOLLOW
        | libc::O_NONBLOCK
        | libc::O_NOCTTY
        | libc::O_CLOEXEC;
    const NEW: c_int = ADD | libc::O_CREAT | libc::O_EXCL;
    // Where two make it at once, one of them fails, and finds it with the last try.
    for flags in [ADD, NEW, ADD] {
        // SAFETY: the name ends with a zero byte.
        let file = unsafe { libc::open(name.as_ptr().cast(), flags, 0o600) };
        if file >= 0 {
            if is_own(file) {
                return file;
            }
            // SAFETY: the file was opened above.
            unsafe { libc::close(file) };
            return -1;
        }
    }
    -1
}

/// Whether an open file is a regular one of this process's user.
fn is_own(file: c_int) -> bool {
    // SAFETY: all zeros are valid for these numbers.
    let mut found: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: the file is open, and `found` is ours to be written. The other call has no arguments.
    let (known, user) = unsafe { (libc::fstat(file, &raw mut found) == 0, libc::geteuid()) };
    known && found.st_mode & libc::S_IFMT == libc::S_IFREG && found.st_uid == user
}

fn describe(memory: &Memory, line: &mut Line) -> core::fmt::Result {
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes the thread's name, of at most 16 bytes with the zero byte. A failure leaves
    // zeros.
    unsafe { libc::prctl(libc::PR_GET_NAME, &mut name) };
    let name = name.split(|byte| *byte == 0).next().and_then(|name| str::from_utf8(name).ok());
    let name = name.unwrap_or("?");
    write!(line, "pid={} name=", process())?;
    name.chars().try_for_each(|c| line.write_char(if c.is_whitespace() { '_' } else { c }))?;
    let pool = memory.pool().statistics();
    let sum = |count| memory.shares().sum(count);
    let all = [
        ("mappings", sum(Count::Mappings)),
        ("blocks", sum(Count::Blocks)),
        ("full", sum(Count::Full)),
        ("private", pool.from_private()),
        ("shared", pool.from_shared),
        ("cold", pool.from_cold),
        ("released", pool.released),
        ("zero", sum(Count::Zero)),
        ("cleared", sum(Count::Cleared)),
        ("discarded", sum(Count::Discarded)),
        ("decayed", sum(Count::Decayed)),
        ("replaced", sum(Count::Replaced)),
        ("lost", sum(Count::Lost)),
    ];
    all.iter().try_for_each(|(name, count)| write!(line, " {name}={count}"))?;
    line.write_char('\n')
}

extern "C" fn end() {
    write();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// Ends the process at once.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    write();
    // SAFETY: this is the function of that name, and the argument is the caller's.
    unsafe { exit_by(&EXITS[0], status) }
}

/// Ends the process at once.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(status: c_int) -> ! {
    write();
    // SAFETY: this is the function of that name, and the argument is the caller's.
    unsafe { exit_by(&EXITS[1], status) }
}
