//! The functions of read-write locks, implemented with any such lock.
//!
//! # Layout of a lock whose algorithm is replaced
//! | bytes | what |
//! | --- | --- |
//! | 0..24 | the lock |
//! | 24..28 | zero |
//! | 28..32 | whether processes share the lock, as glibc keeps it; if so, the lock stays glibc's |
//! | 32..36 | the [process] in which the writer inside entered, zero while there is none |
//! | 36..40 | how many releases were done by a thread without a [record](crate::read_holds) |
//! | 40..48 | the [slot](crate::slot) of the writer inside, zero while there is none |
//! | 48.. | as glibc left it |
//!
//! The number of the process is the stamp of the lock. Readers find no stamp, since no writer is
//! inside. So whoever unlocks sees from the stamp which of the two functions to call. The stamp also
//! tells a forked child that a writer entered before the fork. The writer then forgets the threads that
//! the lock records, and until it has done so, no other thread of the child touches the lock.
//!
//! A slot has the same address in a forked child, which a thread's number has not. So the child's only
//! thread is still known to be the writer if it was.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use kilocore_locks::{RawRwLock, RwLockVisitor};
use kilocore_preload_common::real;
use kilocore_preload_common::rwlock::is_process_shared;
use libc::{c_int, clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};

use crate::deadline::Deadline;
use crate::host::Host;
use crate::read_holds::{Left, TooOften};
use crate::{process, rwlock_wait, slot};

/// The number of bytes that a lock may use.
const LOCK_BYTES: usize = 24;
/// The offset of the stamp.
const STAMP_AT: usize = 32;
/// The offset of the number of releases without a record.
const STRANGERS_AT: usize = 36;
/// The offset of the writer's slot.
const WRITER_AT: usize = 40;
/// The offset of the first byte behind what this library uses.
const END: usize = 48;

const _: () = assert!(END <= size_of::<pthread_rwlock_t>());

/// Makes the table of functions, and the table of glibc's own.
macro_rules! functions {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:expr;)*) => {
        /// The functions of one read-write lock, or glibc's own.
        #[allow(missing_debug_implementations)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C-unwind" fn($($type),*) -> c_int,)*
        }

        impl<L: RawRwLock<Host>> Replaced<L> {
            const FUNCTIONS: Functions = Functions { $($name: Self::$name),* };
        }

        /// glibc's own functions, for a process in which read-write locks are not replaced.
        pub(crate) static GLIBC: Functions = {
            $(
                unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
                    // SAFETY: this passes on the program's arguments.
                    unsafe { $real($($arg),*) }
                }
            )*
            Functions { $($name),* }
        };
    };
}

functions! {
    init(lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t)
        = real::pthread_rwlock_init;
    destroy(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_destroy;
    rdlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_rdlock;
    tryrdlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_tryrdlock;
    clockrdlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec)
        = real_clockrdlock;
    wrlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_wrlock;
    trywrlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_trywrlock;
    clockwrlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec)
        = real_clockwrlock;
    unlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_unlock;
}

/// Returns the functions of a lock type.
pub(crate) struct FunctionsOf;

impl RwLockVisitor<Host> for FunctionsOf {
    type Output = &'static Functions;

    fn visit<L: RawRwLock<Host>>(self) -> &'static Functions {
        &Replaced::<L>::FUNCTIONS
    }
}

/// A read-write lock of the program whose algorithm is replaced by `L`.
struct Replaced<L> {
    lock: *mut pthread_rwlock_t,
    kind: PhantomData<L>,
}

impl<L: RawRwLock<Host>> Replaced<L> {
    /// Returns a lock of this process.
    ///
    /// # Safety
    /// `lock` is initialized and not shared by processes, and stays so while the result is used.
    #[inline(always)]
    unsafe fn of(lock: *mut pthread_rwlock_t) -> Self {
        Self { lock, kind: PhantomData }
    }

    #[inline(always)]
    fn lock(&self) -> &L {
        const {
            assert!(size_of::<L>() <= LOCK_BYTES, "the lock does not fit");
            assert!(align_of::<L>() <= align_of::<pthread_rwlock_t>());
        }
        // SAFETY: these bytes of the object belong to this library. Initializers, static or not, write
        // zeros there, and zeros are a free lock. The same holds for the words below, which are
        // aligned.
        unsafe { &*self.lock.cast::<L>() }
    }

    #[inline(always)]
    fn stamp_word(&self) -> &AtomicU32 {
        // SAFETY: as in `lock`.
        unsafe { &*self.lock.byte_add(STAMP_AT).cast::<AtomicU32>() }
    }

    #[inline(always)]
    fn strangers(&self) -> &AtomicU32 {
        // SAFETY: as in `lock`.
        unsafe { &*self.lock.byte_add(STRANGERS_AT).cast::<AtomicU32>() }
    }

    #[inline(always)]
    fn writer(&self) -> &AtomicUsize {
        // SAFETY: as in `lock`.
        unsafe { &*self.lock.byte_add(WRITER_AT).cast::<AtomicUsize>() }
    }

    /// Returns the process in which the writer inside entered, or zero if there is none.
    #[inline(always)]
    fn stamp(&self) -> u32 {
        // Acquire: who sees that an inherited lock is inherited no longer sees it without the threads
        // of the parent.
        self.stamp_word().load(Ordering::Acquire)
    }

    /// Whether a writer is inside that entered before the fork that made this process, and has not yet
    /// forgotten the parent's threads.
    #[inline(always)]
    fn is_inherited(&self) -> bool {
        let stamp = self.stamp();
        stamp != 0 && stamp != process::current()
    }

    /// Prepares to wait for the writer that seems to be inside. Fails if it is the caller.
    #[cold]
    fn before_waiting(&self) -> Result<(), c_int> {
        if self.is_mine() {
            return Err(libc::EDEADLK);
        }
        rwlock_wait::wait_while(|| self.is_inherited());
        Ok(())
    }

    /// Whether the caller is the writer inside.
    fn is_mine(&self) -> bool {
        // Relaxed: a thread sees what it wrote itself.
        self.writer().load(Ordering::Relaxed) == slot::slot().addr()
    }

    /// Counts one more entry of the caller if it reads already.
    #[inline(always)]
    fn enter_again(&self) -> Result<bool, TooOften> {
        // Relaxed: if a writer has entered since the caller's record was made, the caller sees the
        // release that admitted the writer. It has learned of that in some other way, since it would
        // not ask to enter otherwise.
        slot::read_holds().enter_again(self.lock.addr(), self.strangers().load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn entered_as_reader(&self, token: L::Reader) {
        slot::read_holds().add(self.lock.addr(), self.strangers().load(Ordering::Relaxed), token);
    }

    #[inline(always)]
    fn entered_as_writer(&self) {
        self.writer().store(slot::slot().addr(), Ordering::Relaxed);
        self.stamp_word().store(process::current(), Ordering::Relaxed);
    }

    /// Enters as a reader if that is possible without waiting.
    #[inline(always)]
    fn try_read(&self) -> Option<()> {
        if self.is_inherited() {
            return None;
        }
        self.lock().try_acquire_shared().map(|token| self.entered_as_reader(token))
    }

    /// Enters as the writer if that is possible without waiting.
    #[inline(always)]
    fn try_write(&self) -> Option<()> {
        (!self.is_inherited() && self.lock().try_acquire()).then(|| self.entered_as_writer())
    }

    /// Leaves as the writer. The lock may be gone afterwards.
    ///
    /// # Safety
    /// A writer is inside, for which the caller acts.
    #[inline(always)]
    unsafe fn leave_as_writer(&self) {
        // SAFETY: the caller's promise. Other threads of this process do not touch an inherited lock.
        unsafe {
            if self.stamp_word().load(Ordering::Relaxed) != process::current() {
                self.lock().forget_others();
            }
            self.writer().store(0, Ordering::Relaxed);
            // Release pairs with `stamp`.
            self.stamp_word().store(0, Ordering::Release);
            self.lock().release();
        }
    }

    /// Leaves as a reader. The lock may be gone afterwards.
    ///
    /// # Safety
    /// The caller is inside as a reader.
    #[inline(always)]
    unsafe fn leave_as_reader(&self) {
        // SAFETY: `entered_as_reader` adds tokens of this type for all locks of this process.
        let token = match unsafe { slot::read_holds().leave::<L::Reader>(self.lock.addr()) } {
            Left::Nested => return,
            Left::Last(token) => token,
            Left::Unknown => {
                self.strangers().fetch_add(1, Ordering::Relaxed);
                // SAFETY: the caller is inside as a reader. It has entered by itself, as POSIX demands.
                unsafe { self.lock().reader() }
            }
        };
        // SAFETY: this is what the caller got when it entered.
        unsafe { self.lock().release_shared(token) };
    }

    unsafe extern "C-unwind" fn init(
        lock: *mut pthread_rwlock_t,
        attr: *const pthread_rwlockattr_t,
    ) -> c_int {
        // SAFETY: the memory is the program's, for a lock that nobody uses yet. glibc's function
        // initializes all of it, and this library may do so with its part.
        unsafe {
            let result = real::pthread_rwlock_init(lock, attr);
            if result == 0 && !is_process_shared(lock) {
                lock.cast::<[u8; LOCK_BYTES]>().write([0; LOCK_BYTES]);
                lock.byte_add(STAMP_AT).cast::<[u8; END - STAMP_AT]>().write([0; END - STAMP_AT]);
                slot::read_holds().forget(lock.addr());
            }
            result
        }
    }

    unsafe extern "C-unwind" fn destroy(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the program passes an initialized lock, here and in the functions below.
        unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_destroy(lock);
            }
            if Self::of(lock).stamp() != 0 {
                return libc::EBUSY;
            }
            slot::read_holds().forget(lock.addr());
            if core::mem::needs_drop::<L>() {
                // Nobody uses the lock any longer, by the contract of pthread_rwlock_destroy.
                lock.cast::<L>().drop_in_place();
                lock.cast::<[u8; LOCK_BYTES]>().write([0; LOCK_BYTES]);
            }
        }
        0
    }

    unsafe extern "C-unwind" fn rdlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        let this = unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_rdlock(lock);
            }
            Self::of(lock)
        };
        if this.stamp() != 0
            && let Err(error) = this.before_waiting()
        {
            return error;
        }
        match this.enter_again() {
            Ok(true) => return 0,
            Ok(false) => {}
            Err(TooOften) => return libc::EAGAIN,
        }
        let token = rwlock_wait::patiently(|| this.lock().acquire_shared());
        this.entered_as_reader(token);
        0
    }

    unsafe extern "C-unwind" fn tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        let this = unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_tryrdlock(lock);
            }
            Self::of(lock)
        };
        match this.enter_again() {
            Ok(true) => 0,
            Ok(false) => this.try_read().map_or(libc::EBUSY, |()| 0),
            Err(TooOften) => libc::EAGAIN,
        }
    }

    unsafe extern "C-unwind" fn clockrdlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as in `destroy`. `time` is the program's timespec.
        let (this, deadline) = unsafe {
            if is_process_shared(lock) {
                return real_clockrdlock(lock, clock, time);
            }
            (Self::of(lock), Deadline::new(clock, time))
        };
        match deadline {
            Err(error) => error,
            Ok(_) if this.is_mine() => libc::EDEADLK,
            Ok(deadline) => match this.enter_again() {
                Ok(true) => 0,
                Ok(false) => {
                    rwlock_wait::until(deadline, || this.try_read()).map_or(libc::ETIMEDOUT, |()| 0)
                }
                Err(TooOften) => libc::EAGAIN,
            },
        }
    }

    unsafe extern "C-unwind" fn wrlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        let this = unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_wrlock(lock);
            }
            Self::of(lock)
        };
        if this.stamp() != 0
            && let Err(error) = this.before_waiting()
        {
            return error;
        }
        rwlock_wait::patiently(|| this.lock().acquire());
        this.entered_as_writer();
        0
    }

    unsafe extern "C-unwind" fn trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        let this = unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_trywrlock(lock);
            }
            Self::of(lock)
        };
        this.try_write().map_or(libc::EBUSY, |()| 0)
    }

    unsafe extern "C-unwind" fn clockwrlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as in `clockrdlock`.
        let (this, deadline) = unsafe {
            if is_process_shared(lock) {
                return real_clockwrlock(lock, clock, time);
            }
            (Self::of(lock), Deadline::new(clock, time))
        };
        match deadline {
            Err(error) => error,
            Ok(_) if this.is_mine() => libc::EDEADLK,
            Ok(deadline) => {
                rwlock_wait::until(deadline, || this.try_write()).map_or(libc::ETIMEDOUT, |()| 0)
            }
        }
    }

    unsafe extern "C-unwind" fn unlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`. The caller is inside, and readers find no stamp.
        unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_unlock(lock);
            }
            let this = Self::of(lock);
            if this.stamp() != 0 {
                this.leave_as_writer();
            } else {
                this.leave_as_reader();
            }
        }
        0
    }
}

/// Calls glibc's function. For the real-time clock it uses the older one, which every glibc has.
///
/// # Safety
/// As for `pthread_rwlock_clockrdlock`.
unsafe fn real_clockrdlock(
    lock: *mut pthread_rwlock_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe {
        if clock == libc::CLOCK_REALTIME {
            real::pthread_rwlock_timedrdlock(lock, time)
        } else {
            real::pthread_rwlock_clockrdlock(lock, clock, time)
        }
    }
}

/// Does the same for writing.
///
/// # Safety
/// As for `pthread_rwlock_clockwrlock`.
unsafe fn real_clockwrlock(
    lock: *mut pthread_rwlock_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe {
        if clock == libc::CLOCK_REALTIME {
            real::pthread_rwlock_timedwrlock(lock, time)
        } else {
            real::pthread_rwlock_clockwrlock(lock, clock, time)
        }
    }
}
