//! A key of thread-specific data, by which a library notices that a thread ends.
//!
//! The C library has 1,024 keys, and a program may need all of them. So a library gives its key up
//! when the program's call for one fails. From then on the library does not notice the ends of
//! threads.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use libc::pthread_key_t;

use crate::real_functions;

/// What the C library calls at the end of a thread, with the thread's value.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

real_functions! {
    /// Makes a key, under which each thread has a value of its own.
    pub fn pthread_key_create(
        key: *mut pthread_key_t,
        destructor: Option<Destructor>,
    ) -> libc::c_int;
    /// Makes a key, as C11 calls it.
    pub fn tss_create(
        key: *mut pthread_key_t,
        destructor: Option<Destructor>,
    ) -> libc::c_int;
}

/// The value of [`ThreadKey::number`] if there is no key and will be none.
const GIVEN_UP: u32 = u32::MAX;

/// How often [`ThreadKey::give_up`] looks whether other threads have done with the key.
const TRIES: u32 = 1000;

/// A key that is made when it is first needed, until the program needs it more.
#[derive(Debug, Default)]
pub struct ThreadKey {
    /// One more than the key. Zero while there is none.
    number: AtomicU32,
    /// How many threads are about to set their value.
    users: AtomicU32,
}

impl ThreadKey {
    /// Returns a key that is not made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { number: AtomicU32::new(0), users: AtomicU32::new(0) }
    }

    /// Makes the key if there is none. All calls name the same destructor.
    pub fn make(&self, destructor: Destructor) {
        if self.number.load(Ordering::Acquire) != 0 {
            return;
        }
        let mut key = 0;
        // SAFETY: the variable `key` is ours, and the destructor has the right type.
        let made = unsafe { pthread_key_create(&raw mut key, Some(destructor)) } == 0;
        let number = if made { key + 1 } else { GIVEN_UP };
        let first = self.number.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
        if made && first.is_err() {
            // SAFETY: nobody else knows this key.
            unsafe { libc::pthread_key_delete(key) };
        }
    }

    /// Sets the calling thread's value, with which the destructor is called when the thread ends.
    /// Returns false if there is no key any more. The value is a number, and not zero.
    pub fn set(&self, value: usize, destructor: Destructor) -> bool {
        self.make(destructor);
        // This is sequentially consistent with `give_up`: either it sees this user, or this sees
        // that the key is given up. Otherwise the value could become that of a key of the program.
        self.users.fetch_add(1, Ordering::SeqCst);
        let number = self.number.load(Ordering::SeqCst);
        let set = number != GIVEN_UP
            // SAFETY: the key is ours while there are users. The value is a number, not a pointer.
            && unsafe { libc::pthread_setspecific(number - 1, ptr::without_provenance(value)) } == 0;
        self.users.fetch_sub(1, Ordering::Release);
        set
    }

    /// Deletes the key, so that the program can have one more. Returns whether there was one.
    fn give_up(&self) -> bool {
        let number = self.number.load(Ordering::Acquire);
        if number == 0 || number == GIVEN_UP {
            return false;
        }
        let owned =
            self.number.compare_exchange(number, GIVEN_UP, Ordering::SeqCst, Ordering::Relaxed);
        if owned.is_err() {
            return false;
        }
        // Setting a value takes a moment. It takes longer if the user is this thread: setting a
        // value may allocate, and the program's allocator may make a key. Then the key is not
        // deleted, and the program lacks it.
        for _ in 0..TRIES {
            if self.users.load(Ordering::SeqCst) == 0 {
                // SAFETY: the key is ours, and no thread is going to use it any more.
                return unsafe { libc::pthread_key_delete(number - 1) } == 0;
            }
            // SAFETY: the function has no arguments.
            unsafe { libc::sched_yield() };
        }
        false
    }

    /// Calls `create`, a function that makes a key for the program, and calls it once more if it
    /// fails and this key can be given up.
    pub fn yield_to(&self, create: impl Fn() -> c_int) -> c_int {
        let result = create();
        if result != 0 && self.give_up() { create() } else { result }
    }
}

/// Exports the functions by which programs make keys. If there are no more, they take the key that
/// the library itself has, which is named here.
#[macro_export]
macro_rules! export_key_functions {
    ($own:expr) => {
        /// The functions by which programs make keys.
        mod key_functions {
            use core::ffi::c_int;

            use $crate::thread_key::{self, Destructor};

            /// Makes a key of thread-specific data.
            ///
            /// # Safety
            /// The contract is that of the POSIX function.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn pthread_key_create(
                key: *mut libc::pthread_key_t,
                destructor: Option<Destructor>,
            ) -> c_int {
                // SAFETY: this passes on the program's arguments, here and below.
                $own.yield_to(|| unsafe { thread_key::pthread_key_create(key, destructor) })
            }

            /// The same function under its old name.
            ///
            /// # Safety
            /// As above.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn __pthread_key_create(
                key: *mut libc::pthread_key_t,
                destructor: Option<Destructor>,
            ) -> c_int {
                // SAFETY: as above.
                $own.yield_to(|| unsafe { thread_key::pthread_key_create(key, destructor) })
            }

            /// Makes a key of thread-specific data.
            ///
            /// # Safety
            /// The contract is that of the C function.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn tss_create(
                key: *mut libc::pthread_key_t,
                destructor: Option<Destructor>,
            ) -> c_int {
                // SAFETY: as above.
                $own.yield_to(|| unsafe { thread_key::tss_create(key, destructor) })
            }
        }
    };
}
