//! Stacks of checked threads are kept for the next execution.
//!
//! loom maps a stack for each thread of each execution and unmaps it at the end. An execution takes
//! a few microseconds, so this is half of the work, and it does not scale: the tests of a program
//! share one address space, and each change of it waits for the others and interrupts their cores.
//! Here the functions with which loom's `generator` asks the system for stacks stand in front of the
//! C library's, as the linker prefers a program's own functions. They keep what is given back. Every
//! other request goes to the system as it is.
//!
//! loom gives stacks back when an execution has ended, so a use of one after that is no use of the
//! algorithm under check.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, MAP_STACK};
use libc::{PROT_NONE, PROT_READ, PROT_WRITE};

/// How many stacks are kept. Whoever needs more at once gets them from the system.
const STACKS: usize = 1024;

/// Where the kept stacks lie, one after the other, all of one length.
struct Stacks {
    start: usize,
    length: usize,
}

/// Made at the first request for a stack, which sets the length; `None` if there was no memory.
static STACKS_AT: OnceLock<Option<Stacks>> = OnceLock::new();

/// The numbers of stacks that nobody has.
static FREE: Mutex<Free> = Mutex::new(Free { given_back: [0; STACKS], count: 0, untouched: 0 });

/// Whose guard page is in place.
static GUARDED: [AtomicBool; STACKS] = [const { AtomicBool::new(false) }; STACKS];

/// How many stacks were handed out a second time or more.
static REUSED: AtomicUsize = AtomicUsize::new(0);

/// How many stacks of this process were used anew instead of mapped anew.
#[must_use]
pub fn reused() -> usize {
    REUSED.load(Ordering::Relaxed)
}

struct Free {
    /// The first `count` are stacks that came back.
    given_back: [usize; STACKS],
    count: usize,
    /// From this one on, none was ever handed out.
    untouched: usize,
}

impl Free {
    fn take(&mut self) -> Option<usize> {
        if self.count > 0 {
            self.count -= 1;
            REUSED.fetch_add(1, Ordering::Relaxed);
            return Some(self.given_back[self.count]);
        }
        let next = self.untouched;
        self.untouched += usize::from(next < STACKS);
        (next < STACKS).then_some(next)
    }

    fn put(&mut self, stack: usize) {
        self.given_back[self.count] = stack;
        self.count += 1;
    }
}

impl Stacks {
    fn reserve(length: usize) -> Option<Self> {
        let protection = PROT_READ | PROT_WRITE;
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        let size = length.checked_mul(STACKS)?;
        // SAFETY: a new mapping, at an address of the system's choice, takes nothing from anybody.
        let start = unsafe { system_mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        (start != MAP_FAILED).then(|| Self { start: start.expose_provenance(), length })
    }

    /// Which of the stacks begins at `address`, if one does.
    fn number(&self, address: *mut c_void) -> Option<usize> {
        let offset = address.addr().checked_sub(self.start)?;
        let number = offset / self.length;
        (offset % self.length == 0 && number < STACKS).then_some(number)
    }

    fn at(&self, number: usize) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.start + number * self.length)
    }
}

/// The stack that begins at `address`, if it is one of those kept.
fn kept(address: *mut c_void) -> Option<(&'static Stacks, usize)> {
    let stacks = STACKS_AT.get()?.as_ref()?;
    Some((stacks, stacks.number(address)?))
}

fn free() -> std::sync::MutexGuard<'static, Free> {
    // Nothing below panics while it holds the lock.
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// As `mmap(2)`.
unsafe fn system_mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // SAFETY: the caller's promise; the kernel takes these six arguments on 64-bit machines.
    let at =
        unsafe { libc::syscall(libc::SYS_mmap, address, length, protection, flags, file, offset) };
    std::ptr::with_exposed_provenance_mut(at.cast_unsigned() as usize)
}

/// A kept stack for whoever asks for a stack of the length of the first one, else what the system
/// says.
///
/// # Safety
/// As `mmap(2)`, but that a stack is not filled with zeros when it is used anew.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    if flags == MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK && address.is_null() {
        let stacks = STACKS_AT.get_or_init(|| Stacks::reserve(length)).as_ref();
        if let Some(stacks) = stacks.filter(|stacks| stacks.length == length)
            && let Some(number) = free().take()
        {
            return stacks.at(number);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { system_mmap(address, length, protection, flags, file, offset) }
}

/// Keeps a stack that [`mmap`] handed out, and hands all else to the system.
///
/// # Safety
/// As `munmap(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    if let Some((_, number)) = kept(address).filter(|(stacks, _)| stacks.length == length) {
        free().put(number);
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_munmap, address, length) as c_int }
}

/// Leaves a kept stack's guard page as it is if it is in place, and hands all else to the system.
///
/// # Safety
/// As `mprotect(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(address: *mut c_void, length: usize, protection: c_int) -> c_int {
    if protection == PROT_NONE
        && let Some((_, number)) = kept(address)
        && GUARDED[number].swap(true, Ordering::Relaxed)
    {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_mprotect, address, length, protection) as c_int }
}

#[cfg(test)]
mod tests {
    use super::reused;

    #[test]
    fn an_execution_has_the_stacks_of_the_one_before() {
        let before = reused();
        crate::model(None, || {
            let word = loom::sync::Arc::new(loom::sync::atomic::AtomicUsize::new(0));
            let there = word.clone();
            let other = loom::thread::spawn(move || {
                there.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
            });
            word.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
            other.join().unwrap();
        });
        assert!(reused() > before);
    }
}
