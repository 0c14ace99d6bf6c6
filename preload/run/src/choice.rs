//! The choice of the lock that this process uses.
//!
//! The choice is made when the first mutex is used. That may be in the constructor of another
//! library, or in the allocator. So the name of the lock is read from the environment without locks
//! and without allocating memory.

use core::ffi::{CStr, c_char};
use core::fmt::{self, Write as _};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use kilocore_locks::{LockId, UnknownLock};
use libc::{c_int, clockid_t, pthread_mutex_t, timespec};

use crate::host::Host;
use crate::mutex::{self, Functions, FunctionsOf};

/// The environment variable that names the lock.
const VARIABLE: &str = "KILOCORE_LOCK";

/// The functions in use.
static FUNCTIONS: AtomicPtr<Functions> = AtomicPtr::new(ptr::from_ref(&UNDECIDED).cast_mut());

/// Returns the mutex functions of this process. They may be [`UNDECIDED`].
#[inline(always)]
pub(crate) fn functions() -> &'static Functions {
    // SAFETY: the pointer always points to a static. Relaxed: all these statics are there from the
    // start.
    unsafe { &*FUNCTIONS.load(Ordering::Relaxed) }
}

/// Returns whether plain mutexes, and with them condition variables, are replaced in this process.
#[inline]
pub(crate) fn replaces() -> bool {
    !ptr::eq(decided(), &mutex::GLIBC)
}

/// Returns the functions of this process. Chooses them if that has not been done yet.
#[inline]
fn decided() -> &'static Functions {
    let now = functions();
    if ptr::eq(now, &UNDECIDED) { decide() } else { now }
}

#[cold]
fn decide() -> &'static Functions {
    let wanted = named();
    let (chosen, complaint) = match wanted.map(str::parse::<LockId>) {
        None => (&mutex::GLIBC, None),
        Some(Ok(lock)) => (lock.visit::<Host, _>(FunctionsOf), None),
        Some(Err(unknown)) => (&mutex::GLIBC, Some(unknown)),
    };
    let first = FUNCTIONS.compare_exchange(
        ptr::from_ref(&UNDECIDED).cast_mut(),
        ptr::from_ref(chosen).cast_mut(),
        Ordering::Relaxed,
        Ordering::Relaxed,
    );
    if let (Ok(_), Some(unknown)) = (first, complaint) {
        complain(wanted.unwrap_or_default(), unknown);
    }
    functions()
}

/// Returns the value of [`VARIABLE`] if it is set and not empty. The environment is an array of
/// strings, for example:
///
/// ```text
/// PATH=/usr/bin:/bin
/// KILOCORE_LOCK=mcs
/// ```
fn named() -> Option<&'static str> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: this is the C library's pointer to the environment. It is null or points to an array
    // of strings that ends with null. The C library is initialized before all other libraries. No
    // thread sets variables yet, because this is the first time that a mutex is used.
    unsafe {
        let mut entry = environ;
        if entry.is_null() {
            return None;
        }
        while !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if let Some(value) = text.strip_prefix(VARIABLE.as_bytes())
                && let Some(value) = value.strip_prefix(b"=")
            {
                let value = core::str::from_utf8(value).unwrap_or("?");
                return (!value.is_empty()).then_some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Prints one line on standard error.
fn complain(name: &str, unknown: UnknownLock) {
    let mut line = Line::default();
    // This cannot fail. Text that does not fit is cut off.
    let _ = write!(line, "kilocore: {VARIABLE}={name}: {unknown}; mutexes stay as they are");
    line.print();
}

/// A line of text on the stack.
struct Line {
    text: [u8; 1023],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { text: [0; 1023], length: 0 }
    }
}

impl Line {
    fn print(&mut self) {
        // The array is never completely full, see `write_str`.
        if let Some(end) = self.text.get_mut(self.length) {
            *end = b'\n';
        }
        kilocore_preload_common::errno::preserved(|| {
            // SAFETY: the array is live and has at least `length` + 1 bytes. There is nobody to
            // whom a failure could be reported.
            unsafe { libc::write(libc::STDERR_FILENO, self.text.as_ptr().cast(), self.length + 1) };
        });
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let room = self.text.len() - 1 - self.length;
        let piece = piece.as_bytes();
        let taken = piece.len().min(room);
        for (to, from) in self.text.iter_mut().skip(self.length).zip(piece.iter().take(taken)) {
            *to = *from;
        }
        self.length += taken;
        Ok(())
    }
}

/// The functions until the choice is made. Each of them makes the choice and then calls the chosen
/// function.
static UNDECIDED: Functions = {
    unsafe extern "C-unwind" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: this passes on the program's argument, here and below.
        unsafe { (decided().lock)(mutex) }
    }
    unsafe extern "C-unwind" fn trylock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { (decided().trylock)(mutex) }
    }
    unsafe extern "C-unwind" fn clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { (decided().clocklock)(mutex, clock, time) }
    }
    unsafe extern "C-unwind" fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { (decided().unlock)(mutex) }
    }
    unsafe extern "C-unwind" fn destroy(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { (decided().destroy)(mutex) }
    }
    Functions { prepare: || {}, lock, trylock, clocklock, unlock, destroy }
};
